package python

import (
	"path"
	"regexp"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ci is what the jobs that run tests say, over all workflows.
type ci struct {
	versions []requirement // python versions as written, with their places
	packages []requirement // Debian packages
	locales  []requirement // locale-gen
	env      map[string]requirement
	runs     []run // shell lines of the test jobs
}

type run struct{ text, source string }

// notTests are the words in names of jobs and files that mark other work than the
// test suite (facts: environments, 1.0 rule 4). Words, not substrings, so that
// "doctest" is no "doc".
var notTests = regexp.MustCompile(`(?i)(^|[^a-z])(lint(s|er|ing)?|docs?|docsets?|documentation|typ(e|es|ing)|type-?check|mypy|pyright|bench(mark)?s?|nightly|release|random|publish|deploy|fuzz|wasm|pyodide|miri|windows|macos|codeql|pre-?commit|downstream|stale|labeler|lock|scorecard|zizmor|security|build-?wheels?|changelog)([^a-z]|$)`)

var plainVersion = regexp.MustCompile(`^\d+\.\d+(\.\d+)?$`)

// toxVersion is py312 or py3.12 as a whole word.
var toxVersion = regexp.MustCompile(`\bpy(\d)\.?(\d+)\b`)

// readCI reads the workflows. Files that cannot be parsed are left out.
func (m *manifest) readCI() ci {
	out := ci{env: map[string]requirement{}}
	for _, p := range m.tree.Paths() {
		if path.Dir(p) != ".github/workflows" || !strings.HasSuffix(p, ".yml") && !strings.HasSuffix(p, ".yaml") {
			continue
		}
		if notTests.MatchString(strings.TrimSuffix(path.Base(p), path.Ext(p))) {
			continue
		}
		var doc yaml.Node
		if yaml.Unmarshal(m.read(p), &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		jobs := child(doc.Content[0], "jobs")
		for i := 0; jobs != nil && i+1 < len(jobs.Content); i += 2 {
			id, job := jobs.Content[i].Value, jobs.Content[i+1]
			name := child(job, "name")
			if notTests.MatchString(id) || name != nil && notTests.MatchString(matrixWords.ReplaceAllString(name.Value, "")) {
				continue
			}
			if runsTests(job) || testName.MatchString(id) || testName.MatchString(path.Base(p)) {
				out.job(p, job)
			}
		}
	}
	return out
}

// testCommand is what a step of a test job says: a runner, or a script or make
// target with a name of tests.
var testCommand = regexp.MustCompile(`(?i)\b(pytest|py\.test|tox|nox|unittest|trial|hatch (?:run|test)|\S*tests?\b)`)

var testName = regexp.MustCompile(`(?i)(^|[^a-z])tests?([^a-z]|$)`)

// runsTests: jobs that build, publish or lint name interpreters too.
func runsTests(job *yaml.Node) bool {
	steps := child(job, "steps")
	if steps == nil {
		return child(job, "uses") != nil // a shared workflow: its inputs are all there is
	}
	for _, step := range steps.Content {
		if s := child(step, "run"); s != nil {
			for _, line := range strings.Split(s.Value, "\n") {
				if testCommand.MatchString(line) && !notTests.MatchString(line) {
					return true
				}
			}
		}
		if u := child(step, "uses"); u != nil && testCommand.MatchString(u.Value) {
			return true
		}
	}
	return false
}

// matrixWords are the parts of a job's name that the matrix fills in.
var matrixWords = regexp.MustCompile(`\$\{\{.*?\}\}`)

func (c *ci) job(file string, job *yaml.Node) {
	if matrix := child(child(job, "strategy"), "matrix"); matrix != nil {
		c.matrix(file, matrix)
	}
	if with := child(job, "with"); with != nil { // of a shared workflow
		c.matrix(file, with)
	}
	env := child(job, "env")
	for i := 0; env != nil && env.Kind == yaml.MappingNode && i+1 < len(env.Content); i += 2 {
		c.env[env.Content[i].Value] = requirement{env.Content[i+1].Value, at(file, env.Content[i])}
	}
	steps := child(job, "steps")
	if steps == nil {
		return
	}
	for _, step := range steps.Content {
		if v := child(child(step, "with"), "python-version"); v != nil {
			for _, line := range strings.Fields(v.Value) {
				c.version(file, v, line)
			}
		}
		if s := child(step, "run"); s != nil {
			c.script(s.Value, at(file, s))
		}
	}
}

// matrix takes every version-like value under a key that speaks of Python or tox.
func (c *ci) matrix(file string, matrix *yaml.Node) {
	var walk func(key string, n *yaml.Node)
	walk = func(key string, n *yaml.Node) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				k := n.Content[i].Value
				if k != "exclude" {
					walk(k, n.Content[i+1])
				}
			}
		case yaml.SequenceNode:
			for _, e := range n.Content {
				walk(key, e)
			}
		case yaml.ScalarNode:
			k := strings.ToLower(key)
			if k == "py" || strings.Contains(k, "python") {
				c.version(file, n, n.Value)
			}
			if strings.Contains(k, "tox") || strings.Contains(k, "env") || strings.Contains(k, "nox") || strings.Contains(k, "session") {
				c.version(file, n, n.Value)
			}
		}
	}
	walk("", matrix)
}

func (c *ci) version(file string, n *yaml.Node, value string) {
	value = strings.TrimSpace(value)
	if plainVersion.MatchString(value) {
		c.versions = append(c.versions, requirement{value, at(file, n)})
		return
	}
	for _, x := range toxVersion.FindAllStringSubmatch(value, -1) {
		c.versions = append(c.versions, requirement{x[1] + "." + x[2], at(file, n)})
	}
}

var (
	aptInstall = regexp.MustCompile(`\bapt(?:-get)?\s+(?:-\S+\s+)*install\b([^\n;&|]*)`)
	localeGen  = regexp.MustCompile(`\blocale-gen\b([^\n;&|]*)`)
	debian     = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)
)

// script takes the words that matter from a shell step; it is never run as it is
// (rule 4: most lint, measure or upload too).
func (c *ci) script(text, source string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, x := range aptInstall.FindAllStringSubmatch(text, -1) {
		for _, w := range strings.Fields(x[1]) {
			if debian.MatchString(w) && !browserOrTool[w] {
				c.packages = append(c.packages, requirement{w, source})
			}
		}
	}
	for range localeGen.FindAllString(text, -1) {
		c.locales = append(c.locales, requirement{"locales-all", source})
	}
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			c.runs = append(c.runs, run{l, source})
		}
	}
}

// browserOrTool are packages that CI installs for other work than tests.
var browserOrTool = map[string]bool{"python3": true, "python3-pip": true, "python3-venv": true, "python3-dev": true, "gh": true, "texlive": true}

// envFor are the literal variables of the test jobs, without those that speak to CI
// services and installers.
func (c ci) envFor() map[string]requirement {
	out := map[string]requirement{}
	for k, v := range c.env {
		if strings.Contains(v.line, "${{") || serviceVariable.MatchString(k) {
			continue
		}
		out[k] = v
	}
	return out
}

var serviceVariable = regexp.MustCompile(`(?i)^(FORCE_COLOR|NO_COLOR|COLUMNS|PIP_|UV_|TOX|NOX|GITHUB_|CODECOV|COVERAGE|COVERALLS|PRE_COMMIT|CACHE|POETRY_|PY_COLORS|CIBW_|HATCH_|PDM_|CI$|TERM$|PYTHON_?VERSION|PATH$|HOME$|LD_|PYTHONPATH$|PYTHONHASHSEED)|TOKEN|SECRET|PASSWORD|API_?KEY`)

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			v := n.Content[i+1]
			if v.Kind == yaml.AliasNode {
				return v.Alias
			}
			return v
		}
	}
	return nil
}

func at(file string, n *yaml.Node) string { return file + ":" + itoa(n.Line) }

// installs reads what the test jobs install by pip, uv or poetry.
func (m *manifest) installs(c ci) []requirement {
	var out []requirement
	for _, r := range c.runs {
		for _, part := range regexp.MustCompile(`&&|;|\|\|`).Split(r.text, -1) {
			out = append(out, m.installLine(shellWords(part), r.source)...)
		}
	}
	return withoutTools(out)
}

// installLine reads one command: pip install, uv pip install, uv sync, poetry install.
func (m *manifest) installLine(words []string, source string) []requirement {
	i := commandEnd(words)
	if i < 0 {
		return nil
	}
	var out []requirement
	add := func(line string) { out = append(out, requirement{line, source}) }
	groups, extras := m.groups(), m.extras()
	value := func(w string) string {
		if _, v, ok := strings.Cut(w, "="); ok {
			return v
		}
		if i+1 < len(words) {
			i++
			return words[i]
		}
		return ""
	}
	for ; i < len(words); i++ {
		w := words[i]
		name, _, _ := strings.Cut(w, "=")
		switch {
		case w == "-r" || name == "--requirement":
			out = append(out, m.readRequirements(value(w), false)...)
		case strings.HasPrefix(w, "-r") && len(w) > 2:
			out = append(out, m.readRequirements(w[2:], false)...)
		case w == "-c" || name == "--constraint":
			out = append(out, m.readRequirements(value(w), true)...)
		case name == "--group" || name == "--with" || name == "--only" || name == "--dev" && w != name:
			for _, g := range strings.Split(value(w), ",") {
				out = append(out, groups[normalise(g)]...)
				out = append(out, m.poetryGroup(g)...)
			}
		case name == "--extra" || name == "--extras" || w == "-E":
			for _, e := range strings.FieldsFunc(value(w), func(r rune) bool { return r == ' ' || r == ',' }) {
				add(selfLine(map[string]bool{e: true}))
			}
		case w == "--all-extras":
			for e := range extras {
				if !notTests.MatchString(e) {
					add(selfLine(map[string]bool{e: true}))
				}
			}
		case w == "--dev":
			out = append(out, withoutTools(groups["dev"])...)
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, "${}*"):
		default:
			if line, ok := m.localOr(w); ok && strings.IndexByte(w, '/') < 0 {
				add(line)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].source < out[j].source })
	return out
}

// commandEnd is where the arguments of an installing command begin, -1 for others.
func commandEnd(words []string) int {
	for i := 0; i+1 < len(words); i++ {
		switch path.Base(words[i]) + " " + words[i+1] {
		case "pip install", "pip3 install", "uv sync", "poetry install", "pdm install":
			return i + 2
		}
	}
	return -1
}
