package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/store"
)

// workshop is where environments are made and tests run: one sandbox with the
// toolchains and languages that it is used with.
type workshop struct {
	kind    string
	builder *environment.Builder
	close   func() error
}

// openWorkshop opens the sandbox of the configuration, held to what the store was
// begun with: results of two kinds are never mixed.
func (p *program) openWorkshop(ctx context.Context, c *config.Config, s *store.Store) (*workshop, error) {
	fixed, err := s.Fix("sandbox", "")
	if err != nil {
		return nil, err
	}
	want := c.Sandbox.Kind
	if fixed != "" && want != "" && want != fixed {
		return nil, unmet("the store at %s was begun with %s, and %s asks for %s: results of two sandboxes are never mixed; use another --store", folderOf(c), fixed, c.Origin("sandbox.kind"), want)
	}
	if want == "" {
		want = fixed
	}
	w, err := p.tryKinds(ctx, c, want)
	if err != nil {
		return nil, err
	}
	if _, err := s.Fix("sandbox", w.kind); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// tryKinds opens the kind that is wanted; "" takes the first that works here.
func (p *program) tryKinds(ctx context.Context, c *config.Config, want string) (*workshop, error) {
	kinds := []string{config.Docker, config.Bwrap}
	if want != "" {
		kinds = []string{want}
	}
	var faults []error
	for _, kind := range kinds {
		box, closer, err := p.openSandbox(ctx, kind, c)
		if err == nil {
			return &workshop{kind: kind, close: closer, builder: &environment.Builder{
				Sandbox: box, Toolchains: p.toolchains(c), Languages: languages(), Limits: c.Sandbox.Limits(),
			}}, nil
		}
		faults = append(faults, fmt.Errorf("sandbox %s: %w", kind, err))
	}
	return nil, unmet("%w\nsee benchmint doctor for what is missing and the command that gets it", errors.Join(faults...))
}
