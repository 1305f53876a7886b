package contamination

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Set is what was read of a file or folder.
type Set struct {
	SetRef
	Families []string `json:"families"`
	// Itself are rows that are tasks of ours, as our own dataset published them: they are no hits.
	Itself int `json:"itself"`
	// Bad are rows that could not be read, by file and line; the others were compared.
	Bad []string `json:"bad"`
	// Skipped are files of a folder that hold no rows of a known family.
	Skipped []string `json:"skipped"`
}

// ErrUnknownFamily is a file, or a folder without any other file, whose columns are of no known dataset, or that holds
// no row.
var ErrUnknownFamily = errors.New("not a dataset that is known")

// Read streams the tasks of a file or folder in any order; visit may be called by several goroutines. Files are .jsonl,
// .json (a list), .csv, .parquet, and those with .gz. A folder is one of ours (manifest.json), a shelf of releases,
// tasks of Harbor (task.toml), or any with such files. A set has the name of its file, or of the dataset and version.
func Read(ctx context.Context, place string, visit func(Task)) (Set, error) {
	r := &reader{ctx: ctx, visit: visit, set: Set{SetRef: SetRef{Name: filepath.Base(place)}, Families: []string{}, Bad: []string{}, Skipped: []string{}}}
	info, err := os.Stat(place)
	if err != nil {
		return r.set, err
	}
	sums := sha256.New()
	if !info.IsDir() {
		err = r.file(place, sums)
	} else {
		err = r.folder(place, sums)
	}
	r.set.SHA256 = hex.EncodeToString(sums.Sum(nil))
	if err == nil && r.set.Rows == 0 && len(r.set.Bad) == 0 {
		err = fmt.Errorf("%s: %w: it holds no row", place, ErrUnknownFamily)
	}
	return r.set, err
}

// reader reads one set.
type reader struct {
	ctx     context.Context //nolint:containedctx // of one call of Read
	dataset string          // the name of one of ours
	visit   func(Task)
	set     Set
}

// add counts a row and hands it on.
func (r *reader) add(f family, c cells, where string, n int) {
	t, err := f.read(c)
	if err != nil {
		r.bad(where, n, err)
		return
	}
	if f.name == own.name {
		t.Dataset = r.dataset
	}
	r.set.Rows++
	if !slices.Contains(r.set.Families, f.name) {
		r.set.Families = append(r.set.Families, f.name)
	}
	r.visit(t)
}

func (r *reader) bad(where string, n int, err error) {
	if n > 0 {
		where = fmt.Sprintf("%s:%d", where, n)
	}
	r.set.Bad = append(r.set.Bad, where+": "+err.Error())
}

// file reads one file, and adds its bytes to sums.
func (r *reader) file(name string, sums hash.Hash) error {
	read := r.rowsOf(name)
	if read == nil {
		return fmt.Errorf("%s: %w: its name ends with none of .jsonl, .json, .csv, .parquet, and these with .gz", name, ErrUnknownFamily)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f, sums); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// rowsOf is how a file is read, by the end of its name; nil for none.
func (r *reader) rowsOf(name string) func(f *os.File, sums hash.Hash) error {
	plain := strings.TrimSuffix(strings.ToLower(name), ".gz")
	var rows func(io.Reader, string) error
	switch filepath.Ext(plain) {
	case ".jsonl", ".ndjson":
		rows = r.jsonLines
	case ".json":
		rows = r.jsonList
	case ".csv":
		rows = r.csvRows
	case ".parquet":
		if plain != strings.ToLower(name) {
			return nil
		}
		return r.parquet
	default:
		return nil
	}
	return func(f *os.File, sums hash.Hash) error {
		in := io.TeeReader(f, sums)
		text := in
		if plain != strings.ToLower(name) {
			z, err := gzip.NewReader(in)
			if err != nil {
				return err
			}
			text = z
		}
		if err := rows(withoutMark(text), name); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, in)
		return err
	}
}

// withoutMark passes over a byte order mark at the start of a text.
func withoutMark(in io.Reader) io.Reader {
	const mark = "\uFEFF"
	b := bufio.NewReader(in)
	if start, err := b.Peek(len(mark)); err == nil && string(start) == mark {
		_, _ = b.Discard(len(mark))
	}
	return b
}

// longestRow bounds one line.
const longestRow = 256 << 20

// jsonLines reads one row a line.
func (r *reader) jsonLines(in io.Reader, name string) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), longestRow)
	var f family
	for n := 1; lines.Scan(); n++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if len(strings.TrimSpace(string(lines.Bytes()[:min(len(lines.Bytes()), 64)]))) == 0 {
			continue
		}
		if err := r.jsonRow(&f, lines.Bytes(), name, n); err != nil {
			return err
		}
	}
	return lines.Err()
}

// jsonRow reads one object. The first good one says of which family a file is.
func (r *reader) jsonRow(f *family, b []byte, name string, n int) error {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(b, &row); err != nil {
		r.bad(name, n, err)
		return nil
	}
	if f.name == "" {
		columns := make([]string, 0, len(row))
		for k := range row {
			columns = append(columns, k)
		}
		var err error
		if *f, err = familyOf(columns); err != nil {
			return fmt.Errorf("%w: %w", ErrUnknownFamily, err)
		}
	}
	c := cells{}
	for _, name := range f.columns() {
		c[name] = textAt(row, name)
	}
	r.add(*f, c, name, n)
	return nil
}

// textAt is the value of outer.inner as text; of lists, all values.
func textAt(row map[string]json.RawMessage, name string) string {
	outer, inner, nested := strings.Cut(name, ".")
	b, ok := row[outer]
	if !ok || string(b) == "null" {
		return ""
	}
	if !nested {
		var s string
		if json.Unmarshal(b, &s) == nil {
			return s
		}
		return string(b)
	}
	var s string
	if json.Unmarshal(b, &s) == nil { // a structure as text
		b = []byte(s)
	}
	var one map[string]json.RawMessage
	if json.Unmarshal(b, &one) == nil {
		return textAt(one, inner)
	}
	var several []map[string]json.RawMessage
	if json.Unmarshal(b, &several) != nil {
		return ""
	}
	var texts []string
	for _, one := range several {
		if text := textAt(one, inner); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// jsonList reads a list of rows. Where it ends too early, the rows before stay, and the place is named as a bad one.
func (r *reader) jsonList(in io.Reader, name string) error {
	d := json.NewDecoder(in)
	start, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("%w: it is not a list of rows", ErrUnknownFamily)
	}
	var f family
	n := 1
	broken := func(err error) error {
		if f.name == "" {
			return fmt.Errorf("row %d: %w", n, err)
		}
		r.bad(name, n, err)
		return nil
	}
	for ; d.More(); n++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		var b json.RawMessage
		if err := d.Decode(&b); err != nil {
			return broken(err)
		}
		if err := r.jsonRow(&f, b, name, n); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(fmt.Errorf("the list has no end: %w", err))
	}
	return nil
}

func (r *reader) csvRows(in io.Reader, name string) error {
	c := csv.NewReader(in)
	c.FieldsPerRecord, c.ReuseRecord, c.LazyQuotes = -1, true, true
	head, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	head = slices.Clone(head)
	f, err := familyOf(head)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknownFamily, err)
	}
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := errors.Join(err, r.ctx.Err()); err != nil {
			return err
		}
		at, _ := c.FieldPos(0)
		if len(row) != len(head) {
			r.bad(name, at, fmt.Errorf("%d columns, want %d", len(row), len(head)))
			continue
		}
		values := cells{}
		for i, h := range head {
			if slices.Contains(f.needs, h) || slices.Contains(f.wants, h) {
				values[h] = strings.Clone(row[i])
			}
		}
		r.add(f, values, name, at)
	}
}

// folder reads what a folder holds: our dataset, tasks of Harbor, or files of rows at any depth.
func (r *reader) folder(dir string, sums hash.Hash) error {
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if e.IsDir() {
			return r.inFolder(name, name == dir, sums)
		}
		if !e.Type().IsRegular() || r.rowsOf(name) == nil {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sums, "%s\n", filepath.ToSlash(rel))
		err = r.file(name, sums)
		if errors.Is(err, ErrUnknownFamily) {
			r.set.Skipped = append(r.set.Skipped, filepath.ToSlash(rel))
			return nil
		}
		if err != nil && r.ctx.Err() == nil { // a damaged file does not keep the others from being read
			r.set.Bad = append(r.set.Bad, err.Error())
			return nil
		}
		return err
	})
	if err == nil && r.set.Rows == 0 && len(r.set.Bad) == 0 {
		return fmt.Errorf("%s: %w: no file in it holds rows of %s", dir, ErrUnknownFamily, strings.Join(familyNames(), ", "))
	}
	return err
}

func familyNames() []string {
	names := []string{harborName}
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// inFolder decides what a folder is. SkipDir: it was read whole, or is none of a set's.
func (r *reader) inFolder(dir string, top bool, sums hash.Hash) error {
	if base := filepath.Base(dir); !top && strings.HasPrefix(base, ".") {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, harborFile)); err == nil {
		if err := r.harbor(dir, sums); err != nil {
			r.set.Bad = append(r.set.Bad, fmt.Sprintf("%s: %v", dir, err))
		}
		return filepath.SkipDir
	}
	m, ours := manifestOf(dir)
	if !ours {
		return nil
	}
	if top {
		r.set.Name = strings.TrimSpace(m.Name + " " + m.Release.Version)
	}
	r.dataset = m.Name
	defer func() { r.dataset = "" }()
	splits, err := filepath.Glob(filepath.Join(dir, "data", "*.jsonl")) // beside them the same rows lie as Parquet
	if err != nil {
		return err
	}
	for _, split := range splits {
		fmt.Fprintf(sums, "%s\n", filepath.Base(split))
		if err := r.file(split, sums); err != nil {
			return err
		}
	}
	return filepath.SkipDir
}

// manifest is what is read of a dataset of ours.
type manifest struct {
	Format, Name string
	Release      struct{ Version string }
}

// manifestOf reports whether a folder is a dataset of ours.
func manifestOf(dir string) (m manifest, ours bool) {
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	return m, err == nil && json.Unmarshal(b, &m) == nil && strings.HasPrefix(m.Format, "benchmint-dataset/")
}

// Load reads a set into memory.
func Load(ctx context.Context, place string) (tasks []Task, s Set, err error) {
	s, err = Read(ctx, place, func(t Task) { tasks = append(tasks, t) })
	return tasks, s, err
}

// FromRow makes a task of one line of a dataset of ours.
func FromRow(line []byte, dataset string) (Task, error) {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(line, &row); err != nil {
		return Task{}, err
	}
	c := cells{}
	for _, name := range own.columns() {
		c[name] = textAt(row, name)
	}
	t, err := own.read(c)
	t.Dataset = dataset
	return t, err
}

// Compare compares tasks with all of ours, as Against does.
func (x *Index) Compare(set SetRef, tasks iter.Seq[Task]) []Hit {
	p := x.begin()
	for t := range tasks {
		p.look(t)
	}
	return p.end(set)
}

// Against compares a set with all of our tasks. Its rows are looked at on all processors. Hits are in order of our ID,
// their ID and key.
func (x *Index) Against(ctx context.Context, place string) (Set, []Hit, error) {
	p := x.begin()
	rows := make(chan Task, 64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for t := range rows {
				p.look(t)
			}
		})
	}
	s, err := Read(ctx, place, func(t Task) { rows <- t })
	close(rows)
	workers.Wait()
	s.Itself = p.itself
	return s, p.end(s.SetRef), err
}
