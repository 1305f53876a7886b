package output

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// ErrNotOurs is a folder that holds something and no manifest of ours: writing a
// dataset there would lose it.
var ErrNotOurs = errors.New("not empty and no benchmint dataset")

// Input is all that a dataset is made of. Equal inputs give equal bytes, in
// whatever order tasks and rejects come.
type Input struct {
	Name          string
	Split         string // "" is test
	Tasks         []Task
	Rejects       []Reject
	Timings       []Timing
	Funnel        []Funnel
	Configuration any // effective, without what names this machine
	Tools         map[string]string
}

// DefaultSplit is where SWE-bench's clients look first.
const DefaultSplit = "test"

func dataPath(split string) string { return path.Join(DataDir, split+".jsonl") }

// Write puts a dataset at dir, whole or not at all: it is written beside dir and
// then swapped in, so that no reader meets a half one. What an earlier dataset
// left is gone afterwards; what is not ours (a .git) stays. ErrNotOurs.
func Write(dir string, in Input) (Manifest, error) {
	if err := checkInput(&in); err != nil {
		return Manifest{}, err
	}
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // else the link would be swapped away, not the folder
	}
	if err := ours(dir); err != nil {
		return Manifest{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // after the swap this is the earlier dataset
	w := &writer{dir: tmp, files: map[string]FileInfo{}, archives: map[string]schemas.Digest{}}
	m, err := w.all(in)
	if err != nil {
		return Manifest{}, fmt.Errorf("writing dataset: %w", err)
	}
	return m, swap(tmp, dir)
}

func checkInput(in *Input) error {
	if in.Split == "" {
		in.Split = DefaultSplit
	}
	if strings.Trim(in.Split, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") != "" {
		return fmt.Errorf("split %q: only letters, digits, _ and . (Hugging Face)", in.Split)
	}
	in.Tasks, in.Rejects, in.Timings = slices.Clone(in.Tasks), slices.Clone(in.Rejects), slices.Clone(in.Timings)
	slices.SortFunc(in.Tasks, func(a, b Task) int { return strings.Compare(a.ID(), b.ID()) })
	seen := map[string]string{}
	for _, t := range in.Tasks {
		fold := strings.ToLower(t.ID())
		if other, ok := seen[fold]; ok {
			return fmt.Errorf("two tasks with the ID %s (%s)", t.ID(), other)
		}
		seen[fold] = t.ID()
	}
	return nil
}

// ours tells whether dir may be replaced.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing dataset: %w", err)
	}
	var m struct{ Format string }
	b, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil || json.Unmarshal(b, &m) != nil || !strings.HasPrefix(m.Format, "benchmint-dataset/") {
		return fmt.Errorf("writing dataset: %s: %w", dir, ErrNotOurs)
	}
	return nil
}

var ownNames = []string{ManifestFile, CardFile, RejectsFile, TimingsFile, DataDir, TasksDir, BlobsDir}

// swap makes tmp the dataset at dir in one step, and moves what is not ours over.
func swap(tmp, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(tmp, dir); err != nil {
			return fmt.Errorf("writing dataset: %w", err)
		}
		return nil
	}
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system without exchange: two steps, a gap between
		old := tmp + ".old"
		if err = os.Rename(dir, old); err == nil {
			err = os.Rename(tmp, dir)
		}
		if err == nil {
			err = os.Rename(old, tmp)
		}
	}
	if err != nil {
		return fmt.Errorf("writing dataset: swapping it in: %w", err)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return fmt.Errorf("writing dataset: %w", err)
	}
	for _, e := range entries {
		if slices.Contains(ownNames, e.Name()) {
			continue
		}
		if err := os.Rename(filepath.Join(tmp, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("keeping %s, which is not ours: %w", e.Name(), err)
		}
	}
	return nil
}

type writer struct {
	dir      string
	files    map[string]FileInfo
	archives map[string]schemas.Digest // tree ID → archive, so that equal trees are packed once
}

func (w *writer) all(in Input) (Manifest, error) {
	var rows bytes.Buffer
	licences := map[string]int{}
	for _, t := range in.Tasks {
		row, err := w.task(t)
		if err != nil {
			return Manifest{}, fmt.Errorf("%s: %w", t.ID(), err)
		}
		if err := line(&rows, row); err != nil {
			return Manifest{}, fmt.Errorf("%s: %w", t.ID(), err)
		}
		licences[orUnknown(row.Benchmint.Licence)]++
	}
	if err := w.put(dataPath(in.Split), 0o644, rows.Bytes()); err != nil {
		return Manifest{}, err
	}
	if err := putLines(w, RejectsFile, in.Rejects, func(r Reject) string { return r.InstanceID + "\x00" + r.Stage + "\x00" + r.Commit }); err != nil {
		return Manifest{}, err
	}
	if err := putLines(w, TimingsFile, in.Timings, func(t Timing) string { return t.InstanceID + "\x00" + t.Stage }); err != nil {
		return Manifest{}, err
	}
	delete(w.files, TimingsFile) // measured: outside the digests
	m, err := manifest(in)
	if err != nil {
		return Manifest{}, err
	}
	if err := w.put(CardFile, 0o644, card(m, licences)); err != nil {
		return Manifest{}, err
	}
	m.Files = w.files
	b, err := indented(m)
	if err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, w.write(ManifestFile, 0o644, b)
}

func orUnknown(licence string) string {
	if licence == "" {
		return "not recognised"
	}
	return licence
}

func manifest(in Input) (Manifest, error) {
	m := Manifest{Format: Format, Name: in.Name, Split: in.Split, Funnel: some(in.Funnel), Tools: in.Tools, Counts: Counts{Tasks: len(in.Tasks)}}
	if m.Tools == nil {
		m.Tools = map[string]string{}
	}
	for _, r := range in.Rejects {
		switch r.End {
		case schemas.StepRejected:
			m.Counts.Rejected++
		case schemas.StepDeferred:
			m.Counts.Deferred++
		case schemas.StepFailed:
			m.Counts.Failed++
		default:
			return m, fmt.Errorf("%s: end %q is none of an item", r.InstanceID, r.End)
		}
	}
	var err error
	if m.Configuration, err = schemas.Canonical(in.Configuration); err != nil {
		return m, fmt.Errorf("configuration: %w", err)
	}
	return m, nil
}

// task writes one task's folder and gives its row.
func (w *writer) task(t Task) (Row, error) {
	archive, err := w.archive(t)
	if err != nil {
		return Row{}, err
	}
	row := RowOf(t, archive)
	if len(row.FailToPass) == 0 {
		// SWE-bench's grader takes empty lists for resolved.
		return Row{}, errors.New("no FAIL_TO_PASS: not a task")
	}
	dir := path.Join(TasksDir, t.ID())
	r := rendering(t, archive)
	files := []struct {
		name string
		mode fs.FileMode
		data []byte
	}{
		{StatementFile, 0o644, []byte(row.ProblemStatement)},
		{GoldFile, 0o644, t.Patch},
		{TestFile, 0o644, t.TestPatch},
		{DockerfileFile, 0o644, recipe.Dockerfile(r)},
		{RunFile, 0o755, recipe.RunScript(r)},
	}
	for _, f := range files {
		if err := w.put(path.Join(dir, f.name), f.mode, f.data); err != nil {
			return Row{}, err
		}
	}
	for name, v := range map[string]any{RecipeFile: t.Environment.Recipe, StartFile: t.Start, ProofFile: proofOf(t)} {
		b, err := indented(v)
		if err != nil {
			return Row{}, fmt.Errorf("%s: %w", name, err)
		}
		if err := w.put(path.Join(dir, name), 0o644, b); err != nil {
			return Row{}, err
		}
	}
	return row, w.inputs(dir, r)
}

func proofOf(t Task) schemas.Proof {
	p := t.Proof.Stable()
	slices.SortFunc(p.Tests, func(a, b schemas.TestVerdict) int { return strings.Compare(a.ID, b.ID) })
	return p
}

func rendering(t Task, archive schemas.Digest) recipe.Rendering {
	dir := path.Join(TasksDir, t.ID())
	return recipe.Rendering{
		ID: t.ID(), Recipe: t.Environment.Recipe, Setup: t.Setup, SetupDir: path.Join(dir, setupDir),
		Archive: BlobPath(archive), Date: t.Start.BaseDate.UTC().Format("2006-01-02T15:04:05Z"), Runs: t.Runs, InputDir: inputDir,
	}
}

// inputs writes what Dockerfile and run script copy.
func (w *writer) inputs(dir string, r recipe.Rendering) error {
	for i, f := range r.Setup.Files {
		if f.Delete || f.Mode.IsDir() {
			continue
		}
		if err := w.put(recipe.SetupName(r.SetupDir, i, f), perm(f), f.Data); err != nil {
			return err
		}
	}
	for i, run := range r.Runs {
		for j, f := range run.Inputs {
			if err := w.put(path.Join(dir, recipe.InputName(r.InputDir, i, j, f)), perm(f), f.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

func perm(f sandbox.File) fs.FileMode {
	if f.Mode&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// BlobPath is where a blob lies in the folder.
func BlobPath(d schemas.Digest) string {
	return path.Join(BlobsDir, strings.TrimPrefix(string(d), "sha256:")+".tar.gz")
}

// archive packs the base tree, named by the digest of its bytes.
func (w *writer) archive(t Task) (schemas.Digest, error) {
	if d, ok := w.archives[t.Start.BaseTree]; ok {
		return d, nil
	}
	base, err := t.Base()
	if err != nil {
		return "", fmt.Errorf("reading the base tree: %w", err)
	}
	if base.ID() != t.Start.BaseTree {
		return "", fmt.Errorf("the base tree is %s, not %s", base.ID(), t.Start.BaseTree)
	}
	b, err := Archive(base)
	if err != nil {
		return "", err
	}
	d := schemas.DigestBytes(b)
	w.archives[t.Start.BaseTree] = d
	return d, w.put(BlobPath(d), 0o644, b)
}

// Archive packs a tree as blobs hold it: no name, no time, no system in the header.
func Archive(t *tree.Tree) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	zw.OS = 255 // unknown
	if err := t.WriteTar(zw); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return buf.Bytes(), nil
}

func putLines[T any](w *writer, name string, items []T, key func(T) string) error {
	slices.SortStableFunc(items, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	var buf bytes.Buffer
	for _, x := range items {
		if err := line(&buf, x); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.put(name, 0o644, buf.Bytes())
}

func line(buf *bytes.Buffer, v any) error {
	b, err := schemas.Canonical(v)
	if err != nil {
		return err
	}
	buf.Write(b)
	buf.WriteByte('\n')
	return nil
}

func indented(v any) ([]byte, error) {
	b, err := schemas.Canonical(v)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, b, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// put writes a file and remembers its digest for the manifest.
func (w *writer) put(name string, mode fs.FileMode, b []byte) error {
	w.files[name] = FileInfo{SHA256: schemas.DigestBytes(b), Size: int64(len(b))}
	return w.write(name, mode, b)
}

// write syncs: the swap must never make durable what its files are not.
func (w *writer) write(name string, mode fs.FileMode, b []byte) error {
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}
