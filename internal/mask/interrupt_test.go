package mask_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// ending is a context that ends when it was asked a number of times, and counts.
type ending struct {
	context.Context
	cancel context.CancelFunc
	asked  atomic.Int64
	at     int64 // never, for 0
}

func endingAt(t *testing.T, at int64) *ending {
	ctx, cancel := context.WithCancel(t.Context())
	return &ending{Context: ctx, cancel: cancel, at: at}
}

func (e *ending) Err() error {
	if e.asked.Add(1) == e.at {
		e.cancel()
	}
	return e.Context.Err()
}

// only wants nothing but these names in a folder.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	held, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range held {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("in the folder, -want +got:\n%s", diff)
	}
}

// Wherever a run is ended, it ends, and nothing of it is left.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	const long = 40
	var tree strings.Builder
	tree.WriteString("-- big.bin --\nx\n-- a.py --\nclass A:\n  def m(self): f0()\nclass B(A):\n  def m(self): x\nA().m()\n")
	for i := range long {
		fmt.Fprintf(&tree, "def f%d(): f%d()\n", i, i+1)
	}
	src := source(t, tree.String())
	for name, slice := range map[string]mask.Slice{"everything": {}, "a_function": {Function: "f3"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := mask.Options{Source: src, Output: filepath.Join(dir, "new", "out"), Languages: []mask.Language{tiny{}}, Slice: slice, Workers: 1}
			whole := endingAt(t, 0)
			if _, err := mask.Run(whole, o); err != nil {
				t.Fatal(err)
			}
			must(t, os.RemoveAll(filepath.Join(dir, "new")))
			if n := whole.asked.Load(); n < long {
				t.Errorf("it was asked %d times whether to go on: not for each of %d functions that are followed", n, long)
			}
			for at := range whole.asked.Load() {
				if _, err := mask.Run(endingAt(t, at+1), o); !errors.Is(err, context.Canceled) {
					t.Fatalf("ended when asked for the %dth time: %v", at+1, err)
				}
				only(t, dir)
			}
		})
	}
}

// stopping ends its run from within: when files are read, when it is decided where they
// stand, or when what is masked is repaired.
type stopping struct {
	tiny
	in   string
	stop context.CancelFunc
	read *atomic.Int64
}

func (s stopping) Read(p string, tree *syntax.Tree) *mask.File {
	s.read.Add(1)
	if s.in == "read" {
		s.stop()
	}
	f := s.tiny.Read(p, tree)
	f.Repair = func(func(int) bool) []mask.Edit {
		if s.in == "write" {
			s.stop()
		}
		return nil
	}
	return f
}

func (s stopping) Strays([]string) []string {
	if s.in == "decide" {
		s.stop()
	}
	return nil
}

func (stopping) ImportedBy([]byte) []string { return nil }

var _ mask.Placed = stopping{}

func TestInterruptedByPhase(t *testing.T) {
	t.Parallel()
	var tree strings.Builder
	const many = 300
	for i := range many {
		fmt.Fprintf(&tree, "-- f%d.py --\ndef f(): x\nf()\n", i)
	}
	src := source(t, tree.String())
	for _, phase := range []string{"read", "decide", "write"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			l := stopping{in: phase, stop: stop, read: new(atomic.Int64)}
			_, err := mask.Run(ctx, mask.Options{Source: src, Output: filepath.Join(dir, "out"), Languages: []mask.Language{l}, Workers: 2})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if n := l.read.Load(); phase == "read" && n > many/2 {
				t.Errorf("%d files were read after the end", n)
			}
			only(t, dir)
		})
	}
}

// A file of any size is written in pieces, and between them the run may end.
func TestInterruptedInALargeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "src", "large.bin"), bytes.Repeat([]byte("x"), 1<<20))
	o := mask.Options{Source: filepath.Join(dir, "src"), Output: filepath.Join(dir, "out"), Languages: []mask.Language{tiny{}}}
	whole := endingAt(t, 0)
	if _, err := mask.Run(whole, o); err != nil {
		t.Fatal(err)
	}
	if n := whole.asked.Load(); n < 1<<20/(64<<10) {
		t.Errorf("it was asked %d times", n)
	}
}

// An undo that was ended is finished by another.
func TestUndoInterrupted(t *testing.T) {
	t.Parallel()
	src := source(t, project)
	result, _ := starter(t, mask.Options{Source: src})
	whole := endingAt(t, 0)
	if _, err := mask.Undo(whole, result.Undo, result.Output); err != nil {
		t.Fatal(err)
	}
	for at := range whole.asked.Load() {
		result, _ := starter(t, mask.Options{Source: src})
		if _, err := mask.Undo(endingAt(t, at+1), result.Undo, result.Output); !errors.Is(err, context.Canceled) {
			t.Fatalf("ended when asked for the %dth time: %v", at+1, err)
		}
		undoes(t, src, result.Output)
	}
}

// What a killed run left beside an output goes with the next one; what a run that lives
// holds stays, and so does what others put there.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "src", "a.py"), []byte("def f(): x\n"))
	for _, name := range []string{".out.mask-17", ".out.mask-18", ".out.mask-notes", ".other.mask-17"} {
		put(t, filepath.Join(dir, name, "tree", "a.py"), []byte("x"))
	}
	put(t, filepath.Join(dir, ".out.mask-19"), nil)
	held, err := os.Open(filepath.Join(dir, ".out.mask-18"))
	must(t, err)
	defer func() { _ = held.Close() }() // only held
	must(t, unix.Flock(int(held.Fd()), unix.LOCK_EX))
	if _, err := mask.Run(t.Context(), mask.Options{Source: filepath.Join(dir, "src"), Output: filepath.Join(dir, "out"), Languages: []mask.Language{tiny{}}}); err != nil {
		t.Fatal(err)
	}
	only(t, dir, ".other.mask-17", ".out.mask-18", ".out.mask-19", ".out.mask-notes", "out", "out.mask.json", "out.mask.undo", "src")
}

// racing is a language during the reading of which another run takes the output.
type racing struct {
	tiny
	other func()
}

func (r racing) Read(p string, tree *syntax.Tree) *mask.File {
	r.other()
	return r.tiny.Read(p, tree)
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "src", "a.py"), []byte("def f(): x\n"))
	put(t, filepath.Join(dir, "other", "b.py"), []byte("def g(): x\n"))
	out := filepath.Join(dir, "out")
	other := func() {
		if _, err := mask.Run(t.Context(), mask.Options{Source: filepath.Join(dir, "other"), Output: out, Languages: []mask.Language{tiny{}}}); err != nil {
			t.Error(err)
		}
	}
	_, err := mask.Run(t.Context(), mask.Options{Source: filepath.Join(dir, "src"), Output: out, Languages: []mask.Language{racing{other: other}}})
	if !errors.Is(err, mask.ErrUnmet) || !strings.Contains(err.Error(), "out.mask.undo is there already, from another run") {
		t.Errorf("the second one: %v", err)
	}
	only(t, dir, "other", "out", "out.mask.json", "out.mask.undo", "src")
	undoes(t, filepath.Join(dir, "other"), out)

	// Somebody puts a file into the empty output.
	out = filepath.Join(dir, "empty")
	must(t, os.Mkdir(out, 0o755))
	_, err = mask.Run(t.Context(), mask.Options{Source: filepath.Join(dir, "src"), Output: out, Languages: []mask.Language{racing{other: func() { put(t, filepath.Join(out, "mine"), nil) }}}})
	if !errors.Is(err, mask.ErrUnmet) {
		t.Errorf("got %v", err)
	}
	only(t, out, "mine")
	only(t, dir, "empty", "other", "out", "out.mask.json", "out.mask.undo", "src")
}

// A file that is another when it is written than it was when it was read is not in the
// starter: what was decided is not for it.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const before = "def f(): x\n"
	for name, after := range map[string]string{"longer": "def f(): x\ny = 1\n", "shorter": "x\n", "as_long": "def g(): x\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, file := range []string{"a.py", "b.py", "tests/c.py", "d.bin", "vendor/e.py"} {
				put(t, filepath.Join(dir, "src", file), []byte(before))
			}
			read := 0
			l := racing{other: func() {
				if read++; read == 3 { // all that are
					for _, file := range []string{"a.py", "tests/c.py", "d.bin", "vendor/e.py"} {
						put(t, filepath.Join(dir, "src", file), []byte(after))
					}
				}
			}}
			result, _ := starter(t, mask.Options{Source: filepath.Join(dir, "src"), Output: filepath.Join(dir, "out"), Languages: []mask.Language{l}, Workers: 1})
			why := []string{"a.py: it changed while it was read", "d.bin: it changed while it was read", "tests/c.py: it changed while it was read", "vendor/e.py: it changed while it was read"}
			if name == "as_long" { // nothing was read of d.bin before
				why = slices.Delete(why, 1, 2)
			}
			if diff := cmp.Diff(why, result.Failed); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// However many files there are, no step goes over all of them without asking.
func TestEachStepAsks(t *testing.T) {
	t.Parallel()
	asked := func(files int) int64 {
		var tree strings.Builder
		for i := range files {
			fmt.Fprintf(&tree, "-- f%d.py --\nclass A:\n  def m(self): x\n", i)
		}
		ctx := endingAt(t, 0)
		o := mask.Options{Source: source(t, tree.String()), Output: filepath.Join(t.TempDir(), "out"), Languages: []mask.Language{tiny{}}, Workers: 1}
		if _, err := mask.Run(ctx, o); err != nil {
			t.Fatal(err)
		}
		return ctx.asked.Load()
	}
	// The walk, anchors, the tables of names, what is loaded, who calls whom.
	const files, steps = 20, 7
	if n := asked(files+1) - asked(1); n < files*steps {
		t.Errorf("%d files more ask %d times more, want %d", files, n, files*steps)
	}
}
