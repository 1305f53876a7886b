package grade

import (
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// classes are read from the top: a file that cannot be parsed is named by its compiler, too.
var classes = []struct {
	class schemas.ErrorClass
	says  *lazyregexp.Regexp
}{
	{schemas.ClassSyntax, lazyregexp.New(`SyntaxError|IndentationError|TabError|syntax error|expected (?:operand|expression|declaration|';'|'\)')`)},
	{schemas.ClassDependency, lazyregexp.New(`ModuleNotFoundError|No module named|ImportError: cannot import|no required module provides|cannot find module|is not in std|missing go\.sum entry|No matching distribution found|No solution found when resolving dependencies|Unable to locate package`)},
	{schemas.ClassCompilation, lazyregexp.New(`(?m)^[^\s:]+\.go:\d+:\d+: `)},
	{schemas.ClassPath, lazyregexp.New(`FileNotFoundError|No such file or directory|no such file or directory|can't open file|not found in PATH|file not found in build context|there is no such file in the root of the project`)},
}

// classOf is the class of what was said; ClassOther where it says nothing of one.
func classOf(said string) schemas.ErrorClass {
	for _, c := range classes {
		if c.says.MatchString(said) {
			return c.class
		}
	}
	return schemas.ClassOther
}

// missedClass is the class of an answer that misses tests: that of most of them. A test that ran and does not pass, and says
// nothing of another class, is one of logic.
func missedClass(o *testrun.Outcome, lists ...[]lang.Test) schemas.ErrorClass {
	count := map[schemas.ErrorClass]int{}
	for _, list := range lists {
		for _, t := range list {
			status := o.Status(t)
			if status == schemas.Passed {
				continue
			}
			class := classOf(o.Why(t))
			if ran := status == schemas.Failed || status == schemas.Errored; class == schemas.ClassOther && ran {
				class = schemas.ClassLogic
			}
			count[class]++
		}
	}
	most := schemas.ErrorClass("")
	for _, c := range schemas.ErrorClasses {
		if count[c] > count[most] {
			most = c
		}
	}
	return most
}
