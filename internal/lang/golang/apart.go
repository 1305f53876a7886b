package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// Places inside the sandbox of what runs each test in a process of its own.
const (
	apartPath   = sandbox.RunPath + "/apart.sh"
	apartFolder = sandbox.RunPath + "/apart"
)

// apartScript is for go test -exec. It takes a test program with its flags, and runs it once
// for each line of the list for its folder, which is a pattern of tests. A program without a
// list runs as it is.
const apartScript = `#!/bin/sh
program=$1
shift
here=$(pwd -P)
list="` + apartFolder + `${here#` + sandbox.TreePath + `}/tests"
[ -f "$list" ] || exec "$program" "$@"
end=0
while read -r pattern; do
	"$program" "$@" -test.run "$pattern" </dev/null || end=1
done <"$list"
if [ $end = 0 ]; then echo PASS; else echo FAIL; fi
exit $end
`

// apart has a run start each test in a process of its own: where bodies are missing, most
// tests panic, and a panic ends all tests of its process. Each process runs the package's
// canaries as well. A run that chooses its tests by name stays as it is.
func apart(run recipe.TestRun, t lang.Tree, l layout, plan []string) recipe.TestRun {
	if slices.ContainsFunc(run.Command.Argv, func(w string) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		return strings.HasPrefix(w, "-") && (flag == "run" || flag == "test.run" || flag == "exec")
	}) {
		return run
	}
	canaries := guardsOf(run.Secret)
	for _, pkg := range plan {
		dir, _ := l.dir(pkg)
		s := testSourcesOf(t, dir)
		if s.clause == "" {
			continue
		}
		var beside []string
		if g := canaries[pkg]; g != nil {
			beside = []string{g.Test, g.Ends}
		}
		var list strings.Builder
		for _, name := range s.tests {
			list.WriteString(pattern(append([]string{name}, beside...)))
		}
		run.Inputs = append(run.Inputs, sandbox.File{Path: path.Join(apartFolder, dir, "tests"), Mode: 0o444, Data: []byte(list.String())})
	}
	run.Inputs = append(run.Inputs, sandbox.File{Path: apartPath, Mode: 0o555, Data: []byte(apartScript)})
	at := 1 + slices.Index(run.Command.Argv, "test")
	run.Command.Argv = slices.Insert(slices.Clone(run.Command.Argv), at, "-exec="+apartPath)
	return run
}

func pattern(names []string) string { return "^(" + strings.Join(names, "|") + ")$\n" }

// isApart reports whether a run was started so.
func isApart(run recipe.TestRun) bool {
	return slices.ContainsFunc(run.Inputs, func(f sandbox.File) bool { return f.Path == apartPath })
}
