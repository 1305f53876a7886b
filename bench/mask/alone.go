package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/mask"
)

// child runs the tests of a program in one process each.
func (b *bench) child(ctx context.Context, what string, args []string) error {
	switch {
	case what == "each" && len(args) > 0:
		return b.each(ctx, os.Stdout, args[0], args[1:])
	case what == "libtest" && len(args) > 0:
		return b.libtest(ctx, os.Stdout, args[0], args[1:])
	}
	return errors.New("-child is each or libtest, with a program and its arguments")
}

// each runs the tests of a Go test program in a process each, as go test -exec has it
// run: what panics ends its process.
func (b *bench) each(ctx context.Context, out io.Writer, program string, args []string) error {
	said, err := exec.CommandContext(ctx, program, "-test.list=^(Test|Example|Fuzz)").Output()
	if err != nil {
		return fmt.Errorf("its tests: %w", err)
	}
	return all(strings.Fields(string(said)), func(name string) (bool, error) {
		return b.ends(ctx, out, program, append(slices.Clone(args), "-test.run=^"+regexp.QuoteMeta(name)+"$"))
	})
}

// libtest does the same for a test program of Rust, as a runner of cargo's target: what
// panics where nothing may, or overflows the stack, ends its process. A program that
// lists no tests is run as it is.
func (b *bench) libtest(ctx context.Context, out io.Writer, program string, args []string) error {
	names, err := listed(ctx, program)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return all([]string{program}, func(string) (bool, error) { return b.ends(ctx, out, program, args) })
	}
	skipped, err := listed(ctx, program, "--ignored")
	if err != nil {
		return err
	}
	return all(names, func(name string) (bool, error) {
		if slices.Contains(skipped, name) {
			return true, nil
		}
		var said bytes.Buffer
		ok, err := b.ends(ctx, &said, program, append(slices.Clone(args), "--exact", name, "--nocapture"))
		word := "FAILED"
		if ok {
			word = "ok"
		}
		fmt.Fprintf(out, "%s\ntest %s ... %s\n", said.Bytes(), name, word)
		return ok, err
	})
}

func listed(ctx context.Context, program string, args ...string) ([]string, error) {
	said, err := exec.CommandContext(ctx, program, append(args, "--list", "--format", "terse")...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(said)) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), ": test"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// all does something for each, whatever becomes of the others; table.ErrMissed where one
// did not end well.
func all(names []string, do func(name string) (bool, error)) error {
	well := true
	for _, name := range names {
		ok, err := do(name)
		if err != nil {
			return err
		}
		well = well && ok
	}
	if !well {
		return table.ErrMissed
	}
	return nil
}

// ends runs a program, and reports whether it ended well, and in time: what waits for a
// thread that has failed waits for ever.
func (b *bench) ends(ctx context.Context, out io.Writer, program string, args []string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.alone)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...) // of the suite's group, which is ended whole
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, 10*time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) || ctx.Err() != nil {
		return false, nil
	}
	return err == nil, err
}

// announce makes what is masked of Go say so before it panics: nothing else tells of a
// panic that a test recovers from. The lines stay what they are.
func announce(starter string) error {
	m, err := mask.ReadManifest(mask.ManifestPath(starter))
	if err != nil {
		return err
	}
	for _, f := range m.Files {
		if f.Language != "go" || f.Before == f.After {
			continue
		}
		name := filepath.Join(starter, filepath.FromSlash(f.Path))
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, announced(source, f.Functions), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func announced(source []byte, functions []mask.Definition) []byte {
	for _, f := range slices.Backward(functions) {
		if f.Done != mask.Masked {
			continue
		}
		message := strconv.Quote(failure + f.Name)
		if i := bytes.LastIndex(source[:f.Output.End], []byte("panic("+message+")")); i >= f.Output.Start {
			source = slices.Insert(source, i, []byte("println("+message+"); ")...)
		}
	}
	return source
}
