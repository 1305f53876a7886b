// Package verify holds a starter against its source: both are compiled, imported or
// checked in the same way, and what fails in the starter only is a fault of the mask.
//
// It never writes into either of them, never runs anything outside of the sandbox but
// the question where a toolchain lies, and never takes what could not be tried for
// what held.
package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Language is a mask.Language whose trees can be tried; siblings stand in
// internal/lang/<language>/mask_verify.go.
type Language interface {
	mask.Language
	// Toolchain looks for what the language is tried with on this machine. *Missing.
	Toolchain(ctx context.Context, m Machine) (*Kit, error)
	// Checks are what is run, the same on both trees. An error says why this source
	// cannot be tried.
	Checks(t *Tree, k *Kit) ([]Check, error)
}

// Missing is a toolchain that this machine does not have.
type Missing struct{ Name string }

func (m *Missing) Error() string { return "no " + m.Name + " found" }

// Check is one command.
type Check struct {
	What    string // of what kind it is, as it is shown: import, cargo check
	Of      string // what its units are: modules, files
	Command schemas.Command
	Inputs  []sandbox.File // under sandbox.RunPath
	// Whole: what is said of a unit ends with its first faults, so that one that fails
	// in the source tells nothing, however it fails in the starter. Else what counts is
	// each message.
	Whole bool
	Read  func(Said) Report
}

// ReportPath is where a command may leave what it found, beside what it prints.
const ReportPath = sandbox.RunPath + "/report"

// Said is all that a command said.
type Said struct {
	Code   int
	Output []byte // standard output and error as they came
	Report []byte // ReportPath
}

// Report is what a command says of one tree.
type Report struct {
	Units  []string // what was tried: packages, modules, files
	Faults []Fault
	Untold string      // why it says nothing of this tree
	Lacks  string      // what it had to do without, so that it says less than it might
	Ran    []mask.Seen // what ran, where that was looked at
}

// Fault is one message. A fault without a unit fails none of them.
type Fault struct {
	Unit    string `json:"unit,omitempty"`
	Path    string `json:"path,omitempty"` // with slashes, from the root of the tree
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// String is path:line: unit: message, without what is not known or said already.
func (f Fault) String() string {
	parts := []string{}
	switch {
	case f.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d", f.Path, f.Line))
	case f.Path != "":
		parts = append(parts, f.Path)
	}
	if f.Unit != "" && f.Unit != f.Path {
		parts = append(parts, f.Unit)
	}
	return strings.Join(append(parts, f.Message), ": ")
}

// State is how a check ended.
type State string

// The states.
const (
	OK      State = "ok"          // nothing new fails, and something was tried that holds in the source
	Faulty  State = "faults"      // something fails in the starter only
	Untold  State = "cannot tell" // the source fails itself, or the check could not be run
	Skipped State = "skipped"     // no toolchain, or no check for this language
)

// Result is one check of one language.
type Result struct {
	Language string  `json:"language"`
	Check    string  `json:"check,omitempty"`
	Tool     string  `json:"tool,omitempty"`
	Of       string  `json:"of,omitempty"` // what the units are
	State    State   `json:"state"`
	Reason   string  `json:"reason,omitempty"`
	Units    int     `json:"units"` // tried
	Held     int     `json:"held"`  // hold in both trees
	Faults   []Fault `json:"faults"`
	Source   []Fault `json:"source"` // of the source: what they touch cannot be told
	// Ran is what ran while the source was loaded, where that was looked at.
	Ran []mask.Seen `json:"-"`
}

// Options say what is held against what, and with what.
type Options struct {
	Source, Starter string
	Manifest        *mask.Manifest
	Languages       []mask.Language
	Machine         Machine
	Sandbox         sandbox.Sandbox
	Limits          sandbox.Limits // of each command
	// Sources, where it is not nil, keeps what was said of the source for further starters of it.
	Sources map[string]Report
}

// Run tries every language of which a file was changed. A fault is a Result, not an
// error: an error is one of the machine.
func Run(ctx context.Context, o Options) (results []Result, err error) {
	r := &run{Options: o}
	plans, results, err := r.plan(ctx)
	if err != nil || len(plans) == 0 {
		return results, err
	}
	defer func() { err = errors.Join(err, r.close(context.WithoutCancel(ctx))) }()
	if err := r.prepare(ctx, plans); err != nil {
		return nil, err
	}
	for _, p := range plans {
		for _, c := range p.checks {
			result, err := r.compare(ctx, p, c)
			if err != nil {
				return nil, err
			}
			result.Language, result.Check, result.Of, result.Tool = p.language, c.What, c.Of, p.kit.Label
			results = append(results, result)
		}
	}
	return results, nil
}

// plan is a language that can be tried here.
type plan struct {
	language string
	kit      *Kit
	checks   []Check
}

// run is one verification.
type run struct {
	Options
	layers          []sandbox.Layer // to be removed
	base            sandbox.Layer   // the toolchains, and nothing of a tree
	source, starter sandbox.Layer
}

// plan finds the toolchains of the languages that were masked. Results are those of
// which the end is known without a try.
func (r *run) plan(ctx context.Context) (plans []plan, results []Result, err error) {
	for _, l := range r.Languages {
		t := NewTree(r.Source, r.Manifest, l.Name())
		if len(t.Changed) == 0 {
			continue
		}
		end := Result{Language: l.Name(), State: Skipped, Faults: []Fault{}, Source: []Fault{}}
		v, ok := l.(Language)
		if !ok {
			end.Reason = "the starter parses; there is no further check for this language"
			results = append(results, end)
			continue
		}
		kit, err := v.Toolchain(ctx, r.Machine)
		var checks []Check
		if err == nil {
			end.Tool = kit.Label
			checks, err = v.Checks(t, kit)
		}
		if missing := new(Missing); err != nil {
			end.Reason = err.Error()
			if !errors.As(err, &missing) {
				end.State = Untold
			}
			results = append(results, end)
			continue
		}
		plans = append(plans, plan{l.Name(), kit, checks})
	}
	return plans, results, ctx.Err()
}

// compare runs a check on the source, and where that tells anything, on the starter.
func (r *run) compare(ctx context.Context, p plan, c Check) (Result, error) {
	source, known := r.Sources[p.language+" "+c.What]
	if !known {
		var err error
		if source, err = r.try(ctx, r.source, p, c); err != nil {
			return Result{}, err
		}
		if r.Sources != nil {
			r.Sources[p.language+" "+c.What] = source
		}
	}
	if source.Untold != "" {
		return Result{State: Untold, Reason: "in the source: " + source.Untold, Faults: []Fault{}, Source: []Fault{}}, nil
	}
	starter, err := r.try(ctx, r.starter, p, c)
	if err != nil {
		return Result{}, err
	}
	out := Compare(source, starter, c.Whole)
	out.Ran = source.Ran
	return out, nil
}

// fill is the kit's, on a layer without a tree.
func (p plan) fill(base sandbox.Layer) *sandbox.Fill {
	if p.kit.Fill == nil {
		return nil
	}
	fill := *p.kit.Fill
	fill.Parent = base
	return &fill
}

// try runs a check on one tree.
func (r *run) try(ctx context.Context, layer sandbox.Layer, p plan, c Check) (Report, error) {
	_, res, err := r.Sandbox.Build(ctx, sandbox.Build{
		Parent: layer, Steps: []schemas.Command{c.Command}, Env: p.kit.Env, Caches: p.kit.Caches, Fill: p.fill(r.base), Inputs: c.Inputs,
		Collect: []string{ReportPath}, Discard: true, Limits: r.Limits,
	})
	var failed *sandbox.BuildError
	switch {
	case errors.As(err, &failed):
		res = failed.Result
	case err != nil:
		return Report{}, fmt.Errorf("%s: %w", c.What, err)
	}
	if res.End != sandbox.Exited {
		return Report{Untold: fmt.Sprintf("over the limit on %s", res.End)}, nil
	}
	return c.Read(Said{Code: res.ExitCode, Output: res.Output, Report: res.Files[ReportPath]}), nil
}
