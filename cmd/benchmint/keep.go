package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// buildFrom has environments built from what a dataset keeps, where that is all that they need.
func (t *terminal) buildFrom(d *output.Dataset) (err error) {
	if t.kept, err = d.Kept(); err != nil {
		return &ended{exitUsage, err}
	}
	return nil
}

// keeper gets packages in the sandboxes that rows were proved in. Each is opened when the first
// row asks for it.
type keeper struct {
	machine
	rooms map[string]*workshop
}

func (k *keeper) keep(ctx context.Context, kind string, r schemas.Recipe, dir string) (packages.Environment, error) {
	w := k.rooms[kind]
	if w == nil {
		var err error
		if w, err = k.require(ctx, job{builds: true, kind: kind, asks: asksFor("there are tasks", r.Language)}); err != nil {
			return packages.Environment{}, err
		}
		k.rooms[kind] = w
	}
	k.say("keeping the packages of an environment in %s", r.Language)
	e, err := w.builder.Keep(ctx, r, w.tools, dir)
	if err == nil && e.Complete && kind == config.Docker && len(r.SystemPackages) > 0 {
		e.Complete, e.Lacks = false, "Debian packages are not kept"
	}
	return e, err
}

func (k *keeper) close() error {
	var errs []error
	for _, w := range slices.Collect(maps.Values(k.rooms)) {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}
