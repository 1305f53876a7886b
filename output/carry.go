package output

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/schemas"
)

// Carried is a task that is copied from a dataset as it stands there: its row, folder, base
// tree, times and redactions, to the byte. Nothing is made again.
type Carried struct {
	From *Dataset
	Row  Located
	// Line takes the place of the row's line, and what Edit gives that of a file of the task's
	// folder, by its name there. Both are nil for a task that does not change.
	Line []byte
	Edit func(name string, b []byte) ([]byte, error)
	// Archive takes the place of the archive of the base tree, where it is not ""; Open opens it.
	Archive schemas.Digest
	Open    func() (io.ReadCloser, error)
}

// archive is that of the base tree, as it is written.
func (c *Carried) archive() (schemas.Digest, func() (io.ReadCloser, error)) {
	if c.Archive != "" {
		return c.Archive, c.Open
	}
	d := c.Row.Benchmint.BaseArchive
	return d, func() (io.ReadCloser, error) {
		return openIn(c.From.Dir, BlobPath(d))
	}
}

// Carry are the tasks of a dataset for which take says so, in order of ID.
func (d *Dataset) Carry(take func(Row) bool) []Carried {
	var out []Carried
	for _, row := range d.Rows {
		if take(row.Row) {
			out = append(out, Carried{From: d, Row: row})
		}
	}
	slices.SortFunc(out, func(a, b Carried) int { return strings.Compare(a.Row.InstanceID, b.Row.InstanceID) })
	return out
}

// Line is the row's line as it stands in the file, with its end. A row of an earlier format is
// written in today's.
func (d *Dataset) Line(r Located) (_ []byte, err error) {
	if d.layout.format != Format {
		return line(r.Row)
	}
	f, err := openIn(d.Dir, r.File)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, r.size+1)
	if _, err := f.ReadAt(b, r.offset); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
	}
	return b, nil
}

// EachTaskFile visits the files of a task's folder, by their paths below it.
func (d *Dataset) EachTaskFile(id string, do func(name string, mode fs.FileMode, b []byte) error) error {
	if !filepath.IsLocal(id) || strings.ContainsAny(id, "/\\") {
		return fmt.Errorf("%q is not an instance ID", id)
	}
	root := filepath.Join(d.Dir, TasksDir, id)
	return filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", p)
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(rel), info.Mode().Perm(), b)
	})
}

// item is a task that the stages made, or one that is carried.
type item struct {
	task    Task
	carried *Carried
}

// together are the tasks of the stages and those that are carried, in order of ID.
func together(tasks iter.Seq2[Task, error], carried []Carried) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		rest := carried
		before := func(id string) bool {
			for len(rest) > 0 && (id == "" || rest[0].Row.InstanceID < id) {
				if !yield(item{carried: &rest[0]}, nil) {
					return false
				}
				rest = rest[1:]
			}
			return true
		}
		if tasks != nil {
			for t, err := range tasks {
				if err != nil {
					yield(item{}, err)
					return
				}
				if !before(t.ID()) || !yield(item{task: t}, nil) {
					return
				}
			}
		}
		before("")
	}
}

// carry writes a task as it stands in its dataset.
func (w *writer) carry(c *Carried, rows io.Writer, p *parquetWriter, timings io.Writer, sets *configs) error {
	id := c.Row.InstanceID
	if err := w.known(id); err != nil {
		return err
	}
	b := c.Line
	if b == nil {
		var err error
		if b, err = c.From.Line(c.Row); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	if _, err := rows.Write(b); err != nil {
		return err
	}
	if err := errors.Join(p.add(b), sets.add(c.Row.Row, b)); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if err := w.carryFolder(c); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	from, err := w.source(c.From)
	if err != nil {
		return err
	}
	for _, b := range from.timings[id] {
		if _, err := timings.Write(b); err != nil {
			return err
		}
	}
	w.redactor.noted = append(w.redactor.noted, from.redactions[id]...)
	w.repos[c.Row.Repo] = append(w.repos[c.Row.Repo], c.From)
	for _, test := range c.Row.Benchmint.Quarantined {
		w.quarantined[[2]string{c.Row.Repo, test}] = true
	}
	w.tally.add(c.Row.Row)
	w.counts.Tasks++
	w.before.stays(id)
	return nil
}

// archived counts an archive that is written.
func (w *writer) archived(d schemas.Digest, b []byte) {
	w.packed[d] = true
	w.storage.Archives++
	w.storage.ArchiveBytes += int64(len(b))
}

// carryFolder copies a task's folder and its base tree.
func (w *writer) carryFolder(c *Carried) error {
	id := c.Row.InstanceID
	if err := c.From.EachTaskFile(id, func(name string, mode fs.FileMode, b []byte) (err error) {
		if c.Edit != nil {
			if b, err = c.Edit(name, b); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if name == RecipeFile && w.keeping != nil {
			var r schemas.Recipe
			if err := strict(Bare(name, b), &r); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if w.keeping.Index.Provable(r) {
				w.storage.Provable++
			}
		}
		return w.put(path.Join(TasksDir, id, name), mode, b)
	}); err != nil {
		return err
	}
	archive, open := c.archive()
	if w.packed[archive] {
		return nil
	}
	in, err := open()
	if err != nil {
		return err
	}
	b, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	if schemas.DigestBytes(b) != archive {
		return fmt.Errorf("%s: the bytes do not have the digest that names them", BlobPath(archive))
	}
	w.archived(archive, b)
	return w.put(BlobPath(archive), 0o644, b)
}

// carriedFrom is what lines beside the rows of a dataset say, by task.
type carriedFrom struct {
	timings    map[string][][]byte
	redactions map[string][]Redaction
}

func (w *writer) source(d *Dataset) (*carriedFrom, error) {
	if s, ok := w.sources[d]; ok {
		return s, nil
	}
	s := &carriedFrom{map[string][][]byte{}, map[string][]Redaction{}}
	var of struct {
		InstanceID string `json:"instance_id"`
	}
	err := eachRecord(d.Dir, TimingsFile, func(b []byte) error {
		if err := json.Unmarshal(b, &of); err != nil {
			return err
		}
		s.timings[of.InstanceID] = append(s.timings[of.InstanceID], append(slices.Clone(b), '\n'))
		return nil
	})
	if err == nil {
		err = eachRecord(d.Dir, RedactionsFile, func(b []byte) error {
			var r Redaction
			if err := strict(b, &r); err != nil {
				return err
			}
			s.redactions[r.InstanceID] = append(s.redactions[r.InstanceID], r)
			return nil
		})
	}
	w.sources[d] = s
	return s, err
}

// eachRecord visits the lines of a file that need not be there, without that of the canary.
func eachRecord(dir, name string, do func([]byte) error) error {
	b, err := readIn(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := 0
	for l := range strings.Lines(string(Bare(name, b))) {
		n++
		if err := do([]byte(strings.TrimSuffix(l, "\n"))); err != nil {
			return fmt.Errorf("%s, record %d: %w", name, n, err)
		}
	}
	return nil
}

// flakesWith is the ledger of this run with what the datasets that tasks are carried from know
// of their repositories.
func (w *writer) flakesWith(own iter.Seq[ledger.Flake]) []ledger.Flake {
	var all []ledger.Flake
	if own != nil {
		all = slices.Collect(own)
	}
	seen := map[*Dataset]map[string]bool{}
	for repo, from := range w.repos {
		for _, d := range from {
			if seen[d] == nil {
				seen[d] = map[string]bool{}
			}
			seen[d][repo] = true
		}
	}
	for d, repos := range seen {
		for _, f := range d.Flakes {
			if repos[f.Repo] {
				all = append(all, f)
			}
		}
	}
	return MergeFlakes(all)
}

// untold are flakes that do not name some tasks: what only those know and no row quarantines is left out.
func (w *writer) untold(all []ledger.Flake, ids map[string]bool) []ledger.Flake {
	if len(ids) == 0 {
		return all
	}
	var out []ledger.Flake
	for _, f := range all {
		f.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(id string) bool { return ids[id] })
		if len(f.Changes) > 0 || w.quarantined[[2]string{f.Repo, f.Test}] {
			out = append(out, f)
		}
	}
	return out
}

// MergeFlakes joins lines of several ledgers about one test, environment and state: causes and
// changes are those of all, and of runs and outcomes the most that one of them counted, since one
// ledger may have grown out of the other.
func MergeFlakes(all []ledger.Flake) []ledger.Flake {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b ledger.Flake) int {
		return cmp.Or(compareFlakes(a, b), a.Runs-b.Runs, slices.Compare(a.Changes, b.Changes))
	})
	var out []ledger.Flake
	for _, f := range all {
		last := len(out) - 1
		if last < 0 || compareFlakes(out[last], f) != 0 {
			out = append(out, f)
			continue
		}
		f.Causes = union(out[last].Causes, f.Causes)
		f.Changes = union(out[last].Changes, f.Changes)
		out[last] = f // which counted the most
	}
	return out
}

func union[T cmp.Ordered](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Timings visits the lines of timings.jsonl.
func (d *Dataset) Timings(do func(Timing)) error {
	return eachRecord(d.Dir, TimingsFile, func(b []byte) error {
		var t Timing
		if err := strict(b, &t); err != nil {
			return err
		}
		do(t)
		return nil
	})
}
