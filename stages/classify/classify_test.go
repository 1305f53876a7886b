package classify_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/classify"
)

var update = flag.Bool("update", false, "write the golden again")

const (
	feature     = schemas.LabelFeature
	improvement = schemas.LabelImprovement
	fix         = schemas.LabelFix
	other       = schemas.LabelOther
)

func titled(title string) schemas.Change { return schemas.Change{Subject: title} }

func bodied(title, body string) schemas.Change { return schemas.Change{Subject: title, Body: body} }

func noted(title, heading, text string) schemas.Change {
	return schemas.Change{Subject: title, Notes: []schemas.Note{{Heading: heading, Text: text, Form: schemas.NoteChangelog, Link: schemas.LinkDiff}}}
}

// changelog is a change with entries of its own.
func changelog(title, heading string, texts ...string) schemas.Change {
	c := schemas.Change{Subject: title}
	for _, text := range texts {
		c.Notes = append(c.Notes, schemas.Note{Heading: heading, Text: text, Form: schemas.NoteChangelog, Link: schemas.LinkDiff})
	}
	return c
}

// many is a change with the same entry in five places.
func many(title, text string) schemas.Change {
	c := schemas.Change{Subject: title}
	for range 5 {
		c.Notes = append(c.Notes, schemas.Note{Text: text, Form: schemas.NoteChangelog, Link: schemas.LinkNumber})
	}
	return c
}

func fragment(heading, path string) schemas.Change {
	return schemas.Change{Subject: "Widget", Notes: []schemas.Note{{Heading: heading, Text: "Widget.", Path: path, Form: schemas.NoteFragment, Link: schemas.LinkDiff}}}
}

func labelled(change schemas.Change) (schemas.Label, []schemas.LabelEvidence) {
	return byRules(classify.Rules{}, change, schemas.Start{})
}

func byRules(r classify.Rules, change schemas.Change, s schemas.Start) (schemas.Label, []schemas.LabelEvidence) {
	label, evidence, err := r.Decide(context.Background(), change, s)
	if err != nil {
		panic(err) // rules never fail
	}
	return label, evidence
}

var cases = map[string]struct {
	change schemas.Change
	want   schemas.Label
	rule   string // that the label rests on first; "" where there is none
}{
	"heading_added":            {noted("x", "Added", "Fixed a thing."), feature, "heading"},
	"heading_new":              {noted("x", "New Features:", "Fixed a thing."), feature, "heading"},
	"heading_emoji_words":      {noted("x", "🚀 Features", "Fixed a thing."), feature, "heading"},
	"heading_emoji_alone":      {noted("x", "✨", "Fixed a thing."), feature, "heading"},
	"heading_changed":          {noted("x", "Changed", "Added a thing."), improvement, "heading"},
	"heading_performance":      {noted("x", "⚡ Performance", "Added a thing."), improvement, "heading"},
	"heading_enhancements":     {noted("x", "**Enhancements**", "A thing."), improvement, "heading"},
	"heading_enhancements_new": {noted("x", "Enhancements:", "Add a thing."), feature, "heading"},
	"heading_fixed":            {noted("x", "Fixed", "Added a thing."), fix, "heading"},
	"heading_bugs":             {noted("x", "🐛 Bug Fixes", "Added a thing."), fix, "heading"},
	"heading_security":         {noted("x", "Security", "Added a thing."), fix, "heading"},
	"heading_docs":             {noted("x", "Documentation fixes", "Added a thing."), other, "heading"},
	"heading_internal":         {noted("x", "Internal improvements", "Added a thing."), other, "heading"},
	"heading_dependencies":     {noted("x", "Dependencies", "Added a thing."), other, "heading"},
	"heading_deprecations":     {noted("x", "Deprecations and Removals", "Added a thing."), other, "heading"},
	"heading_style":            {noted("x", "🎨 Style", "Added a thing."), other, "heading"},
	"heading_code_style":       {noted("x", "Code style", "Added a thing."), other, "heading"},
	"heading_of_a_style":       {noted("x", "Preview style", "Add an option."), feature, "note_words"},
	"heading_other":            {noted("x", "Other changes", "Added a thing."), other, "heading"},
	"heading_of_two_kinds":     {noted("x", "Improvements and bug fixes", "Fix a crash."), fix, "heading"},
	"heading_that_says_naught": {noted("x", "Changes", "Fix a crash."), fix, "note_words"},
	"heading_version":          {noted("x", "1.2.0 (2020-01-01)", "Add an option."), feature, "note_words"},
	"heading_by_number_second": {schemas.Change{Subject: "x", Notes: []schemas.Note{
		{Heading: "Fixed", Text: "a", Form: schemas.NoteChangelog, Link: schemas.LinkNumber},
		{Heading: "Added", Text: "b", Form: schemas.NoteChangelog, Link: schemas.LinkDiff},
	}}, feature, "heading"},
	"two_notes_words_decide": {schemas.Change{Subject: "Fix the crash", Notes: []schemas.Note{
		{Heading: "Added", Text: "b", Form: schemas.NoteChangelog, Link: schemas.LinkDiff},
		{Heading: "Fixed", Text: "a crash", Form: schemas.NoteChangelog, Link: schemas.LinkDiff},
	}}, fix, "heading"},
	"notes_of_a_feature_and_of_upkeep":      {changelog("x", "", "Implement format_map and removeprefix methods.", "Fix static typing of widgets."), feature, "note_words"},
	"notes_of_upkeep_and_of_a_feature":      {changelog("x", "", "Fix static typing of widgets.", "Implement format_map and removeprefix methods."), feature, "note_words"},
	"notes_of_an_improvement_and_of_upkeep": {changelog("x", "", "Tweak parsing.", "Remove widgets."), improvement, "note_words"},
	"notes_of_upkeep_and_a_fix":             {changelog("x", "", "Forbid widgets.", "Refactor widgets."), other, "note_words"},
	"heading_of_a_feature_beside_upkeep": {schemas.Change{Subject: "Refactor the documentation of tests", Notes: []schemas.Note{
		{Heading: "Internal", Text: "Cleanup of tests, docs", Form: schemas.NoteChangelog, Link: schemas.LinkDiff},
		{Heading: "Added", Text: "Widgets", Form: schemas.NoteChangelog, Link: schemas.LinkDiff},
	}}, feature, "heading"},
	"heading_of_upkeep_before_words": {noted("Add a widget", "Internal", "Add support for widgets."), other, "heading"},
	"upkeep_outweighs_a_word":        {titled("Refactor tests, now faster"), other, "title_words"},
	"words_never_outvote":            {many("✨ Widgets", "Fix the crash when a wrong widget was not there, properly."), feature, "gitmoji"},
	"entry_conventional":             {noted("x", "", "fix(api): add widgets"), fix, "entry_type"},
	"entry_emoji":                    {noted("x", "Changes", "✨ Fix widgets"), feature, "entry_type"},
	"entry_role_bug":                 {noted("x", "", ":bug:`12 major` Add widgets"), fix, "entry_type"},
	"entry_role_support":             {noted("x", "", ":support:`-` Add widgets"), other, "entry_type"},
	"entry_below_a_heading":          {noted("x", "Added", "fix: widgets"), feature, "heading"},
	"note_that_is_the_subject":       {schemas.Change{Subject: "Fix it", Notes: []schemas.Note{{Text: "Fix it", Form: schemas.NoteSubject, Link: schemas.LinkSelf}}}, fix, "title_words"},

	"fragment_feature":     {fragment("feature", "changes/12.feature.rst"), feature, "fragment_type"},
	"fragment_improvement": {fragment("improvement", "changes/12.improvement.rst"), improvement, "fragment_type"},
	"fragment_bugfix":      {fragment("bugfix", "changes/12.bugfix.rst"), fix, "fragment_type"},
	"fragment_misc":        {fragment("misc", "changes/12.misc.rst"), other, "fragment_type"},
	"fragment_doc":         {fragment("doc", "changes/12.doc.rst"), other, "fragment_type"},
	"fragment_removal":     {fragment("removal", "changes/12.removal.rst"), other, "fragment_type"},
	"fragment_breaking":    {fragment("breaking", "changes/12.breaking.rst"), other, ""},
	"fragment_by_name":     {fragment("", "changes/12.bugfix.1.rst"), fix, "fragment_type"},
	"fragment_by_orphan":   {fragment("", "news/+thing.feature.md"), feature, "fragment_type"},
	"fragment_by_folder":   {fragment("", "changelog.d/fix/12.md"), fix, "fragment_type"},

	"commit_feat":         {titled("feat: remove the widget"), feature, "conventional_commit"},
	"commit_feat_scope":   {titled("feat(api)!: fix widgets"), feature, "conventional_commit"},
	"commit_capital":      {titled("Feat: fix widgets"), feature, "conventional_commit"},
	"commit_fix":          {titled("Fix: add support for widgets"), fix, "conventional_commit"},
	"commit_perf":         {titled("perf: add a cache"), improvement, "conventional_commit"},
	"commit_refactor":     {titled("refactor: add a cache"), other, "conventional_commit"},
	"commit_docs":         {titled("docs: add a page"), other, "conventional_commit"},
	"commit_chore":        {titled("chore(deps): add a thing"), other, "conventional_commit"},
	"commit_ci":           {titled("ci: add a thing"), other, "conventional_commit"},
	"commit_test":         {titled("test: add a thing"), other, "conventional_commit"},
	"commit_build":        {titled("build: add a thing"), other, "conventional_commit"},
	"commit_style":        {titled("style: add a thing"), other, "conventional_commit"},
	"commit_revert":       {titled("revert: add a thing"), fix, "conventional_commit"},
	"commit_fix_of_ci":    {titled("fix(ci): add a thing"), other, "conventional_commit"},
	"commit_bracketed":    {titled("[feat] a thing"), feature, "conventional_commit"},
	"commit_in_a_merge":   {bodied("Merge pull request #3 from a/b", "feat: a thing\n\nText."), feature, "conventional_commit"},
	"no_commit_type":      {titled("dev: allow columns to be set"), feature, "title_words"},
	"no_commit_type_path": {titled("assert.JSONEq: shortcut if same strings are faster"), improvement, "title_words"},
	"gitmoji":             {titled("✨ a thing"), feature, "gitmoji"},
	"gitmoji_code":        {titled(":bug: add a thing"), fix, "gitmoji"},
	"gitmoji_and_type":    {titled("🐛 fix(api): add a thing"), fix, "conventional_commit"},
	"type_and_gitmoji":    {titled("feat: ⚡️ a thing"), feature, "conventional_commit"},
	"gitmoji_of_upkeep":   {titled("♻️ add a thing"), other, "gitmoji"},

	"box_feature":           {bodied("Fix a thing", "- [ ] Bug fix\n- [x] New feature (non-breaking change)\n"), feature, "template"},
	"box_fix":               {bodied("Add a thing", "* [X] 🐛 Bugfix\n* [ ] ✨ Feature\n"), fix, "template"},
	"box_docs":              {bodied("Add a thing", "- [ ] Bug fix\n- [x] Documentation\n"), other, "template"},
	"box_of_a_checklist":    {bodied("Add a thing", "- [x] Documentation\n- [x] Tests\n"), feature, "title_words"},
	"box_that_claims":       {bodied("Add a thing", "- [x] Fix has tests added\n- [x] I have added tests\n"), feature, "title_words"},
	"boxes_all_empty":       {bodied("Add a thing", "- [ ] Bug fix\n- [ ] Feature\n"), feature, "title_words"},
	"trailer_type":          {bodied("Fix a thing", "Text.\n\nType: feature\n"), feature, "trailer"},
	"trailer_labels":        {bodied("Add a thing", "Labels: bug, core"), fix, "trailer"},
	"trailer_gitlab":        {bodied("Add a thing", "Changelog: performance"), improvement, "trailer"},
	"trailer_kind":          {bodied("Add a thing", "/kind bug"), fix, "trailer"},
	"trailer_is_a_sentence": {bodied("Add a thing", "Type: it fixes what the other one broke and more"), feature, "title_words"},

	"add":                  {titled("Add a widget"), feature, "title_words"},
	"support":              {titled("Support widgets"), feature, "title_words"},
	"allow":                {titled("Allowed widgets in lists"), feature, "title_words"},
	"implement":            {titled("Implementing widgets"), feature, "title_words"},
	"introduce":            {titled("Introduces widgets"), feature, "title_words"},
	"expose":               {titled("Exposed the widget"), feature, "title_words"},
	"accept":               {titled("accepts widgets"), feature, "title_words"},
	"enable":               {titled("Enable widgets"), feature, "title_words"},
	"now_possible":         {titled("It is now possible to nest widgets"), feature, "title_words"},
	"improve":              {titled("Improve the widget"), improvement, "title_words"},
	"speed_up":             {titled("Speed up parsing"), improvement, "title_words"},
	"optimise":             {titled("Optimised parsing"), improvement, "title_words"},
	"optimize":             {titled("optimize parsing"), improvement, "title_words"},
	"simplify":             {titled("Simplify the widget"), improvement, "title_words"},
	"make_faster":          {titled("Make widgets faster"), improvement, "title_words"},
	"better_message":       {titled("Better error message for widgets"), improvement, "title_words"},
	"fix":                  {titled("Fixes the widget"), fix, "title_words"},
	"correct":              {titled("Correct the widget"), fix, "title_words"},
	"prevent":              {titled("Prevent widgets in lists"), fix, "title_words"},
	"handle":               {titled("Handle empty widgets"), fix, "title_words"},
	"avoid":                {titled("Avoid widgets"), fix, "title_words"},
	"dont":                 {titled("Don't add widgets"), fix, "title_words"},
	"crash":                {titled("Crash on empty widgets"), fix, "title_words"},
	"revert":               {titled(`Revert "Add widgets" (#12) (#13)`), fix, "title_words"},
	"bump":                 {titled("Bump widgets to 3"), other, "title_words"},
	"update_deps":          {titled("Update dependencies"), other, "title_words"},
	"typo":                 {titled("Fix typo"), other, "title_words"},
	"typo_in":              {titled("Fix a small typo in the parser"), other, "title_words"},
	"lint":                 {titled("lint"), other, "title_words"},
	"docs":                 {titled("Improve documentation of widgets"), other, "title_words"},
	"tests":                {titled("Add more tests"), other, "title_words"},
	"fixed_up_tests":       {titled("Fixed up pausing tests"), other, "title_words"},
	"make_configurable":    {titled("Make the back-off configurable"), feature, "title_words"},
	"trap_missing_check":   {titled("Add missing check"), fix, "title_words"},
	"trap_missing_hints":   {titled("Add missing type hints"), other, "title_words"},
	"trap_broken_support":  {titled("Support for x was broken"), fix, "title_words"},
	"trap_fixes_a_number":  {titled("Allow None as a widget (fixes #12)"), feature, "title_words"},
	"trap_closes_a_number": {bodied("Add widgets", "Fixes #12, closes #13, a bug"), feature, "title_words"},
	"trap_regression_test": {titled("Added regression test"), other, "title_words"},
	"trap_url":             {titled("Add widgets https://bugs.example.org/broken"), feature, "title_words"},
	"trap_thanks":          {noted("x", "", "Add widgets. Thanks to @fix for the crash."), feature, "note_words"},
	"trap_leading_number":  {noted("x", "", "[#12] - Add widgets"), feature, "note_words"},
	"trap_markup":          {noted("x", "", "* **Add** widgets"), feature, "note_words"},
	"note_before_title":    {noted("Fix tests", "", "Added an option to nest widgets."), feature, "note_words"},
	"branch":               {bodied("Merge pull request #1 from a/fix-widget", ""), fix, "branch"},
	"branch_of_a_merge":    {titled("Merge branch 'feature/widget'"), feature, "branch"},
	"heads_all":            {noted("x", "What's Changed", "Fix widgets."), fix, "note_words"},
	"heads_all_of_new":     {noted("x", "What's New", "Fix widgets."), fix, "note_words"},
	"heading_over_upkeep":  {noted("x", "Improvements", "xlsx export: remove redundant code"), other, "upkeep_below_heading"},
	"heading_over_bugfix":  {noted("x", "Improvements", "kgo bugfix: a data race at the end"), fix, "bugfix_below_heading"},
	"swap_by_use":          {titled("Use the standard parser"), other, "title_words"},
	"maintenance_branch":   {many("Merge branch '2.3.x'", "Added widgets."), other, "merge_of_maintenance"},
	"maintenance_stable":   {many("Merge branch 'stable'", "Added widgets."), other, "merge_of_maintenance"},
	"integration_tests":    {titled("Add SQS & SNS integration tests"), other, "title_words"},
	"more_cleanup":         {titled("More resource cleanup"), other, "title_words"},
	"swap":                 {titled("Replace own parser by the standard one"), other, "title_words"},
	"swap_with_a_note":     {noted("Replace the parser", "", "Replace the parser: it is twice as fast."), improvement, "note_words"},
	"refactor_that_adds":   {titled("refactor(context): add an optional permission parameter"), feature, "title_words"},
	"refactor_of_tests":    {titled("refactor(tests): add a helper"), other, "conventional_commit"},
	"squash_typed":         {bodied("Widgets (#4)", "* feat: nest widgets\n* chore: lint"), feature, "commit_line"},
	"squash_words":         {bodied("Widgets (#4)", "* Add nested widgets\n* fix lint"), feature, "commit_line"},
	"sentence_below":       {bodied("Widgets", "This PR adds nested widgets."), feature, "commit_line"},
	"nothing":              {titled("Widgets"), other, ""},
	"nothing_at_all":       {titled(""), other, ""},
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, evidence := labelled(c.change)
			rule := ""
			if len(evidence) > 0 && evidence[0].Label == got {
				rule = evidence[0].Rule
			}
			if got != c.want || rule != c.rule {
				t.Errorf("%s by %q, want %s by %q: %+v", got, rule, c.want, c.rule, evidence)
			}
		})
	}
}

// TestEvidenceGolden shows all evidence of each case, for review.
func TestEvidenceGolden(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range cases {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		label, evidence := labelled(cases[name].change)
		fmt.Fprintf(&b, "%s: %s\n", name, label)
		for _, e := range evidence {
			fmt.Fprintf(&b, "  %4d %-11s %s %q\n", e.Weight, e.Label, e.Rule, e.Quote)
		}
	}
	const golden = "testdata/evidence.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTraces: what is found in the code tips the balance, and no more.
func TestTraces(t *testing.T) {
	t.Parallel()
	start := func(added ...string) schemas.Start {
		return schemas.Start{Functions: schemas.FunctionEdits{Added: added}, Sizes: schemas.Sizes{SourceFiles: 1, SourceAdded: 40}}
	}
	for name, v := range map[string]struct {
		title string
		start schemas.Start
		want  schemas.Label
	}{
		"exported_python": {"Widgets", start("src/a.py::C.m"), feature},
		"private_python":  {"Widgets", start("src/a.py::C._m", "src/_a.py::f", "src/_p/a.py::f"), other},
		"exported_go":     {"Widgets", start("a.go::f", "a.go::T.M"), feature},
		"private_go":      {"Widgets", start("a.go::t.M", "a.go::T.m"), other},
		"words_go_before": {"Fix widgets", start("src/a.py::C.m"), fix},
		"few_lines":       {"Widgets", schemas.Start{Sizes: schemas.Sizes{SourceFiles: 1, SourceAdded: 2}}, fix},
		"many_lines":      {"Widgets", schemas.Start{Sizes: schemas.Sizes{SourceFiles: 1, SourceAdded: 200}}, feature},
	} {
		if got, evidence := byRules(classify.Rules{}, titled(v.title), v.start); got != v.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, v.want, evidence)
		}
	}
}

// blobs are diffs by digest.
type blobs map[schemas.Digest]string

func (b blobs) Get(d schemas.Digest) ([]byte, error) {
	text, ok := b[d]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return []byte(text), nil
}

// TestDiffs: parameters and tests that a change adds speak where its words do not.
func TestDiffs(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]struct {
		code, tests string
		want        schemas.Label
		rule        string
	}{
		"parameter":           {"-def show(a, b):\n+def show(a, b, colour=None):\n", "", feature, "new_parameter"},
		"parameter_go":        {"-func Show(a string) {\n+func Show(a string, perm ...int) {\n", "", feature, "new_parameter"},
		"annotation":          {"-def show(a, b):\n+def show(a: dict[str, Any], b: tuple[int, str]):\n", "", other, ""},
		"renamed":             {"-def show(a, b):\n+def show(a, c):\n", "", other, ""},
		"private_go":          {"-func show(a string) {\n+func show(a string, b int) {\n", "", other, ""},
		"private":             {"-def _show(a):\n+def _show(a, b):\n", "", other, ""},
		"new_as_a_whole":      {"+def show(a, b):\n", "", other, ""},
		"test_of_support":     {"", "+def test_supports_nested_widgets():\n", feature, "new_test"},
		"test_of_an_issue":    {"", "+func TestIssue12(t *testing.T) {\n", fix, "new_test"},
		"test_without_a_kind": {"", "+def test_widgets():\n", other, ""},
	} {
		start := schemas.Start{Patch: "code", TestPatch: "tests"}
		got, evidence := byRules(classify.Rules{Diffs: blobs{"code": v.code, "tests": v.tests}}, titled("Widgets"), start)
		rule := ""
		if len(evidence) > 0 {
			rule = evidence[0].Rule
		}
		if got != v.want || rule != v.rule {
			t.Errorf("%s: %s by %q, want %s by %q", name, got, rule, v.want, v.rule)
		}
	}
	if _, _, err := (classify.Rules{Diffs: blobs{}}).Decide(t.Context(), titled("Widgets"), schemas.Start{Patch: "gone"}); err == nil {
		t.Error("a diff that cannot be read: no error")
	}
}

// TestTie: a label that won by the order of labels alone says so where it rejects.
func TestTie(t *testing.T) {
	t.Parallel()
	c, err := classify.New(changes{"acme__widget-1": titled("Widgets")}, blobs{"code": "", "tests": "+def test_supports_x():\n+def test_y():\n"}, classify.Default())
	if err != nil {
		t.Fatal(err)
	}
	start := schemas.Start{ChangeID: "acme__widget-1", Patch: "code", TestPatch: "tests", Sizes: schemas.Sizes{SourceFiles: 1, SourceAdded: 2}}
	if _, err := c.Run(t.Context(), start); err != nil {
		t.Errorf("12 for a feature, 10 for a fix: %v", err)
	}
	start.Functions.Added = []string{"a.py::f"}
	start.Patch, start.TestPatch = "", ""
	var no *pipeline.Rejected
	if _, err = c.Run(t.Context(), start); !errors.As(err, &no) || !strings.Contains(no.Error(), "as much speaks for feature") {
		t.Errorf("10 for each: %v", err)
	}
}

func TestHideHeadings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]schemas.Change{
		"heading": noted("Widgets", "Fixed", "Add widgets."), "commit": titled("fix: add widgets"), "emoji": titled("🐛 add widgets"),
		"fragment": {Subject: "Widgets", Notes: []schemas.Note{{Heading: "bugfix", Path: "news/1.bugfix.md", Text: "Add widgets.", Form: schemas.NoteFragment, Link: schemas.LinkDiff}}},
		"role":     noted("Widgets", "", ":bug:`1` Add widgets"),
		"entry":    noted("Widgets", "Fixed", "🐛 fix(api): add widgets"),
	} {
		if got, evidence := byRules(classify.Rules{HideHeadings: true}, change, schemas.Start{}); got != feature || evidence[0].Weight >= 100 {
			t.Errorf("%s: %s by %+v, want the words to decide", name, got, evidence)
		}
	}
}

type changes map[string]schemas.Change

func (c changes) Change(id string) (schemas.Change, error) {
	change, ok := c[id]
	if !ok {
		return change, errors.New("no such change")
	}
	return change, nil
}

func TestRun(t *testing.T) {
	t.Parallel()
	known := changes{"acme__widget-1": noted("x", "Added", "Widgets."), "acme__widget-2": titled("fix: a crash"), "acme__widget-3": titled("Widgets")}
	c, err := classify.New(known, nil, classify.Default())
	if err != nil {
		t.Fatal(err)
	}
	start := schemas.Start{ChangeID: "acme__widget-1", Repo: "acme/widget"}
	got, err := c.Run(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	want := schemas.Labelled{StartID: start.ChangeID, Start: schemas.DigestOf(start), Label: feature, Provider: "rules",
		Evidence: []schemas.LabelEvidence{{Label: feature, Rule: "heading", Quote: "Added", Weight: 1000}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for id, detail := range map[string]string{"acme__widget-2": `fix: conventional_commit "fix:"`, "acme__widget-3": "other: nothing says what it is"} {
		_, err := c.Run(t.Context(), schemas.Start{ChangeID: id})
		var rejected *pipeline.Rejected
		if !errors.As(err, &rejected) || rejected.Reason != schemas.OtherLabel || rejected.Detail() != detail {
			t.Errorf("%s: %v, want %s: %s", id, err, schemas.OtherLabel, detail)
		}
	}
	var rejected *pipeline.Rejected
	if _, err := c.Run(t.Context(), schemas.Start{ChangeID: "acme__widget-9"}); err == nil || errors.As(err, &rejected) {
		t.Errorf("a change that is not there: %v", err)
	}
}

// decider answers with one piece of evidence of its own weight, and counts the questions.
type decider struct {
	name   string
	label  schemas.Label
	weight int
	err    error
	asked  *int
}

func (d decider) Provider() string { return d.name }

func (d decider) Decide(context.Context, schemas.Change, schemas.Start) (schemas.Label, []schemas.LabelEvidence, error) {
	*d.asked++
	return d.label, []schemas.LabelEvidence{{Label: d.label, Rule: d.name, Quote: "q", Weight: d.weight}}, d.err
}

// TestDeciders: others are asked only about what rests on nothing explicit.
func TestDeciders(t *testing.T) {
	t.Parallel()
	down := errors.New("model is down")
	for _, tc := range []struct {
		name   string
		change schemas.Change
		others []decider
		label  schemas.Label
		by     string
		asked  int
		err    error
	}{
		{"explicit_needs_nobody", noted("x", "Added", "Widgets."), []decider{{name: "m", label: fix}}, feature, "rules", 0, nil},
		{"heaviest_word_is_not_explicit", titled("Add a widget"), []decider{{name: "m", label: fix}}, fix, "m", 1, nil},
		{"nothing_said", titled("Widgets"), []decider{{name: "m", label: improvement}}, improvement, "m", 1, nil},
		{"first_that_decides_holds", titled("Widgets"), []decider{{name: "m", label: improvement}, {name: "n", label: fix}}, improvement, "m", 1, nil},
		{"undecided_asks_the_next", titled("Widgets"), []decider{{name: "m", err: classify.ErrUndecided}, {name: "n", label: fix}}, fix, "n", 2, nil},
		{"no_answer_is_no_label", titled("Widgets"), []decider{{name: "m", label: improvement, err: down}}, "", "", 1, down},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			var others []classify.Decider
			for _, d := range tc.others {
				d.asked = &asked
				others = append(others, d)
			}
			c, err := classify.New(changes{"id": tc.change}, nil, classify.Config{Labels: schemas.Labels}, others...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Run(t.Context(), schemas.Start{ChangeID: "id"})
			if got.Label != tc.label || got.Provider != tc.by || asked != tc.asked || !errors.Is(err, tc.err) {
				t.Errorf("%q by %q, asked %d times, %v; want %q by %q, %d times, %v", got.Label, got.Provider, asked, err, tc.label, tc.by, tc.asked, tc.err)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		labels []schemas.Label
		want   string
	}{"default": {classify.Default().Labels, ""}, "all": {schemas.Labels, ""}, "none": {nil, "empty"}, "unknown": {[]schemas.Label{"feature", "bug"}, `"bug" is not one of feature, improvement, fix, other`}} {
		_, err := classify.New(nil, nil, classify.Config{Labels: c.labels})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzLabel: whatever is written, there is one of the labels, with its evidence first.
func FuzzLabel(f *testing.F) {
	f.Add("feat(x)!: y", "- [x] Bug fix\nType: feature", "Added", "* **New** :func:`x` (#1)")
	f.Add("Merge pull request #1 from a/fix-b", "\n", "✨", "[#1](x) [")
	f.Add("🐛", "", "", "")
	f.Fuzz(func(t *testing.T, subject, body, heading, text string) {
		change := schemas.Change{Subject: subject, Body: body, Notes: []schemas.Note{{Heading: heading, Text: text, Path: text, Form: schemas.NoteFragment, Link: schemas.LinkDiff}}}
		label, evidence := labelled(change)
		again, same := labelled(change)
		if label != again || !cmp.Equal(evidence, same) {
			t.Fatal("two answers for one change")
		}
		if !slices.Contains(schemas.Labels, label) {
			t.Fatalf("label %q", label)
		}
		if label != other && (len(evidence) == 0 || evidence[0].Label != label) {
			t.Fatalf("%s rests on nothing: %+v", label, evidence)
		}
	})
}

// Labels of a pull request are what maintainers wrote down; its title and text stand for the
// commit's.
func TestPull(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		pull schemas.Pull
		want schemas.Label
		rule string
	}{
		{"label", schemas.Pull{Title: "Reader", Labels: []string{"area: io", "bug"}}, schemas.LabelFix, "pull_label"},
		{"feature", schemas.Pull{Title: "Reader", Labels: []string{"feature request"}}, schemas.LabelFeature, "pull_label"},
		{"title", schemas.Pull{Title: "feat: read ahead"}, schemas.LabelFeature, "conventional_commit"},
	} {
		got, evidence := byRules(classify.Rules{}, schemas.Change{Subject: "Merge pull request #1 from a/b", Body: "Rework", Pull: &tc.pull}, schemas.Start{})
		if got != tc.want || len(evidence) == 0 || evidence[0].Rule != tc.rule {
			t.Errorf("%s: %s, %+v", tc.name, got, evidence)
		}
	}
}
