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
		case w == "|":
			lines = append(lines, ev("run", processEnded, ""))
		case w == "end":
			lines = append(lines, ev("run", listEnded, ""))
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

// saidApart is what test saidPrograms say that have one test each: "|" is the end of a process,
// "end" that of the list.
func saidApart(words string) lang.Output {
	o := said(words)
	o.Run.Inputs = append(o.Run.Inputs, sandbox.File{Path: apartPath})
	return o
}

// Of each program: do its passes count, and how did it end. Where not, the one thing
// that the name says is wrong, and an honest failure stands beside it.
func TestGuard(t *testing.T) {
	t.Parallel()
	testGuard(t, said, map[string]saidPrograms{
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
		"fails_by_its_own":     {"A+ A=pass canaries PASS fail", "", testlog.Aborted},
		"canary_cannot_fail":   {"A+ A=pass B+ B=fail C+ F+ F=pass P+ P=pass C=pass E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_cannot_pass":   {"A+ A=pass B+ B=fail C+ F+ F=fail P+ P=fail C=fail E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_twice":         {"A+ A=pass B+ B=fail C+ C+ F+ F=fail P+ P=pass C=pass E+ E=pass FAIL fail", "", testlog.Tampered},
		"canary_skipped":       {"A+ A=pass B+ B=fail C+ C=skip E+ E=pass FAIL fail", "", testlog.Tampered},
		"exit_blames_the_last": {"A+ A=pass B+ B=pass fail", "", testlog.Aborted},
	})
	other := said("A+ A=pass PASS pass")
	other.Run.Secret = encode(map[string]canary{"q": {}})
	if u := (Language{}).Parse(schemas.Recipe{}, []lang.Output{other}).Units[0]; u.State != testlog.Aborted || !u.Unproved {
		t.Errorf("a package without canaries in a run that has them: %+v", u)
	}
}

// TestGuardApart: what holds of a program holds of each process, and of all that ran before the
// list came to its end.
func TestGuardApart(t *testing.T) {
	t.Parallel()
	testGuard(t, saidApart, map[string]saidPrograms{
		"honest":                 {"A+ A=pass canaries PASS | B+ B=fail canaries FAIL | end FAIL fail", "A", testlog.Finished},
		"all_pass":               {"A+ A=pass canaries PASS | B+ B=pass canaries PASS | end PASS pass", "A B", testlog.Finished},
		"panics":                 {"A+ | B+ B=pass canaries PASS | end FAIL fail", "B", testlog.Finished},
		"last_panics":            {"A+ A=pass canaries PASS | B+ | end FAIL fail", "A", testlog.Finished},
		"leaves_with_0":          {"A+ | B+ B=pass canaries PASS | end PASS pass", "B", testlog.Finished},
		"example_panics":         {"C+ F+ F=fail P+ P=pass C=pass A+ | B+ B=pass canaries PASS | end FAIL fail", "B", testlog.Finished},
		"two_rounds":             {"A+ A=pass canaries PASS A+ A=pass canaries PASS | end PASS pass", "A", testlog.Finished},
		"claims_and_leaves":      {"A+ A=pass PASS | B+ B=pass canaries PASS | end PASS pass", "B", testlog.Finished},
		"claims_half_a_round":    {"A+ A=pass canaries A+ A=pass PASS | B+ B=pass canaries PASS | end PASS pass", "B", testlog.Finished},
		"claims_some_canaries":   {"A+ A=pass C+ F+ F=fail P+ P=pass C=pass PASS | end PASS pass", "", testlog.Finished},
		"claims_its_end":         {"A+ A=pass | B+ B=pass canaries PASS | end FAIL fail", "B", testlog.Finished},
		"ends_after_its_end":     {"A+ | A=pass canaries PASS | B+ B=fail canaries FAIL | end FAIL fail", "", testlog.Tampered},
		"claims_for_another":     {"A+ B+ B=pass A=pass canaries PASS | B+ B=fail canaries FAIL | end FAIL fail", "A", testlog.Finished},
		"claims_and_stays_away":  {"A+ B+ B=pass | B+ | end FAIL fail", "", testlog.Finished},
		"claims_for_a_silent":    {"A+ A=pass B+ B=pass canaries PASS | | end PASS pass", "A", testlog.Finished},
		"claims_in_a_later_one":  {"| B+ B=pass A+ A=pass canaries PASS | end PASS pass", "B", testlog.Finished},
		"canary_cannot_fail":     {"A+ A=pass C+ F+ F=pass P+ P=pass C=pass E+ E=pass PASS | end PASS pass", "", testlog.Tampered},
		"canary_twice":           {"A+ A=pass C+ C+ F+ F=fail P+ P=pass C=pass E+ E=pass PASS | end PASS pass", "", testlog.Tampered},
		"begins_twice":           {"A+ A+ A=pass canaries PASS | end PASS pass", "", testlog.Tampered},
		"ends_both_ways":         {"A+ A=pass A=fail canaries FAIL | end FAIL fail", "", testlog.Tampered},
		"fails_without_a_test":   {"B+ B=fail canaries FAIL | A+ A=pass canaries FAIL | end FAIL fail", "", testlog.Tampered},
		"no_canaries_in_the_end": {"A+ A=pass canaries PASS | B+ B=pass PASS | end PASS pass", "A", testlog.Finished},
		"list_cut_short":         {"A+ A=pass canaries PASS | B+ fail", "", testlog.Aborted},
		"claims_the_lists_end":   {"A+ A=pass canaries PASS | B+ end B=pass canaries FAIL | end FAIL fail", "", testlog.Tampered},
		"claims_it_and_kills_it": {"A+ A=pass canaries PASS | B+ B=pass end fail", "A", testlog.Finished},
		"speaks_after_the_list":  {"A+ A=pass canaries PASS | end PASS B+ B=pass pass", "", testlog.Tampered},
		"process_after_the_list": {"A+ A=pass canaries PASS | end | PASS pass", "", testlog.Tampered},
		"kills_the_list":         {"A+ A=pass PASS fail", "", testlog.Tampered},
		"kills_the_list_later":   {"A+ A=pass canaries PASS | B+ B=pass canaries PASS fail", "", testlog.Aborted},
		"claims_the_list_alone":  {"A+ A=pass end PASS fail", "", testlog.Tampered},
		"nothing_begins":         {"| | end FAIL fail", "", testlog.NotLoaded},
	})
}

// TestApartWithoutCanaries: a process that has no last word has no test that passes, without
// canaries too.
func TestApartWithoutCanaries(t *testing.T) {
	t.Parallel()
	o := saidApart("A+ A=pass | B+ B=pass PASS | end FAIL fail")
	o.Run.Secret = nil
	got := map[string]schemas.Status{}
	for _, x := range (Language{}).Parse(schemas.Recipe{}, []lang.Output{o}).Tests {
		got[x.ID] = x.Status
	}
	if got["p::A"] != schemas.Failed || got["p::B"] != schemas.Passed {
		t.Errorf("%v", got)
	}
}

// saidPrograms are what test saidPrograms say, and which passes of it count.
type saidPrograms struct {
	words, counts string // tests that pass
	state         testlog.UnitState
}

func testGuard(t *testing.T, say func(words string) lang.Output, all map[string]saidPrograms) {
	t.Helper()
	for name, tc := range all {
		r := Language{}.Parse(schemas.Recipe{}, []lang.Output{say(tc.words)})
		u := r.Units[0]
		var counts []string
		for _, x := range r.Tests {
			if x.Status == schemas.Passed && !u.Unproved {
				counts = append(counts, strings.TrimPrefix(x.ID, "p::"))
			}
		}
		if got := strings.Join(counts, " "); got != tc.counts || u.State != tc.state || u.Unproved != (u.State != testlog.Finished && u.State != testlog.NotLoaded) {
			t.Errorf("%s: %q passed, %+v", name, got, u)
		}
		if why := r.Tampered; (u.State == testlog.Tampered) != (why != "") || why != "" && (u.Message == "" || why != "p: "+u.Message) {
			t.Errorf("%s: the session says %q, the unit %q", name, why, u.Message)
		}
		if name == "exit_blames_the_last" && u.Running != "p::B" {
			t.Errorf("%s: %+v", name, u)
		}
	}
}
