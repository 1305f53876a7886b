package gitrepo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/schemas"
)

func open(t testing.TB, source string) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), source, "acme/widget", t.TempDir())
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return r
}

func log(t testing.TB, r *gitrepo.Repo, q gitrepo.Query) []schemas.Change {
	t.Helper()
	var out []schemas.Change
	for c, err := range r.Log(t.Context(), q) {
		if err != nil {
			t.Fatalf("reading the log: %v", err)
		}
		out = append(out, c)
	}
	return out
}

func subjects(changes []schemas.Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, c.Subject)
	}
	return out
}

func TestSubjectNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		subject string
		number  int
		from    schemas.NumberSource
	}{
		{"Add a thing (#12)", 12, schemas.NumberSubject},
		{"Add a thing (#1784) (#1785)", 1785, schemas.NumberSubject},
		{`Revert "Add a thing (#2173)" (#2235)`, 2235, schemas.NumberSubject},
		{`Revert "Add a thing (#2173)"`, 0, ""},
		{`Revert "Revert "Add (#1)" (#2)" (#3)`, 3, schemas.NumberSubject},
		{"Merge pull request #7 from zoe/topic", 7, schemas.NumberMerge},
		{"Merge pull request #7 from zoe/fix-(#3)", 7, schemas.NumberMerge},
		{"Merge branch 'main' into main", 0, ""},
		{"Merge commit from fork", 0, ""},
		{"Fix #12", 0, ""},
		{"Fix GH-12 (12)", 0, ""},
		{"Nothing (#0)", 0, ""},
		{"Too long (#12345678901234567890)", 0, ""},
	} {
		if n, from := gitrepo.SubjectNumber(c.subject); n != c.number || from != c.from {
			t.Errorf("%s: %d by %q, want %d by %q", c.subject, n, from, c.number, c.from)
		}
	}
}

// numbers has a commit for each way to get a number.
const numbers = `
-- commit: Start --
-- a.txt --
one
-- file.py --
a
b
c
-- commit: Squashed (#3) --
-- a.txt --
two
-- branch: topic --
-- commit: Work --
-- topic.txt --
x
-- ref: refs/pull/4/head --
-- branch: main --
-- commit: Other work --
-- b.txt --
x
-- commit: Merge pull request #4 from zoe/topic --
merge: topic
-- branch: five --
-- commit: Their words, part one --
-- file.py --
a
new
b
c
-- commit: Their words, part two --
-- file.py --
a
new
b
c
newer
-- ref: refs/pull/5/head --
-- branch: main --
-- commit: Something before --
-- file.py --
0
1
2
3
4
a
b
c
-- commit: Landed by hand --
-- file.py --
0
1
2
3
4
a
new
b
c
newer
-- commit: Pushed --
-- file.py --
gone
-- commit: Mentions an old one (#3) --
-- c.txt --
x
-- branch: side --
-- commit: Side work --
-- side.txt --
x
-- ref: refs/pull/6/head --
-- branch: main --
-- commit: Merge branch 'side' --
merge: side
`

func TestLogNumbers(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, numbers))
	var got []string
	for _, c := range log(t, r, gitrepo.Query{}) {
		got = append(got, fmt.Sprintf("%d %s: %s", c.Number, c.NumberFrom, c.Subject))
	}
	want := []string{
		"6 patch_id: Merge branch 'side'",
		"0 : Mentions an old one (#3)", // the older commit has that number
		"0 : Pushed",
		"5 patch_id: Landed by hand",
		"0 : Something before",
		"4 merge: Merge pull request #4 from zoe/topic",
		"0 : Other work",
		"3 subject: Squashed (#3)",
		"0 : Start",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestLogMergeComesFromItsFirstParent(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, numbers))
	merge := log(t, r, gitrepo.Query{Only: []string{"4"}})
	if len(merge) != 1 {
		t.Fatalf("%d changes are #4", len(merge))
	}
	before := log(t, r, gitrepo.Query{})[6] // Other work
	c := merge[0]
	if c.Base != before.Commit || c.BaseTree != before.Tree || !c.BaseDate.Equal(before.CommittedAt) || c.Parents[0] != c.Base || len(c.Parents) != 2 {
		t.Errorf("base %s (%s) at %s of parents %v, want %s (%s) at %s", c.Base, c.BaseTree, c.BaseDate, c.Parents, before.Commit, before.Tree, before.CommittedAt)
	}
	if len(c.Files) != 1 || c.Files[0].Path != "topic.txt" || c.Files[0].Status != "A" {
		t.Errorf("files %+v, want topic.txt added", c.Files)
	}
}

const dates = `
-- commit: Root --
date: 2025-01-01T00:00:00Z
-- a --
0
-- commit: January --
date: 2025-01-31T23:59:59Z
-- a --
1
-- commit: Late March --
date: 2025-03-20T00:00:00Z
-- a --
2
-- commit: Clock was wrong --
date: 2024-06-01T00:00:00Z
-- a --
3
-- commit: First of February --
date: 2025-02-01T02:00:00+02:00
-- a --
4
-- commit: April --
date: 2025-04-01T00:00:00Z
-- a --
5
`

func TestLogWindow(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, dates))
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		name string
		q    gitrepo.Query
		want []string
	}{
		{"since_is_inclusive_in_utc", gitrepo.Query{Since: day("2025-02-01")}, []string{"April", "First of February", "Late March"}},
		{"until_is_exclusive", gitrepo.Query{Until: day("2025-02-01")}, []string{"Clock was wrong", "January", "Root"}},
		{"an_old_date_hides_nothing_below", gitrepo.Query{Since: day("2025-01-01"), Until: day("2025-04-01")}, []string{"First of February", "Late March", "January", "Root"}},
		{"empty", gitrepo.Query{Since: day("2026-01-01")}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, subjects(log(t, r, c.q))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogOnly(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, numbers))
	all := log(t, r, gitrepo.Query{})
	pushed := all[2].Commit
	got := subjects(log(t, r, gitrepo.Query{Only: []string{"#3", pushed[:10], "5", "abc"}}))
	if diff := cmp.Diff([]string{"Pushed", "Landed by hand", "Squashed (#3)"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const commit = "1234567890abcdef1234567890abcdef12345678"
	for only, want := range map[string]bool{"12": false, "123456": false, "1234567": true, "1234567890ABCDEF": true, "123": false, "77": true, "#77": true, "": false} {
		if got := gitrepo.Selects(only, commit, 77); got != want {
			t.Errorf("%q selects %s #77: %v, want %v", only, commit, got, want)
		}
	}
}

func TestLogStopsWhenTheReaderDoes(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, numbers))
	n := 0
	for _, err := range r.Log(t.Context(), gitrepo.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			break
		}
	}
	if len(log(t, r, gitrepo.Query{})) != 9 {
		t.Error("a second reading after a broken-off one is not whole")
	}
}

// rows has one change with every kind of row.
const rows = `
-- commit: Start --
-- keep.txt --
1
2
3
4
5
-- old.txt --
a
b
c
d
e
f
-- gone.txt --
x
y
-- mode.sh --
x
-- link --
plain
-- bare: open.txt --
x
-- commit: All of it --

Body, "quoted".
-- delete: old.txt --
-- "new \"name\"\n.txt" --
a
b
c
d
E
f
-- keep.txt --
1
2
three
4
5
6
-- delete: gone.txt --
-- exec: mode.sh --
x
-- symlink: link --
keep.txt
-- base64: bin --
AAEC/w==
-- "caf\xe9.txt" --
latin
-- "naïve/ünïcode.txt" --
other
-- bare: open.txt --
y
`

func TestLogFiles(t *testing.T) {
	t.Parallel()
	c := log(t, open(t, gitrepotest.New(t, rows)), gitrepo.Query{})[0]
	var got []string
	for _, f := range c.Files {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s>%s +%d-%d %s", f.Status, f.Path, f.OldMode, f.NewMode, f.Added, f.Removed, f.OldPath)))
	}
	slices.Sort(got)
	want := []string{
		`A "caf\xe9.txt" 000000>100644 +1-0`, // no UTF-8: as Go quotes it
		"A bin 000000>100644 +-1--1",
		"A naïve/ünïcode.txt 000000>100644 +1-0",
		"D gone.txt 100644>000000 +0-2",
		"M keep.txt 100644>100644 +2-1",
		"M mode.sh 100644>100755 +0-0",
		"M open.txt 100644>100644 +1-1",
		"R new \"name\"\n.txt 100644>100644 +1-1 old.txt",
		"T link 100644>120000 +1-1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if c.Body != `Body, "quoted".` {
		t.Errorf("body %q", c.Body)
	}
}

func TestLogRootHasNoBase(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, dates))
	all := log(t, r, gitrepo.Query{})
	root := all[len(all)-1]
	if root.Base != "" || root.BaseTree != gitrepo.EmptyTree || len(root.Parents) != 0 || len(root.Files) != 1 {
		t.Errorf("root commit %+v", root)
	}
	if root.RepoRoot != root.Commit || r.Info().Root != root.Commit || r.Info().Head != all[0].Commit {
		t.Errorf("repository %+v, root %s, head %s", r.Info(), root.Commit, all[0].Commit)
	}
}
