package python

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// ci is what the jobs that run tests say, over all workflows.
type ci struct {
	versions []requirement // python versions as written, with their places
	packages []requirement // Debian packages
	locales  []requirement // locale-gen
	env      map[string]requirement
	runs     []shellLine // of the test jobs
}

// shellLine is a command that CI runs, in a folder of the tree.
type shellLine struct {
	workflow.Line
	job int // counted over all workflows
}

var plainVersion = lazyregexp.New(`^\d+\.\d+(\.\d+)?$`)

// toxVersion is py312 or py3.12 as a whole word.
var toxVersion = lazyregexp.New(`\bpy(\d)\.?(\d+)\b`)

// testCommand is what a step of a test job says: a runner, or a script or make
// target with a name of tests.
var testCommand = lazyregexp.New(`(?i)\b(pytest|py\.test|tox|nox|unittest|trial|hatch (?:run|test)|\S*tests?\b)`)

var testName = lazyregexp.New(`(?i)(^|[^a-z])tests?([^a-z]|$)`)

// testJobs: jobs that build, publish or lint name interpreters too. Of a shared
// workflow the inputs are all there is, whatever its name.
var testJobs = workflow.Tests{
	Line: func(line string) bool { return testCommand.MatchString(line) && !workflow.OtherWork(line) },
	Uses: func(action string) bool {
		return strings.Contains(action, ".github/workflows/") || testCommand.MatchString(action)
	},
	Name: testName.MatchString,
}

// readCI takes the words that matter from the test jobs; their lines are never run
// as they are (rule 4: most lint, measure or upload too).
func (m *manifest) readCI() ci {
	jobs := workflow.Read(m.tree, testJobs)
	out := ci{env: map[string]requirement{}}
	for i, j := range jobs {
		for _, f := range slices.Concat(j.Matrix, j.Inputs) {
			out.field(f)
		}
		for _, s := range j.Steps {
			out.step(s)
			for _, l := range s.Lines {
				l.Dir = m.known(l.Dir)
				out.runs = append(out.runs, shellLine{l, i})
			}
		}
	}
	for name, w := range workflow.Env(jobs) {
		out.env[name] = requirement{w.Value, w.Source}
	}
	return out
}

// field takes a version-like value under a key that speaks of Python, tox or nox.
func (c *ci) field(f workflow.Field) {
	key := strings.ToLower(f.Key())
	for _, word := range []string{"python", "tox", "env", "nox", "session"} {
		if key == "py" || strings.Contains(key, word) {
			c.version(f.Word)
			return
		}
	}
}

func (c *ci) version(w workflow.Word) {
	value := strings.TrimSpace(w.Value)
	if plainVersion.MatchString(value) {
		c.versions = append(c.versions, requirement{value, w.Source})
		return
	}
	for _, x := range toxVersion.FindAllStringSubmatch(value, -1) {
		c.versions = append(c.versions, requirement{x[1] + "." + x[2], w.Source})
	}
}

func (c *ci) step(s workflow.Step) {
	for _, f := range s.With {
		if f.Key() == "python-version" {
			for _, v := range strings.Fields(f.Value) { // one a line
				c.version(workflow.Word{Value: v, Source: f.Source})
			}
		}
	}
	for _, w := range s.Packages {
		if !browserOrTool[w.Value] {
			c.packages = append(c.packages, requirement{w.Value, w.Source})
		}
	}
	for _, w := range s.Locales {
		c.locales = append(c.locales, requirement{"locales-all", w.Source})
	}
}

// known is a folder of CI as the tree has it. Jobs may check the tree out into a folder.
func (m *manifest) known(dir string) string {
	for dir != "" && len(under(m.tree, dir).Paths()) == 0 {
		_, dir, _ = strings.Cut(dir, "/")
	}
	return dir
}

// browserOrTool are packages that CI installs for other work than tests.
var browserOrTool = map[string]bool{"python3": true, "python3-pip": true, "python3-venv": true, "python3-dev": true, "gh": true, "texlive": true}

// stepVersion recognises a variable that CI files keep for their own steps.
var stepVersion = lazyregexp.New(`(?i)^PYTHON_?VERSION`)

// lines are those of CI that are run in the project's folder, above it or for its tests: a
// job that tests several folders installs each.
func (g *guess) lines() []shellLine {
	tests := map[int][]string{} // folders, by job
	for _, r := range g.ci.runs {
		if testJobs.Line(r.Value) {
			tests[r.job] = append(tests[r.job], g.m.home(r.Dir))
		}
	}
	var out []shellLine
	for _, r := range g.ci.runs {
		of := tests[r.job]
		if home := g.m.home(r.Dir); home == g.m.dir || r.Dir == "" || below(g.m.dir, []string{r.Dir}) || slices.Contains(of, g.m.dir) && !slices.Contains(of, home) {
			out = append(out, r)
		}
	}
	return out
}

// installs reads what the test jobs install by pip, uv or poetry.
func (g *guess) installs() []requirement {
	var out []requirement
	for _, r := range g.lines() {
		of := g.m.at(r.Dir)
		for _, found := range of.installLine(r.Args, r.Source) {
			out = append(out, of.placed(found))
		}
	}
	return withoutTools(out)
}

// beside are the packages of the tree that CI installs beside the project, and constraints.
func (g *guess) beside() []requirement {
	return slices.DeleteFunc(g.installs(), func(r requirement) bool {
		return !strings.HasPrefix(r.line, "-c ") && (!isLocal(r.line) || localDir(r.line) == g.m.dir)
	})
}

// installLine reads one command: pip install, uv pip install, uv sync, poetry install.
func (m *manifest) installLine(words []string, source string) []requirement {
	i := commandEnd(words)
	if i < 0 {
		return nil
	}
	var out []requirement
	add := func(line string) { out = append(out, requirement{line, source}) }
	editable := func(text string) {
		if line, ok := m.localOr(editablePath(text)); ok {
			add(line)
		}
	}
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
		case w == "-c" || name == "--constraint" || name == "--constraints":
			out = append(out, m.readRequirements(value(w), true)...)
		case strings.HasPrefix(w, "-c") && len(w) > 2:
			out = append(out, m.readRequirements(w[2:], true)...)
		case name == "--group" || name == "--with" || name == "--only" || name == "--dev" && w != name:
			for _, g := range strings.Split(value(w), ",") {
				out = append(out, groups[normalise(g)]...)
				out = append(out, m.poetryGroup(g)...)
			}
		case name == "--extra" || name == "--extras" || w == "-E":
			for _, e := range strings.FieldsFunc(value(w), func(r rune) bool { return r == ' ' || r == ',' }) {
				add(ofTree(m.dir, e))
			}
		case w == "-e" || name == "--editable":
			editable(value(w))
		case strings.HasPrefix(w, "-e"):
			editable(w[2:])
		case w == "--all-extras":
			for e := range extras {
				if !workflow.OtherWork(e) {
					add(ofTree(m.dir, e))
				}
			}
		case w == "--dev":
			out = append(out, withoutTools(groups["dev"])...)
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, "${}*"):
		default:
			if line, ok := m.localOr(w); ok {
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
