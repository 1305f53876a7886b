package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const sample = "../testdata/format2"

// read is the sample dataset in a folder of its own.
func read(t testing.TB) *output.Dataset {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	d, err := output.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// add gives the dataset one more task, which is the first one after a change.
func add(t testing.TB, d *output.Dataset, id string, change func(*output.Row)) {
	t.Helper()
	r := d.Rows[0]
	first := r.InstanceID // a link that leads out of the dataset's folder, as an absolute one does, is refused
	e := *r.Benchmint.Change
	r.InstanceID, r.Benchmint.Change, r.Line = id, &e, len(d.Rows)+1
	change(&r.Row)
	if err := os.Symlink(first, filepath.Join(d.Dir, output.TasksDir, id)); err != nil {
		t.Fatal(err)
	}
	d.Rows = append(d.Rows, r)
}

// gradesOf are made by hand: what each model came to, in the order of the rows.
func gradesOf(t testing.TB, d *output.Dataset, models map[string][]schemas.Verdict) *score.Grades {
	t.Helper()
	e := score.Evaluation{Dataset: "sample", Tasks: map[string]score.Task{}}
	for _, r := range d.Rows {
		e.Tasks[r.InstanceID] = score.TaskOf(r)
	}
	for _, m := range sortedKeys(models) {
		for i, v := range models[m] {
			r := d.Rows[i%len(d.Rows)]
			p := schemas.Prediction{Instance: r.InstanceID, Model: m, Sample: i / len(d.Rows), Effort: schemas.Effort{Tokens: 1200, Cost: 0.25}}
			if v == "" {
				e.Faults = append(e.Faults, score.Fault{Prediction: p, Why: "disk full"})
				continue
			}
			g := schemas.Grade{Prediction: p, Verdict: v, Applied: schemas.AppliedExact, Files: r.Benchmint.Parts[schemas.PartCode], Detail: "as told <b>"}
			g.F2P, g.P2P = &schemas.Score{Want: 1, Passed: 1}, &schemas.Score{Want: 5, Passed: 5}
			g.Uses = []schemas.Use{{Path: "a.py", Line: 3, What: "gc", Why: "finds every object"}}
			g.Overlaps = []schemas.Overlap{{Path: "a.py", Function: "f", Words: 40, Share: 0.5}}
			if v != schemas.VerdictPass {
				g.F2P = &schemas.Score{Want: 1, Missed: r.FailToPass}
				g.Tampered = []string{"conftest.py"}
			}
			e.Answers = append(e.Answers, score.Answer{Task: e.Tasks[r.InstanceID], Grade: g})
		}
	}
	dir := t.TempDir()
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	g, err := score.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func write(t testing.TB, d *output.Dataset, g *score.Grades) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPageGolden(t *testing.T) {
	t.Parallel()
	d := read(t)
	d.Manifest.Tools = map[string]string{"git": "2.39.5", "benchmint": "dev", "uv": "0.8.0", "commit": "none", "go": "1.26.0"}
	g := gradesOf(t, d, map[string][]schemas.Verdict{"gold": {schemas.VerdictPass}, "other": {schemas.VerdictFail, ""}})
	got := write(t, d, g)
	if again := write(t, d, g); !bytes.Equal(got, again) {
		t.Error("the same dataset and grades give other bytes")
	}
	name := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("page (-want +got; -update writes it):\n%s", diff)
	}
}

// nodes are the elements of a page in document order.
func nodes(t testing.TB, page []byte) []*html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

const hostileText = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)><!-- \u202egnp.exe \x1b[31m \x00 \u200b {{.Name}} ' \" ` \\u003c/script>"

// hostile is a dataset and grades whose every text tries to leave its place.
func hostile(t testing.TB) (*output.Dataset, *score.Grades) {
	d := read(t)
	r := &d.Rows[0]
	r.ProblemStatement, r.HintsText, r.Repo, r.BaseCommit, r.CreatedAt, r.Version = hostileText, hostileText, hostileText, hostileText, hostileText, hostileText
	r.Patch, r.TestPatch = "diff --git a/"+hostileText+" b/x\n"+hostileText+"\n@@ -1 +1 @@\n-"+hostileText+"\n+"+hostileText+"\n", hostileText
	e := &r.Benchmint
	e.Language, e.Kind, e.Licence, e.Category, e.StatementFrom = hostileText, hostileText, hostileText, hostileText, hostileText
	e.Interface = []schemas.Name{{Name: hostileText, Kind: hostileText, Signature: hostileText, Path: hostileText}}
	e.QuarantinedIn = map[string][]string{hostileText: {hostileText}}
	e.Provenance = []output.Provenance{{Stage: hostileText, Fingerprint: hostileText, Output: hostileText}}
	e.Change.Subject, e.Change.Label, e.Change.Release = hostileText, hostileText, hostileText
	e.Change.Notes = []schemas.Note{{Version: hostileText, Text: hostileText, Path: hostileText}}
	d.Manifest.Name, d.Manifest.Tools, d.Manifest.Configuration = hostileText, map[string]string{hostileText: hostileText}, json.RawMessage(hostileText)
	d.Manifest.Statistics[0].Name = hostileText
	proof, err := d.Proof(r.InstanceID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range proof.Tests {
		x := &proof.Tests[i]
		x.ID, x.Cause, x.Why = fmt.Sprint(hostileText, i), hostileText, hostileText
	}
	b, err := json.Marshal(proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, output.TasksDir, r.InstanceID, output.ProofFile), b, 0o644); err != nil {
		t.Fatal(err)
	}
	add(t, d, "acme__"+strings.NewReplacer("/", "", "\x00", "").Replace(hostileText), func(*output.Row) {})
	g := gradesOf(t, d, map[string][]schemas.Verdict{hostileText: {schemas.VerdictFail, schemas.VerdictPass}, "b": {""}})
	g.Lines[0].Detail, g.Lines[0].Fault = hostileText, hostileText
	for i := range g.Lines {
		g.Lines[i].Uses = []schemas.Use{{Path: hostileText, What: hostileText, Why: hostileText}}
	}
	return d, g
}

// allowed are the elements of the page, and their attributes.
var allowed = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "header": "", "main": "", "script": "",
	"section": "id class tabindex aria-labelledby aria-label", "nav": "class aria-label", "a": "href rel", "h1": "id", "h2": "", "h3": "", "p": "class", "code": "", "small": "", "br": "",
	"dl": "class", "dt": "", "dd": "", "div": "class id role tabindex aria-label hidden", "article": "class", "details": "open class", "summary": "", "span": "class", "pre": "class",
	"ins": "", "del": "", "table": "class id", "caption": "class", "thead": "class", "tbody": "", "tr": "data-kind data-language data-verdicts", "th": "scope class data-sort", "td": "class",
	"figure": "", "figcaption": "", "circle": "cx cy r",
	"svg": "class viewbox viewBox preserveAspectRatio preserveaspectratio aria-hidden", "rect": "class x y width height", "label": "", "input": "id type autocomplete spellcheck", "select": "id",
	"option": "value", "button": "type id", "output": "id for",
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	d, g := hostile(t)
	page := write(t, d, g)
	counts := map[string]int{}
	ids := map[string]bool{}
	all := nodes(t, page)
	for _, n := range all {
		counts[n.Data]++
		attrs, ok := allowed[n.Data]
		if !ok {
			t.Errorf("element <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(strings.Fields(attrs), a.Key) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %q is given twice", id)
			}
			ids[id] = true
		}
		if n.Data == "a" && !strings.HasPrefix(attr(n, "href"), "#") {
			t.Errorf("a link out of the page: %q", attr(n, "href"))
		}
	}
	if counts["script"] != 1 || counts["style"] != 1 {
		t.Errorf("%d scripts and %d styles, not one each", counts["script"], counts["style"])
	}
	if i := bytes.IndexAny(page, "\x00\x1b\u202e\u200b"); i >= 0 {
		t.Errorf("the page holds what does not show: %q", page[max(i-20, 0):i+20])
	}
	for _, n := range all {
		if n.Data == "pre" && n.Parent.Data == "div" && attr(n.Parent, "class") == "statement" {
			if got, want := textOf(n), visible(hostileText); got != want {
				t.Errorf("the statement reads %q, not %q", got, want)
			}
			break
		}
	}
}

func TestPolicyNamesStyleAndScript(t *testing.T) {
	t.Parallel()
	policy, style, script := "", "", ""
	for _, n := range nodes(t, write(t, read(t), nil)) {
		switch {
		case attr(n, "http-equiv") == "Content-Security-Policy":
			policy = attr(n, "content")
		case n.Data == "style":
			style = textOf(n)
		case n.Data == "script":
			script = textOf(n)
		}
	}
	want := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
	if policy != want {
		t.Errorf("policy %q, not %q", policy, want)
	}
	if script != scriptText || style != styleText {
		t.Error("the template changes style or script")
	}
}

// TestAccessible: every control has a name, every table heads, every link a target.
func TestAccessible(t *testing.T) {
	t.Parallel()
	d := read(t)
	add(t, d, "acme__widget-2", func(*output.Row) {})
	all := nodes(t, write(t, d, gradesOf(t, d, map[string][]schemas.Verdict{"gold": {schemas.VerdictPass}})))
	ids, landmarks := map[string]bool{}, map[string]int{}
	for _, n := range all {
		ids[attr(n, "id")] = true
		landmarks[n.Data]++
	}
	if landmarks["main"] != 1 || landmarks["header"] != 1 {
		t.Errorf("%d main and %d header", landmarks["main"], landmarks["header"])
	}
	for _, n := range all {
		name := attr(n, "aria-label") + attr(n, "aria-labelledby")
		switch n.Data {
		case "html":
			if attr(n, "lang") == "" {
				t.Error("the page has no language")
			}
		case "a":
			if !ids[strings.TrimPrefix(attr(n, "href"), "#")] || textOf(n) == "" {
				t.Errorf("link to %q, which is not there", attr(n, "href"))
			}
		case "input", "select":
			if n.Parent.Data != "label" || n.Parent.FirstChild.Type != html.TextNode {
				t.Errorf("%s %s has no label", n.Data, attr(n, "id"))
			}
		case "section":
			if name == "" || attr(n, "tabindex") != "-1" {
				t.Errorf("section %s has no name, or takes no focus", attr(n, "id"))
			}
		case "nav":
			if name == "" {
				t.Error("a navigation has no name")
			}
		case "th":
			if attr(n, "scope") == "" {
				t.Errorf("head %q has no scope", textOf(n))
			}
		case "svg":
			if attr(n, "aria-hidden") != "true" {
				t.Error("a bar is not hidden from screen readers: its figure stands beside it")
			}
		case "button":
			if strings.TrimSpace(textOf(n)) == "" {
				t.Error("a button has no name")
			}
		}
		if attr(n, "class") == "scroll" && (attr(n, "tabindex") != "0" || name == "" || attr(n, "role") != "region") {
			t.Error("what scrolls takes no focus, or has no name")
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	patch := "From: somebody\n" +
		"diff --git a/x y.sql b/x y.sql\nindex 1..2 100644\n--- a/x y.sql\n+++ b/x y.sql\n@@ -1,3 +1,3 @@ head\n same\n--- a comment\n+++ another\n\n@@ -9 +9 @@\n-a\r\n\\ No newline at end of file\n+b\n" +
		"diff --git a/old b/new\nrename from old\nrename to new\n"
	got := diffOf([]byte(patch), mostPatch, "gold.patch")
	want := diff{Files: []diffFile{
		{Runs: []diffRun{{sortHead, "From: somebody\n"}}},
		{Name: "x y.sql", Added: 2, Removed: 2, Runs: []diffRun{
			{sortHead, "diff --git a/x y.sql b/x y.sql\nindex 1..2 100644\n--- a/x y.sql\n+++ b/x y.sql\n"}, {sortHunk, "@@ -1,3 +1,3 @@ head\n"},
			{sortSame, " same\n"}, {sortRemoved, "--- a comment\n"}, {sortAdded, "+++ another\n"}, {sortSame, "\n"},
			{sortHunk, "@@ -9 +9 @@\n"}, {sortRemoved, "-a␍\n"}, {sortSame, "\\ No newline at end of file\n"}, {sortAdded, "+b\n"},
		}},
		{Name: "a/old b/new", Runs: []diffRun{{sortHead, "diff --git a/old b/new\nrename from old\nrename to new\n"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 漢\t\n": "plain é 漢\t\n", "\x1b[31m\x00\r\x7f": "␛[31m␀␍␡", "\u0085\u2028": "⟨U+0085⟩⟨U+2028⟩", "a\u202eb\u200b\ufeff": "a⟨U+202E⟩b⟨U+200B⟩⟨U+FEFF⟩",
		"\U000E0041": "⟨U+E0041⟩", "\xe9": "⟨E9⟩",
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) is %q, not %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		limit      int
		want       excerpt
	}{
		{"whole", "ab\n", 3, excerpt{Text: "ab\n"}},
		{"at_a_line", "ab\ncd\n", 5, excerpt{"ab\n", "Cut: 3 B of 6 B are shown; the whole is in f."}},
		{"at_a_character", "aé€", 4, excerpt{"aé", "Cut: 3 B of 6 B are shown; the whole is in f."}},
		{"not_utf8", "a\xff\xffb", 3, excerpt{"a⟨FF⟩⟨FF⟩", "Cut: 3 B of 4 B are shown; the whole is in f."}},
		{"large", strings.Repeat("x\n", 1<<19), 1 << 10, excerpt{strings.Repeat("x\n", 1<<9), "Cut: 1.0 KiB of 1.0 MiB are shown; the whole is in f."}},
	} {
		if diff := cmp.Diff(c.want, cut(c.text, c.limit, "f")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestLargeTaskIsCut(t *testing.T) {
	t.Parallel()
	d := read(t)
	small := len(write(t, d, nil))
	d.Rows[0].Patch = "diff --git a/x b/x\n@@ -0,0 +1,99999 @@\n" + strings.Repeat("+"+strings.Repeat("y", 99)+"\n", 1<<20/101+1)
	page := write(t, d, nil)
	if more := len(page) - small; more > mostPatch+4<<10 {
		t.Errorf("a patch of 1 MiB takes %d bytes", more)
	}
	if want := "of 1.0 MiB are shown; the whole is in tasks/demo__slug-5/gold.patch."; !bytes.Contains(page, []byte(want)) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	twice := read(t)
	twice.Rows = append(twice.Rows, twice.Rows[0])
	other, model, folder := read(t), read(t), read(t)
	pass := map[string][]schemas.Verdict{"gold": {schemas.VerdictPass}}
	otherGrades, modelGrades := gradesOf(t, other, pass), gradesOf(t, model, pass)
	otherGrades.Lines[0].Instance, modelGrades.Lines[0].Model = "demo__slug-6", "golt"
	if err := os.WriteFile(filepath.Join(folder.Dir, "tasks/demo__slug-5/proof.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		d      *output.Dataset
		grades *score.Grades
		want   string
	}{
		{"id_twice", twice, nil, "data/test.jsonl:1: demo__slug-5 is given more than once"},
		{"other_task", other, otherGrades, "results.jsonl:1: demo__slug-6 is not a task of the dataset; did you mean demo__slug-5?"},
		{"other_model", model, modelGrades, `results.jsonl:1: model "golt" is not in metrics.json; did you mean gold?`},
		{"broken_proof", folder, nil, "data/test.jsonl:1): tasks/demo__slug-5/proof.json: "},
	} {
		err := Write(&bytes.Buffer{}, c.d, c.grades)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, not with %q", c.name, err, c.want)
		}
	}
}

// many is a dataset of n tasks, a symbolic link each.
func many(t testing.TB, n int) *output.Dataset {
	d := read(t)
	for i := 1; i < n; i++ {
		add(t, d, fmt.Sprintf("acme__widget-%d", i), func(r *output.Row) {
			r.CreatedAt = time.Date(2020+i%5, time.Month(1+i%12), 1, 0, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z07:00")
			r.Benchmint.Language = []string{"go", "python", "javascript"}[i%3]
			r.Benchmint.Sizes.SourceAdded = i % 250
			r.Benchmint.Change.Subject = fmt.Sprintf("Give widgets colour %d", i)
			r.ProblemStatement += fmt.Sprintf("\nThe widget has number w%d.\n", i)
			if i%2 == 1 {
				r.Benchmint.Kind = schemas.KindEdit
			}
		})
	}
	return d
}

func BenchmarkWrite(b *testing.B) {
	d := many(b, 2000)
	g := gradesOf(b, d, map[string][]schemas.Verdict{"one": slices.Repeat([]schemas.Verdict{schemas.VerdictPass}, 2000), "two": slices.Repeat([]schemas.Verdict{schemas.VerdictFail}, 2000)})
	size := 0
	for b.Loop() {
		size = len(write(b, d, g))
	}
	b.ReportMetric(float64(size)/1e6, "MB/page")
}

func TestEqualTestsShareALine(t *testing.T) {
	t.Parallel()
	passed, failed := []schemas.Status{schemas.Passed, schemas.Passed}, []schemas.Status{schemas.Failed, schemas.Errored}
	proof := schemas.Proof{Tests: []schemas.TestVerdict{
		{ID: "c", Class: schemas.P2P, S: passed, G: passed}, {ID: "a", Class: schemas.P2P, S: passed, G: passed},
		{ID: "b", Class: schemas.P2P, Baseline: schemas.StateB, S: failed, G: passed, B: schemas.Passed},
		{ID: "x\ny", Class: schemas.F2P, Cause: schemas.CauseFails, S: failed, G: passed, Why: "1 != 2"}, {ID: "z", Class: schemas.F2P, Cause: schemas.CauseNew, S: failed, G: passed},
	}}
	for i := range mostTests + 1 {
		proof.Tests = append(proof.Tests, schemas.TestVerdict{ID: fmt.Sprintf("%03d", i), Class: schemas.Parent})
	}
	groups := groupsOf(proof, "proof.json")
	want := []testGroup{
		{Title: "FAIL_TO_PASS", Means: "fail at the start, pass with the solution", Count: 2, Open: true, Tests: []testLine{
			{"x␊y", outcome{"fails", "", "failed, error", "passed ×2", "1 != 2"}}, {"z", outcome{"new", "", "failed, error", "passed ×2", ""}}}},
		{Title: "PASS_TO_PASS", Means: "pass at both", Count: 3, Tests: []testLine{
			{"a\nc", outcome{"", "", "passed ×2", "passed ×2", ""}}, {"b", outcome{"seen to pass at the base only", "passed", "failed, error", "passed ×2", ""}}}},
	}
	if diff := cmp.Diff(want, groups[:2], cmp.AllowUnexported(testLine{})); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	last := groups[2]
	if names := strings.Split(last.Tests[0].Names, "\n"); last.Count != mostTests+1 || len(names) != mostTests || last.Note != "Cut: 200 of 201 are shown; the others are in proof.json." {
		t.Errorf("%d parents, %d names, note %q", last.Count, len(names), last.Note)
	}
}

// TestAnswerPatch: the patch of an answer stands beside what it came to, with the files that only it or only the gold patch changes; one
// that is not there any more is left out.
func TestAnswerPatch(t *testing.T) {
	t.Parallel()
	d := read(t)
	g := gradesOf(t, d, map[string][]schemas.Verdict{"m": {schemas.VerdictFail}})
	g.Lines[0].Patch, g.Lines[0].Files = "sha256:1", []string{"beyond.py"}
	g.PatchOf = func(schemas.Digest) ([]byte, error) {
		return []byte("diff --git a/beyond.py b/beyond.py\n--- a/beyond.py\n+++ b/beyond.py\n@@ -1 +1 @@\n-old <b>\n+new <b>\n"), nil
	}
	page := string(write(t, d, g))
	for _, want := range []string{"<summary>Its patch</summary>", "new &lt;b&gt;", "Files beyond the gold patch</dt><dd>beyond.py", "Files of the gold patch that it leaves</dt><dd>" + d.Rows[0].Benchmint.Parts[schemas.PartCode][0], "<option>incomplete</option>", "0:incomplete"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	g.PatchOf = func(schemas.Digest) ([]byte, error) { return nil, os.ErrNotExist }
	if page := string(write(t, d, g)); strings.Contains(page, "Its patch") {
		t.Error("a patch that is not there")
	}
}
