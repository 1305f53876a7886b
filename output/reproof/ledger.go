// Package reproof reads and judges the ledger of re-proof: reproof.jsonl beside a dataset, with one
// line for each run by which a published task was proved again. It never runs anything.
//
// A ledger is only added to. A line counts for a row of the same task with the same lists, so that
// lines of other datasets, of other lists and of other trees may stand in it.
//
//	l, err := reproof.Read("reproof.jsonl")
//	v := reproof.Judge(row, l.Of(ground, row), flakes)   // proved, narrowed, held, withdrawn, …
//	runs := wanted.Missing(row, l.Of(ground, row), today)
package reproof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// File is the name of a ledger.
const File = output.ReproofFile

// Beside is the ledger of a dataset's folder: next to it, so that a dataset that is written again
// and a published version stay as they are.
func Beside(dataset string) string {
	if abs, err := filepath.Abs(dataset); err == nil {
		dataset = abs
	}
	return filepath.Join(filepath.Dir(dataset), File)
}

// Lists is the digest of the lists of a row.
func Lists(r output.Row) schemas.Digest {
	return schemas.DigestOf(struct{ FailToPass, PassToPass []string }{r.FailToPass, r.PassToPass})
}

// Ledger is what several files say, each run once.
type Ledger struct {
	byTask map[string][]schemas.Reproof
	seen   map[string]bool // by ID, ground and lists
}

// New is an empty ledger.
func New() *Ledger {
	return &Ledger{byTask: map[string][]schemas.Reproof{}, seen: map[string]bool{}}
}

// ErrCut is a last line without its end: the process that wrote it was killed.
var ErrCut = errors.New("its last line is cut off")

// Read reads ledgers. A file that is not there has no lines; the end of a line that a killed process
// left is no fault.
func Read(files ...string) (*Ledger, error) {
	l := New()
	for _, name := range files {
		err := l.read(name)
		if err != nil && !errors.Is(err, ErrCut) && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

// Lines are those of one file, in its order.
func Lines(name string) ([]schemas.Reproof, error) {
	var out []schemas.Reproof
	err := each(name, func(r schemas.Reproof) { out = append(out, r) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}

func (l *Ledger) read(name string) error { return each(name, func(r schemas.Reproof) { l.Add(r) }) }

func each(name string, do func(schemas.Reproof)) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(b) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r schemas.Reproof
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&r)
		if err != nil && !bytes.HasSuffix(line, []byte("\n")) {
			return ErrCut
		}
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		do(r)
	}
	return nil
}

// Add takes a run. It reports false for one that is there.
func (l *Ledger) Add(r schemas.Reproof) bool {
	key := r.ID() + " " + string(r.Ground) + " " + string(r.Lists)
	if l.seen[key] {
		return false
	}
	l.seen[key] = true
	l.byTask[r.Task] = append(l.byTask[r.Task], r)
	return true
}

// Of are the runs that count for a row, by date, clock, state and number; ground is the digest of its
// task without its lists.
func (l *Ledger) Of(ground schemas.Digest, row output.Row) []schemas.Reproof {
	lists := Lists(row)
	out := slices.DeleteFunc(slices.Clone(l.byTask[row.InstanceID]), func(r schemas.Reproof) bool { return r.Ground != ground || r.Lists != lists })
	slices.SortFunc(out, func(a, b schemas.Reproof) int { return strings.Compare(a.ID(), b.ID()) })
	return out
}

// Writer adds lines to a file.
type Writer struct {
	file *os.File
}

// Append opens a file to add to. What a killed process left of a line is cut off: the run is made, or
// its line written, again.
func Append(name string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if err == nil && len(b) > 0 && b[len(b)-1] != '\n' {
		err = f.Truncate(int64(bytes.LastIndexByte(b, '\n') + 1))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Writer{f}, nil
}

// Add writes one line, whole or not at all.
func (w *Writer) Add(r schemas.Reproof) error {
	if err := r.Validate(); err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	if _, err := w.file.Write(append(b, '\n')); err != nil {
		return errors.Join(err, w.file.Truncate(info.Size()))
	}
	return nil
}

// Close makes the lines last.
func (w *Writer) Close() error { return errors.Join(w.file.Sync(), w.file.Close()) }
