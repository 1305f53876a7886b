package python

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Loader = Language{}

// Loads asks the interpreter itself: importlib.metadata for plugins, and the folders of its search path.
func (Language) Loads(r schemas.Recipe) recipe.TestRun {
	run := recipe.TestRun{Command: schemas.Command{Argv: []string{venvPython, pluginPath, configPath, "loads"}, Env: map[string]string{}}}
	return withChannel(r, run, lang.Select{Number: 1})
}

// loadsOf is what plugin.loads tells, as far as it is needed here.
type loadsOf struct {
	Names []string `json:"names"` // of modules, outside of the tree
}

// Loaded implements lang.Loader.
func (Language) Loaded(out lang.Output) ([]byte, error) {
	p := newParser(nil)
	p.read(out.Report, configOf(out.Run).Nonce)
	var l loadsOf
	if err := json.Unmarshal([]byte(p.loads), &l); err != nil || len(l.Names) == 0 {
		return nil, fmt.Errorf("the interpreter does not tell what it loads (%s, exit code %d): %.500s", out.Result.End, out.Result.ExitCode, out.Result.Output)
	}
	return []byte(p.loads), nil
}

// Only implements lang.Loader.
func (Language) Only(run recipe.TestRun, loads []byte) recipe.TestRun {
	c := configOf(run)
	if c.Nonce == "" {
		return run
	}
	c.Loads = loads
	run.Given = encode(c)
	return run
}

// importRoots are the folders of a tree that modules are imported from.
var importRoots = []string{"", "src/", "lib/"}

// reserved are the names of modules that nothing of an answer may stand for.
func reserved(loads []byte) func(name string) bool {
	var l loadsOf
	if err := json.Unmarshal(loads, &l); err != nil {
		return func(string) bool { return false }
	}
	names := map[string]bool{"sitecustomize": true, "usercustomize": true}
	for _, n := range slices.Concat(l.Names, stdlib, ownModules) {
		names[n] = true
	}
	return func(name string) bool { return names[name] }
}

// Module implements lang.Loader. A folder without __init__ gives way to what is installed.
func (Language) Module(p string, loads []byte) (root, name string) {
	is := reserved(loads)
	for _, root := range importRoots {
		rest, ok := strings.CutPrefix(p, root)
		top, below, nested := strings.Cut(rest, "/")
		if name := moduleOf(top); ok && !nested && name != "" && is(name) {
			return root, name
		}
		if ok && nested && moduleOf(below) == "__init__" && is(top) {
			return root, top
		}
	}
	return "", ""
}

// moduleOf is the module that a file is; "" for none.
func moduleOf(base string) string {
	name, _, _ := strings.Cut(base, ".")
	if slices.Contains([]string{".py", ".so", ".pyc"}, path.Ext(base)) && !strings.Contains(base, "/") {
		return name
	}
	return ""
}

// Quiet implements lang.Loader: what a build imports is not compiled into the folders of others.
func (Language) Quiet(r schemas.Recipe) schemas.Recipe {
	r.Variables = maps.Clone(r.Variables)
	if r.Variables == nil {
		r.Variables = map[string]string{}
	}
	r.Variables["PYTHONDONTWRITEBYTECODE"] = "1"
	return r
}

// Foreign implements lang.Loader. The project's own is what its base installed, and what lies beside that without the
// name of another module. .pth files are judged where they are read, and plugins where they are loaded.
func (Language) Foreign(loads []byte, env, base, built map[string]string) []string {
	own, there := map[string]bool{}, map[string]bool{}
	for p, sum := range base {
		there[topOf(p)] = true
		if env[p] != sum && path.Ext(p) != ".pyc" { // which every import may write
			own[topOf(p)] = true
		}
	}
	is := reserved(loads)
	var out []string
	for p, sum := range built {
		top := topOf(p)
		before, known := base[p]
		name, _, _ := strings.Cut(path.Base(top), ".")
		switch {
		case before == sum && known:
		case path.Base(top) == "__pycache__": // of modules that are one file, the project's finder too
			out = append(out, p)
		case own[top], path.Ext(top) == ".pth":
		case known, there[top], is(name):
			out = append(out, p)
		}
	}
	for p := range base {
		if _, ok := built[p]; !ok && !own[topOf(p)] && path.Ext(p) != ".pth" {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// topOf is what a file of an environment is of: below site-packages a module or a distribution, whatever its version, and
// else the file itself.
func topOf(p string) string {
	const packages = "/site-packages/"
	i := strings.Index(p, packages)
	if i < 0 {
		return p
	}
	top, _, _ := strings.Cut(p[i+len(packages):], "/")
	switch lower := strings.ToLower(top); path.Ext(lower) {
	case ".dist-info", ".egg-info":
		name, _, _ := strings.Cut(lower, "-")
		top = strings.ReplaceAll(name, ".", "_") + ".dist-info"
	}
	if strings.HasPrefix(top, "__editable___") {
		top = "__editable__"
	}
	return p[:i] + packages + top
}
