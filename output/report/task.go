package report

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// taskView is what the template reads of one task.
type taskView struct {
	Anchor, Name, Subject string
	Previous, Next        string // anchors; "" at the ends
	About                 []fact
	Statement, Hints      excerpt
	Interface             []schemas.Name
	Gold, Tests           diff
	Groups                []testGroup
	LeftOut               []fact // tests that flake in other changes, and these
	Recipe                []fact
	Commands              []command
	Lock                  excerpt
	Environment           []fact
	Evidence              []fact
	Notes                 []fact
	Range                 []fact
	Steps                 []fact
	Instance              string // the ID as it is, in a form
	Graded                bool
	Answers               []answer
}

// testGroup is the tests of one class.
type testGroup struct {
	Title, Means string
	Count        int
	Tests        []testLine
	Note         string
	Open         bool
}

// testLine is the tests that came to the same, a name a line.
type testLine struct {
	Names string
	outcome
}

type outcome struct{ Cause, B, S, G, Why string }

type command struct{ Title, Text string }

// answer is what one prediction came to.
type answer struct {
	Patch                 *diff // nil where it is not there
	Model, Verdict, Class string
	Sample                int
	Lines                 []fact
}

// task reads one task and its folder.
func (p *page) task(i int) (*taskView, error) {
	r := p.dataset.Rows[i]
	fail := func(err error) (*taskView, error) {
		return nil, fmt.Errorf("%s (%s:%d): %w", r.InstanceID, filepath.Join(p.dataset.Dir, r.File), r.Line, err)
	}
	proof, err := p.dataset.Proof(r.InstanceID)
	if err != nil {
		return fail(err)
	}
	env, err := p.dataset.Environment(r.Row)
	if err != nil {
		return fail(err)
	}
	gold, err := r.GoldPatch()
	if err != nil {
		return fail(err)
	}
	tests, err := r.Tests()
	if err != nil {
		return fail(err)
	}
	dir := path.Join(output.TasksDir, r.InstanceID)
	v := &taskView{
		Anchor: anchor(r.InstanceID), Name: short(r.InstanceID, mostName), Graded: p.Graded,
		Statement: cut(r.ProblemStatement, mostText, path.Join(dir, output.StatementFile)), Hints: cut(r.HintsText, mostText, r.File),
		Gold: diffOf(gold, mostPatch, path.Join(dir, output.GoldFile)), Tests: diffOf(tests, mostPatch, path.Join(dir, output.TestFile)),
		Groups: groupsOf(proof, path.Join(dir, output.ProofFile)), Lock: cut(env.Recipe.Lock, mostLock, path.Join(dir, output.RecipeFile)),
		Commands: commandsOf(env.Recipe), Environment: environmentOf(r.Row, env, dir),
	}
	if i > 0 {
		v.Previous = anchor(p.dataset.Rows[i-1].InstanceID)
	}
	if i+1 < len(p.dataset.Rows) {
		v.Next = anchor(p.dataset.Rows[i+1].InstanceID)
	}
	if p.Form != nil {
		v.Instance = r.InstanceID
		r.Benchmint.Review, r.Benchmint.Reviews = nil, nil // a reviewer is to judge alone
	}
	v.about(r.Row)
	v.provenance(r.Row)
	v.recipe(env.Recipe)
	for _, l := range p.linesOfTask[r.InstanceID] {
		a := answerOf(l)
		a.beside(l, r.Benchmint.Parts[schemas.PartCode], p.patchOf)
		v.Answers = append(v.Answers, a)
	}
	return v, nil
}

// anchor names a task's view in addresses: its ID where that is plain, else a digest of it.
func anchor(id string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	if strings.Trim(id, plain) == "" {
		return "task-" + id
	}
	return "other-" + schemas.DigestBytes([]byte(id)).Short()
}

// facts collects what is not empty.
type facts []fact

func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, fact{visible(name), short(value, mostText)})
	}
}

// text adds a value that keeps its lines.
func (f *facts) text(name, value string, limit int, where string) {
	c := cut(value, limit, where)
	*f = append(*f, fact{visible(name), strings.TrimRight(c.Text+"\n"+c.Note, "\n")})
}

func (v *taskView) about(r output.Row) {
	e := r.Benchmint
	var f facts
	f.add("Repository", r.Repo)
	f.add("Base", r.BaseCommit)
	if c := e.Change; c != nil {
		v.Subject = short(c.Subject, mostName)
		f.add("Commit", c.Commit)
		if c.Number > 0 {
			f.add("Pull request", fmt.Sprintf("%d (from %s)", c.Number, c.NumberFrom))
		}
		f.add("Label", string(c.Label))
		f.add("Class", c.Class)
		f.add("First release with it", c.Release)
	}
	f.add("Kind", string(e.Kind))
	f.add("Language", e.Language)
	f.add("Created", r.CreatedAt)
	f.add("Version", r.Version)
	f.add("Licence", e.Licence)
	f.add("Category", e.Category)
	f.kind(e)
	f.add("Gold patch", fmt.Sprintf("+%d −%d lines in %s", e.Sizes.SourceAdded, e.Sizes.SourceRemoved, plural(e.Sizes.SourceFiles, "source file")))
	f.add("Adequacy", adequacyOf(e.Adequacy))
	f.add("Leaks", fmt.Sprintf("%d found of %d searched for", len(e.Leaks.Hits), e.Leaks.Count))
	if e.Thin {
		f.add("Thin", "there was little text to make the statement of")
	}
	if w := e.Review; w != nil {
		f.add("Review", fmt.Sprintf("%s, %s by %s", w.Verdict, w.Label, w.Provider))
	}
	for _, x := range e.Reviews {
		f.add("Reviewed by "+x.Who, strings.TrimRight(fmt.Sprintf("%s %s: %s", x.Verdict, x.Code, x.Note), ": "))
	}
	v.About = f
	for _, n := range e.Interface {
		v.Interface = append(v.Interface, schemas.Name{Name: short(n.Name, mostName), Kind: visible(n.Kind), Signature: short(n.Signature, mostWhy), Path: short(n.Path, mostName)})
	}
	f = nil
	for _, id := range sortedKeys(e.QuarantinedIn) {
		f.add(headOf(id, mostName), strings.Join(e.QuarantinedIn[id], ", "))
	}
	v.LeftOut = f
}

// kind adds what only the kind of a task has.
func (f *facts) kind(e output.Extra) {
	if x := e.Service; x != nil {
		f.add("Framework", x.Framework)
		f.add("Database", strings.Join(append([]string{cmp.Or(x.Database, "none")}, x.Brokers...), ", "))
		f.add("Kind of service", x.Category)
		f.add("Endpoints", fmt.Sprintf("%d, of which the %s ask %d", len(x.Endpoints), plural(x.Cases, "case"), x.EndpointsAsked))
		if x.BaseImage != "" {
			f.add("Environment", "the solver's, on "+x.BaseImage)
		}
	}
	if x := e.Library; x != nil {
		f.add("Bodies to write", fmt.Sprintf("%d of %s, %d of %s", x.Taken, plural(x.Functions, "function"), x.Lines-x.Left, plural(x.Lines, "line")))
		f.add("With nothing done", percent(x.ZeroWork)+" of the tests that count pass")
		if c := x.Coverage; c != nil {
			f.add("Coverage of the suite", percent(c.Share))
		}
		if d := x.Specification; d != nil {
			f.add("Specification", fmt.Sprintf("from %s, %s", d.Source, plural(d.Words, "word")))
		}
	}
}

func adequacyOf(a output.Adequacy) string {
	if a.Tried == 0 {
		return "no hunk was taken back"
	}
	text := fmt.Sprintf("the tests notice %d of %s taken back", a.Noticed, plural(a.Tried, "hunk"))
	for i, h := range a.Unnoticed {
		if i == 0 {
			text += "; not "
		} else {
			text += ", "
		}
		text += fmt.Sprintf("hunk %d of %s", h.Hunk+1, h.Path)
	}
	return text
}

// classes are the classes of tests in the order that a reviewer asks for them.
var classes = []struct {
	class        schemas.Class
	title, means string
	open         bool
}{
	{schemas.F2P, "FAIL_TO_PASS", "fail at the start, pass with the solution", true},
	{schemas.P2P, "PASS_TO_PASS", "pass at both", false},
	{schemas.SkipToPass, "Skipped to pass", "are skipped at the start, pass with the solution", false},
	{schemas.Quarantined, "Quarantined", "disagree with themselves", false},
	{schemas.TimeBound, "Clock", "do not pass with the solution when the clock is ahead", false},
	{schemas.Regression, "Regressions", "pass at the start, fail with the solution", false},
	{schemas.Vanished, "Vanished", "are not there with the solution", false},
	{schemas.UnstableID, "Unstable IDs", "have another name in each run", false},
	{schemas.SolutionFile, "Of the solution", "are collected from a file of the solution, or need one that no text names", false},
	{schemas.SolutionName, "Named by the solution", "have a name that the solution decides and no text gives", false},
	{schemas.Unproved, "Unproved", "pass with the solution; the start says nothing that counts", false},
	{schemas.Failing, "Failing", "do not pass with the solution", false},
	{schemas.Parent, "Parents", "stand for their children", false},
}

func groupsOf(p schemas.Proof, where string) []testGroup {
	by := map[schemas.Class][]schemas.TestVerdict{}
	for _, t := range p.Tests {
		by[t.Class] = append(by[t.Class], t)
	}
	var out []testGroup
	for _, c := range classes {
		all := by[c.class]
		if len(all) == 0 {
			continue
		}
		slices.SortFunc(all, func(a, b schemas.TestVerdict) int { return cmp.Compare(a.ID, b.ID) })
		g := testGroup{Title: c.title, Means: c.means, Count: len(all), Open: c.open}
		if len(all) > mostTests {
			g.Note = fmt.Sprintf("Cut: %d of %d are shown; the others are in %s.", mostTests, len(all), visible(where))
			all = all[:mostTests]
		}
		g.Tests = linesOf(all, where)
		out = append(out, g)
	}
	return out
}

// linesOf puts tests with one outcome together: hundreds of them read as one.
func linesOf(tests []schemas.TestVerdict, where string) []testLine {
	var out []testLine
	at := map[outcome]int{}
	for _, t := range tests {
		o := outcome{Cause: visible(string(t.Cause)), B: visible(string(t.B)), S: statuses(t.S), G: statuses(t.G), Why: cut(t.Why, mostWhy, where).Text}
		if t.Baseline == schemas.StateB {
			o.Cause = "seen to pass at the base only"
		}
		if t.Clock != "" {
			o.Cause = visible(string(t.Clock)) + " with the clock ahead"
		}
		name := short(t.ID, mostName)
		if i, ok := at[o]; ok {
			out[i].Names += "\n" + name
			continue
		}
		at[o] = len(out)
		out = append(out, testLine{name, o})
	}
	return out
}

// statuses are those of the runs of a state, equal ones together.
func statuses(all []schemas.Status) string {
	var out []string
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && all[n] == all[i] {
			n++
		}
		word := visible(string(all[i]))
		if n-i > 1 {
			word += fmt.Sprintf(" ×%d", n-i)
		}
		out, i = append(out, word), n
	}
	return strings.Join(out, ", ")
}

func (v *taskView) recipe(r schemas.Recipe) {
	var f facts
	f.add("Toolchain", r.Toolchain.Name+" "+r.Toolchain.Version)
	for _, t := range r.Tools {
		f.add("Tool", t.Name+" "+t.Version)
	}
	f.add("System packages", strings.Join(r.SystemPackages, " "))
	f.add("Requirements", strings.Join(r.Requirements, ", "))
	f.add("Pinning", strings.TrimSpace(string(r.Pinning)+" "+r.PinDate))
	f.add("Dependencies of", r.DepsFrom)
	for _, name := range sortedKeys(r.Variables) {
		f.add("$"+name, r.Variables[name])
	}
	f.add("Report", r.Report)
	for _, e := range r.Evidence {
		f.add("Evidence", fmt.Sprintf("%s: %s", e.Field, e.Source))
	}
	v.Recipe = f
}

func commandsOf(r schemas.Recipe) []command {
	var out []command
	for _, x := range []struct {
		title string
		all   []schemas.Command
	}{{"Set-up", r.Setup}, {"Build", r.Build}, {"Test", r.Test}} {
		for _, c := range x.all {
			text := strings.Join(quoted(c), " ")
			if c.Dir != "" {
				text = "cd " + quote(c.Dir) + " && " + text
			}
			out = append(out, command{x.title, cut(text, mostLock, output.RecipeFile).Text})
		}
	}
	return out
}

// quoted are the words of a command as a shell takes them.
func quoted(c schemas.Command) []string {
	var out []string
	for _, name := range sortedKeys(c.Env) {
		out = append(out, name+"="+quote(c.Env[name]))
	}
	for _, a := range c.Argv {
		out = append(out, quote(a))
	}
	return out
}

func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func environmentOf(r output.Row, e schemas.Environment, dir string) []fact {
	var f facts
	f.add("Environment", string(e.Key))
	f.add("Image", string(r.Benchmint.ImageKey))
	sandbox := e.Sandbox
	if e.Host {
		sandbox += ", toolchains of the host"
	}
	f.add("Sandbox", sandbox)
	f.add("Dockerfile", path.Join(dir, output.DockerfileFile))
	f.add("Run script", path.Join(dir, output.RunFile))
	f.add("Base tree", r.Benchmint.Trees.Base)
	f.add("Start tree", r.Benchmint.Trees.Start)
	f.add("Solution tree", r.Benchmint.Trees.Solution)
	f.add("Base archive", output.BlobPath(r.Benchmint.BaseArchive))
	return f
}

func (v *taskView) provenance(r output.Row) {
	e := r.Benchmint
	var steps, evidence, notes, commits facts
	steps.add("Statement", strings.TrimSuffix(fmt.Sprintf("from %s, by %s", e.StatementFrom, cmp.Or(e.WrittenBy, e.StatementProvider)), ", by "))
	for _, s := range e.Provenance {
		steps.add(s.Stage, fmt.Sprintf("%s, made by %s", s.Output, s.Fingerprint))
	}
	if c := e.Change; c != nil {
		for _, x := range c.LabelEvidence {
			evidence.add(string(x.Label), fmt.Sprintf("%s: %s (weight %d)", x.Rule, x.Quote, x.Weight))
		}
		for _, n := range c.Notes {
			place := n.Path
			if n.Line > 0 {
				place = fmt.Sprintf("%s:%d", n.Path, n.Line)
			}
			notes.add(cmp.Or(n.Version, n.Release, string(n.Form)), strings.Trim(n.Text+" — "+place, " —"))
		}
		for _, x := range c.Range {
			commits.add(headOf(x.Commit, 12), x.Subject)
		}
	}
	v.Steps, v.Evidence, v.Notes, v.Range = steps, evidence, notes, commits
}

// usesOf says what an answer adds that can reach the tests, a line each.
func usesOf(l score.Line) []string {
	var out []string
	for i, u := range l.Uses {
		if i == mostMiss {
			return append(out, fmt.Sprintf("and %d more (%s)", len(l.Uses)-mostMiss, score.ResultsFile))
		}
		out = append(out, short(fmt.Sprintf("%s (%s:%d): %s", headOf(u.What, mostName), headOf(u.Path, mostName), u.Line, u.Why), mostText))
	}
	return out
}

// beside adds the patch of an answer, and which code files it changes beside those of the gold patch.
func (a *answer) beside(l score.Line, gold []string, patchOf func(schemas.Digest) ([]byte, error)) {
	var beyond, left []string
	for _, p := range l.Files {
		if !slices.Contains(gold, p) {
			beyond = append(beyond, p)
		}
	}
	for _, p := range gold {
		if l.Applied != "" && !slices.Contains(l.Files, p) {
			left = append(left, p)
		}
	}
	f := facts(a.Lines)
	f.add("Files beyond the gold patch", strings.Join(beyond, ", "))
	f.add("Files of the gold patch that it leaves", strings.Join(left, ", "))
	a.Lines = f
	if patchOf == nil || l.Patch == "" || l.Model == goldModel {
		return
	}
	if text, err := patchOf(l.Patch); err == nil { // a store may have been cleaned
		d := diffOf(text, mostAnswer, "the evaluation's store")
		a.Patch = &d
	}
}

// goldModel is the model of the tasks' own patches, which stand on the page anyway.
const goldModel = "gold"

// answerOf says what a prediction came to, and why.
func answerOf(l score.Line) answer {
	a := answer{Model: short(l.Model, mostName), Sample: l.Sample, Verdict: verdictOf(l), Class: "bad"}
	switch {
	case l.Resolved:
		a.Class = "good"
	case l.Verdict == "":
		a.Class = "odd"
	}
	var f facts
	f.add("Cause", string(l.Cause))
	if l.Review != nil {
		f.add("Note", l.Review.Note)
	}
	f.add("Error", string(l.Class))
	f.add("Limit", string(l.Limit))
	f.add("Applied", l.Applied)
	for _, x := range []struct {
		name string
		of   *schemas.Score
	}{{"FAIL_TO_PASS", l.F2P}, {"PASS_TO_PASS", l.P2P}} {
		if x.of == nil {
			continue
		}
		f.add(x.name, fmt.Sprintf("%d of %d", x.of.Passed, x.of.Want))
		for i, id := range x.of.Missed {
			if i == mostMiss {
				f.add("Missed", fmt.Sprintf("and %d more (%s)", len(x.of.Missed)-mostMiss, score.ResultsFile))
				break
			}
			missed, why := short(id, mostName), l.Why[id]
			switch {
			case strings.Contains(why, "\n"):
				missed += "\n" + why
			case why != "":
				missed += ": " + why
			}
			f.text("Missed", missed, mostName+mostWhy, score.ResultsFile)
		}
	}
	if x := l.Service; x != nil {
		f.add("Service", map[bool]string{true: "starts", false: "does not start"}[x.Starts]+map[bool]string{true: " and passes every case"}[x.Functional])
	}
	if x := l.LibraryScore; x != nil {
		f.add("Library score", percent(*x))
	}
	f.add("Put back", strings.Join(l.Tampered, ", "))
	f.add("Read", strings.Join(l.Read, "; "))
	f.add("Mended", strings.Join(l.Mended, "; "))
	f.add("Files", strings.Join(l.Files, ", "))
	for _, u := range usesOf(l) {
		f.add("Uses", u)
	}
	f.add("Detail", l.Detail)
	if l.Verdict == "" {
		f.add("Fault", l.Fault)
	}
	f.add("Effort", effortOf(l))
	a.Lines = f
	return a
}

// effortOf is what an answer took, as far as its prediction says.
func effortOf(l score.Line) string {
	var out []string
	if l.Turns > 0 {
		out = append(out, plural(int(l.Turns), "turn"))
	}
	if l.Tokens > 0 {
		tokens := plural(int(l.Tokens), "token")
		if l.Input+l.Output > 0 {
			tokens += fmt.Sprintf(" (%d in, %d out)", l.Input, l.Output)
		}
		out = append(out, tokens)
	}
	if l.Cost > 0 {
		out = append(out, fmt.Sprintf("$%.4f", l.Cost))
	}
	return strings.Join(out, ", ")
}
