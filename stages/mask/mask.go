// Package mask turns a release into a start: B and S are the release without the bodies of
// its functions, G is the release. The tests of a library are in all three; those of a service
// were recorded, and are added to S and G.
//
// It takes bodies out of the code part alone: tests, docs and examples stay as they are,
// since they say what is asked for; but a document that holds copies of bodies is left out of the
// starter and of the solution. What runs when the release is loaded is seen in a sandbox, and
// stays: a starter loads as its release does. What cannot be masked is a reject. It never runs code
// outside of the sandbox.
//
// A slice is masked as the whole is, and all that is said of it (functions, body lines, what is
// left of them) is about its functions alone.
package mask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is part of the stage's fingerprint.
const Version = "8, " + secrets.RulesVersion

// Repos reads objects by the repository's name.
type Repos interface {
	Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error)
	Tree(ctx context.Context, repo, id string) (*tree.Tree, error)
	Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error)
	Diff(ctx context.Context, repo, from, to string) ([]byte, error)
	Hunks(ctx context.Context, repo, from, to string) ([]byte, error)
}

// Config is the stage's settings (library and filters in the configuration file).
type Config struct {
	Languages    []string      // of the code; empty: every language there is a plugin for
	MinLanguage  float64       // share of the code lines that are in one of them, 0 to 1
	Native       bool          `json:",omitempty"` // refuse code of a compiled language beside it
	MaxLinesLeft float64       // share of the body lines that stay, 0 to 1
	Allow        secrets.Allow // findings of package secrets that are known to be none
}

// Default is what holds where nothing is configured.
func Default() Config { return Config{MinLanguage: 0.9, MaxLinesLeft: 0.25} }

// Validate refuses languages without a plugin and shares that are none.
func (c Config) Validate(known []string) error {
	var failed []error
	for _, l := range c.Languages {
		if !slices.Contains(known, l) {
			failed = append(failed, fmt.Errorf("languages: unknown language %q (known: %s)", l, strings.Join(known, ", ")))
		}
	}
	for _, share := range []struct {
		key  string
		have float64
	}{{"library.min_language", c.MinLanguage}, {"library.max_lines_left", c.MaxLinesLeft}} {
		if share.have < 0 || share.have > 1 {
			failed = append(failed, fmt.Errorf("%s: %g is not between 0 and 1", share.key, share.have))
		}
	}
	return errors.Join(failed...)
}

// Masker is the stage. It holds no state but what it has looked at: releases may be masked side by side.
type Masker struct {
	repos   Repos
	blobs   *blob.Store
	maskers []mask.Language
	loader  Loader // nil: nobody looks at what runs when the code is loaded
	rules   parts.Rules
	config  Config
	scanned secrets.Trees
}

var _ pipeline.Stage[schemas.Cut, schemas.Start] = (*Masker)(nil)

// New makes the stage. languages are those in which a task can be, maskers read all that can
// be masked. loader is nil where there is no sandbox: then a rule by plain names decides what stays.
func New(repos Repos, blobs *blob.Store, languages map[string]lang.Language, maskers []mask.Language, loader Loader, c Config) (*Masker, error) {
	known := slices.Sorted(maps.Keys(languages))
	if err := c.Validate(known); err != nil {
		return nil, err
	}
	if len(c.Languages) == 0 {
		c.Languages = known
	}
	return &Masker{repos: repos, blobs: blobs, maskers: maskers, loader: loader, rules: parts.New(slices.Collect(maps.Values(languages))...), config: c}, nil
}

// Depends is what a start is made from: not what a forge says of the release, or what the
// history around it looks like.
func (m *Masker) Depends(c schemas.Cut) any { return c.Stable() }

// Run makes the start of one release. Rejections: every reason of mask/, and those of link/
// for a tree that cannot be read or holds a credential.
func (m *Masker) Run(ctx context.Context, c schemas.Cut) (schemas.Start, error) {
	start, err := m.run(ctx, c)
	return start, ends.OfTree(err)
}

func (m *Masker) run(ctx context.Context, c schemas.Cut) (schemas.Start, error) {
	none := schemas.Start{}
	solution, err := m.repos.Tree(ctx, c.Repo, c.Release.Commit)
	if err != nil {
		return none, err
	}
	language, err := m.languageOf(solution, c)
	if err != nil {
		return none, err
	}
	edits, done, names, err := m.masked(ctx, solution, c, language)
	if err != nil {
		return none, err
	}
	source := solution.ID()
	goal := source
	if c.Deploy != nil {
		var without []gitrepo.Edit
		if goal, without, err = m.deployed(ctx, solution, c); err != nil {
			return none, err
		}
		edits = append(edits, without...)
	}
	if c.Kind() == schemas.KindLibrary {
		var without []gitrepo.Edit
		if done.Copies, without, err = m.copies(ctx, solution, c, edits); err != nil {
			return none, err
		}
		if len(without) > 0 {
			if goal, err = m.repos.Graft(ctx, c.Repo, source, without); err != nil {
				return none, fmt.Errorf("making the tree of the solution: %w", err)
			}
		}
		edits = append(edits, without...)
	}
	base, err := m.repos.Graft(ctx, c.Repo, source, edits)
	if err != nil {
		return none, fmt.Errorf("making the starter's tree: %w", err)
	}
	start := schemas.Start{
		ChangeID: c.ID(), Repo: c.Repo, Kind: c.Kind(), Language: language,
		Base: c.Release.Commit, Commit: c.Release.Commit, BaseDate: c.Release.Date,
		SourceTree: source, BaseTree: base, StartTree: base, SolutionTree: goal,
		Identity: schemas.DigestOf([]string{c.RepoRoot, base, goal}), Masked: &done, Group: c.Group, Deploy: c.Deploy,
	}
	if c.Slice != nil {
		start.Functions.Modified = names
	}
	if c.Group != nil {
		if err := m.suite(ctx, &start); err != nil {
			return none, err
		}
	}
	if err := m.files(ctx, solution, &start); err != nil {
		return none, err
	}
	return start, m.patches(ctx, solution, &start)
}

// languageOf is the language of a cut's code. A group of a service that no task can be made of
// is rejected here, for the reason that was found when it was recorded.
func (m *Masker) languageOf(t *tree.Tree, c schemas.Cut) (string, error) {
	if c.Group == nil {
		return m.language(t)
	}
	if c.Group.Refused != "" {
		return "", pipeline.Reject(c.Group.Refused, "%s", c.Group.Detail)
	}
	for _, name := range c.Slice.Handlers {
		path, _, _ := strings.Cut(name, schemas.FunctionDivider)
		if language, ok := m.rules.Source(path); ok {
			return language, nil
		}
	}
	return "", pipeline.Reject(schemas.NothingMasked, "no handler of the group is in a language that can be masked")
}

// wraps are sources of what a library in Python or Go may wrap: C, C++, Cython, Fortran, Rust, assembly.
var wraps = lazyregexp.New(`\.(?:c|cc|cpp|cxx|h|hh|hpp|pyx|pxd|f|f90|rs|s|S|asm)$`)

// language is that of most lines of the code part. It asks for tests in the same.
func (m *Masker) language(t *tree.Tree) (string, error) {
	lines, all, tests, compiled := map[string]int{}, 0, map[string]bool{}, []string(nil)
	for _, p := range t.Paths() {
		e, _ := t.Entry(p)
		part, rule := m.rules.Part(p, t)
		name, known := m.rules.Source(p)
		switch {
		case e.Mode == tree.ModeSymlink:
		case parts.Counts(part, rule):
			tests[name] = tests[name] || known
		case parts.Ships(p, part, rule) && parts.IsSource(p):
			n := bytes.Count(e.Data, []byte("\n"))
			all += n
			if wraps.MatchString(p) {
				compiled = append(compiled, p)
			}
			if known {
				lines[name] += n
			}
		}
	}
	most := ""
	for _, name := range m.config.Languages {
		if lines[name] > lines[most] {
			most = name
		}
	}
	if share := float64(lines[most]) / float64(max(all, 1)); most == "" || share < m.config.MinLanguage {
		return "", pipeline.Reject(schemas.MixedSource, "%.1f %% of %d code lines are in %s, at least %.1f %% are asked for", 100*share, all, strings.Join(m.config.Languages, " or "), 100*m.config.MinLanguage)
	}
	if m.config.Native && len(compiled) > 0 {
		return "", pipeline.Reject(schemas.MixedSource, "%d files of its code are in a compiled language (%s), and library.native asks for none", len(compiled), schemas.RecordPath(compiled[0]))
	}
	if !tests[most] {
		return "", pipeline.Reject(schemas.NoSuite, "no test file in %s", most)
	}
	return most, nil
}

// masked has the tree masked in a folder, and gives what changed in the code part with the names
// of the functions that lost their bodies.
func (m *Masker) masked(ctx context.Context, t *tree.Tree, c schemas.Cut, language string) (edits []gitrepo.Edit, done schemas.Masked, names []string, err error) {
	scratch, remove, err := m.released(t)
	if err != nil {
		return nil, done, nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	manifest, edits, err := m.starter(ctx, scratch, t, c, language)
	if err != nil {
		return nil, done, nil, err
	}
	unchosen, err := m.unchosen(ctx, scratch, t, manifest)
	if err != nil {
		return nil, done, nil, err
	}
	done, names = m.count(manifest, unchosen, c.Slice)
	if done.Manifest, err = m.keep(manifest); err != nil {
		return nil, done, nil, err
	}
	return edits, done, names, m.enough(done)
}

// released writes a tree to the folder "release" of a scratch folder.
func (m *Masker) released(t *tree.Tree) (scratch string, remove func() error, err error) {
	scratch, remove, err = m.blobs.Folder()
	if err != nil {
		return "", nil, fmt.Errorf("making a folder for the starter: %w", err)
	}
	if err := worktree.Make(filepath.Join(scratch, "release"), t); err != nil {
		return "", nil, errors.Join(fmt.Errorf("writing the release: %w", err), remove())
	}
	return scratch, remove, nil
}

// unchosen are the functions of files that a profile leaves out, by path: what is in them stays,
// and a manifest does not say how much that is.
func (m *Masker) unchosen(ctx context.Context, scratch string, t *tree.Tree, manifest *mask.Manifest) (map[string][]mask.Definition, error) {
	out := map[string][]mask.Definition{}
	for _, r := range manifest.Files {
		if r.Kind == mask.Unchosen {
			out[r.Path] = nil
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	result, err := mask.Run(ctx, mask.Options{Source: filepath.Join(scratch, "release"), Output: filepath.Join(scratch, "strict"), Profile: mask.Strict, Languages: m.maskers, Workers: 1})
	if err != nil {
		return nil, err
	}
	strict, err := m.codePart(result.Manifest, t)
	if err != nil {
		return nil, err
	}
	for _, r := range strict.Files {
		if _, ok := out[r.Path]; ok {
			out[r.Path] = r.Functions
		}
	}
	return out, nil
}

// codePart reads a manifest, and leaves out what is not of the code part.
func (m *Masker) codePart(file string, t *tree.Tree) (*mask.Manifest, error) {
	manifest, err := mask.ReadManifest(file)
	if err != nil {
		return nil, err
	}
	manifest.Files = slices.DeleteFunc(manifest.Files, func(r mask.Record) bool {
		part, rule := m.rules.Part(r.Path, t)
		return !parts.Ships(r.Path, part, rule)
	})
	return manifest, nil
}

// changed reads the masked files of a manifest. One that could not be masked is a reject.
func changed(manifest *mask.Manifest, dir string, t *tree.Tree) (edits []gitrepo.Edit, err error) {
	starter, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, starter.Close()) }()
	for _, r := range manifest.Files {
		if r.Failed != "" {
			return nil, pipeline.Reject(schemas.MaskFailed, "%s: %s", schemas.RecordPath(r.Path), r.Failed)
		}
		if r.Before == r.After {
			continue
		}
		data, err := starter.ReadFile(filepath.FromSlash(r.Path))
		if err != nil {
			return nil, err
		}
		was, _ := t.Entry(r.Path)
		edits = append(edits, gitrepo.Edit{Path: r.Path, Mode: was.Mode, Data: data})
	}
	return edits, nil
}

// enough holds a starter to what must be gone of the solution.
func (m *Masker) enough(done schemas.Masked) error {
	if done.Taken == 0 {
		return pipeline.Reject(schemas.NothingMasked, "none of %d functions", done.Functions)
	}
	if done.Share() > m.config.MaxLinesLeft {
		return pipeline.Reject(schemas.LinesLeft, "%.1f %% of %d body lines stay, at most %.1f %% may", 100*done.Share(), done.Lines, 100*m.config.MaxLinesLeft)
	}
	return nil
}

// count sums up what was done to the code part, or to a slice of it, and names the functions that
// lost their bodies. unchosen are the functions of files
// that the profile leaves out.
func (m *Masker) count(manifest *mask.Manifest, unchosen map[string][]mask.Definition, slice *schemas.Slice) (done schemas.Masked, names []string) {
	done = schemas.Masked{Profile: string(manifest.Profile), Slice: slice, Kept: map[string]int{}, Difficulty: &schemas.Difficulty{}}
	for _, r := range manifest.Files {
		if r.Kind == mask.NotRead && slice == nil && !m.otherTask(r.Path) {
			done.Lines, done.Left = done.Lines+r.Lines, done.Left+r.Lines
		}
		all := within(slice, r)
		if r.Kind == mask.Unchosen {
			all = unchosen[r.Path]
		}
		end := 0 // of the outermost function so far: they are in source order
		for _, f := range all {
			done.Functions++
			if outer := f.Span.Start >= end; outer && f.Construct != mask.Test {
				done.Lines, done.Left, end = done.Lines+f.Shape.Lines, done.Left+f.Shape.Lines, f.Span.End
			}
			switch {
			case r.Kind == mask.Unchosen:
				done.Kept[string(mask.Unchosen)]++
			case f.Done == mask.Masked || f.Done == mask.Removed:
				done.Left -= f.Shape.Lines
				done.Taken++
				add(done.Difficulty, f.Shape)
				names = append(names, schemas.FunctionName(r.Path, f.Name))
			case f.Done == mask.Gone:
				done.Taken++
			default:
				done.Kept[why(manifest.Profile, f)]++
			}
		}
	}
	slices.Sort(names)
	return done, slices.Compact(names) // an accessor has one name for several functions
}

// keep keeps the manifest of the code part.
func (m *Masker) keep(manifest *mask.Manifest) (schemas.Digest, error) {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return "", err
	}
	kept, err := m.blobs.Put(raw)
	if err != nil {
		return "", fmt.Errorf("keeping the manifest of the mask: %w", err)
	}
	return kept, nil
}

// otherTask reports whether a file is in a language that is masked where a task is in it: no test of
// this one sees it.
func (m *Masker) otherTask(path string) bool {
	return slices.ContainsFunc(m.maskers, func(l mask.Language) bool { return l.Grammar(path) != "" })
}

func add(to *schemas.Difficulty, s mask.Shape) {
	to.Lines += s.Lines
	to.Branches += s.Branches
	to.FanIn += s.FanIn
	to.Depth = max(to.Depth, s.Depth)
}

// why is the reason of a function that stays, without the place that it names. The profiles of
// Commit0 keep nothing because it is loaded.
func why(profile mask.Profile, f mask.Definition) string {
	if profile != mask.Strict {
		return string(mask.Unchosen)
	}
	if policy, ok := mask.PolicyOf(f.Construct); ok && !policy.Mask {
		return string(f.Construct)
	}
	return "loaded"
}

// files are the rows of what was taken out, all of the code part, and of the suite of a service.
func (m *Masker) files(ctx context.Context, solution *tree.Tree, s *schemas.Start) error {
	rows, err := m.repos.Files(ctx, s.Repo, s.BaseTree, s.SolutionTree)
	if err != nil {
		return fmt.Errorf("listing the changed files: %w", err)
	}
	patch, err := m.repos.Hunks(ctx, s.Repo, s.BaseTree, s.SolutionTree)
	if err != nil {
		return fmt.Errorf("reading the hunks: %w", err)
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return fmt.Errorf("reading the hunks: %w", err)
	}
	hunks := map[string]int{}
	for _, f := range files {
		hunks[f.NewName] = len(f.TextFragments)
	}
	for _, row := range rows {
		f := schemas.PartFile{ChangedFile: row, Hunks: hunks[row.Path]}
		f.Part, f.Rule = m.rules.Part(row.Path, solution)
		f.Path, f.OldPath = schemas.RecordPath(f.Path), schemas.RecordPath(f.OldPath)
		s.Files = append(s.Files, f)
		if f.Part == schemas.PartTest {
			s.Sizes.TestFiles++
			continue
		}
		if _, ok := m.rules.Source(row.Path); ok {
			s.Sizes.SourceFiles++
			s.Sizes.SourceHunks += f.Hunks
			s.Sizes.SourceAdded += max(f.Added, 0)
			s.Sizes.SourceRemoved += max(f.Removed, 0)
		}
	}
	return nil
}

// patches makes the patches from the release to the starter, to its tests where it has some, and
// back, and proves them by applying their bytes.
func (m *Masker) patches(ctx context.Context, solution *tree.Tree, s *schemas.Start) error {
	state := solution
	for _, step := range []struct {
		what     string
		from, to string
		keep     *schemas.Digest
		scanned  bool
	}{
		{"the patch of the mask", s.SourceTree, s.BaseTree, &s.Derive, false},
		{"the test patch", s.BaseTree, s.StartTree, &s.TestPatch, true},
		{"the patch", s.StartTree, s.SolutionTree, &s.Patch, true},
	} {
		if step.from == step.to { // the tests of a library are in its release
			continue
		}
		patch, err := m.repos.Diff(ctx, s.Repo, step.from, step.to)
		if err != nil {
			return fmt.Errorf("making %s: %w", step.what, err)
		}
		if state, err = state.Apply(patch); err != nil {
			return fmt.Errorf("checking %s: %w", step.what, err)
		}
		if got := state.ID(); got != step.to {
			return fmt.Errorf("checking %s: tree %s, want %s", step.what, got, step.to)
		}
		if found := m.config.Allow.Without(secrets.ScanPatch(patch)); step.scanned && len(found) > 0 {
			return pipeline.Reject(schemas.HoldsSecret, "%s", secrets.Tell("patch", found))
		}
		if step.to == s.BaseTree {
			if found := m.config.Allow.Without(m.scanned.Scan(state, m.rules.Tests(state))); len(found) > 0 {
				return pipeline.Reject(schemas.HoldsSecret, "%s", secrets.Tell("base tree", found))
			}
		}
		if *step.keep, err = m.blobs.Put(patch); err != nil {
			return fmt.Errorf("keeping %s: %w", step.what, err)
		}
	}
	return nil
}
