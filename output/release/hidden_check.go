package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// hidden holds what a version says of hidden tasks to the version before, to the feed and to its files.
func (c *shelfCheck) hidden(i int, r Record) {
	drawn, v := c.s.Feed.Hidden, r.Version
	if drawn == nil || drawn.Since.Compare(v) > 0 {
		if r.Hidden != nil {
			c.add(v, "%s speaks of hidden tasks, and %s has none so early", output.ReleaseFile, FeedFile)
		}
		return
	}
	h := r.Hidden
	if h == nil {
		c.add(v, "%s says nothing of hidden tasks, which began with %s", output.ReleaseFile, drawn.Since)
		return
	}
	if h.Drawn != *drawn {
		c.add(v, "its hidden parts were drawn with another salt or other shares than %s says", FeedFile)
	}
	c.heldOut(v, h)
	c.chain(i, v, h)
	c.proofs(i, r)
}

// heldOut: held_out/ and held_out.age are those of the tasks that release.json lists, and no such task is public.
func (c *shelfCheck) heldOut(v Version, h *Veiled) {
	b, err := os.ReadFile(filepath.Join(c.s.Path(v), output.HeldOutFile))
	var got schemas.Digest
	if err == nil {
		got = schemas.DigestBytes(b)
	} else if !errors.Is(err, os.ErrNotExist) {
		c.add(v, "%v", err)
		return
	}
	if got != h.HeldOut.File {
		c.add(v, "%s is %s; %s says %s", output.HeldOutFile, got.Short(), output.ReleaseFile, h.HeldOut.File.Short())
	}
	rows, err := ShownTasks(c.s.Path(v))
	if err != nil {
		c.add(v, "%v", err)
		return
	}
	of := byID(h.HeldOut.Tasks)
	if len(rows) != len(of) {
		c.add(v, "%s/%s has %d tasks; %s lists %d", output.HeldOutDir, heldOutRows, len(rows), output.ReleaseFile, len(of))
	}
	for _, x := range rows {
		if of[x.InstanceID] != x.Commitment {
			c.add(v, "%s: %s/%s commits to another row than %s", x.InstanceID, output.HeldOutDir, heldOutRows, output.ReleaseFile)
		}
	}
	side, err := c.side(v)
	if err != nil {
		return // it has its own finding
	}
	for _, t := range h.HeldOut.Tasks {
		if _, public := side.Rows[t.ID]; public {
			c.add(v, "%s is held out and public", t.ID)
		}
		if t.Opens.Compare(v) <= 0 {
			c.add(v, "%s was to be opened with %s", t.ID, t.Opens)
		}
	}
}

// ShownTasks are what a version publishes of held-out tasks; none where it has none.
func ShownTasks(dir string) (out []Shown, err error) {
	name := path.Join(output.HeldOutDir, heldOutRows)
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for l := range bytes.Lines(output.Bare(name, b)) {
		var x Shown
		if err := strict(l, &x); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, x)
	}
	return out, nil
}

// chain: each commitment of the version before is in this one, or this one says what became of it.
func (c *shelfCheck) chain(i int, v Version, h *Veiled) {
	if !slices.IsSorted(h.Private.Commitments) || len(slices.Compact(slices.Clone(h.Private.Commitments))) != len(h.Private.Commitments) {
		c.add(v, "the commitments of private tasks are not in order, or one is there twice")
	}
	if i == 0 {
		return
	}
	before, err := c.s.Record(c.s.Feed.Versions[i-1].Version)
	if err != nil || before.Hidden == nil {
		return // it has its own finding, or hid nothing
	}
	told := h.all()
	for _, p := range h.Disclosed {
		told[p.Commitment] = true
	}
	for _, g := range h.Gone {
		told[g.Commitment] = true
	}
	for _, r := range h.Revised {
		told[r.From] = told[r.To]
	}
	for d := range before.Hidden.all() {
		if !told[d] {
			c.add(v, "the hidden task of the commitment %s is gone without a word", d.Short())
		}
	}
	for _, t := range before.Hidden.HeldOut.Tasks {
		if j := slices.IndexFunc(h.HeldOut.Tasks, func(x HeldOutTask) bool { return x.ID == t.ID }); j >= 0 && h.HeldOut.Tasks[j].Opens != t.Opens {
			c.add(v, "%s was to be opened with %s, and now with %s", t.ID, t.Opens, h.HeldOut.Tasks[j].Opens)
		}
	}
}

// proofs: what became public is what the version before committed to.
func (c *shelfCheck) proofs(i int, r Record) {
	v := r.Version
	var said, came []string
	for _, x := range c.s.Feed.Disclosed {
		if x.In == v {
			said = append(said, x.ID)
		}
	}
	side, err := c.side(v)
	if err != nil {
		return // it has its own finding
	}
	var before map[schemas.Digest]bool
	if i > 0 {
		if b, err := c.s.Record(c.s.Feed.Versions[i-1].Version); err == nil && b.Hidden != nil {
			before = b.Hidden.all()
		}
	}
	for _, p := range r.Hidden.Disclosed {
		came = append(came, p.ID)
		if !before[p.Commitment] {
			c.add(v, "%s: no version before committed to %s", p.ID, p.Commitment.Short())
		}
		if withdrawn, ok := withdrawn(c.s.Feed.Withdrawals, p.ID, ""); ok && withdrawn.Purged {
			continue
		}
		row, there := side.Rows[p.ID]
		if !there {
			c.add(v, "%s is said to be public now, and is not there", p.ID)
			continue
		}
		for _, text := range differs(p, row) {
			c.add(v, "%s: %s", p.ID, text)
		}
	}
	if slices.Sort(said); !slices.Equal(said, slices.Sorted(slices.Values(came))) {
		c.add(v, "%s and %s name other tasks that were hidden and are public now", output.ReleaseFile, FeedFile)
	}
}

// differs says what of a row that became public is not what was committed to.
func differs(p Proof, row Line) (out []string) {
	line := row.Raw
	if p.Row != "" {
		line = []byte(p.Row)
	}
	if got := Commitment(p.Nonce, line); got != p.Commitment {
		return []string{fmt.Sprintf("the row that is public is not the one that was committed to: it makes %s with its nonce, and the commitment is %s", got.Short(), p.Commitment.Short())}
	}
	if p.Row == "" {
		return nil
	}
	var was Line
	was.Raw = line
	if err := json.Unmarshal(line, &was.Row); err != nil {
		return []string{err.Error()}
	}
	change, err := changedOf(was, row)
	if err != nil {
		return []string{err.Error()}
	}
	if slices.Contains(change.Classes, ClassTask) {
		out = append(out, "its patches, base tree or identity are other ones than were committed to")
	}
	if row.Benchmint.Release.Revision == was.Benchmint.Release.Revision {
		out = append(out, "it changed when it became public, without a revision")
	}
	return out
}

// CheckHidden holds the shelf of hidden tasks to its rules, and to what the public one commits to.
func (s *Shelf) CheckHidden(p Parts, say func(what string, n, of int)) ([]Finding, error) {
	h, err := Read(p.Dir)
	if err != nil {
		return nil, err
	}
	findings, err := h.Check(nil, say)
	for i := range findings {
		findings[i].Text = "hidden: " + findings[i].Text
	}
	if err != nil || p.Salt == "" || s.Feed.Hidden == nil {
		return findings, err
	}
	add := func(format string, args ...any) {
		findings = append(findings, Finding{Text: "hidden: " + fmt.Sprintf(format, args...)})
	}
	if p.committed() != s.Feed.Hidden.Salt {
		add("the salt is not the one of %s", s.Feed.Hidden.Since)
		return findings, nil
	}
	p.HeldOut, p.Private = s.Feed.Hidden.HeldOut, s.Feed.Hidden.Private
	if err := s.holdsHidden(&draw{Parts: p, shelf: h}); err != nil {
		add("%v", err)
	}
	d, err := h.newest()
	if err != nil || d == nil {
		return findings, err
	}
	for _, r := range d.Rows {
		if want := p.part(identityOf(r.Row)); r.Benchmint.Release.Part != want {
			add("%s is %s, and %s by its salt", r.InstanceID, r.Benchmint.Release.Part, want)
		}
	}
	return findings, nil
}
