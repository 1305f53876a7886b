package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"benchmint": main})
}

// TestScripts runs every verb as a person would: exit code, standard output, files.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata/script")
}

// TestLongScripts runs what takes minutes; make soak.
func TestLongScripts(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata/long")
}

func scripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds:                commands,
	})
}
