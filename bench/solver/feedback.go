package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// tested is what benchmint test says.
type tested struct {
	Passed, Wanted int
	Limit, Detail  string
	Tests          []testedOne
}

type testedOne struct {
	ID     string
	List   string // FAIL_TO_PASS or PASS_TO_PASS
	Status string
	Why    string
	Trace  string
}

// finding is one of benchmint lint.
type finding struct {
	Tool, Path, Rule, Message string
	Line                      int
}

// feedback is what a solver hears of its folder.
type feedback interface {
	// test runs the tests of a file or package, or all tests for "".
	test(ctx context.Context, module string) (tested, error)
	lint(ctx context.Context) ([]finding, error)
}

// program is the feedback of benchmint on one folder.
type program struct{ path, dataset, id, folder string }

func (p program) test(ctx context.Context, module string) (tested, error) {
	var out tested
	var names []string
	if module != "" {
		names = []string{module}
	}
	err := p.ask(ctx, &out, "test", names...)
	return out, err
}

func (p program) lint(ctx context.Context) ([]finding, error) {
	var out struct{ Findings []finding }
	err := p.ask(ctx, &out, "lint")
	return out.Findings, err
}

func (p program) ask(ctx context.Context, v any, verb string, names ...string) error {
	cmd := exec.CommandContext(ctx, p.path, append([]string{verb, "--json", "--dataset", p.dataset, p.id, p.folder}, names...)...)
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: something does not pass
		return fmt.Errorf("benchmint %s: %w", verb, err)
	}
	if err := json.Unmarshal(said, v); err != nil {
		return fmt.Errorf("benchmint %s: %w", verb, err)
	}
	return nil
}
