package validate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// fairness lists the interface, and rejects a task that nobody could solve from
// its statement: where no FAIL_TO_PASS test fails by behaviour (cause fails), a
// solver can only hit the names that the tests use by being told them.
func (p *prover) fairness() error {
	if p.served() { // its cases ask over HTTP, and use no name
		return nil
	}
	s := p.c.Start
	names := p.c.Lang.NewNames(p.c.B, p.c.G, codePaths(s), s.TestPaths())
	p.proof.Interface, p.proof.StatedWords = nameable(names), p.ev.lists.statedWords(p.proof.Tests)
	if hasCause(p.proof.Tests, schemas.CauseFails) {
		return nil
	}
	if bad := unnameable(names, p.c.statement); len(bad) > 0 {
		return pipeline.Reject(schemas.Unnameable, "no definition in the solution and no word in the statement: %s", strings.Join(bad, ", "))
	}
	return nil
}

// codePaths are the files of the code part that the solution has.
func codePaths(s schemas.Start) []string {
	var out []string
	for _, f := range s.Files {
		if f.Part == schemas.PartCode && f.Status != "D" {
			out = append(out, f.Path)
		}
	}
	return out
}

// nameable are the names that an interface can give, in a fixed order.
func nameable(names []schemas.Name) []schemas.Name {
	var out []schemas.Name
	for _, n := range names {
		if n.Kind != "" {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b schemas.Name) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Signature, b.Signature))
	})
	return slices.Compact(out)
}

// unnameable are the names that neither interface nor statement gives.
func unnameable(names []schemas.Name, statement string) []string {
	given := map[string]bool{}
	for _, n := range names {
		given[n.Name] = given[n.Name] || n.Kind != "" || says(statement, n.Name)
	}
	var out []string
	for name, ok := range given {
		if !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// says reports whether a text holds a name as a word of its own.
func says(text, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = i + len(name)
	}
	return false
}

func inWord(r rune) bool { return r == '_' || isLetter(r) || unicode.IsDigit(r) }

func isLetter(r rune) bool { return unicode.IsLetter(r) }
