package python

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// source is one Python file of a program.
type source struct {
	path string
	text string
}

// The bounds of what is read of one program.
const (
	maxSource  = 512 << 10
	maxSources = 4000
)

// besides are folders that hold no part of a service.
var besides = lazyregexp.New(`(?i)^(?:tests?|testing|docs?|examples?|samples?|node_modules|venv|\.venv|env|site-packages|frontend|notebooks?|benchmarks?|\..+|__pycache__|build|dist|cookiecutter.*|\{\{.*)$`)

// program are the Python files of a service: tests, examples and copies of packages are not.
func program(t lang.Tree) []source {
	var out []source
	for _, p := range t.Paths() {
		base := path.Base(p)
		if !strings.HasSuffix(p, ".py") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "conftest.py" || base == "setup.py" ||
			slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(d string) bool { return d != "." && besides.MatchString(d) }) {
			continue
		}
		data, err := t.Read(p)
		if err != nil || len(data) > maxSource {
			continue
		}
		out = append(out, source{p, strings.ReplaceAll(string(data), "\r\n", "\n")})
		if len(out) == maxSources {
			break
		}
	}
	return out
}

// line is the number of the line of an offset.
func (f source) line(at int) string { return f.path + ":" + itoa(strings.Count(f.text[:at], "\n")+1) }

// matches reports whether any file matches, and where first.
func (s *serving) matches(re *lazyregexp.Regexp) (string, bool) {
	for _, f := range s.files {
		if at := re.FindStringIndex(f.text); at != nil {
			return f.line(at[0]), true
		}
	}
	return "", false
}

// names reports whether the program has the name of a variable, in any case.
func (s *serving) names(variable string) bool {
	return slices.ContainsFunc(s.files, func(f source) bool {
		return strings.Contains(f.text, variable) || strings.Contains(f.text, strings.ToLower(variable))
	})
}
