package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	shifted "github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// The states of a finding. weaker: it works, and something of the design is not
// kept; a run that needs it is refused.
const (
	stateOK      = "ok"
	stateMissing = "missing"
	stateWeaker  = "weaker"
	stateWrong   = "wrong" // what should never be
)

// finding is one thing that this machine has or lacks.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	// Needed: a run with this configuration cannot do without it.
	Needed bool   `json:"needed"`
	Why    string `json:"why,omitempty"` // what it does, as the end of "it …"
	Get    string `json:"get,omitempty"` // the command that gets it
	// language is the one that builds with it, where it is a toolchain.
	language string
	// short is the full disk for which a sandbox does not open.
	short *sandbox.ShortageError
}

func newDoctor(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "show what this machine lacks and the command that installs it", Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			all := p.machine(c).diagnose(cmd.Context())
			if p.json {
				err = p.writeJSON(all)
			} else {
				err = printFindings(p.out(), all)
			}
			if err == nil && !healthy(all) {
				err = &ended{code: exitFailed}
			}
			return err
		},
	}
	p.override(cmd, "sandbox", "sandbox.kind", "look for `KIND` only: docker or bwrap")
	return cmd
}

// healthy: nothing that a run here needs is missing, and nothing is wrong.
func healthy(all []finding) bool {
	for _, f := range all {
		if f.State == stateWrong || f.State == stateMissing && f.Needed {
			return false
		}
	}
	return true
}

const sandboxPrefix = "sandbox "

// stateWords are the states as they are printed. What is missing and not needed is no
// fault, and does not look like one.
var stateWords = map[string]string{stateOK: "OK", stateMissing: "missing", stateWeaker: "weaker", stateWrong: "wrong"}

func printFindings(t *printer, all []finding) error {
	for _, f := range all {
		color := map[string]string{stateOK: green, stateMissing: red, stateWeaker: yellow, stateWrong: red}[f.State]
		word := stateWords[f.State]
		if f.State == stateMissing && !f.Needed {
			word, color = "absent", ""
		}
		t.line("%s  %-22s %s", t.in(color, fmt.Sprintf("%-7s", word)), f.Name, visible(f.Detail))
		if f.Get != "" && f.State != stateOK {
			t.line("         %-22s → %s", "", f.Get)
		}
	}
	if healthy(all) {
		t.line("a run here has what it needs")
	} else {
		t.line("a run here needs what is missing or wrong")
	}
	return t.err
}

// diagnose looks at all that a run with this configuration needs, as the run itself
// does, and at what is good to know beside it.
func (m machine) diagnose(ctx context.Context) []finding {
	s := localSources(ctx, m.config)
	asks := m.askers(s, false)
	out, _ := m.needs(ctx, job{builds: true, kind: m.config.Sandbox.Kind, survey: true, asks: asks})
	if err := s.Close(); err != nil {
		out = append(out, finding{Name: "sources", State: stateWeaker, Detail: err.Error()})
	}
	out = m.withVersions(ctx, out)
	for i, f := range out {
		if f.Name == sandboxPrefix+config.Docker && f.State != stateMissing && m.config.Sandbox.Image == "" {
			out = slices.Insert(out, i+1, checkDebootstrap())
			break
		}
	}
	if m.config.Makes(schemas.KindLibrary) {
		out = append(out, checkChromium(ctx))
	}
	if f := checkCompiler("/usr/bin"); f.State != stateOK && m.config.Sandbox.Kind != config.Docker { // whose base has one
		out = append(out, f)
	}
	out = append(out, checkDisk("store", m.config.Store), checkDisk("cache", m.cache))
	if store.Exists(m.config.Store) {
		out = append(out, m.checkStore(ctx))
	}
	return out
}

// checkCompiler looks for what shifts the clock of Python's tests, in the folder that bubblewrap shows.
func checkCompiler(dir string) finding {
	for _, name := range shifted.Compilers() {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return finding{Name: "C compiler", State: stateOK, Detail: filepath.Join(dir, name)}
		}
	}
	return finding{
		Name: "C compiler", State: stateMissing, Detail: "not found in " + dir + ": Python rows keep tests that pass only until a certain day (clock.not_shifted)",
		Why: "shifts the clock of a proof", Get: "apt-get install " + shifted.Package,
	}
}

// localSources looks up the configured sources that lie on this machine. Nothing is
// fetched, and what cannot be opened is for the run to tell.
func localSources(ctx context.Context, c *config.Config) *sources.Set {
	s := sources.New(c, makers{c})
	for _, src := range c.Sources {
		if config.IsURL(src.Git) {
			continue
		}
		o, err := gitrepo.Look(ctx, src.Git, src.Name, "")
		if err == nil {
			s.AddLocal(src.Git, o) // two of one name: the run says so
		}
	}
	return s
}

// describer says by what means a sandbox keeps its rules here.
type describer interface{ Describe() sandbox.Means }

// checkDebootstrap: what the base image is made with, the first time.
func checkDebootstrap() finding {
	f := finding{Name: "debootstrap", State: stateOK, Get: "apt-get install debootstrap, or set sandbox.image to an image based on Debian"}
	path, err := exec.LookPath("debootstrap")
	f.Detail = path
	switch {
	case err != nil:
		f.State, f.Detail = stateWeaker, "not installed: the base image of docker cannot be made"
	case os.Geteuid() != 0:
		f.State, f.Detail, f.Get = stateWeaker, path+" needs root: the base image of docker is made by root, once", "sudo benchmint env base --sandbox docker"
	}
	return f
}

// withVersions puts the versions that languages can choose from into their findings, a
// registry's included, and beside them what this program brings for a language. It reads
// a file or asks a registry, which a run does only when it comes to that.
func (m machine) withVersions(ctx context.Context, found []finding) []finding {
	tools := m.toolchains()
	var out []finding
	for _, f := range found {
		if f.State != stateOK || f.language == "" {
			out = append(out, f)
			continue
		}
		had, err := tools.Available(ctx, f.Name)
		if versions := newest(had, f.Name); len(versions) > 0 {
			f.Detail = summarize(versions)
		}
		if err != nil {
			f.Detail += "; " + err.Error()
		}
		out = append(out, f)
		for _, name := range plugins.Languages()[f.language].Toolchains() {
			b, ok := tools.Brought(name)
			if !ok {
				continue
			}
			if !b.AtHand {
				b.Version += ", which a run fetches when it first needs it"
			}
			out = append(out, finding{Name: name, State: stateOK, Detail: b.Version})
		}
	}
	return out
}

// newest lists one name's versions, the newest first; all is oldest first.
func newest(all []lang.ToolchainRelease, name string) []string {
	var out []string
	for _, t := range slices.Backward(all) {
		if t.Name == name {
			out = append(out, t.Version)
		}
	}
	return out
}

// summarize keeps a list of versions readable: the newest few, and how many more.
func summarize(versions []string) string {
	const few = 12
	if len(versions) <= few {
		return strings.Join(versions, " ")
	}
	return strings.Join(versions[:few], " ") + fmt.Sprintf(" and %d more", len(versions)-few)
}

// checkStore counts the steps of the store, and holds that against the tallies that
// it keeps of them: status and the end of a run believe those.
func (m machine) checkStore(ctx context.Context) finding {
	f := finding{Name: "store", State: stateMissing, Needed: true}
	s, err := m.openStore(ctx, m.config)
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.State, f.Detail, err = recount(ctx, s)
	if err = errors.Join(err, s.Close()); err != nil {
		f.State, f.Detail = stateWrong, err.Error()
	}
	if f.State == stateWrong {
		f.Get = "keep a copy and report it, then another --store"
	}
	return f
}

// recount believes a difference only where no run writes at the same time.
func recount(ctx context.Context, s *store.Store) (state, detail string, err error) {
	bad, err := s.Recount(ctx)
	if err == nil && len(bad) > 0 {
		if err = s.Lock(); errors.Is(err, store.ErrLocked) {
			return stateOK, "a run works on it: the tallies cannot be counted again now", nil
		}
		if err == nil {
			bad, err = s.Recount(ctx)
		}
	}
	tallies, tallyErr := s.Tallies(ctx)
	if err = errors.Join(err, tallyErr); err != nil {
		return stateWrong, "", err
	}
	if len(bad) > 0 {
		t := bad[0].Tallied
		if t.Stage == "" {
			t = bad[0].Counted
		}
		return stateWrong, fmt.Sprintf("%s of the tally off, as %s %s: %d in the tally, %d counted", plural(len(bad), "line"), t.Stage, t.State, bad[0].Tallied.N, bad[0].Counted.N), nil
	}
	n := 0
	for _, t := range tallies {
		n += t.N
	}
	return stateOK, plural(n, "step") + " counted, as the tallies say", nil
}

// leastDisk is what one environment with its layers may take.
const leastDisk = 10 << 30

func checkDisk(what, dir string) finding {
	f := finding{Name: "disk of the " + what, State: stateOK, Needed: true}
	free, err := freeDisk(dir)
	switch {
	case err != nil:
		f.State, f.Detail = stateMissing, err.Error()
	case free < leastDisk:
		f.State, f.Get = stateWeaker, "benchmint clean"
	}
	if err == nil {
		f.Detail = fmt.Sprintf("%.1f GiB free at %s", float64(free)/(1<<30), dir)
	}
	return f
}

// freeDisk asks the nearest folder that exists: the store may not be there yet.
func freeDisk(dir string) (int64, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		} else if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return 0, err
		}
		dir = filepath.Dir(dir)
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("asking for the free disk of %s: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
