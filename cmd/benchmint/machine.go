package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/inventory"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// job is what is about to be done, as far as that decides what it needs of this
// machine.
type job struct {
	builds bool   // environments are made and tests run
	kind   string // of sandbox; "" is the first that works
	// asks says who needs a language, as "./widget holds it", or "" where nobody does. It is
	// asked only of those that this machine lacks: reading heads costs.
	asks func(ctx context.Context, language string) string
	// known is what the store's last run found: what looks the same is not asked again.
	known inventory.Inventory
	// survey looks at all sandboxes, and opens none to keep: for doctor.
	survey bool
}

// machine is what this machine has for the work that a configuration asks for.
type machine struct {
	*terminal
	config *config.Config
}

func (p *program) machine(c *config.Config) machine { return machine{p.terminal, c} }

// needs looks for all that a job cannot do without, the parts of it that are there
// included. The workshop is nil where nothing is built, and where none can be had.
func (m machine) needs(ctx context.Context, j job) ([]finding, *workshop) {
	out := []finding{checkGit(ctx, j.survey)}
	if !j.builds {
		return out, nil
	}
	boxes, w := m.checkSandboxes(ctx, j)
	out = append(out, boxes...)
	for _, name := range m.config.Filters.Languages {
		for _, n := range plugins.Languages()[name].Needs() {
			out = append(out, j.checkToolchain(ctx, m.toolchains(), n, name))
		}
	}
	if j.survey { // of sources that nobody has named yet: a run needs one language at least
		needOne(out)
	}
	out = append(out, m.checkCABundle())
	if !j.survey && len(j.known.Toolchains) == 0 && len(lacking(out)) == 0 {
		out = append(out, m.bring(ctx, j)...)
	}
	return out, w
}

// bring fetches what this program brings for a language (uv) before the first run where
// somebody asks for the language, so that an index which does not answer is reported once,
// and not item by item. A later run may have nothing left to resolve, and fetches it when
// it comes to that.
func (m machine) bring(ctx context.Context, j job) []finding {
	tools := m.toolchains()
	for _, language := range m.config.Filters.Languages {
		for _, name := range plugins.Languages()[language].Toolchains() {
			b, ok := tools.Brought(name)
			if !ok || b.AtHand || j.asks(ctx, language) == "" {
				continue
			}
			if _, err := tools.Get(ctx, name, b.Version); err != nil {
				return []finding{{Name: name, State: stateMissing, Needed: true, Detail: err.Error(), Why: b.Why, Get: b.Get}}
			}
		}
	}
	return nil
}

// needOne: where this machine can build in no language and it is not known which one a
// source asks for, a run lacks one of them all the same.
func needOne(found []finding) {
	var none []*finding
	for i := range found {
		switch f := &found[i]; {
		case f.language == "":
		case f.State != stateMissing, f.Needed:
			return
		default:
			none = append(none, f)
		}
	}
	for _, f := range none {
		f.Needed = true
	}
}

// require opens what a job works with, or says at once everything that it lacks.
func (m machine) require(ctx context.Context, j job) (*workshop, error) {
	found, w := m.needs(ctx, j)
	if err := ctx.Err(); err != nil { // what was broken off says nothing of this machine
		return nil, errors.Join(err, w.shut())
	}
	if problems := lacking(found); len(problems) > 0 {
		return nil, errors.Join(&ended{exitUsage, problems}, w.shut())
	}
	if w == nil {
		w = &workshop{builder: idleBuilder(m.config), close: func() error { return nil }}
	}
	return w, nil
}

// lacking reports each finding that something needs and is not there: what, why, and
// the command that gets it.
func lacking(found []finding) config.Problems {
	problems := missing(found)
	if len(problems) > 0 {
		problems = append(problems, config.Problem{Text: "nothing was started; benchmint doctor looks at the whole machine"})
	}
	return problems
}

// missing is lacking for what is found while a run goes on.
func missing(found []finding) (problems config.Problems) {
	say := func(form string, args ...any) {
		problems = append(problems, config.Problem{Text: fmt.Sprintf(form, args...)})
	}
	boxes := 0
	if slices.ContainsFunc(found, func(f finding) bool { return f.Needed && f.short != nil }) {
		boxes++ // that sandbox works here, with room
	}
	for _, f := range found {
		if !f.Needed || f.State != stateMissing {
			continue
		}
		box, isBox := strings.CutPrefix(f.Name, sandboxPrefix)
		if isBox && f.short != nil {
			say("%s: %s", box, f.short)
			continue
		}
		if isBox {
			if boxes++; boxes == 1 {
				say("no sandbox works here: it %s; one of these is enough:", f.Why)
			}
			say("  %s: %s → %s", box, f.Detail, f.Get)
			continue
		}
		say("%s is missing: it %s (%s) → %s", f.Name, f.Why, f.Detail, f.Get)
	}
	return problems
}

// checkSandboxes tries the kinds in question; the first that works is the one that is
// used, and the others are then needed by nobody.
func (m machine) checkSandboxes(ctx context.Context, j job) (out []finding, w *workshop) {
	kinds := []string{config.Docker, config.Bwrap}
	if j.kind != "" {
		kinds = []string{j.kind}
	}
	for _, kind := range kinds {
		f, opened := m.checkSandbox(ctx, kind)
		out = append(out, f)
		if opened == nil {
			continue
		}
		if w == nil {
			w = opened
		} else if err := opened.close(); err != nil {
			out[len(out)-1].State, out[len(out)-1].Detail = stateWeaker, err.Error()
		}
		if !j.survey {
			break
		}
	}
	for i := range out {
		out[i].Needed = w == nil || out[i].Name == sandboxPrefix+w.kind
		if !out[i].Needed && out[i].State == stateMissing {
			out[i].Detail += "; not needed: " + w.kind + " works"
		}
	}
	if j.survey && w != nil {
		if err := w.close(); err != nil {
			out = append(out, finding{Name: sandboxPrefix + w.kind, State: stateWeaker, Detail: err.Error()})
		}
		w = nil
	}
	return out, w
}

// checkSandbox opens the sandbox as a run does: what it finds is what a run meets.
func (m machine) checkSandbox(ctx context.Context, kind string) (finding, *workshop) {
	f := finding{Name: sandboxPrefix + kind, State: stateMissing, Why: "builds environments and runs tests", Get: "benchmint doctor"}
	box, closer, err := m.openSandbox(ctx, kind, m.config)
	var refused *sandbox.Refused
	switch {
	case errors.As(err, &refused):
		f.Detail, f.Get = "rule on "+refused.Rule+": "+refused.Why, refused.Get
		return f, nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		f.short = &sandbox.ShortageError{Of: "disk", Where: m.cache, Why: err.Error(), Get: sandbox.MoreDisk, Before: true}
		f.Detail, f.Get = err.Error(), sandbox.MoreDisk
		return f, nil
	case err != nil:
		f.Detail = err.Error()
		return f, nil
	}
	f.State, f.Detail, f.Get = stateOK, "works", ""
	if d, ok := box.(describer); ok {
		means := d.Describe()
		f.Detail = means.Text
		if means.MemoryWatched {
			f.State, f.Get = stateWeaker, "systemd-run --user --scope -p Delegate=yes benchmint run …, or run as root"
		}
	}
	return f, m.newWorkshop(kind, box, closer)
}

// checkToolchain looks for what a language builds with.
func (j job) checkToolchain(ctx context.Context, tools *toolchain.Store, n lang.Need, language string) finding {
	f := finding{Name: n.Name, State: stateMissing, Why: n.Why, Get: n.Get, language: language}
	if t := j.known.Toolchains[n.Name]; len(t.Versions) > 0 && t.Sight == tools.Sight(n.Name) {
		f.State, f.Needed = stateOK, true
		return f
	}
	if where, ok := tools.Has(ctx, n.Name); ok {
		f.State, f.Detail, f.Needed = stateOK, where, true
		return f
	}
	who := j.asks(ctx, language)
	f.Needed = who != ""
	f.Detail = who
	if !f.Needed {
		f.Detail = "not found; needed only for projects in " + language
	}
	if dir := tools.Elsewhere(n.Name); dir != "" {
		f.Get = "export PATH=$PATH:" + dir
	}
	return f
}

// checkGit: trees and history are read by git itself.
func checkGit(ctx context.Context, survey bool) finding {
	f := finding{Name: "git", State: stateMissing, Needed: true, Why: "reads the sources", Get: "apt-get install git"}
	path, err := exec.LookPath("git")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	if f.State, f.Detail = stateOK, path; !survey {
		return f // the sources were read with it
	}
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	f.Detail = strings.TrimSpace(string(out))
	if err != nil {
		f.State, f.Detail = stateMissing, path+" does not run: "+err.Error()
	}
	return f
}

func (m machine) checkCABundle() finding {
	f := finding{
		Name: "CA bundle", State: stateOK, Needed: true, Detail: m.caBundle(m.config.Build.CABundle),
		Why: "proves to builds that a registry is who it says", Get: "apt-get install ca-certificates",
	}
	if f.Detail == "" {
		f.State, f.Detail = stateMissing, "no bundle of trusted certificates in the usual places"
	}
	return f
}

// lateNeeds reports what this machine lacks for a source that was fetched after the run had
// begun, by how many files of each language it ships.
func (m machine) lateNeeds(j job) func(context.Context, string, map[string]int) error {
	return func(ctx context.Context, source string, files map[string]int) error {
		own, tools := *m.config, m.toolchains()
		own.Filters.Languages = slices.DeleteFunc(slices.Clone(m.config.Filters.Languages), func(l string) bool { return files[l] == 0 })
		j.asks = func(_ context.Context, language string) string { return heldBy(source, language, files[language]) }
		var found []finding
		for _, name := range own.Filters.Languages {
			for _, n := range plugins.Languages()[name].Needs() {
				found = append(found, j.checkToolchain(ctx, tools, n, name))
			}
		}
		if len(missing(found)) == 0 && len(j.known.Toolchains) == 0 {
			found = append(found, machine{m.terminal, &own}.bring(ctx, j)...)
		}
		if problems := missing(found); len(problems) > 0 {
			return problems
		}
		return nil
	}
}

// languagesKey is the key that leaves languages out.
const languagesKey = "filters.languages"

func heldBy(source, language string, files int) string {
	return fmt.Sprintf("%s holds %s in %s; %s can leave it out", source, plural(files, "source file"), language, languagesKey)
}

// recall takes from the store the sandbox that it was begun with, else the one that is
// asked for, and what its last run found on this machine. No store is made by asking.
func (m machine) recall(ctx context.Context, j *job) (err error) {
	j.kind = wantedKind(m.config)
	if !store.Exists(m.config.Store) {
		return nil
	}
	s, err := m.openStore(ctx, m.config)
	if err != nil {
		return &ended{exitUsage, err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if j.kind, err = m.kindFor(s); err != nil {
		return err
	}
	note, err := s.Note(machineNote)
	if err == nil {
		j.known, err = inventory.Parse(note)
	}
	return err
}

// askers says who needs a language: the user who named it, or a source whose head holds
// files of it that ship, as crawl decides. Of a source that has to be fetched nobody
// knows: it is fetched to ask, or left to the crawl, which asks again.
func (m machine) askers(s *sources.Set, fetch bool) func(context.Context, string) string {
	return func(ctx context.Context, language string) string {
		if o := m.config.Origin(languagesKey); o.Layer != config.FromDefault {
			return fmt.Sprintf("%s asks for %s", o, language)
		}
		if s == nil {
			return ""
		}
		for _, src := range s.All() {
			if o := s.Origin(src.Repo.Name); o != nil && !o.Here() && !fetch {
				continue
			}
			if n := s.Shipped(ctx, src.Repo)[language]; n > 0 {
				return heldBy(src.Git, language, n)
			}
		}
		return ""
	}
}

// asksFor is a job on items whose languages are known.
func asksFor(what string, names ...string) func(context.Context, string) string {
	return func(_ context.Context, language string) string {
		if slices.Contains(names, language) {
			return what + " in " + language
		}
		return ""
	}
}
