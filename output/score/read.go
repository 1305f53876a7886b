package score

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// TaskOf is what figures need to know of a row.
func TaskOf(r output.Located) Task {
	t := Task{
		Instance: r.InstanceID, Language: r.Benchmint.Language, Kind: r.Benchmint.Kind, CreatedAt: r.Created(), Files: r.Benchmint.Parts[schemas.PartCode],
		Lines: r.Benchmint.Sizes.SourceAdded + r.Benchmint.Sizes.SourceRemoved, Repo: r.Repo, Domain: r.Benchmint.Category,
		Split: strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File)), RepoFiles: r.Benchmint.Statistics.RepositoryFiles, RepoLines: r.Benchmint.Statistics.RepositoryLines,
	}
	if x := r.Benchmint.Release; x != nil {
		t.Release, t.Part = x.First, cmp.Or(x.Part, output.Public)
	}
	if x := r.Benchmint.Service; x != nil {
		t.Framework, t.Category, t.Endpoints = x.Framework, x.Category, r.EndpointTests()
		if x.BaseImage != "" {
			t.Variant = schemas.VariantEnv
		}
	}
	if l := r.Benchmint.Library; l != nil {
		t.ZeroWork, t.Counted = l.ZeroWork, l.Counted
		if l.Specification != nil {
			t.Specification = l.Specification.Source
		}
	}
	return t
}

// Grades are the files of an evaluation, read.
type Grades struct {
	Figures // metrics.json
	// Lines are those of results.jsonl, in its order: the first is line 1 of the file.
	Lines []Line
	// PatchOf gives the patch of a line; nil where the evaluation's store is not there.
	PatchOf func(schemas.Digest) ([]byte, error)
}

// Read reads the folder that an evaluation wrote. What is not as Write writes it is an
// error that names file and line.
//
// A key of metrics.json that this version does not know is an error that names the version which wrote the file.
func Read(dir string) (*Grades, error) {
	g := &Grades{}
	name := filepath.Join(dir, MetricsFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("[")) {
		return nil, fmt.Errorf("%s was written by an older version: benchmint eval DATASET --regrade --output %s writes it anew", name, dir)
	}
	if err := strict(b, &g.Figures); err != nil {
		if key := unknownField.FindStringSubmatch(err.Error()); key != nil {
			return nil, fmt.Errorf("%s: unknown key %q: benchmint %s wrote it, and this version is older: read it with that one, or write it anew with this one (benchmint eval DATASET --regrade --output %s)", name, key[1], writerOf(b), dir)
		}
		return nil, fmt.Errorf("%s:%d: %w", name, lineOf(b, err), err)
	}
	name = filepath.Join(dir, ResultsFile)
	if b, err = os.ReadFile(name); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b) {
		var l Line
		err := strict(line, &l)
		if err == nil {
			err = l.validate()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, len(g.Lines)+1, err)
		}
		g.Lines = append(g.Lines, l)
	}
	return g, nil
}

var unknownField = lazyregexp.New(`^json: unknown field "(.*)"$`)

// writerOf is the version that wrote a file of figures.
func writerOf(b []byte) string {
	var of struct {
		Program string `json:"program"`
	}
	if err := json.Unmarshal(b, &of); err != nil || of.Program == "" {
		return "of an unknown version"
	}
	return of.Program
}

// Add takes the models of another evaluation of the same tasks beside those of this one. Models of two evaluations are not compared with
// each other: for that one evaluation reads the predictions of both.
func (g *Grades) Add(other *Grades) error {
	if g.Over != other.Over {
		return fmt.Errorf("its figures are over %s tasks, those of the one before over %s", other.Over, g.Over)
	}
	for _, m := range other.Models {
		if slices.ContainsFunc(g.Models, func(x Model) bool { return x.Model == m.Model }) {
			return fmt.Errorf("model %q is in another evaluation, too", m.Model)
		}
	}
	first, second := g.PatchOf, other.PatchOf
	g.Models, g.Lines, g.Comparisons = append(g.Models, other.Models...), append(g.Lines, other.Lines...), append(g.Comparisons, other.Comparisons...)
	slices.SortStableFunc(g.Models, func(a, b Model) int { return strings.Compare(a.Model, b.Model) })
	g.Relations = modelRelations(g.Models, nil)
	switch {
	case first == nil:
		g.PatchOf = second
	case second != nil:
		g.PatchOf = func(d schemas.Digest) ([]byte, error) {
			b, err := first(d)
			if err != nil {
				b, err = second(d)
			}
			return b, err
		}
	}
	return nil
}

// ToReview are the lines of predictions that pass and use what can reach their tests.
func (g *Grades) ToReview() []Line {
	var out []Line
	for _, l := range g.Lines {
		if l.Resolved && len(l.Uses) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// validate names what no line can be.
func (l Line) validate() error {
	switch {
	case l.Instance == "":
		return errors.New("instance_id is empty")
	case l.Sample < 0:
		return fmt.Errorf("sample is %d", l.Sample)
	case l.Verdict == "" && l.Fault == "":
		return errors.New("neither verdict nor fault")
	case l.Verdict != "" && !slices.Contains(schemas.Verdicts, l.Verdict):
		return fmt.Errorf("verdict %q is not one of %q", l.Verdict, schemas.Verdicts)
	case l.Resolved != (l.Verdict == schemas.VerdictPass):
		return fmt.Errorf("resolved is %t with verdict %q", l.Resolved, l.Verdict)
	}
	return nil
}

// strict decodes one JSON value and nothing after it; an unknown key is an error.
func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); errors.Is(err, io.EOF) {
		return errors.New("no JSON value")
	} else if err != nil {
		return err
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%.20q after the end of the value", rest)
	}
	return nil
}

// lineOf is the line that a decoding error speaks of, from 1; 1 where it does not say.
func lineOf(b []byte, err error) int {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	at := int64(0)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &wrong):
		at = wrong.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(b))
	}
	return bytes.Count(b[:min(at, int64(len(b)))], []byte("\n")) + 1
}
