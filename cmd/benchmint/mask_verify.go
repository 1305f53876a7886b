package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// maskProof is what mask --verify asks for.
type maskProof struct {
	wanted            bool
	python, classpath string

	machine verify.Machine
	box     sandbox.Sandbox
	close   func() error
	limits  sandbox.Limits
	sources map[string]verify.Report
}

// open finds what cannot be met before anything is written. Strangers' code runs
// in bubblewrap, which shows the toolchains of this machine, or not at all.
func (proof *maskProof) open(ctx context.Context, p *program) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	proof.limits, proof.sources = c.Sandbox.Limits(), map[string]verify.Report{}
	proof.machine = verify.Machine{Env: p.environ}
	if proof.python != "" {
		if proof.machine.Python, err = exec.LookPath(proof.python); err != nil {
			return unmet("--python: %w", err)
		}
		if proof.machine.Python, err = filepath.Abs(proof.machine.Python); err != nil {
			return err
		}
		if _, err := (python.Masker{}).Toolchain(ctx, proof.machine); err != nil {
			return unmet("--python: %w", err)
		}
	}
	for _, jar := range filepath.SplitList(proof.classpath) {
		if _, err := os.Stat(jar); err != nil {
			return unmet("--classpath: %w", err)
		}
		if jar, err = filepath.Abs(jar); err != nil {
			return err
		}
		proof.machine.Classpath = append(proof.machine.Classpath, jar)
	}
	if proof.box, proof.close, err = p.openSandbox(ctx, config.Bwrap, c); err != nil {
		return unmet("--verify runs the code of the tree, in bubblewrap only: %w\nsee benchmint doctor --sandbox bwrap for what is missing and the command that gets it", err)
	}
	return nil
}

func (proof *maskProof) run(ctx context.Context, o mask.Options, r *mask.Result) ([]verify.Result, error) {
	m, err := mask.ReadManifest(r.Manifest)
	if err != nil {
		return nil, err
	}
	return verify.Run(ctx, verify.Options{
		Source: o.Source, Starter: r.Output, Manifest: m, Languages: o.Languages,
		Machine: proof.machine, Sandbox: proof.box, Limits: proof.limits, Sources: proof.sources,
	})
}

func isFaulty(r verify.Result) bool { return r.State == verify.Faulty }

// How many faults are shown of the starter, and of what is in the source too.
const (
	fewFaults   = 20
	fewOfSource = 3
)

func printProof(t *printer, results []verify.Result) error {
	if len(results) == 0 {
		t.line("nothing to verify: no file was changed")
	}
	for _, r := range results {
		color := map[verify.State]string{verify.OK: green, verify.Faulty: red, verify.Untold: yellow, verify.Skipped: yellow}[r.State]
		said := []string{}
		if r.Units > 0 {
			said = append(said, fmt.Sprintf("%d of %d %s hold in both", r.Held, r.Units, r.Of))
		}
		if r.Reason != "" {
			said = append(said, visible(r.Reason))
		}
		what := strings.TrimSpace(r.Check + "  " + r.Tool)
		t.line("%s  %-10s  %-32s  %s", t.in(color, fmt.Sprintf("%-11s", r.State)), r.Language, what, strings.Join(said, "; "))
		t.faults("    ", r.Faults, fewFaults)
		if len(r.Source) > 0 {
			t.line("    these fail in the source too, so they prove nothing:")
		}
		t.faults("      ", r.Source, fewOfSource)
	}
	return t.err
}

// faults shows one message once: what many modules import fails in each of them.
func (t *printer) faults(indent string, all []verify.Fault, few int) {
	all = verify.Grouped(all)
	for _, f := range all[:min(few, len(all))] {
		t.line("%s%s", indent, visible(f.String()))
	}
	if more := len(all) - few; more > 0 {
		t.line("%sand %d more (--json has all)", indent, more)
	}
}
