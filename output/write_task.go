package output

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// taskFile is one file of a task's folder.
type taskFile struct {
	name string
	mode fs.FileMode
	data []byte
}

// folderOf writes one task's folder and gives its row, or writes nothing and gives what
// looks like a credential in it.
func (w *writer) folderOf(t Task) (Row, []secrets.Finding, error) {
	base, packed, err := w.base(t)
	if err != nil {
		return Row{}, nil, err
	}
	row := RowOf(t, base)
	if len(row.FailToPass) == 0 {
		// SWE-bench's grader takes empty lists for resolved.
		return Row{}, nil, errors.New("no FAIL_TO_PASS: not a task")
	}
	files, err := w.taskFiles(t, row, base)
	if err != nil {
		return Row{}, nil, err
	}
	found, err := w.redactor.task(t, row, files)
	if err != nil || len(found) > 0 {
		return Row{}, found, err
	}
	if packed != nil {
		if err := w.put(BlobPath(base.Archive), 0o644, packed); err != nil {
			return Row{}, nil, err
		}
		w.archived(base.Archive, packed)
	}
	for _, f := range files {
		if err := w.put(f.name, f.mode, f.data); err != nil {
			return Row{}, nil, err
		}
	}
	return row, nil, nil
}

// taskFiles are the files of a task's folder.
func (w *writer) taskFiles(t Task, row Row, base Base) ([]taskFile, error) {
	dir := path.Join(TasksDir, t.ID())
	r := rendering(t, base.Archive)
	files := []taskFile{
		{StatementFile, 0o644, []byte(row.ProblemStatement)},
		{GoldFile, 0o644, t.Patch},
		{TestFile, 0o644, t.TestPatch},
		{DockerfileFile, 0o644, recipe.Dockerfile(r)},
		{RunFile, 0o755, recipe.RunScript(r)},
	}
	if t.Derive != nil {
		files = append(files, taskFile{MaskFile, 0o644, t.Derive})
	}
	if s := t.Statement.Specification; s != nil {
		for _, f := range s.Files {
			files = append(files, taskFile{f.Name(), 0o644, t.Specification[f.Path]})
		}
	}
	for _, f := range []struct {
		name string
		v    any
	}{{RecipeFile, t.Environment.Recipe}, {StartFile, t.Start}, {ProofFile, proofOf(t)}, {AdequacyFile, t.Adequacy}} {
		b, err := indented(f.v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		files = append(files, taskFile{f.name, 0o644, b})
	}
	for i := range files {
		files[i].name = path.Join(dir, files[i].name)
	}
	return append(files, inputs(dir, r)...), nil
}

func proofOf(t Task) schemas.Proof {
	p := t.Proof.Stable()
	slices.SortFunc(p.Tests, func(a, b schemas.TestVerdict) int { return strings.Compare(a.ID, b.ID) })
	return p
}

func rendering(t Task, archive schemas.Digest) recipe.Rendering {
	dir := path.Join(TasksDir, t.ID())
	specification := ""
	if t.Statement.Specification != nil {
		specification = path.Join(dir, SpecDir)
	}
	return recipe.Rendering{
		Specification: specification,
		ID:            t.ID(), Recipe: t.Environment.Recipe, Setup: t.Setup, SetupDir: path.Join(dir, setupDir),
		Archive: BlobPath(archive), Date: sealed(t.Start), Runs: t.Runs, Serve: t.Serve, InputDir: InputDir,
	}
}

// inputs are what Dockerfile and run script copy.
func inputs(dir string, r recipe.Rendering) []taskFile {
	var out []taskFile
	for i, f := range r.Setup.Files {
		if f.Delete || f.Mode.IsDir() {
			continue
		}
		out = append(out, taskFile{recipe.SetupName(r.SetupDir, i, f), perm(f), f.Data})
	}
	for i, run := range r.Runs {
		for j, f := range run.Inputs {
			out = append(out, taskFile{path.Join(dir, recipe.InputName(r.InputDir, i, j, f)), perm(f), f.Data})
		}
	}
	return out
}

func perm(f sandbox.File) fs.FileMode {
	if f.Mode&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// archiveExt ends the names of base archives.
const archiveExt = ".tar.gz"

// BlobPath is where a blob lies in the folder.
func BlobPath(d schemas.Digest) string {
	return path.Join(BlobsDir, strings.TrimPrefix(string(d), "sha256:")+archiveExt)
}

// base packs the base tree, named by the digest of its bytes, and counts in it. packed is
// nil where it was written before.
func (w *writer) base(t Task) (b Base, packed []byte, err error) {
	key := t.Start.BaseTree + "\x00" + t.Start.Language
	if b, ok := w.bases[key]; ok && w.packed[b.Archive] {
		return b, nil, nil
	}
	tr, err := t.Base()
	if err != nil {
		return Base{}, nil, fmt.Errorf("reading the base tree: %w", err)
	}
	if tr.ID() != t.Start.BaseTree {
		return Base{}, nil, fmt.Errorf("the base tree is %s, not %s", tr.ID(), t.Start.BaseTree)
	}
	if packed, err = Archive(tr); err != nil {
		return Base{}, nil, err
	}
	b = Base{Archive: schemas.DigestBytes(packed)}
	b.Files, b.Lines = code(tr, t.Start.Language)
	w.bases[key] = b
	if w.packed[b.Archive] {
		return b, nil, nil
	}
	return b, packed, nil
}

// Archive packs a tree as blobs hold it: no name, no time, no system in the header.
func Archive(t *tree.Tree) ([]byte, error) { return packed(t.WriteTar) }

// Archives packs several trees into one archive, in which they share what they have in common.
func Archives(trees []*tree.Tree) ([]byte, error) {
	return packed(func(w io.Writer) error { return tree.WriteTars(w, trees) })
}

func packed(write func(io.Writer) error) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	zw.OS = 255 // unknown
	if err := write(zw); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return buf.Bytes(), nil
}
