package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDated(t *testing.T) {
	t.Parallel()
	date := time.Date(2024, 3, 1, 2, 3, 4, 0, time.FixedZone("x", 3600))
	made := "<</CreationDate (D:20261126151253+00'00')\n/ModDate (D:20261126151254-05'30')>> /ID [<00112233445566778899aabbccddeeff> <00112233445566778899AABBCCDDEEFF>] (D:20261126151253)"
	want := "<</CreationDate (D:20240301010304+00'00')\n/ModDate (D:20240301010304+00'00')>> /ID [<00000000000000000000000000000000> <00000000000000000000000000000000>] (D:20261126151253)"
	if got := string(Dated([]byte(made), date)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// printer is the machine's Chromium.
func printer(t *testing.T) *Printer {
	t.Helper()
	for _, name := range Names {
		if program, err := exec.LookPath(name); err == nil {
			p, err := New(t.Context(), program)
			if err != nil {
				t.Skipf("SKIPPED: Chromium does not start: %v", err)
			}
			return p
		}
	}
	t.Skip("SKIPPED: Chromium is not installed, so no page is printed: apt-get install " + Package)
	return nil
}

func TestPrintGivesEqualBytes(t *testing.T) {
	t.Parallel()
	p := printer(t)
	date := time.Date(2024, 3, 1, 2, 3, 4, 0, time.UTC)
	page := []byte(`<!doctype html><title>T</title><style>h2{break-before:page}</style><h1 id="a">One</h1><a href="#b">b</a>` + strings.Repeat("<p>text", 4) + `<h2 id="b">Two</h2><p>text`)
	first, pages, err := p.Print(t.Context(), page, date)
	if err != nil {
		t.Fatal(err)
	}
	if pages != 2 || !bytes.HasPrefix(first, []byte("%PDF-")) {
		t.Errorf("%d pages, begins %.8q", pages, first)
	}
	later, _, err := p.Print(t.Context(), page, date)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, later) {
		t.Errorf("two prints of one page differ: %d and %d bytes", len(first), len(later))
	}
	if year := fmt.Sprintf("D:%d", time.Now().Year()); bytes.Contains(first, []byte(year)) {
		t.Errorf("the day of printing is in it")
	}
}

// A page may ask for what it likes: nothing answers.
func TestPrintAsksForNothing(t *testing.T) {
	t.Parallel()
	p := printer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan bool, 64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked <- true
			c.Close()
		}
	}()
	address := "http://" + l.Addr().String()
	page := fmt.Sprintf(`<!doctype html><img src="%[1]s/a.png"><link rel=stylesheet href="%[1]s/a.css"><iframe src="%[1]s/"></iframe><script>fetch("%[1]s/")</script><p>text`, address)
	_, pages, err := p.Print(t.Context(), []byte(page), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if pages != 1 {
		t.Errorf("%d pages", pages)
	}
	select {
	case <-asked:
		t.Error("the page was given a way to a network")
	default:
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	program := func(body string) string {
		name := filepath.Join(t.TempDir(), "browser")
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return name
	}
	if _, err := New(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a program that is not there has a version")
	}
	if _, err := New(t.Context(), program("echo hello")); err == nil {
		t.Error("a program without a version is taken")
	}
	says := `[ "$1" = --version ] && echo "Chromium 1.2.3 built" && exit 0; `
	for name, c := range map[string]struct {
		body   string
		failed bool
	}{
		"no_file": {"exit 0", true}, "refuses": {"echo broken >&2; exit 3", true}, "killed": {"kill -9 $$", false},
	} {
		p, err := New(t.Context(), program(says+c.body))
		if err != nil || p.Version != "Chromium 1.2.3" {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		if _, _, err := p.Print(t.Context(), nil, time.Unix(0, 0)); err == nil || errors.Is(err, ErrFailed) != c.failed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
