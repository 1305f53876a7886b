// Package pdf prints pages of HTML with a headless Chromium, so that one page gives the same
// bytes whenever it is printed by the same Chromium with the same fonts.
//
// The browser has no way to a network, and a folder of its own that is gone afterwards.
// Whether scripts run is what the policy in the page says: chromium prints by one of its own.
// The package never looks for a browser, and never changes a page.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/command"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Names are those that the program goes by.
var Names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Package is what Debian calls it.
const Package = "chromium"

// Limits of one page.
const (
	maxTime = 10 * time.Minute
	maxSize = 64 << 20 // bytes of a file
)

// ErrFailed is a page that the browser does not print: it ends otherwise, or writes too much.
// One that it takes too long for is none: a busy machine may be the cause.
var ErrFailed = errors.New("chromium prints no PDF")

// Printer is a Chromium.
type Printer struct {
	program string
	// Version is what it calls itself, as "Chromium 140.0.7339.207".
	Version string
}

var version = lazyregexp.New(`[A-Z][A-Za-z ]+ \d+(?:\.\d+)+`)

// New asks the program at a path for its version. The error is of one that does not start.
func New(ctx context.Context, program string) (*Printer, error) {
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = environment(os.TempDir())
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", program, err)
	}
	name := version.FindString(string(out))
	if name == "" {
		return nil, fmt.Errorf("%s does not say its version: %.80q", program, out)
	}
	return &Printer{program: program, Version: name}, nil
}

// environment is all that the browser is given of the machine's.
func environment(home string) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "TZ=UTC"}
}

// Print gives the PDF of a page, dated as is said, and how many pages it has. ErrFailed is
// about the page; other errors are of the machine.
func (p *Printer) Print(ctx context.Context, page []byte, date time.Time) (pdf []byte, pages int, err error) {
	dir, err := os.MkdirTemp("", "benchmint-pdf-")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	from, to := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
	if err := os.WriteFile(from, page, 0o600); err != nil {
		return nil, 0, err
	}
	if err := p.run(ctx, dir, from, to); err != nil {
		return nil, 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: it wrote no file", ErrFailed)
	}
	if info.Size() > maxSize {
		return nil, 0, fmt.Errorf("%w: %d bytes are more than %d", ErrFailed, info.Size(), maxSize)
	}
	if pdf, err = os.ReadFile(to); err != nil {
		return nil, 0, err
	}
	return Dated(pdf, date), Pages(pdf), nil
}

func (p *Printer) run(ctx context.Context, dir, from, to string) error {
	limited, done := context.WithTimeout(ctx, maxTime)
	defer done()
	args := []string{
		"--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-component-update", "--disable-background-networking", "--disable-sync",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disable-dev-shm-usage",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--no-pdf-header-footer", "--print-to-pdf=" + to,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which it does not start without as root
	}
	cmd := exec.CommandContext(limited, p.program, append(args, "file://"+from)...)
	cmd.Env, cmd.Dir = environment(dir), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its helpers too
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("printing with %s: it takes more than %v", p.program, maxTime)
	case command.Unanswered(err):
		return fmt.Errorf("printing with %s: %w", p.program, err)
	}
	return fmt.Errorf("%w: %w: %.200s", ErrFailed, err, lastLine(out))
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

var (
	dates = lazyregexp.New(`/(CreationDate|ModDate) ?\(D:\d{14}[+-]\d\d'\d\d'\)`)
	ids   = lazyregexp.New(`/ID ?\[ ?<[0-9A-Fa-f]{32}> ?<[0-9A-Fa-f]{32}> ?\]`)
	count = lazyregexp.New(`/Type /Pages\s+/Count (\d+)`)
	hexes = lazyregexp.New(`<[0-9A-Fa-f]{32}>`)
)

// Dated is a PDF that says it was made at a time, and whose ID is always the same. Nothing
// in it moves: the table of its objects stays true.
func Dated(pdf []byte, date time.Time) []byte {
	stamp := date.UTC().Format("20060102150405")
	out := dates.ReplaceAllFunc(pdf, func(m []byte) []byte {
		at := bytes.Index(m, []byte("(D:")) + len("(D:")
		return append(append(bytes.Clone(m[:at]), stamp...), "+00'00')"...)
	})
	return ids.ReplaceAllFunc(out, func(m []byte) []byte {
		return hexes.ReplaceAllFunc(m, func([]byte) []byte { return []byte("<" + strings.Repeat("0", 32) + ">") })
	})
}

// Pages is how many pages a PDF has that Chromium printed, 0 where it does not say.
func Pages(pdf []byte) int {
	most := 0 // of the whole tree of pages
	for _, m := range count.FindAllSubmatch(pdf, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			most = max(most, n)
		}
	}
	return most
}
