package describe

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/spec"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Library is what the tests of a library must be for its task to mean something.
type Library struct {
	MaxZeroWork float64 `json:"max_zero_work"` // share of its tests that pass with nothing done, 0 to 1
	MinPassing  float64 `json:"min_passing"`   // share of its tests that pass in the release, 0 to 1
	MinCoverage float64 `json:"min_coverage"`  // share of the lines of its code that they run, 0 to 1
	// Specification is the least documentation: Docs, Readme or Signatures.
	Specification string `json:"specification"`
	// What a specification must have: words of a user guide, descriptions of functions, and the share of the public ones that are
	// described (package document asks for them).
	MinGuideWords int     `json:"min_guide_words,omitempty"`
	Reference     bool    `json:"reference,omitempty"`
	MinDocumented float64 `json:"min_documented,omitempty"`
	GPU           bool    `json:"gpu"` // packages for graphics processors are taken
}

// What a library may be specified by, the most first.
const (
	Docs       = "docs"
	Readme     = "readme"
	Signatures = "signatures"
)

// DefaultLibrary are the bounds of Commit0's paper (section 3.1) for the release, and one of ours
// for the starter. A readme stands for documentation, and the row says so.
func DefaultLibrary() Library {
	return Library{MaxZeroWork: 0.05, MinPassing: 0.98, MinCoverage: 0.9, Specification: Readme}
}

// library writes the statement of a library, by the rules alone: what it is told of is in
// the tree. It names no body, and nothing that is not in the base.
func (d *Describer) library(ctx context.Context, f facts, a schemas.Adequacy) (schemas.Statement, error) {
	bounds := DefaultLibrary()
	if d.config.Library != nil {
		bounds = *d.config.Library
	}
	if err := bounds.holds(f.proof, a.Counted); err != nil {
		return schemas.Statement{}, err
	}
	if err := bounds.covers(a.Coverage); err != nil {
		return schemas.Statement{}, err
	}
	provisioned, err := d.records.Provisioned(f.start.ID())
	if err != nil {
		return schemas.Statement{}, err
	}
	if err := bounds.runs(provisioned.Environment.Recipe.Lock); err != nil {
		return schemas.Statement{}, err
	}
	docs := documentation(f.base.Paths())
	if err := bounds.specifies(promised(docs)); err != nil {
		return schemas.Statement{}, err
	}
	st := schemas.Statement{StartID: f.start.ID(), Provider: prompts.Rules, From: []string{"signatures"}}
	if len(docs) > 0 {
		st.From = append(st.From, "docs")
	}
	st.Text = told(f, docs)
	if hand := d.overrides[st.StartID]; hand.Statement != "" {
		st.Text, st.Provider, st.WrittenBy, st.From = hand.Statement, schemas.Hand, schemas.Hand, []string{schemas.Hand}
	}
	st.Release = schemas.DigestOf(struct {
		Repo, Tree  string
		Environment schemas.Digest
	}{f.start.Repo, f.start.SolutionTree, provisioned.Environment.Key})
	pipeline.Provide(ctx, prompts.Provenance{Provider: st.Provider})
	return st, nil
}

// holds rejects a library whose tests say too little. counted are the tests that the score of a
// slice counts.
func (l Library) holds(p schemas.Proof, counted *schemas.Counted) error {
	if share := p.Passing(); share < l.MinPassing {
		return pipeline.Reject(schemas.SuiteFails, "%.1f %% of the tests pass in the release, at least %.1f %% are asked for; %s", 100*share, 100*l.MinPassing, named(p.List(schemas.Failing)))
	}
	what, passing := "the tests", p.List(schemas.P2P)
	if counted != nil {
		what, passing = fmt.Sprintf("the %d tests that count", len(counted.P2P)+len(p.List(schemas.F2P))), counted.P2P
	}
	if share := p.ZeroWork(counted); share > l.MaxZeroWork {
		return pipeline.Reject(schemas.ZeroWork, "%.1f %% of %s pass with nothing done, at most %.1f %% may; %s", 100*share, what, 100*l.MaxZeroWork, named(passing))
	}
	return nil
}

// covers rejects a library whose tests run too little of it, or nobody knows how much.
func (l Library) covers(c *schemas.Coverage) error {
	switch {
	case l.MinCoverage == 0:
	case c == nil:
		return pipeline.Reject(schemas.LowCoverage, "what the suite runs cannot be measured, at least %.1f %% of the code's lines are asked for", 100*l.MinCoverage)
	case c.Share() < l.MinCoverage:
		return pipeline.Reject(schemas.LowCoverage, "the suite runs %.1f %% of %d lines of code, at least %.1f %% are asked for", 100*c.Share(), c.Lines, 100*l.MinCoverage)
	}
	return nil
}

// ofGPU are packages that only a graphics processor needs, as a lock has them: those of CUDA's
// maker, and builds of others for it.
var ofGPU = lazyregexp.New(`(?m)^(nvidia-[a-z0-9-]+|cupy[a-z0-9-]*|jax-cuda[a-z0-9-]*|tensorflow-gpu|[a-z0-9._-]+-cu1[0-9])==`)

// runs rejects a library whose environment needs what no sandbox has.
func (l Library) runs(lock string) error {
	if found := ofGPU.FindString(lock); found != "" && !l.GPU {
		return pipeline.Reject(schemas.NeedsGPU, "%s is in the environment", strings.TrimSuffix(found, "=="))
	}
	return nil
}

// specifies rejects a library that is described by less than is asked for.
func (l Library) specifies(has string) error {
	if schemas.Documented(has) < schemas.Documented(l.Specification) {
		return pipeline.Reject(schemas.NoSpec, "the best documentation it has is %s, and %s is asked for", has, l.Specification)
	}
	return nil
}

// promised is the best that the paths of documentation may be.
func promised(docs []string) string {
	has := Signatures
	for _, p := range docs {
		if has = Readme; path.Dir(p) != "." {
			return Docs
		}
	}
	return has
}

// named are the first few of many tests.
func named(ids []string) string {
	const most = 5
	out := strings.Join(ids[:min(most, len(ids))], ", ")
	if more := len(ids) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// told is the text: what is missing, where, what says how it is to be, and what decides.
func told(f facts, docs []string) string {
	m := f.start.Masked
	var b strings.Builder
	name := path.Base(f.start.Repo)
	if m.Slice != nil {
		tellSlice(&b, f, name)
	} else {
		fmt.Fprintf(&b, "Write the missing bodies of %s %s.\n\n", name, f.cut.Release.Version)
		fmt.Fprintf(&b, "This is the source of the library without its implementation: the bodies of %d of its %d functions were taken out, and each of them fails where it is called. ", m.Taken, m.Functions)
	}
	b.WriteString("Signatures, comments and documentation stay as they are in the release, and so do the tests.\n\n")
	b.WriteString("Write the bodies so that the whole test suite passes. Names, signatures and behaviour have to be those that tests and documentation ask for. Changes to tests do not count.\n\n")
	b.WriteString("Files with missing bodies:\n\n")
	for _, file := range f.start.Files {
		fmt.Fprintf(&b, "- %s\n", file.Path)
	}
	if m.Slice != nil {
		b.WriteString("\nFunctions to write:\n\n")
		for _, function := range f.start.Functions.Modified {
			fmt.Fprintf(&b, "- %s\n", function)
		}
	}
	if len(docs) > 0 {
		const most = 20
		b.WriteString("\nDocumentation in the tree, beside the comments in the source:\n\n")
		for _, doc := range docs[:min(most, len(docs))] {
			fmt.Fprintf(&b, "- %s\n", doc)
		}
		if more := len(docs) - most; more > 0 {
			fmt.Fprintf(&b, "- and %d more in %s/\n", more, path.Dir(docs[most]))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// tellSlice says which part of a library is missing.
func tellSlice(b *strings.Builder, f facts, name string) {
	s, m := f.start.Masked.Slice, f.start.Masked
	if s.Function != "" {
		fmt.Fprintf(b, "Write the missing body of %s in %s of %s %s.\n\n", strings.TrimPrefix(s.Function, s.Path()+"::"), s.Path(), name, f.cut.Release.Version)
		b.WriteString("This is the source of the library without that body: the function fails where it is called, and all others are there. ")
		return
	}
	fmt.Fprintf(b, "Write the missing bodies of the module %s of %s %s.\n\n", s.Path(), name, f.cut.Release.Version)
	fmt.Fprintf(b, "This is the source of the library without the implementation of that module: the bodies of %d of its %d functions were taken out, and each of them fails where it is called. All other modules are there. ", m.Taken, m.Functions)
}

// documentation are the texts of a tree that tell users of it: its readme first, then what
// lies in its folders of docs.
func documentation(paths []string) []string {
	var readme, docs []string
	for _, p := range paths {
		part, _ := parts.Common(p)
		text := slices.Contains([]string{".md", ".rst", ".txt", ".adoc", ".markdown"}, path.Ext(p))
		dir, base := path.Split(p)
		top, _, _ := strings.Cut(p, "/")
		switch {
		case part != schemas.PartDocs:
		case dir == "" && strings.HasPrefix(strings.ToLower(base), "readme"):
			readme = append(readme, schemas.RecordPath(p))
		case text && slices.Contains([]string{"docs", "doc", "documentation"}, top):
			docs = append(docs, schemas.RecordPath(p))
		}
	}
	return append(readme, spec.Tells(docs)...)
}
