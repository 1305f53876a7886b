package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Class is what kind of thing of a task changed.
type Class string

// The classes.
const (
	ClassText        Class = "text"        // what a solver is told
	ClassLists       Class = "lists"       // which tests decide
	ClassEnvironment Class = "environment" // how it is built and run
	ClassMarks       Class = "marks"       // what the release says of it
	ClassTask        Class = "task"        // base, patches, identity: another task under its name
	ClassProvenance  Class = "provenance"  // where it comes from, and figures
)

// classes are those of the keys of a row and of its benchmint; all others are provenance.
var classes = map[string]Class{
	"problem_statement": ClassText, "hints_text": ClassText, "interface": ClassText, "statement_from": ClassText, "statement_provider": ClassText,
	"written_by": ClassText, "thin": ClassText, "review": ClassText, "tests_visible": ClassText,
	"FAIL_TO_PASS": ClassLists, "PASS_TO_PASS": ClassLists, "causes": ClassLists, "baseline_b": ClassLists, "skip_to_pass": ClassLists, "quarantined": ClassLists,
	"quarantined_in": ClassLists, "vanished": ClassLists, "unstable_ids": ClassLists, "solution_file": ClassLists, "solution_name": ClassLists, "clock": ClassLists, "p2p_fast": ClassLists,
	"environment": ClassEnvironment, "image_key": ClassEnvironment, "toolchain": ClassEnvironment, "pinning": ClassEnvironment, "pin_date": ClassEnvironment,
	"deps_from": ClassEnvironment, "sandbox": ClassEnvironment, "host": ClassEnvironment, "test": ClassEnvironment, "report": ClassEnvironment, "environment_setup_commit": ClassEnvironment,
	"release": ClassMarks, "reviews": ClassMarks,
	"repo": ClassTask, "base_commit": ClassTask, "patch": ClassTask, "test_patch": ClassTask, "identity": ClassTask, "trees": ClassTask,
	"patch_encoding": ClassTask, "test_patch_encoding": ClassTask, "parts": ClassTask, "functions": ClassTask, "sizes": ClassTask, "kind": ClassTask, "language": ClassTask,
}

// Diff is what lies between two datasets.
type Diff struct {
	Format string `json:"format"`
	From   string `json:"from"` // a version, or the name of a dataset; "" where there is none before
	To     string `json:"to"`
	Came   []Came `json:"came"`
	Out    []Out  `json:"withdrawn"`
	Held   []Out  `json:"held"`
	Back   []Came `json:"back"`
	Gone   []Came `json:"gone"` // not in To, and no withdrawal says why
	// Opened were held out and Revealed private before. On the shelf of hidden tasks they are not in To any more.
	Opened   []Came    `json:"opened,omitempty"`
	Revealed []Came    `json:"revealed,omitempty"`
	Changed  []Changed `json:"changed"`
}

// DiffFormat is the version of diff.json.
const DiffFormat = "benchmint-diff/1"

// Came is a task that one of the two does not have.
type Came struct {
	ID    string       `json:"id"`
	Repo  string       `json:"repo"`
	Kind  schemas.Kind `json:"kind"`
	Month string       `json:"month"` // of its created_at, YYYY-MM
	// Backfill: its work is older than the window.
	Backfill bool `json:"backfill,omitempty"`
}

// Out is a task that was taken out, and why.
type Out struct {
	Came
	Reason     schemas.Withdrawal `json:"reason"`
	Text       string             `json:"text"`
	ReplacedBy string             `json:"replaced_by,omitempty"`
}

// Changed is a task that both have, with other bytes.
type Changed struct {
	ID      string   `json:"id"`
	Repo    string   `json:"repo"`
	Classes []Class  `json:"classes"`
	Reasons []string `json:"reasons,omitempty"` // of a revision
	Fields  []Field  `json:"fields"`
}

// Field is one key that changed.
type Field struct {
	Key   string `json:"key"` // of the row; of benchmint with that before it
	Class Class  `json:"class"`
	// Text is the old and the new text in one: [-words that went-]{+words that came+}.
	Text string `json:"text,omitempty"`
	// Added and Removed are of lists.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Before and After are JSON, of everything else, cut after 300 characters.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Side is one of two datasets.
type Side struct {
	Name string
	Rows map[string]Line // by ID
}

// Line is a row with its bytes.
type Line struct {
	output.Row
	Raw []byte
}

// SideOf reads a dataset for a diff.
func SideOf(name string, d *output.Dataset) (Side, error) {
	s := Side{name, map[string]Line{}}
	for _, r := range d.Rows {
		b, err := d.Line(r)
		if err != nil {
			return s, err
		}
		s.Rows[r.InstanceID] = Line{r.Row, b}
	}
	return s, nil
}

// Compare gives what changed from a to b. The feed of their shelf says why tasks went; it is empty
// where there is none.
func Compare(a, b Side, feed Feed) (Diff, error) {
	d := Diff{Format: DiffFormat, From: a.Name, To: b.Name, Came: []Came{}, Out: []Out{}, Held: []Out{}, Back: []Came{}, Gone: []Came{}, Changed: []Changed{}}
	for _, id := range slices.Sorted(maps.Keys(b.Rows)) {
		now := b.Rows[id]
		before, ok := a.Rows[id]
		switch {
		case !ok && d.cameOut(now.Row, feed):
		case !ok && published(now.Row, a.Name):
			d.Back = append(d.Back, cameOf(now.Row))
		case !ok:
			d.Came = append(d.Came, cameOf(now.Row))
		case string(before.Raw) != string(now.Raw):
			c, err := changedOf(before, now)
			if err != nil {
				return d, fmt.Errorf("%s: %w", id, err)
			}
			if len(c.Fields) > 0 {
				d.Changed = append(d.Changed, c)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.Rows)) {
		if _, ok := b.Rows[id]; ok {
			continue
		}
		c := cameOf(a.Rows[id].Row)
		if w, ok := withdrawn(feed.Withdrawals, id, ""); ok {
			d.Out = append(d.Out, Out{c, w.Reason, w.Text, w.ReplacedBy})
		} else if w, ok := withdrawn(feed.Held, id, ""); ok {
			d.Held = append(d.Held, Out{c, w.Reason, w.Text, w.ReplacedBy})
		} else if !d.cameOut(a.Rows[id].Row, feed) {
			d.Gone = append(d.Gone, c)
		}
	}
	return d, nil
}

// cameOut notes a task that became public between the two, and reports whether it did.
func (d *Diff) cameOut(r output.Row, feed Feed) bool {
	x, ok := disclosed(feed.Disclosed, r.InstanceID)
	if !ok || versionShape.MatchString(d.From) && x.In.Compare(Version(d.From)) <= 0 || versionShape.MatchString(d.To) && x.In.Compare(Version(d.To)) > 0 {
		return false
	}
	if x.Part == output.HeldOut {
		d.Opened = append(d.Opened, cameOf(r))
	} else {
		d.Revealed = append(d.Revealed, cameOf(r))
	}
	return true
}

// published reports whether a row came with this version or an earlier one.
func published(r output.Row, version string) bool {
	p := r.Benchmint.Release
	return p != nil && versionShape.MatchString(version) && Version(p.First).Compare(Version(version)) <= 0
}

func cameOf(r output.Row) Came {
	c := Came{ID: r.InstanceID, Repo: r.Repo, Kind: r.Benchmint.Kind, Month: r.Created().UTC().Format("2006-01")}
	c.Backfill = r.Benchmint.Release != nil && r.Benchmint.Release.Backfill
	return c
}

func changedOf(a, b Line) (Changed, error) {
	c := Changed{ID: b.InstanceID, Repo: b.Repo, Fields: []Field{}}
	before, err := flat(a.Raw)
	if err != nil {
		return c, err
	}
	after, err := flat(b.Raw)
	if err != nil {
		return c, err
	}
	keys := map[string]bool{}
	for k := range before {
		keys[k] = true
	}
	for k := range after {
		keys[k] = true
	}
	seen := map[Class]bool{}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if string(before[k]) == string(after[k]) {
			continue
		}
		f := fieldOf(k, before[k], after[k])
		c.Fields = append(c.Fields, f)
		seen[f.Class] = true
	}
	c.Classes = slices.Sorted(maps.Keys(seen))
	if p := b.Benchmint.Release; p != nil && (a.Benchmint.Release == nil || p.Revision != a.Benchmint.Release.Revision) {
		c.Reasons = p.Revised
	}
	return c, nil
}

// flat is a row by its keys, those of benchmint behind "benchmint.".
func flat(line []byte) (map[string]json.RawMessage, error) {
	var row, own map[string]json.RawMessage
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(row["benchmint"], &text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &own); err != nil {
		return nil, err
	}
	delete(row, "benchmint")
	delete(own, "base_archive") // how trees.base is packed, with others or alone
	for k, v := range own {
		row["benchmint."+k] = v
	}
	return row, nil
}

func fieldOf(key string, before, after json.RawMessage) Field {
	f := Field{Key: key, Class: cmp.Or(classes[strings.TrimPrefix(key, "benchmint.")], ClassProvenance)}
	var a, b string
	aText, bText := json.Unmarshal(before, &a) == nil, json.Unmarshal(after, &b) == nil
	aList, aOK := list(before, a)
	bList, bOK := list(after, b)
	switch {
	case aOK && bOK:
		f.Added, f.Removed = without(bList, aList), without(aList, bList)
	case aText && bText && (f.Class == ClassText || f.Class == ClassTask):
		f.Text = words(a, b)
	default:
		f.Before, f.After = short(before), short(after)
	}
	return f
}

// list is a JSON list of strings, plain or as text.
func list(b json.RawMessage, text string) (out []string, ok bool) {
	if text != "" {
		b = json.RawMessage(text)
	}
	return out, len(b) > 0 && json.Unmarshal(b, &out) == nil && out != nil
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(x string) bool { return slices.Contains(others, x) })
}

func short(b json.RawMessage) string {
	const most = 300
	if r := []rune(string(b)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(b)
}

// words is the difference of two texts, word by word.
func words(a, b string) string {
	numbers, vocabulary := map[string]rune{}, []string{""}
	encoded := func(text string) []rune {
		var out []rune
		for _, w := range strings.SplitAfter(text, " ") {
			n, ok := numbers[w]
			if !ok {
				n = rune(len(vocabulary))
				if n >= 0xd800 {
					n += 0x800 // surrogates are no runes
				}
				numbers[w], vocabulary = n, append(vocabulary, w)
			}
			out = append(out, n)
		}
		return out
	}
	x, y := encoded(a), encoded(b)
	back := map[rune]string{}
	for w, n := range numbers {
		back[n] = w
	}
	var out strings.Builder
	for _, d := range diffmatchpatch.New().DiffMainRunes(x, y, false) {
		var text strings.Builder
		for _, n := range d.Text {
			text.WriteString(back[n])
		}
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			fmt.Fprintf(&out, "[-%s-]", text.String())
		case diffmatchpatch.DiffInsert:
			fmt.Fprintf(&out, "{+%s+}", text.String())
		case diffmatchpatch.DiffEqual:
			out.WriteString(text.String())
		}
	}
	return out.String()
}

// Empty reports whether nothing changed.
func (d Diff) Empty() bool {
	return len(d.Came)+len(d.Out)+len(d.Held)+len(d.Back)+len(d.Gone)+len(d.Opened)+len(d.Revealed)+len(d.Changed) == 0
}

// Counts are the figures of a diff; tasks is how many there are after it.
func (d Diff) Counts(tasks int) Counts {
	return Counts{Tasks: tasks, Came: len(d.Came), Withdrawn: len(d.Out), Held: len(d.Held), Back: len(d.Back), Revised: len(d.Changed), Disclosed: len(d.Opened) + len(d.Revealed)}
}
