package release

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// gear is of another repository, with a base tree of its own.
func gear(number int, day string) change {
	c := widget(number, day)
	c.repo, c.identity, c.word, c.licence = "acme/gear", "acme/gear"+c.word, "persimmon"+c.word, "Permission is granted to use gears.\n"
	return c
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, three := widget(1, "2025-01-10"), widget(2, "2025-01-11"), widget(3, "2025-01-12")
	w := work(t, nil, one, two, three)
	publish(t, dir, options(w, "2025-02-01"))
	before := contents(t, dir)
	for _, tt := range []struct {
		name, want string
		act        Act
	}{
		{"reason", `did you mean unfair`, Act{IDs: []string{one.id()}, Reason: "unfare", Text: "x"}},
		{"no_text", "--text is empty", Act{IDs: []string{one.id()}, Reason: "unfair", Text: " "}},
		{"unknown_id", "did you mean acme__widget-1", Act{IDs: []string{"acme__widget-11"}, Reason: "unfair", Text: "x"}},
		{"evidence_missing", "--evidence", Act{IDs: []string{one.id()}, Reason: "unfair", Text: "x", Evidence: filepath.Join(dir, "none")}},
		{"replaced_by_unknown", "--replaced-by", Act{IDs: []string{one.id()}, Reason: "unfair", Text: "x", ReplacedBy: "acme__widget-22"}},
		{"replaced_by_itself", "it goes itself", Act{IDs: []string{one.id()}, Reason: "unfair", Text: "x", ReplacedBy: one.id()}},
		{"purge_for_unfair", "--purge is for", Act{IDs: []string{one.id()}, Reason: "unfair", Text: "x", Purge: true}},
		{"purge_and_hold", "exclude", Act{IDs: []string{one.id()}, Reason: "secret", Text: "x", Purge: true, Hold: true}},
	} {
		if _, err := correct(dir, tt.act); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		same(t, tt.name, before, contents(t, dir))
	}
	evidence := filepath.Join(t.TempDir(), "log.txt")
	put(t, evidence, "two right answers fail")
	r := corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "duplicate", Text: "The other asks for the same.", Evidence: evidence, ReplacedBy: two.id()})
	if r.Version != "2025.02.1" || r.Counts != (Counts{Tasks: 2, Withdrawn: 1}) {
		t.Errorf("%+v", r)
	}
	x := feedOf(t, dir).Withdrawals[0]
	if x.ID != one.id() || x.First != "2025.02" || x.Last != "2025.02" || x.In != "2025.02.1" || x.ReplacedBy != two.id() || x.Evidence != schemas.DigestBytes([]byte("two right answers fail")) || x.EvidenceFile != "log.txt" {
		t.Errorf("the record: %+v", x)
	}
	if log := read(t, filepath.Join(dir, "2025.02.1", ChangelogFile)); !strings.Contains(log, "| `acme__widget-1` | `duplicate` | The other asks for the same. Replaced by `acme__widget-2`. |") {
		t.Errorf("changelog:\n%s", log)
	}
	same(t, "what stays", taskOf(t, dir, "2025.02", two.id()), taskOf(t, dir, "2025.02.1", two.id()))
	if _, err := correct(dir, Act{IDs: []string{one.id()}, Reason: "unfair", Text: "x"}); err == nil || !strings.Contains(err.Error(), "was withdrawn in 2025.02.1 (duplicate)") {
		t.Errorf("again: %v", err)
	}
	other := one
	other.repo, other.day = "acme/gadget", "2025-02-03"
	c := publish(t, dir, options(work(t, nil, one, other, two, three, widget(4, "2025-02-02")), "2025-03-01"))
	if got := idsOf(t, dir, "2025.03"); !slices.Equal(got, []string{two.id(), three.id(), widget(4, "").id()}) {
		t.Errorf("a withdrawn task is back: %q", got)
	}
	if len(c.Left) != 1 || c.Left[0].ID != other.id() || c.Left[0].Gate != "identity" {
		t.Errorf("left: %v", c.Left)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two := widget(1, "2025-01-10"), widget(2, "2025-01-11")
	w := work(t, nil, one, two)
	publish(t, dir, options(w, "2025-02-01"))
	corrected(t, dir, Act{IDs: []string{one.id(), two.id()}, Reason: "gold_fails", Text: "It fails today.", Hold: true})
	if len(idsOf(t, dir, "2025.02.1")) != 0 || len(feedOf(t, dir).Held) != 2 {
		t.Fatalf("held: %+v", feedOf(t, dir).Held)
	}
	if c, err := plan(dir, options(w, "2025-03-01"), false); err != nil || !c.Nothing() {
		t.Errorf("the working dataset brings a held task back: %v", err)
	}
	o := options(w, "2025-03-01")
	if o.Back = []string{"acme__widget-12"}; true {
		if _, err := plan(dir, o, true); err == nil || !strings.Contains(err.Error(), "did you mean acme__widget-1") {
			t.Errorf("unknown: %v", err)
		}
	}
	o.Back = []string{one.id()}
	c := publish(t, dir, o)
	same(t, "the task that is back", taskOf(t, dir, "2025.02", one.id()), taskOf(t, dir, "2025.03", one.id()))
	if got := c.Diff.Counts(1); got != (Counts{Tasks: 1, Back: 1}) || len(feedOf(t, dir).Held) != 1 {
		t.Errorf("%+v, held %v", got, feedOf(t, dir).Held)
	}
	before := versions(t, dir)
	if r := corrected(t, dir, Act{IDs: []string{two.id()}, Reason: "gold_fails", Text: "For good."}); r.Version != "" || !slices.Equal(before, versions(t, dir)) {
		t.Errorf("a held task that is withdrawn makes a version: %s", r.Version)
	}
	if x := feedOf(t, dir).Withdrawals[0]; x.In != "2025.02.1" || x.Last != "2025.02" || len(feedOf(t, dir).Held) != 0 {
		t.Errorf("the record: %+v", x)
	}
	o.Back = []string{two.id()}
	if _, err := plan(dir, o, false); err == nil {
		t.Error("a withdrawn task comes back")
	}
}

// unpacked is a file with what its packing hides.
func unpacked(t testing.TB, name, b string) string {
	if filepath.Ext(name) != ".gz" {
		return b
	}
	zr, err := gzip.NewReader(bytes.NewReader([]byte(b)))
	must(t, err)
	text, err := io.ReadAll(zr)
	must(t, err)
	return string(text)
}

// TestPurge: no file of any version holds what was purged; all other files stay to the byte, and
// check accepts exactly that.
func TestPurge(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, cog := widget(1, "2025-01-10"), widget(2, "2025-01-11"), gear(1, "2025-01-12")
	o := options(work(t, nil, one, two, cog), "2025-02-01")
	o.About = About{Authors: []string{"Ada"}, URL: "https://example.org/bench", Sources: map[string]string{"acme/widget": "https://example.org/widget"}}
	publish(t, dir, o)
	retold, hand := two, cog
	retold.hand, retold.statement = true, "I want to give widgets a colour that vermilion describes.\n"
	hand.hand, hand.statement = true, "I want to give gears a colour that persimmon describes.\n"
	o.Work, o.AsOf, o.Revise = work(t, nil, one, retold, hand, widget(3, "2025-02-02")), o.AsOf.AddDate(0, 1, 0), []string{two.id(), cog.id()}
	publish(t, dir, o)
	corrected(t, dir, Act{IDs: []string{two.id()}, Reason: "unfair", Text: "No."})
	before := contents(t, dir)
	holding := func(words ...string) (out []string) {
		for name, b := range contents(t, dir) {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(unpacked(t, name, b), w) }) {
				out = append(out, name)
			}
		}
		return out
	}
	if n := len(holding("persimmon", "use gears")); n < 10 {
		t.Fatalf("only %d files hold what is to go: the test proves nothing", n)
	}
	if !strings.Contains(read(t, filepath.Join(dir, "2025.03", DiffFile)), "persimmon") {
		t.Error("the diff does not hold what is to go")
	}
	corrected(t, dir, Act{IDs: []string{cog.id()}, Reason: "takedown", Text: "Its owner asks.", Purge: true})
	if got := holding("persimmon", "use gears"); len(got) > 0 {
		t.Errorf("it is still in %q", got)
	}
	for name := range files(t, dir) {
		if strings.Contains(name, "acme__gear") || strings.Contains(name, ".new-") {
			t.Errorf("%s is there", name)
		}
	}
	if got := versions(t, dir); !slices.Equal(got, []Version{"2025.02", "2025.03", "2025.03.1", "2025.03.2"}) {
		t.Errorf("%q", got)
	}
	feed := feedOf(t, dir)
	if len(feed.Purges) != 3 || feed.Purges[0].Old == feed.Purges[0].New || feed.Purges[0].New != feed.Versions[0].Record || feed.Purges[0].Reason != "takedown" {
		t.Errorf("%+v", feed.Purges)
	}
	after := contents(t, dir)
	for name, b := range before {
		kept := strings.Contains(name, "/tasks/acme__widget") || strings.Contains(name, CitationFile) || strings.Contains(name, "LICENSES/acme__widget") || strings.HasSuffix(name, output.FlakesFile)
		if kept && after[name] != b {
			t.Errorf("%s changed", name)
		}
		for _, address := range []string{"<https://example.org/widget>", "https://example.org/bench"} {
			if strings.Contains(b, address) && !strings.Contains(after[name], address) {
				t.Errorf("%s lost %s", name, address)
			}
		}
	}
	for _, v := range []Version{"2025.02", "2025.03"} {
		s, err := Read(dir)
		must(t, err)
		r, err := s.Record(v)
		must(t, err)
		if !slices.Equal(r.Purged, []string{cog.id()}) {
			t.Errorf("%s: purged %q", v, r.Purged)
		}
	}

	// A task that was withdrawn before, with a base tree that others need.
	corrected(t, dir, Act{IDs: []string{two.id()}, Reason: "secret", Text: "A key.", Purge: true})
	if got := holding("vermilion", two.word); len(got) > 0 {
		t.Errorf("it is still in %q", got)
	}
	if got := len(feedOf(t, dir).Versions); got != 4 {
		t.Errorf("%d versions", got)
	}
	if _, err := correct(dir, Act{IDs: []string{two.id()}, Reason: "secret", Text: "A key.", Purge: true}); err == nil {
		t.Error("it is purged a second time")
	}
	// And one that is held.
	corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "licence", Text: "Perhaps.", Hold: true})
	corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "licence", Text: "Yes.", Purge: true})
	if got := holding(`"`+one.word+`"`, `\"`+one.word+`\"`); len(got) > 0 {
		t.Errorf("it is still in %q", got)
	}
	publish(t, dir, options(work(t, nil, one, two, cog, widget(3, "2025-02-02"), widget(4, "2025-03-02")), "2025-05-01"))
}

// TestCheckFinds: any other change of a shelf is a finding.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "releases")
	one, two, cog, held := widget(1, "2025-01-10"), widget(2, "2025-01-11"), gear(1, "2025-01-12"), widget(7, "2025-01-12")
	publish(t, dir, options(work(t, []ledgerFlake{flaky("tests/test_widget.py::test_other")}, one, two, cog, held), "2025-02-01"))
	corrected(t, dir, Act{IDs: []string{one.id()}, Reason: "unfair", Text: "No."})
	corrected(t, dir, Act{IDs: []string{held.id()}, Reason: "unfair", Text: "Perhaps.", Hold: true})
	publish(t, dir, options(work(t, nil, widget(3, "2025-02-02")), "2025-03-01"))
	corrected(t, dir, Act{IDs: []string{cog.id()}, Reason: "takedown", Text: "Its owner asks.", Purge: true})
	bad := func(what string, only ...Version) {
		t.Helper()
		s, err := Read(dir)
		if err != nil {
			return // of feed.json
		}
		all, err := s.Check(only, func(string, int, int) {})
		if err != nil || len(all) == 0 {
			t.Errorf("%s: %d findings, %v", what, len(all), err)
		}
	}
	kinds := map[string]bool{}
	for name := range files(t, dir) {
		v, rest, in := strings.Cut(name, "/")
		base := filepath.Base(name)
		kind := filepath.Dir(rest) + base
		if strings.HasPrefix(rest, "tasks/") {
			kind = base
		}
		if !in || base == output.CostFile || base == output.TimingsFile || base == output.DecontaminationFile || kinds[kind] || strings.HasPrefix(rest, "blobs/") && kinds["blobs"] {
			continue
		}
		kinds[kind], kinds["blobs"] = true, kinds["blobs"] || strings.HasPrefix(rest, "blobs/")
		p := filepath.Join(dir, v, rest)
		was := read(t, p)
		b := []byte(was)
		if len(b) > 0 {
			b[len(b)/2] ^= 1
		} else {
			b = []byte("x")
		}
		put(t, p, string(b))
		bad("a byte of "+name, Version(v))
		put(t, p, was+"\n")
		bad("one more byte of "+name, Version(v))
		removed(t, p)
		bad("without "+name, Version(v))
		put(t, p, was)
	}
	if len(kinds) < 25 {
		t.Errorf("only %d kinds of files", len(kinds))
	}
	for _, name := range []string{"2025.02/more.txt", "2025.02/tasks/acme__widget-1/more.txt", "2025.04/manifest.json", "more.txt"} {
		put(t, filepath.Join(dir, name), "{}")
		bad("more: " + name)
		removed(t, filepath.Join(dir, name))
	}
	removed(t, filepath.Join(dir, "2025.04"))
	holds(t, dir)

	was := read(t, filepath.Join(dir, FeedFile))
	for name, edit := range map[string]func(*Feed){
		"dataset":               func(f *Feed) { f.Dataset = "other" },
		"format":                func(f *Feed) { f.Format = "benchmint-feed/2" },
		"date":                  func(f *Feed) { f.Versions[0].Date = "2025-02-02" },
		"from":                  func(f *Feed) { f.Versions[3].From = "2025-01-01" },
		"record":                func(f *Feed) { f.Versions[0].Record = f.Versions[1].Record },
		"previous":              func(f *Feed) { f.Versions[3].Previous = "2025.02" },
		"previous_of_first":     func(f *Feed) { f.Versions[0].Previous = "2025.01" },
		"counts":                func(f *Feed) { f.Versions[0].Counts.Came++ },
		"version_gone":          func(f *Feed) { f.Versions = f.Versions[1:] },
		"version_gone_at_end":   func(f *Feed) { f.Versions = f.Versions[:len(f.Versions)-1] },
		"order":                 func(f *Feed) { f.Versions[0], f.Versions[1] = f.Versions[1], f.Versions[0] },
		"withdrawal_gone":       func(f *Feed) { f.Withdrawals = f.Withdrawals[1:] },
		"withdrawal_of_purge":   func(f *Feed) { f.Withdrawals = f.Withdrawals[:1] },
		"withdrawal_added":      func(f *Feed) { x := f.Withdrawals[0]; x.ID = two.id(); f.Withdrawals = append(f.Withdrawals, x) },
		"reason":                func(f *Feed) { f.Withdrawals[0].Reason = "flaky" },
		"text":                  func(f *Feed) { f.Withdrawals[0].Text = "Yes." },
		"replaced_by":           func(f *Feed) { f.Withdrawals[0].ReplacedBy = two.id() },
		"in":                    func(f *Feed) { f.Withdrawals[0].In = "2025.03" },
		"first":                 func(f *Feed) { f.Withdrawals[0].First = "2025.02.1" },
		"last":                  func(f *Feed) { f.Withdrawals[0].Last = "2025.02.1" },
		"identity":              func(f *Feed) { f.Withdrawals[0].Identity = "sha256:other" },
		"not_purged":            func(f *Feed) { f.Withdrawals[1].Purged = false },
		"purged":                func(f *Feed) { f.Withdrawals[0].Purged = true },
		"hold_gone":             func(f *Feed) { f.Held = nil },
		"hold_for_other":        func(f *Feed) { f.Held[0].Reason = "flaky" },
		"purge_gone":            func(f *Feed) { f.Purges = f.Purges[1:] },
		"purges_gone":           func(f *Feed) { f.Purges = nil },
		"purge_ids":             func(f *Feed) { f.Purges[0].IDs = []string{two.id()} },
		"purge_reason":          func(f *Feed) { f.Purges[0].Reason = "unfair" },
		"purge_old":             func(f *Feed) { f.Purges[0].Old = f.Purges[0].New },
		"purge_new":             func(f *Feed) { f.Purges[0].New = f.Purges[0].Old },
		"purge_new_of_the_last": func(f *Feed) { p := &f.Purges[len(f.Purges)-1]; p.New = p.Old },
	} {
		var f Feed
		must(t, json.Unmarshal([]byte(was), &f))
		edit(&f)
		b, err := output.EncodeRecord(f)
		must(t, err)
		put(t, filepath.Join(dir, FeedFile), string(b))
		bad("feed: " + name)
	}
	put(t, filepath.Join(dir, FeedFile), was+"{}")
	bad("feed: more behind it")
	put(t, filepath.Join(dir, FeedFile), was)
	holds(t, dir)
}
