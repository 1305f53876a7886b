package golang

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// apartTests has what ends a test program in the middle: panics of a test, of a parallel one,
// of a subtest and of an example, an end with 0, and a pass that the program claims itself.
const apartTests = `package ends

import (
	"fmt"
	"syscall"
	"testing"
)

func TestPanics(t *testing.T) { panic("masked: F") }

func TestFine(t *testing.T) { t.Run("sub", func(t *testing.T) {}) }

func TestParallel(t *testing.T) { t.Parallel(); panic("masked: F") }

func TestSubs(t *testing.T) {
	t.Run("first", func(t *testing.T) { panic("masked: F") })
	t.Run("second", func(t *testing.T) {})
}

func TestLeaves(t *testing.T) { syscall.Exit(0) }

func TestClaims(t *testing.T) {
	fmt.Println("--- PASS: TestClaims (0.00s)\nPASS")
	syscall.Exit(0)
}

func TestAfter(t *testing.T) {}

func ExamplePanics() {
	panic("masked: F")
	// Output:
}

func TestLast(t *testing.T) { syscall.Exit(0) }
`

// apartClaims leaves with 0 where it would fail, and every process of it ends well.
const apartClaims = `package r

import (
	"fmt"
	"syscall"
	"testing"
)

func TestFirst(t *testing.T) {}

func TestClaims(t *testing.T) {
	fmt.Print("--- PASS: TestClaims (0.00s)\n\x16--- PASS: TestClaims (0.00s)\n")
	syscall.Exit(0)
}
`

// TestApart: what ends one test ends no other, and none passes by ending its process.
func TestApart(t *testing.T) {
	t.Parallel()
	for minor, version := range map[string]string{"local": "1.26.0", "1.19": "1.19.13", "1.13": "1.13.15"} {
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			r := schemas.Recipe{Apart: true, Toolchain: schemas.Toolchain{Name: Name, Version: version}, Test: []schemas.Command{{Argv: []string{goAt(t, minor), "test", "./..."}, Env: offline}}}
			m := memory{"go.mod": "module example.com/ends\n\ngo 1.13\n", "p/a_test.go": apartTests, "p/b.go": "package ends\n", "q/q.go": "package q\n", "r/r_test.go": apartClaims}
			report := runRealBy(t, r, m, lang.Select{Number: 1})
			if !report.Ended || report.Tampered != "" {
				t.Errorf("ended: %v, tampered: %q", report.Ended, report.Tampered)
			}
			got := sketch(report)["p"]
			slices.Sort(got)
			want := []string{"finished", "ExamplePanics failed", "TestAfter passed", "TestClaims failed", "TestFine passed", "TestFine/sub passed of TestFine",
				"TestLast failed", "TestLeaves failed", "TestPanics failed", "TestParallel failed", "TestSubs failed", "TestSubs/first failed of TestSubs"}
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			got = sketch(report)["r"]
			if diff := cmp.Diff([]string{"finished", "TestFirst passed", "TestClaims failed"}, got); diff != "" {
				t.Errorf("all processes end with 0 (-want +got):\n%s", diff)
			}
		})
	}
}

// TestApartLeaves: a recipe that chooses its tests, and one that does not ask for it, stay as
// they are.
func TestApartLeaves(t *testing.T) {
	t.Parallel()
	chosen := runRecipe("1.22.1")
	chosen.Apart = true
	for i := range chosen.Test {
		chosen.Test[i].Argv = []string{"go", "test", "-run=A", "./..."}
	}
	for name, r := range map[string]schemas.Recipe{"chosen": chosen, "together": runRecipe("1.22.1")} {
		if run := (Language{}).Runs(r, runTree(), lang.Select{})[0]; isApart(run) {
			t.Errorf("%s: %v", name, run.Command.Argv)
		}
	}
}
