package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/output/release"
	"github.com/benchmint/benchmint/schemas"
)

// explanation is the one page, as data.
type explanation struct {
	ID      string            `json:"id"`
	State   schemas.StepState `json:"state"`
	Stage   string            `json:"stage"`
	Reason  schemas.Reason    `json:"reason,omitempty"`
	Meaning string            `json:"meaning,omitempty"`
	Do      string            `json:"do,omitempty"`
	Detail  string            `json:"detail,omitempty"`

	Reviews   []schemas.PeerReview `json:"reviews,omitempty"`   // of people who refuse the task, and of others
	Withdrawn *release.Withdrawn   `json:"withdrawn,omitempty"` // what the releases say of it
	Held      bool                 `json:"held,omitempty"`      // withdrawn for now

	FailToPass []transition       `json:"fail_to_pass,omitempty"`
	PassToPass int                `json:"pass_to_pass"`
	Clock      *schemas.Clock     `json:"clock,omitempty"` // how the tests were held against time
	TimeBound  []bound            `json:"time_bound,omitempty"`
	Evidence   []schemas.Evidence `json:"evidence,omitempty"`
	Repairs    []schemas.Repair   `json:"repairs,omitempty"`
	Rivals     []schemas.Rival    `json:"rivals,omitempty"`
	Asked      *schemas.Asked     `json:"asked,omitempty"` // what a model proposed for the cases of a service
	Suite      *schemas.Suite     `json:"suite,omitempty"` // of an edit whose tests a model wrote
	// Published are the tasks of other datasets that it was found to be, the last time that it was held against them.
	Published []contamination.Hit `json:"published,omitempty"`
	ByHand    []string            `json:"by_hand,omitempty"`
	Override  []string            `json:"override,omitempty"` // YAML that a person may complete
}

// transition is one FAIL_TO_PASS test: what it said at start, and its pass.
type transition struct {
	ID       string        `json:"id"`
	Cause    schemas.Cause `json:"cause"`
	Start    string        `json:"start"`    // statuses in S
	Why      string        `json:"why"`      // the failing assertion
	Solution string        `json:"solution"` // statuses in G
}

// bound is one test that left the lists because it does not pass when the clock is ahead.
type bound struct {
	ID     string         `json:"id"`
	Status schemas.Status `json:"status"` // then
	Why    string         `json:"why,omitempty"`
}

func newExplain(p *program) *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use: "explain ID", Short: "say why a change was rejected or what its tests prove, with the commands to see it by hand", Args: argsOf(cobra.ExactArgs(1)),
		Long: "Says why a change was rejected, or what its tests prove; of a prediction of an evaluation (ID@MODEL.SAMPLE), why it is not\nresolved.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if isAnswer(args[0]) {
				return p.printAnswer(cmd.Context(), args[0], f, false, false)
			}
			s, i, err := p.itemOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			e := s.explain(i)
			if e.Published, err = publishedOf(s.config, i.ID); err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(e)
			}
			return e.print(p.terminal, i)
		},
	}
	f.add(cmd)
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	p.override(cmd, "output", "output", "`FOLDER` of the dataset")
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	return cmd
}

func (s *shelf) explain(i *item) explanation {
	end := i.end()
	e := explanation{ID: i.ID, State: end.State, Stage: end.Stage, Reason: end.Reason, Detail: end.Detail, Withdrawn: i.Withdrawn, Held: i.Held}
	if i.Left != nil {
		e.Reviews = i.Left.Reviews
	}
	for _, row := range schemas.Reasons {
		if row.Reason == end.Reason {
			e.Meaning, e.Do = row.Meaning, row.Advice()
		}
	}
	if key := letThrough(s.config, end); key != "" {
		e.Do = "nothing: " + key + " lets it through now; the next run tries it again"
	}
	if r := i.recipe(); r != nil {
		e.Evidence, e.Repairs, e.Rivals = r.Evidence, r.Repairs, r.Rivals
	}
	if i.proof != nil {
		e.proved(i.proof, firstMessages(s.Blobs, i.proof))
	}
	if i.Cut != nil && i.Cut.Group != nil {
		e.Asked = i.Cut.Group.Asked
	}
	if i.start != nil {
		e.Suite = i.start.Suite
	}
	e.ByHand, e.Override = byHand(i), overrideOf(e)
	return e
}

// proved takes what a proof says of its tests; said are the first messages of tests and units.
func (e *explanation) proved(p *schemas.Proof, said map[string]string) {
	e.PassToPass, e.Clock = len(p.List(schemas.P2P)), p.Clock
	for _, v := range p.Tests {
		switch v.Class {
		case schemas.F2P:
			e.FailToPass = append(e.FailToPass, transition{v.ID, v.Cause, statuses(v.S), cmp.Or(v.Why, said[v.ID], said[v.Unit]), statuses(v.G)})
		case schemas.TimeBound:
			e.TimeBound = append(e.TimeBound, bound{v.ID, v.Clock, v.Why})
		}
	}
}

// firstMessages are what tests and units said in the first start runs that kept a report.
func firstMessages(b *blob.Store, proof *schemas.Proof) map[string]string {
	out := map[string]string{}
	for _, r := range proof.Runs {
		if r.State != schemas.StateS {
			continue
		}
		raw, err := b.Get(r.Report)
		if err != nil {
			continue // the row's own note stands; show names the lost blob
		}
		var report testlog.Report
		if json.Unmarshal(raw, &report) != nil {
			continue
		}
		for _, t := range report.Tests {
			if t.Message != "" && out[t.ID] == "" {
				out[t.ID] = t.Message
			}
		}
		for _, u := range report.Units {
			if u.Message != "" && out[u.Name] == "" {
				out[u.Name] = u.Message
			}
		}
	}
	return out
}

// byHand are the commands that show the same to a person.
func byHand(i *item) []string {
	var out []string
	if i.Change != nil || i.Cut != nil {
		out = append(out, "git show "+i.Commit())
	}
	r := i.recipe()
	if r == nil || i.start == nil {
		return out
	}
	if i.env != nil {
		out = append(out, "benchmint env shell "+i.ID+" --state S", "benchmint env shell "+i.ID+" --state G")
		for _, c := range r.Test {
			out = append(out, "  "+recipe.ShellLine(c)) // the variables are set in there
		}
	}
	return append(out, "benchmint show "+i.ID+" --logs")
}

func (e explanation) print(to *terminal, i *item) error {
	t := to.out()
	t.line("%s", t.in(bold, e.ID))
	if i.Change != nil || i.Cut != nil {
		t.line("  %s", visible(i.Subject()))
	}
	switch {
	case e.Reason != "":
		t.line("\n%s: %s", t.in(yellow, "rejected "+string(e.Reason)), e.Meaning)
		t.line("what to do: %s", e.Do)
	case e.State == schemas.StepDone && i.proof != nil:
		t.line("\n%s: %d FAIL_TO_PASS, %d PASS_TO_PASS", t.in(green, "proved"), len(e.FailToPass), e.PassToPass)
	case e.State == schemas.StepDone:
		t.line("\n%s at stage %s; no verdict yet: benchmint run goes on from here", e.State, e.Stage)
	case e.State == "":
		t.line("\nnot begun: benchmint run goes on from here")
	default:
		t.line("\n%s at stage %s: the next run tries it again", t.in(red, string(e.State)), e.Stage)
	}
	if e.Detail != "" {
		t.block(tail(e.Detail, 20))
	}
	t.withdrawn(i)
	t.transitions(e.FailToPass, to.verbose)
	t.timeBound(e, to.verbose)
	if x := e.Suite; x != nil {
		t.line("\nThe tests were written by %s (answer %d): %d of %d fail at the base; they notice %d of %d hunks", visible(x.Provider), x.Tries, x.Failing, x.Tests, x.Noticed, x.Hunks)
	}
	if len(e.Evidence)+len(e.Repairs) > 0 {
		t.line("\nThe recipe rests on")
	}
	for _, v := range e.Evidence {
		t.line("  %s = %s  (%s)", v.Field, visible(cutTo(v.Value, 100)), v.Source)
	}
	for _, v := range e.Repairs {
		t.line("  repaired by %s: %s  (%s)", v.Rule, v.Edit, visible(cutTo(v.Symptom, 100)))
	}
	t.published(e.Published)
	t.rivals(e.Rivals)
	t.proposals(e.Asked)
	if len(e.Override) > 0 {
		t.line("\nTo write it by hand, put this into a file, and run with --overrides FILE\n  %s", strings.Join(e.Override, "\n  "))
	}
	if len(e.ByHand) > 0 {
		t.line("\nTo see it by hand\n  %s", strings.Join(e.ByHand, "\n  "))
	}
	return t.err
}

// withdrawn says why the releases do not have a task any more.
func (t *printer) withdrawn(i *item) {
	w := i.Withdrawn
	if w == nil {
		return
	}
	verb := "withdrawn from"
	if i.Held {
		verb = "held since"
	}
	info, _ := schemas.FindWithdrawal(string(w.Reason))
	t.line("\n%s: %s", t.in(yellow, fmt.Sprintf("%s release %s, %s (%s)", verb, w.In, w.Date, w.Reason)), info.Meaning)
	t.block(w.Text)
	if w.ReplacedBy != "" {
		t.line("in its place: %s", visible(w.ReplacedBy))
	}
}

// rivals are the test commands that were not chosen.
func (t *printer) rivals(all []schemas.Rival) {
	if len(all) > 0 {
		t.line("\nOther test commands that were found")
	}
	for _, r := range all {
		why := ""
		if r.Other != "" {
			why = "; not the suite: " + visible(r.Other)
		}
		t.line("  %s  (%s%s)", visible(cutTo(r.Line(), 100)), visible(r.Source), why)
	}
}

// proposals are the requests that a model proposed, with why those are dropped that are.
func (t *printer) proposals(a *schemas.Asked) {
	if a == nil {
		return
	}
	t.line("\nRequests that %s proposed: %d", visible(a.Provider), len(a.Proposals))
	for _, x := range a.Proposals {
		state := "kept"
		if x.Dropped != "" {
			state = "dropped: " + x.Dropped
		}
		t.line("  %s  (%s)  %s", x.ID, visible(x.Why), visible(state))
	}
}

// timeBound are the tests that do not pass when the clock is ahead, or why there was no such clock.
func (t *printer) timeBound(e explanation, whole bool) {
	if e.Clock == nil {
		return
	}
	if e.Clock.Not != "" {
		t.line("\nThe clock was %s", visible(held(*e.Clock)))
	} else {
		t.line("\nThe suite was run once more with the clock %s", visible(held(*e.Clock)))
	}
	for n, b := range e.TimeBound {
		if n == onOnePage && !whole {
			t.line("  … and %d more (-v names them)", len(e.TimeBound)-n)
			return
		}
		t.line("  in no list: %s  (%s then)", visible(b.ID), b.Status)
		if b.Why != "" {
			t.block(tail(b.Why, 4))
		}
	}
}

// onOnePage is how many tests that failed for one and the same reason are named.
const onOnePage = 8

// transitions groups tests by what they said at start: a file that does not load
// has one reason and a hundred tests.
func (t *printer) transitions(all []transition, whole bool) {
	type same struct{ cause, start, why, solution string }
	groups := map[same][]string{}
	var order []same
	for _, f := range all {
		k := same{string(f.Cause), f.Start, f.Why, f.Solution}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f.ID)
	}
	for _, k := range order {
		t.line("")
		for n, id := range groups[k] {
			if n == onOnePage && !whole {
				t.line("… and %d more (-v names them)", len(groups[k])-n)
				break
			}
			t.line("%s  (%s)", visible(id), k.cause)
		}
		t.line("  start:    %s", t.in(red, k.start))
		if k.why != "" {
			t.block(tail(k.why, 12))
		}
		t.line("  solution: %s", t.in(green, k.solution))
	}
}

func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
