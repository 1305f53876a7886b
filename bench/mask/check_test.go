package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/bench/internal/table"
)

func TestNewLines(t *testing.T) {
	t.Parallel()
	before := []string{"a.ts(3,1): no x", "b.ts(9,1): no y", ""}
	after := []string{"a.ts(2,14): no x", "a.ts(5,1): no x", "c.ts(1,1): no z", ""}
	if d := cmp.Diff([]string{"a.ts(5,1): no x", "c.ts(1,1): no z"}, newLines(before, after)); d != "" {
		t.Error(d)
	}
}

// What panics ends its own process only.
func TestEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module each\n\ngo 1.24\n",
		"a_test.go": `package each

import "testing"

func TestA(t *testing.T)   { panic("masked: A") }
func TestAB(t *testing.T)  { t.Error("wrong") }
func TestABC(t *testing.T) { t.Run("sub", func(t *testing.T) {}) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", "each.bin")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var out bytes.Buffer
	err := each(t.Context(), &out, filepath.Join(dir, "each.bin"), []string{"-test.v"})
	if !errors.Is(err, table.ErrMissed) {
		t.Errorf("it ended with %v", err)
	}
	for _, line := range []string{"--- FAIL: TestA ", "--- FAIL: TestAB ", "--- PASS: TestABC ", "--- PASS: TestABC/sub "} {
		if n := strings.Count(out.String(), line); n != 1 {
			t.Errorf("%d times %q in\n%s", n, line, out.String())
		}
	}
}
