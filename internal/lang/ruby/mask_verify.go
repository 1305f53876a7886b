package ruby

import (
	"context"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
)

var _ verify.Language = Masker{}

// Toolchain is the ruby of this machine.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("ruby")
	if err != nil {
		return nil, err
	}
	// A shim of a version manager is no ruby: it says itself where that is.
	answer, err := m.Ask(ctx, program, "--disable=gems", "-rrbconfig", "-e", "puts RUBY_VERSION, RbConfig.ruby")
	if err != nil {
		return nil, err
	}
	version, file, _ := strings.Cut(answer, "\n")
	kit := &verify.Kit{Label: "ruby " + version}
	kit.Program, err = kit.ShowProgram("ruby", file)
	return kit, err
}

// Checks read every changed file; nothing of it is run.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	return []verify.Check{verify.EachFile("ruby -c", t, []string{k.Program, "--disable=gems", "-W0", "-c"}, checked)}, nil
}

var checkError = lazyregexp.New(`(?m)^(?:.*?: )?[^\s:]*:(\d+): (.*)$`)

func checked(_, said string) verify.Fault {
	m := checkError.FindStringSubmatch(said)
	if m == nil {
		return verify.Fault{Message: verify.First(said)}
	}
	line, _ := strconv.Atoi(m[1]) // digits
	return verify.Fault{Line: line, Message: m[2]}
}
