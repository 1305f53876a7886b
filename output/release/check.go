package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Finding is one thing that is wrong on a shelf.
type Finding struct {
	Version Version `json:"version,omitempty"` // "" of the shelf itself
	Text    string  `json:"text"`
}

func (f Finding) String() string {
	if f.Version == "" {
		return f.Text
	}
	return string(f.Version) + ": " + f.Text
}

// Check holds a shelf, or some versions of it, to the rules of this package: digests along the
// chain, folders, rows that stay, records of what went.
func (s *Shelf) Check(only []Version, say func(what string, n, of int)) ([]Finding, error) {
	c := &shelfCheck{s: s, say: say}
	c.folders()
	c.records()
	for i, e := range s.Feed.Versions {
		if len(only) > 0 && !slices.Contains(only, e.Version) {
			continue
		}
		if err := c.version(i, e); err != nil {
			return nil, err
		}
	}
	return c.findings, nil
}

type shelfCheck struct {
	s        *Shelf
	findings []Finding
	say      func(what string, n, of int)
}

func (c *shelfCheck) add(v Version, format string, args ...any) {
	c.findings = append(c.findings, Finding{v, fmt.Sprintf(format, args...)})
}

// folders: each version has one, and there are no others.
func (c *shelfCheck) folders() {
	var known []string
	for i, e := range c.s.Feed.Versions {
		known = append(known, string(e.Version))
		if i > 0 && e.Version.Compare(c.s.Feed.Versions[i-1].Version) <= 0 {
			c.add("", "%s: %s stands after %s", FeedFile, e.Version, c.s.Feed.Versions[i-1].Version)
		}
	}
	entries, err := os.ReadDir(c.s.Dir)
	if err != nil {
		c.add("", "%v", err)
		return
	}
	for _, e := range entries {
		if e.Name() != FeedFile && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) {
			c.add("", "%s does not name %s", FeedFile, e.Name())
		}
	}
}

func (c *shelfCheck) version(i int, e Entry) error {
	v := e.Version
	record, err := c.s.Record(v)
	if err != nil {
		c.add(v, "%v", err)
		return nil
	}
	if got := recordDigest(c.s.Path(v)); got != e.Record {
		c.add(v, "%s is %s; %s says %s", output.ReleaseFile, got.Short(), FeedFile, e.Record.Short())
	}
	b, err := os.ReadFile(filepath.Join(c.s.Path(v), output.ManifestFile))
	if err != nil {
		c.add(v, "%v", err)
		return nil
	}
	if got := schemas.DigestBytes(b); got != record.Manifest {
		c.add(v, "%s is %s; %s says %s", output.ManifestFile, got.Short(), output.ReleaseFile, record.Manifest.Short())
		return nil
	}
	if record.Version != v || record.Date != e.Date || record.Window.From != e.From || record.Counts != e.Counts || record.Dataset != c.s.Feed.Dataset || record.Canary != output.CanaryText(output.Canary(c.s.Feed.Dataset, string(v))) {
		c.add(v, "%s does not say what %s says of it", output.ReleaseFile, FeedFile)
	}
	for _, g := range record.Gates {
		if g.State == Failed {
			c.add(v, "it is published with the gate %s failed", g.Name)
		}
	}
	c.link(i, record)
	c.purged(e, record)
	c.hidden(i, record)
	c.freshness(record)
	findings, err := output.CheckEach(c.s.Path(v), func(n, of int) { c.say("tasks of "+string(v), n, of) })
	if errors.Is(err, output.ErrNoDataset) {
		c.add(v, "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range findings {
		c.add(v, "%s", f)
	}
	return c.rows(i, record)
}

// freshness is that of the rows; versions from before it was measured have none.
func (c *shelfCheck) freshness(r Record) {
	if r.Freshness == nil {
		return
	}
	if d, err := c.s.Dataset(r.Version); err == nil && !reflect.DeepEqual(*r.Freshness, *freshness(d)) { // else it has its own finding
		c.add(r.Version, "%s: freshness is not that of the rows", output.ReleaseFile)
	}
}

// link: a version names the one before by the digest that it had then. A purge since then is in
// the feed with both digests.
func (c *shelfCheck) link(i int, r Record) {
	if i == 0 {
		if r.Previous != nil || c.s.Feed.Versions[0].Previous != "" {
			c.add(r.Version, "it is the first version and names one before it")
		}
		return
	}
	before := c.s.Feed.Versions[i-1]
	if r.Previous == nil || r.Previous.Version != before.Version || c.s.Feed.Versions[i].Previous != before.Version {
		c.add(r.Version, "it does not name %s as the version before", before.Version)
		return
	}
	digest := r.Previous.Record
	for _, p := range c.s.Feed.Purges {
		if p.Version == before.Version && p.Old == digest {
			digest = p.New
		}
	}
	if digest != before.Record {
		c.add(r.Version, "the version before, %s, had the digest %s when it was made; it has %s, and no purge says why", before.Version, r.Previous.Record.Short(), before.Record.Short())
	}
}

// purged: a version says which tasks were purged from it, and each purge is in the feed.
func (c *shelfCheck) purged(e Entry, r Record) {
	var all []string
	for _, p := range c.s.Feed.Purges {
		if p.Version != e.Version {
			continue
		}
		all = append(all, p.IDs...)
		if info, ok := schemas.FindWithdrawal(string(p.Reason)); !ok || !info.Purge {
			c.add(e.Version, "%s: a purge for the reason %q, which allows none", FeedFile, p.Reason)
		}
		for _, id := range p.IDs {
			if w, ok := withdrawn(c.s.Feed.Withdrawals, id, ""); !ok || !w.Purged {
				c.add(e.Version, "%s: %s was purged, and no withdrawal says so", FeedFile, id)
			}
		}
	}
	if !slices.Equal(all, r.Purged) {
		c.add(e.Version, "%s says that %d tasks were purged, %s that %d were, or others", output.ReleaseFile, len(r.Purged), FeedFile, len(all))
	}
}

// records: each task that is out of the data was in it, and the version that is the first without
// it is there.
func (c *shelfCheck) records() {
	for _, w := range slices.Concat(c.s.Feed.Withdrawals, c.s.Feed.Held) {
		in := slices.IndexFunc(c.s.Feed.Versions, func(e Entry) bool { return e.Version == w.In })
		if in < 1 || c.s.Feed.Versions[in-1].Version != w.Last || w.First.Compare(w.Last) > 0 {
			c.add("", "%s: %s is out of the data from %q on and was last in %q: these are not neighbours", FeedFile, w.ID, w.In, w.Last)
			continue
		}
		if d, err := c.s.Diff(w.In); err == nil && !slices.Contains(outIDs(d), w.ID) { // else the version has its own finding
			c.add("", "%s: %s is out of the data; %s of %s does not say so", FeedFile, w.ID, DiffFile, w.In)
		}
	}
}

// went: the feed has a record of each task that a version took out, with the same reason. One that
// was held is there, withdrawn since, or back in a later version.
func (c *shelfCheck) went(i int, said Diff) {
	v := c.s.Feed.Versions[i].Version
	for _, x := range said.Out {
		w, ok := withdrawn(c.s.Feed.Withdrawals, x.ID, "")
		if !ok || w.In != v || w.Reason != x.Reason || w.Text != x.Text || w.ReplacedBy != x.ReplacedBy {
			c.add(v, "%s was withdrawn (%s); %s does not say the same", x.ID, x.Reason, FeedFile)
		}
	}
	for _, x := range said.Held {
		if w, ok := withdrawn(c.s.Feed.Held, x.ID, ""); ok && (w.In != v || w.Reason == x.Reason && w.Text == x.Text) {
			continue
		}
		if _, ok := withdrawn(c.s.Feed.Withdrawals, x.ID, ""); ok || c.backAfter(i, x.ID) {
			continue
		}
		c.add(v, "%s was held (%s); %s does not say the same, and it is not back", x.ID, x.Reason, FeedFile)
	}
	for _, x := range said.Gone {
		c.add(v, "%s is gone without a reason", x.ID)
	}
}

func (c *shelfCheck) backAfter(i int, id string) bool {
	return slices.ContainsFunc(c.s.Feed.Versions[i+1:], func(e Entry) bool {
		d, err := c.s.Diff(e.Version)
		return err == nil && slices.Contains(ids(d.Back), id)
	})
}

// rows: what changed against the version before is in diff.json, and nothing else did.
func (c *shelfCheck) rows(i int, r Record) error {
	now, err := c.side(r.Version)
	if err != nil {
		c.add(r.Version, "%v", err)
		return nil
	}
	for _, w := range c.s.Feed.Withdrawals {
		if _, there := now.Rows[w.ID]; there && (w.In.Compare(r.Version) <= 0 || w.Purged) {
			c.add(r.Version, "%s is in it, and was withdrawn in %s", w.ID, w.In)
		}
	}
	before := Side{}
	if i > 0 {
		if before, err = c.side(c.s.Feed.Versions[i-1].Version); err != nil {
			return nil // it has its own finding
		}
	}
	said, err := c.s.Diff(r.Version)
	if err != nil {
		c.add(r.Version, "%v", err)
		return nil
	}
	c.went(i, said)
	for _, w := range slices.Concat(c.s.Feed.Withdrawals, c.s.Feed.Held) {
		if row, there := before.Rows[w.ID]; there && w.In == r.Version && row.Benchmint.Identity != w.Identity {
			c.add(r.Version, "%s of %s has another identity than %s says", w.ID, w.Last, FeedFile)
		}
	}
	got, err := Compare(before, now, c.s.Feed)
	if err != nil {
		return err
	}
	c.same(r.Version, "came", ids(said.Came), ids(got.Came))
	c.same(r.Version, "back", ids(said.Back), ids(got.Back))
	c.same(r.Version, "opened", ids(said.Opened), ids(got.Opened))
	c.same(r.Version, "revealed", ids(said.Revealed), ids(got.Revealed))
	c.same(r.Version, "went", outIDs(said), outIDs(got))
	c.back(i, got.Back, now)
	for _, x := range got.Changed {
		if !slices.ContainsFunc(said.Changed, func(y Changed) bool { return y.ID == x.ID && slices.Equal(y.Classes, x.Classes) }) {
			c.add(r.Version, "%s changed (%s) and %s does not say so", x.ID, joined(x.Classes), DiffFile)
		}
		if p := now.Rows[x.ID].Benchmint.Release; p == nil || p.RevisedIn != string(r.Version) {
			c.add(r.Version, "%s changed without a revision", x.ID)
		}
		if slices.Contains(x.Classes, ClassTask) {
			c.add(r.Version, "%s: its patches, base tree or identity changed", x.ID)
		}
	}
	return nil
}

func (c *shelfCheck) side(v Version) (Side, error) {
	d, err := c.s.Dataset(v)
	if err != nil {
		return Side{}, err
	}
	return SideOf(string(v), d)
}

// back: a task that was held comes back as it was, or as a revision.
func (c *shelfCheck) back(i int, all []Came, now Side) {
	for j := i - 1; j >= 0 && len(all) > 0; j-- {
		before, err := c.side(c.s.Feed.Versions[j].Version)
		if err != nil {
			return // it has its own finding
		}
		all = slices.DeleteFunc(slices.Clone(all), func(x Came) bool {
			was, there := before.Rows[x.ID]
			row := now.Rows[x.ID]
			if there && !unchanged(was, row) && row.Benchmint.Release.RevisedIn != now.Name {
				c.add(Version(now.Name), "%s is back, and changed without a revision", x.ID)
			}
			return there
		})
	}
}

func unchanged(a, b Line) bool {
	c, err := changedOf(a, b)
	return err == nil && len(c.Fields) == 0
}

// same compares names of tasks; those that were purged since are in neither.
func (c *shelfCheck) same(v Version, what string, said, got []string) {
	purged := func(id string) bool {
		return slices.ContainsFunc(c.s.Feed.Withdrawals, func(w Withdrawn) bool { return w.ID == id && w.Purged })
	}
	for _, id := range got {
		if !slices.Contains(said, id) && !purged(id) {
			c.add(v, "%s: %s is not in %s", id, what, DiffFile)
		}
	}
	for _, id := range said {
		if !slices.Contains(got, id) && !purged(id) {
			c.add(v, "%s: %s says that it %s; the rows do not", id, DiffFile, what)
		}
	}
}

func ids(all []Came) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.ID)
	}
	return out
}

func outIDs(d Diff) []string {
	out := ids(d.Gone)
	for _, t := range slices.Concat(d.Out, d.Held) {
		out = append(out, t.ID)
	}
	return out
}
