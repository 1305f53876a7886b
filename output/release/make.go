package release

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
)

// Options are what a version is made of.
type Options struct {
	// Work is the dataset that run and refresh write; nil for a correction.
	Work *output.Dataset
	// AsOf is the day before which the sources were read.
	AsOf time.Time
	// Version is VersionOf(AsOf) where it is "".
	Version Version
	// Backfill takes work that landed before the window, and marks it.
	Backfill bool
	// Revise are tasks whose statement in Work, written by hand, takes the place of the published one.
	Revise []string
	// Back are held tasks that come back.
	Back    []string
	Without []string // gates that are not run
	Reproof Reproof
	Allow   secrets.Allow
	Client  verify.Options // of Hugging Face's client
	About   About
	// Against are files and folders of published tasks, Contamination is how tasks are compared with them.
	Against       []string
	Contamination contamination.Options
	// Keep gets packages for tasks whose packages are not kept yet; nil: none are got.
	Keep  Keep
	Tools map[string]string
	// CutOffs are those of models that tasks are counted by.
	CutOffs []output.CutOff
	// Parts are the hidden ones; nil hides nothing.
	Parts *Parts
	// Say is told what is done, and how many of how many tasks.
	Say func(what string, n, of int)
	Now func() time.Time
}

// About is what a citation says beside the name of the dataset.
type About struct {
	Authors []string
	URL     string
	// Sources are the URLs of repositories, by owner/name; one that lies on a disk has none.
	Sources map[string]string
}

// Task is one task of a candidate.
type Task struct {
	Row output.Row
	New bool // it is in no version yet
	// Held before, and back now.
	Back    bool
	Reasons []string // of a revision in this version
	carried output.Carried
}

// Candidate is a version before it is published.
type Candidate struct {
	Options
	Shelf    *Shelf
	Version  Version
	From     string          // the first day of the window, "" for the first version
	Previous *output.Dataset // nil for the first version
	Tasks    []Task          // in order of ID
	// Left are new tasks that gates took out, and Waiting those that landed on AsOf or later.
	Left    []Objection
	Waiting []string
	// Refused is why it is not published.
	Refused []Objection
	// Carried are the tasks of the version before that Work no longer has, by repository.
	Carried map[string][]string
	// Decide is what a person should look at.
	Decide []string
	Diff   Diff
	Feed   Feed // as it will be
	gated  gated
	ledger *reproof.Ledger
	proofs map[string]proof // by instance ID; nil for a correction
	flakes []ledger.Flake
	flaky  *ledger.Ledger           // of flakes; nil for the first version, whose tasks Work has narrowed
	texts  map[string][]licenceText // by base tree
	purged []string                 // tasks whose bytes leave what is written
	kept   *output.Keeping
	draw   *draw                   // nil where nothing is hidden
	hidden *Candidate              // of the shelf of hidden tasks
	secret bool                    // it is that
	veil   *veil                   // what is published of hidden tasks
	known  *output.Decontamination // what tasks were held against; nil where they were not
	hits   []contamination.Hit
}

func (c *Candidate) say(what string, n, of int) {
	if c.Say != nil {
		c.Say(what, n, of)
	}
}

// New are the tasks that are in no version yet.
func (c *Candidate) New() iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for i := range c.Tasks {
			if c.Tasks[i].New && !yield(&c.Tasks[i]) {
				return
			}
		}
	}
}

// ErrThere is a version that is on the shelf already, or older than one that is.
var ErrThere = errors.New("a published version is never written again")

// Plan makes the candidate of a version with new tasks, and asks the gates that need no files.
func (s *Shelf) Plan(ctx context.Context, o Options) (*Candidate, error) {
	c := &Candidate{Options: o, Shelf: s, Carried: map[string][]string{}, gated: gated{}, Feed: s.feedCopy()}
	if c.Version = o.Version; c.Version == "" {
		c.Version = VersionOf(o.AsOf)
	}
	if c.Version.IsCorrection() {
		return nil, fmt.Errorf("%s is the name of a correction, which adds no task: release withdraw makes it", c.Version)
	}
	if err := c.previous(); err != nil {
		return nil, err
	}
	if err := c.hides(ctx); err != nil {
		return nil, err
	}
	if err := c.planHidden(ctx); err != nil {
		return c, err
	}
	if err := c.proved(); err != nil {
		return nil, err
	}
	if err := c.old(); err != nil {
		return nil, err
	}
	if err := c.comeOut(); err != nil {
		return nil, err
	}
	if err := c.added(); err != nil {
		return nil, err
	}
	return c, c.settle(ctx)
}

// previous reads the version before.
func (c *Candidate) previous() error {
	last, ok := c.Shelf.Latest()
	if !ok {
		return nil
	}
	var err error
	c.From = last.Date
	c.Previous, err = c.Shelf.Dataset(last.Version)
	return err
}

// Published reports whether the candidate's version is on the shelf, or an older name than the
// newest there.
func (c *Candidate) Published() bool {
	last, ok := c.Shelf.Latest()
	return ok && c.Version.Compare(last.Version) <= 0
}

// Nothing reports whether a version would be the one before again.
func (c *Candidate) Nothing() bool {
	if c.hidden != nil && !c.hidden.Nothing() || c.Work == nil && c.draw != nil {
		return false
	}
	return (c.Previous != nil || c.secret && len(c.Tasks) == 0) && c.Diff.Empty()
}

// old takes the tasks of the version before, as they stand there but for revisions.
func (c *Candidate) old() error {
	if c.Previous == nil {
		return c.unknown(c.Revise, "revise", nil)
	}
	c.flakes = slices.Concat(c.flakes, c.Previous.Flakes) // after those of re-proof
	work := map[string]output.Located{}
	var ids []string
	if c.Work != nil {
		c.flakes = slices.Concat(c.flakes, c.Work.Flakes)
		for _, r := range c.Work.Rows {
			work[r.InstanceID] = r
		}
	}
	c.flakes = output.MergeFlakes(c.flakes)
	c.flaky = ledger.Of(c.flakes)
	for i, carried := range c.Previous.Carry(func(output.Row) bool { return true }) {
		c.say("tasks of the version before", i+1, len(c.Previous.Rows))
		t := Task{Row: carried.Row.Row, carried: carried}
		id := t.Row.InstanceID
		ids = append(ids, id)
		if _, out := disclosed(c.Feed.Disclosed, id); out && c.secret {
			continue
		}
		if _, out := withdrawn(slices.Concat(c.Feed.Withdrawals, c.Feed.Held), id, ""); out || c.unproved(t.Row) {
			continue
		}
		now, there := work[id]
		if c.Work != nil && !there {
			c.Carried[t.Row.Repo] = append(c.Carried[t.Row.Repo], id)
		}
		if err := c.retold(&t, now.Row, there); err != nil {
			return err
		}
		if kept, err := c.narrow(&t); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		} else if !kept {
			c.hold(t.Row, schemas.ForFlaky, "a test of its lists disagreed with itself in another change")
			c.Decide = append(c.Decide, id+" is held: a test that decides is flaky; withdraw it, or bring it back with --back when that is clear")
			continue
		}
		t.markClock(c.proofs[id])
		if err := c.revised(&t); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		c.Tasks = append(c.Tasks, t)
	}
	return c.unknown(c.Revise, "revise", ids)
}

func (c *Candidate) unknown(asked []string, flag string, known []string) error {
	for _, id := range asked {
		if !slices.Contains(known, id) {
			return fmt.Errorf("--%s %s: the version before has no such task%s", flag, id, nearest.Hint(id, known))
		}
	}
	return nil
}

// retold takes the statement of a task that is to be revised; now is its row of the working dataset, if it is there.
func (c *Candidate) retold(t *Task, now output.Row, there bool) error {
	id := t.Row.InstanceID
	if !slices.Contains(c.Revise, id) {
		return nil
	}
	if !there {
		return fmt.Errorf("--revise %s: the dataset at %s does not have it", id, c.Work.Dir)
	}
	if err := t.retell(now); err != nil {
		return fmt.Errorf("--revise %s: %w", id, err)
	}
	return nil
}

// retell takes the statement that somebody wrote by hand for a published task.
func (t *Task) retell(now output.Row) error {
	a, b := t.Row, now
	if a.Benchmint.Identity != b.Benchmint.Identity || a.Patch != b.Patch || a.TestPatch != b.TestPatch || a.Benchmint.Trees != b.Benchmint.Trees {
		return errors.New("it has other patches or another base tree there: only a statement can be revised")
	}
	if b.Benchmint.WrittenBy != schemas.Hand {
		return errors.New("its statement there is not written by hand (overrides in the configuration)")
	}
	if a.ProblemStatement == b.ProblemStatement {
		return errors.New("it says the same there")
	}
	t.Row = t.Row.Telling(now.Told())
	t.Reasons = append(t.Reasons, "statement written by hand")
	return nil
}

// narrow takes tests out of the lists that have turned out to be flaky. A task without a
// FAIL_TO_PASS test afterwards is not kept, nor is a service, whose cases are judged together.
func (c *Candidate) narrow(t *Task) (kept bool, err error) {
	flaky := c.flaky
	if flaky == nil || !slices.ContainsFunc(slices.Concat(t.Row.FailToPass, t.Row.PassToPass), func(test string) bool {
		_, ok := flaky.Quarantined(t.Row.Repo, test)
		return ok
	}) {
		return true, nil
	}
	d, id := t.carried.From, t.Row.InstanceID
	proof, err := d.Proof(id)
	if err != nil {
		return false, err
	}
	proof, removed := flaky.Strip(t.Row.Repo, proof)
	if len(removed) == 0 {
		return true, nil
	}
	for test, ids := range removed {
		removed[test] = append([]string{}, c.untold(ids)...)
	}
	if len(proof.List(schemas.F2P)) == 0 || t.Row.Benchmint.Kind == schemas.KindService {
		return false, nil
	}
	if t.Row, err = d.Narrowed(t.Row, proof, removed); err != nil {
		return false, err
	}
	t.Reasons = append(t.Reasons, fmt.Sprintf("%d flaky tests left the lists", len(removed)))
	edit := t.carried.Edit
	t.carried.Edit = func(name string, b []byte) ([]byte, error) {
		if edit != nil {
			if b, err = edit(name, b); err != nil {
				return nil, err
			}
		}
		if name != output.ProofFile {
			return b, nil
		}
		b, err := output.EncodeRecord(proof)
		if err != nil {
			return nil, err
		}
		return output.WithCanary(name, b, output.Canary(c.Shelf.Feed.Dataset, t.Row.Benchmint.Release.First)), nil
	}
	return true, nil
}

// revised writes down that a row changed.
func (c *Candidate) revised(t *Task) error {
	if len(t.Reasons) == 0 {
		return nil
	}
	p := *t.Row.Benchmint.Release
	p.Revision, p.RevisedIn, p.Revised = p.Revision+1, string(c.Version), t.Reasons
	t.Row.Benchmint.Release = &p
	t.carried.Row.Row = t.Row
	edit, statement := t.carried.Edit, []byte(t.Row.ProblemStatement)
	t.carried.Edit = func(name string, b []byte) ([]byte, error) {
		if name == output.StatementFile {
			return statement, nil
		}
		if edit != nil {
			return edit(name, b)
		}
		return b, nil
	}
	var err error
	t.carried.Line, err = t.Row.Encoded()
	return err
}

// hold takes a task out of the data for a time.
func (c *Candidate) hold(r output.Row, reason schemas.Withdrawal, text string) {
	last, _ := c.Shelf.Latest()
	c.Feed.Held = append(c.Feed.Held, Withdrawn{
		ID: r.InstanceID, Date: c.Now().UTC().Format(time.DateOnly), First: Version(r.Benchmint.Release.First), Last: last.Version, In: c.Version,
		Reason: reason, Text: text, Identity: r.Benchmint.Identity,
	})
}

// added takes the tasks of the working dataset that are in no version yet.
func (c *Candidate) added() error {
	identities, ids := map[schemas.Digest]string{}, map[string]bool{}
	for _, t := range c.Tasks {
		identities[t.Row.Benchmint.Identity], ids[t.Row.InstanceID] = t.Row.InstanceID, true
	}
	if err := c.comeBack(); err != nil {
		return err
	}
	if c.Work == nil {
		return nil
	}
	day := c.AsOf.UTC().Format(time.DateOnly)
	for _, carried := range c.Work.Carry(func(r output.Row) bool { return !ids[r.InstanceID] && c.mine(r) }) {
		r := carried.Row.Row
		id := r.InstanceID
		if w, out := withdrawn(slices.Concat(c.Feed.Withdrawals, c.Feed.Held), id, r.Benchmint.Identity); out {
			if w.ID != id {
				c.Left = append(c.Left, Objection{"identity", id, "it is " + w.ID + ", which is out of the data"})
			}
			continue
		}
		if other := identities[r.Benchmint.Identity]; other != "" && r.Benchmint.Identity != "" {
			c.Left = append(c.Left, Objection{"identity", id, "it is " + other + " under another name"})
			continue
		}
		if p := c.proofs[id]; p.State == reproof.Held || p.State == reproof.Withdrawn {
			c.Left = append(c.Left, Objection{"reproof", id, p.Text})
			continue
		}
		if r.Created().UTC().Format(time.DateOnly) >= day {
			c.Waiting = append(c.Waiting, id)
			continue
		}
		if err := c.add(carried); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

// add takes a new task.
func (c *Candidate) add(carried output.Carried) error {
	r := carried.Row.Row
	guid := output.Canary(c.Shelf.Feed.Dataset, string(c.Version))
	r.Benchmint.Release = &output.Published{First: string(c.Version), Canary: output.CanaryText(guid), Backfill: c.older(r)}
	if err := c.hide(&r); err != nil {
		return err
	}
	carried.Edit = func(name string, b []byte) ([]byte, error) { return output.WithCanary(name, b, guid), nil }
	t := Task{Row: r, New: true, carried: carried}
	t.markClock(c.proofs[r.InstanceID])
	kept, err := c.narrow(&t) // the version before may know of flakes that Work does not
	if err != nil {
		return err
	}
	if !kept {
		c.Left = append(c.Left, Objection{"lint", r.InstanceID, "a test that decides is in the flake ledger of the version before"})
		return nil
	}
	t.carried.Row.Row = t.Row
	if t.carried.Line, err = t.Row.Encoded(); err != nil {
		return err
	}
	c.Tasks = append(c.Tasks, t)
	return nil
}

// older reports whether a new task landed before the window.
func (c *Candidate) older(r output.Row) bool {
	return r.Created().UTC().Format(time.DateOnly) < c.From
}

// comeBack takes held tasks out of the last version that has them.
func (c *Candidate) comeBack() error {
	var known []string
	for _, w := range c.Shelf.Feed.Held {
		known = append(known, w.ID)
	}
	for _, id := range c.Back {
		i := slices.IndexFunc(c.Feed.Held, func(w Withdrawn) bool { return w.ID == id })
		if i < 0 {
			return fmt.Errorf("--back %s: no such task is held%s", id, nearest.Hint(id, known))
		}
		d, err := c.Shelf.Dataset(c.Feed.Held[i].Last)
		if err != nil {
			return err
		}
		all := d.Carry(func(r output.Row) bool { return r.InstanceID == id })
		if len(all) == 0 {
			return fmt.Errorf("--back %s: %s does not have it", id, d.Dir)
		}
		if p := c.proofs[id]; p.State == reproof.Held {
			return fmt.Errorf("--back %s: %s; it comes back once it is proved on two later dates (benchmint reprove %s %[1]s)", id, p.Text, d.Dir)
		}
		t := Task{Row: all[0].Row.Row, Back: true, carried: all[0]}
		if kept, err := c.narrow(&t); err != nil {
			return fmt.Errorf("--back %s: %w", id, err)
		} else if !kept {
			return fmt.Errorf("--back %s: a test that decides is still in the flake ledger", id)
		}
		if err := c.revised(&t); err != nil {
			return fmt.Errorf("--back %s: %w", id, err)
		}
		c.Feed.Held = slices.Delete(c.Feed.Held, i, i+1)
		c.Tasks = append(c.Tasks, t)
	}
	return nil
}

// settle asks the gates that need no files, and makes the diff.
func (c *Candidate) settle(ctx context.Context) error {
	slices.SortFunc(c.Tasks, func(a, b Task) int { return strings.Compare(a.Row.InstanceID, b.Row.InstanceID) })
	if err := c.diff(); err != nil {
		return err
	}
	if err := c.empty(); err != nil {
		return err
	}
	if err := c.needs(ctx); err != nil {
		return err
	}
	if c.secret && c.Nothing() {
		return nil // no version is made of it
	}
	refused, err := c.ask(ctx, "")
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return &RefusedError{c.Version, refused}
	}
	if err := c.diff(); err != nil {
		return err
	}
	return c.empty()
}

// empty refuses a first version without tasks: an empty dataset is no result.
func (c *Candidate) empty() error {
	if c.Previous != nil || len(c.Tasks) > 0 || c.secret {
		return nil
	}
	return &RefusedError{c.Version, []Objection{{Gate: "tasks", Text: "there is none to publish, and an empty dataset is no result"}}}
}

func (c *Candidate) diff() error {
	before, after := Side{}, Side{Name: string(c.Version), Rows: map[string]Line{}}
	if c.Previous != nil {
		last, _ := c.Shelf.Latest()
		var err error
		if before, err = SideOf(string(last.Version), c.Previous); err != nil {
			return err
		}
	}
	for _, t := range c.Tasks {
		b := t.carried.Line
		if b == nil {
			var err error
			if b, err = t.carried.From.Line(t.carried.Row); err != nil {
				return err
			}
		}
		after.Rows[t.Row.InstanceID] = Line{t.Row, b}
	}
	var err error
	c.Diff, err = Compare(before, after, c.Feed)
	return err
}

// needs gets what the gates call, where there is something that could be published.
func (c *Candidate) needs(ctx context.Context) error {
	if c.Nothing() || c.Published() {
		return nil
	}
	for _, name := range names {
		if g := gates[name]; g != nil && !slices.Contains(c.Without, name) {
			if err := g.Needs(ctx, c); err != nil {
				return fmt.Errorf("gate %s: %w", name, err)
			}
		}
	}
	return nil
}

// ask has every gate look, or read what is written to dir.
func (c *Candidate) ask(ctx context.Context, dir string) (refused []Objection, err error) {
	for i, name := range names {
		g := gates[name]
		if g == nil || slices.Contains(c.Without, name) {
			continue
		}
		c.say("gate "+name, i+1, len(names))
		looked := 0
		for range c.New() {
			looked++
		}
		var a Answer
		if dir == "" {
			a, err = g.Look(ctx, c)
		} else {
			a, err = g.Read(ctx, c, dir)
		}
		if err != nil {
			return nil, fmt.Errorf("gate %s: %w", name, err)
		}
		c.gated.add(name, a, looked)
		refused = append(refused, a.Refuse...)
		for _, o := range a.Remove {
			c.Tasks = slices.DeleteFunc(c.Tasks, func(t Task) bool { return t.New && t.Row.InstanceID == o.ID })
		}
		c.Left = append(c.Left, a.Remove...)
	}
	c.Refused = refused
	return refused, nil
}

func (s *Shelf) feedCopy() Feed {
	f := s.Feed
	f.Versions, f.Withdrawals, f.Held, f.Purges = slices.Clone(f.Versions), slices.Clone(f.Withdrawals), slices.Clone(f.Held), slices.Clone(f.Purges)
	f.Disclosed = slices.Clone(f.Disclosed)
	return f
}
