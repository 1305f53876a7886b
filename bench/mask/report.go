package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// outcome is what became of a test. Of two of one test the worse, the lesser, counts.
type outcome uint8

const (
	failed outcome = iota
	// Of a compiled one nothing is run (Rust's no_run and compile_fail): it passes
	// wherever the code compiles.
	compiled
	// Of an excused one something is run that is masked, and it passes still: it expects
	// a failure, or survives one, and has the mask's for it.
	excused
	passed
)

// results are the tests of one run. Skipped ones are not among them.
type results map[string]outcome

func (r results) put(id string, o outcome) {
	if old, seen := r[id]; seen {
		o = min(o, old)
	}
	r[id] = o
}

// end puts a test of which no more is known.
func (r results) end(id string, ok bool) {
	o := failed
	if ok {
		o = passed
	}
	r.put(id, o)
}

func (r results) with(o outcome) []string {
	var out []string
	for id, is := range r {
		if is == o {
			out = append(out, id)
		}
	}
	return out
}

// read reads what a suite left in a folder or said, in the form of -report.
func (b *bench) read(folder, log string) (results, error) {
	form, pattern, _ := strings.Cut(b.report, "=")
	said, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	switch form {
	case "gotest":
		return gotest(said), nil
	case "cargo":
		return cargo(said), nil
	case "tap":
		return tap(said), nil
	case "junit":
		return junit(os.DirFS(folder), pattern)
	}
	return nil, fmt.Errorf("no report %q: junit=PATTERN, gotest, cargo, tap, pytest", form)
}

// failure is what the strict profile lets masked code say, before the function's name.
const failure = "masked: "

// gotest reads what go test -json says. What is said below a test is said in it.
func gotest(said []byte) results {
	out := results{}
	report := golang.Language{}.Parse(schemas.Recipe{}, []lang.Output{{Result: sandbox.Result{End: sandbox.Exited, Output: said}}})
	for _, t := range report.Tests {
		if t.Status != schemas.Skipped {
			out.end(t.ID, t.Status == schemas.Passed)
		}
	}
	for line := range bytes.Lines(said) {
		var event struct{ Package, Test, Output string }
		if !bytes.Contains(line, []byte(failure)) || json.Unmarshal(line, &event) != nil {
			continue
		}
		for name, more := event.Test, event.Test != ""; more; {
			if id := golang.TestID(event.Package, name); out[id] == passed {
				out[id] = excused
			}
			i := strings.LastIndexByte(name, '/')
			name, more = name[:max(i, 0)], i > 0
		}
	}
	return out
}

var (
	cargoHead = lazyregexp.New(`^ +(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))`)
	cargoTest = lazyregexp.New(`^test (.+?)( - should panic| - compile| - compile fail)? \.\.\. (ok|FAILED)$`)
)

// cargo reads what cargo test says, standard error with it: that names the programs.
// What is said before a test's outcome is said in it, as -child libtest has it.
func cargo(said []byte) results {
	out := results{}
	program, survived := "", false
	for line := range strings.Lines(string(said)) {
		line = strings.TrimRight(line, "\r\n")
		if m := cargoHead.FindStringSubmatch(line); m != nil {
			program, survived = m[1]+m[2], false
		}
		m := cargoTest.FindStringSubmatch(line)
		if m == nil {
			survived = survived || strings.Contains(line, failure)
			continue
		}
		id := program + " " + m[1]
		switch {
		case m[3] != "ok":
			out.put(id, failed)
		case strings.HasPrefix(m[2], " - compile"):
			out.put(id, compiled)
		case survived:
			out.put(id, excused)
		default:
			out.put(id, passed)
		}
		survived = false
	}
	return out.numbered()
}

var docLine = lazyregexp.New(`^(.*) \(line ([0-9]+)\)$`)

// numbered calls examples by their number among those of one item. Their lines are not
// the same in a starter, where bodies are shorter.
func (r results) numbered() results {
	out := results{}
	lines := map[string][]int{}
	at := func(id string) (string, int) {
		m := docLine.FindStringSubmatch(id)
		if m == nil {
			return id, 0
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return id, 0
		}
		return m[1], n
	}
	for id := range r {
		item, n := at(id)
		lines[item] = append(lines[item], n)
	}
	for _, all := range lines {
		slices.Sort(all)
	}
	for id, o := range r {
		item, n := at(id)
		if n > 0 {
			id = fmt.Sprintf("%s (example %d)", item, slices.Index(lines[item], n)+1)
		}
		out[id] = o
	}
	return out
}

var (
	tapHead = lazyregexp.New(`^# (.+)$`)
	tapTest = lazyregexp.New(`^(not )?ok [0-9]+ (?:- )?(.*)$`)
)

// tap reads the Test Anything Protocol. A comment names the test whose assertions come
// (tape); without any, what is said of an assertion does (mocha).
func tap(said []byte) results {
	out := results{}
	test := ""
	for line := range strings.Lines(string(said)) {
		line = strings.TrimRight(line, "\r\n")
		if m := tapHead.FindStringSubmatch(line); m != nil {
			test = m[1]
		}
		m := tapTest.FindStringSubmatch(line)
		if m == nil || strings.Contains(strings.ToUpper(m[2]), "# SKIP") {
			continue
		}
		id := test
		if id == "" {
			id = m[2]
		}
		out.end(id, m[1] == "")
	}
	return out
}

// suite is JUnit's form, as pytest, Surefire, PHPUnit and others write it.
type suite struct {
	Suites []suite `xml:"testsuite"`
	Cases  []struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	} `xml:"testcase"`
}

// junit reads all files of a pattern; none there are is a suite that did not begin.
func junit(folder fs.FS, pattern string) (results, error) {
	paths, err := fs.Glob(folder, filepath.ToSlash(pattern))
	if err != nil || pattern == "" {
		return nil, errors.Join(err, errors.New("junit=PATTERN says where the files are"))
	}
	out := results{}
	for _, p := range paths {
		raw, err := fs.ReadFile(folder, p)
		if err != nil {
			return nil, err
		}
		var top suite
		if err := xml.Unmarshal(raw, &top); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out.suite(top)
	}
	return out, nil
}

func (r results) suite(s suite) {
	for _, inner := range s.Suites {
		r.suite(inner)
	}
	for _, c := range s.Cases {
		if c.Skipped == nil {
			r.end(c.Class+" "+c.Name, c.Failure == nil && c.Error == nil)
		}
	}
}
