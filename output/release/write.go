package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Write writes the version beside the shelf's others, has the gates read it, and publishes it. A
// gate that refuses it leaves the shelf as it was: RefusedError. ErrThere.
func (c *Candidate) Write(ctx context.Context) (record Record, err error) {
	if err := c.isFree(); err != nil {
		return Record{}, err
	}
	began, place := c.Now(), ""
	if h := c.hidden; h != nil && !h.Nothing() { // both are written before one is published
		if err := h.isFree(); err != nil {
			return Record{}, err
		}
		defer func() { err = errors.Join(err, sweep(h.Shelf.Dir)) }()
		if _, place, err = h.writeAside(ctx, began); err != nil {
			return Record{}, err
		}
	}
	if err := c.lower(place); err != nil {
		return Record{}, err
	}
	defer func() { err = errors.Join(err, sweep(c.Shelf.Dir)) }()
	record, tmp, err := c.writeAside(ctx, began)
	if err != nil {
		return Record{}, err
	}
	if place != "" {
		if err := c.hidden.commitAt(place); err != nil {
			return Record{}, err
		}
	}
	return record, c.commitAt(tmp)
}

// writeAside writes all of a version beside its place, and gives its folder.
func (c *Candidate) writeAside(ctx context.Context, began time.Time) (Record, string, error) {
	dir := filepath.Join(c.Shelf.Dir, begun+string(c.Version))
	record, err := c.writeTo(ctx, dir)
	if err != nil {
		return Record{}, "", err
	}
	return record, dir, errors.Join(c.cost(dir, began), c.writeReproof(dir), c.writeContamination(dir))
}

// commitAt publishes a version that is written.
func (c *Candidate) commitAt(dir string) error {
	s := Shelf{Dir: c.Shelf.Dir, places: map[Version]string{c.Version: filepath.Base(dir)}}
	record, err := s.Record(c.Version)
	if err != nil {
		return err
	}
	feed := c.Feed
	feed.Versions = append(slices.Clone(feed.Versions), c.entry(record, recordDigest(dir)))
	return c.Shelf.commit(feed)
}

// isFree: a version is newer than all others, and has no folder. ErrThere.
func (c *Candidate) isFree() error {
	if c.Published() {
		last, _ := c.Shelf.Latest()
		return fmt.Errorf("%s is not newer than %s, the newest version of %s: %w", c.Version, last.Version, c.Shelf.Dir, ErrThere)
	}
	return c.free()
}

// free: a folder that the feed does not name is nobody's to write over.
func (c *Candidate) free() error {
	if _, err := os.Lstat(c.Shelf.Path(c.Version)); err == nil {
		return fmt.Errorf("%s: %w: its folder is there, and %s does not name it", c.Version, ErrThere, FeedFile)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Candidate) entry(r Record, digest schemas.Digest) Entry {
	e := Entry{Version: r.Version, Date: r.Date, From: r.Window.From, Record: digest, Counts: r.Counts}
	if r.Previous != nil {
		e.Previous = r.Previous.Version
	}
	return e
}

// writeTo writes the folder of a version, release.json last.
func (c *Candidate) writeTo(ctx context.Context, dir string) (Record, error) {
	if err := errors.Join(c.fresh(), c.share(), c.keep(ctx)); err != nil {
		return Record{}, err
	}
	m, err := output.Write(dir, c.input())
	if err != nil {
		return Record{}, err
	}
	refused, err := c.ask(ctx, dir)
	if err != nil {
		return Record{}, err
	}
	if len(refused) > 0 {
		return Record{}, &RefusedError{c.Version, refused}
	}
	r := Record{
		Format: RecordFormat, Dataset: c.Shelf.Feed.Dataset, Version: c.Version, Date: m.Release.Date, Window: Window{m.Release.From, m.Release.Date},
		Canary: output.CanaryText(m.Release.Canary), Counts: c.Diff.Counts(m.Counts.Tasks), Gates: c.gated.results(), Tools: c.tools(),
		Freshness: &Freshness{}, // of the rows that are written
	}
	if c.veil != nil {
		r.Hidden = c.veil.record
	}
	if last, err := c.Shelf.Entry(Version(m.Release.Previous)); err == nil {
		r.Previous = &Link{last.Version, last.Record}
	}
	return c.seal(dir, r)
}

// seal writes release.json, with the digest of the manifest that is there.
func (c *Candidate) seal(dir string, r Record) (Record, error) {
	d, err := output.Read(dir)
	if err != nil {
		return r, err
	}
	b, err := os.ReadFile(filepath.Join(dir, output.ManifestFile))
	if err != nil {
		return r, err
	}
	if r.Freshness != nil { // a version from before it was measured stays without it
		r.Freshness = freshness(d)
	}
	r.Configs, r.Manifest = d.Configs(), schemas.DigestBytes(b)
	if b, err = output.EncodeRecord(r); err != nil {
		return r, err
	}
	return r, blob.WriteFile(filepath.Join(dir, output.ReleaseFile), b)
}

func (c *Candidate) tools() map[string]string {
	if c.Tools == nil {
		return map[string]string{}
	}
	return c.Tools
}

// input is the version for package output.
func (c *Candidate) input() output.Input {
	last, _ := c.Shelf.Latest()
	in := output.Input{
		Name: c.Shelf.Feed.Dataset, Tools: c.tools(), Allow: c.Allow, Unsound: true, // the gate lint names each task
		Flakes: slices.Values(c.flakes), Packages: c.kept,
		Release: &output.Release{
			Version: string(c.Version), Date: c.AsOf.UTC().Format(time.DateOnly), From: c.From, Previous: string(last.Version),
			Canary: output.Canary(c.Shelf.Feed.Dataset, string(c.Version)), Dates: c.dates(), CutOffs: c.cutOffs(), Decontamination: c.known,
		},
		Extra: c.extra,
		Wrote: func(n int) { c.say("tasks written", n, len(c.Tasks)) },
	}
	if c.veil != nil {
		in.Release.Hidden = c.veil.manifest
	}
	if c.draw != nil && !c.secret {
		in.Untold = c.draw.hidden
	}
	from := c.Work
	if from == nil {
		from = c.Previous
	}
	in.Configuration, in.Funnel, in.Releases, in.Open = from.Manifest.Configuration, from.Manifest.Funnel, from.Manifest.Releases, from.Manifest.Counts.Open
	if n := len(in.Funnel); n > 0 { // that of the writing is made again
		in.Funnel = in.Funnel[:n-1]
	}
	rows := map[string]bool{}
	s := output.SplitInput{Name: from.Manifest.Splits[0].Name}
	for _, t := range c.Tasks {
		rows[strings.ToLower(t.Row.InstanceID)] = true
		s.Carried = append(s.Carried, t.carried)
	}
	in.Splits = []output.SplitInput{s}
	for _, r := range from.Rejects {
		if !rows[strings.ToLower(r.InstanceID)] && !c.silent(r) { // a published task stays, whatever a later run says
			in.CarriedRejects = append(in.CarriedRejects, r)
		}
	}
	if c.Work == nil {
		in.Flakes = slices.Values(from.Flakes)
	}
	return in
}

// dates are those on which new tasks were proved; a correction has none and keeps those of its version.
func (c *Candidate) dates() int {
	if c.Work == nil {
		return c.Previous.Manifest.Release.Dates
	}
	return max(c.Reproof.Wanted.Dates, 1)
}

// cost is when and at what cost a version was made, outside of the digests.
func (c *Candidate) cost(dir string, began time.Time) error {
	v := struct {
		MadeAt string `json:"made_at"`
		WallMS int64  `json:"wall_ms"`
	}{c.Now().UTC().Format(time.RFC3339), c.Now().Sub(began).Milliseconds()}
	b, err := output.EncodeRecord(v)
	if err != nil {
		return err
	}
	guid := output.Canary(c.Shelf.Feed.Dataset, string(c.Version))
	return blob.WriteFile(filepath.Join(dir, output.CostFile), output.WithCanary(output.CostFile, b, guid))
}
