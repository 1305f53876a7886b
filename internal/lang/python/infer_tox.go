package python

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// plan is what one runner's configuration says about the tests.
type plan struct {
	requires []requirement
	command  []string // the pytest line, whole; nil where none was found
	source   string   // of the command
	name     string   // of the environment or session
	env      map[string]requirement
}

// tox reads tox.ini, setup.cfg [tox:tox], legacy_tox_ini, tox.toml or
// [tool.tox], in tox's own order; version is the chosen "3.12".
// It gives every environment that runs tests, the likeliest first.
func (m *manifest) tox(version string) []plan {
	if m.tree.Has("tox.ini") {
		return m.toxINI("tox.ini", m.read("tox.ini"), 0, version)
	}
	if text := str(m.pyproject, "tool", "tox", "legacy_tox_ini"); text != "" {
		return m.toxINI("pyproject.toml", []byte(text), m.lineOf("pyproject.toml", "legacy_tox_ini"), version)
	}
	if t := table(m.pyproject, "tool", "tox"); t != nil {
		return m.toxTOML("pyproject.toml", t, version)
	}
	if m.tree.Has("tox.toml") {
		return m.toxTOML("tox.toml", m.toml("tox.toml"), version)
	}
	if len(m.setupCfg["tox:tox"]) > 0 {
		return m.toxINI("setup.cfg", m.read("setup.cfg"), 0, version)
	}
	return nil
}

// toxEnv is one environment of an INI file, with what it inherits.
type toxEnv struct {
	ini     iniFile
	file    string
	offset  int // lines before the text in its file
	section string
	factors map[string]bool
}

func (m *manifest) toxINI(file string, data []byte, offset int, version string) []plan {
	ini := parseINI(data)
	env := toxEnv{ini: ini, file: file, offset: offset, factors: toxFactors(ini, version)}
	sections := []string{"testenv:py" + strings.ReplaceAll(version, ".", ""), "testenv", "testenv:tests", "testenv:test", "testenv:py", "testenv:unit", "testenv:pytest"}
	var others []string
	for s := range ini {
		if strings.HasPrefix(s, "testenv:") && !slices.Contains(sections, s) {
			others = append(others, s)
		}
	}
	sort.Strings(others)
	var plans []plan
	for _, s := range append(sections, others...) {
		env.section = s
		if ini[s] == nil {
			continue
		}
		p := plan{env: map[string]requirement{}, name: strings.TrimPrefix(strings.TrimPrefix(s, "testenv"), ":")}
		p.command, p.source = env.pytest()
		if p.command == nil && !strings.Contains(strings.Join(env.commands(), " "), "unittest") {
			continue
		}
		p.requires = m.toxRequires(env)
		for _, l := range env.value("setenv", "set_env") {
			if k, v, ok := strings.Cut(l.text, "="); ok && !strings.Contains(v, "{") {
				p.env[strings.TrimSpace(k)] = requirement{strings.TrimSpace(v), env.at(l)}
			}
		}
		plans = append(plans, p)
	}
	return plans
}

// toxFactors are the factors of the plainest environment of the list for this version.
func toxFactors(ini iniFile, version string) map[string]bool {
	short := "py" + strings.ReplaceAll(version, ".", "")
	best := []string{short}
	text := ini["tox"]["envlist"].text() + "\n" + ini["tox"]["env_list"].text() + "\n" + ini["tox:tox"]["envlist"].text()
	found := false
	for _, name := range expandBraces(text) {
		parts := strings.Split(name, "-")
		for i, p := range parts {
			if p == "py"+version {
				parts[i] = short
			}
		}
		if !containsWord(parts, short) && !(containsWord(parts, "py3") || containsWord(parts, "py")) || workflow.OtherWork(name) {
			continue
		}
		if !found || len(parts) < len(best) {
			best, found = parts, true
		}
	}
	out := map[string]bool{"py": true, short: true, "py" + version: true}
	for _, f := range best {
		out[f] = true
	}
	return out
}

func containsWord(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// expandBraces expands py{310,311}-{a,b} in a list of names, as tox does.
func expandBraces(text string) []string {
	var names []string
	depth, start := 0, 0
	flush := func(end int) {
		if w := strings.TrimSpace(text[start:end]); w != "" {
			names = append(names, w)
		}
		start = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth == 0 && (c == ',' || c == '\n'):
			flush(i)
		}
	}
	flush(len(text))
	var out []string
	for _, n := range names {
		out = append(out, expandName(n)...)
	}
	return out
}

var innermost = lazyregexp.New(`\{([^{}]*)\}`)

// A hostile list must not expand without end. What is longer than a name ever is stays as
// it is.
const (
	maxName  = 1000
	maxNames = 256
)

func expandName(name string) []string {
	at := innermost.FindStringSubmatchIndex(name)
	if at == nil || len(name) > maxName {
		return []string{strings.Trim(name, "-")}
	}
	var out []string
	for _, alt := range strings.Split(name[at[2]:at[3]], ",") {
		out = append(out, expandName(name[:at[0]]+strings.TrimSpace(alt)+name[at[1]:])...)
		if len(out) >= maxNames {
			return out[:maxNames]
		}
	}
	return out
}

func (e toxEnv) at(l iniLine) string { return e.file + ":" + itoa(e.offset+l.line) }

// value gives the lines of the first key that the section or [testenv] has, with
// factor conditions decided and references to other sections replaced.
func (e toxEnv) value(keys ...string) []iniLine {
	for _, s := range []string{e.section, "testenv"} {
		for _, k := range keys {
			if v, ok := e.ini.get(s, k); ok {
				return e.resolve(v.lines, 0)
			}
		}
	}
	return nil
}

var (
	reference = lazyregexp.New(`^\{\[([^\]]+)\]([^}]+)\}$`)
	// condition needs a space behind its colon: an address has none.
	condition = lazyregexp.New(`^([A-Za-z0-9_.!{}-]+(?:,\s*[A-Za-z0-9_.!{}-]+)*)\s*:(?:\s+(.*))?$`)
)

func (e toxEnv) resolve(in []iniLine, depth int) []iniLine {
	var out []iniLine
	for _, l := range in {
		if c := condition.FindStringSubmatch(l.text); c != nil {
			if !e.holds(c[1]) {
				continue
			}
			l.text = c[2]
		}
		if r := reference.FindStringSubmatch(l.text); r != nil && depth < 8 {
			if v, ok := e.ini.get(r[1], r[2]); ok {
				out = append(out, e.resolve(v.lines, depth+1)...)
			}
			continue
		}
		if l.text != "" {
			out = append(out, l)
		}
	}
	return out
}

// holds decides "py312,!win-tests:" for the environment's factors.
func (e toxEnv) holds(cond string) bool {
	for _, alt := range expandBraces(cond) {
		all := true
		for _, f := range strings.Split(alt, "-") {
			name, not := strings.CutPrefix(f, "!")
			all = all && e.factors[name] != not
		}
		if all {
			return true
		}
	}
	return false
}

func (e toxEnv) commands() []string {
	var out []string
	pending := ""
	for _, l := range e.value("commands") {
		if rest, ok := strings.CutSuffix(l.text, `\`); ok {
			pending += rest + " "
			continue
		}
		out = append(out, pending+l.text)
		pending = ""
	}
	return out
}

// pytest is the environment's pytest line.
func (e toxEnv) pytest() ([]string, string) {
	for _, c := range e.commands() {
		if words, ok := pytestLine(shellWords(toxText(c))); ok {
			for _, l := range e.value("commands") {
				if strings.Contains(l.text, "pytest") || strings.Contains(l.text, "py.test") {
					return words, e.at(l)
				}
			}
			return words, e.file
		}
	}
	return nil, ""
}

var (
	posargs      = lazyregexp.New(`\{posargs:?((?:[^{}]|\{[^{}]*\})*)\}`)
	oldPosargs   = lazyregexp.New(`(^|\s)\[\](?:\s+|$)`) // as tox 1 and 2 write {posargs}
	substitution = lazyregexp.New(`\{[^{}]*\}`)
)

// toxText replaces what tox would fill in: the default of posargs stays, the
// tree's root is the working directory, the rest becomes a mark that is dropped.
func toxText(s string) string {
	s = strings.NewReplacer("{toxinidir}/", "", "{tox_root}/", "", "{toxinidir}", ".", "{tox_root}", ".", "{/}", "/").Replace(s)
	s = oldPosargs.ReplaceAllString(posargs.ReplaceAllString(s, "$1"), "$1")
	return substitution.ReplaceAllString(s, dropped)
}

// dropped marks a word whose value cannot be known here.
const dropped = "\x00"

// pytestLine finds pytest in a command line, behind wrappers such as coverage.
func pytestLine(words []string) ([]string, bool) {
	for i, w := range words {
		switch {
		case (w == "pytest" || w == "py.test") && (i == 0 || words[i-1] != "install") && !strings.Contains(strings.Join(words[:i], " "), "install"):
			if i >= 1 && words[i-1] == "-m" { // of python, or of a wrapper that starts it in the same way
				return append([]string{"python"}, words[i-1:]...), true
			}
			return words[i:], true
		}
	}
	return nil, false
}

func (m *manifest) toxRequires(e toxEnv) []requirement {
	var out []requirement
	for _, l := range e.value("deps") {
		l.text = toxText(l.text)
		if strings.Contains(l.text, dropped) {
			continue
		}
		out = append(out, m.requirementLine(e.file, iniLine{l.text, e.offset + l.line}, false, map[string]bool{})...)
	}
	for _, l := range e.value("extras") {
		for _, x := range strings.FieldsFunc(l.text, func(r rune) bool { return r == ',' || r == ' ' }) {
			out = append(out, requirement{ofTree(m.dir, x), e.at(l)})
		}
	}
	groups := m.groups()
	for _, l := range e.value("dependency_groups") {
		for _, g := range strings.FieldsFunc(l.text, func(r rune) bool { return r == ',' || r == ' ' }) {
			out = append(out, groups[normalise(g)]...)
		}
	}
	return out
}

// toxTOML reads tox's native TOML form.
func (m *manifest) toxTOML(file string, t map[string]any, version string) []plan {
	base := table(t, "env_run_base")
	var envs []string
	short := "py" + strings.ReplaceAll(version, ".", "")
	first := []string{short, version, "py" + version, "", "tests", "test"}
	for name := range table(t, "env") {
		if !slices.Contains(first, name) {
			envs = append(envs, name)
		}
	}
	sort.Strings(envs)
	var plans []plan
	for _, name := range append(first, envs...) {
		env := table(t, "env", name)
		if name == "" {
			env = base
		}
		if env == nil {
			continue
		}
		get := func(key string) any {
			if v, ok := env[key]; ok {
				return v
			}
			return base[key]
		}
		p := plan{env: map[string]requirement{}, name: name}
		p.command = tomlPytest(get("commands"))
		if p.command == nil {
			continue
		}
		p.source = m.whereAfter(file, "commands", "pytest")
		for _, d := range strs(get("deps")) {
			out := m.requirementLine(file, iniLine{toxText(d), m.lineOf(file, d)}, false, map[string]bool{})
			p.requires = append(p.requires, out...)
		}
		for _, x := range strs(get("extras")) {
			p.requires = append(p.requires, requirement{ofTree(m.dir, x), m.where(file, "extras")})
		}
		groups := m.groups()
		for _, g := range strs(get("dependency_groups")) {
			p.requires = append(p.requires, groups[normalise(g)]...)
		}
		for _, key := range []string{"set_env", "setenv"} {
			vars, _ := get(key).(map[string]any)
			for k, v := range vars {
				if s, ok := literal(v); ok {
					p.env[k] = requirement{s, m.where(file, k)}
				}
			}
		}
		plans = append(plans, p)
	}
	return plans
}

func literal(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, !strings.Contains(v, "{")
	case int64, bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// tomlPytest finds the pytest command in [["pytest", …, {replace = "posargs"}]].
func tomlPytest(v any) []string {
	commands, _ := v.([]any)
	for _, c := range commands {
		var words []string
		parts, ok := c.([]any)
		if s, isText := c.(string); isText {
			parts, ok = nil, true
			words = shellWords(toxText(s))
		}
		if !ok {
			continue
		}
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				words = append(words, toxText(p))
			case map[string]any:
				if p["replace"] == "posargs" {
					words = append(words, strs(p["default"])...)
				}
			}
		}
		if line, ok := pytestLine(words); ok {
			return line
		}
	}
	return nil
}
