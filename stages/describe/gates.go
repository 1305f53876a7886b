package describe

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// task is one change on its way to a statement: what a drafter may use, and what the
// gates judge by.
type task struct {
	facts
	code     *solution
	material Material
	literals []string          // that the tests compare with or pass in
	shown    map[string]string // how the tests fill the messages of these
	words    string            // the change's own text on one line, for a reject
}

func newTask(f facts) *task {
	code := newSolution(f.start, f.base, f.solution, f.change)
	own := read(f.change).withoutCode()
	literals, shown := code.wanted()
	t := &task{facts: f, code: code, literals: stated(literals, f.proof.StatedWords), shown: shown, words: own.words()}
	names := code.interfaceOf(slices.Concat(f.proof.Interface, defined(f.names)))
	required := slices.Compact(slices.Sorted(slices.Values(slices.Concat(code.required(), t.literals))))
	code.give(required, names)
	tests := slices.DeleteFunc(slices.Clone(f.proof.Tests), func(v schemas.TestVerdict) bool { return v.Class != schemas.F2P })
	for _, v := range tests {
		code.failing = append(code.failing, v.ID)
	}
	t.material = Material{
		Change:    f.change,
		Interface: names,
		Required:  required,
		Shown:     shown,
		Forbidden: code.forbidden(own),
		Tests:     tests,
		TestPatch: f.start.TestPatch, Patch: f.start.Patch,
	}
	t.material.Base, t.material.Readme = code.baseCode(), code.base.readme()
	return t
}

// stated adds the words that the names of the tests have from the solution.
func stated(literals, told []string) []string {
	out := slices.Concat(literals, told)
	slices.Sort(out)
	return slices.Compact(out)
}

// give takes down what a statement has to say, and what stands below it: that is no leak.
func (s *solution) give(required []string, names []schemas.Name) {
	s.given = slices.Clone(required)
	for _, n := range names {
		s.given = append(s.given, n.Name, n.Signature, n.Path)
	}
}

// forbidden returns the names in the change's own text that exist only in the solution.
func (s *solution) forbidden(t texts) []string {
	var out []string
	for _, p := range t.pieces() {
		out = append(out, s.leaks(p.text)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judge makes the statement of a draft that passes every gate, whoever wrote it. The
// gates, in order: something is said, no leak, form, coverage. What is thin is marked;
// the configuration decides whether it is kept. Literals that the tests compare with
// and that the draft leaves out are stated below it.
func (t *task) judge(d Draft) (schemas.Statement, error) {
	st := schemas.Statement{
		StartID: t.start.ID(), Provider: d.Provider, Interface: t.material.Interface,
		Text: d.Text, From: d.From, Hints: d.Hints, Required: t.material.Required, Dropped: t.material.Forbidden,
	}
	if d.Text == "" {
		return st, t.unsaid()
	}
	if leaks := t.leaks(d); len(leaks) > 0 {
		return st, pipeline.Reject(schemas.LeakyStatement, "the draft by %s names what only the solution has: %s", d.Provider, strings.Join(leaks, ", "))
	}
	stated := len(st.Interface) + len(t.literals)
	examples := ""
	if d.Provider == prompts.Rules && t.start.Kind != schemas.KindEdit { // a model sees the tests
		all := t.code.examples()
		examples = stateExamples(all) // they make no request of one that says too little
	}
	more := stateLiterals(d.Text+examples, t.literals, t.shown)
	if d.Provider == prompts.Rules { // a model sees what the tests compare with
		changed := stateRewritten(d.Text+examples+more, t.code.rewritten())
		more, stated = strings.TrimSpace(more+" "+strings.Join(changed, " ")), stated+len(changed)
	}
	st.Thin = d.Thin || t.thin(d.Text, stated)
	if t.start.Kind == schemas.KindEdit { // which says little on purpose
		st.Thin = d.Thin || lazyThin(d.Text, stated)
	}
	if examples != "" {
		st.Text += "\n\n" + examples
		st.From = append(slices.Clone(st.From), fromRuns)
	}
	if more != "" {
		st.Text += "\n\n" + more
		st.From = append(slices.Clone(st.From), fromTests)
	}
	formed := wellFormed
	if t.start.Kind == schemas.KindEdit {
		formed = ordered
	}
	if err := formed(st.Text); err != nil {
		return st, pipeline.Reject(schemas.StatementForm, "the draft by %s %w", d.Provider, err)
	}
	if len(d.Gaps) > 0 && !d.Thin {
		return st, pipeline.Reject(schemas.Uncovered, "no requirement of the draft by %s covers: %s", d.Provider, strings.Join(d.Gaps, ", "))
	}
	if bad := uncovered(t.names, st); len(bad) > 0 && !failsByBehaviour(t.proof) {
		return st, pipeline.Reject(schemas.Uncovered, "neither the statement nor a definition gives: %s", strings.Join(bad, ", "))
	}
	if bad := t.ungiven(st); len(bad) > 0 {
		return st, pipeline.Reject(schemas.Uncovered, "the suite that %s wrote needs what the draft by %s does not give: %s", t.start.Suite.Provider, d.Provider, strings.Join(bad, ", "))
	}
	return st, nil
}

// leaks returns the names in a draft that exist only in the solution. It leaves out a word
// of the author's that the draft marks as a name: the scope of a title ("parser: add x").
func (t *task) leaks(d Draft) []string {
	var out []string
	for _, name := range slices.Concat(t.code.leaks(d.Text), t.code.leaks(d.Hints)) {
		if slices.Contains(t.material.Forbidden, name) || !prose.Says(t.words, name) {
			out = append(out, name)
		}
	}
	return out
}

// thin reports whether a text with stated names and literals below it says too little to work
// on: too few words, or none of what the tests assert.
func (t *task) thin(text string, stated int) bool {
	names, words := t.code.asserted(text)
	unasserted := t.code.asserts().text != "" && names+words+stated+len(prose.Names(text)) == 0
	return unasserted || thin(text, stated+names)
}

// unsaid rejects an empty draft.
func (t *task) unsaid() error {
	if len(t.material.Forbidden) > 0 {
		return pipeline.Reject(schemas.LeakyStatement, "every sentence names what only the solution has: %s", strings.Join(t.material.Forbidden, ", "))
	}
	if t.words == "" {
		return pipeline.Reject(schemas.NothingSaid, "the change says nothing that can be asked for: %.200s", t.change.Subject)
	}
	return pipeline.Reject(schemas.NothingSaid, "nothing of what the change says of itself can be said: %.200s", t.words)
}

// wellFormed checks what holds of every statement: the first person, and words only.
func wellFormed(text string) error {
	if !prose.Begins(text) {
		return fmt.Errorf("does not begin with \"I want to\": %.60q", text)
	}
	if code := prose.Code(text); len(code) > 0 {
		return fmt.Errorf("holds code: %.60q", code[0])
	}
	return honest(text)
}

// around matches words that tell a solver to get around the tests instead of doing the work. It is
// narrow: projects about tests ask for things like "skip tests that need a network".
var around = lazyregexp.New(`(?i)\bhidden (?:tests?|assertions?|test suite)\b` +
	`|\b(?:edit|change|modify|weaken|rewrite|adapt) (?:the|any|all|those|these|failing) (?:[\w-]+ ){0,3}(?:tests?|assertions?)\b[^.\n]*\b(?:pass|succeed|green)\w*` +
	`|\b(?:delete|remove|skip|disable|ignore|comment out) (?:the |any |all |those |these )?failing (?:tests?|assertions?)\b` +
	`|\bif (?:a|any|the|one of the) tests? (?:still )?fails?,[^.\n]{0,40}\b(?:skip|delete|remove|ignore|disable)\b` +
	`|\b(?:hard-?code|special-?case|return)\b[^.\n]{0,40}\bthat (?:the )?tests? (?:expects?|wants?|checks?)\b`)

// honest refuses a statement that asks for less than the work.
func honest(text string) error {
	if found := around.FindString(text); found != "" {
		return fmt.Errorf("tells how to get around the tests: %.60q", strings.Trim(found, " .;!-"))
	}
	return nil
}

// defined returns the names that an interface can give.
func defined(names []schemas.Name) []schemas.Name {
	return slices.DeleteFunc(slices.Clone(names), func(n schemas.Name) bool { return n.Kind == "" })
}

// uncovered returns the names that tests need and that neither the interface nor the text
// gives.
func uncovered(names []schemas.Name, st schemas.Statement) []string {
	given := map[string]bool{}
	for _, n := range st.Interface {
		given[n.Name] = true
	}
	for _, n := range names {
		given[n.Name] = given[n.Name] || prose.Says(st.Text, n.Name)
	}
	var out []string
	for name, ok := range given {
		if !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func failsByBehaviour(p schemas.Proof) bool {
	return slices.ContainsFunc(p.Tests, func(t schemas.TestVerdict) bool { return t.Class == schemas.F2P && t.Cause == schemas.CauseFails })
}

// How many words with meaning a statement needs. Names say where, so that beside names
// fewer words are enough, but at least one. The figures come from reading statements:
// "`WriteLogger` is usable after unpickling" can be worked on, "disabled category output"
// and "`asdict` is faster" cannot.
const (
	enough      = 4
	enoughNamed = 3 // words and names together
	maxNames    = 2 // that count
)

const (
	pointing = `(?:this is )?(?:based on|see(?: also)?|as (?:described|discussed|proposed|reported) (?:in|on|at)|described in|discussed in|according to|details? (?:in|at|on)|more (?:in|at|on)|refer to) (?:the |this |that |these |a |an )?`
	page     = `\b(?:blog|post|article|report|draft|thread|discussion|issue|link|links|page|document|comment)s?\b`
)

// pointer is a sentence that says where to read on; a solver has no such page. elsewhere
// says nothing beside that.
var (
	pointer   = lazyregexp.New(`(?i)(?:^|[.!?]\s+|\n)` + pointing + `[^.!?\n]*` + page + `[^.!?\n]*`)
	elsewhere = lazyregexp.New(`(?i)^` + pointing + `[^.!?,;:\n]*` + page + `[.!]?$`)
)

// anywhere are words that fit any program: they say what is done there, and not where.
var anywhere = sync.OnceValue(func() map[string]bool {
	return content(`argument behaviour case check class code condition data dict error exception function handle handling input instance integer item list logic
		message method msg number object output parameter result return string text type value variable`)
})

// thin reports whether a text says too little to work on. stated is how many names and
// literals stand below it.
func thin(text string, stated int) bool {
	said := content(pointer.ReplaceAllString(text, " "))
	words, named := len(said), min(maxNames, len(prose.Names(text))+stated)
	return named == 0 && share(said, anywhere()) == 1 || words < enough && (words == 0 || named == 0 || words+named < enoughNamed)
}
