package python

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

// keptFlags are the options of a project's pytest line that say what its suite
// is; all others are how one person likes to see it (rule P8).
var keptFlags = map[string]bool{
	"--pyargs": false, "--doctest-modules": false, "--doctest-continue-on-failure": false,
	"--doctest-glob": true, "-m": true, "-k": true, "-p": true, "-W": true, "-c": true,
	"--ignore": true, "--ignore-glob": true, "--deselect": true, "--import-mode": true, "-o": true, "--override-ini": true,
}

// keepWords applies rule P8 to a pytest line: paths that are there, and keptFlags.
func keepWords(t lang.Tree, words []string) []string {
	var out []string
	pyargs := containsWord(words, "--pyargs")
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "" || strings.Contains(w, dropped) || strings.ContainsAny(w, "$`") {
			continue
		}
		if !strings.HasPrefix(w, "-") {
			if !pyargs && !strings.Contains(w, "::") {
				w = path.Clean(w)
			}
			if (pyargs || isPath(t, w)) && !containsWord(out, w) {
				out = append(out, w)
			}
			continue
		}
		name, value, attached := strings.Cut(w, "=")
		if len(w) > 2 && w[1] != '-' { // -mslow, -Werror
			name, value, attached = w[:2], w[2:], true
		}
		takes, kept := keptFlags[name]
		next := ""
		if (takes || valueFollows(name) || mayFollow(name, words[i+1:])) && !attached && i+1 < len(words) {
			i++
			next = words[i]
		}
		if !kept || strings.Contains(value+next, dropped) || dropsPlugin(name, value+next) {
			continue
		}
		out = append(out, w)
		if next != "" {
			out = append(out, next)
		}
	}
	return out
}

// valueFollows: dropped options whose value would else be taken for a path.
func valueFollows(name string) bool {
	return droppedWords()[name] || name == "--durations" || name == "--tb" || name == "--color" || name == "-r" || name == "--rootdir" ||
		name == "--timeout" || name == "--verbosity" || name == "--capture" || name == "--log-level" || name == "--log-cli-level"
}

// mayFollow reports whether the word behind an option that may have a value is that value:
// argparse takes any that does not begin as an option does. pytest --cov src has no path.
func mayFollow(name string, rest []string) bool {
	return (name == "--cov" || name == "--picked") && len(rest) > 0 && !strings.HasPrefix(rest[0], "-")
}

// dropsPlugin: -p no:x of a plugin that the runner table needs, or of workers.
func dropsPlugin(name, value string) bool {
	return name == "-p" && (value == "xdist" || value == "no:terminal" || value == "pytest_cov" || value == "xdist.plugin")
}

// isPath reports whether a word names something in the tree.
func isPath(t lang.Tree, w string) bool {
	w, _, _ = strings.Cut(w, "::")
	w = path.Clean(w)
	if w == "." || t.Has(w) {
		return true
	}
	for _, p := range t.Paths() {
		if strings.HasPrefix(p, w+"/") {
			return true
		}
	}
	return false
}

// pytestINI is pytest's own configuration.
type pytestINI struct {
	file   string
	values map[string][]string // words of each key
	lines  map[string]int
}

// readPytestINI finds the settings that pytest takes in a folder: of the nearest folder at
// or above it. The testpaths of one above hold only there.
func readPytestINI(t lang.Tree) pytestINI {
	out := ownPytestINI(t)
	s, isFolder := t.(subtree)
	for dir := s.dir; isFolder && out.file == "" && dir != ""; {
		dir = folderOf(dir)
		out = ownPytestINI(under(s.tree, dir))
		delete(out.values, "testpaths")
	}
	return out
}

// ownPytestINI finds the file of a folder that pytest would take, in its order.
func ownPytestINI(t lang.Tree) pytestINI {
	m := &manifest{tree: t}
	for _, f := range []string{"pytest.toml", ".pytest.toml"} {
		if t.Has(f) {
			return m.tomlINI(f, table(m.toml(f), "pytest"))
		}
	}
	for _, f := range []string{"pytest.ini", ".pytest.ini"} {
		if t.Has(f) {
			return iniINI(f, parseINI(m.read(f))["pytest"])
		}
	}
	pyproject := m.toml("pyproject.toml")
	if s := table(pyproject, "tool", "pytest", "ini_options"); s != nil {
		return m.tomlINI("pyproject.toml", s)
	}
	if s := table(pyproject, "tool", "pytest"); s != nil {
		return m.tomlINI("pyproject.toml", s)
	}
	for _, at := range [][2]string{{"tox.ini", "pytest"}, {"setup.cfg", "tool:pytest"}, {"setup.cfg", "pytest"}} {
		if s := parseINI(m.read(at[0]))[at[1]]; s != nil {
			return iniINI(at[0], s)
		}
	}
	return pytestINI{}
}

func (m *manifest) tomlINI(file string, s map[string]any) pytestINI {
	out := pytestINI{file: file, values: map[string][]string{}, lines: map[string]int{}}
	for k, v := range s {
		if text, ok := v.(string); ok {
			out.values[k] = shellWords(text)
		} else {
			out.values[k] = strs(v)
		}
		out.lines[k] = m.lineOf(file, k)
	}
	return out
}

func iniINI(file string, s map[string]iniValue) pytestINI {
	out := pytestINI{file: file, values: map[string][]string{}, lines: map[string]int{}}
	for k, v := range s {
		out.values[k] = shellWords(strings.ReplaceAll(v.text(), "\n", " "))
		out.lines[k] = v.line
	}
	return out
}

// pythonFiles are the name patterns of test modules.
func pythonFiles(t lang.Tree) []string {
	if p := readPytestINI(t).values["python_files"]; len(p) > 0 {
		return p
	}
	return defaultFiles
}

// defaultFiles are pytest's own patterns.
var defaultFiles = []string{"test_*.py", "*_test.py"}

// settingsFiles are the files that may hold pytest's settings.
var settingsFiles = []string{"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"}

// addopts gives the configured default options without droppedWords; changed is
// false where they can stay as they are.
func addopts(t lang.Tree) (kept string, changed bool) {
	var out []string
	words := readPytestINI(t).values["addopts"]
	for i := 0; i < len(words); i++ {
		name, _, attached := strings.Cut(words[i], "=")
		takes, drop := droppedWords()[name]
		if !drop && strings.HasPrefix(name, "-n") && len(name) > 2 && name[1] != '-' { // -n4, -nauto
			drop, attached = true, true
		}
		if !drop {
			out = append(out, quote(words[i]))
			continue
		}
		changed = true
		if (takes || mayFollow(name, words[i+1:])) && !attached && i+1 < len(words) {
			i++
		}
	}
	return strings.Join(out, " "), changed
}

// quote makes one word for Python's shlex.split, which reads addopts.
func quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n'\"\\#;&|<>()$`*?[]{}~!") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
}
