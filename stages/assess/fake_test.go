package assess_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

var baseDate = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// toy is a language whose test files hold "name word" lines: the test passes
// where a line of the code is the word.
type toy struct{ langtest.Toy }

func (toy) Runs(r schemas.Recipe, t lang.Tree, sel lang.Select) []recipe.TestRun {
	paths := sel.Paths
	if paths == nil {
		for _, p := range t.Paths() {
			if strings.HasPrefix(p, "test_") {
				paths = append(paths, p)
			}
		}
	}
	command := "test"
	if len(r.Test) > 0 {
		command = r.Test[0].Argv[0]
	}
	for _, id := range sel.Skip {
		paths = append(slices.Clone(paths), "-"+id)
	}
	return []recipe.TestRun{{Command: schemas.Command{Argv: append([]string{command}, paths...)}, Report: "/tmp/report"}}
}

func (toy) Parse(_ schemas.Recipe, outs []lang.Output) testlog.Report {
	var r testlog.Report
	if err := json.Unmarshal(outs[0].Report, &r); err != nil {
		panic(err)
	}
	return r
}

// covering is toy with a measure: a line of a file runs where it is a word that a test asks for.
type covering struct {
	toy
	cannot bool
}

func (c covering) Cover(r schemas.Recipe, t lang.Tree, sel lang.Select, _ []lang.Test, files []string) ([]recipe.TestRun, bool) {
	run := c.Runs(r, t, sel)[0]
	run.Secret = []byte(strings.Join(files, " "))
	return []recipe.TestRun{run}, !c.cannot
}

func (covering) Covered(_ schemas.Recipe, out []lang.Output) []lang.Coverage {
	all := []lang.Coverage{{Path: "test_a.toy", Lines: []int{1, 2}, Ran: []int{1, 2}}}
	for _, p := range strings.Fields(string(out[0].Run.Secret)) {
		c := lang.Coverage{Path: p}
		text, _ := out[0].Tree.Read(p)
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			if c.Lines = append(c.Lines, i+1); line != "never" {
				c.Ran = append(c.Ran, i+1)
			}
		}
		all = append(all, c)
	}
	return all
}

// box is a sandbox whose layers are trees in memory. Words of the code steer it:
// "broken" does not load, "unbuildable" does not build, "hang" hangs, "hog" builds with
// alpha for ever, "fire" is a machine on fire. C counts as what "compile" made of it, which
// stays until it is made again; it is not made where a file that build.needs names is gone.
type box struct {
	layers   map[string]map[string]string
	times    map[string]time.Time
	runs     []string // paths
	commands []string // with the command before the paths
	steps    []string // layer and build steps that succeeded
	left     map[string]bool
	fault    error // of Remove
	takes    time.Duration
	limits   []time.Duration // of each run
}

func newBox() *box {
	return &box{layers: map[string]map[string]string{"env": {}}, times: map[string]time.Time{}, left: map[string]bool{}}
}

func (b *box) Base(context.Context, sandbox.Base) (sandbox.Layer, error) { return sandbox.Layer{}, nil }

func (b *box) code(id string) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(b.layers[id])) {
		if !strings.HasPrefix(p, "test_") && !strings.HasSuffix(p, ".c") {
			out = append(out, strings.Fields(b.layers[id][p])...)
		}
	}
	return out
}

func (b *box) Build(_ context.Context, build sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	id := string(build.Key.Short())
	files := maps.Clone(b.layers[build.Parent.ID])
	if files == nil {
		return sandbox.Layer{}, sandbox.Result{}, errors.New("no such parent: " + build.Parent.ID)
	}
	for _, f := range build.Files {
		name := strings.TrimPrefix(f.Path, sandbox.TreePath+"/")
		if files[name] = string(f.Data); f.Delete {
			delete(files, name)
		}
	}
	b.layers[id], b.times[id] = files, baseDate.Add(time.Duration(len(b.layers))*time.Second)
	code := b.code(id)
	for _, step := range build.Steps {
		r := sandbox.Result{End: sandbox.Exited, ExitCode: 1}
		switch {
		case slices.Contains(code, "fire"):
			return sandbox.Layer{}, r, errors.New("fire")
		case slices.Contains(code, "hog") && slices.Contains(code, "alpha"): // not in the base
			r.End = sandbox.Memory
			return sandbox.Layer{}, r, &sandbox.BuildError{Step: step, Result: r}
		case slices.Contains(code, "unbuildable") && step.Argv[0] == "compile":
			return sandbox.Layer{}, r, &sandbox.BuildError{Step: step, Result: r}
		}
		if step.Argv[0] == "compile" {
			now := strings.Repeat("1", len(b.layers)) // as uv notes it
			files["a.dist-info/uv_cache.json"], files["a.dist-info/RECORD"] = now, "a.pth,1\na.dist-info/uv_cache.json,"+now+"\n"
			for _, p := range strings.Fields(files["build.needs"]) {
				if _, ok := files[p]; !ok {
					return sandbox.Layer{}, r, &sandbox.BuildError{Step: step, Result: r}
				}
			}
			for p, text := range maps.Clone(files) {
				if stem, ok := strings.CutSuffix(p, ".c"); ok {
					files[stem+".so"] = text
				}
			}
		}
		b.steps = append(b.steps, step.Argv[0])
	}
	b.left[id] = true
	return sandbox.Layer{Key: build.Key, ID: id}, sandbox.Result{}, nil
}

func (b *box) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	b.runs = append(b.runs, strings.Join(r.Command.Argv[1:], " "))
	b.commands = append(b.commands, strings.Join(r.Command.Argv, " "))
	b.limits = append(b.limits, r.Limits.Timeout)
	code := b.code(r.Layer.ID)
	report := testlog.Report{Started: !slices.Contains(code, "mute"), Ended: true}
	skipped := func(id string) bool { return slices.Contains(r.Command.Argv, "-"+id) }
	for _, p := range r.Command.Argv[1:] {
		if strings.HasPrefix(p, "-") {
			continue
		}
		u := testlog.Unit{Name: p, State: testlog.Finished}
		if slices.Contains(code, "broken") {
			u.State = testlog.NotLoaded
		}
		report.Units = append(report.Units, u)
		for line := range strings.Lines(b.layers[r.Layer.ID][p]) {
			name, word, _ := strings.Cut(strings.TrimSpace(line), " ")
			t := testlog.Test{ID: p + "::" + name, Unit: p, Status: schemas.Failed}
			if slices.Contains(code, word) {
				t.Status = schemas.Passed
			}
			if name == "alone" && len(r.Command.Argv) == 2 {
				t.Status = schemas.Failed // it needs what another file leaves behind
			}
			if name == "after" && skipped(p+"::kept") {
				t.Status = schemas.Failed // it needs what another test leaves behind
			}
			if u.State == testlog.Finished && !skipped(t.ID) {
				report.Tests = append(report.Tests, t)
			}
		}
	}
	end := sandbox.Exited
	if slices.Contains(code, "hang") {
		end, report.Ended = sandbox.TimedOut, false
	}
	if slices.Contains(code, "mute") {
		report = testlog.Report{}
	}
	raw, err := json.Marshal(report)
	return sandbox.Result{End: end, Wall: b.takes, Files: map[string][]byte{"/tmp/report": raw}}, err
}

func (b *box) Files(_ context.Context, l sandbox.Layer, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	for _, p := range slices.Sorted(maps.Keys(b.layers[l.ID])) {
		text := b.layers[l.ID][p]
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		if err := visit(sandbox.TreePath+"/"+p, written{size: int64(len(text)), at: b.times[l.ID]}, open); err != nil {
			return err
		}
	}
	return nil
}

// written is a file of a layer, as old as the layer.
type written struct {
	fs.FileInfo
	size int64
	at   time.Time
}

func (w written) Size() int64        { return w.size }
func (w written) Mode() fs.FileMode  { return 0o644 }
func (w written) ModTime() time.Time { return w.at }

func (b *box) Remove(_ context.Context, l sandbox.Layer) error {
	delete(b.left, l.ID)
	return b.fault
}

func newTree(t testing.TB, files map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for p, data := range files {
		e := tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)}
		if target, ok := strings.CutPrefix(data, "-> "); ok {
			e.Mode, e.Data = tree.ModeSymlink, []byte(target)
		}
		entries = append(entries, e)
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// caseOf is a case from the files of start and solution; the base is the start.
// Its FAIL_TO_PASS tests are those of the test files that fail at the start.
func caseOf(t testing.TB, start, solution map[string]string) (testrun.Case, schemas.Proof) {
	t.Helper()
	s, g := newTree(t, start), newTree(t, solution)
	c := testrun.Case{
		Start: schemas.Start{ChangeID: "acme__widget-7", BaseDate: baseDate, BaseTree: s.ID(), StartTree: s.ID(), SolutionTree: g.ID()},
		Trees: states.Trees{B: s, S: s, G: g, Patch: gitrepotest.Diff(t, 3, start, solution)}, Env: sandbox.Layer{ID: "env"}, Lang: toy{}, Runner: toy{}, SealedBase: s.Files(baseDate),
		Environment: schemas.Environment{Key: "sha256:env", Recipe: schemas.Recipe{
			Language: "toy", Build: []schemas.Command{{Argv: []string{"compile"}}, {Argv: []string{"warm"}}},
		}},
	}
	for _, p := range slices.Sorted(maps.Keys(start)) {
		if !strings.HasPrefix(p, "test_") {
			continue
		}
		c.Start.Files = append(c.Start.Files, schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "M", Path: p}, Part: schemas.PartTest})
	}
	all := maps.Clone(start)
	maps.Copy(all, solution)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if start[p] == solution[p] || strings.HasPrefix(p, "test_") {
			continue
		}
		f := schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: "M", Path: p}, Part: schemas.PartCode}
		if _, ok := solution[p]; !ok {
			f.Status = "D"
		} else if _, ok := start[p]; !ok {
			f.Status = "A"
		} else if strings.HasPrefix(start[p], "-> ") != strings.HasPrefix(solution[p], "-> ") {
			f.Status = "T"
		}
		c.Start.Files = append(c.Start.Files, f)
	}
	proof := schemas.Proof{StartID: "acme__widget-7"}
	has := func(files map[string]string, word string) bool {
		for p, data := range files {
			if !strings.HasPrefix(p, "test_") && slices.Contains(strings.Fields(data), word) {
				return true
			}
		}
		return false
	}
	for _, p := range slices.Sorted(maps.Keys(start)) {
		for line := range strings.Lines(start[p]) {
			name, word, _ := strings.Cut(strings.TrimSpace(line), " ")
			v := schemas.TestVerdict{ID: p + "::" + name, Unit: p, Class: schemas.P2P}
			if strings.HasPrefix(p, "test_") && has(solution, word) {
				if !has(start, word) {
					v.Class = schemas.F2P
				}
				proof.Tests = append(proof.Tests, v)
			}
		}
	}
	return c, proof
}

// outside answers from the box; layers are made as in production.
func outside(b *box) testrun.Outside {
	return testrun.Outside{Builder: &environment.Builder{Sandbox: b}, Blobs: refusing{}}
}

// refusing is a blob store that must not be used.
type refusing struct{}

func (refusing) Put(b []byte) (schemas.Digest, error) {
	return "", errors.New("a log was kept: " + string(bytes.TrimSpace(b)))
}
