// Package recipe reads recipes as data: it gives the key that environments are shared by, and renders a recipe as the
// Dockerfile and the run script that a dataset carries.
//
// The words:
//
//   - A recipe (schemas.Recipe) says how the tests of a tree are run: a toolchain, system packages, locked dependencies,
//     variables, and commands, each line with its evidence.
//   - Setup is the commands that make the environment's layer, once, with registries and without the project. Build and
//     Test run in the tree, without network.
//   - The Key is the digest of all that decides that layer. Recipes with equal keys share one environment.
//   - An Edit is one change to a recipe, of a closed set (Op): what a repair may do.
//   - A Step is one command in the sandbox on the way to a layer; a TestRun is one process of a run, with the place of its
//     report.
//
// For example, two changes of one project with the same Python and the same lock have one Key, whatever their test
// commands are; another version of one dependency gives another Key.
//
// The package never infers a recipe (internal/lang does) and never executes one.
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
