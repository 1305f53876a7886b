package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsnet/compress/bzip2"

	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Commit0 is the dataset of Commit0's harness 0.1.8 (commit0/harness/constants.py): libraries
// in Python, each a repository whose current branch is the starter, with the record that its
// environment is set up from and the IDs of its tests.
//
// It differs in one thing: there the parent of the starter is the solution. Here the starter
// has no parent, and the solution is a child of it in a repository of its own, which a
// solver does not get.
type Commit0 struct{}

var _ Format = Commit0{}

// Name implements Format.
func (Commit0) Name() string { return "commit0" }

// Names of the harness.
const (
	commit0Owner  = "commit-0"  // of the starters' repositories
	commit0First  = "Commit 0"  // the subject of a starter's commit
	commit0Branch = "commit0_"  // and the profile; the harness takes it for the dataset's name
	referenceLine = "reference" // the branch of the solution
)

// Folders of the format.
const (
	commit0Repos     = "repos"
	commit0Reference = "reference"
	commit0IDs       = "data/test_ids" // as in the package of the harness
	// commit0Spec is left out of what the harness takes for a solver's work.
	commit0Spec = "spec.pdf.bz2"
	commit0Text = schemas.SpecificationText
)

// Fits implements Format.
func (Commit0) Fits(t Task) error {
	x := t.Benchmint
	switch {
	case x.Kind != schemas.KindLibrary || x.Library == nil:
		return fmt.Errorf("a task of kind %s is not a library", x.Kind)
	case x.Language != "python":
		return fmt.Errorf("Commit0's harness runs Python, not %s", x.Language)
	case t.Recipe.Report != "benchmint-pytest":
		return fmt.Errorf("its suite is not pytest's: %s", t.Recipe.Report)
	case len(t.Recipe.Test) != 1:
		return fmt.Errorf("it has %d test commands; a record has one", len(t.Recipe.Test))
	case path.Clean("./"+t.Recipe.Test[0].Dir) != ".":
		return fmt.Errorf("its tests run in %s, and the harness runs them at the root", t.Recipe.Test[0].Dir)
	}
	for _, id := range slices.Concat([]string(t.FailToPass), []string(t.PassToPass)) {
		if strings.ContainsAny(id, "\n\r") || id == "" {
			return fmt.Errorf("a test's name is not one line: %q", id)
		}
	}
	_, err := words(t.Recipe.Test[0].Argv)
	return errors.Join(err, patches(t))
}

// commit0Row is a row of wentingzhao/commit0_combined.
type commit0Row struct {
	InstanceID      string       `json:"instance_id"`
	Repo            string       `json:"repo"`
	OriginalRepo    string       `json:"original_repo"`
	BaseCommit      string       `json:"base_commit"`
	ReferenceCommit string       `json:"reference_commit"`
	Setup           commit0Setup `json:"setup"`
	Test            commit0Test  `json:"test"`
	SrcDir          string       `json:"src_dir"`
}

// commit0Setup is the annotation of an environment. Null is what there is nothing of.
type commit0Setup struct {
	Install       *string  `json:"install"` // begins with pip
	Packages      []string `json:"packages"`
	PipPackages   []string `json:"pip_packages"`
	PreInstall    []string `json:"pre_install"`
	Python        string   `json:"python"`
	Specification string   `json:"specification"`
}

type commit0Test struct {
	TestCmd string `json:"test_cmd"`
	TestDir string `json:"test_dir"`
}

type commit0 struct {
	dir   string
	names map[string]string // by instance ID
	lines map[string]*bytes.Buffer
}

// Open implements Format.
func (Commit0) Open(dir string, d *output.Dataset) (Sink, error) {
	s := &commit0{dir: dir, names: map[string]string{}, lines: map[string]*bytes.Buffer{}}
	for _, of := range d.Manifest.Splits {
		s.lines[of.Name] = &bytes.Buffer{}
	}
	// The harness knows a starter by the name of its repository alone.
	seen := map[string]int{}
	for _, r := range d.Rows {
		seen[strings.ToLower(path.Base(r.Repo))]++
	}
	for _, r := range d.Rows {
		if s.names[r.InstanceID] = path.Base(r.Repo); seen[strings.ToLower(path.Base(r.Repo))] > 1 {
			s.names[r.InstanceID] = r.InstanceID
		}
	}
	return s, nil
}

// Add implements Sink.
func (s *commit0) Add(t Task) error {
	name := s.names[t.InstanceID]
	base, err := withSpecification(t.Base, t.Specification)
	if err != nil {
		return err
	}
	goal, err := withSpecification(t.Goal, t.Specification)
	if err != nil {
		return err
	}
	starter := seal.Line{Branch: commit0Branch + t.Benchmint.Library.Profile, Message: commit0First, Tree: base}
	ids, err := s.repository(commit0Repos, name, t, starter)
	if err != nil {
		return err
	}
	both, err := s.repository(commit0Reference, name, t, starter, seal.Line{Branch: referenceLine, Message: "Reference", Tree: goal})
	if err != nil {
		return err
	}
	if both[0] != ids[0] {
		return fmt.Errorf("the starter is commit %s in one repository and %s in the other", ids[0], both[0])
	}
	if err := s.tests(name, t); err != nil {
		return err
	}
	row := commit0Row{
		InstanceID: commit0Owner + "/" + name, Repo: commit0Owner + "/" + name, OriginalRepo: t.Repo, BaseCommit: ids[0], ReferenceCommit: both[1],
		Setup: setupOf(t), Test: testOf(t), SrcDir: folderOf(t.Benchmint.Parts[schemas.PartCode]),
	}
	to, ok := s.lines[t.Split]
	if !ok {
		return fmt.Errorf("its split %q is not one of the manifest", t.Split)
	}
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	return enc.Encode(row)
}

// repository writes a bare repository, and gives its commits.
func (s *commit0) repository(folder, name string, t Task, lines ...seal.Line) ([]string, error) {
	files, ids, err := seal.Bare(t.Date, lines...)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, folder, commit0Owner, name+".git")
	for _, f := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f.Path)), 0o755); err != nil {
			return nil, err
		}
		if err := write(dir, f.Path, f.Data); err != nil {
			return nil, err
		}
	}
	return ids, os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755)
}

// tests writes the IDs of both lists, a line each, where the harness looks for them.
func (s *commit0) tests(name string, t Task) (err error) {
	dir := filepath.Join(s.dir, filepath.FromSlash(commit0IDs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ids := slices.Concat([]string(t.FailToPass), []string(t.PassToPass))
	slices.Sort(ids)
	packed, err := squeezed([]byte(strings.Join(ids, "\n")))
	if err != nil {
		return err
	}
	return write(dir, strings.ReplaceAll(strings.ToLower(name), ".", "-")+".bz2", packed)
}

func squeezed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := bzip2.NewWriter(&b, &bzip2.WriterConfig{Level: bzip2.BestCompression})
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// withSpecification is a tree with the text of the specification and the PDF at its root, as far as they are there.
func withSpecification(t *tree.Tree, specification map[string][]byte) (*tree.Tree, error) {
	all := slices.DeleteFunc(t.Entries(), func(e tree.Entry) bool { return e.Path == commit0Spec || e.Path == commit0Text })
	if text := specification[schemas.SpecificationText]; text != nil {
		all = append(all, tree.Entry{Path: commit0Text, Mode: tree.ModeFile, Data: text})
	}
	if pdf := specification[schemas.SpecificationPDF]; pdf != nil {
		packed, err := squeezed(pdf)
		if err != nil {
			return nil, err
		}
		all = append(all, tree.Entry{Path: commit0Spec, Mode: tree.ModeFile, Data: packed})
	}
	return tree.New(all)
}

// Close implements Sink.
func (s *commit0) Close() error {
	card := "---\ntags:\n- benchmint\nconfigs:\n- config_name: default\n  data_files:\n"
	var errs []error
	for _, split := range sortedSplits(s.lines) {
		card += fmt.Sprintf("  - split: %s\n    path: %s.jsonl\n", split, split)
		errs = append(errs, write(s.dir, split+".jsonl", s.lines[split].Bytes()))
	}
	card += "---\n\nRows of Commit0's harness. `repos` has a starter each, without its solution; `reference` has both, for who grades.\n"
	return errors.Join(append(errs, write(s.dir, "README.md", []byte(card)))...)
}

func sortedSplits(m map[string]*bytes.Buffer) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// setupOf is the annotation that the environment of a recipe comes from: the lock's own
// versions, and the project where the recipe installs it.
func setupOf(t Task) commit0Setup {
	minor := t.Recipe.Toolchain.Version
	if parts := strings.SplitN(minor, ".", 3); len(parts) == 3 {
		minor = parts[0] + "." + parts[1]
	}
	s := commit0Setup{Python: minor, PipPackages: pins(t.Recipe.Lock)}
	switch {
	case t.Specification[schemas.SpecificationPDF] != nil:
		s.Specification = commit0Spec
	case t.Specification[schemas.SpecificationText] != nil:
		s.Specification = commit0Text
	}
	if len(t.Recipe.Build) > 0 {
		install := "pip install --no-deps --no-build-isolation -e ."
		s.Install = &install
	}
	if len(t.Recipe.SystemPackages) > 0 {
		s.PreInstall = []string{"apt-get install -y --no-install-recommends " + strings.Join(t.Recipe.SystemPackages, " ")}
	}
	return s
}

// pins are the entries of a lock without their hashes.
func pins(lock string) []string {
	var out []string
	for line := range strings.Lines(lock) {
		pin := strings.TrimRight(strings.TrimSpace(line), `\ `)
		if pin == "" || line[0] == ' ' || line[0] == '\t' || strings.HasPrefix(pin, "#") || strings.HasPrefix(pin, "-") {
			continue
		}
		out = append(out, pin)
	}
	return out
}

// testOf is the command with its options, and the folder that all tests are in.
func testOf(t Task) commit0Test {
	given, err := words(t.Recipe.Test[0].Argv)
	if err != nil { // Fits has read them
		given = nil
	}
	var files []string
	for _, id := range slices.Concat([]string(t.FailToPass), []string(t.PassToPass)) {
		file, _, _ := strings.Cut(id, "::")
		files = append(files, file)
	}
	return commit0Test{TestCmd: strings.Join(append([]string{"pytest"}, given...), " "), TestDir: folderOf(files)}
}

// folderOf is the deepest folder that holds all paths, "./" for the root.
func folderOf(paths []string) string {
	if len(paths) == 0 {
		return "./"
	}
	dir := path.Dir(paths[0])
	for _, p := range paths[1:] {
		for dir != "." && !strings.HasPrefix(p, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return dir + "/"
}
