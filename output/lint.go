package output

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/screen"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

// The rules of a row.
const (
	RuleID        Rule = "instance_id"
	RuleField     Rule = "field"
	RuleLists     Rule = "lists"
	RulePatch     Rule = "patch"
	RuleParts     Rule = "parts"
	RuleFairness  Rule = "fairness"
	RuleLeak      Rule = "leak"
	RuleSecret    Rule = "secret"
	RuleHost      Rule = "host_path"
	RuleStatement Rule = "statement"
	RuleLabel     Rule = "label"
	RuleReviews   Rule = "reviews"
)

var (
	commitShape = lazyregexp.New(`^[0-9a-f]{40}$`)
	// hostPath: homes of people and of root; /home/tester is the sandbox's own.
	hostPath = lazyregexp.New(`(^|[^A-Za-z0-9._/-])(/root/|/Users/[a-z]|/home/([a-su-z]|t[a-df-z]))[^"\s]*`)
)

// Lint is every rule that a row must keep by itself, those of its kind among them. It
// is pure: check, export and the release gate share it.
func Lint(r Row) []Finding { return layouts[0].lint(r) }

// lint is Lint for a row that was read from a folder of another format.
func (f layout) lint(r Row) []Finding {
	l := linter{row: r, layout: f}
	k, known := kindOf(r.Benchmint.Kind)
	l.kind = k
	l.fields()
	l.lists()
	l.patches()
	l.fairness()
	l.unlisted()
	l.text()
	l.adequacy()
	l.suite()
	l.figures()
	l.reviews()
	if !known && r.Benchmint.Kind != "" {
		l.add(RuleField, "kind is %q, which no rule is known for", r.Benchmint.Kind)
	}
	for _, rule := range k.lints {
		rule(&l)
	}
	return l.findings
}

type linter struct {
	row      Row
	kind     kind
	layout   layout
	findings []Finding
}

func (l *linter) add(rule Rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{Instance: l.row.InstanceID, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) fields() {
	r, e := l.row, l.row.Benchmint
	if _, err := schemas.ParseInstanceID(r.InstanceID); err != nil {
		l.add(RuleID, "%v", err)
	}
	for _, f := range []struct{ key, value string }{
		{"repo", r.Repo}, {"patch", r.Patch}, {"problem_statement", r.ProblemStatement}, {"version", r.Version},
		{"language", e.Language}, {"kind", string(e.Kind)}, {"report", e.Report}, {"sandbox", e.Sandbox}, {"deps_from", e.DepsFrom},
		{"pinning", string(e.Pinning)}, {"statement_from", e.StatementFrom}, {"statement_provider", e.StatementProvider},
		{"toolchain.version", e.Toolchain.Version},
	} {
		if strings.TrimSpace(f.value) == "" {
			l.add(RuleField, "%s is empty", f.key)
		}
	}
	for _, f := range []struct{ key, value string }{
		{"base_commit", r.BaseCommit}, {"environment_setup_commit", r.EnvironmentSetupCommit},
		{"trees.base", e.Trees.Base}, {"trees.start", e.Trees.Start}, {"trees.solution", e.Trees.Solution},
	} {
		if !commitShape.MatchString(f.value) {
			l.add(RuleField, "%s is %q, not 40 hex digits", f.key, f.value)
		}
	}
	for _, f := range []struct {
		key   string
		value schemas.Digest
	}{{"environment", e.Environment}, {"image_key", e.ImageKey}, {"base_archive", e.BaseArchive}, {"identity", e.Identity}} {
		if !digestShape.MatchString(string(f.value)) {
			l.add(RuleField, "%s is %q, not a digest", f.key, f.value)
		}
	}
	if t, err := time.Parse(createdAt, r.CreatedAt); err != nil || t.Location() != time.UTC {
		l.add(RuleField, "created_at is %q, not RFC 3339 in UTC with milliseconds (without, readers of JSON make another text of it)", r.CreatedAt)
	}
	if want := version(e.BaseRelease); r.Version != want {
		l.add(RuleField, "version is %q; base_release makes %q", r.Version, want)
	}
	if len(e.Test) == 0 {
		l.add(RuleField, "test is empty: no test command")
	}
}

func (l *linter) lists() {
	r, e := l.row, l.row.Benchmint
	if len(r.FailToPass) == 0 {
		l.add(RuleLists, "FAIL_TO_PASS is empty: SWE-bench's grader takes that for resolved")
	}
	seen := map[string]string{}
	var bound []string
	if e.Clock != nil {
		bound = slices.Sorted(maps.Keys(e.Clock.Tests))
	}
	for _, list := range []struct {
		key string
		ids []string
	}{
		{"FAIL_TO_PASS", r.FailToPass}, {"PASS_TO_PASS", r.PassToPass}, {"skip_to_pass", e.SkipToPass},
		{"quarantined", e.Quarantined}, {"vanished", e.Vanished}, {"unstable_ids", e.UnstableIDs},
		{"solution_file", e.SolutionFile}, {"solution_name", e.SolutionName}, {"clock.tests", bound},
	} {
		for _, id := range list.ids {
			switch other, ok := seen[id]; {
			case id == "":
				l.add(RuleLists, "%s holds an empty ID", list.key)
			case ok && other == list.key:
				l.add(RuleLists, "%s holds %q twice", list.key, id)
			case ok:
				l.add(RuleLists, "%q is in %s and in %s", id, other, list.key)
			}
			seen[id] = list.key
		}
	}
	for _, id := range r.FailToPass {
		switch e.Causes[id] {
		case schemas.CauseFails, schemas.CauseNew, schemas.CauseLoad, schemas.CauseLoadNew, schemas.CauseLoadChanged:
		default:
			l.add(RuleLists, "the cause of %q is %q", id, e.Causes[id])
		}
	}
	if len(e.Causes) > len(r.FailToPass) {
		l.add(RuleLists, "causes has %d tests, FAIL_TO_PASS %d", len(e.Causes), len(r.FailToPass))
	}
	for _, id := range slices.Sorted(maps.Keys(e.QuarantinedIn)) {
		if !slices.Contains(e.Quarantined, id) {
			l.add(RuleLists, "%q is in quarantined_in and not in quarantined", id)
		}
	}
	for _, id := range e.BaselineB {
		if !slices.Contains(r.PassToPass, id) {
			l.add(RuleLists, "%q is in baseline_b and not in PASS_TO_PASS", id)
		}
	}
}

// patches: each parses, and touches only its own parts. The tests of a kind whose solver
// has them are in no patch.
func (l *linter) patches() {
	e := l.row.Benchmint
	tests := e.Parts[schemas.PartTest]
	var rest []string
	for p, paths := range e.Parts {
		if p != schemas.PartTest {
			rest = append(rest, paths...)
		}
	}
	for _, p := range []struct {
		key     string
		bytes   func() ([]byte, error)
		allowed []string
	}{{"test_patch", l.row.Tests, tests}, {"patch", l.row.GoldPatch, rest}} {
		b, err := p.bytes()
		if err != nil {
			l.add(RulePatch, "%s: %v", p.key, err)
			continue
		}
		files, _, err := gitdiff.Parse(bytes.NewReader(b))
		if err != nil {
			l.add(RulePatch, "%s: %v", p.key, err)
			continue
		}
		switch hidden := p.key == "patch" || l.kind.hidden; {
		case hidden && len(files) == 0:
			l.add(RulePatch, "%s: no file in it", p.key)
		case !hidden && len(files) > 0:
			l.add(RulePatch, "%s: the tests of a %s are in the tree", p.key, l.kind.name)
		}
		for _, f := range files {
			name := f.NewName
			if name == "" {
				name = f.OldName
			}
			if name = schemas.RecordPath(name); !slices.Contains(p.allowed, name) {
				l.add(RuleParts, "%s touches %s, which is not of its part", p.key, name)
			}
		}
	}
}

// fairness: where no test fails at start by itself, every name that the tests
// need must be given to the solver (design 8).
func (l *linter) fairness() {
	var causes []schemas.Cause
	for _, c := range l.row.Benchmint.Causes {
		causes = append(causes, c)
	}
	for _, name := range unnamed(causes, l.row.Benchmint.Interface, l.row.ProblemStatement) {
		l.add(RuleFairness, "no FAIL_TO_PASS has cause fails, and %q is in neither statement nor interface (found nowhere as a definition)", name)
	}
}

// unnamed are the names that nothing gives to a solver who needs them: one with a
// definition stands in the interface.
func unnamed(causes []schemas.Cause, needed []schemas.Name, text string) []string {
	if slices.Contains(causes, schemas.CauseFails) {
		return nil
	}
	var out []string
	for _, n := range needed {
		if n.Kind == "" && !prose.Says(text, n.Name) {
			out = append(out, n.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// works reports whether the code or the tests of a task work with an address, which is no
// person's then.
func (r Row) works(address string) bool {
	for _, read := range []func() ([]byte, error){r.GoldPatch, r.Tests} {
		if b, err := read(); err == nil && bytes.Contains(b, []byte(address)) {
			return true
		}
	}
	return false
}

func (l *linter) text() {
	r, e := l.row, l.row.Benchmint
	if n := len(e.Leaks.Hits); n > 0 {
		l.add(RuleLeak, "leaks: %d, the first: %s in %s", n, e.Leaks.Hits[0].Kind, e.Leaks.Hits[0].Place)
	}
	if e.Leaks.Scanner == "" || !digestShape.MatchString(string(e.Leaks.Needles)) {
		l.add(RuleLeak, "no leak scan is recorded")
	}
	for _, f := range []struct{ key, value string }{{"problem_statement", r.ProblemStatement}, {"hints_text", r.HintsText}} {
		if _, found := secrets.Mask(f.value); len(found) > 0 {
			l.add(RuleSecret, "%s holds what looks like a credential", f.key)
		}
		for _, hit := range screen.Find(f.value, r.works) {
			if hit.Rule == screen.Email {
				l.add(RuleStatement, "%s holds the e-mail address %s", f.key, hit.In(f.value))
			}
		}
	}
	for _, v := range []any{e.Test, e.Provenance, e.Toolchain} {
		if m := hostPath.FindString(string(mustJSON(v))); m != "" {
			l.add(RuleHost, "a path of somebody's machine: %s", m)
		}
	}
}

// wish: in the first person, and words only (FeatBench's rules of a prompt).
func (l *linter) wish() {
	text, _ := prose.Split(l.row.ProblemStatement)
	if !prose.Begins(text) {
		l.add(RuleStatement, "problem_statement does not begin with \"I want to\"")
	}
	for _, c := range prose.Code(text) {
		l.add(RuleStatement, "problem_statement holds code: %.60q", c)
	}
}

// change: a feature is named by its change.
func (l *linter) change() {
	r, c := l.row, l.row.Benchmint.Change
	if strings.TrimSpace(r.TestPatch) == "" {
		l.add(RuleField, "test_patch is empty")
	}
	if c == nil {
		l.add(RuleField, "change is null, of a %s", r.Benchmint.Kind)
		return
	}
	if !commitShape.MatchString(c.Commit) {
		l.add(RuleField, "change.commit is %q, not 40 hex digits", c.Commit)
	}
	want := []string{schemas.FeatureID(r.Repo, c.Number, c.Commit).String()}
	if r.Benchmint.Kind == schemas.KindEdit {
		want = []string{schemas.EditID(r.Repo, c.Commit, "").String(), schemas.EditID(r.Repo, c.Commit, r.BaseCommit).String()}
	}
	if alias, err := schemas.ParseInstanceID(c.Alias); c.Alias != "" && (err != nil || c.Number != 0 || r.Benchmint.Kind != schemas.KindFeature || alias.String() != aliasOf(r, alias.Key)) {
		l.add(RuleID, "change.alias is %q: not the ID of a pull request of %s, or of a change that has a number", c.Alias, r.Repo)
	}
	if !slices.Contains(want, r.InstanceID) {
		l.add(RuleID, "repo, number and commit make %s", strings.Join(want, " or "))
	}
}

// library: a library is named by its release, and its tests are in the tree.
func (l *linter) library() {
	r, x := l.row, l.row.Benchmint.Library
	if x == nil {
		l.add(RuleField, "library is null, of a %s", r.Benchmint.Kind)
		return
	}
	want := schemas.Cut{Repo: r.Repo, Release: schemas.Release{Tag: x.Release}, Profile: x.Profile, Slice: x.Slice}.ID()
	if r.InstanceID != want {
		l.add(RuleID, "repo, release, profile and slice make %s", want)
	}
	if !r.Benchmint.TestsVisible {
		l.add(RuleField, "tests_visible is false, of a library")
	}
	l.masked("library", x.Masked)
	if c := x.Coverage; c != nil && (c.Ran < 1 || c.Ran > c.Lines || c.Share != c.Coverage.Share()) {
		l.add(RuleField, "library.coverage.share is %v; %d of %d lines run", c.Share, c.Ran, c.Lines)
	}
	l.specification(x.Specification)
	if zero := x.Counted.ZeroWork(r.FailToPass, r.PassToPass); x.ZeroWork != zero {
		n := x.Counted.Want(r.PassToPass)
		l.add(RuleField, "library.zero_work is %v; %d of %d tests that count pass with nothing done", x.ZeroWork, n, n+len(r.FailToPass))
	}
	l.difficulty(x)
	l.slice(x)
}

// masked: figures of what was taken out add up.
func (l *linter) masked(key string, x Masked) {
	kept := 0
	for _, n := range x.Kept {
		kept += n
	}
	share := schemas.Masked{Lines: x.Lines, Left: x.Left}.Share()
	switch {
	case x.Taken < 1 || x.Taken+kept != x.Functions:
		l.add(RuleField, "%s: %d functions taken out and %d kept are not the %d there are", key, x.Taken, kept, x.Functions)
	case x.Left < 0 || x.Left > x.Lines || x.ShareLeft != share:
		l.add(RuleField, "%s.share_left is %v; %d of %d body lines are left", key, x.ShareLeft, x.Left, x.Lines)
	}
}

// aliasOf is the ID of a number of the row's repository, "" where the key is not a number.
func aliasOf(r Row, key string) string {
	n, err := strconv.Atoi(key)
	if err != nil {
		return ""
	}
	return schemas.FeatureID(r.Repo, n, "").String()
}

// order: an edit is told in words, and in a few.
func (l *linter) order() {
	text, _ := prose.Split(l.row.ProblemStatement)
	line, _, _ := strings.Cut(text, "\n")
	const most = 80
	if n := len(strings.Fields(line)); n == 0 || n > most || prose.Begins(line) {
		l.add(RuleStatement, "problem_statement is not an order of 1 to %d words: %.60q", most, line)
	}
	for _, c := range prose.Code(text) {
		l.add(RuleStatement, "problem_statement holds code: %.60q", c)
	}
}

func (l *linter) label() {
	e := l.row.Benchmint.Change
	if e == nil {
		return // change says so
	}
	if strings.TrimSpace(e.LabelProvider) == "" {
		l.add(RuleField, "change.label_provider is empty")
	}
	if !slices.Contains(schemas.Labels, e.Label) {
		var known []string
		for _, k := range schemas.Labels {
			known = append(known, string(k))
		}
		l.add(RuleLabel, "unknown label %q (known: %s)%s", e.Label, strings.Join(known, ", "), nearest.Hint(string(e.Label), known))
	}
	for _, x := range e.LabelEvidence {
		if !slices.Contains(schemas.Labels, x.Label) || x.Rule == "" {
			l.add(RuleLabel, "evidence of rule %[2]q has the unknown label %[1]q", x.Label, x.Rule)
		}
	}
}

// suite: tests that a model wrote are an edit's, say who wrote them, and notice more than half.
func (l *linter) suite() {
	s := l.row.Benchmint.Suite
	switch {
	case s == nil:
	case l.row.Benchmint.Kind != schemas.KindEdit || !s.Generated || s.Provider == "" || s.Failing < 1:
		l.add(RuleField, "suite is %+v in a row of kind %s", *s, l.row.Benchmint.Kind)
	case s.Noticed > s.Hunks || 2*s.Noticed <= s.Hunks:
		l.add(RuleField, "suite notices %d of %d hunks", s.Noticed, s.Hunks)
	}
}

func (l *linter) adequacy() {
	a := l.row.Benchmint.Adequacy
	want := l.layout.adequacyIn(schemas.Adequacy{Hunks: make([]schemas.HunkNotice, max(a.Tried, 0)), Noticed: a.Noticed})
	skipped := 0
	for _, n := range a.SkippedFor {
		skipped += n
	}
	switch {
	case a.Noticed < 0 || a.Noticed > a.Tried || a.Skipped < 0:
		l.add(RuleAdequacy, "noticed %d of %d, skipped %d: out of range", a.Noticed, a.Tried, a.Skipped)
	case a.Share != want.Share:
		l.add(RuleAdequacy, "share is %v; %d of %d are noticed", a.Share, a.Noticed, a.Tried)
	case a.Finding != want.Finding:
		l.add(RuleAdequacy, "finding is %q; %d of %d noticed make %q", a.Finding, a.Noticed, a.Tried, want.Finding)
	case skipped != a.Skipped && want.SkippedFor != nil:
		l.add(RuleAdequacy, "skipped is %d; skipped_for gives reasons for %d", a.Skipped, skipped)
	case len(a.Unnoticed) != a.Tried-a.Noticed:
		l.add(RuleAdequacy, "unnoticed names %d hunks; %d of %d are noticed", len(a.Unnoticed), a.Noticed, a.Tried)
	}
	for _, h := range a.Unnoticed {
		if !slices.Contains(l.row.Benchmint.Parts[schemas.PartCode], h.Path) {
			l.add(RuleAdequacy, "unnoticed: %s is not of the code part", h.Path)
		}
	}
}

// figures: what statistics count in the row itself.
func (l *linter) figures() {
	got := l.row.Benchmint.Statistics
	want := statistics(l.row, Base{Files: got.RepositoryFiles, Lines: got.RepositoryLines})
	for _, m := range metrics {
		if g, w := m.of(got), m.of(want); g != w {
			l.add(RuleStatistics, "%s is %d; the row makes %d", m.name, g, w)
		}
	}
	if got.RepositoryFiles < 0 || got.RepositoryLines < 0 {
		l.add(RuleStatistics, "%d files of %d lines: below zero", got.RepositoryFiles, got.RepositoryLines)
	}
}
