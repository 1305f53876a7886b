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
	test(ctx context.Context) (tested, error)
	lint(ctx context.Context) ([]finding, error)
}

// program is the feedback of benchmint on one folder.
type program struct{ path, dataset, id, folder string }

func (p program) test(ctx context.Context) (tested, error) {
	var out tested
	err := p.ask(ctx, &out, "test")
	return out, err
}

func (p program) lint(ctx context.Context) ([]finding, error) {
	var out struct{ Findings []finding }
	err := p.ask(ctx, &out, "lint")
	return out.Findings, err
}

func (p program) ask(ctx context.Context, v any, verb string) error {
	cmd := exec.CommandContext(ctx, p.path, verb, "--json", "--dataset", p.dataset, p.id, p.folder)
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
