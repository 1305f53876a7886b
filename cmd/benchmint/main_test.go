package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchmint/benchmint/internal/postgrestest"
)

func TestMain(m *testing.M) {
	testscript.Main(withServer{m}, map[string]func(){"benchmint": main})
}

// withServer ends the database server of the tests after them.
type withServer struct{ *testing.M }

func (w withServer) Run() int { return postgrestest.Main(w.M) }

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
