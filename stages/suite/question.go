package suite

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// What a question holds at most, in bytes.
const (
	maxBody   = 8 << 10
	maxChange = 16 << 10
	maxBase   = 12 << 10
	maxStyle  = 2 << 10
	maxFiles  = 20  // names of test files
	maxHidden = 100 // names that only the solution has
)

// edit is one edit without tests, in its environment.
type edit struct {
	start       schemas.Start
	change      schemas.Change
	trees       states.Trees
	environment schemas.Environment
	language    lang.Language
	author      lang.Author
	path        string   // of the file that is to be written
	hidden      []string // names that it must not use
}

func (w *Writer) edit(ctx context.Context, in schemas.Provisioned) (*edit, error) {
	e := &edit{environment: in.Environment}
	var err error
	if e.start, err = w.Records.Start(in.StartID); err != nil {
		return nil, err
	}
	if e.change, err = w.Records.Change(in.StartID); err != nil {
		return nil, err
	}
	if e.trees, err = w.States.Of(ctx, e.start); err != nil {
		return nil, err
	}
	e.language = w.Runs.Builder.Languages[e.start.Language]
	author, ok := e.language.(lang.Author)
	if !ok {
		return nil, fmt.Errorf("no suite can be written in %q", e.start.Language)
	}
	e.author = author
	e.path = e.place()
	e.hidden = w.Names.Hidden(e.start, e.trees.B, e.trees.G, e.change)
	return e, nil
}

// place is the path of the suite: one that neither state has.
func (e *edit) place() string {
	code := e.code()
	slices.SortStableFunc(code, func(a, b schemas.PartFile) int { return b.Added + b.Removed - a.Added - a.Removed })
	var paths []string
	for _, f := range code {
		paths = append(paths, f.Path)
	}
	tests := e.testFiles(e.trees.G)
	const digits = 8
	for stem := "benchmint_" + e.start.Commit[:digits]; ; stem += "x" {
		if p := e.author.Place(tests, paths, stem); !e.trees.G.Has(p) && !e.trees.B.Has(p) {
			return p
		}
	}
}

// code are the source files of the code part that the solution has.
func (e *edit) code() (out []schemas.PartFile) {
	for _, f := range e.start.Files {
		if f.Part == schemas.PartCode && f.Status != "D" && e.language.Source(f.Path) {
			out = append(out, f)
		}
	}
	return out
}

func (e *edit) question() prompts.SuiteInput {
	title, body := e.change.Written()
	in := prompts.SuiteInput{
		Repository: e.start.Repo, Language: e.start.Language, Path: e.path, Subject: title, Body: asked.Cut(body, maxBody),
		Change: asked.Cut(e.diff(), maxChange), BaseCode: asked.Cut(e.baseCode(), maxBase), Forbidden: e.hidden[:min(len(e.hidden), maxHidden)],
	}
	for _, c := range e.change.Range {
		in.Commits = append(in.Commits, c.Subject)
	}
	in.TestFiles, in.Style = e.tests()
	return in
}

// diff is the part of the patch that is of the code.
func (e *edit) diff() string {
	const head = "diff --git "
	var out strings.Builder
	for _, one := range strings.Split("\n"+string(e.trees.Patch), "\n"+head) {
		line, _, _ := strings.Cut(one, "\n")
		if slices.ContainsFunc(e.start.Paths(schemas.PartCode), func(p string) bool { return strings.HasSuffix(line, " b/"+p) }) {
			out.WriteString(head + one + "\n")
		}
	}
	return out.String()
}

func (e *edit) baseCode() string {
	var out strings.Builder
	for _, f := range e.code() {
		before := f.Path
		if f.OldPath != "" {
			before = f.OldPath
		}
		if data, err := e.trees.B.Read(before); err == nil {
			fmt.Fprintf(&out, "# %s\n%s\n", before, data)
		}
	}
	return out.String()
}

// tests are the names of test files, those beside the suite first, and how the first one begins.
func (e *edit) tests() (names []string, style string) {
	names = e.testFiles(e.trees.B)
	far := func(p string) int {
		if path.Dir(p) == path.Dir(e.path) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(names, func(a, b string) int { return far(a) - far(b) })
	for _, p := range names {
		if data, err := e.trees.B.Read(p); err == nil && strings.Contains(string(data), "est") {
			style = asked.Cut(string(data), maxStyle)
			break
		}
	}
	return names[:min(len(names), maxFiles)], style
}

// testFiles are the source files of the tests of a state.
func (e *edit) testFiles(t *tree.Tree) (names []string) {
	is := parts.New(e.language).Tests(t)
	for _, p := range t.Paths() {
		if is(p) && e.language.Source(p) {
			names = append(names, p)
		}
	}
	return names
}
