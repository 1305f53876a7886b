package main

import (
	"context"
	"os/exec"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/pdf"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// chromium is the browser of this machine that prints specifications; nil where there is
// none, or none that starts, with the error of that.
func chromium(ctx context.Context) (*pdf.Printer, error) {
	var last error
	for _, name := range pdf.Names {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		printer, err := pdf.New(ctx, program)
		if err == nil {
			return printer, nil
		}
		last = err
	}
	return nil, last
}

// withPrinter adds what prints specifications, where libraries are made. Without it they have
// no PDF, and their rows say so.
func withPrinter(ctx context.Context, d stages.Deps, c *config.Config) stages.Deps {
	if !c.Makes(schemas.KindLibrary) {
		return d
	}
	if printer, _ := chromium(ctx); printer != nil {
		d.Printer, d.PrintedBy = printer, printer.Version
	}
	return d
}

// checkChromium: what prints the specifications of libraries.
func checkChromium(ctx context.Context) finding {
	f := finding{Name: "chromium", State: stateOK, Why: "prints the specifications of libraries", Get: "apt-get install " + pdf.Package}
	printer, err := chromium(ctx)
	switch {
	case err != nil:
		f.State, f.Detail = stateWeaker, err.Error()
	case printer == nil:
		f.State, f.Detail = stateMissing, "not installed: specifications of libraries have no PDF"
	default:
		f.Detail = printer.Version
	}
	return f
}
