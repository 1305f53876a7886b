// Package deploy is the environment variant of a service task: what of a tree belongs to the
// environment of its service, the Dockerfile that a solution has, and what the Dockerfile of an
// answer may say.
//
// It never builds an image: a sandbox that has images does (sandbox.Deployer).
package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// Dockerfile is the path in the tree that an image is built from.
const Dockerfile = "Dockerfile"

// Folder holds what the Dockerfile of a solution copies.
const Folder = "deploy_benchmint"

// environmentFile are the base names of files that say how a service is installed or started.
var environmentFile = lazyregexp.New(`(?i)^((docker|container)file([.-].+)?|.+\.dockerfile|\.(docker|container)ignore|` +
	`(docker-)?compose([.-].+)?\.ya?ml|(docker[-_]?)?entry[-_]?point(\.(sh|bash))?|` +
	`(pre|post)?start([-_].+)?\.(sh|bash)|(run|serve)([-_](app|dev|prod|server|web))?\.(sh|bash)|procfile([.].+)?)$`)

// Environment reports whether a path of a tree is of the environment of its service: a
// Dockerfile, a compose file, an entry point or a start script. Manifests and locks are not.
func Environment(p string) bool { return environmentFile.MatchString(path.Base(p)) }

// File is one file of a solution's environment, by its path in the tree.
type File struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Encode writes files as a blob.
func Encode(files []File) ([]byte, error) { return json.Marshal(files) }

// Decode reads what Encode wrote.
func Decode(raw []byte) ([]File, error) {
	var out []File
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("the files of an environment: %w", err)
	}
	return out, nil
}

// Image is the name of the base image of a recipe. Equal bases have the same.
func Image(r schemas.Recipe) string {
	id := schemas.DigestOf(struct {
		Toolchains []schemas.Toolchain
		Packages   []string
	}{append([]schemas.Toolchain{r.Toolchain}, r.Tools...), packages(r)})
	return imagePrefix + id.Short()
}

const imagePrefix = "benchmint/base:"

var imageTag = lazyregexp.New(`^[0-9a-f]{12}$`)

// Named reports whether a name is one of Image's: a stranger's recipe may hold that of any image.
func Named(image string) bool {
	tag, ok := strings.CutPrefix(image, imagePrefix)
	return ok && imageTag.MatchString(tag)
}

// packages are those of the base image: a clock is shifted in our own runs alone.
func packages(r schemas.Recipe) []string {
	return slices.DeleteFunc(slices.Clone(r.SystemPackages), func(p string) bool { return p == clock.Package })
}

// Recipe is the recipe of the environment variant of a service's: the base image alone, on which
// an answer builds the rest.
func Recipe(r schemas.Recipe, image string) schemas.Recipe {
	s := *r.Service
	s.Image, s.Shifts, s.Start = image, false, schemas.Command{}
	s.Files, s.Prepare, s.Copied, s.Login = nil, nil, false, nil
	r.Service, r.SystemPackages = &s, packages(r)
	r.Setup, r.Build, r.Variables = nil, nil, nil
	return r
}

// Solution are the files by which the solution of a recipe's service builds and starts: a
// Dockerfile, and what it copies. setup is what its language does for the recipe.
func Solution(r schemas.Recipe, setup recipe.Step) []File {
	var b strings.Builder
	var out []File
	user := fmt.Sprintf("%d:%d", sandbox.UID, sandbox.GID)
	fmt.Fprintf(&b, "FROM %s\nSHELL [\"/bin/bash\", \"-c\"]\nUSER %s\nENV HOME=%s\n", Image(r), user, sandbox.HomePath)
	for i, f := range setup.Files {
		if f.Delete || f.Mode.IsDir() {
			continue
		}
		name := path.Join(Folder, fmt.Sprintf("%02d", i)) // by its own name it may be one of the tests
		out = append(out, File{Path: name, Text: string(f.Data)})
		fmt.Fprintf(&b, "COPY --chown=%s %s %s\n", user, name, f.Path)
	}
	forget := ""
	for _, dir := range slices.Sorted(maps.Values(setup.Caches)) {
		forget += " && rm -rf " + recipe.Quote(dir)
	}
	for _, c := range setup.Commands {
		fmt.Fprintf(&b, "RUN %s%s\n", recipe.ShellLine(c, setup.Env, r.Variables), forget)
	}
	fmt.Fprintf(&b, "COPY --chown=%s . %s\nWORKDIR %[2]s\nRUN rm -rf %s %s\n", user, sandbox.TreePath, Folder, Dockerfile)
	for _, c := range r.Build {
		fmt.Fprintf(&b, "RUN %s\n", recipe.ShellLine(c, nil, r.Variables))
	}
	start := serve.Start(*r.Service, false)
	fmt.Fprintf(&b, "EXPOSE %d\nWORKDIR %s\n", r.Service.Port, start.Dir)
	env := maps.Clone(r.Variables)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, start.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&b, "ENV %s=%s\n", name, quoted(env[name]))
	}
	argv, err := json.Marshal(start.Argv)
	if err != nil {
		panic(fmt.Sprintf("encoding words: %v", err)) // strings always can be
	}
	fmt.Fprintf(&b, "CMD %s\n", argv)
	return append(out, File{Path: Dockerfile, Text: b.String()})
}

// quoted is a value as ENV takes it: nothing in it is replaced.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(s) + `"`
}
