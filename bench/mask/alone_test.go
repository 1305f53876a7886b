package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/mask"
)

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

func BenchmarkA(b *testing.B) {}
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
	err := (&bench{alone: time.Minute}).each(t.Context(), &out, filepath.Join(dir, "each.bin"), []string{"-test.v"})
	if !errors.Is(err, table.ErrMissed) {
		t.Errorf("it ended with %v", err)
	}
	for _, line := range []string{"--- FAIL: TestA ", "--- FAIL: TestAB ", "--- PASS: TestABC ", "--- PASS: TestABC/sub "} {
		if n := strings.Count(out.String(), line); n != 1 {
			t.Errorf("%d times %q in\n%s", n, line, out.String())
		}
	}
}

// What aborts ends its own process only, and what expects a panic is told from the rest.
func TestLibtest(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rustc"); err != nil {
		t.Skip("NOT TESTED: no rustc: ", err)
	}
	dir := t.TempDir()
	source := `fn masked() { unimplemented!("masked: masked") }
extern "C" fn boundary() { masked() }
#[test] fn aborts() { boundary() }
#[test] fn fails() { masked() }
#[test] #[should_panic] fn expects() { masked() }
#[test] fn survives() { print!("no line's end"); assert!(std::panic::catch_unwind(masked).is_err()) }
#[test] fn passes() {}
#[test] fn waits() { std::thread::sleep(std::time::Duration::MAX) }
#[test] #[ignore] fn ignored() {}
mod m { #[test] fn passes() {} }
`
	if err := os.WriteFile(filepath.Join(dir, "a.rs"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "rustc", "--test", "-o", "tests.bin", "a.rs")
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var out bytes.Buffer
	b := bench{alone: 10 * time.Second} // more than a busy machine needs for the others
	if err := b.libtest(t.Context(), &out, filepath.Join(dir, "tests.bin"), nil); !errors.Is(err, table.ErrMissed) {
		t.Errorf("it ended with %v", err)
	}
	want := results{" aborts": failed, " fails": failed, " expects": excused, " survives": excused, " passes": passed, " waits": failed, " m::passes": passed}
	if diff := cmp.Diff(want, cargo(out.Bytes())); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, out.String())
	}
}

// A program without libtest is run once, with what it was given.
func TestLibtestOther(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" != --list ] && echo \"ran $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	b := bench{alone: time.Minute}
	if err := b.libtest(t.Context(), &out, program, []string{"-q"}); err != nil || out.String() != "ran -q\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// What is announced stands on the line of the panic, in masked functions only.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	source, starter := t.TempDir(), filepath.Join(t.TempDir(), "starter")
	text := "package a\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int { return 2 }\n\nfunc init() { panic(\"masked: F\") }\n\ntype T struct{}\n\nfunc (T) M() {\n\tF()\n}\n"
	if err := os.WriteFile(filepath.Join(source, "a.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := mask.Run(t.Context(), mask.Options{Source: source, Output: starter, Profile: mask.Strict, Languages: []mask.Language{golang.Masker{}}}); err != nil {
		t.Fatal(err)
	}
	if err := announce(starter); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(starter, "a.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"return 1", `println("masked: F"); panic("masked: F")`, "return 2", `println("masked: G"); panic("masked: G")`, "\tF()", "\t"+`println("masked: T.M"); panic("masked: T.M")`,
	).Replace(text)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
