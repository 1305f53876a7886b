package golang

import (
	"path"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Narrower = Language{}

// compilePackages is compile for some packages of a module, and links nothing: a run links its
// programs itself. What goes through another tool has the same place in the cache.
const compilePackages = `tool=/tmp/.benchmint-compile
printf '#!/bin/sh\n[ "${1##*/}" != link ] || [ "$2" = -V=full ] || exit 1\nexec "$@"\n' >"$tool" && chmod 755 "$tool" &&
cd "$0" && go=$1 && shift && "$go" test -exec true -vet=off "-toolexec=$tool" "$@" ; exit 0`

// Narrow compiles the packages of a selection. Other steps than our own may do anything.
func (Language) Narrow(r schemas.Recipe, t lang.Tree, sel lang.Select) ([]schemas.Command, bool) {
	l := layoutOf(t)
	wanted := wantedPackages(l, t, sel)
	if wanted == nil {
		return nil, false
	}
	var out []schemas.Command
	for _, c := range r.Build {
		const words = 5 // sh -c compile DIR GO, and those of the test command
		if len(c.Argv) < words || c.Argv[2] != compile {
			return nil, false
		}
		dir := cleanDir(c.Argv[3])
		i, ok := l.index(dir)
		if !ok || l.modules[i].Dir != dir {
			continue // the module is not there in this state
		}
		packages := slices.DeleteFunc(l.packages(t, l.modules[i]), func(p string) bool { return !wanted[p] })
		if len(packages) == 0 {
			continue
		}
		c.Argv = slices.Concat([]string{"sh", "-c", compilePackages, path.Join(".", dir)}, c.Argv[4:], patterns(l.modules[i], packages))
		out = append(out, c)
	}
	return out, true
}
