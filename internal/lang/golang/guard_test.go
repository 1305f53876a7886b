package golang

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// said is a test program in words: "A+" begins A, "A=pass" ends it, "PASS" and "FAIL"
// are its last word, "canaries" is what a whole round ends with. The last word is the
// package's end.
func said(words string) lang.Output {
	round := "C+ F+ F=fail P+ P=pass C=pass E+ E=pass"
	names := map[string]string{"C": "TestC", "F": "TestF", "P": "TestP", "E": "ExampleE"}
	var lines []string
	for _, w := range strings.Fields(strings.ReplaceAll(words, "canaries", round)) {
		name, action, ended := strings.Cut(w, "=")
		name, begun := strings.CutSuffix(name, "+")
		if full, ok := names[name]; ok {
			name = full
		}
		switch {
		case ended:
			lines = append(lines, ev(action, name, ""))
		case begun:
			lines = append(lines, ev("run", name, ""))
		case w == "PASS" || w == "FAIL":
			lines = append(lines, ev("output", "", w+`\n`))
		default:
			lines = append(lines, ev(w, "", ""))
		}
	}
	o := output(sandbox.Exited, 0, "p\n", lines...)
	o.Run.Secret = encode(map[string]canary{"p": {Test: "TestC", Fails: "TestF", Passes: "TestP", Ends: "ExampleE", Known: []string{"A", "B"}}})
	return o
}

// Of each program: do its passes count, and how did it end. Where not, the one thing
// that the name says is wrong, and an honest failure stands beside it.
func TestGuard(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		words, counts string // tests that pass
		state         testlog.UnitState
	}{
		"honest":               {"A+ A=pass B+ B=fail canaries FAIL fail", "A", testlog.Finished},
		"subtests":             {"A+ A/x+ A/x/y+ A/x/y=pass A/x=pass A/z/w+ A/z/w=pass A=pass canaries PASS pass", "A A/x A/x/y A/z/w", testlog.Finished},
		"two_rounds":           {"A+ A=pass canaries PASS A+ A=pass canaries PASS pass", "A", testlog.Finished},
		"fails_in_one_round":   {"A+ A=fail canaries FAIL A+ A=pass canaries PASS fail", "", testlog.Finished},
		"second_round_is_half": {"A+ A=pass canaries PASS A+ A=pass PASS pass", "", testlog.Tampered},
		"no_canaries":          {"A+ A=pass PASS pass", "", testlog.Tampered},
		"no_canaries_no_word":  {"A+ A=pass fail", "", testlog.Aborted},
		"nothing_ran":          {"PASS pass", "", testlog.Finished},
		"unknown":              {"A+ X+ X=pass X/y+ X/y=pass A=pass canaries PASS pass", "A", testlog.Finished},
		"begins_twice":         {"A+ A+ A=pass B+ B=fail canaries FAIL fail", "", testlog.Tampered},
		"ends_twice":           {"A+ A=pass A=pass B+ B=fail canaries FAIL fail", "", testlog.Tampered},
		"ends_both_ways":       {"A+ A=pass A=fail B+ B=fail canaries FAIL fail", "", testlog.Tampered},
		"ends_after_the_last":  {"A+ B+ B=fail canaries A=pass FAIL fail", "", testlog.Tampered},
		"below_nothing":        {"A+ A=pass A/x+ A/x=pass B+ B=fail canaries FAIL fail", "", testlog.Tampered},
		"fails_without_a_test": {"A+ A=pass canaries FAIL fail", "", testlog.Tampered},
		"fails_by_its_own":     {"A+ A=pass canaries PASS fail", "A", testlog.Finished},
		"canary_cannot_fail":   {"A+ A=pass B+ B=fail C+ F+ F=pass P+ P=pass C=pass E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_cannot_pass":   {"A+ A=pass B+ B=fail C+ F+ F=fail P+ P=fail C=fail E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_twice":         {"A+ A=pass B+ B=fail C+ C+ F+ F=fail P+ P=pass C=pass E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_skipped":       {"A+ A=pass B+ B=fail C+ C=skip E+ E=pass FAIL fail", "", testlog.Tampered},
		"exit_blames_the_last": {"A+ A=pass B+ B=pass fail", "", testlog.Aborted},
	} {
		r := Language{}.Parse(schemas.Recipe{}, []lang.Output{said(tc.words)})
		u := r.Units[0]
		var counts []string
		for _, x := range r.Tests {
			if x.Status == schemas.Passed && !u.Unproved {
				counts = append(counts, strings.TrimPrefix(x.ID, "p::"))
			}
		}
		if got := strings.Join(counts, " "); got != tc.counts || u.State != tc.state || u.Unproved != (u.State != testlog.Finished) {
			t.Errorf("%s: %q passed, %+v", name, got, u)
		}
		if why := r.Tampered; (u.State == testlog.Tampered) != (why != "") || why != "" && (u.Message == "" || why != "p: "+u.Message) {
			t.Errorf("%s: the session says %q, the unit %q", name, why, u.Message)
		}
		if name == "exit_blames_the_last" && u.Running != "p::B" {
			t.Errorf("%s: %+v", name, u)
		}
	}
	other := said("A+ A=pass PASS pass")
	other.Run.Secret = encode(map[string]canary{"q": {}})
	if u := (Language{}).Parse(schemas.Recipe{}, []lang.Output{other}).Units[0]; u.State != testlog.Aborted || !u.Unproved {
		t.Errorf("a package without canaries in a run that has them: %+v", u)
	}
}
