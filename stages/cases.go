package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/validate"
)

// Material is what a proof of one start is made from, wherever it comes from: a
// repository in a run, a dataset in prove.
type Material struct {
	Start           schemas.Start
	Base            *tree.Tree
	Patch, TestPart []byte
	Environment     schemas.Environment
	Statement       string
	Version         string // nearest release at base, "" where there is none
}

// caseOf builds the environment and applies the parts.
func caseOf(ctx context.Context, b *environment.Builder, m Material) (testrun.Case, error) {
	c := testrun.Case{Start: m.Start, Base: m.Base, Environment: m.Environment, Lang: b.Languages[m.Start.Language]}
	var err error
	if c.StartTree, c.Solution, err = states(m); err != nil {
		return c, err
	}
	if c.SealedBase, err = seal.Files(m.Base, m.Start.BaseDate); err != nil {
		return c, fmt.Errorf("sealing the base: %w", err)
	}
	if c.Env, err = b.Env(ctx, m.Environment.Recipe); err != nil {
		return c, ends.Of(err, schemas.NoBuild)
	}
	return c, nil
}

// Prove builds the environment and the states, and gives the verdict. run and
// prove both come through here, so that a row means the same in both.
func Prove(ctx context.Context, v *validate.Validator, b *environment.Builder, m Material) (schemas.Proof, error) {
	c, err := caseOf(ctx, b, m)
	if err != nil {
		return schemas.Proof{}, err
	}
	needles := seal.Needles(seal.Task{Base: m.Base, Solution: c.Solution, Patch: m.Patch, TestPatch: m.TestPart, Name: m.Start.Repo, Commit: m.Start.Commit, Version: m.Version})
	return v.Prove(ctx, validate.Case{
		Case: c, Statement: m.Statement,
		Scan: func(ctx context.Context, solver sandbox.Layer) (schemas.Scan, error) {
			return seal.Scan(ctx, needles, func(ctx context.Context, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
				return b.Sandbox.Files(ctx, solver, visit)
			})
		},
	})
}

// states applies the parts. That the results have the tree IDs of the start is
// checked by the validator, for every caller.
func states(m Material) (start, solution *tree.Tree, err error) {
	if start, err = m.Base.Apply(m.TestPart); err != nil {
		return nil, nil, fmt.Errorf("applying the test patch: %w", err)
	}
	if solution, err = start.Apply(m.Patch); err != nil {
		return nil, nil, fmt.Errorf("applying the gold patch: %w", err)
	}
	return start, solution, nil
}

// proving is the validate stage: it collects the material from repository, blobs
// and records.
type proving struct {
	validator *validate.Validator
	builder   *environment.Builder
	repos     environment.Repos
	blobs     *blob.Store
	records   *Records
	statement func(schemas.Change) string
}

func (p *proving) Run(ctx context.Context, in schemas.Provisioned) (schemas.Proof, error) {
	m, err := p.material(ctx, in)
	if err != nil {
		return schemas.Proof{}, err
	}
	proof, err := Prove(ctx, p.validator, p.builder, m)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		b, encodeErr := schemas.Canonical(proof)
		if encodeErr != nil {
			return proof, errors.Join(err, encodeErr)
		}
		if rejected.Evidence, encodeErr = p.blobs.Put(b); encodeErr != nil {
			return proof, fmt.Errorf("keeping the evidence of %w: %w", err, encodeErr)
		}
	}
	return proof, err
}

func (p *proving) material(ctx context.Context, in schemas.Provisioned) (Material, error) {
	start, err := p.records.Start(in.StartID)
	if err != nil {
		return Material{}, err
	}
	change, err := p.records.Change(in.StartID)
	if err != nil {
		return Material{}, err
	}
	m := Material{Start: start, Environment: in.Environment, Statement: p.statement(change)}
	version, err := p.repos.Describe(ctx, start.Repo, start.Base)
	if err != nil {
		return m, fmt.Errorf("describing the base: %w", err)
	}
	m.Version = version.Tag
	return m, m.read(ctx, p.repos, p.blobs)
}

// read adds the bytes that the start names.
func (m *Material) read(ctx context.Context, repos environment.Repos, blobs *blob.Store) (err error) {
	if m.Base, err = repos.Tree(ctx, m.Start.Repo, m.Start.BaseTree); err != nil {
		return fmt.Errorf("reading the base tree: %w", err)
	}
	if m.Patch, err = blobs.Get(m.Start.Patch); err != nil {
		return err
	}
	m.TestPart, err = blobs.Get(m.Start.TestPatch)
	return err
}

// assessing is the assess stage: it collects what a proof that holds rests on.
type assessing struct {
	assessor *assess.Assessor
	builder  *environment.Builder
	repos    environment.Repos
	blobs    *blob.Store
	records  *Records
}

var _ pipeline.Stage[schemas.Proof, schemas.Adequacy] = (*assessing)(nil)

// Depends leaves out logs and messages, which differ between equal proofs.
func (a *assessing) Depends(p schemas.Proof) any { return p.Stable() }

func (a *assessing) Run(ctx context.Context, p schemas.Proof) (schemas.Adequacy, error) {
	start, err := a.records.Start(p.StartID)
	if err != nil {
		return schemas.Adequacy{}, err
	}
	provisioned, err := a.records.Provisioned(p.StartID)
	if err != nil {
		return schemas.Adequacy{}, err
	}
	m := Material{Start: start, Environment: provisioned.Environment}
	m.Environment.Recipe = m.Environment.Recipe.Settled(p)
	if err := m.read(ctx, a.repos, a.blobs); err != nil {
		return schemas.Adequacy{}, err
	}
	c, err := caseOf(ctx, a.builder, m)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		// Its proof was made in this environment: that it cannot be had again is no
		// property of the task.
		return schemas.Adequacy{}, fmt.Errorf("making the environment of a proof again: %s: %s", rejected.Reason, rejected.Detail())
	}
	if err != nil {
		return schemas.Adequacy{}, err
	}
	return a.assessor.Assess(ctx, c, m.Patch, p)
}
