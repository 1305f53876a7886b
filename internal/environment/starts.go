package environment

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/schemas"
)

// started runs each toolchain of a base layer once, before anything is built on it: a
// copy that does not start here would fail every build, and each would look like a
// fault of the project. The error is a fault of this machine.
func (b *Builder) started(ctx context.Context, layer sandbox.Layer, toolchains []sandbox.Toolchain) error {
	if _, done := b.tried.Load(layer.Key); done {
		return nil
	}
	for _, t := range toolchains {
		argv := toolchain.Probe(t.Name, t.Version)
		if argv == nil {
			continue
		}
		res, err := b.Sandbox.Run(ctx, sandbox.Run{Layer: layer, Command: schemas.Command{Argv: argv}, Limits: sandbox.Limits{Timeout: 5 * time.Minute}})
		if err != nil {
			return fmt.Errorf("starting %s %s: %w", t.Name, t.Version, err)
		}
		if res.End != sandbox.Exited || res.ExitCode != 0 {
			return fmt.Errorf("%s %s does not start in the sandbox (%s, exit code %d): %s; its copy is %s, and benchmint clean --force makes another",
				t.Name, t.Version, res.End, res.ExitCode, bytes.TrimSpace(res.Output), t.Dir)
		}
	}
	b.tried.Store(layer.Key, true)
	return nil
}
