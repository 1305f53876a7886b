// Package describe writes the statement of a task: what a solver is told, in the
// first person, from the project's own notes and the change's own words.
//
// It writes by rule and says so (provider "rules"): a sentence is turned into a
// wish, the author's other sentences follow as they are, code is reduced to names
// or left out. It never tells what exists only in the solution, unless the tests
// use it or the project told its users; it never invents, and never poses as a
// model. There is no seam for one here yet: the prompt that a model would be asked
// (prompts.Describe) is part of this stage's fingerprint and stands in its
// provenance, and what a model writes will pass the same gates (leaks, coverage,
// thinness) as what the rules write.
package describe

import (
	"context"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "1"

// Config is the stage's settings.
type Config struct {
	// Thin keeps statements that say too little; they are labelled.
	Thin bool `json:"thin"`
}

// Records joins what earlier stages left.
type Records interface {
	Change(id string) (schemas.Change, error)
	Start(id string) (schemas.Start, error)
	Proof(id string) (schemas.Proof, error)
}

// States makes the trees of starts; states.Maker does.
type States interface {
	Of(ctx context.Context, s schemas.Start) (states.Trees, error)
}

// Describer is the stage.
type Describer struct {
	records   Records
	states    States
	languages map[string]lang.Language
	config    Config
}

var _ pipeline.Stage[schemas.Adequacy, schemas.Statement] = (*Describer)(nil)

// New makes the stage.
func New(records Records, s States, languages map[string]lang.Language, c Config) *Describer {
	return &Describer{records: records, states: s, languages: languages, config: c}
}

// Fingerprint is what results depend on beside their inputs.
func (c Config) Fingerprint() any {
	return struct {
		Config
		Prompt string `json:"prompt"`
	}{c, prompts.Describe.Hash()}
}

// Depends: how much of a patch is noticed says nothing of what is asked for.
func (d *Describer) Depends(a schemas.Adequacy) any {
	return struct {
		StartID string
		Proof   schemas.Digest
	}{a.StartID, a.Proof}
}

// Run writes one statement. Rejections: every reason of describe/.
func (d *Describer) Run(ctx context.Context, a schemas.Adequacy) (schemas.Statement, error) {
	m, err := d.material(ctx, a.StartID)
	if err != nil {
		return schemas.Statement{}, err
	}
	pipeline.Provide(ctx, prompts.ByRules(prompts.Describe))
	st, err := Write(m)
	if err == nil && st.Thin && !d.config.Thin {
		return st, pipeline.Reject(schemas.ThinStatement, "%s", strings.TrimSpace(st.Text))
	}
	return st, err
}

func (d *Describer) material(ctx context.Context, id string) (Material, error) {
	var m Material
	var err error
	if m.Start, err = d.records.Start(id); err != nil {
		return m, err
	}
	if m.Change, err = d.records.Change(id); err != nil {
		return m, err
	}
	if m.Proof, err = d.records.Proof(id); err != nil {
		return m, err
	}
	trees, err := d.states.Of(ctx, m.Start)
	if err != nil {
		return m, err
	}
	m.Base, m.Solution = trees.B, trees.G
	if l := d.languages[m.Start.Language]; l != nil {
		m.Names = l.NewNames(trees.B, trees.G, codePaths(m.Start), m.Start.TestPaths())
	}
	return m, nil
}

// Material is what one statement is made of.
type Material struct {
	Change         schemas.Change
	Start          schemas.Start
	Proof          schemas.Proof
	Base, Solution lang.Tree
	// Names are those that the tests use and that only the solution's code defines,
	// with those that have no definition (lang.Language.NewNames).
	Names []schemas.Name
}

// Write makes the statement by rule.
func Write(m Material) (schemas.Statement, error) {
	s := newSolution(m.Start, m.Base, m.Solution, m.Change)
	st := schemas.Statement{StartID: m.Start.ID(), Provider: prompts.Rules}
	st.Interface = s.interfaceOf(m.Proof.Interface)

	t := read(m.Change).plainly()
	said := t.words()
	t, st.Dropped = t.withoutLeaks(s)
	text, from := t.draft().render()
	if text == "" {
		if len(st.Dropped) > 0 {
			return st, pipeline.Reject(schemas.LeakyStatement, "every sentence names what only the solution has: %s", strings.Join(st.Dropped, ", "))
		}
		return st, pipeline.Reject(schemas.ThinStatement, "nothing of what the change says of itself can be said: %.200s", said)
	}
	literals := s.wanted()
	st.Thin = thin(text, len(st.Interface)+len(literals))
	if more := spell(text, literals); more != "" {
		text += "\n\n" + more
		from = append(from, fromTests)
	}
	st.Text, st.From, st.Hints = text, from, lines(t.hints)
	st.Required = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.required(), literals))))
	if bad := uncovered(m.Names, st); len(bad) > 0 && !failsByBehaviour(m.Proof) {
		return st, pipeline.Reject(schemas.Uncovered, "neither the statement nor a definition gives: %s", strings.Join(bad, ", "))
	}
	return st, nil
}

// words is the change's own text on one line, for a reject.
func (t told) words() string {
	var out []string
	for _, p := range slices.Concat(t.notes, []piece{t.title}, t.body) {
		out = append(out, p.text)
	}
	return strings.Join(out, " ")
}

// withoutLeaks drops each sentence that names what only the solution has. A name
// that is a leak once is dropped wherever it stands, even where it could be a word.
func (t told) withoutLeaks(s *solution) (told, []string) {
	var dropped []string
	t.keep(func(text string) bool {
		dropped = append(dropped, s.leaks(text)...)
		return true
	})
	slices.Sort(dropped)
	dropped = slices.Compact(dropped)
	return t.keep(func(text string) bool {
		return !slices.ContainsFunc(dropped, func(name string) bool { return prose.Says(text, name) })
	}), dropped
}

// uncovered are names that tests need, that have no definition to put into the
// interface, and that the text does not say.
func uncovered(names []schemas.Name, st schemas.Statement) []string {
	given := map[string]bool{}
	for _, n := range names {
		given[n.Name] = given[n.Name] || n.Kind != "" || prose.Says(st.Text, n.Name)
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

// A statement needs that many words of meaning. Names say where, so that fewer
// words will do beside them, but at least one. The figures come from reading:
// "`WriteLogger` is usable after unpickling" can be worked on, "disabled category
// output" and "`asdict` is faster" cannot.
const (
	enough      = 4
	enoughNamed = 3 // words and names together
	maxNames    = 2 // that count
)

// thin tells a statement that says too little to go on.
// stated are the names and literals that stand below the text.
func thin(text string, stated int) bool {
	words := len(content(text))
	named := min(maxNames, len(names(text))+stated)
	return words < enough && (words == 0 || named == 0 || words+named < enoughNamed)
}
