package output

import (
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// difficulty: what is said of the bodies that are gone is what other keys say of them.
func (l *linter) difficulty(x *Library) {
	d := x.Difficulty
	if d == nil {
		return
	}
	if d.Lines != x.Lines-x.Left || d.Branches < 0 || d.FanIn < 0 || d.Depth < 0 {
		l.add(RuleField, "library.difficulty: %d lines, %d branches, fan-in %d, depth %d; %d of %d body lines are gone", d.Lines, d.Branches, d.FanIn, d.Depth, x.Lines-x.Left, x.Lines)
	}
	if d.Tests != len(l.row.FailToPass) {
		l.add(RuleField, "library.difficulty.tests is %d; FAIL_TO_PASS has %d", d.Tests, len(l.row.FailToPass))
	}
}

// slice: a slice says which functions are gone, all of them its own, and which tests count. A
// whole library counts all tests, and functions only in numbers.
func (l *linter) slice(x *Library) {
	e := l.row.Benchmint
	if x.Slice == nil {
		if x.Counted != nil || len(e.Functions.Modified) > 0 {
			l.add(RuleField, "library.counted or functions.modified is there, of a library without a slice")
		}
		return
	}
	if err := x.Slice.Validate(); err != nil {
		l.add(RuleField, "library.slice: %v", err)
	}
	for _, f := range e.Functions.Modified {
		if !x.Slice.Holds(f) {
			l.add(RuleField, "functions.modified: %s is not of %s", f, x.Slice)
		}
	}
	if n := len(e.Functions.Modified); n < 1 || n > x.Taken {
		l.add(RuleField, "functions.modified names %d functions; %d were taken out", n, x.Taken)
	}
	if x.Difficulty == nil {
		l.add(RuleField, "library.difficulty is not there, of a slice")
	}
	if paths := e.Parts[schemas.PartCode]; !slices.Equal(paths, []string{x.Slice.Path()}) {
		l.add(RuleParts, "the code part is %v, of the slice %s", paths, x.Slice)
	}
	l.counted(x.Counted)
}

// counted: the tests that count for a slice are of PASS_TO_PASS, each once, in order.
func (l *linter) counted(c *schemas.Counted) {
	if c == nil {
		l.add(RuleField, "library.counted is not there, of a slice")
		return
	}
	if !slices.Contains(schemas.CountRules, c.Rule) {
		l.add(RuleField, "library.counted.rule is %q, not one of %v", c.Rule, schemas.CountRules)
	}
	if !slices.IsSorted(c.P2P) || len(slices.Compact(slices.Clone(c.P2P))) != len(c.P2P) {
		l.add(RuleLists, "library.counted.pass_to_pass is not sorted, or holds a test twice")
	}
	if c.Rule == schemas.CountReach && !slices.Equal(c.P2P, l.row.Benchmint.P2PFast) {
		l.add(RuleLists, "library.counted.pass_to_pass is not p2p_fast, by the rule %s", c.Rule)
	}
	for _, id := range c.P2P {
		if !slices.Contains(l.row.PassToPass, id) {
			l.add(RuleLists, "library.counted.pass_to_pass holds %q, which is not in PASS_TO_PASS", id)
		}
	}
}
