// Package provision builds the env layer that many starts share, tries it on the
// solution of the first of them, and repairs its recipe by the failure table.
//
// It never decides whether a task is valid: a test that fails is no failure here,
// a suite of which nothing runs is.
package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is the version of this stage's rules.
const Version = "8"

// Starts finds the start that a resolved recipe belongs to.
type Starts interface {
	Start(id string) (schemas.Start, error)
}

// Provisioner builds and repairs.
type Provisioner struct {
	builder  *environment.Builder
	projects environment.Projects
	starts   Starts
	sandbox  string
	limits   sandbox.Limits
}

// New makes environments in the sandbox of the given kind.
func New(b *environment.Builder, p environment.Projects, s Starts, kind string) *Provisioner {
	return &Provisioner{builder: b, projects: p, starts: s, sandbox: kind, limits: b.Limits}
}

// Key names what is shared.
func (p *Provisioner) Key(r schemas.Resolved) string { return string(r.Key) }

// Built is what members of one key share: the environment as it came out, and
// the recipe of the member that it was asked with.
type Built struct {
	Environment schemas.Environment `json:"environment"`
	Asked       schemas.Recipe      `json:"asked"`
}

// Build makes the env layer and tries it, repairing a bounded number of times.
func (p *Provisioner) Build(ctx context.Context, r schemas.Resolved) (Built, error) {
	env, err := p.build(ctx, r)
	return Built{Environment: env, Asked: r.Recipe}, err
}

func (p *Provisioner) build(ctx context.Context, r schemas.Resolved) (schemas.Environment, error) {
	start, err := p.starts.Start(r.StartID)
	if err != nil {
		return schemas.Environment{}, err
	}
	project, err := p.projects.Of(ctx, start)
	if err != nil {
		return schemas.Environment{}, ends.Of(err, schemas.NoToolchain)
	}
	recipe := r.Recipe
	for attempt := 1; ; attempt++ {
		log, err := p.try(ctx, project, start, recipe, project.TestPaths)
		if err == nil {
			key, err := p.builder.Key(ctx, recipe)
			return schemas.Environment{Key: key, Recipe: recipe, Sandbox: p.sandbox, Host: p.sandbox == "bwrap"}, err
		}
		var rejected *pipeline.Rejected
		if !errors.As(err, &rejected) {
			return schemas.Environment{}, err
		}
		repaired, ok := recipe, false
		if attempt < environment.Attempts {
			var by environment.Repairer = p.builder
			if rejected.Reason == schemas.NoRunner && len(project.TestPaths) > 0 {
				by = environment.FailureTable(p.builder.Languages) // the suite is tried before others are asked
			}
			if repaired, ok, err = by.Repair(ctx, project, recipe, log); err != nil {
				return schemas.Environment{}, err
			}
		}
		if !ok && rejected.Reason == schemas.NoRunner && len(project.TestPaths) > 0 {
			// The changed tests may fail for reasons of their own; an environment in which
			// the rest of the suite runs is sound, and others share it.
			project.TestPaths = nil
			attempt--
			continue
		}
		if !ok {
			end := pipeline.Reject(rejected.Reason, "attempt %d, after repairs [%s]: %w", attempt, repairs(recipe), rejected.Err)
			end.Own = rejected.Own
			return schemas.Environment{}, ends.For(end, recipe)
		}
		if repaired.Lock == "" {
			if repaired, err = p.builder.Lock(ctx, project, repaired); err != nil {
				return schemas.Environment{}, ends.For(ends.Of(err, schemas.Unresolvable), repaired)
			}
		}
		recipe = repaired
	}
}

// Run joins a start to the environment that was built for its key.
func (p *Provisioner) Run(_ context.Context, r schemas.Resolved, b Built) (schemas.Provisioned, error) {
	env := b.Environment
	env.Recipe = repaired(r.Recipe, b.Asked, b.Environment.Recipe)
	return schemas.Provisioned{StartID: r.StartID, Start: r.Start, Environment: env}, nil
}

// repaired is a member's own recipe with what repairs changed in the shared one.
// Equal keys share the env layer only: the version that the project is told, its
// test command and its evidence are each member's own.
func repaired(own, asked, got schemas.Recipe) schemas.Recipe {
	if schemas.DigestOf(asked) == schemas.DigestOf(got) {
		return own
	}
	out := own
	out.Requirements, out.Lock, out.Setup, out.SystemPackages = got.Requirements, got.Lock, got.Setup, got.SystemPackages
	out.Toolchain, out.Tools, out.Pinning, out.PinDate, out.Repairs = got.Toolchain, got.Tools, got.Pinning, got.PinDate, got.Repairs
	if schemas.DigestOf(asked.Build) != schemas.DigestOf(got.Build) {
		out.Build = got.Build
	}
	if schemas.DigestOf(asked.Test) != schemas.DigestOf(got.Test) {
		out.Test = got.Test
	}
	out.Variables = maps.Clone(own.Variables)
	for name, value := range got.Variables {
		if old, ok := asked.Variables[name]; ok && old == value {
			continue
		}
		if out.Variables == nil {
			out.Variables = map[string]string{}
		}
		out.Variables[name] = value
	}
	for name := range asked.Variables {
		if _, ok := got.Variables[name]; !ok {
			delete(out.Variables, name)
		}
	}
	return out
}

// try builds env and solution, and runs the given test files (nil: the suite) once. Its log is
// what the failure table looks at when the error is a reject.
func (p *Provisioner) try(ctx context.Context, project lang.Project, s schemas.Start, r schemas.Recipe, paths []string) ([]byte, error) {
	env, err := p.builder.Env(ctx, r)
	if err != nil {
		return buildLog(err), ends.Of(err, schemas.NoBuild)
	}
	if r.Deployed() { // the rest of the environment is each tree's own, which its proof builds
		return nil, nil
	}
	solution, ok := project.Solution.(*tree.Tree)
	if !ok {
		return nil, fmt.Errorf("solution of %s is a %T", s.ID(), project.Solution)
	}
	files, err := seal.Files(solution, s.BaseDate)
	if err != nil {
		return nil, fmt.Errorf("sealing the solution: %w", err)
	}
	layer, err := p.builder.State(ctx, env, r, environment.Visible(r, files))
	if err != nil {
		return buildLog(err), own(ends.Of(err, schemas.NoBuild))
	}
	defer func() { _ = p.builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }() // the trial's layer is no state of a proof
	report, log, err := p.run(ctx, layer, solution, r, paths)
	if errors.Is(err, errOverLimit) || errors.Is(err, errTampered) {
		return log, nil // a property of this item, which its own proof will find; others share the environment
	}
	if err != nil {
		return nil, err
	}
	if !anyPassed(report) {
		return log, own(pipeline.Reject(schemas.NoRunner, "no test passes in the solution: %s", summary(report, log)))
	}
	return log, nil
}

// own marks a reject that comes from the item's tree: the env layer itself was
// built, and another item may well run in it.
func own(err error) error {
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		rejected.Own = true
	}
	return err
}

// errOverLimit is a trial that a limit of the sandbox ended, errTampered one whose
// report cannot be believed.
var (
	errOverLimit = errors.New("over a limit")
	errTampered  = errors.New("tampered")
)

func (p *Provisioner) run(ctx context.Context, layer sandbox.Layer, t *tree.Tree, r schemas.Recipe, paths []string) (testlog.Report, []byte, error) {
	runner, err := p.builder.Runner(r)
	if err != nil {
		return testlog.Report{}, nil, err
	}
	var outs []lang.Output
	var log []byte
	for _, tr := range runner.Runs(r, t, lang.Select{Paths: paths, Number: 1}) {
		res, err := p.builder.Test(ctx, layer, r, tr, p.limits)
		if err != nil {
			return testlog.Report{}, nil, fmt.Errorf("trying the environment: %w", err)
		}
		log = append(log, res.Output...)
		if res.End != sandbox.Exited {
			return testlog.Report{}, log, errOverLimit
		}
		said, _ := tr.Said(res)
		outs = append(outs, lang.Output{Run: tr, Tree: t, Report: said, Result: res})
	}
	report := runner.Parse(r, outs)
	if report.Fault != "" {
		return testlog.Report{}, nil, fmt.Errorf("trying the environment: the test session did not begin, for a fault of this machine: %s", report.Fault)
	}
	if report.Tampered != "" {
		return testlog.Report{}, log, errTampered
	}
	for _, u := range report.Units {
		log = append(log, u.Message...) // import errors are often in the report alone
		log = append(log, '\n')
	}
	return report, log, nil
}

func anyPassed(r testlog.Report) bool {
	for _, t := range r.Tests {
		if t.Status == schemas.Passed {
			return true
		}
	}
	return false
}

// summary is one line on why nothing ran.
func summary(r testlog.Report, log []byte) string {
	for _, u := range r.Units {
		if u.State != testlog.Finished && u.Message != "" {
			return u.Name + ": " + lastLine(u.Message)
		}
	}
	for _, t := range r.Tests {
		if t.Message != "" {
			return t.ID + ": " + lastLine(t.Message)
		}
	}
	return lastLine(string(log))
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func repairs(r schemas.Recipe) string {
	var names []string
	for _, x := range r.Repairs {
		names = append(names, x.Rule)
	}
	return strings.Join(names, ", ")
}

func buildLog(err error) []byte {
	var build *sandbox.BuildError
	if errors.As(err, &build) {
		return build.Result.Output
	}
	return nil
}
