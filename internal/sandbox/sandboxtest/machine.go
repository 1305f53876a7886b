package sandboxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Small mounts a file system of so many bytes for one test, or skips loudly where that
// cannot be done.
func Small(t *testing.T, bytes int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := mount(dir, bytes); err != nil {
		t.Skipf("NO SMALL FILE SYSTEM: mounting a tmpfs needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return dir
}

// Fill leaves a file system without room, until the returned function is called.
func Fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = f.Write(block)
	}
	f.Close()
	return func() { _ = os.Remove(name) } // a second time there is none
}

// WantShort is that a result is a shortage of the machine, and neither a result of the
// command nor a failed build.
func WantShort(t *testing.T, res sandbox.Result, err error, of string) {
	t.Helper()
	var short *sandbox.ShortageError
	if !errors.As(err, &short) || short.Of != of || short.Get == "" {
		t.Errorf("%s, exit %d, error %v; want a shortage of %s", res.End, res.ExitCode, err, of)
	}
	if errors.As(err, new(*sandbox.BuildError)) {
		t.Errorf("a shortage of the machine reads as a failed build: %v", err)
	}
}

// diskOfTheMachine: below the floor nothing starts, and what ran while there was no
// room is no result, also where nothing of its own was written.
func diskOfTheMachine(t *testing.T, b *box) {
	if b.kind.OnSmall == nil {
		t.Skip("the disk of this kind is out of sight")
	}
	s, dir := b.kind.OnSmall(t)
	base, err := s.Base(timeout(t), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	build := sandbox.Build{Key: b.key(t), Parent: base, Limits: small, Steps: commands(bash(`sleep 20; exit 3`))}
	run := sandbox.Run{Layer: base, Limits: small, Command: bash(`sleep 20; exit 1`)}
	for name, do := range map[string]func(context.Context) (sandbox.Result, error){
		"run":   func(ctx context.Context) (sandbox.Result, error) { return s.Run(ctx, run) },
		"build": func(ctx context.Context) (sandbox.Result, error) { _, res, err := s.Build(ctx, build); return res, err },
	} {
		began := time.Now()
		free := make(chan func(), 1)
		go func() {
			time.Sleep(2 * time.Second) // it has begun
			free <- Fill(t, dir)
		}()
		res, err := do(timeout(t))
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s went on for %v on a full disk", name, took)
		}
		WantShort(t, res, err, "disk")
		undo := <-free
		began = time.Now()
		res, err = do(timeout(t))
		WantShort(t, res, err, "disk")
		if !strings.Contains(err.Error(), dir) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: refused after %v with %v", name, time.Since(began), err)
		}
		undo()
	}
	// With room again, all is well.
	res, err := s.Run(timeout(t), sandbox.Run{Layer: base, Limits: small, Command: bash(`exit 7`)})
	if err != nil || res.ExitCode != 7 {
		t.Errorf("with room again: exit %d, %v", res.ExitCode, err)
	}
}

// killedFromOutside: a sandbox that somebody else ends says nothing of its command.
func killedFromOutside(t *testing.T, b *box) {
	for name, do := range map[string]func(context.Context, schemas.Command) (sandbox.Result, error){
		"run": func(ctx context.Context, c schemas.Command) (sandbox.Result, error) {
			return b.Run(ctx, sandbox.Run{Layer: b.base, Limits: small, Command: c})
		},
		"build": func(ctx context.Context, c schemas.Command) (sandbox.Result, error) {
			_, res, err := b.Build(ctx, sandbox.Build{Key: b.key(t), Parent: b.base, Limits: small, Steps: commands(c)})
			return res, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := b.marker()
			go func() {
				for range 200 {
					time.Sleep(50 * time.Millisecond)
					if len(Processes("sleep "+m)) > 0 {
						b.kind.Kill(t, m)
						return
					}
				}
			}()
			res, err := do(timeout(t), bash(`sleep "$1"`, m))
			if err == nil || errors.As(err, new(*sandbox.BuildError)) || !strings.Contains(err.Error(), "killed from outside") {
				t.Errorf("%s, exit %d, error %v; want one that says that it was killed", res.End, res.ExitCode, err)
			}
			wantNoProcess(t, m)
		})
	}
}
