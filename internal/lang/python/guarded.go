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

// Weakens implements lang.Guarded: no manifest says what Python means.
func (Language) Weakens(string, []byte, []byte) bool { return false }

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
		settings = present(dig(all, "tool", "pytest"), dig(all, "project", "entry-points", pluginGroup), dig(all, "tool", "poetry", "plugins", pluginGroup))
	case "setup.py":
		var found []any
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, pluginGroup) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		settings = present(found...)
	case "setup.cfg", "tox.ini":
		if found := pytestSections(string(data)); found != "" {
			settings = found
		}
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

// pluginGroup is the entry points that pytest takes for plugins.
const pluginGroup = "pytest11"

// lineEnds are all that str.splitlines ends a line at, and so iniconfig, which reads the settings for pytest.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// pytestSections is the text of all sections that have pytest in their name, or in what stands behind it, since iniconfig
// finds a name where others see none; and of a section from its plugins on.
func pytestSections(text string) string {
	var out strings.Builder
	in := false
	for line := range strings.Lines(lineEnds.Replace(strings.TrimPrefix(text, "\ufeff"))) {
		if strings.HasPrefix(line, "[") {
			in = strings.Contains(strings.ToLower(line), "pytest")
		}
		in = in || strings.Contains(line, pluginGroup)
		if in && strings.TrimSpace(line) != "" {
			out.WriteString(strings.TrimRight(line, " \t\n") + "\n")
		}
	}
	return out.String()
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
