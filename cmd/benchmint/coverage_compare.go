package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/benchmint/benchmint/schemas"
)

// compared is a coverage beside that of an earlier run, for scripts.
type compared struct {
	Before figures `json:"before"`
	Change float64 `json:"change"` // of the share, -1 to 1
	// OtherTests: the runs have not the same tests.
	OtherTests bool           `json:"other_tests,omitempty"`
	Files      []comparedFile `json:"files"`
}

type figures struct {
	Lines   int     `json:"lines"`
	Ran     int     `json:"ran"`
	Share   float64 `json:"share"`
	Missing int     `json:"missing,omitempty"` // processes without a count
}

// comparedFile is one file of either run. A line is found again by its text and its place among the others.
type comparedFile struct {
	Path   string   `json:"path"`
	Before *figures `json:"before"` // null where nothing was known of the file
	Now    *figures `json:"now"`
	Change float64  `json:"change"` // of the share, where both are known
	// NewlyCovered ran now, and were missed before or not there; NoLongerCovered ran before, are still there and were
	// missed now. The numbers are those of now.
	NewlyCovered    []int `json:"newly_covered"`
	NoLongerCovered []int `json:"no_longer_covered"`
}

// earlier reads the results of a run before, as test --json prints them, by instance ID. Each task must be in it, with
// this digest and a coverage that is known.
func earlier(file string, tasks map[string]schemas.Digest) (map[string]tried, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []tried
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte("[")) {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: not what test --coverage --json prints: %w", file, err)
	}
	out := map[string]tried{}
	for _, r := range all {
		out[r.ID] = r
	}
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		r, ok := out[id]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s has no result of %s: it is of %s", file, id, visible(cmp.Or(strings.Join(slices.Sorted(maps.Keys(out)), ", "), "no task")))
		case r.Task != tasks[id]:
			return nil, fmt.Errorf("%s: its %s is of another version of the dataset: task %s, and here it is %s", file, id, visible(cmp.Or(string(r.Task), "without a digest")), tasks[id])
		case r.Coverage == nil:
			return nil, fmt.Errorf("%s: the run of %s was without --coverage", file, id)
		case r.Coverage.Unknown != "":
			return nil, fmt.Errorf("%s: the coverage of %s is not known: %s", file, id, visible(r.Coverage.Unknown))
		}
	}
	return out, nil
}

// compare puts an earlier result of the same task beside c, which is that of now. Nothing where there is none, or
// where c is not known.
func (c *covered) compare(before, now tried) {
	if before.Coverage == nil || c.Unknown != "" {
		return
	}
	b := before.Coverage
	out := &compared{Before: figures{b.Lines, b.Ran, share(b.Ran, b.Lines), b.Missing}, OtherTests: !sameTests(before.Tests, now.Tests), Files: []comparedFile{}}
	out.Change = c.Share - out.Before.Share
	was, is := byPath(b.Files), byPath(c.Files)
	both := maps.Clone(was)
	maps.Copy(both, is)
	for _, p := range slices.Sorted(maps.Keys(both)) {
		out.Files = append(out.Files, compareFile(p, was[p], is[p]))
	}
	c.Against = out
}

func byPath(files []coveredFile) map[string]*coveredFile {
	out := map[string]*coveredFile{}
	for i, f := range files {
		out[f.Path] = &files[i]
	}
	return out
}

func sameTests(a, b []triedTest) bool {
	ids := func(tests []triedTest) (out []string) {
		for _, t := range tests {
			out = append(out, t.ID)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(ids(a), ids(b))
}

func compareFile(path string, was, is *coveredFile) comparedFile {
	out := comparedFile{Path: path, NewlyCovered: []int{}, NoLongerCovered: []int{}}
	if was != nil {
		out.Before = &figures{Lines: was.Lines, Ran: was.Ran, Share: share(was.Ran, was.Lines)}
	}
	if is == nil {
		return out
	}
	out.Now = &figures{Lines: is.Lines, Ran: is.Ran, Share: share(is.Ran, is.Lines)}
	if was == nil {
		out.NewlyCovered = append(out.NewlyCovered, is.Covered...)
		return out
	}
	out.Change = out.Now.Share - out.Before.Share
	ran, old := setOf(was.Covered), sameLines(was.Prints, is.Prints)
	for _, n := range is.Covered {
		if !ran[old[n]] {
			out.NewlyCovered = append(out.NewlyCovered, n)
		}
	}
	for _, n := range is.Missed {
		if ran[old[n]] {
			out.NoLongerCovered = append(out.NoLongerCovered, n)
		}
	}
	return out
}

// sameLines gives the line of a file's earlier text, from 1, for each line of its later one that was there already.
func sameLines(before, after string) map[int]int {
	ids := map[string]rune{}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // the same answer on a busy machine
	out, old, line := map[int]int{}, 1, 1
	for _, part := range d.DiffMainRunes(runesOf(before, ids), runesOf(after, ids), false) {
		n := utf8.RuneCountInString(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			old += n
		case diffmatchpatch.DiffInsert:
			line += n
		case diffmatchpatch.DiffEqual:
			for range n {
				out[line] = old
				old, line = old+1, line+1
			}
		}
	}
	return out
}

// runesOf stands a character for each line, the same one for equal lines.
func runesOf(prints string, ids map[string]rune) (out []rune) {
	data, err := base64.StdEncoding.DecodeString(prints)
	if err != nil {
		return nil // a file that somebody edited: no line is the same
	}
	for p := range slices.Chunk(data, printBytes) {
		id, ok := ids[string(p)]
		if !ok {
			if id = rune(len(ids) + 1); id >= 0xD800 { // those from here are halves of characters
				id += 0x800
			}
			ids[string(p)] = id
		}
		out = append(out, id)
	}
	return out
}

func (c *compared) show(t *printer) {
	for _, f := range c.Files {
		line := fmt.Sprintf("%-40s %s before, %s now", visible(f.Path), f.Before, f.Now)
		if f.Before != nil && f.Now != nil {
			if *f.Before == *f.Now && len(f.NewlyCovered)+len(f.NoLongerCovered) == 0 {
				continue
			}
			line += fmt.Sprintf(": %+.1f %%", 100*f.Change)
		}
		if len(f.NewlyCovered) > 0 {
			line += "  newly " + ranges(f.NewlyCovered)
		}
		if len(f.NoLongerCovered) > 0 {
			line += "  no longer " + ranges(f.NoLongerCovered)
		}
		t.line("%s", line)
	}
	if c.Before.Missing > 0 {
		t.line("against    the run before lacks what %d processes of its tests ran", c.Before.Missing)
	}
	if c.OtherTests {
		t.line("against    the run before had other tests")
	}
	t.line("against    %.1f %%: %d of %d lines; %+.1f %%", 100*c.Before.Share, c.Before.Ran, c.Before.Lines, 100*c.Change)
}

// String is "5 of 9".
func (f *figures) String() string {
	if f == nil {
		return "not known"
	}
	return fmt.Sprintf("%d of %d", f.Ran, f.Lines)
}
