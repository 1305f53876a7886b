package validate

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// lists takes out of the lists what a right answer in other words cannot pass (design 10): tests
// collected from files that are not the tests' own, tests that miss a file which only the
// solution adds, and tests whose names the solution decides, unless the change's own text gives
// the name.
//
// That a test is absent at the start, though its file loaded and its parent passed, is seen. Of a
// test whose file did not load nothing is seen: there the words of its name are compared with the
// trees, which is reasoning and the last resort.
type lists struct {
	rules     parts.Rules
	start     schemas.Start
	s, g      *tree.Tree
	statement string

	own   map[string]bool     // answers of ofTests, by unit
	only  map[string]bool     // answers of onlySolution, by word
	tests [][]byte            // the test files of S; nil until they are asked for
	told  map[string][]string // by test: the words of the solution that the text gives
}

func newLists(c task) *lists {
	return &lists{
		rules: parts.New(c.Lang), start: c.Start, s: c.S, g: c.G, statement: c.statement,
		own: map[string]bool{}, only: map[string]bool{}, told: map[string][]string{},
	}
}

// class is the class of a test that no list may hold; "" where one may. parentPassed says that the
// test has no parent, or that its parent passed in every run of the start.
func (l *lists) class(v schemas.TestVerdict, parentPassed bool) schemas.Class {
	switch {
	case !slices.Contains([]schemas.Class{schemas.F2P, schemas.P2P, schemas.Regression, schemas.Vanished}, v.Class):
		return ""
	case !l.ofTests(v.Unit):
		return schemas.SolutionFile
	case v.Class != schemas.F2P || l.start.Masked != nil: // the specification says what a library does
		return ""
	}
	delete(l.told, v.ID)
	if file := l.missing(v.Why); file != "" && !l.tells(v.ID, file) {
		return schemas.SolutionFile
	}
	if v.Cause != schemas.CauseFails && !l.fairName(v, parentPassed) {
		return schemas.SolutionName
	}
	return ""
}

// ofTests reports whether a unit is a file of the tests. A unit that is not a file of the solution
// (a package) holds nothing but tests.
func (l *lists) ofTests(unit string) bool {
	is, known := l.own[unit]
	if !known {
		is = true
		if l.g.Has(unit) {
			part, _ := l.rules.Part(unit, l.g)
			is = part == schemas.PartTest || slices.ContainsFunc(l.start.Files, func(f schemas.PartFile) bool { return f.Path == unit && f.Part == schemas.PartTest })
		}
		l.own[unit] = is
	}
	return is
}

// tells reports whether the change's own text gives a word, and keeps it: the statement has to
// give it as well.
func (l *lists) tells(id, word string) bool {
	if !strings.ContainsFunc(word, isLetter) || !says(l.statement, word) {
		return false
	}
	l.told[id] = append(l.told[id], word)
	return true
}

var noFile = lazyregexp.New(`(?i)no such file|FileNotFound|does not exist|doesn't exist|can't open|cannot find|not found`)

// missing is the base name of the file that a failure at the start misses and that only the
// solution adds; "" where it misses none.
func (l *lists) missing(why string) string {
	if !noFile.MatchString(why) {
		return ""
	}
	for _, f := range l.start.Files {
		base := path.Base(f.Path)
		if f.Part == schemas.PartTest || f.Status == "D" || l.s.Has(f.Path) {
			continue
		}
		if says(why, f.Path) || says(why, base) && !slices.ContainsFunc(l.s.Paths(), func(p string) bool { return path.Base(p) == base }) {
			return base
		}
	}
	return ""
}

// fairName reports whether a test that is new at the solution has a name that the tests or the
// change's own text give.
func (l *lists) fairName(v schemas.TestVerdict, parentPassed bool) bool {
	fixed, made := nameParts(v.ID)
	if v.Cause == schemas.CauseNew && l.s.Has(v.Unit) && made == "" {
		return l.hasWord(l.s, fixed) || l.tells(v.ID, fixed)
	}
	words := madeWords.FindAllString(made, -1)
	if v.Cause == schemas.CauseNew && parentPassed && made != "" {
		return l.spelled(made) || len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !l.spelled(w) && !l.tells(v.ID, w) })
	}
	return !slices.ContainsFunc(words, func(w string) bool { return l.onlySolution(w) && !l.tells(v.ID, w) })
}

// madeWords are the words of a name that is made while the tests run.
var madeWords = lazyregexp.New(`[\pL\pN_]+(?:[.][\pL\pN_]+)*`)

// nameParts takes the ID of a test apart: the name of its function, and what a run puts behind it
// (pytest's parameters, Go's subtests).
func nameParts(id string) (fixed, made string) {
	_, fixed, _ = strings.Cut(id, "::")
	if i := strings.IndexAny(fixed, "[/"); i >= 0 {
		fixed, made = fixed[:i], strings.TrimSuffix(fixed[i+1:], "]")
	}
	return fixed[strings.LastIndex(fixed, ":")+1:], made
}

// given reports whether a test file spells out what a run puts into the name of a test.
func (l *lists) given(id string) bool {
	_, made := nameParts(id)
	return made != "" && l.spelled(made)
}

// spelled reports whether a test file has the text as a string of its own.
func (l *lists) spelled(text string) bool {
	if l.tests == nil {
		l.tests = [][]byte{}
		for _, p := range l.s.Paths() {
			if part, _ := l.rules.Part(p, l.s); part == schemas.PartTest {
				if data, err := l.s.Read(p); err == nil {
					l.tests = append(l.tests, data)
				}
			}
		}
	}
	for _, form := range []string{text, strings.ReplaceAll(text, "_", " ")} {
		for _, data := range l.tests {
			for _, quote := range []string{`"`, `'`, "`"} {
				if strings.Contains(string(data), quote+form+quote) {
					return true
				}
			}
		}
	}
	return false
}

// onlySolution reports whether a word, or a file of that name, is in the solution's own part and
// nowhere at the start.
func (l *lists) onlySolution(word string) bool {
	is, known := l.only[word]
	if !known {
		is = strings.ContainsFunc(word, isLetter) && l.solutionHas(word) && !l.hasWord(l.s, word)
		l.only[word] = is
	}
	return is
}

func (l *lists) solutionHas(word string) bool {
	return slices.ContainsFunc(l.start.Files, func(f schemas.PartFile) bool {
		if f.Part == schemas.PartTest || f.Status == "D" {
			return false
		}
		data, err := l.g.Read(f.Path)
		return says(f.Path, word) || err == nil && says(string(data), word)
	})
}

func (*lists) hasWord(t *tree.Tree, word string) bool {
	return slices.ContainsFunc(t.Paths(), func(p string) bool {
		data, err := t.Read(p)
		return says(p, word) || err == nil && says(string(data), word)
	})
}

func (l *lists) statedWords(tests []schemas.TestVerdict) []string {
	var out []string
	for _, t := range tests {
		if t.Class == schemas.F2P {
			out = append(out, l.told[t.ID]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parentPassed reports whether the nearest parent of a test that the start knows passed in all of
// its runs; true where it has none.
func (e evidence) parentPassed(ancestors []string, unit string) bool {
	for _, a := range ancestors {
		if s := e.statuses(schemas.StateS, lang.Test{ID: a, Unit: unit}); !all(s, schemas.Absent) {
			return all(s, schemas.Passed)
		}
	}
	return true
}
