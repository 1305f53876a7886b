package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/inventory"
	"github.com/benchmint/benchmint/internal/lang/all"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
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

// takeStock looks at what this machine and the clones have, notes it in the store, and
// opens what was rejected for the want of something that is there now. The note comes
// last: a kill in between only repeats.
func (p *program) takeStock(ctx context.Context, c *config.Config, o *opened) (err error) {
	if err := p.takeClones(ctx, o); err != nil {
		return err
	}
	if o.workshop.kind == "" {
		return nil // nothing is built
	}
	note, last, now, err := p.inventory(ctx, c, o)
	if err != nil {
		return err
	}
	if err := p.askRegistries(ctx, c, o, now); err != nil {
		return err
	}
	if text := now.String(); text != note {
		defer func() {
			if err == nil {
				err = o.store.SetNote(ctx, machineNote, text)
			}
		}()
	}
	if note == "" {
		return p.tryAgain(ctx, o, "this store was made before benchmint noted what a machine has", beforeNotes...)
	}
	var come []string
	var reasons []schemas.Reason
	for _, d := range p.concerning(ctx, c, o, now.New(last, toolchainNames(c))) {
		come, reasons = append(come, d.Text), append(reasons, d.Opens...)
	}
	return p.tryAgain(ctx, o, "this machine has changed (new: "+strings.Join(come, ", ")+")", reasons...)
}

// concerning leaves out toolchains of languages that nobody asks for.
func (p *program) concerning(ctx context.Context, c *config.Config, o *opened, all []inventory.Difference) []inventory.Difference {
	if len(all) == 0 {
		return nil // heads are not read for nothing
	}
	names := p.toolchainsAsked(ctx, c, o, false)
	return slices.DeleteFunc(all, func(d inventory.Difference) bool { return d.Toolchain != "" && !slices.Contains(names, d.Toolchain) })
}

// inventory is what the store notes of a machine, and what this one has.
func (p *program) inventory(ctx context.Context, c *config.Config, o *opened) (note string, last, now inventory.Inventory, err error) {
	if note, err = o.store.Note(machineNote); err != nil {
		return note, last, now, err
	}
	if last, err = inventory.Parse(note); err != nil {
		return note, last, now, err
	}
	now, err = inventory.Take(ctx, o.workshop.tools, last, o.workshop.kind, toolchainNames(c))
	return note, last, now, err
}

// toolchainNames are what the languages in question are built with.
func toolchainNames(c *config.Config) []string {
	var out []string
	for _, l := range c.Filters.Languages {
		for _, n := range all.Languages()[l].Needs() {
			out = append(out, n.Name)
		}
	}
	return out
}

// toolchainsAsked are those of languages that a source holds or the user named: what
// this machine has of others changes nothing. Sources that were never fetched hold none,
// unless fetch is asked for.
func (p *program) toolchainsAsked(ctx context.Context, c *config.Config, o *opened, fetch bool) []string {
	asks := p.askers(c, o.sources, fetch)
	var out []string
	for _, l := range c.Filters.Languages {
		if asks(ctx, l) == "" {
			continue
		}
		for _, n := range all.Languages()[l].Needs() {
			out = append(out, n.Name)
		}
	}
	return out
}

// askRegistries asks what is the newest that can be had, where an item was rejected for
// that and it was not asked of late. One that does not answer is no news.
func (p *program) askRegistries(ctx context.Context, c *config.Config, o *opened, now inventory.Inventory) error {
	tallies, err := o.store.Tallies(ctx)
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
	for _, name := range p.toolchainsAsked(ctx, c, o, false) {
		t := now.Toolchains[name]
		if p.now().Sub(t.Asked) < askAgain {
			continue
		}
		if newest, err := o.workshop.tools.Newest(ctx, name); err == nil && newest != "" {
			t.Newest, t.Asked = newest, p.now().UTC()
			now.Toolchains[name] = t
		}
	}
	return nil
}

// learn notes what registries told in the run, so that a later run knows what a reject
// of this one rests on.
func (p *program) learn(ctx context.Context, c *config.Config, o *opened) error {
	if o.workshop.kind == "" {
		return nil
	}
	note, err := o.store.Note(machineNote)
	if err != nil {
		return err
	}
	now, err := inventory.Parse(note)
	if err != nil {
		return err
	}
	for _, name := range toolchainNames(c) {
		t := now.Toolchains[name]
		if newest := o.workshop.tools.Listed(name); newest != "" && newest != t.Newest {
			t.Newest, t.Asked = newest, p.now().UTC()
			now.Toolchains[name] = t
		}
	}
	if now.String() == note {
		return nil
	}
	return o.store.SetNote(ctx, machineNote, now.String())
}

// tryAgain opens rejects, and says how many and why.
func (p *program) tryAgain(ctx context.Context, o *opened, why string, reasons ...schemas.Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	n, err := o.store.Reopen(ctx, reasons...)
	if err == nil && n > 0 {
		p.say("%s tried again: %s", are(n, "rejected item"), why)
	}
	return err
}

// takeClones opens what was rejected for an object that a clone lacked, where a clone
// has other objects now.
func (p *program) takeClones(ctx context.Context, o *opened) error {
	var now []string
	for _, src := range o.sources.All() {
		r := o.sources.Origin(src.Repo.Name)
		if r == nil {
			return nil // it does not answer now: the next run that sees it compares
		}
		now = append(now, src.Repo.Name+" "+string(r.Objects()))
	}
	slices.Sort(now)
	digest := string(schemas.DigestOf(now))
	note, err := o.store.Note(clonesNote)
	if err != nil || note == digest {
		return err
	}
	if err := p.tryAgain(ctx, o, "the clone has other objects now", schemas.MissingBlob); err != nil {
		return err
	}
	return o.store.SetNote(ctx, clonesNote, digest)
}

// sameMachine refuses a worker on a machine that differs from the one that began the
// run: a recipe that is made on one could not be built on the other.
func (p *program) sameMachine(ctx context.Context, c *config.Config, o *opened) error {
	note, there, here, err := p.inventory(ctx, c, o)
	if err != nil || note == "" {
		return err
	}
	if len(inventory.Differences(there, here, toolchainNames(c))) == 0 {
		return nil // nothing is fetched to ask who needs what
	}
	if differ := inventory.Differences(there, here, p.toolchainsAsked(ctx, c, o, true)); len(differ) > 0 {
		return unmet("this machine differs from the one that began the run (%s): what is made on one cannot be built on the other; make them the same, or begin the run here", strings.Join(differ, "; "))
	}
	return nil
}
