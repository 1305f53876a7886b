package python

import (
	"encoding/json"
	"path"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plaintoml"
)

var _ lang.Guarded = Language{}

// Hook is what site.py and pytest load by name; conftest.py is of the test part anyway.
func (Language) Hook(p string) bool {
	switch base := path.Base(p); base {
	case "conftest.py", "sitecustomize.py", "usercustomize.py":
		return true
	default:
		return path.Ext(base) == ".pth"
	}
}

// RunnerSettings are pytest's own table, and the plugins that the project gives it: these
// run in every session.
func (Language) RunnerSettings(p string, data []byte) string {
	var settings any
	switch p {
	case "pyproject.toml":
		var all map[string]any
		if plaintoml.Decode(data, &all) != nil {
			return ""
		}
		settings = present(dig(all, "tool", "pytest"), dig(all, "project", "entry-points", "pytest11"), dig(all, "tool", "poetry", "plugins", "pytest11"))
	case "setup.cfg":
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
		return ""
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
