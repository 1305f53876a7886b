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

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/mask"
)

// each runs the tests of a Go test program in a process each, as go test -exec has it
// run: what panics ends its process.
func each(ctx context.Context, out io.Writer, program string, args []string) error {
	said, err := exec.CommandContext(ctx, program, "-test.list=^(Test|Example|Fuzz)").Output()
	if err != nil {
		return fmt.Errorf("its tests: %w", err)
	}
	return all(strings.Fields(string(said)), func(name string) (bool, error) {
		return ends(exec.CommandContext(ctx, program, append(slices.Clone(args), "-test.run=^"+regexp.QuoteMeta(name)+"$")...), out)
	})
}

// libtest does the same for a test program of Rust, as a runner of cargo's target: what
// panics where nothing may, or overflows the stack, ends its process. A program that
// lists no tests is run as it is.
func libtest(ctx context.Context, out io.Writer, program string, args []string) error {
	names, err := listed(ctx, program)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return all([]string{program}, func(string) (bool, error) { return ends(exec.CommandContext(ctx, program, args...), out) })
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
		ok, err := ends(exec.CommandContext(ctx, program, append(slices.Clone(args), "--exact", name, "--nocapture")...), &said)
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

// ends runs a command, and tells whether it ended well.
func ends(cmd *exec.Cmd, out io.Writer) (bool, error) {
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
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
