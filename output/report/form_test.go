package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

func writeForm(t testing.TB, d *output.Dataset) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteForm(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Nobody sees what others say, and a report has no form.
func TestForm(t *testing.T) {
	t.Parallel()
	d := read(t)
	d.Rows[0].Benchmint.Review = &schemas.Review{Verdict: "repair", Provider: "small"}
	d.Rows[0].Benchmint.Reviews = []schemas.PeerReview{{Verdict: schemas.PeerAccept, Who: "Zoe", Date: "2026-01-02", Note: "fair enough"}}
	form, report := string(writeForm(t, d)), string(write(t, d, nil))
	for _, word := range []string{"Zoe", "fair enough", "repair, "} {
		if strings.Contains(form, word) || !strings.Contains(report, word) {
			t.Errorf("%q: the form has it %t, the report %t", word, strings.Contains(form, word), strings.Contains(report, word))
		}
	}
	for _, word := range []string{`id="review"`, "localStorage", ".choice", "data-instance"} {
		if !strings.Contains(form, word) || strings.Contains(report, word) {
			t.Errorf("%q: the form has it %t, the report %t", word, strings.Contains(form, word), strings.Contains(report, word))
		}
	}
}

// reviewer is somebody before a browser of their own.
type reviewer struct {
	*browser
	name, dir string
}

func (r reviewer) types(text string) {
	r.t.Helper()
	r.do("Input.insertText", map[string]any{"text": text}, nil)
}

// reload leaves the page and comes back to it.
func (r reviewer) reload() {
	r.t.Helper()
	before := r.opened
	r.do("Page.reload", nil, nil)
	for r.opened == before {
		r.read()
	}
}

// says reviews the tasks in their order, one key each: a accepts, a digit refuses.
func (r reviewer) says(keys string) {
	r.t.Helper()
	for _, key := range strings.Split(keys, "") {
		r.key("n", "n")
		r.key(key, key)
		if key != "a" {
			r.key("c", "c")
			r.types(fmt.Sprintf("%s says \"%s\", and more", r.name, key))
			r.key("Escape", "")
		}
	}
}

// saved is the file that the page saves.
func (r reviewer) saved() string {
	r.t.Helper()
	session := r.session
	r.session = ""
	r.do("Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": r.dir}, nil)
	r.session = session
	r.eval(`document.getElementById("save").click()`)
	name := filepath.Join(r.dir, "reviews-"+r.name+".csv")
	for range 200 {
		if b, err := os.ReadFile(name); err == nil && len(b) > 0 {
			return name
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.t.Fatalf("%s was not saved: %s", name, r.eval(`document.getElementById("said").value`))
	return ""
}

func (r reviewer) loads(name string) {
	r.t.Helper()
	var doc struct{ Root struct{ NodeID int } }
	r.do("DOM.getDocument", nil, &doc)
	var node struct{ NodeID int }
	r.do("DOM.querySelector", map[string]any{"nodeId": doc.Root.NodeID, "selector": "#load"}, &node)
	r.eval(`document.getElementById("said").value = ""`)
	r.do("DOM.setFileInputFiles", map[string]any{"nodeId": node.NodeID, "files": []string{name}}, nil)
	for range 200 {
		if r.eval(`document.getElementById("said").value`) != "" {
			return
		}
	}
	r.t.Fatalf("nothing is said of %s", name)
}

const (
	progress = `document.getElementById("done").value`
	said     = `document.getElementById("said").value`
)

// Two people review twelve tasks; what they refuse leaves the dataset.
func TestTwoReviewersInChromium(t *testing.T) {
	t.Parallel()
	d := many(t, 12)
	url := served(t, writeForm(t, d))
	var files []string
	for name, keys := range map[string][2]string{"Ana": {"aa1a4a", "aa3aaa"}, "Ben": {"aa2a4a", "aa3aa5"}} {
		r := reviewer{openBrowser(t), name, t.TempDir()}
		r.open(url)
		r.key("a", "a")
		r.want(`document.getElementById("unnamed").checkVisibility()`, "true")
		r.eval(`document.getElementById("who").focus()`)
		r.types(name)
		r.key("Tab", "")
		r.want(`document.getElementById("unnamed").checkVisibility()`, "false")
		r.says(keys[0])
		r.want(progress, "6 of 12 reviewed")
		r.reload() // what was written is still there
		r.want(progress, "6 of 12 reviewed")
		r.want(`document.getElementById("unkept").checkVisibility()`, "false")
		r.says(keys[1])
		r.want(progress, "12 of 12 reviewed")
		r.want(`[...document.querySelectorAll("#list td.mine")].map((c) => c.textContent).slice(0, 3).join()`, map[string]string{"Ana": "accept,accept,trivial", "Ben": "accept,accept,unrealistic"}[name])
		for _, width := range []int{400, 1200} {
			for _, scheme := range []string{"light", "dark"} {
				png := r.look(width, scheme)
				r.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
				if *pictures != "" && name == "Ana" {
					if err := os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("form-%d-%s.png", width, scheme)), png, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		r.key("n", "n")
		r.want(said, "All tasks are reviewed: save the file.")
		files = append(files, r.saved())
		r.done(url)
	}
	reviews, err := config.ReadReviews(files)
	if err != nil {
		t.Fatal(err)
	}
	if r := reviews[d.Rows[2].InstanceID]; len(reviews) != 12 || len(r) != 2 || r[0].Note != `Ana says "1", and more` || r[1].Code != "unrealistic" {
		t.Errorf("%d tasks; of the third %+v", len(reviews), r)
	}

	for _, r := range d.Rows[1:] { // what is carried has a folder of its own
		at := filepath.Join(d.Dir, output.TasksDir, r.InstanceID)
		if err := errors.Join(os.Remove(at), os.CopyFS(at, os.DirFS(filepath.Join(d.Dir, output.TasksDir, d.Rows[0].InstanceID)))); err != nil {
			t.Fatal(err)
		}
	}
	in := output.Input{Name: "reviewed", Unsound: true} // check sees that the twelve are one task
	carried := d.Carry(func(r output.Row) bool {
		end, refused := r.Refused(reviews[r.InstanceID])
		if refused {
			in.LeftOut = append(in.LeftOut, end)
		}
		return !refused
	})
	for i := range carried {
		row := &carried[i].Row
		row.Benchmint.Reviews = reviews[row.InstanceID]
		if carried[i].Line, err = row.Encoded(); err != nil {
			t.Fatal(err)
		}
	}
	in.Splits = []output.SplitInput{{Carried: carried}}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := output.Write(dir, in); err != nil {
		t.Fatal(err)
	}
	after, err := output.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range after.Rejects {
		left = append(left, fmt.Sprintf("%s %s", r.InstanceID, r.Reason))
	}
	want := []string{"acme__widget-11 review/unclear", "acme__widget-2 review/trivial", "acme__widget-4 review/leak", "acme__widget-8 review/unfair"}
	if diff := cmp.Diff(want, left); diff != "" || len(after.Rows) != 8 {
		t.Errorf("%d rows; rejects (-want +got):\n%s", len(after.Rows), diff)
	}
	card, err := os.ReadFile(filepath.Join(dir, output.CardFile))
	if err != nil {
		t.Fatal(err)
	}
	// Of 12 they agree on 11; Ana refuses 3 and Ben 4: e = (9·8 + 3·4) / 144.
	if want := "| Ana, Ben | 12 | 11 | 0.80 |"; !strings.Contains(string(card), want) {
		t.Errorf("the card lacks %s", want)
	}
	_, section, _ := strings.Cut(string(card), "## Reviews by people")
	section, _, _ = strings.Cut(section, "\n## ")
	t.Logf("%s", section)
}

// A file is loaded again; what is not of the page stays in it, and what is not a review is refused.
func TestLoadInChromium(t *testing.T) {
	t.Parallel()
	d := many(t, 12)
	r := reviewer{openBrowser(t), "Ana", t.TempDir()}
	url := served(t, writeForm(t, d))
	r.open(url + "#" + anchor(d.Rows[0].InstanceID))
	file := filepath.Join(t.TempDir(), "old.csv")
	load := func(text, want string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.loads(file)
		r.want(said, want)
	}
	const head = "instance_id,verdict,code,who,date,note\n"
	mine := head + d.Rows[0].InstanceID + ",refuse,leak,Ana,2026-01-02,\"a \"\"b\"\",\nc\"\nother__one-1,accept,,Ana,2026-01-03,\n"
	load("id,verdict\n", "old.csv is not a file of reviews: it has no column instance_id, code, who, date, note.")
	load(head+"a__b-1,accept,leak,Ana,2026-01-02,\n", "old.csv: row 2 is not a review.")
	r.want(progress, "0 of 12 reviewed")
	load("\ufeff"+strings.ReplaceAll(mine, "\nother", "\r\nother"), "old.csv: 2 loaded, 1 of tasks that this page does not have: they stay in the file that you save.")
	r.want(progress, "1 of 12 reviewed")
	r.want(`document.querySelector("#form :checked").value + " " + document.getElementById("note").value`, "leak a \"b\",\nc")
	load(mine, "old.csv: 0 loaded, 2 that the page has stay.")
	load(head+d.Rows[0].InstanceID+",accept,,Ben,2026-01-02,\n", "old.csv: 1 loaded.")
	if b, err := os.ReadFile(r.saved()); err != nil || string(b) != mine {
		t.Errorf("%v; saved:\n%s\nwant:\n%s", err, b, mine)
	}
	r.eval(`document.getElementById("undo").click()`)
	r.want(progress, "0 of 12 reviewed")
	r.eval(`who.value = "ana@example.org", who.dispatchEvent(new Event("change"))`)
	r.want(`who.value`, "Ana")
	r.done(url)
}
