package document

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
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/spec"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// maxPage bounds the HTML that is printed, in bytes.
const maxPage = 24 << 20

// facts is what one specification is made from.
type facts struct {
	start   schemas.Start
	release schemas.Release
	starter *tree.Tree
	patch   []byte // from it to the release
	built   Built
}

// specify makes the specification of a library and keeps its files. The text is masked
// before it is printed, so that both say the same.
func (d *Documenter) specify(ctx context.Context, f facts) (*schemas.Specification, error) {
	pipeline.Doing(ctx, "writing the specification of %d files", len(f.starter.Paths()))
	var plugins []lang.Language
	for _, l := range d.builder.Languages {
		plugins = append(plugins, l)
	}
	ships := parts.New(plugins...).Shipped(f.starter)
	bodies, err := seal.BodiesOf(f.starter, f.patch, ships)
	if err != nil {
		return nil, err
	}
	made := spec.Options{Name: path.Base(f.start.Repo), Version: f.release.Version, Language: f.start.Language, Starter: f.starter, Bodies: bodies, Ships: ships}
	pages, err := d.pages(f.built)
	if err != nil {
		return nil, err
	}
	made.Built = pages
	built := spec.Build(made)
	out := &schemas.Specification{
		Source: built.Source, Reader: schemas.ReadFiles, NotBuilt: f.built.NotBuilt, Documents: len(built.Documents), Reference: built.Reference,
		Pictures: len(built.Pictures), Redacted: built.Redacted, Left: built.Left,
		Guide: built.Guide, Public: built.Public, Documented: built.Documented, Described: built.Described,
	}
	switch {
	case built.Built:
		out.Reader, out.BuiltBy, out.Packages = f.built.Tool, pages.Tool, f.built.Packages
	case pages != nil:
		out.NotBuilt = "its pages hold no documentation"
	}
	built.Markdown, out.Masked = masked(built.Markdown, string(f.patch))
	out.Words = len(strings.Fields(built.Markdown))
	if leak := spec.Leak(built.Markdown, bodies); leak != "" {
		return nil, pipeline.Reject(schemas.LeakyStatement, "the specification holds lines of the implementation: %.200q", leak)
	}
	if err := d.keep(out, schemas.SpecificationText, []byte(built.Markdown)); err != nil {
		return nil, err
	}
	if err := d.print(ctx, out, built, f.release.Date); err != nil {
		return nil, err
	}
	for _, p := range built.Pictures {
		if err := d.keep(out, p.Name, p.Data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pages are those that were built, nil where there are none.
func (d *Documenter) pages(b Built) (*spec.Pages, error) {
	if b.Pages == "" {
		return nil, nil
	}
	data, err := d.outside.Blobs.Get(b.Pages)
	if err != nil {
		return nil, fmt.Errorf("reading the pages of the documentation: %w", err)
	}
	pages, err := spec.ReadPages(data)
	return &pages, err
}

func (d *Documenter) keep(out *schemas.Specification, name string, data []byte) error {
	digest, err := d.outside.Blobs.Put(data)
	if err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	out.Files = append(out.Files, schemas.SpecificationFile{Path: name, Digest: digest})
	return nil
}

// print adds the PDF, or why there is none.
func (d *Documenter) print(ctx context.Context, out *schemas.Specification, built spec.Spec, date time.Time) error {
	if d.outside.Printer == nil {
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
	printed, pages, err := d.outside.Printer.Print(ctx, page, date)
	if errors.Is(err, pdf.ErrFailed) {
		out.WithoutPDF = pdf.ErrFailed.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("printing the specification: %w", err)
	}
	out.PrintedBy, out.Pages = d.outside.PrintedBy, pages
	return d.keep(out, schemas.SpecificationPDF, printed)
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
