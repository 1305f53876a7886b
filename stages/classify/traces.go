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

// traces guesses from the code part: its exported names and its size.
func (f *findings) traces(s schemas.Start) {
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
