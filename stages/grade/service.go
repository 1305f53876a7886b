package grade

import (
	"fmt"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// served says how far the service of an answer came.
func (g *Grader) served(grade schemas.Grade, o *testrun.Outcome) (*schemas.Served, error) {
	connect := lang.Test{ID: httpsuite.ConnectID, Unit: httpsuite.Connect}
	out := &schemas.Served{Starts: o.Status(connect) == schemas.Passed}
	out.Functional = out.Starts && grade.Verdict == schemas.VerdictPass
	switch {
	case out.Functional:
		return out, nil
	case out.Starts:
		out.Class = schemas.ClassLogic
		return out, nil
	}
	said := o.Why(connect)
	for _, r := range grade.Runs {
		if r.Scope != testrun.ScopeBuild {
			continue
		}
		log, err := g.patches.Get(r.Log)
		if err != nil {
			return nil, fmt.Errorf("reading the log of a build: %w", err)
		}
		said = string(log) + "\n" + said
	}
	out.Class = classOf(said)
	return out, nil
}

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

// classOf is the class of an answer whose service does not start, by what it said.
func classOf(said string) schemas.ErrorClass {
	for _, c := range classes {
		if c.says.MatchString(said) {
			return c.class
		}
	}
	return schemas.ClassOther
}
