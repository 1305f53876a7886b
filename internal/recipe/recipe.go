// Package recipe reads recipes as data: it gives the key that environments are
// shared by, and renders a recipe as the Dockerfile and the run script that a
// dataset carries.
//
// It never infers a recipe (internal/lang does) and never executes one.
package recipe

import (
	"maps"
	"slices"

	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/schemas"
)

// keyVersion changes when equal fields would build another environment.
const keyVersion = 1

// keyed is what decides an environment; the field order is the digest's.
type keyed struct {
	Version        int                 `json:"version"`
	Base           schemas.Digest      `json:"base"`
	Language       string              `json:"language"`
	Toolchain      schemas.Toolchain   `json:"toolchain"`
	Tools          []schemas.Toolchain `json:"tools"`
	SystemPackages []string            `json:"system_packages"`
	Variables      map[string]string   `json:"variables"`
	Lock           string              `json:"lock"`
	Requirements   []string            `json:"requirements"`
	Setup          []schemas.Command   `json:"setup"`
}

// Key is the environment key (design 7): equal keys are built once. base is the
// digest of the base system. What only the task layer uses (build and test
// commands, the project's own version) and what only explains (evidence, repairs,
// dates) is not in it: a date does not by itself make a new environment.
func Key(r schemas.Recipe, base schemas.Digest) schemas.Digest {
	k := keyed{
		Version: keyVersion, Base: base, Language: r.Language, Toolchain: r.Toolchain, Tools: r.Tools,
		SystemPackages: sorted(r.SystemPackages), Variables: shared(r.Variables), Lock: r.Lock, Setup: r.Setup,
	}
	if r.Lock == "" { // without a lock the requirements are all that there is to tell two apart
		k.Requirements = sorted(r.Requirements)
	}
	return schemas.DigestOf(k)
}

// shared leaves out the variables that hand over the project's own version: it
// differs from commit to commit, and the project is never in the shared layer.
func shared(vars map[string]string) map[string]string {
	out := maps.Clone(vars)
	maps.DeleteFunc(out, func(name, _ string) bool { return languages.IsOwn(name) })
	if len(out) == 0 {
		return nil
	}
	return out
}

func sorted(in []string) []string {
	if len(in) == 0 {
		return nil
	}
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
