package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

var pictures = flag.String("pictures", "", "folder for pictures of each view")

// browser is a Chromium that a test drives through its debugging pipe.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	last    int
	opened  int // pages that are loaded
	// faults are exceptions and log entries (refused by the policy, not loaded).
	faults []string
	// asked are the addresses that the page asked for.
	asked []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	name, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: Chromium is not installed, so the page is not rendered: apt-get install chromium")
	}
	toR, toW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromR, fromW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toR, fromW} // 3 is read, 4 is written
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIPPED: Chromium does not start: %v", err)
	}
	_ = errors.Join(toR.Close(), fromW.Close())
	b := &browser{t: t, in: toW, out: bufio.NewReader(fromR)}
	t.Cleanup(func() {
		b.session = ""
		b.do("Browser.close", nil, nil)
		_ = cmd.Wait()
		_ = errors.Join(toW.Close(), fromR.Close())
	})
	var target struct{ TargetID string }
	b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.do(domain+".enable", nil, nil)
	}
	return b
}

// message is an answer, or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func (b *browser) read() message {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("Chromium ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.faults = append(b.faults, string(m.Params))
	case "Page.loadEventFired":
		b.opened++
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(m.Params, &p)
		b.asked = append(b.asked, p.Request.URL)
	}
	return m
}

// do sends a command and waits for its answer.
func (b *browser) do(method string, params any, result any) {
	b.t.Helper()
	b.last++
	send := map[string]any{"id": b.last, "method": method}
	if params != nil {
		send["params"] = params
	}
	if b.session != "" {
		send["sessionId"] = b.session
	}
	text, err := json.Marshal(send)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.read()
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// open goes to an address and waits until the page is loaded.
func (b *browser) open(url string) {
	b.t.Helper()
	b.do("Page.navigate", map[string]any{"url": url}, nil)
	for b.eval("document.readyState") != "complete" || b.eval("location.href") == "about:blank" {
		continue
	}
}

// eval is the value of an expression in the page, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.do("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

func (b *browser) key(name, text string) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13}[name]
	press := map[string]any{"type": "keyDown", "key": name, "text": text, "windowsVirtualKeyCode": code}
	b.do("Input.dispatchKeyEvent", press, nil)
	b.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "windowsVirtualKeyCode": code}, nil)
}

func (b *browser) want(expression, want string) {
	b.t.Helper()
	if got := b.eval(expression); got != want {
		b.t.Errorf("%s is %q, not %q", expression, got, want)
	}
}

// look sets size and colours; it gives a picture of all of the view.
func (b *browser) look(width int, scheme string) []byte {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	var shot struct{ Data string }
	b.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// served is the address of a page on disk.
func served(t *testing.T, page []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + name
}

// views are the sections that are to be seen.
const views = `[...document.querySelectorAll("main > section")].filter((s) => s.checkVisibility()).map((s) => s.id).join(" ")`

func TestViewsInChromium(t *testing.T) {
	t.Parallel()
	d := many(t, 12)
	g := gradesOf(t, d, map[string][]schemas.Verdict{
		"gold":  {"PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS", "PASS"},
		"model": {"PASS", "FAIL", "PATCH FAILED", "TIMED OUT", "EMPTY", "", "FAIL", "PASS"},
	})
	b := openBrowser(t)
	url := served(t, write(t, d, g))
	for _, v := range []struct{ hash, view string }{{"", "overview"}, {"#nothing", "overview"}, {"#tasks", "tasks"}, {"#task-demo__slug-5", "task-demo__slug-5"}, {"#overview", "overview"}} {
		b.open(url + v.hash)
		b.want(views, v.view)
		b.want(`[...document.querySelectorAll("nav a[aria-current]")].map((a) => a.hash).join()`, map[string]string{"overview": "#overview", "tasks": "#tasks"}[v.view])
		for _, width := range []int{400, 1200} {
			for _, scheme := range []string{"light", "dark"} {
				png := b.look(width, scheme)
				b.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
				want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]
				b.want(`getComputedStyle(document.body).backgroundColor`, want)
				if *pictures != "" && v.hash != "#nothing" {
					name := fmt.Sprintf("%s-%d-%s.png", strings.Trim(v.hash+"-", "#-"), width, scheme)
					if err := os.WriteFile(filepath.Join(*pictures, name), png, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	b.done(url)
}

// done: the page asked for itself alone and for what it made itself, and nothing was refused.
func (b *browser) done(url string) {
	b.t.Helper()
	for _, asked := range b.asked {
		if page, _, _ := strings.Cut(asked, "#"); page != url && page != "about:blank" && !strings.HasPrefix(page, "blob:null/") {
			b.t.Errorf("the page asks for %s", asked)
		}
	}
	for _, f := range b.faults {
		b.t.Errorf("the browser complains: %s", f)
	}
}

func TestKeysAndFiltersInChromium(t *testing.T) {
	t.Parallel()
	d := many(t, 12)
	g := gradesOf(t, d, map[string][]schemas.Verdict{
		"gold":  {"PASS", "PASS", "PASS", "PASS"},
		"model": {"PASS", "FAIL", "PATCH FAILED", ""},
	})
	b := openBrowser(t)
	url := served(t, write(t, d, g))
	b.open(url)
	b.key("Tab", "")
	b.key("Tab", "")
	b.want(`document.activeElement.getAttribute("href")`, "#tasks")
	b.key("Enter", "\r")
	b.want(views, "tasks")
	b.want(`document.title`, "Tasks – format-2: benchmint report")
	b.want(`document.querySelector("nav a[aria-current]").textContent`, "Tasks (12)")
	b.key("Tab", "")
	b.want(`document.activeElement.id`, "text")
	b.key("w", "w")
	b.key("7", "7")
	b.want(`document.getElementById("shown").value`, "1 of 12 tasks") // by the statement
	const choose = `((id, v) => { const e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event("input")); return document.getElementById("shown").value + ": " + [...document.querySelectorAll("#list tbody tr")].filter((r) => r.checkVisibility()).length; })`
	for _, c := range []struct{ id, value, want string }{
		{"text", "", "12 tasks"}, {"text", "COLOUR w1", "3 of 12 tasks"}, {"text", "", "12 tasks"}, {"kind", "edit", "6 of 12 tasks"}, {"language", "go", "2 of 12 tasks"},
		{"kind", "", "4 of 12 tasks"}, {"language", "", "12 tasks"}, {"verdict", "PASS", "4 of 12 tasks"}, {"model", "1", "1 of 12 tasks"}, {"verdict", "PATCH FAILED", "1 of 12 tasks"},
		{"verdict", "FAULT", "1 of 12 tasks"}, {"verdict", "NONE", "8 of 12 tasks"}, {"verdict", "", "4 of 12 tasks"},
	} {
		number, _, _ := strings.Cut(c.want, " ")
		b.want(fmt.Sprintf("%s(%q, %q)", choose, c.id, c.value), c.want+": "+number)
	}
	b.want(`document.getElementById("reset").click(), document.getElementById("shown").value`, "12 tasks")

	const column = `((at) => { const h = document.querySelectorAll("#list thead th")[at]; h.firstChild.click(); return h.ariaSort + " " + [...document.querySelectorAll("#list tbody tr")].slice(0, 3).map((r) => r.cells[at].textContent).join(" "); })(4)`
	b.want(column, "ascending 4 5 6")
	b.want(column, "descending 14 13 12")

	b.want(`document.querySelector("#list a").click(), 1`, "1")
	b.want(views, "task-acme__widget-11")
	b.want(`document.activeElement.id`, "task-acme__widget-11")
	b.want(`dispatchEvent(new Event("beforeprint")), document.querySelectorAll("section:target details:not([open])").length`, "0")
	b.done(url)
}

func TestHostileTextInChromium(t *testing.T) {
	t.Parallel()
	d, g := hostile(t)
	b := openBrowser(t)
	url := served(t, write(t, d, g))
	b.open(url + "#tasks")
	b.want(views, "tasks")
	b.want(`document.querySelectorAll("img, main script").length`, "0")
	b.want(`document.querySelectorAll("#list a")[1].click(), document.activeElement.id.startsWith("other-")`, "true")
	b.done(url)
}
