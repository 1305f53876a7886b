package describe

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Library is what the tests of a library must be for its task to mean something.
type Library struct {
	MaxZeroWork float64 `json:"max_zero_work"` // share of its tests that pass with nothing done, 0 to 1
	MinPassing  float64 `json:"min_passing"`   // share of its tests that pass in the release, 0 to 1
}

// DefaultLibrary are the bounds of Commit0's paper for the release, and one of ours for the
// starter.
func DefaultLibrary() Library { return Library{MaxZeroWork: 0.05, MinPassing: 0.98} }

// library writes the statement of a library, by the rules alone: what it is told of is in
// the tree. It names no body, and nothing that is not in the base.
func (d *Describer) library(ctx context.Context, f facts) (schemas.Statement, error) {
	bounds := DefaultLibrary()
	if d.config.Library != nil {
		bounds = *d.config.Library
	}
	if err := bounds.holds(f.proof); err != nil {
		return schemas.Statement{}, err
	}
	st := schemas.Statement{StartID: f.start.ID(), Provider: prompts.Rules, From: []string{"signatures"}}
	docs := documentation(f.base.Paths())
	if len(docs) > 0 {
		st.From = append(st.From, "docs")
	}
	st.Text = told(f, docs)
	if hand := d.overrides[st.StartID]; hand.Statement != "" {
		st.Text, st.Provider, st.WrittenBy, st.From = hand.Statement, schemas.Hand, schemas.Hand, []string{schemas.Hand}
	}
	pipeline.Provide(ctx, prompts.Provenance{Provider: st.Provider})
	return st, nil
}

// holds rejects a library whose tests say too little.
func (l Library) holds(p schemas.Proof) error {
	if share := p.Passing(); share < l.MinPassing {
		return pipeline.Reject(schemas.SuiteFails, "%.1f %% of the tests pass in the release, at least %.1f %% are asked for; %s", 100*share, 100*l.MinPassing, named(p.List(schemas.Failing)))
	}
	if share := p.ZeroWork(); share > l.MaxZeroWork {
		return pipeline.Reject(schemas.ZeroWork, "%.1f %% of the tests pass with nothing done, at most %.1f %% may; %s", 100*share, 100*l.MaxZeroWork, named(p.List(schemas.P2P)))
	}
	return nil
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
	fmt.Fprintf(&b, "Write the missing bodies of %s %s.\n\n", name, f.cut.Release.Version)
	fmt.Fprintf(&b, "This is the source of the library without its implementation: the bodies of %d of its %d functions were taken out, and each of them fails where it is called. ", m.Taken, m.Functions)
	b.WriteString("Signatures, comments and documentation stay as they are in the release, and so do the tests.\n\n")
	b.WriteString("Write the bodies so that the whole test suite passes. Names, signatures and behaviour have to be those that tests and documentation ask for. Changes to tests do not count.\n\n")
	b.WriteString("Files with missing bodies:\n\n")
	for _, file := range f.start.Files {
		fmt.Fprintf(&b, "- %s\n", file.Path)
	}
	if len(docs) > 0 {
		b.WriteString("\nSpecification, beside the comments in the source:\n\n")
		for _, doc := range docs {
			fmt.Fprintf(&b, "- %s\n", doc)
		}
	}
	return strings.TrimRight(b.String(), "\n")
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
	return append(readme, docs...)
}
