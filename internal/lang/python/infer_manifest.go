package python

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/plaintoml"
)

func itoa(n int) string { return strconv.Itoa(n) }

// manifest is what a tree says about its project, read once. What cannot be
// parsed counts as not there: a broken manifest shows when it is used.
type manifest struct {
	*siblings
	dir       string // its folder in the tree
	tree      lang.Tree
	name      string // as written; "" where nothing says it
	pyproject map[string]any
	setupCfg  iniFile
	setupPy   string
}

func readManifest(t lang.Tree) *manifest {
	return (&siblings{tree: t, manifests: map[string]*manifest{}}).at("")
}

func (m *manifest) read(file string) []byte {
	if !m.tree.Has(file) {
		return nil
	}
	data, err := m.tree.Read(file)
	if err != nil {
		return nil
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
}

func (m *manifest) toml(file string) map[string]any {
	out := map[string]any{}
	if data := m.read(file); data != nil {
		_ = plaintoml.Decode(data, &out) // a broken file reads as an empty one
	}
	return out
}

var setupName = lazyregexp.New(`(?m)\bname\s*=\s*['"]([A-Za-z0-9._-]+)['"]`)

func (m *manifest) findName() string {
	for _, at := range [][]string{{"project", "name"}, {"tool", "poetry", "name"}, {"tool", "flit", "metadata", "dist-name"}, {"tool", "flit", "metadata", "module"}} {
		if s := str(m.pyproject, at...); s != "" {
			return s
		}
	}
	if v, ok := m.setupCfg.get("metadata", "name"); ok {
		return v.text()
	}
	if x := setupName.FindStringSubmatch(m.setupPy); x != nil {
		return x[1]
	}
	return ""
}

// buildable reports whether the folder can be installed as a distribution.
func (m *manifest) buildable() bool {
	if off, ok := dig(m.pyproject, "tool", "poetry", "package-mode").(bool); ok && !off {
		return false
	}
	if off, ok := dig(m.pyproject, "tool", "uv", "package").(bool); ok && !off {
		return false
	}
	_, named := m.setupCfg.get("metadata", "name")
	return dig(m.pyproject, "project") != nil || str(m.pyproject, "tool", "poetry", "name") != "" ||
		dig(m.pyproject, "tool", "flit", "metadata") != nil || m.setupPy != "" || named
}

// buildRequires are the requirements of the build backend, for an environment
// in which the project is built without isolation.
func (m *manifest) buildRequires() []requirement {
	at := m.where("pyproject.toml", "requires")
	var out []requirement
	for _, r := range list(m.pyproject, "build-system", "requires") {
		if line, ok := m.localOr(r); ok && !isLocal(line) {
			out = append(out, requirement{line, at})
		}
	}
	backend := str(m.pyproject, "build-system", "build-backend")
	if len(out) == 0 || backend == "" || strings.HasPrefix(backend, "setuptools") {
		// PEP 517's fallback; its editable installs begin with setuptools 64.
		if !slices.ContainsFunc(out, func(r requirement) bool { return distName(r.line) == "setuptools" }) {
			out = append(out, requirement{"setuptools", "convention"})
		}
		out = append(out, requirement{"wheel", "convention"})
	}
	if backend == "hatchling.build" {
		out = append(out, requirement{"editables", "convention"}) // hatchling asks for it when it builds editable
	}
	for _, text := range []string{"setup_requires"} {
		for _, r := range pyStrings(m.setupPy, text) {
			if line, ok := m.localOr(r); ok && !isLocal(line) {
				out = append(out, requirement{line, m.where("setup.py", text)})
			}
		}
		if v, ok := m.setupCfg.get("options", text); ok {
			for _, l := range v.lines {
				out = append(out, requirement{l.text, "setup.cfg:" + itoa(l.line)})
			}
		}
	}
	return out
}

// extras are the optional dependencies that can be read without running code.
func (m *manifest) extras() map[string][]requirement {
	out := map[string][]requirement{}
	add := func(extra string, file string, line int, specs ...string) {
		extra = normalise(extra)
		out[extra] = append(out[extra], []requirement{}...)
		for _, s := range specs {
			if r, ok := m.localOr(s); ok {
				out[extra] = append(out[extra], requirement{r, file + ":" + itoa(line)})
			}
		}
	}
	for extra, v := range table(m.pyproject, "project", "optional-dependencies") {
		add(extra, "pyproject.toml", m.lineOf("pyproject.toml", extra+" = "), strs(v)...)
	}
	for extra, v := range table(m.pyproject, "tool", "poetry", "extras") {
		add(extra, "pyproject.toml", m.lineOf("pyproject.toml", extra+" = "), strs(v)...)
	}
	for extra, v := range m.setupCfg["options.extras_require"] {
		for _, l := range v.lines {
			add(extra, "setup.cfg", l.line, l.text)
		}
	}
	for extra, specs := range setupExtras(m.setupPy) {
		add(extra, "setup.py", m.lineOf("setup.py", "extras_require"), specs...)
	}
	return out
}

// groups are PEP 735 dependency groups and PDM's older form, includes resolved.
func (m *manifest) groups() map[string][]requirement {
	raw := map[string]any{}
	for k, v := range table(m.pyproject, "tool", "pdm", "dev-dependencies") {
		raw[normalise(k)] = v
	}
	for k, v := range table(m.pyproject, "dependency-groups") {
		raw[normalise(k)] = v
	}
	out := map[string][]requirement{}
	for name := range raw {
		out[name] = m.group(raw, name, map[string]bool{})
	}
	return out
}

func (m *manifest) group(raw map[string]any, name string, seen map[string]bool) []requirement {
	name = normalise(name)
	if seen[name] {
		return nil
	}
	seen[name] = true
	entries, _ := raw[name].([]any)
	var out []requirement
	for _, e := range entries {
		switch v := e.(type) {
		case string:
			if r, ok := m.localOr(strings.TrimPrefix(v, "-e ")); ok {
				out = append(out, requirement{r, m.where("pyproject.toml", v)})
			}
		case map[string]any:
			if inc, ok := v["include-group"].(string); ok {
				out = append(out, m.group(raw, inc, seen)...)
			}
		}
	}
	return out
}

// direct are the project's own runtime requirements that can be read without
// running code: enough to know which imports are given.
func (m *manifest) direct() []requirement {
	var out []requirement
	for _, s := range list(m.pyproject, "project", "dependencies") {
		out = append(out, requirement{s, m.where("pyproject.toml", s)})
	}
	for name := range table(m.pyproject, "tool", "poetry", "dependencies") {
		out = append(out, requirement{name, m.whereKey("pyproject.toml", name)})
	}
	if v, ok := m.setupCfg.get("options", "install_requires"); ok {
		for _, l := range v.lines {
			out = append(out, requirement{l.text, "setup.cfg:" + itoa(l.line)})
		}
	}
	for _, s := range pyStrings(m.setupPy, "install_requires") {
		out = append(out, requirement{s, m.where("setup.py", "install_requires")})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].line < out[j].line })
	return out
}

// where is path:line of the first line that holds needle; the path alone if none does.
func (m *manifest) where(file, needle string) string {
	if n := m.lineOf(file, needle); n > 0 {
		return file + ":" + itoa(n)
	}
	return file
}

// whereAfter is the first line with needle from the one with mark on.
func (m *manifest) whereAfter(file, mark, needle string) string {
	data := m.read(file)
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(mark))
		if i < 0 {
			return m.where(file, needle)
		}
		from += i
		line, _, _ := bytes.Cut(data[from:min(len(data), from+400)], []byte("]"))
		if j := bytes.Index(line, []byte(needle)); j >= 0 {
			return file + ":" + itoa(bytes.Count(data[:from+j], []byte("\n"))+1)
		}
		from += len(mark)
	}
}

// whereKey is the first line that assigns a key in TOML.
func (m *manifest) whereKey(file, key string) string {
	at := regexp.MustCompile(`(?m)^["']?` + regexp.QuoteMeta(key) + `["']?\s*=`).FindIndex(m.read(file))
	if at == nil {
		return file
	}
	return file + ":" + itoa(bytes.Count(m.read(file)[:at[0]], []byte("\n"))+1)
}

func (m *manifest) lineOf(file, needle string) int {
	data := m.read(file)
	i := bytes.Index(data, []byte(needle))
	if i < 0 || needle == "" {
		return 0
	}
	return bytes.Count(data[:i], []byte("\n")) + 1
}

var pyLiteral = lazyregexp.New(`'([^'\\\n]*)'|"([^"\\\n]*)"`)

// pyStrings are the string literals of the list or tuple assigned to a keyword or
// variable in Python source. Lists that are computed give none.
func pyStrings(source, keyword string) []string {
	body := bracketed(source, keyword)
	if body == "" || strings.Contains(body, ":") && strings.HasPrefix(body, "{") {
		return nil
	}
	var out []string
	for _, x := range pyLiteral.FindAllStringSubmatch(body, -1) {
		out = append(out, x[1]+x[2])
	}
	return out
}

// bracketed is the bracket expression that follows keyword and "=" or ":".
func bracketed(source, keyword string) string {
	at := regexp.MustCompile(`['"]?\b` + regexp.QuoteMeta(keyword) + `['"]?\s*[=:]\s*([\[({])`).FindStringSubmatchIndex(source)
	if at == nil {
		return ""
	}
	depth, quote := 0, byte(0)
	for i := at[2]; i < len(source); i++ {
		c := source[i]
		switch {
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			for i < len(source) && source[i] != '\n' {
				i++
			}
		case strings.IndexByte("[({", c) >= 0:
			depth++
		case strings.IndexByte("])}", c) >= 0:
			if depth--; depth == 0 {
				return source[at[2] : i+1]
			}
		}
	}
	return ""
}

var extraKey = lazyregexp.New(`['"]([A-Za-z0-9._-]+)['"]\s*:`)

// setupExtras reads extras_require={...} of a setup.py; lists that are computed are empty.
func setupExtras(source string) map[string][]string {
	body := bracketed(source, "extras_require")
	if body == "" {
		body = bracketed(source, "EXTRAS_REQUIRE")
	}
	out := map[string][]string{}
	for _, x := range extraKey.FindAllStringSubmatch(body, -1) {
		out[x[1]] = pyStrings(body, x[1])
	}
	return out
}

// Look-ups in parsed TOML.

func dig(v any, at ...string) any {
	for _, key := range at {
		t, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = t[key]
	}
	return v
}

func str(v map[string]any, at ...string) string { s, _ := dig(v, at...).(string); return s }

func list(v map[string]any, at ...string) []string { return strs(dig(v, at...)) }

func table(v map[string]any, at ...string) map[string]any {
	t, _ := dig(v, at...).(map[string]any)
	return t
}

// strs are the strings of a list, or one string alone.
func strs(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// first is the first of the paths that the tree has.
func (m *manifest) first(paths ...string) string {
	for _, p := range paths {
		if m.tree.Has(p) {
			return path.Clean(p)
		}
	}
	return ""
}
