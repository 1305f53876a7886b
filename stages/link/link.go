// Package link turns a landed change into a start: the states B, S and G, and
// every path or hunk of the change in exactly one part.
//
// It never guesses what a patch does: the states are checked by tree ID, from
// the very bytes of the patches that a dataset will carry. It never runs code.
//
// Whether a change only modifies existing functions (the filter that FeatBench
// introduced) is decided on the syntax trees of the code part, by the notion of
// internal/functions. A change that touches no function at all (constants, class
// attributes, imports, data) adds and removes none: it stays, with no function named.
package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is part of the stage's fingerprint.
const Version = "6, " + secrets.RulesVersion

// Repos reads objects by the repository's name.
type Repos interface {
	Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error)
	Tree(ctx context.Context, repo, id string) (*tree.Tree, error)
	Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error)
	Diff(ctx context.Context, repo, from, to string) ([]byte, error)
	Hunks(ctx context.Context, repo, from, to string) ([]byte, error)
}

// Config is the stage's settings (filters in the configuration file).
type Config struct {
	Languages      []string      // of the code part; empty: every language there is a plugin for
	MaxSourceLines int           // at most this many added and removed lines of the code part; 0 means no limit
	ModifiesOnly   bool          // the code part adds and removes no function and no class
	Allow          secrets.Allow // findings of package secrets that are known to be none
	// Suite lets edits without a test part through, in languages that a suite can be written for:
	// their start wants one.
	Suite bool `json:",omitempty"`
	// Known are published tasks that no change may be one of; Sets are their digests and how they are compared.
	Known   *contamination.Catalogue `json:"-"`
	Sets    []string                 `json:",omitempty"`
	Dataset string                   `json:"-"` // whose own tasks are no others
}

// Default is what holds where nothing is configured.
func Default() Config { return Config{MaxSourceLines: 1000, ModifiesOnly: true} }

// Validate refuses languages without a plugin and limits below zero.
func (c Config) Validate(known []string) error {
	var failed []error
	for _, l := range c.Languages {
		if !slices.Contains(known, l) {
			failed = append(failed, fmt.Errorf("languages: unknown language %q (known: %s)", l, strings.Join(known, ", ")))
		}
	}
	if c.MaxSourceLines < 0 {
		failed = append(failed, fmt.Errorf("max_source_lines: %d is below 0", c.MaxSourceLines))
	}
	return errors.Join(failed...)
}

// Linker is the stage. It holds no state but what it has looked at: changes may be linked side by side.
type Linker struct {
	repos     Repos
	blobs     *blob.Store
	languages map[string]lang.Language
	rules     parts.Rules
	config    Config
	scanned   secrets.Trees // of bases: neighbours share nearly all of their files
}

var _ pipeline.Stage[schemas.Change, schemas.Start] = (*Linker)(nil)

// New makes the stage.
func New(repos Repos, blobs *blob.Store, languages map[string]lang.Language, c Config) (*Linker, error) {
	known := slices.Sorted(maps.Keys(languages))
	if err := c.Validate(known); err != nil {
		return nil, err
	}
	if len(c.Languages) == 0 {
		c.Languages = known
	}
	return &Linker{repos: repos, blobs: blobs, languages: languages, rules: parts.New(slices.Collect(maps.Values(languages))...), config: c}, nil
}

// Depends is what a start is made from: not the change's release and notes, which
// later work in its repository can alter.
func (l *Linker) Depends(c schemas.Change) any { return c.Stable() }

// Run makes the start of one change. Rejections: every reason of link/.
func (l *Linker) Run(ctx context.Context, c schemas.Change) (schemas.Start, error) {
	start, err := l.run(ctx, c)
	return start, ends.OfTree(err)
}

func (l *Linker) run(ctx context.Context, c schemas.Change) (schemas.Start, error) {
	if c.Base == "" {
		return schemas.Start{}, pipeline.Reject(schemas.RootCommit, "%s has no parent", c.Commit)
	}
	if c.Twin != "" {
		return schemas.Start{}, pipeline.Reject(schemas.DuplicateStart, "the same states as %s", c.Twin)
	}
	if c.LeftTo != "" {
		return schemas.Start{}, pipeline.Reject(schemas.LeftToEdit, "drawn to be of kind %s", c.LeftTo)
	}
	w, err := l.work(ctx, c)
	if err != nil {
		return schemas.Start{}, err
	}
	w.parts()
	w.testData()
	// What the change is about comes first: a mixed manifest says nothing of one
	// that has no code or no test.
	w.any = c.Kind == schemas.KindEdit // an edit may add and remove functions
	w.suite = w.any && l.config.Suite
	for _, check := range []func() error{w.substance, w.readable, w.manifests, w.untested, w.size, w.functions} {
		if err := check(); err != nil {
			return schemas.Start{}, err
		}
	}
	start := schemas.Start{
		ChangeID: c.ID(), Repo: c.Repo, Kind: cmp.Or(c.Kind, schemas.KindFeature), Language: w.language, Base: c.Base, Commit: c.Commit, BaseDate: c.BaseDate,
		BaseTree: c.BaseTree, SolutionTree: c.Tree, Files: w.partFiles(), Sizes: w.sizes,
		Identity: Identity(c), Functions: w.edits,
	}
	if err := l.patches(ctx, w, &start); err != nil {
		return schemas.Start{}, err
	}
	return start, l.published(c, start)
}

// published rejects a change that is a task of a set already: nothing is built for it.
func (l *Linker) published(c schemas.Change, s schemas.Start) error {
	if l.config.Known == nil {
		return nil
	}
	patch, err := l.blobs.Get(s.Patch)
	if err != nil {
		return fmt.Errorf("reading the patch: %w", err)
	}
	for _, h := range l.config.Known.Find(contamination.Task{
		ID: s.ID(), Repo: c.Repo, Number: c.Number, Bases: []string{c.Base, c.BaseTree}, Commit: c.Commit, Patch: string(patch), Kind: contamination.Change, Dataset: l.config.Dataset,
	}) {
		if h.Action == contamination.Removed {
			return pipeline.Reject(schemas.KnownTask, "%s", h)
		}
	}
	return nil
}

// Identity is who a change is, under any name (design 4).
func Identity(c schemas.Change) schemas.Digest {
	return schemas.DigestOf([]string{c.RepoRoot, c.BaseTree, c.Tree})
}

// patches makes S, the two patches between the states, and proves them by
// applying their bytes.
func (l *Linker) patches(ctx context.Context, w *work, s *schemas.Start) error {
	var err error
	if s.StartTree, err = l.repos.Graft(ctx, s.Repo, s.BaseTree, w.testEdits()); err != nil {
		return fmt.Errorf("making the start tree: %w", err)
	}
	testPatch, err := l.repos.Diff(ctx, s.Repo, s.BaseTree, s.StartTree)
	if err != nil {
		return fmt.Errorf("making the test patch: %w", err)
	}
	patch, err := l.repos.Diff(ctx, s.Repo, s.StartTree, s.SolutionTree)
	if err != nil {
		return fmt.Errorf("making the patch: %w", err)
	}
	state := w.base
	for _, step := range []struct {
		what  string
		patch []byte
		want  string
	}{{"base + test patch", testPatch, s.StartTree}, {"start + patch", patch, s.SolutionTree}} {
		if state, err = state.Apply(step.patch); err != nil {
			return fmt.Errorf("checking %s: %w", step.what, err)
		}
		if got := state.ID(); got != step.want {
			return fmt.Errorf("checking %s: tree %s, want %s", step.what, got, step.want)
		}
	}
	for _, p := range []struct {
		name  string
		patch []byte
	}{{"test patch", testPatch}, {"patch", patch}} {
		if found := l.config.Allow.Without(secrets.ScanPatch(p.patch)); len(found) > 0 {
			return pipeline.Reject(schemas.HoldsSecret, "%s", secrets.Tell(p.name, found))
		}
	}
	// A base is public, and goes into the dataset as it is: it is looked at before anything is
	// built for its change.
	if found := l.config.Allow.Without(l.scanned.Scan(w.base, l.rules.Tests(w.base))); len(found) > 0 {
		return pipeline.Reject(schemas.HoldsSecret, "%s", secrets.Tell("base tree", found))
	}
	if len(testPatch) > 0 { // else the start wants a suite
		if s.TestPatch, err = l.blobs.Put(testPatch); err != nil {
			return fmt.Errorf("keeping the test patch: %w", err)
		}
	}
	if s.Patch, err = l.blobs.Put(patch); err != nil {
		return fmt.Errorf("keeping the patch: %w", err)
	}
	return nil
}
