package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/internal/testrun/testruntest"
)

// parse reads reports as the tests write them.
var parse = testruntest.Parse

var baseDate = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// scripted is a language whose processes carry their selection as an argument
// and whose reports are JSON.
type scripted struct {
	langtest.Toy
	changed map[string]bool // tests whose source the test part changed
	asked   *[]string       // questions about sources
	names   []schemas.Name
	whole   bool // changed files are the whole suite
	modules int  // processes a run; 0 is 1
	shifts  bool // its clock can be ahead
}

var _ lang.Shifter = scripted{}

func (l scripted) Shift(_ schemas.Recipe, run recipe.TestRun, s clock.Shift) (recipe.TestRun, string, error) {
	if !l.shifts {
		return run, "", errors.New("the toy has no clock")
	}
	run.Command.Argv = append(run.Command.Argv, map[bool]string{false: "ahead", true: "files"}[s.Files])
	return run, "toy", nil
}

func (l scripted) Runs(r schemas.Recipe, _ lang.Tree, sel lang.Select) []recipe.TestRun {
	if l.whole {
		sel.Paths = nil
	}
	arg, err := json.Marshal(sel)
	if err != nil {
		panic(err)
	}
	name := "test"
	if len(r.Test) > 0 {
		name = r.Test[0].Argv[0]
	}
	var out []recipe.TestRun
	for i := range max(1, l.modules) {
		out = append(out, recipe.TestRun{Command: schemas.Command{Argv: []string{name, fmt.Sprint(i), string(arg)}}, Report: "/tmp/report"})
	}
	return out
}

func (scripted) Parse(_ schemas.Recipe, outs []lang.Output) testlog.Report {
	all := testlog.Report{Started: true, Ended: true}
	for _, o := range outs {
		var r testlog.Report
		if json.Unmarshal(o.Report, &r) != nil {
			return testlog.Report{}
		}
		all.Started, all.Ended = all.Started && r.Started, all.Ended && r.Ended
		all.Tampered += r.Tampered
		all.Units, all.Tests = append(all.Units, r.Units...), append(all.Tests, r.Tests...)
	}
	return all
}

func (l scripted) Untouched(_, _ lang.Tree, changed []string) func(lang.Test) bool {
	return func(t lang.Test) bool {
		if l.asked != nil {
			*l.asked = append(*l.asked, t.ID+" "+strings.Join(changed, " "))
		}
		return !l.changed[t.ID]
	}
}

// Part says that units, which have names of one letter, are files of tests.
func (l scripted) Part(path string, t lang.Tree) (schemas.Part, string, bool) {
	if len(path) == 1 {
		return schemas.PartTest, "unit", true
	}
	return l.Toy.Part(path, t)
}

func (l scripted) NewNames(lang.Tree, lang.Tree, []string, []string) []schemas.Name { return l.names }

// box is a sandbox that answers from a script and keeps what it was asked.
type box struct {
	script  func(state string, sel lang.Select) (testlog.Report, sandbox.End)
	fails   map[string]string      // state → first word of the build step that fails there
	over    map[string]sandbox.End // state → limit that its build passes
	fault   map[string]error       // "run", "build" or "remove" → machine fault
	exit    map[string]int         // state → exit code of its runs
	writes  map[string][]string    // state → paths that its runs write, where they are watched
	runs    []string               // state and selection, in order
	builds  []sandbox.Build
	removed []string
}

func (b *box) Base(context.Context, sandbox.Base) (sandbox.Layer, error) { return sandbox.Layer{}, nil }

// Build names the layer by what its files are: only G has other code than B.
func (b *box) Build(_ context.Context, build sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	if err := b.fault["build"]; err != nil {
		return sandbox.Layer{}, sandbox.Result{}, err
	}
	b.builds = append(b.builds, build)
	state := "B"
	if build.Parent.ID != "env" {
		state = "S"
		for _, f := range build.Files {
			if f.Path == sandbox.TreePath+"/code.toy" {
				state = "G"
			}
		}
	}
	for _, step := range build.Steps {
		r := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte("build log of " + state)}
		if end := b.over[state]; end != "" {
			r.End = end
			return sandbox.Layer{}, r, &sandbox.BuildError{Step: step, Result: r}
		}
		if step.Argv[0] == b.fails[state] {
			return sandbox.Layer{}, r, &sandbox.BuildError{Step: step, Result: r}
		}
	}
	return sandbox.Layer{Key: build.Key, ID: state}, sandbox.Result{}, nil
}

func (b *box) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	var sel lang.Select
	if err := json.Unmarshal([]byte(r.Command.Argv[2]), &sel); err != nil {
		return sandbox.Result{}, err
	}
	state := r.Layer.ID
	if name := r.Command.Argv[0]; name != "test" { // a rival of the recipe's command
		state = name + " " + state
	}
	if len(r.Command.Argv) > 3 {
		state += " " + r.Command.Argv[3]
	}
	b.runs = append(b.runs, describe(state, sel))
	if err := b.fault["run"]; err != nil {
		return sandbox.Result{}, err
	}
	report, end := b.script(state, sel)
	raw, err := json.Marshal(report)
	code := 0
	if !report.Ended {
		code = 2
	}
	if own, ok := b.exit[state]; ok {
		code = own
	}
	written := slices.DeleteFunc(slices.Clone(r.Watch), func(p string) bool { return !slices.Contains(b.writes[state], p) })
	return sandbox.Result{End: end, ExitCode: code, Output: []byte("log of " + r.Layer.ID), Files: map[string][]byte{"/tmp/report": raw}, Written: written, Wall: time.Second}, err
}

func (b *box) Files(context.Context, sandbox.Layer, func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	return errors.New("not asked for")
}

func (b *box) Remove(_ context.Context, l sandbox.Layer) error {
	b.removed = append(b.removed, l.ID)
	return b.fault["remove"]
}

// describe is one line of the order of work: "S suite 1", "G changed 1", "S rest 1 -a::t1".
func describe(state string, sel lang.Select) string {
	scope := "suite"
	switch {
	case len(sel.Skip) > 0:
		scope = "rest"
	case sel.Paths != nil:
		scope = "changed"
	}
	line := fmt.Sprintf("%s %s %d", state, scope, sel.Number)
	for _, s := range sel.Skip {
		line += " -" + s
	}
	return line
}

// reports is a script of what runs say by state; "S 2" is for run 2 of S only, and
// "S changed" for the run of the changed files.
type reports map[string]string

func (s reports) script(state string, sel lang.Select) (testlog.Report, sandbox.End) {
	keys := []string{fmt.Sprintf("%s %d", state, sel.Number), state}
	if sel.Paths != nil {
		keys = append([]string{state + " changed"}, keys...)
	}
	for _, k := range keys {
		if text, ok := s[k]; ok {
			return parse(text), sandbox.Exited
		}
	}
	return testlog.Report{}, sandbox.Exited
}

// bench is a case with its validator, ready to be changed by a test.
type bench struct {
	box   *box
	lang  scripted
	c     task
	cfg   Config
	blobs *blob.Store
	saw   []Measured
}

func newBench(t *testing.T, script func(string, lang.Select) (testlog.Report, sandbox.End)) *bench {
	t.Helper()
	base := newTree(t, "code.toy", "1", "test_a.toy", "1", "a", "1")
	start := newTree(t, "code.toy", "1", "test_a.toy", "2", "a", "1", "n", "1")
	solution := newTree(t, "code.toy", "2", "test_a.toy", "2", "a", "1", "n", "1")
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{
		box: &box{script: script, fault: map[string]error{}}, cfg: Default(), blobs: blobs,
		c: task{Case: testrun.Case{
			Start: schemas.Start{
				ChangeID: "acme__widget-7", BaseDate: baseDate, BaseTree: base.ID(), StartTree: start.ID(), SolutionTree: solution.ID(),
				Files: []schemas.PartFile{
					{ChangedFile: schemas.ChangedFile{Status: "M", Path: "test_a.toy"}, Part: schemas.PartTest},
					{ChangedFile: schemas.ChangedFile{Status: "M", Path: "code.toy"}, Part: schemas.PartCode},
				},
			},
			Trees: states.Trees{B: base, S: start, G: solution}, Env: sandbox.Layer{Key: "env-key", ID: "env"},
			Environment: schemas.Environment{Key: "sha256:env", Recipe: schemas.Recipe{Language: "toy", Build: []schemas.Command{
				{Argv: []string{"compile"}}, {Argv: []string{"warm"}},
			}}},
			SealedBase: base.Files(baseDate),
		}},
	}
}

func (b *bench) prove(t *testing.T) (schemas.Proof, error) {
	t.Helper()
	b.c.Lang, b.c.Runner = b.lang, b.lang
	v, err := New(Outside{
		Builder: &environment.Builder{Sandbox: b.box, Languages: map[string]lang.Language{"toy": b.lang}}, Blobs: b.blobs,
		Observe: func(m Measured) { b.saw = append(b.saw, m) },
	}, b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v.proveCase(t.Context(), b.c)
}

// cutting is a sandbox that reads reports back in part.
type cutting struct{ *box }

func (c cutting) Run(ctx context.Context, r sandbox.Run) (sandbox.Result, error) {
	res, err := c.box.Run(ctx, r)
	res.Cut = map[string]bool{r.Collect[0]: true}
	return res, err
}

func newTree(t *testing.T, pathsAndContent ...string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for i := 0; i < len(pathsAndContent); i += 2 {
		entries = append(entries, tree.Entry{Path: pathsAndContent[i], Mode: "100644", Data: []byte(pathsAndContent[i+1])})
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reason is the reject reason of an error, or what it is instead.
func reason(err error) schemas.Reason {
	var r *pipeline.Rejected
	switch {
	case err == nil:
		return "valid"
	case errors.As(err, &r):
		return r.Reason
	}
	return schemas.Reason("fault: " + err.Error())
}
