package release

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/output"
)

// marks find hidden tasks in texts, by the lines that their patches add. A line by itself says little, and two changes
// of one project may share a few: a text shows a task where it holds half of its lines. Lines that several tasks add
// (names of helpers, headings) count for none.
type marks struct {
	of    map[string][]string // line → IDs
	count map[string]int      // lines of an ID
}

// common is in how many tasks a line may stand.
const common = 2

func marksOf(hidden, others []output.Row) (marks, error) {
	m, in := marks{map[string][]string{}, map[string]int{}}, map[string]int{}
	lines := make([][]string, len(hidden))
	for i, r := range slices.Concat(hidden, others) {
		all, err := added(r)
		if err != nil {
			return m, err
		}
		for _, l := range all {
			in[l]++
		}
		if i < len(hidden) {
			lines[i] = all
		}
	}
	for i, r := range hidden {
		for _, l := range lines[i] {
			if in[l] <= common {
				m.of[l] = append(m.of[l], r.InstanceID)
				m.count[r.InstanceID]++
			}
		}
	}
	return m, nil
}

// added are the lines that both patches of a row add, each once.
func added(r output.Row) ([]string, error) {
	var out []string
	for _, patch := range []func() ([]byte, error){r.GoldPatch, r.Tests} {
		b, err := patch()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.InstanceID, err)
		}
		for _, lines := range addedByFile(b) {
			out = append(out, lines...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// reading collects which lines a text has.
type reading struct {
	marks
	found map[string]map[string]bool // ID → lines
}

func (m marks) reading() *reading { return &reading{m, map[string]map[string]bool{}} }

func (r *reading) line(l string) {
	l = strings.TrimSpace(l)
	if l = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(l, "+"), "-")); len(l) < leastLine {
		return
	}
	for _, id := range r.of[l] {
		if r.found[id] == nil {
			r.found[id] = map[string]bool{}
		}
		r.found[id][l] = true
	}
}

// shows is the first task that the text shows, "" where it shows none.
func (r *reading) shows() string {
	var all []string
	for id, lines := range r.found {
		if 2*len(lines) >= r.count[id] {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func (m marks) inRow(r output.Row) (string, error) {
	line, err := r.Encoded()
	if err != nil {
		return "", err
	}
	seen := m.reading()
	jsonLines(line, seen.line)
	return seen.shows(), nil
}

// unseen: a task is hidden from the public rows. On the shelf of hidden tasks a new one is left out that a published row
// shows, and on the public shelf a new one that shows a hidden task.
func unseen(_ context.Context, c *Candidate) (a Answer, err error) {
	switch {
	case c.secret:
		return unseenBefore(c)
	case c.hidden == nil:
		return Answer{Skipped: "no task is hidden"}, nil
	}
	m, err := marksOf(c.hidden.rows(), c.rows())
	if err != nil {
		return a, err
	}
	for t := range c.New() {
		id, err := m.inRow(t.Row)
		if err != nil {
			return a, err
		}
		if id != "" {
			a.Remove = append(a.Remove, Objection{"hidden", t.Row.InstanceID, "it holds half of the lines that a hidden task adds"})
		}
	}
	return a, nil
}

func (c *Candidate) rows() (out []output.Row) {
	for _, t := range c.Tasks {
		out = append(out, t.Row)
	}
	return out
}

func unseenBefore(c *Candidate) (a Answer, err error) {
	if c.draw.published == nil {
		return a, nil
	}
	var fresh []output.Row
	for t := range c.New() {
		fresh = append(fresh, t.Row)
	}
	var public []output.Row
	for _, r := range c.draw.published.Rows {
		public = append(public, r.Row)
	}
	m, err := marksOf(fresh, public)
	if err != nil {
		return a, err
	}
	for _, r := range public {
		id, err := m.inRow(r)
		if err != nil {
			return a, err
		}
		if id != "" && !slices.ContainsFunc(a.Remove, func(o Objection) bool { return o.ID == id }) {
			a.Remove = append(a.Remove, Objection{"hidden", id, r.InstanceID + ", which is public, holds half of the lines that it adds"})
		}
	}
	return a, nil
}

// veiled: no file of a public version holds what a hidden task adds, or names a private one. Base trees are left out:
// those of later tasks hold the changes before them, and the card counts that.
func veiled(_ context.Context, c *Candidate, dir string) (a Answer, err error) {
	if c.veil == nil || c.veil.rows == nil {
		return Answer{Skipped: "no task is hidden"}, nil
	}
	var rows []output.Row
	private := map[string]bool{}
	for _, r := range c.veil.rows {
		rows = append(rows, r.Row)
		private[r.InstanceID] = r.Benchmint.Release.Part == output.Private
	}
	m, err := marksOf(rows, c.rows())
	if err != nil {
		return a, err
	}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if name == output.HeldOutFile || path.Ext(name) == ".parquet" || path.Base(path.Dir(name)) == output.BlobsDir {
			return nil // encrypted; the rows of the JSONL; base trees and packages
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if id := m.inFile(name, string(b)); id != "" {
			a.Refuse = append(a.Refuse, Objection{"hidden", id, name + " holds half of the lines that it adds"})
		}
		if id := namedIn(string(b), private); id != "" {
			a.Refuse = append(a.Refuse, Objection{"hidden", id, name + " names it, and it is private"})
		}
		return nil
	})
	return a, err
}

// inFile is the first task that a file shows. Each record of a file of records is a text by itself.
func (m marks) inFile(name, text string) string {
	switch path.Ext(name) {
	case ".jsonl":
		for l := range strings.Lines(text) {
			seen := m.reading()
			jsonLines([]byte(l), seen.line)
			if id := seen.shows(); id != "" {
				return id
			}
		}
		return ""
	case ".json":
		seen := m.reading()
		jsonLines([]byte(text), seen.line)
		return seen.shows()
	}
	seen := m.reading()
	for l := range strings.Lines(text) {
		seen.line(l)
	}
	return seen.shows()
}
