package python

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// requirement is one line of what is to be installed, with where it was found.
type requirement struct {
	line   string // PEP 508; "." or "./folder" of the tree, and extras; or "-c " and a constraint
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
// documentation, packaging and release tools (design 7).
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
	if rest, ok := strings.CutPrefix(text, "--editable"); ok {
		text = editablePath(strings.TrimLeft(rest, " ="))
	} else if rest, ok := strings.CutPrefix(text, "-e"); ok {
		text = editablePath(strings.TrimSpace(rest))
	}
	if strings.HasPrefix(text, "-") {
		return nil // index options: registries are the machine's business
	}
	if i := strings.Index(text, " --hash"); i >= 0 {
		text = strings.TrimSpace(text[:i])
	}
	// pip takes a folder as seen from where it runs, others from the file that names it.
	if r, ok := m.localOr(text, path.Join(m.dir, dir)); ok {
		if constraint {
			r = "-c " + r
		}
		return []requirement{{r, at}}
	}
	return nil
}

var extrasOf = lazyregexp.New(`\[([A-Za-z0-9._,\s-]+)\]`)

// editablePath is what -e installs, which is a folder whatever its name.
func editablePath(text string) string {
	if text = strings.Trim(text, `"'`); text == "" {
		return text
	}
	if !strings.Contains(text, ":") && !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "{") {
		return "./" + text
	}
	return text
}

// localOr reads one requirement: a package of the tree, seen from the manifest's folder or
// another, or a name. It refuses what no registry has.
func (m *manifest) localOr(text string, from ...string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ") // TOML's long strings hold line breaks
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1]
	}
	if text == "" {
		return "", false
	}
	if m.name != "" && distName(text) == normalise(m.name) {
		return ofTree(m.dir, localExtras(text)...), true
	}
	if pathLike.MatchString(text) {
		return m.localPath(text, append([]string{m.dir}, from...)...)
	}
	if !reqName.MatchString(text) || strings.Contains(text, "git+") || strings.Contains(text, " @ file") || bareURL.MatchString(text) {
		return "", false // not to be had from a registry
	}
	return text, true
}

var (
	// pathLike is a requirement that names a folder: by itself, or behind a name.
	pathLike = lazyregexp.New(`^(?:[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])? @ )?(?:\.|/|file:|\$\{PROJECT_ROOT\}|\{root:)|^[\w.-]+/[\w./-]*(?:\[|$)`)
	bareURL  = lazyregexp.New(`^[a-z+]+://`)
)

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

// lines gives the sorted requirement lines, the packages of the tree first; all mentions of
// one of these become one.
func lines(in []requirement) []string {
	extras, set := map[string][]string{}, map[string]bool{}
	for _, r := range in {
		if !isLocal(r.line) {
			set[r.line] = true
			continue
		}
		dir := localDir(r.line)
		extras[dir] = append(extras[dir], localExtras(r.line)...)
	}
	var out []string
	for _, dir := range sortedKeys(extras) {
		out = append(out, ofTree(dir, extras[dir]...))
	}
	return append(out, sortedKeys(set)...)
}
