package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Places inside the sandbox of what runs each test in a process of its own.
const (
	apartPath   = sandbox.RunPath + "/apart.sh"
	apartFolder = sandbox.RunPath + "/apart"
)

// The script tells where a process and where the list ended as package testing tells that a
// test begins, so that test2json ends what came before: by names that no test can have.
const (
	processEnded = "benchmint-process-ended"
	listEnded    = "benchmint-list-ended"
)

// apartScript is for go test -exec. It takes a test program with its flags, and runs it once
// for each line of the list for its folder, which is a pattern of tests. A program without a
// list runs as it is. It says everything twice: from Go 1.20 on test2json heeds a line only
// behind the character 22, and before only without it.
const apartScript = `#!/bin/sh
program=$1
shift
here=$(pwd -P)
list="` + apartFolder + `${here#` + sandbox.TreePath + `}/tests"
[ -f "$list" ] || exec "$program" "$@"
say() { printf '\n\026%s\n%s\n' "$1" "$1"; }
end=0
while read -r pattern; do
	"$program" "$@" -test.run "$pattern" </dev/null || end=1
	say "=== RUN   ` + processEnded + `"
done <"$list"
say "=== RUN   ` + listEnded + `"
if [ $end = 0 ]; then say PASS; else say FAIL; fi
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
	for _, pkg := range plan {
		dir, _ := l.dir(pkg)
		s := testSourcesOf(t, l, dir)
		if s.clause == "" {
			continue
		}
		var list strings.Builder
		for _, name := range s.tests {
			list.WriteString("^(" + name + "|" + canaryNames + ")$\n")
		}
		run.Inputs = append(run.Inputs, sandbox.File{Path: path.Join(apartFolder, dir, "tests"), Mode: 0o444, Data: []byte(list.String())})
	}
	run.Inputs = append(run.Inputs, sandbox.File{Path: apartPath, Mode: 0o555, Data: []byte(apartScript)})
	at := 1 + slices.Index(run.Command.Argv, "test")
	run.Command.Argv = slices.Insert(slices.Clone(run.Command.Argv), at, "-exec="+apartPath)
	return run
}

// canaryNames matches the names of all canaries (newCanary): what a program is told to run does
// not say which ones are its own.
const canaryNames = "(Test|Example)Z[0-9a-f]{16}"

// isApart reports whether a run was started so.
func isApart(run recipe.TestRun) bool {
	return slices.ContainsFunc(run.Inputs, func(f sandbox.File) bool { return f.Path == apartPath })
}

// boundary takes what the script says, and what is said after its last word: nothing of it
// counts. It reports whether the event was such.
func (k *packageState) boundary(e event) bool {
	script := e.Test == processEnded || e.Test == listEnded
	switch {
	case script && e.Action != "run":
	case k.listEnded && e.Test != "":
		if k.guard != nil {
			k.guard.contradiction("a test speaks after the last one ended")
		}
	case e.Test == processEnded:
		k.processEnds()
		k.apart = true
	case e.Test == listEnded:
		k.listEnded = k.apart
	default:
		return false
	}
	return true
}

// processEnds judges one process by itself: no test of one that ended before its canaries did
// passes, nor one that another process was started for, and one that says it failed has a test
// that did.
func (k *packageState) processEnds() {
	failed := false
	for _, t := range k.order {
		failed = failed || t.process == k.process && t.status == schemas.Failed
	}
	early := k.guard == nil && k.verdict == ""
	if k.guard != nil {
		early = k.guard.endsEarly()
	}
	for _, t := range k.order {
		if t.process != k.process || t.status != schemas.Passed && t.status != "" {
			continue
		}
		if early || k.guard != nil && !k.guard.startedFor(t.name, k.process) {
			t.status = schemas.Failed
		}
	}
	if k.guard != nil && !early && k.verdict == "FAIL" && !failed {
		k.guard.contradiction("the program failed and none of its tests did")
	}
	k.process++
	k.verdict, k.crashed, k.failed, k.listed = "", nil, nil, map[string]bool{} // said of this process
}
