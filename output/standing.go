package output

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// Standing is a row of a dataset that is to be written over, as far as it must be
// known to say whether it stays.
type Standing struct {
	ID     string
	Repo   string // owner/name
	Commit string
	Number int // 0 means none
	// Release is the tag that a library was made of; it has no commit on a line.
	Release string
}

// Standings are the rows of the dataset at dir, in their order; none where nothing
// is there. A row of another version of the format is read as well: it can be lost
// like any other.
func Standings(dir string) (rows []Standing, err error) {
	b, err := readIn(dir, ManifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m struct {
		Split  string // before format 3
		Splits []Split
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestFile), err)
	}
	if len(m.Splits) == 0 {
		m.Splits = []Split{{Name: m.Split}}
	}
	for _, s := range m.Splits {
		name := filepath.FromSlash(dataPath(s.Name))
		if s.Name == "" || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: split %q is not a name", filepath.Join(dir, ManifestFile), s.Name)
		}
		of, err := standingsOf(dir, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	return rows, nil
}

// standingsOf are the rows of one file.
func standingsOf(dir, name string) (rows []Standing, err error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for in := json.NewDecoder(bufio.NewReader(f)); ; {
		row, err := standing(in)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s, row %d: %w", filepath.Join(dir, name), len(rows)+1, err)
		}
		rows = append(rows, row)
	}
}

func standing(in *json.Decoder) (Standing, error) {
	var row struct {
		InstanceID string `json:"instance_id"`
		Repo       string `json:"repo"`
		Benchmint  string `json:"benchmint"`
	}
	if err := in.Decode(&row); err != nil {
		return Standing{}, err
	}
	type change struct {
		Commit string `json:"commit"`
		Number int    `json:"number"`
	}
	var own struct {
		change                   // before format 3
		Change           *change `json:"change"`
		Library, Service struct {
			Release string `json:"release"`
		}
	}
	if err := json.Unmarshal([]byte(row.Benchmint), &own); err != nil {
		return Standing{}, fmt.Errorf("key %q: %w", "benchmint", err)
	}
	if own.Change != nil {
		own.change = *own.Change
	}
	return Standing{row.InstanceID, row.Repo, own.change.Commit, own.change.Number, cmp.Or(own.Library.Release, own.Service.Release)}, nil
}

// Leaving is a row that is in a dataset now and is not in the next one.
type Leaving struct {
	ID  string
	Why string
	// Reason is that of the item's reject; a row without one is lost unless its user
	// says that it may go.
	Reason schemas.Reason
}

func (l Leaving) String() string { return l.ID + " (" + l.Why + ")" }

// LossError refuses a dataset that would take rows out of the one that is there. The
// one that is there is untouched.
type LossError struct {
	Dir  string
	Rows []Leaving
}

func (e *LossError) Error() string {
	return fmt.Sprintf("%s would leave %s without a verdict: %s; --replace lets them go, --output FOLDER writes elsewhere", count(len(e.Rows), "row"), e.Dir, Names(e.Rows))
}

// Names lists rows, the first ten of them.
func Names[T fmt.Stringer](rows []T) string {
	const most = 10
	var names []string
	for _, r := range rows[:min(len(rows), most)] {
		names = append(names, r.String())
	}
	if more := len(rows) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// before is the dataset that is written over: its rows, and what became of each.
type before struct {
	dir     string
	rows    []Standing
	replace bool
	names   map[string]bool   // of the rows and their sources
	kept    map[string]bool   // IDs that are rows again
	ends    map[string]Reject // of the others, without details
}

func standingAt(dir string, replace bool) (*before, error) {
	rows, err := Standings(dir)
	if err != nil && !replace { // what cannot be read is replaced where that was asked for
		return nil, fmt.Errorf("reading the dataset that is there: %w; --replace writes over it", err)
	}
	b := &before{dir: dir, rows: rows, replace: replace, names: map[string]bool{}, kept: map[string]bool{}, ends: map[string]Reject{}}
	for _, row := range rows {
		b.names[row.ID], b.names[schemas.RepoSlug(row.Repo)] = true, true
	}
	return b, nil
}

func (b *before) stays(id string) {
	if b.names[id] {
		b.kept[id] = true
	}
}

func (b *before) ended(r Reject) {
	if b.names[r.InstanceID] {
		b.ends[r.InstanceID] = Reject{End: r.End, Stage: r.Stage, Reason: r.Reason}
	}
}

// leaving are the rows that are not in the new dataset. One goes with a reason where
// its item was judged and rejected by name; whatever else takes it away (a source
// that is not read, an item that failed or was put off, a window that no longer
// reaches it) is no verdict on it, and a LossError without replace.
func (b *before) leaving() ([]Leaving, error) {
	var all, lost []Leaving
	for _, row := range b.rows {
		if b.kept[row.ID] {
			continue
		}
		l := Leaving{ID: row.ID, Why: "not among the items of this run"}
		source := schemas.RepoSlug(row.Repo)
		if r, ok := b.ends[row.ID]; ok {
			l.Why = told(r)
			if r.End == schemas.StepRejected {
				l.Reason = r.Reason
			}
		} else if r, ok := b.ends[source]; ok {
			l.Why = source + " " + told(r)
		}
		if all = append(all, l); l.Reason == "" {
			lost = append(lost, l)
		}
	}
	if len(lost) > 0 && !b.replace {
		return nil, &LossError{b.dir, lost}
	}
	return all, nil
}

func told(r Reject) string {
	if r.End == schemas.StepRejected {
		return string(r.Reason)
	}
	return fmt.Sprintf("%s at %s", r.End, r.Stage)
}
