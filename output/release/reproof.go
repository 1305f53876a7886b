package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
)

// Reproof is where a version finds how its tasks were proved again, and what it asks of new ones.
type Reproof struct {
	Ledgers []string // files; one that is not there says nothing
	// Wanted.Dates 1 asks for no run: the proof of the dataset is enough. What the ledgers say counts all the same.
	Wanted reproof.Wanted
	// Leave leaves out new tasks that lack runs, instead of LaterError.
	Leave bool
}

// LaterError is a version whose new tasks are not proved on enough dates yet. Nothing was written.
type LaterError struct {
	Version   Version
	Tasks, Of int    // new tasks
	Dataset   string // to be proved again
	From      string // the first date on which the version can be written
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("%s: %d of %d new tasks lack re-proof on other dates, and nothing is written: benchmint reprove %s; run again from %s on (release.dates: 1 asks for no other date)", e.Version, e.Tasks, e.Of, e.Dataset, e.From)
}

// proof is what the ledgers say of one row.
type proof struct {
	reproof.Verdict
	runs []schemas.Reproof
}

// proved reads what the ledgers say of the rows of the version before and of those that may come. Tests that turned
// out to be flaky join the flakes.
func (c *Candidate) proved() error {
	c.proofs = map[string]proof{}
	files := slices.Clone(c.Reproof.Ledgers)
	var sets []*output.Dataset
	for _, d := range []*output.Dataset{c.Work, c.Previous} { // the version before counts where both have a task
		if d != nil {
			sets, files = append(sets, d), append(files, filepath.Join(d.Dir, reproof.File))
		}
	}
	var err error
	if c.ledger, err = reproof.Read(files...); err != nil {
		return err
	}
	var flakes []ledger.Flake
	for _, d := range sets {
		for _, r := range d.Rows {
			p, err := c.proofOf(d, r.Row)
			if err != nil {
				return err
			}
			c.proofs[r.InstanceID] = p
			flakes = append(flakes, p.flakes(r.Row)...)
		}
	}
	c.flakes = flakes
	if c.Work != nil && c.Previous == nil {
		c.flakes = output.MergeFlakes(slices.Concat(flakes, c.Work.Flakes))
	}
	if len(flakes) > 0 {
		c.flaky = ledger.Of(c.flakes)
	}
	return c.heldBefore()
}

func (c *Candidate) proofOf(d *output.Dataset, r output.Row) (p proof, err error) {
	ground, _, err := d.Digests(r)
	if err != nil {
		return p, fmt.Errorf("%s: %w", r.InstanceID, err)
	}
	p.runs = c.ledger.Of(ground, r)
	p.Verdict = reproof.Judge(r, p.runs)
	return p, nil
}

// heldBefore looks at the tasks that are held: one whose proof did not hold on a second date is withdrawn, and of one
// that holds again somebody is told.
func (c *Candidate) heldBefore() error {
	var held []Withdrawn
	for _, w := range c.Feed.Held {
		d, row, err := c.lastOf(w)
		if errors.Is(err, output.ErrUnknownID) { // its bytes were purged
			held = append(held, w)
			continue
		}
		if err != nil {
			return err
		}
		p, err := c.proofOf(d, row)
		if err != nil {
			return err
		}
		c.proofs[w.ID] = p
		switch p.State {
		case reproof.Withdrawn:
			w.Date, w.Reason, w.Text, w.Evidence = c.Now().UTC().Format(time.DateOnly), p.Reason, p.Text+" (re-proof)", p.Evidence
			c.Feed.Withdrawals = append(c.Feed.Withdrawals, w)
			continue
		case reproof.Proved:
			if last := p.Dates[len(p.Dates)-1]; last <= w.Date {
				break // what was run before it was held says nothing of why
			}
			c.Decide = append(c.Decide, fmt.Sprintf("%s is held (%s) and is proved again on %s: --back brings it in", w.ID, w.Text, strings.Join(p.Dates, ", ")))
		}
		held = append(held, w)
	}
	c.Feed.Held = append([]Withdrawn{}, held...)
	return nil
}

// lastOf is the row of a held task in the last version that has it.
func (c *Candidate) lastOf(w Withdrawn) (*output.Dataset, output.Row, error) {
	d, err := c.Shelf.Dataset(w.Last)
	if err != nil {
		return nil, output.Row{}, err
	}
	row, err := d.Row(w.ID)
	return d, row, err
}

// flakes are lines of the flake ledger for the tests that disagree with themselves.
func (p proof) flakes(r output.Row) (out []ledger.Flake) {
	for _, test := range p.Flaky {
		f := ledger.Flake{Repo: r.Repo, Test: test, Environment: r.Benchmint.Environment, State: schemas.StateG, Causes: []ledger.Cause{ledger.Disagrees}, Outcomes: map[schemas.Status]int{}, Changes: []string{r.InstanceID}}
		for _, run := range p.runs {
			if run.State != schemas.AnsweredGold || run.Clock != schemas.OwnClock || run.Detail != "" {
				continue
			}
			f.Runs++
			if slices.Contains(run.PassToPass, test) {
				f.Outcomes[schemas.Failed]++
			} else {
				f.Outcomes[schemas.Passed]++
			}
		}
		out = append(out, f)
	}
	return out
}

// unproved takes a published task out whose proof did not hold. It reports whether it did.
func (c *Candidate) unproved(r output.Row) bool {
	p := c.proofs[r.InstanceID]
	text := p.Text + " (re-proof)"
	switch p.State {
	case reproof.Held:
		c.hold(r, p.Reason, text)
		c.Decide = append(c.Decide, fmt.Sprintf("%s is held: %s; it is withdrawn if that is so on another date (benchmint reprove %s %[1]s)", r.InstanceID, p.Text, c.Previous.Dir))
	case reproof.Withdrawn:
		last, _ := c.Shelf.Latest()
		c.Feed.Withdrawals = append(c.Feed.Withdrawals, Withdrawn{
			ID: r.InstanceID, Date: c.Now().UTC().Format(time.DateOnly), First: Version(r.Benchmint.Release.First), Last: last.Version, In: c.Version,
			Reason: p.Reason, Text: text, Evidence: p.Evidence, Identity: r.Benchmint.Identity,
		})
	default:
		return false
	}
	return true
}

// markClock marks a task that fails under a clock that is ahead, and takes the mark away where it no longer does.
func (t *Task) markClock(p proof) {
	const mark = "clock_bound:"
	if len(p.runs) == 0 {
		return
	}
	marks := slices.DeleteFunc(slices.Clone(t.Row.Benchmint.Release.Marks), func(m string) bool { return strings.HasPrefix(m, mark) })
	if p.ClockBound != "" {
		marks = append(marks, mark+string(p.ClockBound))
	}
	if slices.Equal(marks, t.Row.Benchmint.Release.Marks) {
		return
	}
	published := *t.Row.Benchmint.Release
	published.Marks = marks
	t.Row.Benchmint.Release = &published
	switch {
	case t.New:
	case p.ClockBound != "":
		t.Reasons = append(t.Reasons, "marked by re-proof: "+mark+string(p.ClockBound))
	default:
		t.Reasons = append(t.Reasons, "no longer marked by re-proof: it passes under the clock that was ahead")
	}
}

// againProved asks of new tasks that they were proved on several dates.
func againProved(_ context.Context, c *Candidate) (a Answer, err error) {
	a.Figures = map[string]float64{"dates": float64(max(c.Reproof.Wanted.Dates, 1))}
	today := c.Now().UTC()
	var lack []string
	later, of := 0, 0
	for t := range c.New() {
		of++
		p := c.proofs[t.Row.InstanceID]
		if c.Reproof.Wanted.Dates <= 1 {
			continue
		}
		open, _ := c.Reproof.Wanted.Missing(p.runs, "")
		dates := c.Reproof.Wanted.Dates - len(p.Dates)
		if len(open) == 0 && dates <= 0 {
			continue
		}
		lack = append(lack, t.Row.InstanceID)
		if !slices.Contains(p.Dates, today.Format(time.DateOnly)) {
			dates-- // it can be run today
		}
		later = max(later, dates)
	}
	if len(lack) == 0 {
		return a, nil
	}
	if !c.Reproof.Leave {
		return a, &LaterError{c.Version, len(lack), of, c.Work.Dir, today.AddDate(0, 0, max(later, 0)).Format(time.DateOnly)}
	}
	for _, id := range lack {
		a.Remove = append(a.Remove, Objection{"reproof", id, fmt.Sprintf("it is proved again on %d of %d dates", len(c.proofs[id].Dates), c.Reproof.Wanted.Dates)})
	}
	return a, nil
}

// writeReproof puts what the ledgers say of the version's tasks into its folder, outside of the digests.
func (c *Candidate) writeReproof(dir string) error {
	var b []byte
	for _, t := range c.Tasks {
		for _, r := range c.proofs[t.Row.InstanceID].runs {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			b = append(append(b, line...), '\n')
		}
	}
	if b == nil {
		return nil
	}
	return blob.WriteFile(filepath.Join(dir, reproof.File), b)
}

// keepReproof copies the ledger of a version without some tasks.
func keepReproof(from, to string, without []string) error {
	l, err := reproof.Lines(filepath.Join(from, reproof.File))
	if err != nil || len(l) == 0 {
		return err
	}
	w, err := reproof.Append(filepath.Join(to, reproof.File))
	if err != nil {
		return err
	}
	for _, r := range l {
		if !slices.Contains(without, r.Task) {
			err = errors.Join(err, w.Add(r))
		}
	}
	return errors.Join(err, w.Close())
}
