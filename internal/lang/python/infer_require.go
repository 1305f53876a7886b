package python

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// requirement is one line of what is to be installed, with where it was found.
type requirement struct {
	line   string // PEP 508, ".", ".[extra]", or "-c " and a constraint
	source string // path:line
}

var reqName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*`)

// distName is the normal form of the distribution that a requirement names, "" if none.
func distName(line string) string {
	return normalise(reqName.FindString(strings.TrimSpace(line)))
}

var separators = lazyregexp.New(`[-_.]+`)

// normalise is PEP 503.
func normalise(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// bounded reports whether a requirement has an upper bound or a pin.
func bounded(line string) bool {
	spec, _, _ := strings.Cut(line, ";")
	return strings.Contains(spec, "<") || strings.Contains(spec, "==") || strings.Contains(spec, "~=")
}

// tools are distributions that no test run needs: linters, type checkers,
// documentation, packaging and release tools (facts: environments, P4 and P5).
var tools = strings.Fields(`asv autoflake autopep8 bandit black blacken-docs build
	bump2version bumpversion bump-my-version check-manifest codecov
	codespell commitizen coveralls cruft doc8 flake8 furo
	gha-update isort mkdocs mkautodoc mypy nox pdbpp
	pdm pip pip-tools poetry pre-commit pycodestyle pydocstyle
	pyflakes pylint pyre-check pyright pyroma pyupgrade
	readme-renderer ruff snakeviz sphinx towncrier tox tox-gh-actions
	tox-uv tox-gh twine ty unasync uv virtualenv watchdog
	hatch basedpyright pytype validate-pyproject zizmor prek`)

// isTool also knows the families.
func isTool(dist string) bool {
	if slices.Contains(tools, dist) {
		return true
	}
	for _, prefix := range []string{"flake8-", "sphinx-", "sphinxcontrib-", "mkdocs-", "types-", "pylint-", "pre-commit-"} {
		if strings.HasPrefix(dist, prefix) {
			return true
		}
	}
	return strings.HasSuffix(dist, "-stubs") || strings.HasSuffix(dist, "-sphinx-theme")
}

// withoutTools drops what no test run needs.
func withoutTools(in []requirement) []requirement {
	var out []requirement
	for _, r := range in {
		if d := distName(r.line); d == "" || !isTool(d) || strings.HasPrefix(r.line, ".") {
			out = append(out, r)
		}
	}
	return out
}

// readRequirements reads a requirements file with those that it includes.
func (m *manifest) readRequirements(file string, constraint bool) []requirement {
	return m.requirementsFile(file, constraint, map[string]bool{})
}

func (m *manifest) requirementsFile(file string, constraint bool, seen map[string]bool) []requirement {
	file = path.Clean(file)
	if seen[file] || !m.tree.Has(file) {
		return nil
	}
	seen[file] = true
	data := m.read(file)
	var out []requirement
	for _, l := range logicalLines(string(data)) {
		out = append(out, m.requirementLine(file, l, constraint, seen)...)
	}
	return out
}

func (m *manifest) requirementLine(file string, l iniLine, constraint bool, seen map[string]bool) []requirement {
	text, dir := l.text, path.Dir(file)
	at := file + ":" + itoa(l.line)
	for _, flag := range []string{"-r", "--requirement", "-c", "--constraint"} {
		if rest, ok := strings.CutPrefix(text, flag); ok && rest != "" && strings.ContainsAny(rest[:1], " \t=./abcdefghijklmnopqrstuvwxyz") {
			target := strings.TrimLeft(rest, " \t=")
			return m.requirementsFile(path.Join(dir, target), constraint || strings.HasPrefix(flag, "-c") || flag == "--constraint", seen)
		}
	}
	if rest, ok := strings.CutPrefix(text, "-e"); ok {
		text = strings.TrimSpace(rest)
	} else if rest, ok := strings.CutPrefix(text, "--editable"); ok {
		text = strings.TrimLeft(rest, " =")
	}
	if strings.HasPrefix(text, "-") {
		return nil // index options: registries are the machine's business
	}
	if i := strings.Index(text, " --hash"); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	if r, ok := m.localOr(text); ok {
		if constraint {
			r = "-c " + r
		}
		return []requirement{{r, at}}
	}
	return nil
}

var extrasOf = lazyregexp.New(`\[([A-Za-z0-9._,\s-]+)\]`)

// localOr maps a requirement on the project itself to "." and refuses what names
// another path: it would be no part of a lock.
func (m *manifest) localOr(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ") // TOML's long strings hold line breaks
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1]
	}
	if text == "" {
		return "", false
	}
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "/") {
		head, _, _ := strings.Cut(text, "[")
		if head != "." && head != "./" && !strings.HasPrefix(text, "file:.") {
			return "", false
		}
		return self(text), true
	}
	if !reqName.MatchString(text) {
		return "", false
	}
	if m.name != "" && distName(text) == normalise(m.name) {
		return self(text), true
	}
	if strings.Contains(text, "git+") || strings.Contains(text, " @ file") {
		return "", false // not to be had from a registry
	}
	return text, true
}

// self is "." with the extras that text names.
func self(text string) string {
	if x := extrasOf.FindStringSubmatch(text); x != nil {
		return ".[" + strings.ReplaceAll(x[1], " ", "") + "]"
	}
	return "."
}

// logicalLines joins continued lines and drops comments and blank lines.
func logicalLines(text string) []iniLine {
	var out []iniLine
	pending, start := "", 0
	for i, l := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if pending == "" {
			start = i + 1
		}
		if rest, ok := strings.CutSuffix(strings.TrimRight(l, " \t"), `\`); ok {
			pending += rest + " "
			continue
		}
		l = strings.TrimSpace(pending + l)
		pending = ""
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		out = append(out, iniLine{uncomment(l), start})
	}
	return out
}

// lines gives the sorted requirement lines; all mentions of the project become one.
func lines(in []requirement) []string {
	extras, hasSelf := map[string]bool{}, false
	set := map[string]bool{}
	for _, r := range in {
		if !isSelf(r.line) {
			set[r.line] = true
			continue
		}
		hasSelf = true
		for _, e := range selfExtras(r.line) {
			extras[e] = true
		}
	}
	var out []string
	for l := range set {
		out = append(out, l)
	}
	sort.Strings(out)
	if !hasSelf {
		return out
	}
	return append([]string{selfLine(extras)}, out...)
}

func isSelf(line string) bool { return line == "." || strings.HasPrefix(line, ".[") }

func selfLine(extras map[string]bool) string {
	var names []string
	for e := range extras {
		names = append(names, e)
	}
	if len(names) == 0 {
		return "."
	}
	sort.Strings(names)
	return ".[" + strings.Join(names, ",") + "]"
}

func selfExtras(line string) []string {
	x := extrasOf.FindStringSubmatch(line)
	if x == nil {
		return nil
	}
	var out []string
	for _, e := range strings.Split(x[1], ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
