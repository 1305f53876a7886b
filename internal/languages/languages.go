// Package languages is the list of languages as far as it is plain data: names, file
// extensions, registries and variables. What must not depend on a parser (the
// configuration, datasets, sandboxes, recipes) reads it; package plugins holds the plugins,
// and its tests compare the two.
//
// It never reads code, and never holds a rule that needs a tree to decide.
package languages

import (
	"maps"
	"path"
	"slices"

	"github.com/benchmint/benchmint/internal/hosts"
)

// Language is one row of the list.
type Language struct {
	Name string // as in records and in the configuration
	// Extensions are those of its source files, with the dot. Only built languages have
	// them: a mask decides by itself what it reads.
	Extensions []string
	// Registry is where its packages come from.
	Registry Registry
	// Own are patterns (path.Match) of the recipe variables that give a build the
	// project's own version. They differ from commit to commit and are no part of an
	// environment's key.
	Own []string
}

// Built reports whether environments are made for the language and its tests are run.
// Code of the others can only be masked.
func (l Language) Built() bool { return len(l.Extensions) > 0 }

// Registry is a language's package registry, as builds in a sandbox reach it.
type Registry struct {
	Hosts []string // that builds may reach
	// Variables are those by which a machine names another place for the packages; each
	// value is a URL or a list of them.
	Variables []string
	// Bundle are the variables from which the language's programs read the path of a CA
	// bundle.
	Bundle []string
	// Trust are further variables, with their values, that make them use it.
	Trust map[string]string
	// Kept are the variables, with their values, by which builds take packages from what is
	// kept beside a dataset and from nowhere else.
	Kept map[string]string
}

// Kept is Registry.Kept of all languages.
func Kept() map[string]string {
	out := map[string]string{}
	for _, l := range All() {
		maps.Copy(out, l.Registry.Kept)
	}
	return out
}

// All is the list. Masks are asked for a path in this order, and what lists
// languages keeps it.
func All() []Language {
	return []Language{
		{
			Name: "python", Extensions: []string{".py", ".pyi", ".pyx", ".pxd"},
			Registry: Registry{
				Hosts:     []string{hosts.PyPI, hosts.PyPIFiles},
				Variables: []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX"},
				Bundle:    []string{"REQUESTS_CA_BUNDLE", "PIP_CERT"},
				Trust:     map[string]string{"UV_NATIVE_TLS": "true"},
				Kept:      map[string]string{"UV_DEFAULT_INDEX": hosts.Packages + "/simple"},
			},
			Own: []string{"*PRETEND_VERSION*", "PBR_VERSION"},
		},
		{
			Name: "go", Extensions: []string{".go"},
			Registry: Registry{
				Hosts:     []string{hosts.GoProxy, hosts.GoSum},
				Variables: []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GONOPROXY", "GOPRIVATE", "GOINSECURE"},
				Kept:      map[string]string{"GOPROXY": hosts.Packages + "/modules", "GOSUMDB": "off"},
			},
		},
		{
			Name: "javascript",
			Registry: Registry{
				Variables: []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"},
				Bundle:    []string{"NODE_EXTRA_CA_CERTS"},
			},
		},
		{Name: "typescript"},
		{Name: "java"},
		{Name: "rust"},
		{Name: "csharp"},
		{Name: "ruby"},
		{Name: "php"},
	}
}

// Find is the row of a language; false where there is none.
func Find(name string) (Language, bool) {
	for _, l := range All() {
		if l.Name == name {
			return l, true
		}
	}
	return Language{}, false
}

// Built lists the names of the languages that environments are made for.
func Built() []string {
	var out []string
	for _, l := range All() {
		if l.Built() {
			out = append(out, l.Name)
		}
	}
	return out
}

// IsSource reports whether a path names a source file of the language.
func IsSource(language, name string) bool {
	l, _ := Find(language)
	return slices.Contains(l.Extensions, path.Ext(name))
}

// IsOwn reports whether a recipe variable gives a build the project's own version. Every
// language's patterns count: a project may build a part in another language.
func IsOwn(variable string) bool {
	for _, l := range All() {
		for _, pattern := range l.Own {
			if ok, _ := path.Match(pattern, variable); ok { // the only error is a malformed pattern, and a test tries all
				return true
			}
		}
	}
	return false
}
