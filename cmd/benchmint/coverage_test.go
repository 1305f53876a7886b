package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
)

func TestCoveredOf(t *testing.T) {
	t.Parallel()
	got := coveredOf(grade.Tried{Tree: treeOf(t, map[string]string{"a.py": "a\nb\r\na"}), Coverage: grade.Covered{
		Files: []lang.Coverage{{Path: "a.py", Lines: []int{1, 2, 4, 7}, Ran: []int{2, 7}}, {Path: "b.py"}}, Missing: 1, Processes: 3,
	}})
	want := &covered{Lines: 4, Ran: 2, Share: 0.5, Missing: 1, Processes: 3, Files: []coveredFile{
		{Path: "a.py", Lines: 4, Ran: 2, Covered: []int{2, 7}, Missed: []int{1, 4}, Prints: printsOf("a\nb\na\n")}, {Path: "b.py", Covered: []int{}, Missed: []int{}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := coveredOf(grade.Tried{Limit: schemas.OverTime}); got.Unknown != "the run did not come to its end: "+string(schemas.OverTime) {
		t.Errorf("over a limit: %+v", got)
	}
	if got := ranges([]int{1, 3, 4, 5, 9, 10}); got != "1, 3-5, 9-10" {
		t.Errorf("ranges: %s", got)
	}
}

func treeOf(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for p, text := range files {
		entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(text)})
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// resultOf is a run on files: + begins a line that ran, - one that was missed.
func resultOf(t *testing.T, files map[string]string) tried {
	t.Helper()
	var c grade.Covered
	texts := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		of := lang.Coverage{Path: p}
		for i, line := range strings.Split(strings.TrimSpace(files[p]), "\n") {
			switch line[0] {
			case '+':
				of.Ran = append(of.Ran, i+1)
				fallthrough
			case '-':
				of.Lines = append(of.Lines, i+1)
			}
			texts[p] += line[1:] + "\n"
		}
		c.Files = append(c.Files, of)
	}
	return tried{ID: "a__b-1", Task: "sha256:1", Tests: []triedTest{{ID: "t"}, {ID: "u"}}, Coverage: coveredOf(grade.Tried{Tree: treeOf(t, texts), Coverage: c})}
}

func TestCompareCoverage(t *testing.T) {
	t.Parallel()
	before := resultOf(t, map[string]string{
		"moved.py": "+def f\n+  one\n-  two\n+def g\n+  three\n+  gone",
		"equal.py": "+x", "removed.py": "+x",
	})
	// A line that is inserted moves the others: three ran before and is missed now, two the other way round.
	now := resultOf(t, map[string]string{
		"moved.py": " # new\n+def f\n+  one\n+  two\n+  added\n+def g\n-  three",
		"equal.py": "+x", "came.py": "+a\n+b\n-c\n-d\n-e\n-f\n-g\n-h\n-i",
	})
	now.Tests = now.Tests[:1]
	now.Coverage.compare(before, now)
	want := &compared{Before: figures{Lines: 8, Ran: 7, Share: 0.875}, Change: -0.375, OtherTests: true, Files: []comparedFile{
		{Path: "came.py", Now: &figures{Lines: 9, Ran: 2, Share: 2. / 9}, NewlyCovered: []int{1, 2}, NoLongerCovered: []int{}},
		{Path: "equal.py", Before: &figures{Lines: 1, Ran: 1, Share: 1}, Now: &figures{Lines: 1, Ran: 1, Share: 1}, NewlyCovered: []int{}, NoLongerCovered: []int{}},
		{Path: "moved.py", Before: &figures{Lines: 6, Ran: 5, Share: 5. / 6}, Now: &figures{Lines: 6, Ran: 5, Share: 5. / 6}, NewlyCovered: []int{4, 5}, NoLongerCovered: []int{7}},
		{Path: "removed.py", Before: &figures{Lines: 1, Ran: 1, Share: 1}, NewlyCovered: []int{}, NoLongerCovered: []int{}},
	}}
	if diff := cmp.Diff(want, now.Coverage.Against); diff != "" {
		t.Error(diff)
	}
	var out strings.Builder
	now.Coverage.Against.show(&printer{w: &out})
	if diff := cmp.Diff([]string{
		"came.py                                  not known before, 2 of 9 now  newly 1-2",
		"moved.py                                 5 of 6 before, 5 of 6 now: +0.0 %  newly 4-5  no longer 7",
		"removed.py                               1 of 1 before, not known now",
		"against    the run before had other tests",
		"against    87.5 %: 7 of 8 lines; -37.5 %", "",
	}, strings.Split(out.String(), "\n")); diff != "" {
		t.Error(diff)
	}
	now.Coverage = &covered{Unknown: "no test came to its end"}
	if now.Coverage.compare(before, now); now.Coverage.Against != nil {
		t.Errorf("what is not known is compared: %+v", now.Coverage.Against)
	}
}

// TestSameLines: many different lines, among them those whose numbers are no characters.
func TestSameLines(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 56_000 {
		text.WriteString(strings.Repeat("x", i%250) + string(rune('a'+i/250%26)) + string(rune('a'+i/6500)) + "\n")
	}
	same := sameLines(printsOf(text.String()+"last\n"), printsOf("new\n"+text.String()+"other\n"))
	if len(same) != 56_000 || same[2] != 1 || same[56_001] != 56_000 {
		t.Errorf("%d lines are the same: 2 was %d, 56001 was %d", len(same), same[2], same[56_001])
	}
	if same := sameLines("no base64", printsOf("x\n")); len(same) != 0 {
		t.Errorf("what cannot be read: %v", same)
	}
}

func TestEarlier(t *testing.T) {
	t.Parallel()
	good := resultOf(t, map[string]string{"a.py": "+x"})
	bare, unknown, older := good, good, good
	bare.Coverage = nil
	unknown.Coverage = &covered{Unknown: "no test came to its end"}
	older.Task = ""
	for name, c := range map[string]struct {
		said   any
		id     string
		digest schemas.Digest
		fault  string
	}{
		"one":           {good, "a__b-1", "sha256:1", ""},
		"several":       {[]tried{bare, {ID: "c__d-2"}, good}, "a__b-1", "sha256:1", ""},
		"another_task":  {good, "c__d-2", "sha256:1", "FILE has no result of c__d-2: it is of a__b-1"},
		"version":       {good, "a__b-1", "sha256:2", "FILE: its a__b-1 is of another version of the dataset: task sha256:1, and here it is sha256:2"},
		"older_program": {older, "a__b-1", "sha256:2", "task without a digest"},
		"not_measured":  {bare, "a__b-1", "sha256:1", "FILE: the run of a__b-1 was without --coverage"},
		"unknown":       {unknown, "a__b-1", "sha256:1", "FILE: the coverage of a__b-1 is not known: no test came to its end"},
		"other_json":    {7, "a__b-1", "sha256:1", "FILE: not what test --coverage --json prints"},
	} {
		data, err := json.Marshal(c.said)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "before.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := earlier(file, map[string]schemas.Digest{c.id: c.digest})
		switch {
		case c.fault == "" && (err != nil || cmp.Diff(good.Coverage, got[c.id].Coverage) != ""):
			t.Errorf("%s: %+v, %v", name, got, err)
		case c.fault != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), file, "FILE"), c.fault)):
			t.Errorf("%s: %v, want %s", name, err, c.fault)
		}
	}
}
