package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Act is what a correction does to tasks.
type Act struct {
	IDs        []string
	Reason     schemas.Withdrawal
	Text       string
	Evidence   string // a file; its digest and name are published, and not its bytes
	ReplacedBy string
	// Hold keeps the tasks out of the data until release --back brings them in again.
	Hold bool
	// Purge takes the tasks' bytes out of every published version.
	Purge bool
}

func (a Act) check() error {
	info, ok := schemas.FindWithdrawal(string(a.Reason))
	var known []string
	for _, w := range schemas.Withdrawals {
		known = append(known, string(w.Withdrawal))
	}
	switch {
	case !ok:
		return fmt.Errorf("--reason %q is not one of %s%s", a.Reason, strings.Join(known, ", "), nearest.Hint(string(a.Reason), known))
	case strings.TrimSpace(a.Text) == "":
		return errors.New("--text is empty: say in a sentence what is wrong, for those who used the task")
	case a.Purge && !info.Purge:
		return fmt.Errorf("--purge is for licence, takedown and secret, and not for %s: the bytes of other tasks stay in the versions that had them", a.Reason)
	case a.Purge && a.Hold:
		return errors.New("--purge and --hold exclude each other: what is purged does not come back")
	}
	return nil
}

// Correct publishes a correction of the newest version without some tasks.
func (s *Shelf) Correct(ctx context.Context, o Options, a Act) (Record, error) {
	if err := a.check(); err != nil {
		return Record{}, err
	}
	last, ok := s.Latest()
	if !ok {
		return Record{}, fmt.Errorf("%s: %w: nothing is published yet", s.Dir, ErrNoShelf)
	}
	day, err := time.Parse(time.DateOnly, last.Date)
	if err != nil {
		return Record{}, fmt.Errorf("%s: the date of %s: %w", FeedFile, last.Version, err)
	}
	o.Work, o.AsOf = nil, day
	c := &Candidate{Options: o, Shelf: s, Version: last.Version.NextCorrection(), From: last.From, Carried: map[string][]string{}, gated: gated{}, Feed: s.feedCopy()}
	if c.Previous, err = s.Dataset(last.Version); err != nil {
		return Record{}, err
	}
	if hidden, err := c.correctHidden(ctx, &a); err != nil {
		return Record{}, err
	} else if !hidden {
		if err := c.takeOut(a, last); err != nil {
			return Record{}, err
		}
	}
	if err := c.old(); err != nil {
		return Record{}, err
	}
	if err := c.settle(ctx); err != nil {
		return Record{}, err
	}
	switch {
	case a.Purge:
		return c.purge(ctx, a)
	case c.Nothing(): // a held task is withdrawn: the data stays
		return Record{}, s.commit(c.Feed)
	}
	return c.Write(ctx)
}

// takeOut notes in the feed what goes.
func (c *Candidate) takeOut(a Act, last Entry) error {
	var known []string
	for _, r := range c.Previous.Rows {
		known = append(known, r.InstanceID)
	}
	w := Withdrawn{Date: c.Now().UTC().Format(time.DateOnly), Last: last.Version, In: c.Version, Reason: a.Reason, Text: a.Text, ReplacedBy: a.ReplacedBy, Purged: a.Purge}
	if a.Evidence != "" {
		b, err := os.ReadFile(a.Evidence)
		if err != nil {
			return fmt.Errorf("--evidence: %w", err)
		}
		w.Evidence, w.EvidenceFile = schemas.DigestBytes(b), filepath.Base(a.Evidence)
	}
	if slices.Contains(a.IDs, a.ReplacedBy) {
		return fmt.Errorf("--replaced-by %s: it goes itself", a.ReplacedBy)
	}
	if a.ReplacedBy != "" && !slices.Contains(known, a.ReplacedBy) {
		return fmt.Errorf("--replaced-by %s: %s has no such task%s", a.ReplacedBy, last.Version, nearest.Hint(a.ReplacedBy, known))
	}
	for _, id := range a.IDs {
		i := slices.IndexFunc(c.Previous.Rows, func(r output.Located) bool { return r.InstanceID == id })
		if i < 0 {
			if done, err := c.outAlready(id, a, w); err != nil || done {
				if err != nil {
					return err
				}
				continue
			}
			return fmt.Errorf("%s: %s has no such task%s", id, last.Version, nearest.Hint(id, known))
		}
		row := c.Previous.Rows[i]
		w := w
		w.ID, w.Identity, w.First = id, row.Benchmint.Identity, Version(row.Benchmint.Release.First)
		if a.Hold {
			c.Feed.Held = append(c.Feed.Held, w)
		} else {
			c.Feed.Withdrawals = append(c.Feed.Withdrawals, w)
		}
	}
	return nil
}

// outAlready withdraws a task that is held, and notes the purge of one that was withdrawn.
func (c *Candidate) outAlready(id string, a Act, w Withdrawn) (bool, error) {
	if i := slices.IndexFunc(c.Feed.Withdrawals, func(x Withdrawn) bool { return x.ID == id }); i >= 0 {
		x := &c.Feed.Withdrawals[i]
		if !a.Purge || x.Purged {
			return false, fmt.Errorf("%s was withdrawn in %s (%s)", id, x.In, x.Reason)
		}
		x.Purged = true
		return true, nil
	}
	i := slices.IndexFunc(c.Feed.Held, func(x Withdrawn) bool { return x.ID == id })
	if i < 0 || a.Hold {
		return false, nil
	}
	x := c.Feed.Held[i]
	w.ID, w.Identity, w.First, w.Last, w.In = id, x.Identity, x.First, x.Last, x.In
	c.Feed.Held = slices.Delete(c.Feed.Held, i, i+1)
	c.Feed.Withdrawals = append(c.Feed.Withdrawals, w)
	return true, nil
}

// purge publishes the correction, and writes every version that has the tasks again without them.
// All of it becomes visible in one change of the shelf.
func (c *Candidate) purge(ctx context.Context, a Act) (record Record, err error) {
	s, feed := c.Shelf, c.Feed
	c.purged = a.IDs
	defer func() { err = errors.Join(err, sweep(s.Dir)) }()
	if err := c.free(); err != nil {
		return Record{}, err
	}
	for i, e := range feed.Versions {
		again, taken, err := s.without(ctx, c, e, a.IDs)
		if err != nil {
			return Record{}, fmt.Errorf("purging %s: %w", e.Version, err)
		}
		if len(taken) == 0 {
			continue
		}
		feed.Purges = append(feed.Purges, Purge{e.Version, c.Now().UTC().Format(time.DateOnly), taken, a.Reason, a.Text, e.Record, again})
		feed.Versions[i].Record = again
		feed.Versions[i].Counts.Tasks -= len(taken)
	}
	if !c.Nothing() {
		if err := c.lower(""); err != nil {
			return Record{}, err
		}
		tmp := filepath.Join(s.Dir, begun+string(c.Version))
		if record, err = c.writeTo(ctx, tmp); err != nil {
			return Record{}, err
		}
		if err := c.cost(tmp, c.Now()); err != nil {
			return Record{}, err
		}
		feed.Versions = append(feed.Versions, c.entry(record, recordDigest(tmp)))
	}
	return record, s.commit(feed)
}

// without writes a published version again without the bytes of some tasks. What it says of them
// in its diff goes, too, but for their names. taken are those that it has.
func (s *Shelf) without(ctx context.Context, by *Candidate, e Entry, ids []string) (r schemas.Digest, taken []string, err error) {
	d, err := s.Dataset(e.Version)
	if err != nil {
		return r, nil, err
	}
	for _, row := range d.Rows {
		if slices.Contains(ids, row.InstanceID) {
			taken = append(taken, row.InstanceID)
		}
	}
	if len(taken) == 0 {
		return r, nil, nil
	}
	day, err := time.Parse(time.DateOnly, e.Date)
	if err != nil {
		return r, nil, err
	}
	c := &Candidate{Options: by.Options, Shelf: s, Version: e.Version, From: e.From, Previous: d}
	c.AsOf, c.Tools = day, d.Manifest.Tools
	if c.About, err = aboutOf(s.Path(e.Version)); err != nil {
		return r, nil, err
	}
	for _, carried := range d.Carry(func(r output.Row) bool { return !slices.Contains(ids, r.InstanceID) }) {
		c.Tasks = append(c.Tasks, Task{Row: carried.Row.Row, carried: carried})
	}
	if c.Diff, err = s.Diff(e.Version); err != nil {
		return r, nil, err
	}
	c.Diff.Changed = slices.DeleteFunc(c.Diff.Changed, func(x Changed) bool { return slices.Contains(ids, x.ID) })
	if c.veil, err = s.veilOf(e.Version); err != nil {
		return r, nil, err
	}
	c.Keep, c.purged = nil, ids
	if err := errors.Join(c.share(), c.keep(ctx)); err != nil {
		return r, nil, err
	}
	in := c.input()
	in.Release = d.Manifest.Release
	dir := filepath.Join(s.Dir, begun+string(e.Version))
	if _, err := output.Write(dir, in); err != nil {
		return r, nil, err
	}
	record, err := s.Record(e.Version)
	if err != nil {
		return r, nil, err
	}
	record.Purged = append(record.Purged, taken...)
	record.Counts.Tasks -= len(taken)
	if record, err = c.seal(dir, record); err != nil {
		return r, nil, err
	}
	cost, err := os.ReadFile(filepath.Join(s.Path(e.Version), output.CostFile))
	if err == nil {
		err = blob.WriteFile(filepath.Join(dir, output.CostFile), cost)
	}
	return recordDigest(dir), taken, errors.Join(err, keepReproof(s.Path(e.Version), dir, ids), keepContamination(s.Path(e.Version), dir, ids))
}
