package describe

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "write the golden files anew")

var languages = map[string]lang.Language{"python": python.Language{}, "go": golang.Language{}}

// world is one task out of a txtar file: subject, body, notes.json, cause, and the
// trees under base/ and solution/. What is in neither tests/ nor a text is code.
type world struct {
	change         schemas.Change
	start          schemas.Start
	proof          schemas.Proof
	base, solution *tree.Tree
}

func read1(t *testing.T, file string) (world, *txtar.Archive) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := world{change: schemas.Change{Repo: "acme/kit", Number: 7}, start: schemas.Start{ChangeID: "acme__kit-7", Repo: "acme/kit", Language: "python"}}
	states := map[string][]tree.Entry{}
	cause := schemas.CauseLoad
	for _, f := range a.Files {
		switch state, p, ok := strings.Cut(f.Name, "/"); {
		case ok:
			states[state] = append(states[state], tree.Entry{Path: p, Mode: tree.ModeFile, Data: f.Data})
		case f.Name == "subject":
			w.change.Subject = strings.TrimSpace(string(f.Data))
		case f.Name == "body":
			w.change.Body = string(f.Data)
		case f.Name == "cause":
			cause = schemas.Cause(strings.TrimSpace(string(f.Data)))
		case f.Name == "notes.json":
			if err := json.Unmarshal(f.Data, &w.change.Notes); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.base, w.solution = planted(t, states["base"]), planted(t, states["solution"])
	w.link()
	w.start.BaseTree, w.start.SolutionTree = w.base.ID(), w.solution.ID()
	w.proof = schemas.Proof{StartID: w.start.ID(), Tests: []schemas.TestVerdict{{ID: "t", Class: schemas.F2P, Cause: cause}}}
	for _, n := range w.names() {
		if n.Kind != "" {
			w.proof.Interface = append(w.proof.Interface, n)
		}
	}
	return w, a
}

func planted(t *testing.T, entries []tree.Entry) *tree.Tree {
	t.Helper()
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// link gives each path that differs its part.
func (w *world) link() {
	for _, e := range w.solution.Entries() {
		old, was := w.base.Entry(e.Path)
		if was && string(old.Data) == string(e.Data) {
			continue
		}
		f := schemas.PartFile{Part: schemas.PartCode, ChangedFile: schemas.ChangedFile{Path: e.Path, Status: "M"}}
		switch {
		case strings.HasPrefix(e.Path, "tests/") || strings.HasSuffix(e.Path, "_test.go"):
			f.Part = schemas.PartTest
		case isDocs(e.Path):
			f.Part = schemas.PartDocs
		}
		if !was {
			f.Status = "A"
		}
		if strings.HasSuffix(e.Path, ".go") {
			w.start.Language = "go"
		}
		w.start.Files = append(w.start.Files, f)
	}
}

func (w *world) names() []schemas.Name {
	return languages[w.start.Language].NewNames(w.base, w.solution, codePaths(w.start), w.start.TestPaths())
}

func (w *world) Origin(string) (schemas.Origin, error) {
	return schemas.Origin{Change: &w.change}, nil
}
func (w *world) Start(string) (schemas.Start, error)             { return w.start, nil }
func (w *world) Proof(string) (schemas.Proof, error)             { return w.proof, nil }
func (w *world) Provisioned(string) (schemas.Provisioned, error) { return schemas.Provisioned{}, nil }
func (w *world) Of(context.Context, schemas.Start) (states.Trees, error) {
	return states.Trees{B: w.base, G: w.solution}, nil
}

func (w *world) run(t *testing.T, c Config) (schemas.Statement, error) {
	t.Helper()
	return New(w, w, languages, nil, c).Run(context.Background(), schemas.Adequacy{StartID: w.start.ID()})
}

// TestStatements tells each golden task as the stage does: the problem statement,
// then what else the record holds; or the reject.
func TestStatements(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			w, a := read1(t, file)
			st, err := w.run(t, Config{})
			got := shownAs(t, st, err)
			at := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if at < 0 {
				a.Files, at = append(a.Files, txtar.File{Name: "want"}), len(a.Files)
			}
			if *update {
				a.Files[at].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(a.Files[at].Data), got); diff != "" {
				t.Error(diff)
			}
			if err == nil {
				sound(t, st)
			}
		})
	}
}

func shownAs(t *testing.T, st schemas.Statement, err error) string {
	t.Helper()
	var no *pipeline.Rejected
	if errors.As(err, &no) {
		return no.Error() + "\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	out := prose.Problem(st.Text, st.Interface) + "\nfrom: " + strings.Join(st.From, ", ") + "\n"
	for _, line := range []struct {
		name string
		all  []string
	}{{"required", st.Required}, {"dropped", st.Dropped}} {
		if len(line.all) > 0 {
			out += line.name + ": " + strings.Join(line.all, " | ") + "\n"
		}
	}
	if st.Hints != "" {
		out += "hints: " + st.Hints + "\n"
	}
	return out
}

// sound is what holds of every statement.
func sound(t *testing.T, st schemas.Statement) {
	t.Helper()
	if !prose.Begins(st.Text) {
		t.Errorf("it begins %.30q", st.Text)
	}
	if strings.Contains(st.Text, "```") || strings.Contains(st.Text, "\n~~~") || strings.Contains(st.Text, "for x in") {
		t.Error("it holds a fence")
	}
	if code := prose.Code(st.Text); len(code) > 0 {
		t.Errorf("it holds code: %q", code)
	}
	for _, name := range st.Dropped {
		if prose.Says(st.Text, name) || prose.Says(st.Hints, name) {
			t.Errorf("it says %q, which was dropped", name)
		}
	}
	if st.Provider != prompts.Rules {
		t.Errorf("provider %q", st.Provider)
	}
}

// byRules is what the stage makes of facts, thin or not.
func byRules(t *testing.T, f facts) (schemas.Statement, error) {
	t.Helper()
	task := newTask(f)
	draft, err := Rules{}.Draft(context.Background(), task.material)
	if err != nil {
		t.Fatal(err)
	}
	return task.judge(draft)
}

// TestRandomMessages puts changes together from all kinds of text, in any order:
// whatever comes out is sound.
func TestRandomMessages(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/leak_in_body.txtar")
	texts := []string{
		"Add a `strict` option to `Reader`", "Fix `Reader` when `strict=True`", "* one\n* two `f(x)`", "```python\nx = 1\n```", "~~~\nunclosed", "    indented = 1",
		"This PR adds `_check_keys(reader)` to the reader.", "Unknown keys were dropped without a word, and _check_keys refuses them.", "Use it like this:", ">>> Reader()",
		"Signed-off-by: A <a@b.org>", "- [x] tests", "## Checklist", "See #12.", "Uses the new helper in kit/_keys.py.", "Reader now raises KeyError.", "![x](y)", "<!-- open",
		"for x in y: return x", "I want to break free", "`", "``", "| a | b |", "foo(bar, baz) == {qux}", "Thanks @all!", "🐛", "", "Co-authored-by: x",
	}
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same texts each time
	pick := func(sep string) string {
		var out []string
		for range r.IntN(6) {
			out = append(out, texts[r.IntN(len(texts))])
		}
		return strings.Join(out, sep)
	}
	written, names := 0, w.names()
	for range 600 {
		c := w.change
		c.Subject, c.Body, c.Notes = texts[r.IntN(len(texts))], pick("\n\n")+"\n\n"+pick("\n"), nil
		for range r.IntN(3) {
			c.Notes = append(c.Notes, schemas.Note{Text: pick("\n\n"), Form: schemas.NoteFragment, Heading: []string{"", "Fixed", "Added", "Removed"}[r.IntN(4)]})
		}
		st, err := byRules(t, facts{change: c, start: w.start, proof: w.proof, base: w.base, solution: w.solution, names: names})
		var no *pipeline.Rejected
		if errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		written++
		if sound(t, st); t.Failed() {
			b, _ := json.Marshal(c)
			t.Fatalf("%s\n%s", b, st.Text)
		}
	}
	if written < 120 {
		t.Errorf("only %d statements of 600", written)
	}
}

func TestThin_is_kept_where_it_is_asked_for(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/thin.txtar")
	st, err := w.run(t, Config{Thin: true})
	if err != nil || !st.Thin || st.Text == "" {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestDepends_on_the_proof_and_not_on_what_was_noticed(t *testing.T) {
	t.Parallel()
	d := New(nil, nil, nil, nil, Config{})
	a := schemas.Adequacy{StartID: "a", Proof: "p"}
	b, c := a, a
	b.Noticed, b.Hunks = 3, []schemas.HunkNotice{{Path: "x"}}
	c.Proof = "q"
	none := schemas.Adequacy{StartID: "a", Proof: "p", Hunks: []schemas.HunkNotice{{Path: "x"}}}
	if schemas.DigestOf(d.Depends(a)) == schemas.DigestOf(d.Depends(none)) {
		t.Error("a task of which no hunk is noticed counts as any other")
	}
	if schemas.DigestOf(d.Depends(a)) != schemas.DigestOf(d.Depends(b)) || schemas.DigestOf(d.Depends(a)) == schemas.DigestOf(d.Depends(c)) {
		t.Error("it depends on something else")
	}
}

// The rules ask no prompt: one more word in it must not redo what they wrote.
func TestFingerprint_knows_settings_and_provider_and_no_prompt(t *testing.T) {
	t.Parallel()
	for thin, want := range map[bool]string{false: `{"thin":false,"unnoticed":false,"provider":"rules"}`, true: `{"thin":true,"unnoticed":false,"provider":"rules"}`} {
		if b, err := schemas.Canonical(Config{Thin: thin}.Fingerprint()); err != nil || string(b) != want {
			t.Errorf("%s, %v, want %s", b, err, want)
		}
	}
}

func TestUnnoticed_is_kept_where_it_is_asked_for(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/note.txtar")
	a := schemas.Adequacy{StartID: w.start.ID(), Hunks: []schemas.HunkNotice{{Path: "kit/reader.py", End: "unnoticed"}, {Path: "kit/reader.py", Hunk: 1, End: "unnoticed"}}}
	_, err := New(&w, &w, languages, nil, Config{}).Run(context.Background(), a)
	var no *pipeline.Rejected
	if !errors.As(err, &no) || no.Reason != schemas.NoneNoticing || !strings.Contains(no.Detail(), "none of 2 hunks that were tried: kit/reader.py") {
		t.Errorf("%v", err)
	}
	if _, err := New(&w, &w, languages, nil, Config{Unnoticed: true}).Run(context.Background(), a); err != nil {
		t.Error(err)
	}
	a.Noticed = 1
	if _, err := New(&w, &w, languages, nil, Config{}).Run(context.Background(), a); err != nil {
		t.Errorf("one hunk is noticed: %v", err)
	}
}

// An edit some of whose hunks are noticed needs its share of them; other kinds do not.
func TestMinNoticed(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/note.txtar")
	a := schemas.Adequacy{StartID: w.start.ID(), Noticed: 1, Hunks: []schemas.HunkNotice{{Path: "kit/reader.py", End: "noticed"}, {Path: "kit/reader.py", Hunk: 1, End: "unnoticed"}}}
	for _, tc := range []struct {
		kind  schemas.Kind
		least float64
		want  bool
	}{{schemas.KindEdit, 0.6, true}, {schemas.KindEdit, 0.5, false}, {schemas.KindEdit, 0, false}, {schemas.KindFeature, 0.6, false}} {
		w.start.Kind = tc.kind
		d := New(&w, &w, languages, nil, Config{MinNoticed: tc.least})
		_, err := d.Run(context.Background(), a)
		var no *pipeline.Rejected
		if got := errors.As(err, &no) && no.Reason == schemas.FewNoticing; got != tc.want || got && no.Detail() != "1 of 2 hunks that were tried, below 0.6" {
			t.Errorf("%s, %g: %v", tc.kind, tc.least, err)
		}
		more := a
		more.Noticed = 2
		if redo := schemas.DigestOf(d.Depends(a)) != schemas.DigestOf(d.Depends(more)); redo != (tc.least > 0.5) {
			t.Errorf("%g: one more hunk is noticed: done again %v", tc.least, redo)
		}
	}
}

func TestRun_gives_faults_as_they_are(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/note.txtar")
	down := errors.New("disk gone")
	_, err := New(&w, broken{down}, languages, nil, Config{}).Run(context.Background(), schemas.Adequacy{StartID: "x"})
	var no *pipeline.Rejected
	if !errors.Is(err, down) || errors.As(err, &no) {
		t.Errorf("%v", err)
	}
}

type broken struct{ err error }

func (b broken) Of(context.Context, schemas.Start) (states.Trees, error) {
	return states.Trees{}, b.err
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, heading, want string }{
		{"Added support for socks5h proxies.", "", "be able to use socks5h proxies"},
		{"Add support for passing lambdas to `Nested`", "", "be able to pass lambdas to `Nested`"},
		{"Add support of `Path` to `edit`", "", "add support for `Path` to `edit`"},
		{"support Private Network Access spec", "", "add support for the Private Network Access spec"},
		{"Support the new line protocol", "", "add support for the new line protocol"},
		{"Supports generators", "", "be able to use generators"},
		{"Support for better-exceptions is deprecated", "", "make sure that support for better-exceptions is deprecated"},
		{"Allow mutating `__notes__` on exceptions", "", "be able to mutate `__notes__` on exceptions"},
		{"Allow users to skip the check", "", "be able to skip the check"},
		{"Allow timestamp 0 in the field", "", "allow timestamp 0 in the field"},
		{"It's now possible to pass instances", "", "be able to pass instances"},
		{"You can now pass instances", "", "be able to pass instances"},
		{"Adds the ability to sort rows", "", "be able to sort rows"},
		{"Added new validator `ne`", "", "add a new validator `ne`"},
		{"Optimize/new route regexp allocations", "", "optimize new route regexp allocations"},
		{"Add/remove hooks", "", "add/remove hooks"},
		{"Add `name` attribute to BytesLogger", "", "add a `name` attribute to BytesLogger"},
		{"Add missing type hints", "", "add the missing type hints"},
		{"New `strict` option on `Foo`", "", "have a new `strict` option on `Foo`"},
		{"`foo` now accepts bytes", "", "make sure that `foo` accepts bytes"},
		{"`Foo` no longer raises when it is empty", "", "make sure that `Foo` no longer raises when it is empty"},
		{"An error raised while writing no longer gets replaced", "", "make sure that an error raised while writing no longer gets replaced"},
		{"The mix of a hook that takes x and a default does not crash", "", "make sure that the mix of a hook that takes x and a default does not crash"},
		{"A new flag that is used when x is set", "", "have a new flag that is used when x is set"},
		{"A `Group` with no commands marks its name as optional", "", "make sure that a `Group` with no commands marks its name as optional"},
		{"`a` and `b` strip colours", "", "make sure that `a` and `b` strip colours"},
		{"Converters can now be given as a decorator.", "", "make sure that converters can be given as a decorator"},
		{"Fixed `aclose` raising `E` when x", "", "fix `aclose` raising `E` when x"},
		{"Fixed infinite loop with x", "", "fix the infinite loop with x"},
		{"Fix ClassVar detection", "", "fix ClassVar detection"},
		{"Fix `string` dropping a newline: a value is now rendered", "", "fix `string` dropping a newline: a value is now rendered"},
		{"fix(cron): anchor regex", "", "anchor regex in `cron`"},
		{"feat!: drop the old way", "", "drop the old way"},
		{"hooks/slog: add level adapters", "", "add level adapters in `hooks/slog`"},
		{"color: add newline after wrapping text", "", "add newline after wrapping text in `color`"},
		{"add: ContextLogger interface", "", "add a ContextLogger interface"},
		{"Don't log a warning if x is set", "", "not log a warning if x is set"},
		{"Make sure x is read", "", "make sure that x is read"},
		{"Properly lazily import shutil", "", "properly lazily import shutil"},
		{"Just use default characters", "", "use default characters"},
		{"Default nested partial fix", "", "fix the default nested partial"},
		{"[BUG] Inconsistent status on mismatch", "", "fix the inconsistent status on mismatch"},
		{"regression in vars extract for hosts", "Fixed", "fix the regression in vars extract for hosts"},
		{"Python 3.8 support.", "Removed", "remove Python 3.8 support"},
		{"This PR adds a `ttl` parameter", "", "add a `ttl` parameter"},
		{"When x is set, y is read", "", "make sure that when x is set, y is read"},
		{"auto-detect the type", "", "auto-detect the type"},
		{"Log messages now include the time", "", "make sure that log messages include the time"},
		{"soft: evict a broken file", "", "evict a broken file in `soft`"},
		{"`Schema.handle_error` receives `many` as well", "", "make sure that `Schema.handle_error` receives `many` as well"},
		{"The default `sha1` may not be available in FIPS builds", "", ""},
		{"Names may now not be empty", "", "make sure that names may not be empty"},
		{"The csv, xls, and xlsx formats gained support for the `skip_lines` argument", "", "add support for the `skip_lines` argument to the csv, xls, and xlsx formats"},
		{"`Dataset.load` has gained a `strict` option", "Improvements", "add a `strict` option to `Dataset.load`"},
		{"The reader now gains the ability to stop early", "", "make sure that the reader now gains the ability to stop early"},
		{"The reader gained support for rows, which may be empty", "", "make sure that the reader gained support for rows, which may be empty"},
		{"The csv, xls, and xlsx formats gained support for the `skip_lines` argument.", "Improvements", "add support for the `skip_lines` argument to the csv, xls, and xlsx formats"},
		{"feat: add support string interpolation", "", "be able to use string interpolation"},
		{"Add support code for tests", "", "add support code for tests"},
		{"Add support in the loader", "", "add support in the loader"},
		{"Add xand tag", "", "add an xand tag"},
		{"Add ndigits option to intcomma", "", "add an ndigits option to intcomma"},
		{"Add set option", "", "add a set option"},
		{"Add SQL builder", "", "add an SQL builder"},
		{"Add HTTP header", "", "add an HTTP header"},
		{"Add `unset` method", "", "add an `unset` method"},
		{"Add unique constant", "", "add a unique constant"},
		{"182/pickleable exceptions", "", "have pickleable exceptions"},
		{"Fix/2463 add gevent errors to connection errors", "", "add gevent errors to connection errors"},
		{"Python 3.10 support has been added.", "", "add Python 3.10 support"},
		{"The `strict` option has been renamed to `exact`", "", "rename the `strict` option to `exact`"},
		{"The names that have been added are kept", "", "make sure that the names that have been added are kept"},
		{"Add a hook that might fail", "", "add a hook that might fail"},
		{"", "", ""},
	} {
		if got, _ := request(tc.in, tc.heading); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestReworded(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"This change adds a validator that raises.": "I want to add a validator that raises.",
		"Adds a filter for names.":                  "I want to add a filter for names.",
		"With this change, hosts are kept.":         "Hosts are kept.",
		"Previously, hosts were lost.":              "Previously, hosts were lost.",
		"Use the other one instead.":                "Use the other one instead.",
		"This is slow.":                             "This is slow.",
	} {
		if got := reworded(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSameText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, code, test string
		want             bool
	}{
		{"equal", "--no-color", "--no-color", true},
		{"filled_format", "Length must be between {min} and {max}.", "Length must be between 1 and 3.", true},
		{"filled_percent", "bad key %q in %s", `bad key "a" in b`, true},
		{"filled_hole", "lifetime of … is ignored", "lifetime of x is ignored", true},
		{"part", "max_bytes must be a positive integer", "must be a positive", true},
		{"pattern", "got (a) here, again", `^got \(a\) here.*`, true},
		{"other_order", "first {a} then {b} wait", "then x wait first", false},
		{"one_word", "between", "between us", false},
		{"only_a_hole", "{x}", "anything at all", false},
		{"short_part", "is not", "is not", true},
		{"unrelated", "must be set", "must be a number", false},
		{"pattern_with_a_value", "unsupported mimetype: … (must be one of …)", `unsupported .*\(must be one of .+'image/svg\+xml'`, true},
		{"pattern_of_another", "invalid value: … is not supported by …", `unsupported .*\(must be one of .+'image/svg\+xml'`, false},
		{"pattern_of_few_words", "… is not …", `a is not .*of them all together`, false},
	} {
		if got := sameText(tc.code, tc.test); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

func TestThin_rule(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want bool
	}{
		{"I want to make sure that `WriteLogger` is usable after unpickling.", false},
		{"I want to handle empty zstd responses.", false},
		{"I want to remove support for Python 3.9.", true},
		{"I want to add `QUAL_MODULE`.", true},
		{"I want to fix disabled category output.", true},
		{"I want to have many option.", true},
		{"I want to make sure that `asdict` is faster.", true},
		{"I want to update dev.", true},
		{"I want to improve check for type list and improve error msg.", true}, // of what?
		{"I want to improve check for type list of rows and improve error msg.", false},
		{"I want to improve check for type list and improve error msg of `load`.", false},
	} {
		if got := thin(tc.text, 0); got != tc.want {
			t.Errorf("%t: %s (%d words)", got, tc.text, len(content(tc.text)))
		}
	}
	if !thin("I want to add high intensity colours.", 0) || thin("I want to add high intensity colours.", 1) {
		t.Error("names of the interface say what is meant")
	}
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]verb{
		"dropped": {"drop", past}, "copies": {"copy", third}, "making": {"make", gerund}, "built": {"build", past}, "set": {"set", base}, "passes": {"pass", third},
		"allowed": {"allow", past}, "agreeing": {}, "running": {"run", gerund}, "re-added": {"re-add", past},
	} {
		if got, ok := verbOf(word); got != want || ok != (want != verb{}) {
			t.Errorf("%s: %+v", word, got)
		}
	}
}
