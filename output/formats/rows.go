package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/output"
)

// listsDir holds the configuration in which lists are lists.
const listsDir = "lists"

// rows is a folder that Hugging Face datasets opens: Parquet in two configurations, one
// with lists as JSON text (F) and one with lists (L), and JSON lines of the first.
type rows[F, L any] struct {
	dir, name   string
	tags        []string
	about, note string // of the card
	of          func(Task) (F, L, error)
	splits      []*split[F, L]
	sum         hash.Hash // of all JSON lines
}

// columns are SWE-bench's own that are text, in order: what every row has.
type columns struct {
	InstanceID             string `json:"instance_id" parquet:"instance_id,zstd"`
	Repo                   string `json:"repo" parquet:"repo,zstd"`
	BaseCommit             string `json:"base_commit" parquet:"base_commit,zstd"`
	Patch                  string `json:"patch" parquet:"patch,zstd"`
	TestPatch              string `json:"test_patch" parquet:"test_patch,zstd"`
	ProblemStatement       string `json:"problem_statement" parquet:"problem_statement,zstd"`
	HintsText              string `json:"hints_text" parquet:"hints_text,zstd"`
	CreatedAt              string `json:"created_at" parquet:"created_at,zstd"`
	Version                string `json:"version" parquet:"version,zstd"`
	EnvironmentSetupCommit string `json:"environment_setup_commit" parquet:"environment_setup_commit,zstd"`
}

func columnsOf(t Task) columns {
	return columns{
		InstanceID: t.InstanceID, Repo: t.Repo, BaseCommit: t.BaseCommit, Patch: t.Patch, TestPatch: t.TestPatch,
		ProblemStatement: t.ProblemStatement, HintsText: t.HintsText, CreatedAt: t.CreatedAt, Version: t.Version,
		EnvironmentSetupCommit: t.EnvironmentSetupCommit,
	}
}

// listsText are both lists as JSON text.
func listsText(t Task) (f2p, p2p string, err error) {
	a, err := json.Marshal(append([]string{}, t.FailToPass...))
	if err != nil {
		return "", "", err
	}
	b, err := json.Marshal(append([]string{}, t.PassToPass...))
	return string(a), string(b), err
}

// split is the files of one split.
type split[F, L any] struct {
	name  string
	rows  int
	jsonl *os.File
	flat  *table[F]
	lists *table[L]
}

func openRows[F, L any](s rows[F, L], d *output.Dataset) (Sink, error) {
	s.sum = sha256.New()
	for _, of := range d.Manifest.Splits {
		w := &split[F, L]{name: of.Name}
		s.splits = append(s.splits, w)
		var errs [3]error
		w.jsonl, errs[0] = os.Create(filepath.Join(s.dir, of.Name+".jsonl"))
		w.flat, errs[1] = newTable[F](filepath.Join(s.dir, of.Name+".parquet"))
		w.lists, errs[2] = newTable[L](filepath.Join(s.dir, listsDir, of.Name+".parquet"))
		if err := errors.Join(errs[:]...); err != nil {
			return nil, errors.Join(err, s.shut())
		}
	}
	return &s, nil
}

// Add implements Sink.
func (s *rows[F, L]) Add(t Task) error {
	i := slices.IndexFunc(s.splits, func(w *split[F, L]) bool { return w.name == t.Split })
	if i < 0 {
		return fmt.Errorf("its split %q is not one of the manifest", t.Split)
	}
	flat, lists, err := s.of(t)
	if err != nil {
		return err
	}
	w := s.splits[i]
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(flat); err != nil {
		return err
	}
	if _, err := w.jsonl.Write(line.Bytes()); err != nil {
		return err
	}
	w.rows++
	_, _ = s.sum.Write(line.Bytes()) // never fails
	return errors.Join(w.flat.add(flat, line.Len()), w.lists.add(lists, line.Len()))
}

func (s *rows[F, L]) shut() error {
	var errs []error
	for _, w := range s.splits {
		if w.jsonl != nil {
			errs = append(errs, w.jsonl.Close())
		}
		errs = append(errs, w.flat.close(), w.lists.close())
	}
	return errors.Join(errs...)
}

// Close implements Sink.
func (s *rows[F, L]) Close() error {
	return errors.Join(s.shut(), write(s.dir, "README.md", s.card()))
}

// card names the Parquet of both configurations: the types of that are written, and a
// loader without configurations would take the JSON lines for a split of their own. datasets caches a
// folder by its name and this header, so the header has the digest of the rows: else a loader gets the
// rows of an earlier folder of the same name.
func (s *rows[F, L]) card() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\npretty_name: %q\ntags:\n", s.name)
	for _, tag := range append([]string{"benchmint"}, s.tags...) {
		fmt.Fprintf(&b, "- %s\n", tag)
	}
	fmt.Fprintf(&b, "configs:\n")
	for _, c := range []struct{ name, first, dir string }{{"default", "  default: true\n", ""}, {listsDir, "", listsDir}} {
		fmt.Fprintf(&b, "- config_name: %s\n%s  description: sha256:%x\n  data_files:\n", c.name, c.first, s.sum.Sum(nil))
		for _, w := range s.splits {
			fmt.Fprintf(&b, "  - split: %s\n    path: %s\n", w.name, path.Join(c.dir, w.name+".parquet"))
		}
	}
	n := 0
	for _, w := range s.splits {
		n += w.rows
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\nTasks: %d, %s. The configuration `default` has FAIL_TO_PASS and\nPASS_TO_PASS as JSON text, `lists` as lists.%s\n", s.name, n, s.about, s.note)
	return b.Bytes()
}

// A row group ends at so much text, as in the dataset's own files.
const groupBytes = 16 << 20

// table is one Parquet file while it is written.
type table[T any] struct {
	f    *os.File
	w    *parquet.GenericWriter[T]
	held int
}

func newTable[T any](name string) (*table[T], error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{
		parquet.CreatedBy("benchmint", "1", ""), // the default names the build of the library
		parquet.DataPageStatistics(false),
	}
	for _, c := range []string{"patch", "test_patch", "problem_statement", "hints_text", "eval_script"} {
		options = append(options, parquet.SkipPageBounds(c)) // bounds hold whole values
	}
	return &table[T]{f: f, w: parquet.NewGenericWriter[T](io.Writer(f), options...)}, nil
}

func (t *table[T]) add(row T, size int) error {
	if _, err := t.w.Write([]T{row}); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	if t.held += size; t.held < groupBytes {
		return nil
	}
	t.held = 0
	return t.w.Flush()
}

func (t *table[T]) close() error {
	if t == nil { // never made
		return nil
	}
	return errors.Join(t.w.Close(), t.f.Close())
}
