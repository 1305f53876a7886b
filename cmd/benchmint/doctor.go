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

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/toolchain"
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
	Get    string `json:"get,omitempty"` // the command that gets it
}

func newDoctor(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "what this machine lacks, and the command that gets it", Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			all := p.diagnose(cmd.Context(), c)
			if p.json {
				err = p.writeJSON(all)
			} else {
				err = p.printFindings(all)
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

// healthy: everything that every run needs is there, and one sandbox works.
func healthy(all []finding) bool {
	sandboxes, working := 0, 0
	for _, f := range all {
		switch {
		case strings.HasPrefix(f.Name, sandboxPrefix):
			sandboxes++
			if f.State != stateMissing {
				working++
			}
		case f.State == stateMissing, f.State == stateWrong:
			return false
		}
	}
	return sandboxes == 0 || working > 0
}

const sandboxPrefix = "sandbox "

func (p *program) printFindings(all []finding) error {
	t := p.out()
	for _, f := range all {
		color := map[string]string{stateOK: green, stateMissing: red, stateWeaker: yellow, stateWrong: red}[f.State]
		word := fmt.Sprintf("%-7s", map[string]string{stateOK: "OK", stateMissing: "missing", stateWeaker: "weaker", stateWrong: "wrong"}[f.State])
		t.line("%s  %-22s %s", t.in(color, word), f.Name, visible(f.Detail))
		if f.Get != "" && f.State != stateOK {
			t.line("         %-22s → %s", "", f.Get)
		}
	}
	return t.err
}

func (p *program) diagnose(ctx context.Context, c *config.Config) []finding {
	out := []finding{p.checkGit(ctx)}
	kinds := []string{config.Docker, config.Bwrap}
	if c.Sandbox.Kind != "" {
		kinds = []string{c.Sandbox.Kind}
	}
	for _, kind := range kinds {
		f := p.checkSandbox(ctx, kind, c)
		out = append(out, f)
		if kind == config.Docker && f.State != stateMissing && c.Sandbox.Image == "" {
			out = append(out, checkDebootstrap())
		}
	}
	out = append(out, p.checkToolchains(ctx, c)...)
	out = append(out, p.checkCABundle(c), checkDisk("store", folderOf(c)), checkDisk("cache", p.cache))
	if store.Exists(c.Store) {
		out = append(out, p.checkStore(ctx, c))
	}
	return out
}

// checkGit: trees and history are read by git itself.
func (p *program) checkGit(ctx context.Context) finding {
	f := finding{Name: "git", State: stateMissing, Get: "apt-get install git"}
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.State, f.Detail = stateOK, strings.TrimSpace(string(out))
	return f
}

// describer says by what means a sandbox keeps its rules here.
type describer interface{ Describe() string }

// checkSandbox opens the sandbox as a run does: what it finds is what a run meets.
func (p *program) checkSandbox(ctx context.Context, kind string, c *config.Config) finding {
	f := finding{Name: sandboxPrefix + kind, State: stateMissing}
	box, closer, err := p.openSandbox(ctx, kind, c)
	var refused *sandbox.Refused
	switch {
	case errors.As(err, &refused):
		f.Detail, f.Get = "rule on "+refused.Rule+": "+refused.Why, refused.Get
		return f
	case err != nil:
		f.Detail = err.Error()
		return f
	}
	f.State, f.Detail = stateOK, "works"
	if d, ok := box.(describer); ok {
		f.Detail = d.Describe()
	}
	// A watchdog looks every few milliseconds; the kernel's limit holds at every page.
	if strings.Contains(f.Detail, "memory: watchdog") {
		f.State, f.Get = stateWeaker, "systemd-run --user --scope -p Delegate=yes benchmint run …, or run as root"
	}
	if err := closer(); err != nil {
		f.State, f.Detail = stateWeaker, err.Error()
	}
	return f
}

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

// checkToolchains says which interpreters and compilers the languages can choose from.
func (p *program) checkToolchains(ctx context.Context, c *config.Config) []finding {
	store := p.toolchains(c)
	var out []finding
	names := append([]string{}, c.Filters.Languages...)
	for _, l := range c.Filters.Languages {
		if l == toolchain.Python {
			names = append(names, toolchain.UV)
		}
	}
	for _, name := range names {
		all, err := store.Available(ctx, name)
		versions := newest(all, name)
		f := finding{Name: name, State: stateOK, Detail: summarize(versions), Get: getToolchain[name]}
		if len(versions) == 0 {
			f.State, f.Detail = stateMissing, "none found"
			if err != nil {
				f.Detail += ": " + err.Error()
			}
		}
		out = append(out, f)
	}
	return out
}

var getToolchain = map[string]string{
	toolchain.Python: "apt-get install python3 python3-venv, or pyenv install 3.12",
	toolchain.Go:     "set GOPROXY to a proxy that answers, or install Go under /usr/local/go",
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

func (p *program) checkCABundle(c *config.Config) finding {
	f := finding{Name: "CA bundle", State: stateOK, Detail: p.caBundle(c.Build.CABundle), Get: "apt-get install ca-certificates"}
	if f.Detail == "" {
		f.State, f.Detail = stateMissing, "no bundle of trusted certificates in the usual places"
	}
	return f
}

// checkStore counts the steps of the store, and holds that against the tallies that
// it keeps of them: status and the end of a run believe those.
func (p *program) checkStore(ctx context.Context, c *config.Config) finding {
	f := finding{Name: "store", State: stateMissing}
	s, err := p.openStore(ctx, c)
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.State, f.Detail, err = p.recount(ctx, s)
	if err = errors.Join(err, s.Close()); err != nil {
		f.State, f.Detail = stateWrong, err.Error()
	}
	if f.State == stateWrong {
		f.Get = "keep a copy and report it, then another --store"
	}
	return f
}

// recount believes a difference only where no run writes at the same time.
func (p *program) recount(ctx context.Context, s *store.Store) (state, detail string, err error) {
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
	f := finding{Name: "disk of the " + what, State: stateOK}
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
