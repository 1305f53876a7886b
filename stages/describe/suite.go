package describe

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// Ungiven are the names and literals that the tests of a start need, that only its solution has, and
// that the words of its commits do not give, sorted: what a statement would have to add for the tests'
// sake. l says which names without a definition there are.
func Ungiven(start schemas.Start, l lang.Language, base, solution lang.Tree, c schemas.Change) []string {
	s := newSolution(start, base, solution, c)
	literals, _ := s.wanted()
	need := slices.Concat(s.required(), literals)
	for _, n := range l.NewNames(base, solution, codePaths(start), start.TestPaths()) {
		need = append(need, n.Name)
	}
	return unsaidIn(saidBy(c), need)
}

// Hidden are the names that only the solution declares in a package, class or module, and that the
// words of its commits do not give, sorted.
func Hidden(start schemas.Start, base, solution lang.Tree, c schemas.Change) []string {
	s := newSolution(start, base, solution, c)
	var own []string
	for name := range s.declared {
		if s.outer[name] && s.onlyHere(name) {
			own = append(own, name)
		}
	}
	return unsaidIn(saidBy(c), own)
}

// saidBy is all that the commits of a change say.
func saidBy(c schemas.Change) string {
	title, body := c.Written()
	lines := []string{title, body}
	for _, r := range c.Range {
		lines = append(lines, r.Subject)
	}
	return strings.Join(lines, "\n")
}

// unsaidIn are the names and literals that a text does not say, sorted.
func unsaidIn(text string, all []string) []string {
	lines := strings.Split(text, "\n")
	out := slices.DeleteFunc(slices.Clone(all), func(what string) bool {
		return prose.Says(text, what) || hole.MatchString(what) && slices.ContainsFunc(lines, func(line string) bool { return filled(what, line) })
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// ungiven are the names of the interface that the text of a statement does not say where a model wrote
// the tests: such a test asks for nothing that the instruction does not give, list or no list.
func (t *task) ungiven(st schemas.Statement) []string {
	if t.start.Suite == nil {
		return nil
	}
	var names []string
	for _, n := range st.Interface {
		names = append(names, n.Name)
	}
	return unsaidIn(st.Text, names)
}
