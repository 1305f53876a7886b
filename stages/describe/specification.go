package describe

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/pdf"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/screen"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/spec"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// specVersion is raised where a specification of the same starter is another.
const specVersion = "1, " + secrets.RulesVersion

// maxPage bounds the HTML that is printed, in bytes.
const maxPage = 24 << 20

// Printer makes a PDF of a page of HTML, dated as is said, and counts its pages;
// pdf.Printer does. pdf.ErrFailed is about the page.
type Printer interface {
	Print(ctx context.Context, page []byte, date time.Time) (pdf []byte, pages int, err error)
}

// Blobs keeps what records name by digest.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
}

// Specifier makes the specifications of libraries.
type Specifier struct {
	Blobs     Blobs
	Printer   Printer // nil prints nothing
	PrintedBy string  // its name and version
}

// Specify has specifications made beside the statements of libraries.
func (d *Describer) Specify(s *Specifier) *Describer {
	d.specifier = s
	return d
}

// specifies is what the specification of a library depends on beside its start, "" for what
// is none.
func (d *Describer) specifies(id string) string {
	if d.specifier == nil {
		return ""
	}
	start, err := d.records.Start(id)
	if err != nil || start.Kind != schemas.KindLibrary {
		return "" // Run says what cannot be read
	}
	return specVersion + ", " + d.specifier.PrintedBy
}

// specify makes the specification of a library and keeps its files. The text is masked
// before it is printed, so that both say the same.
func (s *Specifier) specify(ctx context.Context, f facts, languages map[string]lang.Language) (*schemas.Specification, error) {
	pipeline.Doing(ctx, "writing the specification of %d files", len(f.starter.Paths()))
	var plugins []lang.Language
	for _, l := range languages {
		plugins = append(plugins, l)
	}
	rules := parts.New(plugins...)
	made := spec.Options{
		Name: path.Base(f.start.Repo), Version: f.cut.Release.Version, Language: f.start.Language, Starter: f.starter, Patch: f.patch,
		Ships: func(p string) bool {
			part, rule := rules.Part(p, f.starter)
			return parts.Ships(p, part, rule)
		},
	}
	built := spec.Build(made)
	out := &schemas.Specification{
		Source: built.Source, Reader: "files", Documents: len(built.Documents), Reference: built.Reference,
		Pictures: len(built.Pictures), Redacted: built.Redacted, Left: built.Left,
	}
	built.Markdown, out.Masked = masked(built.Markdown, string(f.patch))
	out.Words = len(strings.Fields(built.Markdown))
	if leaks := spec.Leaks(built.Markdown, made); len(leaks) > 0 {
		return nil, pipeline.Reject(schemas.LeakyStatement, "the specification holds lines of the implementation: %.200q", leaks[0])
	}
	if err := s.keep(out, schemas.SpecificationText, []byte(built.Markdown)); err != nil {
		return nil, err
	}
	if err := s.print(ctx, out, built, f.cut.Release.Date); err != nil {
		return nil, err
	}
	for _, p := range built.Pictures {
		if err := s.keep(out, p.Name, p.Data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Specifier) keep(out *schemas.Specification, name string, data []byte) error {
	digest, err := s.Blobs.Put(data)
	if err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	out.Files = append(out.Files, schemas.SpecificationFile{Path: name, Digest: digest})
	return nil
}

// print adds the PDF, or why there is none.
func (s *Specifier) print(ctx context.Context, out *schemas.Specification, built spec.Spec, date time.Time) error {
	if s.Printer == nil {
		out.WithoutPDF = "no Chromium on the machine (Debian package " + pdf.Package + ")"
		return nil
	}
	page, err := built.HTML()
	if err != nil {
		return err
	}
	if len(page) > maxPage {
		out.WithoutPDF = fmt.Sprintf("the page has %d bytes, at most %d are printed", len(page), maxPage)
		return nil
	}
	pipeline.Doing(ctx, "printing the specification")
	printed, pages, err := s.Printer.Print(ctx, page, date)
	if errors.Is(err, pdf.ErrFailed) {
		out.WithoutPDF = pdf.ErrFailed.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("printing the specification: %w", err)
	}
	out.PrintedBy, out.Pages = s.PrintedBy, pages
	return s.keep(out, schemas.SpecificationPDF, printed)
}

// masked is a text as a dataset may hold it: without credentials, without addresses of people
// and the names beside them, with its hidden characters shown. code is what the solution
// works with: addresses in it stay.
func masked(text, code string) (string, []schemas.Masking) {
	var out []schemas.Masking
	text, found := secrets.Mask(prose.Visible(text))
	for _, f := range found {
		out = append(out, schemas.Masking{Line: f.Line, Rule: f.Rule, Fingerprint: f.Fingerprint})
	}
	text, hits := screen.Mask(text, func(address string) bool { return strings.Contains(code, address) })
	for _, h := range hits {
		out = append(out, schemas.Masking{Line: h.Line, Rule: h.Rule})
	}
	slices.SortStableFunc(out, func(a, b schemas.Masking) int { return a.Line - b.Line })
	return text, out
}
