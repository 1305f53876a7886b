package release

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Hidden tasks stand on a shelf of their own, beside that of the public ones: a version there is
// made by the same rules and gates, and its folder is a dataset as any other. What a public version
// says of them is in hidden_write.go.

// Parts is how new tasks are drawn into hidden parts.
type Parts struct {
	HeldOut, Private float64 // shares, of 1
	// Salt is written nowhere. Whoever has it knows the part of each task.
	Salt string
	// Keys are recipients of age that open held-out tasks, and Opens is the version that publishes those that come now.
	Keys  []string
	Opens Version
	Dir   string // the shelf of hidden tasks
	// Reveal are private tasks that become public.
	Reveal []string
}

// leastSalt is the least length of a salt: a shorter one can be found by trying.
const leastSalt = 32

// Check says what is wrong with the parts.
func (p Parts) Check() error {
	switch {
	case p.HeldOut < 0 || p.Private < 0 || p.HeldOut+p.Private > 1:
		return fmt.Errorf("hidden.held_out %g and hidden.private %g are not shares of 1", p.HeldOut, p.Private)
	case len(p.Salt) < leastSalt:
		return fmt.Errorf("the salt has %d characters; parts are drawn with %d or more (openssl rand -hex 32)", len(p.Salt), leastSalt)
	case p.HeldOut > 0 && len(p.Keys) == 0:
		return errors.New("hidden.keys is empty: who opens held-out tasks? (age-keygen makes a key)")
	}
	_, err := p.recipients()
	return err
}

func (p Parts) recipients() ([]age.Recipient, error) {
	var out []age.Recipient
	for _, k := range p.Keys {
		all, err := age.ParseRecipients(strings.NewReader(k))
		if err != nil {
			return nil, fmt.Errorf("hidden.keys: %q is not a public key of age: %w", k, err)
		}
		out = append(out, all...)
	}
	return out, nil
}

// mac is the HMAC-SHA256 of a text under a label, keyed by the salt.
func (p Parts) mac(label, text string) []byte {
	h := hmac.New(sha256.New, []byte(p.Salt))
	h.Write([]byte("benchmint-" + label + "/1\x00" + text))
	return h.Sum(nil)
}

// committed is what is published of the salt: it shows whether another salt is the same, and nothing else.
func (p Parts) committed() schemas.Digest {
	return schemas.Digest("sha256:" + hex.EncodeToString(p.mac("salt", "")))
}

// fraction is where a text lies in [0, 1).
func (p Parts) fraction(label, text string) float64 {
	const bits = 53 // of a float64
	return float64(binary.BigEndian.Uint64(p.mac(label, text))>>(64-bits)) / (1 << bits)
}

// part is that of an identity. It depends on the salt and the shares alone.
func (p Parts) part(identity string) string {
	switch x := p.fraction("part", identity); {
	case x < p.Private:
		return output.Private
	case x < p.Private+p.HeldOut:
		return output.HeldOut
	}
	return output.Public
}

// nonce keeps a row from being found by trying what it may be. It is the same in every version.
func (p Parts) nonce(r output.Row) string { return hex.EncodeToString(p.mac("nonce", identityOf(r))) }

func identityOf(r output.Row) string {
	if r.Benchmint.Identity == "" {
		return r.InstanceID
	}
	return string(r.Benchmint.Identity)
}

// Commitment is the SHA-256 of a nonce, a line feed and the line of a row with its end.
func Commitment(nonce string, line []byte) schemas.Digest {
	return schemas.DigestBytes(slices.Concat([]byte(nonce+"\n"), line))
}

// Drawn is what a feed says of hidden parts. It never changes: with another salt or share a task would move.
type Drawn struct {
	Salt    schemas.Digest `json:"salt"` // HMAC-SHA256 of a fixed text, keyed by the salt
	HeldOut float64        `json:"held_out"`
	Private float64        `json:"private"`
	Since   Version        `json:"since"`
}

// Disclosed is a hidden task that became public.
type Disclosed struct {
	ID       string         `json:"id"`
	Part     string         `json:"part"`
	Identity schemas.Digest `json:"identity"`
	Last     Version        `json:"last"` // in which it was hidden, on the shelf of hidden tasks
	In       Version        `json:"in"`   // in which it is public
}

func disclosed(all []Disclosed, id string) (Disclosed, bool) {
	i := slices.IndexFunc(all, func(d Disclosed) bool { return d.ID == id })
	if i < 0 {
		return Disclosed{}, false
	}
	return all[i], true
}

// draw is how tasks are told apart while a version is made.
type draw struct {
	Parts
	shelf *Shelf          // of hidden tasks
	last  *output.Dataset // its newest version, nil where there is none
	// published is the newest public version, nil where there is none.
	published *output.Dataset
	// public and hidden are tasks with a place, by ID and by identity; hidden ones that are drawn now join by ID.
	public, hidden map[string]bool
}

// ErrSalt is another salt or share than the shelf's hidden parts were drawn with.
var ErrSalt = errors.New("a task would move from one part to another")

// agree holds what a release is asked for to what the shelf's hidden parts were drawn with.
func (c *Candidate) agree() error {
	was := c.Shelf.Feed.Hidden
	if c.Parts == nil {
		if was == nil {
			return nil
		}
		return fmt.Errorf("%s has hidden parts since %s, drawn with hidden.held_out %g and hidden.private %g: without these shares %w", c.Shelf.Dir, was.Since, was.HeldOut, was.Private, ErrSalt)
	}
	now := Drawn{c.Parts.committed(), c.Parts.HeldOut, c.Parts.Private, c.Version}
	switch {
	case was == nil:
		c.Feed.Hidden = &now
	case was.Salt != now.Salt:
		return fmt.Errorf("the salt is not the one of %s, with which hidden parts began: %w", was.Since, ErrSalt)
	case was.HeldOut != now.HeldOut || was.Private != now.Private:
		return fmt.Errorf("hidden.held_out %g and hidden.private %g are not those of %s (%g and %g): %w", now.HeldOut, now.Private, was.Since, was.HeldOut, was.Private, ErrSalt)
	}
	return nil
}

// hides opens the shelf of hidden tasks and says of each task that is there in which part it is.
func (c *Candidate) hides(ctx context.Context) error {
	if err := c.agree(); err != nil || c.Parts == nil {
		return err
	}
	d := &draw{Parts: *c.Parts, published: c.Previous, public: map[string]bool{}, hidden: map[string]bool{}}
	var err error
	if d.shelf, err = c.Shelf.openHidden(ctx, d.Dir); err != nil {
		return err
	}
	if err := c.Shelf.holdsHidden(d); err != nil {
		return err
	}
	if d.last, err = d.shelf.newest(); err != nil {
		return err
	}
	d.known(c)
	if c.Work != nil {
		for _, r := range c.Work.Rows {
			if d.of(r.Row) != output.Public {
				d.hidden[r.InstanceID] = true
			}
		}
	}
	c.draw = d
	return nil
}

// known notes the tasks that have a place.
func (d *draw) known(c *Candidate) {
	know := func(of map[string]bool, id string, identity schemas.Digest) {
		of[id] = true
		if identity != "" {
			of[string(identity)] = true
		}
	}
	for _, w := range slices.Concat(c.Feed.Withdrawals, c.Feed.Held) {
		know(d.public, w.ID, w.Identity)
	}
	for _, x := range d.shelf.Feed.Disclosed {
		know(d.public, x.ID, x.Identity)
	}
	for _, r := range rowsOf(c.Previous) {
		know(d.public, r.InstanceID, r.Benchmint.Identity)
	}
	for _, w := range slices.Concat(d.shelf.Feed.Withdrawals, d.shelf.Feed.Held) {
		know(d.hidden, w.ID, w.Identity)
	}
	for _, r := range rowsOf(d.last) {
		know(d.hidden, r.InstanceID, r.Benchmint.Identity)
	}
}

func rowsOf(d *output.Dataset) []output.Located {
	if d == nil {
		return nil
	}
	return d.Rows
}

// newest is the dataset of the newest version, nil where there is none.
func (s *Shelf) newest() (*output.Dataset, error) {
	last, ok := s.Latest()
	if !ok {
		return nil, nil
	}
	return s.Dataset(last.Version)
}

// openHidden opens the shelf of hidden tasks for as long as this one is open.
func (s *Shelf) openHidden(ctx context.Context, dir string) (*Shelf, error) {
	if s.hidden != nil {
		return s.hidden, nil
	}
	_, none := Read(dir)
	if last, ok := s.Latest(); ok && errors.Is(none, ErrNoShelf) {
		r, err := s.Record(last.Version)
		if err != nil {
			return nil, err
		}
		if n := r.Hidden.tasks(); n > 0 {
			return nil, fmt.Errorf("hidden.folder %s does not have the %d hidden tasks of %s: %w", dir, n, last.Version, none)
		}
	}
	h, err := Open(ctx, dir, s.Feed.Dataset)
	if err != nil {
		return nil, fmt.Errorf("hidden.folder: %w", err)
	}
	s.hidden = h
	return h, nil
}

// holdsHidden: the shelf of hidden tasks has those that the newest public version commits to. One that is ahead was left
// by a release that was interrupted between the two.
func (s *Shelf) holdsHidden(d *draw) error {
	last, ok := s.Latest()
	if !ok {
		return nil
	}
	r, err := s.Record(last.Version)
	if err != nil || r.Hidden == nil {
		return err
	}
	if newest, ok := d.shelf.Latest(); ok && newest.Version.Compare(last.Version) > 0 {
		return nil
	}
	set, err := d.shelf.newest()
	if err != nil {
		return err
	}
	heldOut, private, err := d.commitments(set)
	if err != nil {
		return err
	}
	if !maps.Equal(heldOut, byID(r.Hidden.HeldOut.Tasks)) || !slices.Equal(slices.Sorted(maps.Values(private)), r.Hidden.Private.Commitments) {
		return fmt.Errorf("hidden.folder %s holds other tasks than %s commits to", d.Dir, last.Version)
	}
	return nil
}

// commitments are those of the rows of hidden tasks, by ID.
func (p Parts) commitments(d *output.Dataset) (heldOut, private map[string]schemas.Digest, err error) {
	heldOut, private = map[string]schemas.Digest{}, map[string]schemas.Digest{}
	for _, r := range rowsOf(d) {
		line, err := d.Line(r)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.InstanceID, err)
		}
		into := private
		if r.Benchmint.Release.Part == output.HeldOut {
			into = heldOut
		}
		into[r.InstanceID] = Commitment(p.nonce(r.Row), line)
	}
	return heldOut, private, nil
}

// of is the part of a task: the one in which it is, else the one that is drawn.
func (d *draw) of(r output.Row) string {
	id, identity := r.InstanceID, string(r.Benchmint.Identity)
	drawn := d.part(identityOf(r))
	switch {
	case d.public[id], identity != "" && d.public[identity]:
		return output.Public
	case (d.hidden[id] || d.hidden[identity]) && drawn == output.Public:
		return output.HeldOut // it was drawn under another identity, and is on the shelf of hidden tasks
	}
	return drawn
}

// mine reports whether a task belongs to this candidate, and not to that of the other shelf.
func (c *Candidate) mine(r output.Row) bool {
	return c.draw == nil || (c.draw.of(r) != output.Public) == c.secret
}

// untold is a list of changes without those of hidden tasks.
func (c *Candidate) untold(ids []string) []string {
	if c.draw == nil {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return c.draw.hidden[id] })
}

// hide prepares a new row: one of a hidden part says so, and none names hidden tasks.
func (c *Candidate) hide(r *output.Row) error {
	if c.draw == nil {
		return nil
	}
	in := maps.Clone(r.Benchmint.QuarantinedIn)
	for test, ids := range in {
		in[test] = append([]string{}, c.untold(ids)...)
	}
	r.Benchmint.QuarantinedIn = in
	if !c.secret {
		return nil
	}
	p := r.Benchmint.Release
	if p.Part = c.draw.part(identityOf(*r)); p.Part != output.HeldOut {
		return nil
	}
	if c.Parts.Opens.Compare(c.Version) <= 0 {
		return fmt.Errorf("hidden.opens %q is not a version after %s: which one opens the held-out tasks that come now?", c.Parts.Opens, c.Version)
	}
	p.Opens = string(c.Parts.Opens)
	return nil
}

// planHidden makes the candidate of the shelf of hidden tasks.
func (c *Candidate) planHidden(ctx context.Context) error {
	if c.draw == nil {
		return nil
	}
	s := c.draw.shelf
	h := &Candidate{Options: c.Options, Shelf: s, Version: c.Version, Carried: map[string][]string{}, gated: gated{}, Feed: s.feedCopy(), draw: c.draw, secret: true}
	h.Reproof.Ledgers = append(slices.Clone(h.Reproof.Ledgers), filepath.Join(s.Dir, output.ReproofFile))
	there := func(id string) bool {
		_, held := withdrawn(s.Feed.Held, id, "")
		return held || slices.ContainsFunc(rowsOf(c.draw.last), func(r output.Located) bool { return r.InstanceID == id })
	}
	h.Revise, c.Revise = split(c.Revise, there)
	h.Back, c.Back = split(c.Back, there)
	if err := h.previous(); err != nil {
		return err
	}
	h.From = c.From
	if err := h.proved(); err != nil {
		return err
	}
	if err := h.disclose(); err != nil {
		return err
	}
	if err := h.old(); err != nil {
		return err
	}
	if err := h.added(); err != nil {
		return err
	}
	c.hidden = h
	err := h.settle(ctx)
	c.Refused = h.Refused
	return err
}

// split are the words for which a condition holds, and the others.
func split(all []string, which func(string) bool) (some, others []string) {
	for _, x := range all {
		if which(x) {
			some = append(some, x)
		} else {
			others = append(others, x)
		}
	}
	return some, others
}

// disclose notes which hidden tasks become public: held-out ones whose version has come, and private ones by name.
func (c *Candidate) disclose() error {
	var known []string
	rest := slices.Clone(c.Parts.Reveal)
	if c.Previous == nil {
		return c.unknown(rest, "reveal", nil)
	}
	last, _ := c.Shelf.Latest()
	for _, r := range c.Previous.Rows {
		p, id := r.Benchmint.Release, r.InstanceID
		due := p.Part == output.HeldOut && Version(p.Opens).Compare(c.Version) <= 0
		if p.Part == output.Private {
			known = append(known, id)
			due = slices.Contains(rest, id)
			rest = slices.DeleteFunc(rest, func(x string) bool { return x == id })
		}
		if due {
			c.Feed.Disclosed = append(c.Feed.Disclosed, Disclosed{id, p.Part, r.Benchmint.Identity, last.Version, c.Version})
			delete(c.draw.hidden, id)
			c.draw.public[id] = true
		}
	}
	for _, id := range rest {
		if _, done := disclosed(c.Feed.Disclosed, id); !done { // else a release was interrupted after it was disclosed here
			return fmt.Errorf("--reveal %s: no private task has this name%s", id, nearest.Hint(id, known))
		}
	}
	return nil
}

// comeOut takes tasks that were hidden, as they stand on their shelf.
func (c *Candidate) comeOut() error {
	if c.hidden == nil {
		return nil
	}
	for _, x := range c.hidden.Feed.Disclosed {
		if _, done := disclosed(c.Feed.Disclosed, x.ID); done {
			continue
		}
		d, err := c.draw.shelf.Dataset(x.Last)
		if err != nil {
			return err
		}
		for _, carried := range d.Carry(func(r output.Row) bool { return r.InstanceID == x.ID }) {
			t := Task{Row: carried.Row.Row, carried: carried}
			if kept, err := c.narrow(&t); err != nil {
				return fmt.Errorf("%s: %w", x.ID, err)
			} else if !kept {
				return fmt.Errorf("%s was %s and becomes public, and a test that decides is flaky: withdraw it", x.ID, x.Part)
			}
			if err := c.revised(&t); err != nil {
				return fmt.Errorf("%s: %w", x.ID, err)
			}
			x.In = c.Version
			c.Feed.Disclosed, c.Tasks = append(c.Feed.Disclosed, x), append(c.Tasks, t)
		}
	}
	return nil
}

// silent reports whether a reject is left out of a public version: one that speaks of a hidden task, and a share that is
// drawn as hidden tasks are, lest these be the changes that are neither rejected nor public.
func (c *Candidate) silent(r output.Reject) bool {
	if c.draw == nil || c.secret {
		return false
	}
	return c.draw.fraction("reject", r.InstanceID) < c.draw.HeldOut+c.draw.Parts.Private || namedIn(r.Detail, c.draw.hidden) != "" || c.draw.hidden[r.InstanceID]
}

// namedIn is the first of some IDs that a text names, "" where it names none.
func namedIn(text string, ids map[string]bool) string {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !(r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		if w = strings.Trim(w, ".-"); ids[w] {
			return w
		}
	}
	return ""
}

// correctHidden takes tasks out of the shelf of hidden tasks, and reports whether that is where they are. The public
// shelf gets a correction that says so, and names none.
func (c *Candidate) correctHidden(ctx context.Context, a *Act) (bool, error) {
	if c.Parts == nil || c.Shelf.Feed.Hidden == nil {
		return false, nil
	}
	if err := c.hides(ctx); err != nil {
		return false, err
	}
	some, others := split(a.IDs, func(id string) bool { return c.draw.hidden[id] && !c.draw.public[id] })
	switch {
	case len(some) == 0:
		c.draw = nil
		return false, nil
	case len(others) > 0:
		return false, fmt.Errorf("%s is hidden and %s is not: withdraw them one after the other", some[0], others[0])
	case a.Purge:
		return false, fmt.Errorf("%s is hidden, and --purge takes public tasks alone out of versions: withdraw it, or reveal it first", some[0])
	}
	s, o := c.draw.shelf, c.Options
	o.Parts = nil
	o.Now = c.Now
	if _, err := s.Correct(ctx, o, *a); err != nil {
		return false, err
	}
	var err error
	c.draw.last, err = s.newest()
	return true, err
}

// HiddenTasks are figures of the hidden tasks of a candidate.
type HiddenTasks struct {
	HeldOut, Private int
	Left             []Objection // new ones that gates took out
}

// HiddenTasks are those of the version, nil where it hides none.
func (c *Candidate) HiddenTasks() *HiddenTasks {
	if c.hidden == nil {
		return nil
	}
	h := &HiddenTasks{Left: c.hidden.Left}
	for _, t := range c.hidden.Tasks {
		if t.Row.Benchmint.Release.Part == output.HeldOut {
			h.HeldOut++
		} else {
			h.Private++
		}
	}
	return h
}
