package output

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

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
)

var (
	commitShape = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// hostPath: homes of people and of root; /home/tester is the sandbox's own.
	hostPath = regexp.MustCompile(`(^|[^A-Za-z0-9._/-])(/root/|/Users/[a-z]|/home/([a-su-z]|t[a-df-z]))[^"\s]*`)
	secret   = regexp.MustCompile(`AKIA[0-9A-Z]{16}|\bgh[pousr]_[A-Za-z0-9]{36}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bxox[abp]-[0-9A-Za-z-]{10,}|\bsk-[A-Za-z0-9_-]{32,}`)
)

// Lint is every rule that a row must keep by itself. It is pure: check, export
// and the release gate share it.
func Lint(r Row) []Finding {
	l := linter{row: r}
	l.fields()
	l.lists()
	l.patches()
	l.fairness()
	l.text()
	return l.findings
}

type linter struct {
	row      Row
	findings []Finding
}

func (l *linter) add(rule Rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{Instance: l.row.InstanceID, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) fields() {
	r, e := l.row, l.row.Benchmint
	if _, err := schemas.ParseInstanceID(r.InstanceID); err != nil {
		l.add(RuleID, "%v", err)
	} else if want := schemas.FeatureID(r.Repo, e.Number, e.Commit).String(); want != r.InstanceID {
		l.add(RuleID, "repo, number and commit make %s", want)
	}
	for _, f := range []struct{ key, value string }{
		{"repo", r.Repo}, {"patch", r.Patch}, {"test_patch", r.TestPatch}, {"problem_statement", r.ProblemStatement}, {"version", r.Version},
		{"language", e.Language}, {"kind", string(e.Kind)}, {"report", e.Report}, {"sandbox", e.Sandbox}, {"deps_from", e.DepsFrom},
		{"pinning", string(e.Pinning)}, {"statement_from", e.StatementFrom}, {"toolchain.version", e.Toolchain.Version},
	} {
		if strings.TrimSpace(f.value) == "" {
			l.add(RuleField, "%s is empty", f.key)
		}
	}
	for _, f := range []struct{ key, value string }{
		{"base_commit", r.BaseCommit}, {"environment_setup_commit", r.EnvironmentSetupCommit}, {"commit", e.Commit},
		{"trees.base", e.Trees.Base}, {"trees.start", e.Trees.Start}, {"trees.solution", e.Trees.Solution},
	} {
		if !commitShape.MatchString(f.value) {
			l.add(RuleField, "%s is %q, not 40 hex digits", f.key, f.value)
		}
	}
	for _, f := range []struct {
		key   string
		value schemas.Digest
	}{{"environment", e.Environment}, {"base_archive", e.BaseArchive}, {"identity", e.Identity}} {
		if !digestShape.MatchString(string(f.value)) {
			l.add(RuleField, "%s is %q, not a digest", f.key, f.value)
		}
	}
	if t, err := time.Parse(time.RFC3339, r.CreatedAt); err != nil || t.Location() != time.UTC {
		l.add(RuleField, "created_at is %q, not RFC 3339 in UTC", r.CreatedAt)
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
	for _, list := range []struct {
		key string
		ids []string
	}{
		{"FAIL_TO_PASS", r.FailToPass}, {"PASS_TO_PASS", r.PassToPass}, {"skip_to_pass", e.SkipToPass},
		{"quarantined", e.Quarantined}, {"vanished", e.Vanished}, {"unstable_ids", e.UnstableIDs},
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
	for _, id := range e.BaselineB {
		if !slices.Contains(r.PassToPass, id) {
			l.add(RuleLists, "%q is in baseline_b and not in PASS_TO_PASS", id)
		}
	}
}

// patches: each parses, and touches only its own parts.
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
		if len(files) == 0 {
			l.add(RulePatch, "%s: no file in it", p.key)
		}
		for _, f := range files {
			name := f.NewName
			if name == "" {
				name = f.OldName
			}
			if !slices.Contains(p.allowed, string([]rune(name))) { // as JSON has kept a name that is not UTF-8
				l.add(RuleParts, "%s touches %s, which is not of its part", p.key, name)
			}
		}
	}
}

// fairness: where no test fails at start by itself, every name that the tests
// need must be given to the solver (design 8).
func (l *linter) fairness() {
	r, e := l.row, l.row.Benchmint
	for _, c := range e.Causes {
		if c == schemas.CauseFails {
			return
		}
	}
	for _, n := range e.Interface {
		if n.Kind == "" && !strings.Contains(r.ProblemStatement, n.Name) {
			l.add(RuleFairness, "no FAIL_TO_PASS has cause fails, and %q is in neither statement nor interface (found nowhere as a definition)", n.Name)
		}
	}
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
		if secret.MatchString(f.value) {
			l.add(RuleSecret, "%s holds what looks like a credential", f.key)
		}
		for _, a := range email.FindAllString(f.value, -1) {
			if !strings.HasPrefix(a, "git@") {
				l.add(RuleStatement, "%s holds the e-mail address %s", f.key, a)
			}
		}
	}
	for _, v := range []any{e.Test, e.Provenance, e.Toolchain} {
		if m := hostPath.FindString(string(mustJSON(v))); m != "" {
			l.add(RuleHost, "a path of somebody's machine: %s", m)
		}
	}
}
