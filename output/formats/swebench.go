package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/output"
)

// SWEBench is the row that Hugging Face datasets, SWE-bench 5 and mini-swe-agent read:
// the columns of SWE-bench, the image under the three names that these use, and the
// script that SWE-bench runs. Before version 5 its lists must be JSON text, so they are;
// the configuration `lists` has lists.
type SWEBench struct{}

var _ Format = SWEBench{}

// Name implements Format.
func (SWEBench) Name() string { return "swebench" }

// Fits implements Format.
func (SWEBench) Fits(t Task) error {
	if err := patches(t); err != nil {
		return err
	}
	if err := names(t.FailToPass, t.PassToPass); err != nil {
		return err
	}
	_, err := evalScript(t)
	return err
}

// Open implements Format.
func (SWEBench) Open(dir string, d *output.Dataset) (Sink, error) {
	s := &swebench{dir: dir, name: d.Manifest.Name}
	for _, split := range d.Manifest.Splits {
		w, err := newSplit(dir, split.Name)
		if err != nil {
			return nil, errors.Join(err, s.shut())
		}
		s.splits = append(s.splits, w)
	}
	return s, nil
}

// sweColumns are what every configuration has, in order.
type sweColumns struct {
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
	Image                  string `json:"image" parquet:"image,zstd"`               // SWE-bench 5
	ImageName              string `json:"image_name" parquet:"image_name,zstd"`     // mini-swe-agent
	DockerImage            string `json:"docker_image" parquet:"docker_image,zstd"` // what others ask for
	EvalScript             string `json:"eval_script" parquet:"eval_script,zstd"`
	LogParser              string `json:"log_parser" parquet:"log_parser,zstd"`
	EvalType               string `json:"eval_type" parquet:"eval_type,zstd"`
}

// sweRow is the default configuration; sweLists is that of lists.
type (
	sweRow struct {
		sweColumns
		FailToPass string `json:"FAIL_TO_PASS" parquet:"FAIL_TO_PASS,zstd"`
		PassToPass string `json:"PASS_TO_PASS" parquet:"PASS_TO_PASS,zstd"`
	}
	sweLists struct {
		sweColumns
		FailToPass []string `parquet:"FAIL_TO_PASS,list,zstd"`
		PassToPass []string `parquet:"PASS_TO_PASS,list,zstd"`
	}
)

const (
	logParser = "parse_log_pytest_v2" // the one that keeps names with blanks
	evalType  = "pass_and_fail"       // a test that is not there has failed
	listsDir  = "lists"
)

// Image is the local name of a task's image. Equal digests are one image, whatever the
// name before the tag.
func Image(r output.Row) string {
	_, hex, _ := strings.Cut(string(r.Benchmint.ImageKey), ":")
	return "benchmint/" + component(r.InstanceID) + ":" + hex[:min(12, len(hex))]
}

var separators = lazyregexp.New(`[^a-z0-9]+`)

// component is a name as image references allow it: lower case, with one of ".", "_",
// "__" or dashes between letters and digits.
func component(id string) string {
	out := separators.ReplaceAllStringFunc(strings.ToLower(id), func(s string) string {
		if s == "." || s == "_" || s == "__" || strings.Trim(s, "-") == "" {
			return s
		}
		return "-"
	})
	return strings.Trim(out, "._-")
}

func swe(t Task) (sweRow, sweLists, error) {
	script, err := evalScript(t)
	if err != nil {
		return sweRow{}, sweLists{}, err
	}
	f2p, err := json.Marshal([]string(t.FailToPass))
	if err != nil {
		return sweRow{}, sweLists{}, err
	}
	p2p, err := json.Marshal(append([]string{}, t.PassToPass...))
	if err != nil {
		return sweRow{}, sweLists{}, err
	}
	image := Image(t.Row)
	c := sweColumns{
		InstanceID: t.InstanceID, Repo: t.Repo, BaseCommit: t.BaseCommit, Patch: t.Patch, TestPatch: t.TestPatch,
		ProblemStatement: t.ProblemStatement, HintsText: t.HintsText, CreatedAt: t.CreatedAt, Version: t.Version,
		EnvironmentSetupCommit: t.EnvironmentSetupCommit, Image: image, ImageName: image, DockerImage: image,
		EvalScript: string(script), LogParser: logParser, EvalType: evalType,
	}
	return sweRow{c, string(f2p), string(p2p)}, sweLists{c, t.FailToPass, t.PassToPass}, nil
}

type swebench struct {
	dir, name string
	splits    []*split
}

// split is the files of one split.
type split struct {
	name  string
	rows  int
	jsonl *os.File
	flat  *table[sweRow]
	lists *table[sweLists]
}

func newSplit(dir, name string) (*split, error) {
	s := &split{name: name}
	var err error
	if s.jsonl, err = os.Create(filepath.Join(dir, name+".jsonl")); err != nil {
		return nil, err
	}
	if s.flat, err = newTable[sweRow](filepath.Join(dir, name+".parquet")); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.lists, err = newTable[sweLists](filepath.Join(dir, listsDir, name+".parquet")); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *split) close() error {
	return errors.Join(s.jsonl.Close(), s.flat.close(), s.lists.close())
}

// Add implements Sink.
func (s *swebench) Add(t Task) error {
	i := slices.IndexFunc(s.splits, func(w *split) bool { return w.name == t.Split })
	if i < 0 {
		return fmt.Errorf("its split %q is not one of the manifest", t.Split)
	}
	flat, lists, err := swe(t)
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
	return errors.Join(w.flat.add(flat, line.Len()), w.lists.add(lists, line.Len()))
}

func (s *swebench) shut() error {
	var errs []error
	for _, w := range s.splits {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// Close implements Sink.
func (s *swebench) Close() error {
	return errors.Join(s.shut(), write(s.dir, "README.md", s.card()))
}

// card names the Parquet of both configurations: the types of that are written, and a
// loader without configurations would take the JSON lines for a split of their own.
func (s *swebench) card() []byte {
	var b bytes.Buffer
	rows := 0
	fmt.Fprintf(&b, "---\npretty_name: %q\ntags:\n- benchmint\n- swe-bench\nconfigs:\n", s.name)
	for _, c := range []struct{ name, first, dir string }{{"default", "  default: true\n", ""}, {listsDir, "", listsDir}} {
		fmt.Fprintf(&b, "- config_name: %s\n%s  data_files:\n", c.name, c.first)
		for _, w := range s.splits {
			fmt.Fprintf(&b, "  - split: %s\n    path: %s\n", w.name, path.Join(c.dir, w.name+".parquet"))
		}
	}
	for _, w := range s.splits {
		rows += w.rows
	}
	fmt.Fprintf(&b, `---

# %s

Tasks: %d, for Hugging Face datasets, SWE-bench 5 and mini-swe-agent. The configuration %[3]sdefault%[3]s has FAIL_TO_PASS and
PASS_TO_PASS as JSON text, %[3]slists%[3]s as lists. The images that %[3]simage%[3]s names are in no registry: they must be on the
machine before a client is started.
`, s.name, rows, "`")
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
