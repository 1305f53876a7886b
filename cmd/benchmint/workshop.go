package main

import (
	"context"
	"errors"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/schemas"
)

// workshop is where environments are made and tests run: one sandbox with the
// toolchains and languages that it is used with.
type workshop struct {
	kind    string
	box     sandbox.Sandbox // that of the builder, as it was opened
	builder *environment.Builder
	tools   *toolchain.Store // those of the builder
	close   func() error
}

// newWorkshop is a workshop in a sandbox that is open.
func (m machine) newWorkshop(kind string, box sandbox.Sandbox, closer func() error) *workshop {
	tools := m.toolchains()
	builder := &environment.Builder{
		Sandbox: sandbox.Again(box), Toolchains: tools, Languages: plugins.Languages(), Runners: plugins.Runners(), Limits: m.config.Sandbox.Limits(),
	}
	if m.kept != nil {
		builder.Packages = m.kept
	}
	return &workshop{kind: kind, box: box, tools: tools, builder: builder, close: func() error {
		return errors.Join(builder.Close(context.Background()), closer())
	}}
}

// shut is close for a workshop that may not have been opened.
func (w *workshop) shut() error {
	if w == nil {
		return nil
	}
	return w.close()
}

// openWorkshop opens the sandbox of the configuration, held to what the store was
// begun with. asks says who needs a language.
func (m machine) openWorkshop(ctx context.Context, s *store.Store, asks func(context.Context, string) string) (*workshop, error) {
	kind, err := m.kindFor(s)
	if err != nil {
		return nil, err
	}
	w, err := m.require(ctx, job{builds: true, kind: kind, asks: asks})
	if err != nil {
		return nil, err
	}
	if err := m.keepKind(s, w); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// kindFor is the kind of sandbox that a store was begun with, else the one that is
// asked for; results of two kinds are never mixed.
func (m machine) kindFor(s *store.Store) (string, error) {
	fixed, err := s.Fix("sandbox", "")
	if err != nil || fixed == "" {
		return wantedKind(m.config), err
	}
	if m.config.Service.Env && m.config.Makes(schemas.KindService) && fixed != config.Docker {
		return "", unmet("service.env needs sandbox.kind docker, and the store at %s was begun with %s; use another --store", m.config.Store, fixed)
	}
	if want := m.config.Sandbox.Kind; want != "" && want != fixed {
		return "", unmet("the store at %s was begun with %s, and %s asks for %s: results of two sandboxes are never mixed; use another --store", m.config.Store, fixed, m.config.Origin("sandbox.kind"), want)
	}
	return fixed, nil
}

// wantedKind is the kind of sandbox that the configuration asks for; "" is any.
func wantedKind(c *config.Config) string {
	if c.Sandbox.Kind == "" && c.Service.Env && c.Makes(schemas.KindService) {
		return config.Docker // which alone has images
	}
	return c.Sandbox.Kind
}

// keepKind remembers the workshop's kind in a store that has none yet.
func (m machine) keepKind(s *store.Store, w *workshop) error {
	if w.kind == "" {
		return nil // nothing is built
	}
	fixed, err := s.Fix("sandbox", w.kind)
	if err == nil && fixed != w.kind {
		err = unmet("the store at %s was begun with %s meanwhile: results of two sandboxes are never mixed", m.config.Store, fixed)
	}
	return err
}
