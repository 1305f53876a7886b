package golang

import (
	"bytes"
	_ "embed" // the script
	"path"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed observe.sh
var observeScript []byte

const (
	observePath = sandbox.RunPath + "/observe.sh"
	observeOut  = "/tmp/.benchmint-observe"
)

var _ lang.Observer = Language{}

// Observe starts every test program of a tree without a test, with coverage of all packages: what is covered ran when the
// packages were initialised, or in a TestMain. A program's main is not run.
func (Language) Observe(r schemas.Recipe, _ lang.Tree) []recipe.TestRun {
	var runs []recipe.TestRun
	for i, c := range r.Test {
		out := observeOut + "." + strconv.Itoa(i)
		env := map[string]string{"GOMAXPROCS": gomaxprocs}
		for k, v := range c.Env {
			env[k] = v
		}
		runs = append(runs, recipe.TestRun{
			Command: schemas.Command{Argv: append([]string{"sh", observePath, out}, buildWords(c.Argv)...), Dir: c.Dir, Env: env},
			Inputs:  []sandbox.File{{Path: observePath, Mode: 0o444, Data: observeScript}},
			Report:  out,
		})
	}
	return runs
}

// Observed reads the covered blocks, and of each program that did not start what it said.
func (Language) Observed(out []lang.Output) mask.Load {
	var l mask.Load
	for _, o := range out {
		said, covered, _ := bytes.Cut(o.Report, []byte("\n\x00\n"))
		layout := layoutOf(o.Tree)
		for line := range strings.Lines(string(covered)) {
			b, ok := blockOf(strings.TrimSuffix(line, "\n"))
			dir, own := layout.dir(path.Dir(b.file))
			if ok && own && b.ran {
				l.Ran = append(l.Ran, mask.Seen{Path: path.Join(dir, path.Base(b.file)), Line: b.from})
			}
		}
		l.Units, l.Failed = started(string(said), l.Units, l.Failed)
	}
	return l
}

// started adds the programs that go test tells of, and those that did not start.
func started(said string, units int, failed []mask.NotLoaded) (int, []mask.NotLoaded) {
	var block []string
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		word, rest, _ := strings.Cut(line, "\t")
		unit, _, _ := strings.Cut(rest, "\t")
		unit, _, _ = strings.Cut(unit, " ")
		switch word = strings.TrimSpace(word); {
		case unit == "" || word != "ok" && word != "FAIL":
			block = append(block, line)
			continue
		case word == "FAIL":
			f := loadFault(unit, strings.Join(append(block, line), "\n"))
			failed = append(failed, mask.NotLoaded{Unit: unit, Message: f.Message, Path: f.Path, Late: strings.HasPrefix(f.Message, "test timed out")})
		}
		units++
		block = nil
	}
	return units, failed
}
