package output

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// ErrNoDataset is a folder without a readable manifest.
var ErrNoDataset = errors.New("not a benchmint dataset")

// ErrUnknownID is an ID that the dataset does not hold.
var ErrUnknownID = errors.New("no such task in the dataset")

// Located is a row and where it stands.
type Located struct {
	Row
	File string // relative to the folder
	Line int

	offset, size int64 // of the line in the file, without its end
}

// Dataset is a folder that was read. Only rows, rejects and flakes are in memory.
type Dataset struct {
	Dir      string
	Manifest Manifest
	Rows     []Located
	Rejects  []Reject
	Flakes   []ledger.Flake

	layout layout
}

// Read reads a dataset in Format, or in one before it that is still read, strictly:
// unknown keys, broken lines and missing columns are errors that name file:line and key,
// all of them at once. Digests are not compared; Check does that.
func Read(dir string) (*Dataset, error) {
	d, findings, err := load(dir)
	if err != nil {
		return nil, err
	}
	errs := make([]error, 0, len(findings))
	for _, f := range findings {
		errs = append(errs, errors.New(f.String()))
	}
	return d, errors.Join(errs...)
}

// ReadManifest reads what a dataset says of itself. ErrNoDataset.
func ReadManifest(dir string) (Manifest, error) {
	m, _, err := readManifest(dir)
	return m, err
}

func readManifest(dir string) (Manifest, layout, error) {
	var m Manifest
	name := filepath.Join(dir, ManifestFile)
	b, err := readIn(dir, ManifestFile)
	if err != nil {
		return m, layout{}, fmt.Errorf("%s: %w: %w", dir, ErrNoDataset, err)
	}
	var of struct{ Format string }
	l, known := layouts[0], true
	if err := json.Unmarshal(b, &of); err == nil { // of another version other keys are right
		l, known = findLayout(of.Format)
	}
	if !known {
		var reads []string
		for _, l := range layouts {
			reads = append(reads, fmt.Sprintf("%q", l.format))
		}
		return m, l, fmt.Errorf("%s: format is %q; this version reads %s", name, of.Format, strings.Join(reads, " and "))
	}
	if l.manifest != nil {
		b = l.manifest(b)
	}
	if err := strict(b, &m); err != nil {
		return m, l, fmt.Errorf("%s: %w", name, err)
	}
	if len(m.Splits) == 0 {
		return m, l, fmt.Errorf("%s: splits is empty", name)
	}
	for _, s := range m.Splits {
		if s.Name == "" || strings.ContainsAny(s.Name, "/\\") || s.Name == ".." {
			return m, l, fmt.Errorf("%s: split %q is not a name", name, s.Name)
		}
	}
	return m, l, nil
}

// load reads what can be read, and says what cannot.
func load(dir string) (*Dataset, []Finding, error) {
	m, l, err := readManifest(dir)
	if err != nil {
		return nil, nil, err
	}
	d := &Dataset{Dir: dir, Manifest: m, layout: l}
	var findings []Finding
	add := func(f Finding) { findings = append(findings, f) }
	for _, s := range m.Splits {
		data, offset := dataPath(s.Name), int64(0)
		eachLine(dir, data, add, func(n int, b []byte) {
			row := Located{File: data, Line: n, offset: offset, size: int64(len(b))}
			offset += row.size + 1
			if l.row != nil {
				b = l.row(b)
			}
			if err := ReadRow(b, &row.Row); err != nil {
				add(Finding{File: data, Line: n, Instance: row.InstanceID, Rule: RuleSyntax, Message: err.Error()})
				return
			}
			d.Rows = append(d.Rows, row)
		})
	}
	eachLine(dir, RejectsFile, add, func(n int, b []byte) {
		var r Reject
		if err := strict(b, &r); err != nil {
			add(Finding{File: RejectsFile, Line: n, Rule: RuleSyntax, Message: err.Error()})
			return
		}
		d.Rejects = append(d.Rejects, r)
	})
	eachLine(dir, FlakesFile, add, func(n int, b []byte) {
		var f ledger.Flake
		if err := strict(b, &f); err != nil {
			add(Finding{File: FlakesFile, Line: n, Rule: RuleSyntax, Message: err.Error()})
			return
		}
		d.Flakes = append(d.Flakes, f)
	})
	return d, findings, nil
}

// RejectOf is the end that the writing of a dataset gave to a proved task: people refuse it, a draw left it out, or
// another rule of the dataset did. False where there is no dataset, or no such end in it.
func RejectOf(dir, id string) (Reject, bool, error) {
	if _, err := os.Stat(filepath.Join(dir, RejectsFile)); errors.Is(err, fs.ErrNotExist) {
		return Reject{}, false, nil
	}
	var found Reject
	var findings []Finding
	add := func(f Finding) { findings = append(findings, f) }
	eachLine(dir, RejectsFile, add, func(n int, b []byte) {
		var r Reject
		if err := strict(b, &r); err != nil {
			add(Finding{File: RejectsFile, Line: n, Rule: RuleSyntax, Message: err.Error()})
		} else if r.InstanceID == id && r.Stage == exported {
			found = r
		}
	})
	if len(findings) > 0 {
		return Reject{}, false, fmt.Errorf("%s: %s", dir, findings[0])
	}
	return found, found.InstanceID != "", nil
}

func eachLine(dir, name string, add func(Finding), do func(int, []byte)) {
	b, err := readIn(dir, name)
	if err != nil {
		add(Finding{File: name, Rule: RuleMissingFile, Message: cause(err)})
		return
	}
	b = Bare(name, b)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		add(Finding{File: name, Line: bytes.Count(b, []byte("\n")) + 1, Rule: RuleSyntax, Message: "the last line has no end: cut short?"})
	}
	n := 0
	for l := range bytes.Lines(b) {
		n++
		do(n, bytes.TrimSuffix(l, []byte("\n")))
	}
}

// ReadRow reads one line of a dataset in Format. Every column must be there.
func ReadRow(b []byte, r *Row) error {
	if err := strict(b, r); err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		return err
	}
	for _, name := range features {
		if v, ok := keys[name]; !ok || string(v) == "null" {
			return fmt.Errorf("key %q is missing", name)
		}
	}
	return nil
}

var unknownField = lazyregexp.New(`^json: unknown field "(.*)"$`)

// strict decodes one JSON value and nothing after it. An unknown key is an error
// with the nearest known one; a syntax error says at which byte.
func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		switch m := unknownField.FindStringSubmatch(err.Error()); {
		case m != nil:
			return fmt.Errorf("unknown key %q%s", m[1], nearest.Hint(m[1], keysOf(reflect.TypeOf(v), nil)))
		case errors.As(err, &syntax):
			return fmt.Errorf("byte %d: %w", syntax.Offset, err)
		case errors.As(err, &wrong):
			return fmt.Errorf("key %q: a %s where a %s belongs", wrong.Field, wrong.Value, wrong.Type)
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			return fmt.Errorf("byte %d: the JSON is cut short", len(b))
		}
		return err
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("byte %d: %q after the end of the value", dec.InputOffset(), rest[:min(len(rest), 20)])
	}
	return nil
}

// keysOf are the JSON keys of a struct and of the structs in it.
func keysOf(t reflect.Type, seen map[reflect.Type]bool) []string {
	if seen == nil {
		seen = map[reflect.Type]bool{}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		return keysOf(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
		if f.Type != reflect.TypeFor[Extra]() { // its keys stand inside a string
			out = append(out, keysOf(f.Type, seen)...)
		}
	}
	return out
}

// Row finds one task. ErrUnknownID.
func (d *Dataset) Row(id string) (Row, error) {
	var known []string
	for _, r := range d.Rows {
		if r.InstanceID == id {
			return r.Row, nil
		}
		known = append(known, r.InstanceID)
	}
	return Row{}, fmt.Errorf("%s: %w%s", id, ErrUnknownID, nearest.Hint(id, known))
}

// Environment is a task's environment as it was proved in: the recipe of its
// folder, the key and sandbox of its row.
func (d *Dataset) Environment(r Row) (schemas.Environment, error) {
	e := schemas.Environment{Key: r.Benchmint.Environment, Sandbox: r.Benchmint.Sandbox, Host: r.Benchmint.Host}
	err := d.record(r.InstanceID, RecipeFile, &e.Recipe)
	return e, err
}

// Digests are the identity of a verdict: that of a task without its lists, and that of all of
// it that can decide a verdict. Stored verdicts are found by them.
func (d *Dataset) Digests(row Row) (ground, task schemas.Digest, err error) {
	env, err := d.Environment(row)
	if err != nil {
		return "", "", err
	}
	type all struct {
		Trees      Trees
		Recipe     schemas.Recipe
		F2P, P2P   []string
		Encoding   string
		Start      schemas.Digest
		SealedBase string
	}
	x := all{row.Benchmint.Trees, env.Recipe, row.FailToPass, row.PassToPass, row.Benchmint.PatchEncoding, row.Benchmint.Identity, row.BaseCommit}
	task = schemas.DigestOf(x)
	x.F2P, x.P2P = nil, nil
	return schemas.DigestOf(x), task, nil
}

// Start reads a task's start.
func (d *Dataset) Start(id string) (schemas.Start, error) {
	var s schemas.Start
	err := d.record(id, StartFile, &s)
	return s, err
}

// Adequacy reads what a task's tests notice of its patch.
func (d *Dataset) Adequacy(id string) (schemas.Adequacy, error) {
	var a schemas.Adequacy
	err := d.record(id, AdequacyFile, &a)
	return a, err
}

// Proof reads a task's proof.
func (d *Dataset) Proof(id string) (schemas.Proof, error) {
	var p schemas.Proof
	err := d.record(id, ProofFile, &p)
	return p, err
}

func (d *Dataset) record(id, name string, v any) error {
	rel := path.Join(TasksDir, id, name)
	if !filepath.IsLocal(rel) || path.Dir(path.Dir(rel)) != TasksDir {
		return fmt.Errorf("%q is not an instance ID", id)
	}
	b, err := readIn(d.Dir, rel)
	if err != nil {
		return err
	}
	if err := strict(Bare(rel, b), v); err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return nil
}

// States are the three trees of a row, made from the archive and the two patches
// alone, each compared with the object ID that the row names.
func (d *Dataset) States(r Row) (b, s, g *tree.Tree, err error) {
	if b, err = d.Base(r); err != nil {
		return nil, nil, nil, err
	}
	if s, err = applied(b, "test_patch", r.Tests, r.Benchmint.Trees.Start); err != nil {
		return nil, nil, nil, err
	}
	if g, err = applied(s, "patch", r.GoldPatch, r.Benchmint.Trees.Solution); err != nil {
		return nil, nil, nil, err
	}
	return b, s, g, nil
}

func applied(t *tree.Tree, key string, patch func() ([]byte, error), want string) (*tree.Tree, error) {
	p, err := patch()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	out, err := t.Apply(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if out.ID() != want {
		return nil, fmt.Errorf("%s: it makes tree %s, not %s", key, out.ID(), want)
	}
	return out, nil
}

// Base reads the base tree's archive and proves it by digest and object ID.
func (d *Dataset) Base(r Row) (*tree.Tree, error) {
	digest := r.Benchmint.BaseArchive
	if !digestShape.MatchString(string(digest)) {
		return nil, fmt.Errorf("base_archive: %q is not a digest", digest)
	}
	packed, err := readIn(d.Dir, BlobPath(digest))
	if err != nil {
		return nil, fmt.Errorf("base_archive: %s: %s", BlobPath(digest), cause(err))
	}
	if schemas.DigestBytes(packed) != digest {
		return nil, fmt.Errorf("base_archive: %s: the bytes do not have the digest that names them", BlobPath(digest))
	}
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("base_archive: %w", err)
	}
	t, err := tree.ReadTar(zr, r.Benchmint.Trees.Base)
	if err != nil {
		return nil, fmt.Errorf("base_archive: %w", err)
	}
	if t.ID() != r.Benchmint.Trees.Base {
		return nil, fmt.Errorf("base_archive: it holds tree %s, not %s", t.ID(), r.Benchmint.Trees.Base)
	}
	return t, nil
}

var digestShape = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// cause is an error without the path, which findings name in their own way.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
