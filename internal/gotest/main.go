// Command gotest reads `go test -json` from standard input. With -live it prints
// package lines as go test does, and everything that a failed test said; without,
// it ends a whole run: every skip with its reason, then one line
// "N passed, N failed, N skipped".
//
// It never runs a test, and never counts a package that did not build as nothing.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of test2json; see `go doc test2json` and `go help buildjson`.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

// tally is what a stream of events comes to.
type tally struct {
	passed, failed, skipped int
	reasons                 []string            // of skips, in order
	said                    map[string][]string // output by package and test
	failedIn                map[string]bool     // packages with a failed test
}

func newTally() *tally { return &tally{said: map[string][]string{}, failedIn: map[string]bool{}} }

func main() {
	live := flag.Bool("live", false, "print as it comes, and exit 1 where something failed")
	flag.Parse()
	t := newTally()
	if err := t.read(os.Stdin, os.Stdout, *live); err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	if !*live {
		t.sum(os.Stdout)
	}
	if t.failed > 0 {
		os.Exit(1)
	}
}

func (t *tally) read(in io.Reader, out io.Writer, live bool) error {
	if !live {
		out = io.Discard
	}
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(out, line) // what go itself has to say
			} else {
				t.take(e, out)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) take(e event, out io.Writer) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t") || strings.HasPrefix(e.Output, "?")) {
			fmt.Fprint(out, e.Output)
			return
		}
		t.said[key] = append(t.said[key], e.Output)
	case "pass", "skip", "fail":
		t.end(e, key, out)
	}
}

// end books the end of a test, or of a package that failed without one.
func (t *tally) end(e event, key string, out io.Writer) {
	said := t.said[key]
	delete(t.said, key)
	name := e.Package + " " + e.Test
	switch {
	case e.Action == "fail":
		if e.Test == "" && e.FailedBuild == "" && t.failedIn[e.Package] {
			return // said already, with its test
		}
		t.failedIn[e.Package] = true
		t.failed++ // a package that failed by itself (a panic, TestMain) counts as one
		fmt.Fprintf(out, "FAILED %s\n%s", strings.TrimSpace(name), strings.Join(said, ""))
	case e.Test == "": // a package that passed, or has no tests
	case e.Action == "skip":
		t.skipped++
		t.reasons = append(t.reasons, name+": "+reason(said))
	default:
		t.passed++
	}
}

// reason is what a skipped test said, without go test's own lines.
func reason(said []string) string {
	var out []string
	for _, s := range said {
		s = strings.TrimSpace(s)
		if s != "" && !strings.HasPrefix(s, "===") && !strings.HasPrefix(s, "---") {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return "no reason given"
	}
	return strings.Join(out, " ")
}

func (t *tally) sum(out io.Writer) {
	for _, r := range t.reasons {
		fmt.Fprintln(out, "SKIPPED", r)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
}
