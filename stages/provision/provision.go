// Package provision builds the env layer of a key once, and tries and repairs the recipe
// of each start that has the key by itself: a repair belongs to the start that needs it,
// and gives that start a recipe, and so a key, of its own.
//
// It never decides whether a task is valid: a test that fails is no failure here,
// a suite of which nothing runs is. No start sees the recipe, the log or the repairs of
// another one.
package provision

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
const Version = "11"

// Timeout bounds a step: each attempt makes a lock, and tries the environment on two layers.
func Timeout(l sandbox.Limits) time.Duration {
	command := l.Filled().Timeout
	lock := ends.Timeout + environment.Attempts*command
	return lock + environment.Attempts*(lock+3*command)
}

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

// Built is what those of one key share: that their env layer was tried to be made. It
// holds nothing of the start that was at hand, for none of the others may have it.
type Built struct {
	Layer bool `json:"layer"` // false where its set-up fails, which each start repairs for itself
}

// Build makes the env layer of a key, before those who need it take places.
func (p *Provisioner) Build(ctx context.Context, r schemas.Resolved) (Built, error) {
	pipeline.Doing(ctx, "looking for its environment")
	_, err := p.builder.Env(ctx, r.Recipe)
	err = ends.Of(err, schemas.NoBuild)
	if errors.As(err, new(*pipeline.Rejected)) {
		return Built{}, nil
	}
	return Built{Layer: err == nil}, err
}

// Run tries the recipe of a start on its solution, and repairs it a bounded number of times.
func (p *Provisioner) Run(ctx context.Context, r schemas.Resolved, _ Built) (schemas.Provisioned, error) {
	pipeline.Doing(ctx, "making the trees")
	start, err := p.starts.Start(r.StartID)
	if err != nil {
		return schemas.Provisioned{}, err
	}
	env, err := p.environment(ctx, r, start)
	return schemas.Provisioned{StartID: r.StartID, Start: r.Start, Environment: env, WantsSuite: start.WantsSuite()}, err
}

func (p *Provisioner) environment(ctx context.Context, r schemas.Resolved, start schemas.Start) (schemas.Environment, error) {
	none := schemas.Environment{}
	project, err := p.projects.Of(ctx, start)
	if err != nil {
		return none, ends.Of(err, schemas.NoToolchain)
	}
	recipe := r.Recipe
	var loop environment.Loop
	for {
		log, err := p.try(ctx, project, start, recipe, project.TestPaths)
		if err == nil {
			key, err := p.builder.Key(ctx, recipe)
			return schemas.Environment{Key: key, Recipe: recipe, Sandbox: p.sandbox, Host: p.sandbox == "bwrap"}, err
		}
		var rejected *pipeline.Rejected
		if !errors.As(err, &rejected) || rejected.Reason == schemas.Submodule {
			return none, err
		}
		var by environment.Repairer = p.builder
		if rejected.Reason == schemas.NoRunner && len(project.TestPaths) > 0 {
			by = environment.FailureTable(p.builder.Languages) // the suite is tried before others are asked
		}
		repaired, ok, err := loop.Repair(ctx, by, project, recipe, log)
		if err != nil {
			return none, err
		}
		if !ok && rejected.Reason == schemas.NoRunner && len(project.TestPaths) > 0 {
			// The changed tests may fail for reasons of their own; an environment in which
			// the rest of the suite runs is sound.
			project.TestPaths = nil
			continue
		}
		if !ok {
			return none, ends.For(pipeline.Reject(rejected.Reason, "%s: %w", loop.History(recipe), rejected.Err), recipe)
		}
		if repaired.Lock == "" {
			if repaired, err = p.builder.Lock(ctx, project, repaired); err != nil {
				return none, ends.For(ends.Of(err, schemas.Unresolvable), repaired)
			}
		}
		recipe = repaired
	}
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
	seen, err := environment.Visible(r, solution)
	if err != nil {
		return nil, fmt.Errorf("taking the suite out of the solution: %w", err)
	}
	files, err := seal.Files(seen, s.BaseDate)
	if err != nil {
		return nil, fmt.Errorf("sealing the solution: %w", err)
	}
	pipeline.Doing(ctx, "building the solution")
	layer, err := p.builder.State(ctx, env, r, files)
	if err != nil {
		return buildLog(err), ends.Of(err, schemas.NoBuild)
	}
	defer func() { _ = p.builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }() // the trial's layer is no state of a proof
	if len(paths) > 0 {
		pipeline.Doing(ctx, "trying the environment with the changed tests")
	} else {
		pipeline.Doing(ctx, "trying the environment with the suite")
	}
	report, log, err := p.run(ctx, layer, solution, r, paths)
	if errors.Is(err, errOverLimit) || errors.Is(err, errTampered) {
		return log, nil // a property of this item, which its own proof will find; others share the environment
	}
	if err != nil {
		return nil, err
	}
	if !anyPassed(report) {
		if what, ok := environment.Lacking(solution, report, log); ok {
			return log, pipeline.Reject(schemas.Submodule, "%s: %s", what, summary(report, log))
		}
		return log, pipeline.Reject(schemas.NoRunner, "no test passes in the solution: %s", summary(report, log))
	}
	return log, nil
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

func buildLog(err error) []byte {
	var build *sandbox.BuildError
	if errors.As(err, &build) {
		return build.Result.Output
	}
	return nil
}
