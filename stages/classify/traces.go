package classify

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

var branchKinds = []phrase{
	has(fix, 25, `fix\w*|bug\w*|hotfix|issue\d*`),
	has(feature, 25, `feat(ure)?s?|add\w*|support\w*|new|implement\w*`),
	has(improvement, 20, `improve\w*|perf|speed\w*|optimi[sz]\w*|better|enhance\w*`),
	has(other, 25, `docs?|tests?|ci|chore|refactor\w*|cleanup|typo\w*|deps|release|remove\w*|drop\w*|deprecate\w*|bump\w*|lint\w*|typing`),
}

// branch reads the name of a merged branch: fix/leak, feature-x.
func (f *findings) branch(name string) {
	text := strings.NewReplacer("-", " ", "_", " ", "/", " ").Replace(name)
	for _, s := range branchKinds {
		if s.words.MatchString(text) {
			f.add(s.label, "branch", name, s.weight)
		}
	}
}

// traces guesses from what the change does: to its code part (exported names, parameters, size)
// and to its tests (their names). code and tests are diffs, "" where there are none.
func (f *findings) traces(s schemas.Start, code, tests string) {
	if name := gained(code); name != "" {
		f.add(feature, "new_parameter", name, 15)
	}
	f.newTests(tests)
	for _, name := range s.Functions.Added {
		if exported(name) {
			f.add(feature, "exported_name", name, 10)
			break
		}
	}
	const small, large = 10, 80
	switch n := s.Sizes.SourceAdded; {
	case s.Sizes.SourceFiles == 0:
	case n <= small:
		f.add(fix, "size", "few lines", 10)
	case n >= large:
		f.add(feature, "size", "many lines", 8)
	}
}

var private = lazyregexp.New(`(^|\.)_`)

// exported reports whether other code can use the function name, a path::Qualified.name.
func exported(name string) bool {
	p, qualified, _ := strings.Cut(name, "::")
	if path.Ext(p) != ".go" {
		return !private.MatchString(qualified) && !private.MatchString(strings.ReplaceAll(strings.TrimSuffix(p, path.Ext(p)), "/", "."))
	}
	for _, part := range strings.Split(qualified, ".") {
		if first, _ := utf8.DecodeRuneInString(part); !unicode.IsUpper(first) {
			return false
		}
	}
	return true
}

// signature matches a line of a diff that declares a public function on one line: its sign, its
// name (of Python or of Go), and its parameters.
var signature = lazyregexp.New(`^([-+])\s*(?:(?:async )?def ([A-Za-z]\w*)|func(?: \([^)]*\))? (\p{Lu}\w*))\(([^()]*)\)`)

// subscript is what stands in the brackets of a type: its commas separate no parameters.
var subscript = lazyregexp.New(`\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]`)

// parameter matches the name of one parameter.
var parameter = lazyregexp.New(`^\s*\**([A-Za-z]\w*)`)

// gained is the first parameter that a public function has after a change and not before; "" where
// a diff shows none on one line.
func gained(diff string) string {
	before := map[string]string{} // by function
	for line := range strings.Lines(diff) {
		m := signature.FindStringSubmatch(subscript.ReplaceAllString(line, ""))
		if m == nil || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
			continue
		}
		name, params := m[2]+m[3], m[4]
		if m[1] == "-" {
			before[name] = params
			continue
		}
		was, ok := before[name]
		if !ok || strings.Count(params, ",") <= strings.Count(was, ",") && strings.TrimSpace(was) != "" {
			continue // new as a whole, or renamed
		}
		for _, p := range strings.Split(params, ",") {
			if of := parameter.FindStringSubmatch(p); of != nil && !word(of[1]).MatchString(was) {
				return name + "(" + of[1] + ")"
			}
		}
	}
	return ""
}

// newTest matches a line of a diff that adds a test.
var newTest = lazyregexp.New(`(?m)^\+\s*(?:async )?(?:def test_?(\w+)|func Test_?(\w+))\(`)

// testKinds are words in names of tests that say what a test was written for.
var testKinds = []phrase{
	has(fix, 12, `issue ?\d*|gh ?\d+|bug\d*|regressions?|fix(?:es|ed)?|crash(?:es)?|panics?|leaks?|does ?n[o']?t (?:crash|raise|panic|fail|leak|break)|no (?:crash|panic|leak)`),
	has(feature, 12, `supports?|custom|options?|optional|enabled?|disabled?|allow(?:s|ed)?|configur\w+|with \w+ (?:option|parameter|argument)`),
}

// newTests reads the names of the tests that a change adds.
func (f *findings) newTests(diff string) {
	for _, m := range newTest.FindAllStringSubmatch(diff, -1) {
		name := m[1] + m[2]
		text := strings.ToLower(strings.ReplaceAll(camel.ReplaceAllString(name, "$1 $2"), "_", " "))
		for _, k := range testKinds {
			if k.words.MatchString(text) {
				f.add(k.label, "new_test", name, k.weight)
				return
			}
		}
	}
}

// camel is where a word begins within a name.
var camel = lazyregexp.New(`(\p{Ll}|\d)(\p{Lu})`)
