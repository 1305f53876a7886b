package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/inventory"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// The notes that a store keeps of the machine and of the clones.
const (
	machineNote = "inventory"
	clonesNote  = "clones"
)

// beforeNotes are the reasons that rested on the machine when stores did not note it:
// full disks and missing tools became such rejects. Of a store of that time they are
// tried again once.
var beforeNotes = []schemas.Reason{schemas.NoToolchain, schemas.NoBuild, schemas.NoF2P, schemas.MissingBlob}

// askAgain is how often a registry is asked whether it has a newer version than the
// one that a reject names.
const askAgain = 24 * time.Hour

// reopener opens rejects again that rested on what this machine or the clones did not have.
type reopener struct {
	machine
	store    *store.Store
	sources  *sources.Set
	workshop *workshop
}

// begin looks at what this machine and the clones have, notes it in the store, and
// opens what was rejected for the want of something that is there now. The note comes
// last: a kill in between only repeats.
func (r reopener) begin(ctx context.Context) (err error) {
	if err := r.compareClones(ctx); err != nil {
		return err
	}
	if r.workshop.kind == "" {
		return nil // nothing is built
	}
	note, last, now, err := r.inventory(ctx)
	if err != nil {
		return err
	}
	if err := r.askRegistries(ctx, now); err != nil {
		return err
	}
	if text := now.String(); text != note {
		defer func() {
			if err == nil {
				err = r.store.SetNote(ctx, machineNote, text)
			}
		}()
	}
	if note == "" {
		return r.tryAgain(ctx, "this store was made before benchmint noted what a machine has", beforeNotes...)
	}
	var come []string
	var reasons []schemas.Reason
	for _, d := range r.concerning(ctx, now.New(last, toolchainNames(r.config))) {
		come, reasons = append(come, d.Text), append(reasons, d.Opens...)
	}
	return r.tryAgain(ctx, "this machine has changed (new: "+strings.Join(come, ", ")+")", reasons...)
}

// concerning leaves out toolchains of languages that nobody asks for.
func (r reopener) concerning(ctx context.Context, all []inventory.Difference) []inventory.Difference {
	if len(all) == 0 {
		return nil // heads are not read for nothing
	}
	names := r.toolchainsAsked(ctx, false)
	return slices.DeleteFunc(all, func(d inventory.Difference) bool { return d.Toolchain != "" && !slices.Contains(names, d.Toolchain) })
}

// inventory is what the store notes of a machine, and what this one has.
func (r reopener) inventory(ctx context.Context) (note string, last, now inventory.Inventory, err error) {
	if note, err = r.store.Note(machineNote); err != nil {
		return note, last, now, err
	}
	if last, err = inventory.Parse(note); err != nil {
		return note, last, now, err
	}
	now, err = inventory.Take(ctx, r.workshop.tools, last, r.workshop.kind, toolchainNames(r.config))
	return note, last, now, err
}

// toolchainNames are what the languages in question are built with.
func toolchainNames(c *config.Config) []string {
	var out []string
	for _, l := range c.Filters.Languages {
		for _, n := range plugins.Languages()[l].Needs() {
			out = append(out, n.Name)
		}
	}
	return out
}

// toolchainsAsked are those of languages that a source holds or the user named: what
// this machine has of others changes nothing. Sources that were never fetched hold none,
// unless fetch is asked for.
func (r reopener) toolchainsAsked(ctx context.Context, fetch bool) []string {
	asks := r.askers(r.sources, fetch)
	var out []string
	for _, l := range r.config.Filters.Languages {
		if asks(ctx, l) == "" {
			continue
		}
		for _, n := range plugins.Languages()[l].Needs() {
			out = append(out, n.Name)
		}
	}
	return out
}

// askRegistries asks what is the newest that can be had, where an item was rejected for
// that and it was not asked of late. One that does not answer is no news.
func (r reopener) askRegistries(ctx context.Context, now inventory.Inventory) error {
	tallies, err := r.store.Tallies(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(tallies, func(t pipeline.Tally) bool {
		return t.State == schemas.StepRejected && t.Reason == schemas.NoToolchain
	}) {
		return nil
	}
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, name := range r.toolchainsAsked(ctx, false) {
		t := now.Toolchains[name]
		if r.now().Sub(t.Asked) < askAgain {
			continue
		}
		if newest, err := r.workshop.tools.Newest(ctx, name); err == nil && newest != "" {
			t.Newest, t.Asked = newest, r.now().UTC()
			now.Toolchains[name] = t
		}
	}
	return nil
}

// noteVersions notes what registries answered in the run, so that a later run knows what a reject
// of this one rests on.
func (r reopener) noteVersions(ctx context.Context) error {
	if r.workshop.kind == "" {
		return nil
	}
	note, err := r.store.Note(machineNote)
	if err != nil {
		return err
	}
	now, err := inventory.Parse(note)
	if err != nil {
		return err
	}
	for _, name := range toolchainNames(r.config) {
		t := now.Toolchains[name]
		if newest := r.workshop.tools.Listed(name); newest != "" && newest != t.Newest {
			t.Newest, t.Asked = newest, r.now().UTC()
			now.Toolchains[name] = t
		}
	}
	if now.String() == note {
		return nil
	}
	return r.store.SetNote(ctx, machineNote, now.String())
}

// tryAgain opens rejects, and says how many and why.
func (r reopener) tryAgain(ctx context.Context, why string, reasons ...schemas.Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	n, err := r.store.Reopen(ctx, reasons...)
	if err == nil && n > 0 {
		r.say("%s tried again: %s", are(n, "rejected item"), why)
	}
	return err
}

// compareClones opens what was rejected for an object that a clone lacked, where a clone
// has other objects now.
func (r reopener) compareClones(ctx context.Context) error {
	var now []string
	for _, src := range r.sources.All() {
		origin := r.sources.Origin(src.Repo.Name)
		if origin == nil {
			return nil // it does not answer now: the next run that sees it compares
		}
		now = append(now, src.Repo.Name+" "+string(origin.Objects()))
	}
	slices.Sort(now)
	digest := string(schemas.DigestOf(now))
	note, err := r.store.Note(clonesNote)
	if err != nil || note == digest {
		return err
	}
	if err := r.tryAgain(ctx, "the clone has other objects now", schemas.MissingBlob); err != nil {
		return err
	}
	return r.store.SetNote(ctx, clonesNote, digest)
}
