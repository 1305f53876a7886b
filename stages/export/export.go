// Package export writes what is done as a dataset, and every other end as a line
// of rejects.jsonl. It reads the store; it never proves, changes or leaves out
// an item by itself.
package export

import (
	"context"
	"fmt"
	"iter"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	pipeline "github.com/benchmint/benchmint/oldpipeline"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Config is where a dataset goes and what it is called.
type Config struct {
	Name          string
	Dir           string
	Configuration any // effective, without what names this machine
}

// Records joins what the stages left.
type Records interface {
	Change(id string) (schemas.Change, error)
	Start(id string) (schemas.Start, error)
	Provisioned(id string) (schemas.Provisioned, error)
	Step(stage, id string) (schemas.Step, bool, error)
}

// Repos reads base trees and the release that a base stands after.
type Repos interface {
	Tree(ctx context.Context, repo, id string) (*tree.Tree, error)
	Describe(ctx context.Context, repo, commit string) (lang.Version, error)
}

// Outside is what the exporter reads.
type Outside struct {
	Records   Records
	Repos     Repos
	Blobs     *blob.Store
	Languages map[string]lang.Language
	Tools     map[string]string
	Stages    []string // whose steps are the provenance of a row, in order
	Proved    string   // the one of them that made the proof
}

// Exporter writes one dataset.
type Exporter struct {
	Config
	Outside
}

// New makes an exporter.
func New(c Config, o Outside) *Exporter { return &Exporter{c, o} }

// Run writes the dataset, whole or not at all.
func (e *Exporter) Run(ctx context.Context, proofs iter.Seq2[schemas.Proof, error], ended pipeline.Ended) error {
	in := output.Input{Name: e.Name, Configuration: e.Configuration, Tools: e.Tools}
	for proof, err := range proofs {
		if err != nil {
			return err
		}
		task, timings, err := e.task(ctx, proof)
		if err != nil {
			return fmt.Errorf("joining %s: %w", proof.ID(), err)
		}
		in.Tasks = append(in.Tasks, task)
		in.Timings = append(in.Timings, timings...)
	}
	for _, s := range ended.Steps {
		in.Rejects = append(in.Rejects, e.reject(s))
	}
	for _, c := range ended.Funnel[:len(ended.Funnel)-1] { // the last one is this stage, which is not over
		in.Funnel = append(in.Funnel, output.Funnel{Stage: c.Stage, Done: c.Done, Rejected: c.Rejected, Deferred: c.Deferred, Failed: c.Failed})
	}
	_, err := output.Write(e.Dir, in)
	return err
}

func (e *Exporter) task(ctx context.Context, proof schemas.Proof) (output.Task, []output.Timing, error) {
	id := proof.ID()
	t := output.Task{Proof: proof}
	var err error
	if t.Change, err = e.Records.Change(id); err != nil {
		return t, nil, err
	}
	t.Repo = schemas.Repo{Name: t.Change.Repo, Root: t.Change.RepoRoot, Licence: t.Change.Licence}
	if t.Start, err = e.Records.Start(id); err != nil {
		return t, nil, err
	}
	provisioned, err := e.Records.Provisioned(id)
	if err != nil {
		return t, nil, err
	}
	t.Environment = provisioned.Environment
	if t.Patch, err = e.Blobs.Get(t.Start.Patch); err != nil {
		return t, nil, err
	}
	if t.TestPatch, err = e.Blobs.Get(t.Start.TestPatch); err != nil {
		return t, nil, err
	}
	version, err := e.Repos.Describe(ctx, t.Start.Repo, t.Start.Base)
	if err != nil {
		return t, nil, err
	}
	t.Version = version.Tag
	t.Base = func() (*tree.Tree, error) { return e.Repos.Tree(ctx, t.Start.Repo, t.Start.BaseTree) }
	if err := e.render(ctx, &t); err != nil {
		return t, nil, err
	}
	timings, err := e.provenance(&t)
	return t, timings, err
}

// render asks the language for the commands that Dockerfile and run script show.
func (e *Exporter) render(ctx context.Context, t *output.Task) error {
	l := e.Languages[t.Start.Language]
	var err error
	if t.Setup, err = l.Setup(t.Environment.Recipe); err != nil {
		return fmt.Errorf("rendering the set-up: %w", err)
	}
	solution, err := e.Repos.Tree(ctx, t.Start.Repo, t.Start.SolutionTree)
	if err != nil {
		return err
	}
	t.Runs = l.Runs(t.Environment.Recipe, solution, lang.Select{Number: 1, Nonce: rendered})
	return nil
}

// rendered marks the records of runs that a person makes from a dataset: equal
// datasets have equal bytes, so it cannot be random.
const rendered = "rendered"

// provenance names the stages that made the row, and collects their times.
func (e *Exporter) provenance(t *output.Task) ([]output.Timing, error) {
	var timings []output.Timing
	for _, stage := range e.Stages {
		s, ok, err := e.Records.Step(stage, t.ID())
		if err != nil {
			return nil, err
		}
		if !ok || len(s.Outputs) != 1 {
			continue
		}
		digest := s.Outputs[0].Digest
		if stage == e.Proved { // its record names logs, which hold times
			digest = schemas.DigestOf(t.Proof.Stable())
		}
		t.Provenance = append(t.Provenance, output.Provenance{Stage: stage, Fingerprint: s.Fingerprint, Output: digest})
		timings = append(timings, output.Timing{InstanceID: t.ID(), Stage: stage, MS: s.MS})
	}
	return timings, nil
}

func (e *Exporter) reject(s schemas.Step) output.Reject {
	r := output.Reject{InstanceID: s.Key, End: s.State, Stage: s.Stage, Reason: s.Reason, Detail: s.Detail}
	if c, err := e.Records.Change(s.Key); err == nil { // a source that ended in crawl has no change
		r.Repo, r.Commit = c.Repo, c.Commit
	}
	return r
}
