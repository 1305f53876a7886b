package link_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/link"
)

// plugin is a language of *.src files, whose manifest.src-deps has one entry a
// line: those that begin with "test " serve tests.
type plugin struct {
	lang.Language // what link never calls
	name, ext     string
}

func (p plugin) Name() string           { return p.name }
func (p plugin) Source(s string) bool   { return strings.HasSuffix(s, p.ext) }
func (p plugin) Masker() mask.Language  { return maskers[p.name] }
func (p plugin) manifest(s string) bool { return s == "deps"+p.ext+".list" }

// written is a plugin of a language that suites can be written for.
type written struct{ lang.Language }

var _ lang.Author = written{}

func (written) Place(_, _ []string, _ string) string                   { return "" }
func (written) Reworded(string, []byte) (as string, _ []byte, ok bool) { return "", nil, false }

// maskers are of the real languages: none reads *.src.
var maskers = map[string]mask.Language{"python": python.Masker{}, "go": golang.Masker{}}

func (p plugin) Part(s string, t lang.Tree) (schemas.Part, string, bool) {
	if s == "helper"+p.ext && !t.Has("uses_helper") {
		return schemas.PartTest, "imported only by tests", true
	}
	if strings.HasSuffix(s, "_check"+p.ext) {
		return schemas.PartTest, "name:*_check", true
	}
	return "", "", false
}

func (p plugin) Manifest(s string, before, after []byte, hunks []lang.Hunk) (test []bool, mixed, ok bool) {
	if !p.manifest(s) {
		return nil, false, false
	}
	for _, h := range hunks {
		tests, others := 0, 0
		for _, side := range []struct {
			data     []byte
			start, n int
		}{{before, h.OldStart, h.OldLines}, {after, h.NewStart, h.NewLines}} {
			lines := strings.Split(string(side.data), "\n")
			for i := side.start; i < side.start+side.n; i++ {
				if strings.HasPrefix(lines[i-1], "test ") {
					tests++
				} else {
					others++
				}
			}
		}
		test = append(test, tests > 0)
		mixed = mixed || tests > 0 && others > 0
	}
	return test, mixed, true
}

// only is a world of one repository.
type only struct{ *gitrepo.Repo }

func (o only) Files(ctx context.Context, _, from, to string) ([]schemas.ChangedFile, error) {
	return o.Repo.Files(ctx, from, to)
}

func (o only) Tree(ctx context.Context, _, id string) (*tree.Tree, error) {
	return o.Repo.Tree(ctx, id)
}

func (o only) Graft(ctx context.Context, _, base string, edits []gitrepo.Edit) (string, error) {
	return o.Repo.Graft(ctx, base, edits)
}

func (o only) Diff(ctx context.Context, _, from, to string) ([]byte, error) {
	return o.Repo.Diff(ctx, from, to)
}

func (o only) Hunks(ctx context.Context, _, from, to string) ([]byte, error) {
	return o.Repo.Hunks(ctx, from, to)
}

// world is a repository and the stage over it.
type world struct {
	repo  *gitrepo.Repo
	blobs *blob.Store
	link  *link.Linker
}

func newWorld(t *testing.T, dir string, c link.Config) world {
	t.Helper()
	r, err := gitrepo.Open(t.Context(), dir, "acme/widget", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	w := world{repo: r}
	if w.blobs, err = blob.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	languages := map[string]lang.Language{}
	for name, ext := range map[string]string{"src": ".src", "alt": ".alt", "python": ".py", "go": ".go"} {
		languages[name] = plugin{name: name, ext: ext}
	}
	languages["python"] = written{languages["python"]}
	if w.link, err = link.New(only{r}, w.blobs, languages, c); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w world) changes(t *testing.T) []schemas.Change {
	t.Helper()
	var out []schemas.Change
	for c, err := range w.repo.Log(t.Context(), gitrepo.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// anyShape is the default but for the filter on functions: no grammar reads *.src.
func anyShape() link.Config {
	c := link.Default()
	c.ModifiesOnly = false
	return c
}

// newest links the newest change of a history.
func newest(t *testing.T, history string) (world, schemas.Start, error) {
	t.Helper()
	w := newWorld(t, gitrepotest.New(t, history), anyShape())
	start, err := w.link.Run(t.Context(), w.changes(t)[0])
	return w, start, err
}

// parts are the rows of a start, a line each.
func parts(s schemas.Start) []string {
	var out []string
	for _, f := range s.Files {
		line := fmt.Sprintf("%s %s %s", f.Part, f.Status, f.Path)
		if f.OldPath != "" {
			line += " from " + f.OldPath
		}
		if len(f.TestHunks) > 0 {
			line += fmt.Sprintf(" tests %v of %d", f.TestHunks, f.Hunks)
		}
		out = append(out, line)
	}
	return out
}

// check applies the stored patches again, apart from the stage's own check, and
// gives S as text.
func (w world) check(t *testing.T, s schemas.Start) map[string]string {
	t.Helper()
	state, err := w.repo.Tree(t.Context(), s.Base)
	if err != nil {
		t.Fatal(err)
	}
	start := map[string]string{}
	for _, step := range []struct {
		patch schemas.Digest
		want  string
	}{{s.TestPatch, s.StartTree}, {s.Patch, s.SolutionTree}} {
		patch, err := w.blobs.Get(step.patch)
		if err != nil {
			t.Fatal(err)
		}
		if state, err = state.Apply(patch); err != nil {
			t.Fatal(err)
		}
		if state.ID() != step.want {
			t.Errorf("the patch leads to %s, want %s", state.ID(), step.want)
		}
		if len(start) == 0 {
			for _, e := range state.Entries() {
				start[e.Path] = e.Mode[3:] + " " + string(e.Data)
			}
		}
	}
	return start
}

func TestEveryPathInOnePart(t *testing.T) {
	t.Parallel()
	w, s, err := newest(t, `
-- commit: Start --
-- app.src --
one
-- old_check.src --
x
y
z
-- deep/gone_check.src --
x
-- deps.src.list --
code 1
-
-
-
test 1
-- notes.txt --
n
-- commit: All (#7) --

The body.
-- app.src --
two
-- new_check.src --
checks app
-- helper.src --
for checks
-- rename: old_check.src -> tests/moved_check.src --
x
y
Z
-- delete: deep/gone_check.src --
-- deps.src.list --
code 2
-
-
-
test 2
-- tests/data.json --
{}
-- README.md --
docs
-- .github/workflows/test.yml --
ci
-- latest.src --
ships
-- contest/main.src --
ships
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ci A .github/workflows/test.yml",
		"docs A README.md",
		"code M app.src",
		"code A contest/main.src",
		"test D deep/gone_check.src",
		"code M deps.src.list tests [1] of 2",
		"test A helper.src",
		"code A latest.src",
		"test A new_check.src",
		"test A tests/data.json",
		"test R tests/moved_check.src from old_check.src",
	}
	if diff := cmp.Diff(want, parts(s)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for _, f := range s.Files {
		if f.Rule == "" {
			t.Errorf("%s has no rule", f.Path)
		}
	}
	if diff := cmp.Diff(schemas.Sizes{SourceFiles: 3, SourceHunks: 3, SourceAdded: 3, SourceRemoved: 1, TestFiles: 5}, s.Sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if s.ID() != "acme__widget-7" || s.Language != "src" || s.Kind != schemas.KindFeature {
		t.Errorf("start %s, language %s, kind %s", s.ID(), s.Language, s.Kind)
	}
	wantStart := map[string]string{
		"app.src": "644 one\n", "helper.src": "644 for checks\n", "new_check.src": "644 checks app\n", "tests/data.json": "644 {}\n",
		"tests/moved_check.src": "644 x\ny\nZ\n", "deps.src.list": "644 code 1\n-\n-\n-\ntest 2\n", "notes.txt": "644 n\n",
	}
	if diff := cmp.Diff(wantStart, w.check(t, s)); diff != "" {
		t.Errorf("S (-want +got):\n%s", diff)
	}
}

// TestStatesAreExact holds for all that a tree can hold.
func TestStatesAreExact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		start         map[string]string // of S, what the test part changed
	}{
		"crlf_and_no_last_newline": {
			"-- crlf: app.src --\na\nb\n-- bare: a_check.src --\nx\n", "-- crlf: app.src --\na\nc\n-- crlf: a_check.src --\nx\ny\n",
			map[string]string{"a_check.src": "644 x\r\ny\r\n", "app.src": "644 a\r\nb\r\n"},
		},
		"only_line_ends_change": {
			"-- app.src --\na\n-- a_check.src --\nx\n", "-- crlf: app.src --\na\n-- crlf: a_check.src --\nx\n",
			map[string]string{"a_check.src": "644 x\r\n"},
		},
		"binary": {
			"-- app.src --\na\n-- base64: tests/x.bin --\nAAEC/w==\n", "-- app.src --\nb\n-- base64: tests/x.bin --\nAAEC/v8=\n-- base64: logo.bin --\nAP8=\n",
			map[string]string{"tests/x.bin": "644 \x00\x01\x02\xfe\xff"},
		},
		"mode": {
			"-- app.src --\na\n-- tests/run.sh --\nx\n-- go.sh --\nx\n", "-- app.src --\nb\n-- exec: tests/run.sh --\nx\n-- exec: go.sh --\nx\n",
			map[string]string{"tests/run.sh": "755 x\n", "go.sh": "644 x\n"},
		},
		"symlink_and_back": {
			"-- app.src --\na\n-- tests/link --\nx\n-- symlink: plain --\napp.src\n", "-- app.src --\nb\n-- symlink: tests/link --\n../app.src\n-- plain --\nx\n",
			map[string]string{"tests/link": "000 ../app.src", "plain": "000 app.src"},
		},
		"not_utf8": {
			"-- app.src --\na\n-- base64: a_check.src --\n6Q==\n", "-- base64: app.src --\n/v8K\n-- base64: a_check.src --\n6ekK\n",
			map[string]string{"a_check.src": "644 \xe9\xe9\n"},
		},
		"odd_names": {
			"-- app.src --\na\n", "-- app.src --\nb\n-- \"tests/a \\\"b\\\"\\n\\tc\" --\nx\n-- \"tests/caf\\xe9.txt\" --\ny\n-- tests/naïve ünï.txt --\nz\n",
			map[string]string{"tests/a \"b\"\n\tc": "644 x\n", "tests/caf\xe9.txt": "644 y\n", "tests/naïve ünï.txt": "644 z\n"},
		},
		"file_becomes_folder": {
			"-- app.src --\na\n-- tests --\nx\n", "-- app.src --\nb\n-- delete: tests --\n-- tests/x --\ny\n",
			map[string]string{"tests/x": "644 y\n"},
		},
		"empty_file": {
			"-- app.src --\na\n", "-- app.src --\nb\n-- tests/empty --\n-- empty.src --\n",
			map[string]string{"tests/empty": "644 "},
		},
		"test_becomes_code": {
			"-- app.src --\na\n-- tests/x.src --\n1\n2\n3\n", "-- app.src --\nb\n-- rename: tests/x.src -> x.src --\n-- a_check.src --\nx\n",
			map[string]string{"a_check.src": "644 x\n"},
		},
		"code_becomes_test": {
			"-- app.src --\na\n-- x.src --\n1\n2\n3\n", "-- app.src --\nb\n-- rename: x.src -> tests/x.src --\n",
			map[string]string{"x.src": "644 1\n2\n3\n", "tests/x.src": "644 1\n2\n3\n"},
		},
		"swap_of_names": {
			"-- app.src --\na\n-- tests/a --\n1\n2\n3\n-- tests/b --\n7\n8\n9\n", "-- app.src --\nb\n-- tests/a --\n7\n8\n9\n-- tests/b --\n1\n2\n3\n",
			map[string]string{"tests/a": "644 7\n8\n9\n", "tests/b": "644 1\n2\n3\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, err := newest(t, "-- commit: Start --\n"+c.before+"-- commit: Change --\n"+c.after)
			if err != nil {
				t.Fatal(err)
			}
			got := w.check(t, s)
			for path, want := range c.start {
				if got[path] != want {
					t.Errorf("S has %q = %q, want %q", path, got[path], want)
				}
			}
		})
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	const base = "-- commit: Start --\n-- app.src --\na\n-- a_check.src --\nx\n-- app.alt --\na\n"
	key, url := "AKIA"+"Q3EGTI4RZN7XW2LB", "postgres://admin:"+"kX8vqP2mWz5t@"
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	for name, c := range map[string]struct {
		history string
		want    schemas.Reason
		detail  string
	}{
		"root":               {"-- commit: Start --\n-- app.src --\na\n-- a_check.src --\nx\n", schemas.RootCommit, ""},
		"empty":              {base + "-- commit: Nothing --\n", schemas.NoCode, "no files"},
		"docs_and_tests":     {base + "-- commit: C --\n-- README.md --\nx\n-- a_check.src --\ny\n", schemas.NoCode, "1 test, 1 docs"},
		"manifest_and_tests": {base + "-- commit: C --\n-- setup.py --\nx\n-- a_check.src --\ny\n", schemas.NoCode, "1 code, 1 test"},
		"lock_and_tests":     {base + "-- commit: C --\n-- uv.lock --\nx\n-- a_check.src --\ny\n", schemas.NoCode, "1 code, 1 test"},
		"code_alone":         {base + "-- commit: C --\n-- app.src --\ny\n", schemas.NoTests, "1 code"},
		"tests_deleted":      {base + "-- commit: C --\n-- app.src --\ny\n-- delete: a_check.src --\n", schemas.NoTests, "tests are only deleted"},
		"runner_settings":    {base + "-- commit: C --\n-- app.src --\ny\n-- tox.ini --\nx\n", schemas.NoTests, "1 code, 1 that only set up tests (tox.ini)"},
		"test_requirements":  {base + "-- commit: C --\n-- app.src --\ny\n-- requirements/dev.txt --\nx\n-- tox.ini --\nx\n", schemas.NoTests, "1 code, 2 that only set up tests (requirements/dev.txt …)"},
		"data_alone":         {base + "-- commit: C --\n-- table.csv --\nx\n", schemas.NoTests, "1 code"},
		"data_and_odd_tests": {base + "-- commit: C --\n-- table.csv --\nx\n-- a.test.js --\nx\n", schemas.OtherLanguage, "data alone"},
		"no_plugin":          {base + "-- commit: C --\n-- main.rs --\ny\n-- a_check.src --\ny\n", schemas.OtherLanguage, "rust"},
		"mixed_manifest": {
			base + "-- deps.src.list --\ncode 1\ntest 1\n-- commit: C --\n-- deps.src.list --\ncode 2\ntest 2\n-- app.src --\ny\n-- a_check.src --\ny\n",
			schemas.MixedManifest, "deps.src.list",
		},
		"mixed_manifest_and_no_test": {
			base + "-- deps.src.list --\ncode 1\ntest 1\n-- commit: C --\n-- deps.src.list --\ncode 2\ntest 2\n-- app.src --\ny\n",
			schemas.NoTests, "2 code",
		},
		"submodule":       {base + "-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n-- submodule: lib --\n" + strings.Repeat("1", 40) + "\n", schemas.Submodule, "lib"},
		"lfs_test":        {base + "-- commit: C --\n-- app.src --\ny\n-- tests/big.bin --\n" + pointer, schemas.LFSPointer, "tests/big.bin"},
		"lfs_was":         {base + "-- model.bin --\n" + pointer + "-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n-- model.bin --\nreal\n", schemas.LFSPointer, "model.bin"},
		"too_large":       {base + "-- commit: C --\n-- a_check.src --\ny\n-- app.src --\n" + strings.Repeat("line\n", 1001), schemas.TooLarge, "1002 source lines, at most 1000"},
		"unsafe":          {base + "-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n-- \"../evil\" --\nx\n", schemas.UnsafePath, "../evil"},
		"key_in_base":     {base + "-- docs/use.md --\nuse\n" + key + "\n-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n", schemas.HoldsSecret, `"docs/use.md", line 2 of the base tree`},
		"url_in_base":     {base + "-- docs/use.md --\n" + url + "db.corp.com/app\n-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n", schemas.HoldsSecret, "url-password"},
		"url_in_test":     {base + "-- b_check.src --\n" + url + "db.corp.com/app\n-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n", "", ""},
		"key_in_test":     {base + "-- b_check.src --\n" + key + "\n-- commit: C --\n-- app.src --\ny\n-- a_check.src --\ny\n", schemas.HoldsSecret, `"b_check.src", line 1 of the base tree`},
		"key_in_patch":    {base + "-- commit: C --\n-- app.src --\n" + key + "\n-- a_check.src --\ny\n", schemas.HoldsSecret, "line"},
		"nobody_can_open": {base + "-- docs/use.md --\n" + url + "192.168.0.8/app\n-- commit: C --\n-- app.src --\n" + url + "db/app\n-- a_check.src --\ny\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := newest(t, c.history)
			var rejected *pipeline.Rejected
			if c.want == "" && err == nil {
				return
			}
			if !errors.As(err, &rejected) || rejected.Reason != c.want || !strings.Contains(rejected.Error(), c.detail) {
				t.Errorf("end %v, want %s with %q", err, c.want, c.detail)
			}
		})
	}
}

// TestUnsafeTrees: each is rejected by name, and the change beside it gets its start.
func TestUnsafeTrees(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, "-- commit: A --\n-- app.src --\nx\n-- a_check.src --\nx\n-- commit: Good (#2) --\n-- app.src --\ny\n-- a_check.src --\ny\n")
	raw := gitrepotest.NewRaw(t, dir)
	sound := raw.Rows("HEAD")
	good := raw.Tree(sound...)
	for name, id := range raw.UnsafeTrees(sound) {
		raw.Commit(name, id)
		raw.Commit("back", good)
	}
	w := newWorld(t, dir, anyShape())
	starts := 0
	for _, c := range w.changes(t) {
		_, err := w.link.Run(t.Context(), c)
		var rejected *pipeline.Rejected
		want := []schemas.Reason{schemas.UnsafePath}
		switch c.Subject {
		case gitrepotest.Endless:
			want = []schemas.Reason{schemas.HugeObject}
		case "back": // its base is any of them
			want = append(want, schemas.HugeObject)
		}
		switch {
		case c.Number == 2 && err == nil:
			starts++
		case c.Base != "" && (!errors.As(err, &rejected) || !slices.Contains(want, rejected.Reason) && c.Twin == ""):
			t.Errorf("%s: %v", c.Subject, err)
		}
	}
	if starts != 1 {
		t.Errorf("%d starts, want the change that is sound", starts)
	}
}

func TestPointersInDocsAndStillSubmodulesDoNotMatter(t *testing.T) {
	t.Parallel()
	w, s, err := newest(t, `
-- commit: Start --
-- app.src --
a
-- submodule: lib --
1111111111111111111111111111111111111111
-- commit: Change --
-- app.src --
b
-- a_check.src --
x
-- docs/film.mp4 --
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.check(t, s)["lib"]; !strings.HasPrefix(got, "000 1111") {
		t.Errorf("submodule in S: %q", got)
	}
}

func TestLanguageIsWhatMostLinesAre(t *testing.T) {
	t.Parallel()
	const history = "-- commit: Start --\n-- app.src --\na\n-- commit: C --\n-- app.src --\nb\n-- app.alt --\n1\n2\n3\n-- a_check.src --\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	dir := gitrepotest.New(t, history)
	for name, c := range map[string]struct {
		languages []string
		want      schemas.Reason
	}{"all": {nil, ""}, "asked_for": {[]string{"alt"}, ""}, "other": {[]string{"src"}, schemas.OtherLanguage}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, dir, link.Config{Languages: c.languages})
			s, err := w.link.Run(t.Context(), w.changes(t)[0])
			var rejected *pipeline.Rejected
			switch {
			case c.want == "" && (err != nil || s.Language != "alt"):
				t.Errorf("language %q, %v", s.Language, err)
			case c.want != "" && (!errors.As(err, &rejected) || rejected.Reason != c.want || rejected.Detail() != "alt"):
				t.Errorf("end %v, want %s alt", err, c.want)
			}
		})
	}
}

// TestDataThatShips: a change of data alone is code, in the language of its tests.
func TestDataThatShips(t *testing.T) {
	t.Parallel()
	_, s, err := newest(t, "-- commit: Start --\n-- app.src --\na\n-- run.sh --\nx\n-- commit: C --\n-- table.csv --\nx\n-- exec: run.sh --\nx\n-- a_check.alt --\nx\n")
	if err != nil || s.Language != "alt" || s.Sizes.SourceFiles != 0 {
		t.Errorf("language %q, sizes %+v, %v", s.Language, s.Sizes, err)
	}
}

// TestDataThatOnlyTestsName: a new file outside of the tests that only tests name is theirs.
func TestDataThatOnlyTestsName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code, test, path string
		want             schemas.Part
	}{
		"named_by_a_test":        {"a", `read("comments.cfg")`, "examples/comments.cfg", schemas.PartTest},
		"named_by_its_path":      {"a", `read("../samples/deep/x.json")`, "samples/deep/x.json", schemas.PartTest},
		"beside_the_code":        {"a", `read("x.json")`, "x.json", schemas.PartTest},
		"example_program":        {"a", `run("two.src")`, "examples/two.src", schemas.PartTest},
		"document":               {"a", `read("docs/second.md")`, "docs/second.md", schemas.PartTest},
		"by_folder_and_stem":     {"a", `DIR / "samples"; load("second")`, "samples/second.json", schemas.PartTest},
		"stem_of_another_folder": {"a", `load("second")`, "presets/second.json", schemas.PartCode},
		"named_by_nobody":        {"a", "b", "table.csv", schemas.PartCode},
		"part_of_a_name":         {"a", `read("my_table.csv")`, "table.csv", schemas.PartCode},
		"named_by_code_too":      {`open("table.csv")`, `read("table.csv")`, "table.csv", schemas.PartCode},
		"folder_of_the_code":     {`open("data/" + name)`, `read("data/table.csv")`, "data/table.csv", schemas.PartCode},
		"pattern_of_the_code":    {`glob("*.csv")`, `read("table.csv")`, "table.csv", schemas.PartCode},
		"embedded":               {"//go:embed data/*", `read("table.csv")`, "data/table.csv", schemas.PartCode},
		"source":                 {"a", `run("new.src")`, "new.src", schemas.PartCode},
		"manifest":               {"a", `read("setup.py")`, "setup.py", schemas.PartCode},
		"in_place_of_a_file":     {"a", `read("old/x.csv")`, "old/x.csv", schemas.PartCode},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, err := newest(t, "-- commit: Start --\n-- app.src --\na\n-- a_check.src --\nx\n-- old --\nwas here before\n-- commit: C --\n-- delete: old --\n-- app.src --\nnew\n"+tc.code+"\n-- a_check.src --\n"+tc.test+"\n-- "+tc.path+" --\nx\n")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s.Files {
				if f.Path == tc.path && f.Part != tc.want {
					t.Errorf("%s is %s by %q, want %s", f.Path, f.Part, f.Rule, tc.want)
				}
			}
		})
	}
}

// TestDuplicate: a change that has a twin ends for it, before anything is read.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gitrepotest.New(t, "-- commit: Start --\n-- app.src --\na\n-- commit: Add (#1) --\n-- app.src --\nb\n-- a_check.src --\ny\n"), anyShape())
	c := w.changes(t)[0]
	if _, err := w.link.Run(t.Context(), c); err != nil {
		t.Fatalf("without a twin: %v", err)
	}
	if _, err := w.link.Run(t.Context(), c); err != nil {
		t.Fatalf("the same change again: %v", err)
	}
	edit := c
	edit.LeftTo = schemas.KindEdit
	if _, err := w.link.Run(t.Context(), edit); err == nil || err.Error() != "link/left_to_edit: drawn to be of kind edit" {
		t.Errorf("left to edits: %v", err)
	}
	c.Twin, c.Tree = "acme__widget-3", strings.Repeat("1", 40)
	_, err := w.link.Run(t.Context(), c)
	if err == nil || err.Error() != "link/duplicate: the same states as acme__widget-3" {
		t.Errorf("with a twin: %v", err)
	}
}

// TestDepends: what moves later in a repository does not touch a start.
func TestDepends(t *testing.T) {
	t.Parallel()
	l := &link.Linker{}
	c := schemas.Change{Repo: "acme/widget", Commit: "1", Twin: "acme__widget-3"}
	later := c
	later.Release, later.Notes = "v1", []schemas.Note{{Text: "x"}}
	if diff := cmp.Diff(l.Depends(c), l.Depends(later)); diff != "" {
		t.Errorf("a release changes what a start depends on:\n%s", diff)
	}
	later.Twin = ""
	if cmp.Equal(l.Depends(c), l.Depends(later)) {
		t.Error("a twin changes nothing")
	}
}

// TestMissingBlobCostsOneChange takes one blob out of the middle of a history.
func TestMissingBlobCostsOneChange(t *testing.T) {
	t.Parallel()
	var history strings.Builder
	for i := range 4 {
		fmt.Fprintf(&history, "-- commit: C%d --\n-- app.src --\n%d\n-- a_check.src --\ncheck %d\n", i, i, i)
	}
	dir := gitrepotest.New(t, history.String())
	lose(t, dir, gitrepotest.Git(t, dir, "rev-parse", "HEAD:a_check.src"))
	w := newWorld(t, dir, anyShape())
	got := map[string]schemas.Reason{}
	for _, c := range w.changes(t) {
		_, err := w.link.Run(t.Context(), c)
		var rejected *pipeline.Rejected
		if err != nil && !errors.As(err, &rejected) {
			t.Fatal(err)
		}
		got[c.Subject] = ""
		if rejected != nil {
			got[c.Subject] = rejected.Reason
		}
	}
	want := map[string]schemas.Reason{"C0": schemas.RootCommit, "C1": "", "C2": "", "C3": schemas.MissingBlob}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lose turns a pack into loose objects and removes one.
func lose(t *testing.T, dir, id string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	for _, p := range packs {
		if err := os.Rename(p, filepath.Join(away, "pack"+filepath.Ext(p))); err != nil {
			t.Fatal(err)
		}
	}
	gitrepotest.Git(t, dir, "-c", "alias.load=!git unpack-objects -q < "+away+"/pack.pack", "load")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	languages := map[string]lang.Language{"src": plugin{name: "src", ext: ".src"}}
	_, err := link.New(nil, nil, languages, link.Config{Languages: []string{"cobol"}, MaxSourceLines: -1})
	if err == nil || !strings.Contains(err.Error(), "cobol") || !strings.Contains(err.Error(), "-1") {
		t.Errorf("error %v, want both faults named", err)
	}
	if _, err := link.New(nil, nil, languages, link.Default()); err != nil {
		t.Error(err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gitrepotest.New(t, "-- commit: A --\n-- app.src --\na\n-- commit: B --\n-- app.src --\nb\n"), link.Default())
	change := w.changes(t)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.link.Run(ctx, change); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestWantsSuite: with the setting, an edit without a test part is a start that wants a suite; one whose
// tests are deleted, whose manifest has hunks for tests or whose language has no author is none.
func TestWantsSuite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after string
		kind  schemas.Kind
		wants bool
	}{
		"edit":           {"-- app.py --\nx = 2\n", schemas.KindEdit, true},
		"feature":        {"-- app.py --\nx = 2\n", schemas.KindFeature, false},
		"gone_tests":     {"-- app.py --\nx = 2\n-- delete: a_check.py --\n", schemas.KindEdit, false},
		"other_language": {"-- app.src --\nb\n", schemas.KindEdit, false},
		"no_code":        {"-- README.md --\nx\n", schemas.KindEdit, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gitrepotest.New(t, "-- commit: Start --\n-- app.py --\nx = 1\n-- app.src --\na\n-- a_check.py --\ncheck\n-- commit: C --\n"+tc.after)
			for _, on := range []bool{true, false} {
				c := anyShape()
				c.Suite = on
				w := newWorld(t, dir, c)
				change := w.changes(t)[0]
				change.Kind = tc.kind
				start, err := w.link.Run(t.Context(), change)
				if got := err == nil; got != (tc.wants && on) {
					t.Fatalf("suite %t: %+v, %v", on, start, err)
				}
				if err == nil && (!start.WantsSuite() || start.StartTree != start.BaseTree || start.Patch == "") {
					t.Errorf("%+v", start)
				}
			}
		})
	}
}
