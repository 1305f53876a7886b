package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// results are the tests of one run: true for those that passed. Skipped ones are not
// among them; of two outcomes of one test the worse counts.
type results map[string]bool

func (r results) put(id string, passed bool) {
	old, seen := r[id]
	r[id] = passed && (old || !seen)
}

func (r results) passing() []string {
	var out []string
	for id, passed := range r {
		if passed {
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

// gotest reads what go test -json says.
func gotest(said []byte) results {
	out := results{}
	report := golang.Language{}.Parse(schemas.Recipe{}, []lang.Output{{Result: sandbox.Result{End: sandbox.Exited, Output: said}}})
	for _, t := range report.Tests {
		if t.Status != schemas.Skipped {
			out.put(t.ID, t.Status == schemas.Passed)
		}
	}
	return out
}

var (
	cargoHead = lazyregexp.New(`^ +(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))`)
	cargoTest = lazyregexp.New(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED)$`)
)

// cargo reads what cargo test says, standard error with it: that names the programs.
func cargo(said []byte) results {
	out := results{}
	program := ""
	for line := range strings.Lines(string(said)) {
		line = strings.TrimRight(line, "\r\n")
		if m := cargoHead.FindStringSubmatch(line); m != nil {
			program = m[1] + m[2]
		}
		if m := cargoTest.FindStringSubmatch(line); m != nil {
			out.put(program+" "+m[1], m[2] == "ok")
		}
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
		out.put(id, m[1] == "")
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
			r.put(c.Class+" "+c.Name, c.Failure == nil && c.Error == nil)
		}
	}
}
