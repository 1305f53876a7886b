package php

import (
	"context"
	"strconv"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
)

var _ verify.Language = Masker{}

// Toolchain is the php of this machine.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("php")
	if err != nil {
		return nil, err
	}
	version, err := m.Ask(ctx, program, "-n", "-r", "echo PHP_VERSION;")
	if err != nil {
		return nil, err
	}
	kit := &verify.Kit{Label: "php " + version}
	kit.Program, err = kit.ShowProgram("php", program)
	return kit, err
}

// Checks read every changed file; nothing of it is run.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	return []verify.Check{verify.EachFile("php -l", t, []string{k.Program, "-n", "-d", "display_errors=1", "-l"}, linted)}, nil
}

var lintError = lazyregexp.New(`(?m)^(?:PHP )?((?:Parse|Fatal) error: .*) in .* on line (\d+)`)

func linted(_, said string) verify.Fault {
	m := lintError.FindStringSubmatch(said)
	if m == nil {
		return verify.Fault{Message: verify.First(said)}
	}
	line, _ := strconv.Atoi(m[2]) // digits
	return verify.Fault{Line: line, Message: m[1]}
}
