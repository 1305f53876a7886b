// Package export writes what is done as a dataset, and every other end as a line
// of rejects.jsonl. It reads the store; it never proves, changes or leaves out
// an item by itself.
package export

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "4, " + secrets.RulesVersion

// Timeout bounds the writing of a dataset, of however many tasks.
const Timeout = 24 * time.Hour

// Config is where a dataset goes and what it is called.
type Config struct {
	Name          string
	Dir           string
	Configuration any // effective, without what names this machine
	// Replace lets rows go that no verdict takes away; Left is told which went.
	Replace bool
	Left    func([]output.Leaving)
	// Carry says that rows of the dataset that is there are carried on; nil is none.
	Carry *Carry
	Allow secrets.Allow // findings of package secrets that are known to be none
	// Reviews are what people say of tasks, by ID. Those that they refuse are left out.
	Reviews map[string][]schemas.PeerReview
	Balance *balance.Mix // draws the tasks of the dataset; nil takes all
	Bare    bool         // statements do not list the names that hidden tests need
}

// Fingerprint is what a dataset says beside its items. Where it is kept is no part of it.
func (c Config) Fingerprint(tools map[string]string) any {
	return struct {
		Name          string
		Configuration any
		Tools         map[string]string
		Allow         secrets.Allow
		Carry         *Carry                          `json:",omitempty"`
		Reviews       map[string][]schemas.PeerReview `json:",omitempty"`
	}{c.Name, c.Configuration, tools, c.Allow, c.Carry.some(), c.Reviews}
}

// Records joins what the stages left.
type Records interface {
	Origin(id string) (schemas.Origin, error)
	Start(id string) (schemas.Start, error)
	Provisioned(id string) (schemas.Provisioned, error)
	Step(stage, id string) (schemas.Step, bool, error)
}

// Commands gives what is run for a recipe; environment.Builder does.
type Commands interface {
	Setup(r schemas.Recipe) (recipe.Step, error)
	Runner(r schemas.Recipe) (lang.Runner, error)
}

// Outside is what the exporter reads.
type Outside struct {
	Records  Records
	States   environment.States
	History  environment.History
	Blobs    states.Blobs
	Commands Commands
	Tools    map[string]string
	Stages   []string // whose steps are the provenance of a row, in order
	// The stages that made the label, the proof and the adequacy; of a plan without
	// one "" stands for it.
	Labelled, Proved, Assessed string
	// Releases counts the releases of all sources; nil where nobody does.
	Releases func() (int, error)
}

// Exporter writes one dataset.
type Exporter struct {
	Config
	Outside
}

// New makes an exporter.
func New(c Config, o Outside) *Exporter { return &Exporter{c, o} }

// Run writes the dataset, whole or not at all. It goes through the items twice: a
// test that disagreed with itself anywhere must be known before the first row is
// written.
func (e *Exporter) Run(ctx context.Context, done iter.Seq2[schemas.Statement, error], ended pipeline.Ended) error {
	pipeline.Doing(ctx, "reading the proofs")
	flaky, err := e.flaky(done, ended.Steps)
	if err != nil {
		return err
	}
	old, err := e.carried(done, ended.Steps)
	if err != nil {
		return fmt.Errorf("reading the rows that are carried on: %w", err)
	}
	done, rest := without(done, old.has), without(ended.Steps, func(s schemas.Step) bool { return old.ids[s.Key] })
	drawn, err := e.draw(done, &old, flaky)
	if err != nil {
		return fmt.Errorf("drawing the tasks: %w", err)
	}
	done = without(done, func(s schemas.Statement) bool { return drawn.out[s.ID()] })
	in := output.Input{
		Name: e.Name, Configuration: e.Configuration, Tools: e.Tools,
		Splits: []output.SplitInput{{Tasks: e.tasks(ctx, done, flaky), Carried: old.tasks}}, Rejects: e.rejects(rest, flaky), CarriedRejects: old.rejects,
		Flakes: flaky.Flakes(), Open: ended.Open, Replace: e.Replace, Left: e.Left, Allow: e.Allow,
		LeftOut: append(old.refused, drawn.rejects...), Balance: drawn.balance,
	}
	for _, c := range ended.Funnel[:len(ended.Funnel)-1] { // the last one is this stage, which is not over
		in.Funnel = append(in.Funnel, output.Funnel{Stage: c.Stage, Done: c.Done, Rejected: c.Rejected, Deferred: c.Deferred, Failed: c.Failed})
	}
	if e.Releases != nil {
		if in.Releases, err = e.Releases(); err != nil {
			return fmt.Errorf("counting releases: %w", err)
		}
	}
	pipeline.Doing(ctx, "writing the dataset")
	_, err = output.Write(e.Dir, in)
	return err
}

// flaky is the ledger of every proof, of rejects too.
func (e *Exporter) flaky(done iter.Seq2[schemas.Statement, error], others iter.Seq2[schemas.Step, error]) (*ledger.Ledger, error) {
	l := ledger.New()
	for s, err := range done {
		if err != nil {
			return nil, err
		}
		start, proof, err := e.proved(s.ID())
		if err != nil {
			return nil, fmt.Errorf("reading the proof of %s: %w", s.ID(), err)
		}
		l.Add(start.Repo, proof)
	}
	for s, err := range others {
		if err != nil {
			return nil, err
		}
		start, proof, ok, err := e.tried(s)
		if err != nil {
			return nil, fmt.Errorf("reading how far %s came: %w", s.Key, err)
		}
		if ok {
			l.Add(start.Repo, proof)
		}
	}
	return l, nil
}

func (e *Exporter) proved(id string) (schemas.Start, schemas.Proof, error) {
	start, err := e.Records.Start(id)
	if err != nil {
		return start, schemas.Proof{}, err
	}
	proof, err := record[schemas.Proof](e.Records, e.Proved, id)
	return start, proof, err
}

// tried is the proof of what did not get through: whole where a later stage ended
// it, as far as it came where the proof itself did.
func (e *Exporter) tried(s schemas.Step) (schemas.Start, schemas.Proof, bool, error) {
	var proof schemas.Proof
	at := slices.Index(e.Stages, s.Stage)
	if at < 0 || at < slices.Index(e.Stages, e.Proved) || s.Stage == e.Proved && s.Evidence == "" {
		return schemas.Start{}, proof, false, nil
	}
	if s.Stage != e.Proved {
		start, proof, err := e.proved(s.Key)
		return start, proof, err == nil, err
	}
	start, err := e.Records.Start(s.Key)
	if err != nil {
		return start, proof, false, err
	}
	b, err := e.Blobs.Get(s.Evidence)
	if err == nil {
		err = json.Unmarshal(b, &proof)
	}
	return start, proof, err == nil, err
}

// tasks joins one task after another.
func (e *Exporter) tasks(ctx context.Context, done iter.Seq2[schemas.Statement, error], flaky *ledger.Ledger) iter.Seq2[output.Task, error] {
	return func(yield func(output.Task, error) bool) {
		for s, err := range done {
			if err != nil {
				yield(output.Task{}, err)
				return
			}
			t, err := e.task(ctx, s, flaky)
			if err != nil {
				err = fmt.Errorf("joining %s: %w", s.ID(), err)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

func (e *Exporter) task(ctx context.Context, s schemas.Statement, flaky *ledger.Ledger) (output.Task, error) {
	id := s.ID()
	t := output.Task{Statement: s, Reviews: e.Reviews[id], Bare: e.Bare}
	var err error
	if t.Origin, err = e.Records.Origin(id); err != nil {
		return t, err
	}
	var proof schemas.Proof
	if t.Start, proof, err = e.proved(id); err != nil {
		return t, err
	}
	flaky.Count(t.Start.Repo, proof)
	t.Proof, t.QuarantinedIn = flaky.Strip(t.Start.Repo, proof)
	if err := e.judged(&t); err != nil {
		return t, err
	}
	provisioned, err := e.Records.Provisioned(id)
	if err != nil {
		return t, err
	}
	t.Environment = provisioned.Environment
	t.Environment.Recipe = t.Environment.Recipe.Settled(t.Proof)
	trees, err := e.States.Of(ctx, t.Start)
	if err != nil {
		return t, err
	}
	t.Patch, t.TestPatch = trees.Patch, trees.TestPatch
	if t.Start.Derive != "" {
		if t.Derive, err = e.Blobs.Get(t.Start.Derive); err != nil {
			return t, fmt.Errorf("reading the patch of the base: %w", err)
		}
	}
	if t.Specification, err = e.specification(s.Specification); err != nil {
		return t, err
	}
	t.Base = func() (*tree.Tree, error) { return trees.B, nil }
	version, err := e.History.Describe(ctx, t.Start.Repo, t.Start.Base)
	if err != nil {
		return t, err
	}
	t.Version = version.Tag
	if err := e.render(&t, trees.G); err != nil {
		return t, err
	}
	return t, e.provenance(&t, proof)
}

// specification are the files of one, by their paths.
func (e *Exporter) specification(s *schemas.Specification) (map[string][]byte, error) {
	if s == nil {
		return nil, nil
	}
	out := map[string][]byte{}
	for _, f := range s.Files {
		data, err := e.Blobs.Get(f.Digest)
		if err != nil {
			return nil, fmt.Errorf("reading %s of the specification: %w", f.Path, err)
		}
		out[f.Path] = data
	}
	return out, nil
}

// judged are the label and what the tests notice.
func (e *Exporter) judged(t *output.Task) error {
	var err error
	if e.Labelled != "" {
		if t.Label, err = record[schemas.Labelled](e.Records, e.Labelled, t.ID()); err != nil {
			return err
		}
	}
	if e.Assessed != "" {
		t.Adequacy, err = record[schemas.Adequacy](e.Records, e.Assessed, t.ID())
	}
	return err
}

// record is what a stage made of one item.
func record[T any](r Records, stage, id string) (T, error) {
	var v T
	step, ok, err := r.Step(stage, id)
	if err != nil {
		return v, fmt.Errorf("reading %s of %s: %w", stage, id, err)
	}
	if !ok || len(step.Outputs) != 1 {
		return v, fmt.Errorf("the store has no result of %s for %s", stage, id)
	}
	if err := json.Unmarshal(step.Outputs[0].Record, &v); err != nil {
		return v, fmt.Errorf("reading %s of %s: %w", stage, id, err)
	}
	return v, nil
}

// render asks language and runner for the commands that Dockerfile and run script show.
func (e *Exporter) render(t *output.Task, solution *tree.Tree) error {
	var err error
	if t.Setup, err = e.Commands.Setup(t.Environment.Recipe); err != nil {
		return fmt.Errorf("rendering the set-up: %w", err)
	}
	runner, err := e.Commands.Runner(t.Environment.Recipe)
	if err != nil {
		return fmt.Errorf("rendering the runs: %w", err)
	}
	if s := t.Environment.Recipe.Service; s != nil {
		start := serve.Start(*s, false)
		t.Serve = &start
		return nil
	}
	t.Runs = runner.Runs(t.Environment.Recipe, solution, lang.Select{Number: 1, Nonce: rendered})
	return nil
}

// rendered marks the records of runs that a person makes from a dataset: equal
// datasets have equal bytes, so it cannot be random.
const rendered = "rendered"

// provenance names the stages that made the row, and collects their times. proof is
// as it was made, before the ledger.
func (e *Exporter) provenance(t *output.Task, proof schemas.Proof) error {
	for _, stage := range e.Stages {
		s, ok, err := e.Records.Step(stage, t.ID())
		if err != nil {
			return err
		}
		if !ok || len(s.Outputs) != 1 {
			continue
		}
		digest := s.Outputs[0].Digest
		if stage == e.Proved { // its record names logs, which hold times
			digest = schemas.DigestOf(proof.Stable())
		}
		t.Provenance = append(t.Provenance, output.Provenance{Stage: stage, Fingerprint: s.Fingerprint, Output: digest})
		t.Timings = append(t.Timings, output.Timing{InstanceID: t.ID(), Stage: stage, MS: s.MS, Cost: s.Cost})
	}
	if ms := proof.SuiteMS(); ms > 0 {
		t.Timings = append(t.Timings, output.Timing{InstanceID: t.ID(), Stage: output.SuiteTiming, MS: ms})
	}
	if ms := proof.ClockMS(); ms > 0 {
		t.Timings = append(t.Timings, output.Timing{InstanceID: t.ID(), Stage: output.ClockTiming, MS: ms})
	}
	return nil
}

// rejects are all other ends, one after another.
func (e *Exporter) rejects(others iter.Seq2[schemas.Step, error], flaky *ledger.Ledger) iter.Seq2[output.Reject, error] {
	return func(yield func(output.Reject, error) bool) {
		for s, err := range others {
			var r output.Reject
			if err == nil {
				r, err = e.reject(s, flaky)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (e *Exporter) reject(s schemas.Step, flaky *ledger.Ledger) (output.Reject, error) {
	r := output.Reject{InstanceID: s.Key, End: s.State, Stage: s.Stage, Reason: s.Reason, Detail: s.Detail}
	if o, err := e.Records.Origin(s.Key); err == nil { // a source that ended in crawl has none
		r.Repo, r.Commit = o.Repo(), o.Commit()
	}
	start, proof, ok, err := e.tried(s)
	if err != nil {
		return r, fmt.Errorf("reading how far %s came: %w", s.Key, err)
	}
	if ok {
		flaky.Count(start.Repo, proof)
	}
	return r, nil
}
