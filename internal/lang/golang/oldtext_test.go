package golang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// unended are tests that print without a line end, at every place that package testing may
// write behind it, and print what looks like its lines.
const unended = `package ends

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestPrints(t *testing.T) { fmt.Print("a") }

func TestFails(t *testing.T) { fmt.Print("b"); t.Error("wrong") }

func TestSkips(t *testing.T) { fmt.Fprint(os.Stderr, "c"); t.Skip("not here") }

func TestDeep(t *testing.T) {
	fmt.Print("d")
	t.Run("one", func(t *testing.T) { fmt.Print("e"); t.Run("two", func(t *testing.T) { fmt.Print("f") }) })
	fmt.Print("g")
	t.Run("bad", func(t *testing.T) { fmt.Print("h"); t.Fail() })
}

func TestBeside(t *testing.T) {
	for i := 0; i < 3; i++ {
		i := i
		t.Run(fmt.Sprint("n", i), func(t *testing.T) {
			fmt.Print("begins")
			t.Parallel()
			for n := 0; n < 5; n++ {
				fmt.Print("on")
				time.Sleep(time.Millisecond)
			}
			if i == 1 {
				t.Fail()
			}
		})
	}
}

func TestParallel(t *testing.T) { t.Parallel(); fmt.Print("p"); time.Sleep(5 * time.Millisecond); fmt.Print("q") }

func TestParallelFails(t *testing.T) { t.Parallel(); fmt.Print("r"); time.Sleep(5 * time.Millisecond); t.Fail() }

func TestClaims(t *testing.T) {
	fmt.Println("it says --- PASS: TestClaims (0.00s)")
	fmt.Println("and === RUN   TestClaims/phantom")
	t.Log("--- PASS: TestClaims (0.00s)\nand --- PASS: TestClaims (0.00s)")
	t.Log("--- FAIL: TestPrints (0.00s)")
	fmt.Println("and --- FAIL: TestParallel (0.00s)")
	fmt.Print("x")
	t.Fail()
}

func TestSwallows(t *testing.T) {
	real := os.Stdout
	_, w, _ := os.Pipe()
	os.Stdout = w
	defer func() { os.Stdout = real }()
	t.Run("inside", func(t *testing.T) {})
}

func ExampleF() {
	fmt.Print("y")
	// Output: y
}
`

// No result is lost or made up, whatever stands before it in its line, in any Go.
func TestUnendedLines(t *testing.T) {
	t.Parallel()
	m := memory{"go.mod": "module example.com/ends\n", "e_test.go": unended}
	want := []string{"finished", "TestPrints passed", "TestFails failed", "TestSkips skipped",
		"TestDeep failed", "TestDeep/one passed of TestDeep", "TestDeep/one/two passed of TestDeep/one", "TestDeep/bad failed of TestDeep",
		"TestBeside failed", "TestBeside/n0 passed of TestBeside", "TestBeside/n1 failed of TestBeside", "TestBeside/n2 passed of TestBeside",
		"TestParallel passed", "TestParallelFails failed", "TestClaims failed", "TestSwallows passed", "TestSwallows/inside passed of TestSwallows", "ExampleF passed",
	}
	for minor, version := range map[string]string{"local": "1.26.0", "1.19": "1.19.13", "1.16": "1.16.15", "1.13": "1.13.15", "1.11": "1.11.13"} {
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			exe := goAt(t, minor)
			for n := range 3 {
				report := runReal(t, exe, m, lang.Select{Number: 1}, version)
				if diff := cmp.Diff(map[string][]string{"example.com/ends": want}, sketch(report)); diff != "" {
					t.Errorf("run %d (-want +got):\n%s", n, diff)
				}
				for _, u := range report.Units {
					if u.State != testlog.Finished || u.Unproved {
						t.Errorf("%+v", u)
					}
				}
			}
		})
	}
}

// TestOldText: what is read of a program's text, where its end decides what its middle is.
func TestOldText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"glued_result":         {"=== RUN   A\nx--- PASS: A (0.00s)\nPASS\n", "run A, pass A"},
		"the_last_one":         {"=== RUN   A\nx--- PASS: A (0.00s)\ny--- FAIL: A (0.00s)\nFAIL\n", "run A, fail A"},
		"each_round":           {"=== RUN   A\nx--- FAIL: A (0.00s)\n=== RUN   A\nx--- PASS: A (0.00s)\nPASS\n", "run A, fail A, run A, pass A"},
		"of_another":           {"=== RUN   A\nx--- PASS: B (0.00s)\n--- PASS: A (0.00s)\n=== RUN   B\n--- FAIL: B (0.00s)\nFAIL\n", "run A, pass A, run B, fail B"},
		"of_one_that_ended":    {"=== RUN   A\n--- FAIL: A (0.00s)\n=== RUN   B\nx--- PASS: A (0.00s)\n--- PASS: B (0.00s)\nFAIL\n", "run A, fail A, run B, pass B"},
		"of_one_that_ended_so": {"=== RUN   A\nx--- PASS: A (0.00s)\n=== RUN   B\ny--- FAIL: A (0.00s)\n--- PASS: B (0.00s)\nPASS\n", "run A, pass A, run B, pass B"},
		"of_one_that_waits":    {"=== RUN   A\n=== PAUSE A\n=== RUN   B\ny--- PASS: A (0.00s)\n--- PASS: B (0.00s)\n=== CONT  A\nz--- FAIL: A (0.00s)\nFAIL\n", "run A, pause A, run B, pass B, cont A, fail A"},
		"phantom_subtest":      {"=== RUN   A\nx=== RUN   A/p\n--- PASS: A (0.00s)\nPASS\n", "run A, pass A"},
		"no_test_above":        {"x=== RUN   A/p\n--- PASS: A/p (0.00s)\nPASS\n", "pass A/p"},
		"quoted":               {"=== RUN   A\ngot \"--- PASS: A (0.00s)\"\n--- FAIL: A (0.00s)\nFAIL\n", "run A, fail A"},
		"two_in_a_line":        {"=== RUN   A\n--- PASS: A (0.00s)--- FAIL: A (0.00s)\nFAIL\n", "run A, fail A"},
		"log_below_a_result":   {"=== RUN   A\n--- FAIL: A (0.00s)\n    a_test.go:1: --- PASS: A (0.00s)\nFAIL\n", "run A, fail A"},
		"subtest_swallowed":    {"=== RUN   A\n--- PASS: A (0.00s)\n    --- PASS: A/s (0.00s)\nPASS\n", "run A, run A/s, pass A/s, pass A"},
		"subtest_of_another":   {"=== RUN   A\n--- PASS: A (0.00s)\n    --- PASS: B/s (0.00s)\nPASS\n", "run A, pass B/s, pass A"},
		"killed":               {"=== RUN   A\nhalf a line", "run A"},
	} {
		lines := strings.SplitAfter(c.text, "\n")
		var all []string
		for len(lines) > 0 { // events of one piece or several: it is the same text
			all = append(all, ev("output", "Wrong", strings.ReplaceAll(strings.ReplaceAll(lines[0], "\n", `\n`), `"`, `\"`)))
			lines = lines[1:]
		}
		var got []string
		p := &stream{packages: map[string]*packageState{}, unmarked: true}
		for _, line := range all {
			p.line([]byte(line))
		}
		readText(p.pkg("p").text.String(), false, func(e event) {
			if e.Action != "output" {
				got = append(got, e.Action+" "+e.Test)
			}
		})
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	for version, want := range map[string]bool{"1.11.13": true, "1.19.13": true, "1.20.1": false, "1.26.0": false, "": false} {
		if r := (schemas.Recipe{Toolchain: schemas.Toolchain{Name: Name, Version: version}}); unmarked(r) != want {
			t.Errorf("%q: unmarked is %v", version, unmarked(r))
		}
	}
}

// Nothing of a text is lost in its events, and none of them ends what is not there.
func FuzzOldText(f *testing.F) {
	f.Add("=== RUN   A\nx--- PASS: A (0.00s)\n    --- PASS: A/s (0.00s)\nPASS\n")
	f.Add("a=== CONT  A\n=== PAUSE A\n\x16=== RUN   B\n")
	f.Fuzz(func(t *testing.T, text string) {
		var again strings.Builder
		readText(text, true, func(e event) {
			again.WriteString(e.Output)
			if e.Action != "output" && e.Test == "" {
				t.Fatal(fmt.Sprint(e))
			}
		})
		if again.String() != text {
			t.Fatalf("%q became %q", text, again.String())
		}
		Language{}.Parse(schemas.Recipe{Toolchain: schemas.Toolchain{Name: Name, Version: "1.16"}}, []lang.Output{{Result: sandbox.Result{End: sandbox.Exited, Output: []byte(text)}}})
	})
}
