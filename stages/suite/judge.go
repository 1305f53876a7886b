package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// judge gives the start with the suite of an answer as its test part, or the *refusal of the first rule
// that it breaks.
func (w *Writer) judge(ctx context.Context, e *edit, answer prompts.SuiteAnswer, made schemas.Suite) (schemas.Start, error) {
	if err := w.readable(e, answer); err != nil {
		return e.start, err
	}
	start, err := w.with(ctx, e, []byte(answer.Content), made)
	if err != nil {
		return start, err
	}
	trees, err := w.States.Of(ctx, start)
	if err != nil {
		return start, err
	}
	if names := w.Names.Ungiven(start, e.language, trees.B, trees.G, e.change); len(names) > 0 {
		return start, refuse(schemas.SuiteOverfit, "it needs what only the solution has and the commits do not give: %s", some(names))
	}
	c, err := w.Runs.Prepare(ctx, start, trees, e.environment)
	if err != nil {
		return start, err
	}
	t := &trial{e: e, c: c, bench: testrun.New(w.Runs, c, w.config.Limits), declared: e.declared(answer)}
	err = w.try(ctx, t, answer, start.Suite)
	return start, errors.Join(err, t.bench.Remove(ctx))
}

// grammars are those of package outline by language.
var grammars = map[string]syntax.Language{"python": syntax.Python, "go": syntax.Go}

// readable refuses what cannot be a suite before anything is run.
func (w *Writer) readable(e *edit, answer prompts.SuiteAnswer) error {
	f, err := outline.Parse(grammars[e.start.Language], []byte(answer.Content))
	switch {
	case err != nil:
		return refuse(schemas.SuiteBroken, "it cannot be read: %w", err)
	case f.Broken:
		return refuse(schemas.SuiteBroken, "it has a syntax error")
	}
	declared := e.declared(answer)
	for _, t := range answer.Tests {
		if !declared[function(t.Name)] {
			return refuse(schemas.SuiteBroken, "it says what %s tests, and has no such test", t.Name)
		}
	}
	if found := w.config.Allow.Without(secrets.ScanPatch(added(e.path, []byte(answer.Content)))); len(found) > 0 {
		return refuse(schemas.SuiteBroken, "it holds what looks like a credential: %s", secrets.Tell("suite", found))
	}
	return nil
}

// declared are the functions and methods of an answer.
func (e *edit) declared(answer prompts.SuiteAnswer) map[string]bool {
	out := map[string]bool{}
	f, err := outline.Parse(grammars[e.start.Language], []byte(answer.Content))
	if err != nil {
		return out
	}
	for _, d := range f.Decls {
		out[d.Name] = out[d.Name] || d.Kind == outline.Function || d.Kind == outline.Method
	}
	return out
}

// function is the function's name in the name or ID of a test.
func function(test string) string {
	if _, name, ok := strings.Cut(test, "::"); ok { // behind its unit
		test = name
	}
	test, _, _ = strings.Cut(test, "[")
	test, _, _ = strings.Cut(test, "/")
	return test[strings.LastIndexAny(test, ".:")+1:]
}

// added is a patch that adds a file.
func added(name string, data []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", name, name, name, bytes.Count(data, []byte{'\n'}))
	for line := range bytes.Lines(data) {
		b.WriteByte('+')
		b.Write(line)
	}
	return b.Bytes()
}

// with is the start with a suite as its test part. Its trees are those of its patches (internal/states):
// nothing of what is written to make them has to last.
func (w *Writer) with(ctx context.Context, e *edit, data []byte, made schemas.Suite) (s schemas.Start, err error) {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clone(data), '\n')
	}
	s = e.start
	file := []gitrepo.Edit{{Path: e.path, Mode: tree.ModeFile, Data: data}}
	for _, state := range []*string{&s.StartTree, &s.SolutionTree} {
		if *state, err = w.Repos.Graft(ctx, s.Repo, *state, file); err != nil {
			return s, fmt.Errorf("adding the suite: %w", err)
		}
	}
	patch, err := w.Repos.Diff(ctx, s.Repo, s.BaseTree, s.StartTree)
	if err != nil {
		return s, fmt.Errorf("making the test patch: %w", err)
	}
	if s.TestPatch, err = w.Blobs.Put(patch); err != nil {
		return s, fmt.Errorf("keeping the test patch: %w", err)
	}
	id := tree.BlobID(data)
	row := schemas.PartFile{Part: schemas.PartTest, Rule: "generated:" + made.Provider, Hunks: 1}
	row.ChangedFile = schemas.ChangedFile{
		Status: "A", Path: e.path, OldMode: "000000", NewMode: tree.ModeFile, OldBlob: strings.Repeat("0", len(id)), NewBlob: id,
		Added: bytes.Count(data, []byte{'\n'}),
	}
	s.Files = append(slices.Clone(s.Files), row)
	slices.SortStableFunc(s.Files, func(a, b schemas.PartFile) int { return strings.Compare(a.Path, b.Path) })
	s.Sizes.TestFiles = 1
	s.Suite = &made
	return s, nil
}

// trial is one suite on the bench.
type trial struct {
	e        *edit
	c        testrun.Case
	bench    *testrun.Bench
	declared map[string]bool // functions of the suite
	tests    []lang.Test     // that pass in the solution
}

// try runs a suite and refuses it where a rule says so; what it saw goes into made.
func (w *Writer) try(ctx context.Context, t *trial, answer prompts.SuiteAnswer, made *schemas.Suite) error {
	if err := t.solved(ctx); err != nil {
		return err
	}
	for _, x := range t.tests {
		if !slices.ContainsFunc(answer.Tests, func(a prompts.TestedWish) bool { return function(a.Name) == function(x.ID) }) {
			return refuse(schemas.SuiteBroken, "it does not say what %s tests", x.ID)
		}
	}
	proof, err := t.unsolved(ctx)
	if err != nil {
		return err
	}
	if err := t.reworded(ctx); err != nil {
		return err
	}
	made.Tests, made.Failing = len(t.tests), len(proof.List(schemas.F2P))
	a, err := w.Noticer.Assess(ctx, t.c, proof)
	if err != nil {
		return err
	}
	made.Hunks, made.Noticed = len(a.Hunks), a.Noticed
	return narrow(a, w.config.MinNoticed)
}

// narrow refuses a suite that notices half of the hunks or less, or a smaller share than is asked for.
func narrow(a schemas.Adequacy, least float64) error {
	if len(a.Hunks) == 0 {
		return refuse(schemas.SuiteNarrow, "none of the %d hunks of the change can be taken back to see whether it notices", a.Skipped)
	}
	if 2*a.Noticed > len(a.Hunks) && a.Share() >= least {
		return nil
	}
	var missed []string
	for _, h := range a.Hunks {
		if len(h.Tests) == 0 && h.Limit == "" {
			missed = append(missed, fmt.Sprintf("hunk %d of %s", h.Hunk+1, h.Path))
		}
	}
	return refuse(schemas.SuiteNarrow, "it notices %d of %d hunks of the change when each is taken back alone, and not %s", a.Noticed, len(a.Hunks), some(missed))
}

// run is one run of the suite in a place. A limit that it passes, and a run that cannot be believed, are
// the suite's.
func (t *trial) run(ctx context.Context, at testrun.Place, number int) (*testrun.Outcome, error) {
	o, err := t.bench.Run(ctx, at, testrun.ScopeChanged, lang.Select{Paths: []string{t.e.path}, Number: number})
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		return nil, refuse(schemas.SuiteBroken, "%s", rejected.Error())
	}
	if err != nil {
		return nil, err
	}
	o.Blame(testrun.Parents(o))
	return o, nil
}

// own are the tests of the suite that a run met, with their statuses.
func (t *trial) own(o *testrun.Outcome) map[lang.Test]schemas.Status {
	out := map[lang.Test]schemas.Status{}
	for _, x := range o.Report.Tests {
		if x.Unit == t.e.path || !t.c.G.Has(x.Unit) && t.declared[function(x.ID)] {
			test := lang.Test{ID: x.ID, Unit: x.Unit}
			out[test] = o.Status(test)
		}
	}
	return out
}

// solved wants all tests of the suite to pass in the solution, in each run the same ones.
func (t *trial) solved(ctx context.Context) error {
	at, err := t.bench.Place(ctx, schemas.StateG)
	if err != nil {
		return err
	}
	var first map[lang.Test]schemas.Status
	failed := map[lang.Test]string{}
	for n := 1; n <= runs; n++ {
		pipeline.Doing(ctx, "the suite in the solution, %d of %d", n, runs)
		o, err := t.run(ctx, at, n)
		if err != nil {
			return err
		}
		all := t.own(o)
		if len(all) == 0 {
			return refuse(schemas.SuiteBroken, "no test of it runs in the solution: %s", said(o))
		}
		if n == 1 {
			first = all
		}
		if !maps.Equal(first, all) {
			return refuse(schemas.SuiteFlaky, "runs 1 and %d of the solution do not agree: %s", n, some(differ(first, all)))
		}
		for x, s := range all {
			if s != schemas.Passed {
				failed[x] = fmt.Sprintf("%s %s: %s", x.ID, s, line(o.Why(x)))
			}
		}
	}
	if len(failed) > 0 {
		return refuse(schemas.SuiteRed, "%s", some(slices.Sorted(maps.Values(failed))))
	}
	t.tests = sorted(first)
	return nil
}

// unsolved wants one test of the suite at least not to pass at the base, and gives these as a proof has
// them.
func (t *trial) unsolved(ctx context.Context) (proof schemas.Proof, err error) {
	pipeline.Doing(ctx, "the suite at the base")
	at, err := t.bench.Place(ctx, schemas.StateS)
	if err != nil {
		return proof, err
	}
	o, err := t.run(ctx, at, 1)
	if err != nil {
		return proof, err
	}
	proof.StartID = t.c.Start.ID()
	for _, x := range t.tests {
		v := schemas.TestVerdict{ID: x.ID, Unit: x.Unit, Class: schemas.F2P}
		if o.Status(x) == schemas.Passed {
			v.Class = schemas.P2P
		}
		proof.Tests = append(proof.Tests, v)
	}
	if len(proof.List(schemas.F2P)) == 0 {
		return proof, refuse(schemas.SuitePasses, "all %d tests of it pass without the change", len(proof.Tests))
	}
	return proof, nil
}

// reworded shows whether the suite looks at the source: it is run in the solution with other texts that
// run the same (lang.Author). A test that does not load says nothing then, nor does a tree that does not
// build: some builds read the source, too.
func (t *trial) reworded(ctx context.Context) error {
	entries, any := t.c.G.Entries(), false
	for _, f := range t.e.code() {
		i := slices.IndexFunc(entries, func(x tree.Entry) bool { return x.Path == f.Path && x.Mode != tree.ModeSymlink })
		if i < 0 {
			continue
		}
		if as, data, ok := t.e.author.Reworded(f.Path, entries[i].Data); ok && (as == f.Path || !t.c.G.Has(as)) {
			entries[i].Path, entries[i].Data, any = as, data, true
		}
	}
	if !any {
		return nil
	}
	pipeline.Doing(ctx, "the suite over other texts of the solution")
	other, err := tree.New(entries)
	if err != nil {
		return fmt.Errorf("writing the solution in other words: %w", err)
	}
	at, err := t.bench.Instead(ctx, schemas.StateG, "G-reworded", other)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := t.run(ctx, at, 1)
	if err = errors.Join(err, t.bench.Free(ctx, at)); err != nil {
		return err
	}
	var looks []string
	for _, x := range t.tests {
		if s := o.Status(x); s == schemas.Failed || s == schemas.Errored {
			looks = append(looks, fmt.Sprintf("%s %s: %s", x.ID, s, line(o.Why(x))))
		}
	}
	if len(looks) > 0 {
		return refuse(schemas.SuiteOverfit, "it reads the source: over files that run the same and read otherwise, %s", some(looks))
	}
	return nil
}

// said is the first word of a run on why its tests did not load.
func said(o *testrun.Outcome) string {
	for _, u := range o.Report.Units {
		if u.Message != "" {
			return line(u.Message)
		}
	}
	return "the runner does not find it"
}

// line is what a message says, on one line.
func line(s string) string {
	const most = 300
	return asked.Cut(strings.Join(strings.Fields(s), " "), most)
}

// differ names the tests that two runs do not agree on.
func differ(a, b map[lang.Test]schemas.Status) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for _, x := range sorted(all) {
		if a[x] != b[x] {
			out = append(out, fmt.Sprintf("%s %s and %s", x.ID, orAbsent(a[x]), orAbsent(b[x])))
		}
	}
	return out
}

func orAbsent(s schemas.Status) schemas.Status {
	if s == "" {
		return schemas.Absent
	}
	return s
}

func sorted(of map[lang.Test]schemas.Status) []lang.Test {
	return slices.SortedFunc(maps.Keys(of), func(a, b lang.Test) int { return strings.Compare(a.ID+"\x00"+a.Unit, b.ID+"\x00"+b.Unit) })
}
