package python

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plaintoml"
)

var _ lang.Guarded = Language{}

// ownModules are what pytest itself is imported from.
var ownModules = []string{"pytest", "_pytest", "pluggy", "iniconfig"}

// Hook is what site.py and pytest load by name: conftest.py, which is of the test part anyway,
// settings of the runner in a folder, compiled modules, the entry points of a distribution
// that lies in the tree, and modules in the place of pytest's own where the project is none
// of them.
func (Language) Hook(p string, start lang.Tree) bool {
	base := path.Base(p)
	switch base {
	case "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml":
		return true
	case "entry_points.txt":
		kind := path.Ext(path.Dir(p))
		return kind == ".dist-info" || kind == ".egg-info"
	}
	switch path.Ext(base) {
	case ".pth", ".pyc":
		return true
	}
	for _, root := range []string{"", "src/", "lib/"} {
		rest, ok := strings.CutPrefix(p, root)
		top, _, _ := strings.Cut(rest, "/")
		name, _, _ := strings.Cut(top, ".")
		if ok && slices.Contains(ownModules, name) && !start.Has(root+name+".py") && !start.Has(root+name+"/__init__.py") {
			return true
		}
	}
	return false
}

// Cache is where Python keeps what it compiled: it believes a file there by the time and the size of the source, which
// a test process can give it.
func (Language) Cache(p string) string {
	if path.Ext(p) != ".py" {
		return ""
	}
	return path.Join(path.Dir(p), "__pycache__")
}

// RunnerSettings are pytest's own table, and the plugins that the project gives it: these
// run in every session.
func (Language) RunnerSettings(p string, data []byte) string {
	var settings any
	switch path.Base(p) {
	case "pyproject.toml":
		var all map[string]any
		if plaintoml.Decode(data, &all) != nil {
			return "not TOML: " + string(data)
		}
		settings = present(dig(all, "tool", "pytest"), dig(all, "project", "entry-points", "pytest11"), dig(all, "tool", "poetry", "plugins", "pytest11"))
	case "setup.cfg", "tox.ini":
		ini := parseINI(data)
		var found []any
		for _, section := range []string{"tool:pytest", "pytest"} {
			for _, key := range sortedKeys(ini[section]) {
				found = append(found, section, key, ini[section][key].text())
			}
		}
		if plugins, ok := ini["options.entry_points"]["pytest11"]; ok {
			found = append(found, plugins.text())
		}
		settings = present(found...)
	}
	if settings == nil {
		return ""
	}
	b, err := json.Marshal(settings)
	if err != nil {
		return "not JSON: " + string(data)
	}
	return string(b)
}

// present is nil where all values are.
func present(values ...any) any {
	for _, v := range values {
		if v != nil {
			return values
		}
	}
	return nil
}
