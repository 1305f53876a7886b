// Package formats writes a dataset as the programs of others read it: SWE-bench, Harbor,
// Hugging Face datasets, RES-Q and Commit0. Each format is a function of the dataset's folder.
//
// It never reads a store, never runs anything, and never writes a task that a format
// cannot express: such a task is refused, by name and reason, and the others are written.
package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Task is one row with all of its folder that formats read.
type Task struct {
	output.Row
	Split             string
	Recipe            schemas.Recipe
	Gold, Hidden      []byte     // patch and test_patch
	Base, Start, Goal *tree.Tree // B, S and G
	Script            []byte     // run.sh
	Inputs            []Input    // what run.sh copies
	// Specification are the files of a library's specification by their paths; nil where there is none.
	Specification map[string][]byte
	Date          time.Time // of the neutral commit that the start is in an image
}

// Input is a file beside run.sh; Name is relative to it.
type Input struct {
	Name string
	Data []byte
}

// Format is one client's form of a dataset.
type Format interface {
	Name() string
	// Fits is nil, or why the client cannot be told this task.
	Fits(t Task) error
	// Open begins a folder in the format; dir is there and empty.
	Open(dir string, d *output.Dataset) (Sink, error)
}

// Sink takes the tasks that fit, in the order of the dataset, and ends the folder.
type Sink interface {
	Add(t Task) error
	Close() error
}

// All are the formats.
func All() []Format { return []Format{SWEBench{}, Harbor{}, HuggingFace{}, RESQ{}, Commit0{}} }

// Refusal is a task that a format cannot express.
type Refusal struct {
	InstanceID string `json:"instance_id"`
	Reason     string `json:"reason"`
}

// Result is what was written.
type Result struct {
	Format  string    `json:"format"`
	Folder  string    `json:"folder"`
	Written int       `json:"written"`
	Refused []Refusal `json:"refused"`
}

// ErrNotEmpty is a folder to write to that holds something.
var ErrNotEmpty = errors.New("the folder is not empty")

// Without is a format that does not fit the tasks with a reason in why, by ID.
func Without(f Format, why map[string]string) Format { return without{f, why} }

type without struct {
	Format
	why map[string]string
}

func (w without) Fits(t Task) error {
	if why := w.why[t.InstanceID]; why != "" {
		return errors.New(why)
	}
	return w.Format.Fits(t)
}

// Export writes d at dir, whole or not at all. ErrNotEmpty.
func Export(dir string, d *output.Dataset, f Format) (r Result, err error) {
	r = Result{Format: f.Name(), Folder: filepath.Clean(dir), Refused: []Refusal{}}
	if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	switch there, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return r, err
	case len(there) > 0:
		return r, fmt.Errorf("%s: %w", r.Folder, ErrNotEmpty)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return r, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return r, err
	}
	sink, err := f.Open(tmp, d)
	if err != nil {
		return r, err
	}
	err = r.each(d, f, sink)
	if err = errors.Join(err, sink.Close()); err != nil {
		return r, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty, or somebody else's by now
		return r, err
	}
	return r, os.Rename(tmp, dir)
}

func (r *Result) each(d *output.Dataset, f Format, sink Sink) error {
	for _, row := range d.Rows {
		t, err := taskOf(d, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		if why := f.Fits(t); why != nil {
			r.Refused = append(r.Refused, Refusal{InstanceID: row.InstanceID, Reason: why.Error()})
			continue
		}
		if err := sink.Add(t); err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		r.Written++
	}
	return nil
}

// taskOf reads a task's folder and makes its three trees.
func taskOf(d *output.Dataset, row output.Located) (Task, error) {
	t := Task{Row: row.Row, Split: strings.TrimSuffix(path.Base(row.File), ".jsonl")}
	e, err := d.Environment(row.Row) // which refuses an ID that is not a name
	if err != nil {
		return t, err
	}
	t.Recipe = e.Recipe
	if t.Base, t.Start, t.Goal, err = d.States(row.Row); err != nil {
		return t, err
	}
	if t.Gold, err = row.GoldPatch(); err != nil {
		return t, err
	}
	if t.Hidden, err = row.Tests(); err != nil {
		return t, err
	}
	start, err := d.Start(row.InstanceID)
	if err != nil {
		return t, err
	}
	t.Date = start.BaseDate
	folder := filepath.Join(d.Dir, output.TasksDir, row.InstanceID)
	if t.Script, err = os.ReadFile(filepath.Join(folder, output.RunFile)); err != nil {
		return t, err
	}
	if t.Specification, err = d.Specification(row.Row); err != nil {
		return t, err
	}
	inputs, err := os.ReadDir(filepath.Join(folder, output.InputDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	for _, e := range inputs {
		b, err := os.ReadFile(filepath.Join(folder, output.InputDir, e.Name()))
		if err != nil {
			return t, err
		}
		t.Inputs = append(t.Inputs, Input{Name: path.Join(output.InputDir, e.Name()), Data: b})
	}
	return t, nil
}

// changed are the paths whose content or mode two trees do not share, sorted.
func changed(before, after *tree.Tree) []string {
	var out []string
	for _, e := range before.Entries() {
		now, ok := after.Entry(e.Path)
		if !ok || now.Mode != e.Mode || string(now.Data) != string(e.Data) {
			out = append(out, e.Path)
		}
	}
	for _, e := range after.Entries() {
		if _, ok := before.Entry(e.Path); !ok {
			out = append(out, e.Path)
		}
	}
	slices.Sort(out)
	return out
}

// patches is nil where both patches are text, and no file is the tests' and the
// solution's at once: clients put the files of the tests back as a whole.
func patches(t Task) error {
	switch {
	case len(t.FailToPass) == 0:
		return errors.New("FAIL_TO_PASS is empty: clients take that for resolved")
	case !utf8.Valid(t.Gold):
		return errors.New("patch is not UTF-8")
	case !utf8.Valid(t.Hidden):
		return errors.New("test_patch is not UTF-8")
	}
	solution := changed(t.Start, t.Goal)
	for _, p := range changed(t.Base, t.Start) {
		if _, both := slices.BinarySearch(solution, p); both {
			return fmt.Errorf("patch and test_patch change one file: %q", p)
		}
		if !utf8.ValidString(p) {
			return fmt.Errorf("a path of test_patch is not UTF-8: %q", p)
		}
	}
	return serviceFits(t)
}

// write writes one file of a format's folder.
func write(dir, name string, b []byte) error {
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644)
}
