// Package workflow reads what a tree's GitHub workflows say about how its tests
// are run: versions, packages, variables, shell lines, each with its place. It is
// for the inference of recipes, which judges these words by the rules of a language
// (design 7).
//
// It never runs a line, never evaluates an expression, never fetches an action or a
// shared workflow, and never fails: a file that cannot be read, that GitHub would
// refuse, or that is made to be costly says nothing.
package workflow

import (
	"path"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Tree is the part of a tree that is read.
type Tree interface {
	Paths() []string
	Read(path string) ([]byte, error)
}

// Word is a text and the place it was written at, path:line.
type Word struct{ Value, Source string }

// Field is a scalar below a mapping. Keys lead to it, outermost first; the elements
// of a list have the keys of the list.
type Field struct {
	Keys []string
	Word
}

// Key is the innermost key.
func (f Field) Key() string {
	if len(f.Keys) == 0 {
		return ""
	}
	return f.Keys[len(f.Keys)-1]
}

// Tests is how a language recognises the jobs that run tests. A nil function
// says no.
type Tests struct {
	// Line recognises a shell line that runs tests, by itself or through a build tool.
	Line func(line string) bool
	// Uses recognises an action, or a shared workflow (a job without steps), that does.
	Uses func(action string) bool
	// Name recognises an id of a job, or the name of a file, that is enough by itself.
	Name func(name string) bool
}

// Job is one job that runs tests.
type Job struct {
	ID     string
	Matrix []Field // every value of the matrix and its included rows; not the excluded
	Inputs []Field // what a shared workflow is given
	// Env are the variables that the tests of the job see: of the workflow, the job
	// and the steps that run tests, the innermost wins. Only literal ones.
	Env   map[string]Word
	Steps []Step
}

// Step is one step of a job.
type Step struct {
	Uses     string
	With     []Field
	Lines    []Line
	Packages []Word // words of apt-get install
	Locales  []Word // words of locale-gen; one without value where it has none
}

// Read gives the jobs that run tests, in the order of paths and within a file as
// they were written.
func Read(t Tree, tests Tests) []Job {
	var out []Job
	left := maxTotal
	for _, p := range t.Paths() {
		if path.Dir(p) != ".github/workflows" || path.Ext(p) != ".yml" && path.Ext(p) != ".yaml" {
			continue
		}
		name := strings.TrimSuffix(path.Base(p), path.Ext(p))
		if OtherWork(name) {
			continue
		}
		data, err := t.Read(p)
		if err != nil || len(data) > maxFile || len(data) > left {
			continue
		}
		left -= len(data)
		out = append(out, readFile(p, data, tests)...)
	}
	return out
}

// Env are the variables of all jobs; the first job that sets one decides.
func Env(jobs []Job) map[string]Word {
	out := map[string]Word{}
	for _, j := range jobs {
		for name, w := range j.Env {
			if _, ok := out[name]; !ok {
				out[name] = w
			}
		}
	}
	return out
}

// otherWork are the words in names that mark other work than the test suite. Words,
// not parts of words, so that a doctest or a docker job is no documentation job.
var otherWork = lazyregexp.New(`(?i)(^|[^a-z])(` +
	`lint(s|er|ers|ing)?|golint|golangci|docs?|docsets?|documentation|typ(e|es|ing)|type[-_ ]?check|mypy|pyright|` +
	`bench(mark)?s?|benchmarking|nightly|releas(e|es|er|ing)|goreleaser|random|publish(ing)?|deploy(ment)?|` +
	`fuzz(ing|er)?|cifuzz|wasm|pyodide|miri|windows|macos|codeql|pre[-_ ]?commit|downstream|stale|labeler|lock|` +
	`scorecards?|zizmor|security|vuln|govulncheck|vulnerabilit(y|ies)|tidy|build[-_ ]?wheels?|changelog` +
	`)([^a-z]|$)`)

// OtherWork recognises the name of a workflow, job, environment or group that is for
// other work than the test suite.
func OtherWork(name string) bool { return otherWork.MatchString(name) }

// expression is what a job's name has filled in by the matrix; it names no work.
var expression = lazyregexp.New(`\$\{\{.*?\}\}`)

// readFile reads one workflow.
func readFile(file string, data []byte, tests Tests) []Job {
	d := parse(file, data)
	var out []Job
	for _, p := range d.pairs(d.child(d.root, "jobs")) {
		name := d.text(d.child(p.value, "name"))
		if OtherWork(p.key) || OtherWork(expression.ReplaceAllString(name, "")) {
			continue
		}
		j := Job{ID: p.key}
		steps := d.child(p.value, "steps")
		j.Matrix = d.fields(d.child(d.child(p.value, "strategy"), "matrix"))
		found := says(tests.Name, p.key) || says(tests.Name, strings.TrimSuffix(path.Base(file), path.Ext(file))) ||
			steps == nil && says(tests.Uses, d.text(d.child(p.value, "uses")))
		env := map[string]Word{}
		for _, s := range d.items(steps) {
			step := d.step(s, d.folders(j.Matrix, s, d.run(p.value), d.run(d.root)))
			j.Steps = append(j.Steps, step)
			if step.runs(tests) {
				found = true
				d.variables(env, d.child(s, "env"))
			}
		}
		if !found {
			continue
		}
		d.variables(env, d.child(p.value, "env"))
		d.variables(env, d.child(d.root, "env"))
		j.Env = literals(env)
		j.Inputs = d.fields(d.child(p.value, "with"))
		out = append(out, j)
	}
	if d.spent() {
		return nil
	}
	return out
}

func says(f func(string) bool, text string) bool { return f != nil && text != "" && f(text) }

func (s Step) runs(tests Tests) bool {
	for _, l := range s.Lines {
		if says(tests.Line, l.Value) {
			return true
		}
	}
	return says(tests.Uses, s.Uses)
}

func (d *document) step(n ast.Node, folders []string) Step {
	s := Step{Uses: d.text(d.child(n, "uses")), With: d.fields(d.child(n, "with"))}
	script := d.lines(d.child(n, "run"))
	for _, f := range folders {
		s.Lines = append(s.Lines, Commands(script, f)...)
	}
	for _, l := range s.Lines[:len(s.Lines)/len(folders)] {
		s.Packages = append(s.Packages, l.packages()...)
		s.Locales = append(s.Locales, l.locales()...)
	}
	return s
}

// run is what a job, or a workflow, says of all its shell steps.
func (d *document) run(n ast.Node) ast.Node { return d.child(d.child(n, "defaults"), "run") }

// ofMatrix is the value that a step takes from the matrix of its job.
var ofMatrix = lazyregexp.New(`\$\{\{\s*matrix\.([\w.-]+)\s*\}\}`)

// maxFolders bounds the folders of one step.
const maxFolders = 64

// folders are where a step runs: what the first of the nodes says that says anything, once
// for each value of the matrix that stands in it.
func (d *document) folders(matrix []Field, nodes ...ast.Node) []string {
	for _, n := range nodes {
		dir := d.text(d.child(n, "working-directory"))
		if dir == "" {
			continue
		}
		m := ofMatrix.FindStringSubmatch(dir)
		if m == nil {
			return []string{folder("", dir)}
		}
		var out []string
		for _, f := range matrix {
			if len(out) < maxFolders && f.Key() == m[1][strings.LastIndexByte(m[1], '.')+1:] {
				out = append(out, folder("", strings.ReplaceAll(dir, m[0], f.Value)))
			}
		}
		if out != nil {
			return out
		}
	}
	return []string{""}
}

// variables adds those that are not set yet.
func (d *document) variables(env map[string]Word, n ast.Node) {
	for _, p := range d.pairs(n) {
		if _, ok := env[p.key]; ok {
			continue
		}
		if w, ok := d.word(p.value); ok {
			env[p.key] = w
		}
	}
}

// literals are the variables that mean the same outside of GitHub. They are chosen
// last: an expression hides the outer value of its name.
func literals(env map[string]Word) map[string]Word {
	out := map[string]Word{}
	for name, w := range env {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(w.Value, "${{") && !strings.Contains(w.Value, "\x00") {
			out[name] = w
		}
	}
	return out
}
