// Package describe writes the statement of a task: what a solver is told, in the
// first person, from the project's own notes and the change's own words.
//
// A Drafter writes the text from Material. Today's drafter is Rules: it turns a
// sentence into a wish and keeps the author's other sentences, with code and quotations
// unchanged (faithful.go). What the tests assert follows as examples (examples.go). It leaves out blocks of code that are no example of
// one line, and wishes that no test can see (unseen.go). The gates (gates.go) then judge the draft, whoever wrote it.
//
// A statement never tells what exists only in the solution, unless the tests use it or
// the project told its users. The stage never invents, never edits a draft beyond
// adding what the tests compare with, and rules never pose as a model.
package describe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "11"

// Config is the stage's settings.
type Config struct {
	// Thin keeps statements that say too little; they are labelled.
	Thin bool `json:"thin"`
	// Unnoticed keeps tasks of which hunks were tried, and of whose hunks the FAIL_TO_PASS
	// tests notice none: a solver may pass them without the change.
	Unnoticed bool `json:"unnoticed"`
	// MinNoticed is the share of the hunks of an edit that were tried which the FAIL_TO_PASS
	// tests notice at least, where they notice any; 0 asks for none.
	MinNoticed float64 `json:"min_noticed,omitempty"`
	// Model is who drafts before the rules; nil is nobody.
	Model *llm.Settings `json:"model,omitempty"`
	// Library is what the tests of a library must be; nil is DefaultLibrary.
	Library *Library `json:"library,omitempty"`
}

// Records joins what earlier stages left.
type Records interface {
	Origin(id string) (schemas.Origin, error)
	Start(id string) (schemas.Start, error)
	Proof(id string) (schemas.Proof, error)
	Provisioned(id string) (schemas.Provisioned, error)
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
	drafter   Drafter
	first     Drafter // asked before, as often as config.Model says; nil is none
	reviewer  Reviewer
	overrides map[string]schemas.Override
	config    Config
}

var _ pipeline.Stage[schemas.Adequacy, schemas.Statement] = (*Describer)(nil)

// New makes the stage; Rules write the drafts. overrides are what was written by hand, by
// instance ID. They are not in the fingerprint: who changes one asks for that item again.
func New(records Records, s States, languages map[string]lang.Language, overrides map[string]schemas.Override, c Config) *Describer {
	return &Describer{records: records, states: s, languages: languages, drafter: Rules{}, overrides: overrides, config: c}
}

// With has a drafter asked before the rules. What the gates refuse is asked for again with
// the fault, as often as the settings say; then the rules' draft is judged. reviewer has its
// say of each statement that passes; nil is nobody.
func (d *Describer) With(first Drafter, reviewer Reviewer) *Describer {
	d.first, d.reviewer = first, reviewer
	return d
}

// Fingerprint is what results depend on beside their inputs: the settings, and who
// writes. It holds no prompt where the rules alone write, since they ask none.
func (c Config) Fingerprint() any {
	prompt := ""
	if c.Model != nil {
		prompt = prompts.Describe.Hash() + " " + prompts.Review.Hash() + " " + prompts.Lazy.Hash()
	}
	return struct {
		Config
		Provider string `json:"provider"`
		Prompt   string `json:"prompt,omitempty"`
	}{c, prompts.Rules, prompt}
}

// fewNoticed reports whether tests notice a smaller share of an edit than is asked for.
func (c Config) fewNoticed(a schemas.Adequacy) bool {
	return a.Finding() == schemas.SomeNoticed && a.Share() < c.MinNoticed
}

// Depends leaves out how much of the patch the tests notice, but for none at all and for too
// little of an edit: it says nothing of what is asked for.
func (d *Describer) Depends(a schemas.Adequacy) any {
	return struct {
		StartID   string
		Proof     schemas.Digest
		Unnoticed bool
		Few       bool              `json:",omitempty"`
		Coverage  *schemas.Coverage `json:",omitempty"`
	}{a.StartID, a.Proof, a.Finding() == schemas.NoneNoticed, d.config.fewNoticed(a), a.Coverage}
}

// Run has one statement drafted and judges it. Rejections: every reason of describe/.
func (d *Describer) Run(ctx context.Context, a schemas.Adequacy) (schemas.Statement, error) {
	if a.Finding() == schemas.NoneNoticed && !d.config.Unnoticed {
		return schemas.Statement{}, pipeline.Reject(schemas.NoneNoticing, "FAIL_TO_PASS tests notice none of %d hunks that were tried: %s", len(a.Hunks), places(a.Hunks))
	}
	f, err := d.facts(ctx, a.StartID)
	if err != nil {
		return schemas.Statement{}, err
	}
	if f.start.Group != nil {
		return d.service(ctx, f)
	}
	if f.cut != nil {
		return d.library(ctx, f, a)
	}
	if f.start.Kind == schemas.KindEdit && d.config.fewNoticed(a) {
		return schemas.Statement{}, pipeline.Reject(schemas.FewNoticing, "%d of %d hunks that were tried, below %g", a.Noticed, len(a.Hunks), d.config.MinNoticed)
	}
	t := newTask(f)
	hand := d.overrides[f.change.ID()]
	t.material.Interface = withNames(t.material.Interface, hand.Interface)
	t.code.give(t.material.Required, t.material.Interface)
	st, err := d.write(ctx, t, hand.Statement)
	if err == nil && st.Review == nil {
		st, _, err = d.reviewed(ctx, t, st)
	}
	if hand.Statement != "" || len(hand.Interface) > 0 {
		st.WrittenBy = schemas.Hand
	}
	if err == nil && st.Thin && !d.config.Thin {
		return st, pipeline.Reject(schemas.ThinStatement, "%s", strings.TrimSpace(st.Text))
	}
	return st, err
}

// write has a statement drafted and judged: what somebody wrote by hand, else what the first
// drafter writes that passes the gates, else what the rules write.
func (d *Describer) write(ctx context.Context, t *task, hand string) (schemas.Statement, error) {
	last := d.drafter
	if t.start.Kind == schemas.KindEdit {
		last = Lazy{}
	}
	switch {
	case hand != "":
		last = byHand(hand)
	case d.first != nil:
		st, ok, err := d.asked(ctx, t)
		if ok || err != nil {
			return st, err
		}
	}
	return t.drafted(ctx, last)
}

// asked has the first drafter write, until a draft passes the gates and the reviewer has
// nothing against it; then, or after so many tries, the last one that passed the gates is
// the statement. ok is false where none did.
func (d *Describer) asked(ctx context.Context, t *task) (st schemas.Statement, ok bool, err error) {
	defer func() { t.material.Fault = "" }()
	for range d.config.Model.Tries {
		draft, err := t.drafted(ctx, d.first)
		var no *pipeline.Rejected
		switch {
		case llm.NoAnswer(err):
			return st, ok, nil
		case errors.As(err, &no):
			t.material.Fault = no.Error()
			continue
		case err != nil:
			return st, false, err
		}
		fault := ""
		if draft, fault, err = d.reviewed(ctx, t, draft); err != nil {
			return st, false, err
		}
		st, ok = draft, true
		if fault == "" {
			return st, true, nil
		}
		t.material.Fault = fault
	}
	return st, ok, nil
}

// reviewed is a statement with what the reviewer says of it; fault is what is to be mended.
func (d *Describer) reviewed(ctx context.Context, t *task, st schemas.Statement) (out schemas.Statement, fault string, err error) {
	if d.reviewer == nil {
		return st, "", nil
	}
	r, err := d.reviewer.Review(ctx, t.material, st)
	if llm.NoAnswer(err) {
		return st, "", nil
	}
	if err != nil {
		return st, "", err
	}
	st.Review = &r
	return st, r.Fault(), nil
}

func (t *task) drafted(ctx context.Context, by Drafter) (schemas.Statement, error) {
	draft, err := by.Draft(ctx, t.material)
	if err != nil {
		return schemas.Statement{}, err
	}
	st, err := t.judge(draft)
	gate, fault := "", ""
	if no := (*pipeline.Rejected)(nil); errors.As(err, &no) {
		gate, fault = string(no.Reason), no.Error()
	}
	if draft.Judged != nil && (err == nil || gate != "") {
		if fault := draft.Judged(ctx, gate, fault); fault != nil {
			return st, fault
		}
	}
	return st, err
}

// places names the first files of hunks.
func places(hunks []schemas.HunkNotice) string {
	const most = 3
	var out []string
	for _, h := range hunks {
		if !slices.Contains(out, h.Path) {
			out = append(out, h.Path)
		}
	}
	if more := len(out) - most; more > 0 {
		out = append(out[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// facts is what one statement is made from.
type facts struct {
	change         schemas.Change
	cut            *schemas.Cut // instead of a change, of a library or a service
	start          schemas.Start
	proof          schemas.Proof
	base, solution lang.Tree
	// names are those that the tests use and that only the solution's code defines,
	// with those that have no definition (lang.Language.NewNames).
	names []schemas.Name
}

func (d *Describer) facts(ctx context.Context, id string) (facts, error) {
	var f facts
	var err error
	if f.start, err = d.records.Start(id); err != nil {
		return f, err
	}
	origin, err := d.records.Origin(id)
	if err != nil {
		return f, err
	}
	if f.cut = origin.Cut; origin.Change != nil {
		f.change = *origin.Change
	}
	if f.proof, err = d.records.Proof(id); err != nil {
		return f, err
	}
	trees, err := d.states.Of(ctx, f.start)
	if err != nil {
		return f, err
	}
	f.base, f.solution = trees.B, trees.G
	if f.cut != nil {
		return f, nil
	}
	if l := d.languages[f.start.Language]; l != nil {
		f.names = l.NewNames(trees.B, trees.G, codePaths(f.start), f.start.TestPaths())
	}
	return f, nil
}
