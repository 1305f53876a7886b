package changelog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/changelog"
)

// show is one line an entry: where, of which version, below which heading, what,
// and what it points at ("!" before a number that it says it is of).
func show(entries []changelog.Entry) string {
	var out strings.Builder
	for _, e := range entries {
		version := e.Version
		if e.Released {
			version += "*"
		}
		fmt.Fprintf(&out, "%d [%s] [%s] %q", e.Line, version, e.Heading, e.Text)
		for _, r := range e.References {
			fmt.Fprintf(&out, " %s", r.Text)
		}
		if len(e.Named) > 0 {
			fmt.Fprintf(&out, " of %v", e.Named)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Each file of testdata is an archive: a changelog under its own name, and "want",
// what is read from it.
func TestForms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			reader := changelog.NewReader("acme/widget", string(in.Data))
			got := show(reader.Parse(in.Name, string(in.Data)))
			if changelog.IsFragment(in.Name) {
				got = show(reader.Fragment(in.Name, string(in.Data)))
			}
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	const own, other = "https://forge.example/acme/widget", "https://forge.example/acme/gadget"
	for name, c := range map[string]struct{ text, want string }{
		"hash":                  {"Fix it (#12).", "12:#12"},
		"several":               {"Fix it (#12, #13/#14).", "12:#12 13:#13 14:#14"},
		"gh":                    {"GH-12, gh-13 and (gh-14)", "12:GH-12 13:gh-13 14:gh-14"},
		"bang":                  {"Fix it (!12), see !13", "12:!12 13:!13"},
		"words":                 {"Fix it (PR 12). Pull request #13, issue 14", "12:PR 12 13:#13 14:issue 14"},
		"url":                   {"Fix it " + own + "/pull/12", "12:" + own + "/pull/12"},
		"url_ends_sentence":     {"See " + own + "/issues/12.", "12:" + own + "/issues/12"},
		"url_with_anchor":       {"See " + own + "/issues/12#issuecomment-99", "12:" + own + "/issues/12#issuecomment-99"},
		"url_of_gitlab":         {"See " + own + "/-/merge_requests/12", "12:" + own + "/-/merge_requests/12"},
		"markdown_link":         {"Fix it ([#12](" + own + "/pull/12)).", "12:#12"},
		"link_with_words":       {"Fix [the thing](" + own + "/pull/12).", "12:" + own + "/pull/12"},
		"markdown_name":         {"Fix it ([#12]).", "12:#12"},
		"rest_link":             {"Fix it (`#12 <" + own + "/pull/12>`_).", "12:#12"},
		"rest_link_anonymous":   {"Fix it `(#12) <" + own + "/pull/12>`__", "12:#12"},
		"rest_name":             {"fix `#12`_: more, and #13_.", "12:#12 13:#13"},
		"rest_role":             {"Fix it. :pr:`12` :issue:`13` :ghpull:`14` :gh:`15`", "12::pr:`12` 13::issue:`13` 14::ghpull:`14` 15::gh:`15`"},
		"myst_role":             {"Fix it. {pr}`12`, {issue}`#13`", "12:{pr}`12` 13:{issue}`#13`"},
		"role_with_title":       {"Fix it. :pr:`the fix <12>`", "12::pr:`the fix <12>`"},
		"own_name":              {"Fix acme/widget#12", "12:acme/widget#12"},
		"commit":                {"Fix it (1a2b3c4)", "1a2b3c4"},
		"commit_in_code":        {"Fix it (`1a2b3c4`)", "1a2b3c4"},
		"commit_link":           {"Fix it ([1a2b3c4](" + own + "/commit/1a2b3c4d5e6f7081920a1b2c3d4e5f6071829304))", "1a2b3c4d5e6f7081920a1b2c3d4e5f6071829304"},
		"commit_first":          {"1a2b3c4: Fix it", "1a2b3c4"},
		"conventional":          {"**cli:** fix it ([#12](" + own + "/issues/12)) ([1a2b3c4](" + own + "/commit/1a2b3c4))", "12:#12 1a2b3c4"},
		"compare":               {own + "/compare/v1.0...v1.1", own + "/compare/v1.0...v1.1"},
		"once":                  {"#12 and #12 and " + own + "/pull/12", "12:#12"},
		"moved":                 {"Fix it (https://forge.example/founder/widget/pull/12)", "12:https://forge.example/founder/widget/pull/12"},
		"other_repository":      {"Fix acme/gadget#12 and widget#13", ""},
		"other_url":             {"See " + other + "/pull/12 and [#13](" + other + "/pull/13) and `#14 <" + other + "/issues/14>`_", ""},
		"other_by_name":         {"See [#99]", ""},
		"colour":                {"The default color: #333, background #112233, and #0af #12ab", ""},
		"entity":                {"It&#39;s done, C#7, foo#bar, /path/#12", ""},
		"code":                  {"Run `fix #12` and ``more #13``, `1a2b3c4`", ""},
		"other_trackers":        {"bpo-39057, CVE-2026-25645, PEP 517, :pep:`8`, :rfc:`2616`, :user:`12`", ""},
		"hex_words":             {"(defaced) facade1 in 20240101 (1234567) and 1a2b3c4 alone", ""},
		"zero_and_versions":     {"#0 v1.2 1.2.3#4 #1234567890", ""},
		"anchor":                {"[above](#12)", ""},
		"placeholder_and_title": {"#hashtag #1st # 12", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := changelog.NewReader("acme/widget", strings.Repeat("https://forge.example/founder/widget/issues/1\n", 5))
			var got []string
			for _, r := range reader.References(c.text, map[string]string{"#99": other + "/pull/99", "#12": own + "/pull/12"}) {
				switch {
				case r.Number != 0:
					got = append(got, fmt.Sprintf("%d:%s", r.Number, r.Text))
				case r.Commit != "":
					got = append(got, r.Commit)
				default:
					got = append(got, r.Text)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

// A repository without an owner is whom its own changelog links to.
func TestLocalName(t *testing.T) {
	t.Parallel()
	sample := "https://forge.example/a/b/pull/1 https://forge.example/a/b/pull/2 https://forge.example/x/y/pull/3"
	r := changelog.NewReader("local/repo", sample)
	if got := r.References(sample, nil); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"#12: fix it":                              {12},
		"Fix it. (#12)":                            {12},
		"Fix it (#12, #13). Thanks to @ann":        {12, 13},
		"Fix it (:issue:`12`; PR by @ann)":         {12},
		"Fix what #11 broke (#12)":                 {12},
		"Broken by {pr}`11`. {issue}`12` {pr}`13`": {12, 13},
		"Completes #11 for the last type (#12)":    {12},
		"Fix it":                                   nil,
		"After #11 the thing works":                {11}, // the only one
		"After #11 and before #12 the thing works": nil,
	} {
		got := changelog.NewReader("acme/widget").Parse("CHANGES.md", "# 1.0\n\n- "+text+"\n")
		if len(got) != 1 {
			t.Errorf("%s: %d entries", text, len(got))
		} else if diff := cmp.Diff(want, got[0].Named); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"CHANGELOG.md": "log", "CHANGES": "log", "CHANGES.txt": "log", "HISTORY.rst": "log", "NEWS": "log", "NEWS.md": "log", "ChangeLog": "log",
		"docs/changelog.rst": "log", "docs/versionhistory.rst": "log", "packages/core/CHANGELOG.md": "log", "RELEASE_NOTES.md": "log", "CHANGELOG-1.x.md": "log",
		"docs/releases/4.2.txt": "log", "doc/whatsnew/v1.2.rst": "log", "CHANGES.old": "",
		"news/123.bugfix.rst": "fragment", "newsfragments/+odd.feature.md": "fragment", "changelog.d/1564.change.md": "fragment", "changelog/186.doc.rst": "fragment",
		"docs/changelog/705.bugfix.2.rst": "fragment", "news/123.bugfix": "fragment", ".changeset/wild-cats-jump.md": "fragment", ".changes/unreleased/Added-20240101.yaml": "fragment",
		"doc/release/upcoming_changes/123.new_feature.rst": "fragment", "releasenotes/notes/fix-it-1a2b.yaml": "fragment", "changes/core/123.feature.rst": "fragment",
		"RELEASE.md": "fragment", "docs/RELEASE.md": "",
		"changelog.d/README.md": "", "changelog/README.rst": "", "changelog/_template.rst": "", "news/.gitignore": "", "newsfragments/template.jinja": "", "changelog.d/towncrier_template.rst": "",
		"news/index.md": "", "docs/news/holiday.md": "", "src/history.py": "", "src/changes/apply.go": "", "history/views.py": "", "tests/changelog.md": "",
		"vendor/x/CHANGELOG.md": "", "changelog.py": "", "latest/news.go": "", "exchange.md": "", "changelog.html": "",
	} {
		got := ""
		switch {
		case changelog.IsLog(path):
			got = "log"
		case changelog.IsFragment(path):
			got = "fragment"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	got := show(changelog.NewReader("acme/widget").Message("v1.2.0\n\nNotable changes:\n\n * Fix it (#12)\n   for good\n * Add that\n\nThanks to all!\n"))
	want := "5 [] [Notable changes] \"Fix it (#12) for good\" #12 of [12]\n7 [] [Notable changes] \"Add that\"\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	a := changelog.Words("Fix `thing` in\n  [docs](https://forge.example/x) (#12) by @ann")
	b := changelog.Words("Fix ``thing`` in `docs <https://forge.example/y>`_ :pr:`13`")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-markdown +reST):\n%s", diff)
	}
	if l := changelog.Likeness(a, []string{"fix", "other"}); l <= 0 || l >= 0.6 {
		t.Errorf("likeness %v", l)
	}
}

// Texts that would cost more than their size are bounded: by what is read of them.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := changelog.NewReader("o/n")
	for name, text := range map[string]string{
		"aliases":  "feature:\n  - &a Add a thing\n  - *a\n",
		"brackets": "feature: [Add a thing]\nx: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n",
		"long":     "feature: [Add a thing]\n" + strings.Repeat("# a line of no use at all\n", 2000),
	} {
		if got := r.Fragment("changelogs/fragments/1.yaml", text); len(got) > 0 {
			t.Errorf("%s: %s", name, show(got))
		}
	}
	if got := r.Fragment("changelogs/fragments/1.yaml", "feature:\n  - Add a thing\n"); len(got) != 1 {
		t.Errorf("a fragment as people write it: %s", show(got))
	}
	// Bullets that are each indented deeper than the one above.
	stairs := "# 1.0\n\n"
	for i := range 40 {
		stairs += strings.Repeat("  ", i) + fmt.Sprintf("- Bullet %d\n", i)
	}
	got := r.Parse("CHANGELOG.md", stairs)
	deepest := 0
	for line := range strings.SplitSeq(got[0].Text, "\n") {
		deepest = max(deepest, (len(line)-len(strings.TrimLeft(line, " ")))/2)
	}
	if len(got) != 1 || deepest > 15 || !strings.Contains(got[0].Text, "Bullet 39") {
		t.Errorf("%d levels: %s", deepest, show(got))
	}
}
