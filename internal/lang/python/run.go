package python

import (
	"crypto/rand"
	_ "embed" // the pytest plugin
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/benchmint_pytest.py
var plugin []byte

// Flag is one row of the runner table.
type Flag struct {
	Words  []string
	Reason string
}

// Flags make a pytest run complete and repeatable. They come after the words of
// the recipe, so that they win. What has no flag is in the plugin: xdist's
// workers and reruns are switched off by option (blocking the plugins would take
// their fixtures and marks away), the Hypothesis seed is the run's number.
// Snapshots are read-only by leaving out the words that update them.
var Flags = []Flag{
	{[]string{"--continue-on-collection-errors"}, "one file that does not import must not hide the others"},
	{[]string{"-o", "cache_dir=/tmp/.benchmint-cache"}, "nothing is carried between runs or left in the tree; the cache fixture stays"},
	{[]string{"-p", "no:randomly"}, "native order; it also seeds by the clock"},
	{[]string{"-p", "no:random_order"}, "native order"},
	{[]string{"-p", "no:random-order"}, "native order (older name)"},
	{[]string{"-o", "console_output_style=classic"}, "a log without percentages, which move when tests are left out"},
	{[]string{"--maxfail=0"}, "every test is run, whatever fails (undoes -x)"},
	{[]string{"--tb=short"}, "a log that people can read"},
}

// droppedWords are options that change which tests run, in which order, or that
// write, measure or lint: dropped from addopts. A value follows where true, and may behind some
// (mayFollow).
var droppedWords = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"--cov": false, "--cov-report": true, "--cov-config": true, "--cov-fail-under": true, "--cov-append": false,
		"--cov-branch": false, "--cov-context": true, "--no-cov-on-fail": false, "--no-cov": false, "--cov-reset": false,
		"-n": true, "--numprocesses": true, "--dist": true, "--maxprocesses": true, "--forked": false, "--boxed": false,
		"--reruns": true, "--reruns-delay": true, "--only-rerun": true, "--force-flaky": false, "--max-runs": true,
		"-x": false, "--exitfirst": false, "--maxfail": true, "--lf": false, "--last-failed": false, "--ff": false,
		"--failed-first": false, "--nf": false, "--new-first": false, "--sw": false, "--stepwise": false,
		"--cache-clear": false, "--basetemp": true, "--junitxml": true, "--junit-xml": true, "--html": true,
		"--self-contained-html": false, "--json-report": false, "--json-report-file": true, "--pdb": false,
		"--random-order": false, "--random-order-bucket": true, "--random-order-seed": true,
		"--randomly-seed": true, "--randomly-dont-reorganize": false, "--randomly-dont-reset-seed": false,
		"--snapshot-update": false, "--record-mode": true, "--inline-snapshot": true, "--force-regen": false, "--regen-all": false,
		"--flake8": false, "--pep8": false, "--black": false, "--mypy": false, "--pylint": false, "--isort": false,
		"--ruff": false, "--ruff-format": false, "--pycodestyle": false, "--codestyle": false, "--pydocstyle": false, "--flakes": false,
		"--looponfail": false, "-f": false, "--testmon": false, "--picked": false, "--instafail": false, "--pastebin": true,
		"--codspeed": false,
	}
})

// Runs is one pytest process over the wanted files, or over the suite.
func (Language) Runs(r schemas.Recipe, t lang.Tree, sel lang.Select) []recipe.TestRun {
	var runs []recipe.TestRun
	for i, command := range r.Test {
		run, ok := testRun(t, sel, command)
		if !ok {
			continue
		}
		if sel.Nonce == "" {
			runs = append(runs, withChannel(r, run, sel))
			continue
		}
		if run.Report = reportPath; i > 0 {
			run.Report += "." + strconv.Itoa(i)
		}
		runs = append(runs, withConfig(run, sel))
	}
	return runs
}

func testRun(t lang.Tree, sel lang.Select, command schemas.Command) (recipe.TestRun, bool) {
	style, words := splitPytest(command.Argv)
	t = under(t, command.Dir)
	if sel.Paths != nil {
		sel = seen(sel, command.Dir)
		targets := targetsOf(t, sel)
		if len(targets) == 0 {
			return recipe.TestRun{}, false
		}
		if !wholeSuite(t, words, targets) {
			words = append(withoutPaths(words), targets...)
		}
	}
	argv := append([]string{venvPython, pluginPath, configPath, style}, words...)
	for _, f := range Flags {
		argv = append(argv, f.Words...)
	}
	if kept, changed := addopts(t); changed {
		argv = append(argv, "-o", "addopts="+kept)
	}
	env := map[string]string{}
	for k, v := range command.Env {
		env[k] = v
	}
	env["PYTHONHASHSEED"] = strconv.Itoa(sel.Number)
	return recipe.TestRun{Command: schemas.Command{Argv: argv, Dir: command.Dir, Env: env}}, true
}

// seen is a selection whose paths are seen from a folder of the tree.
func seen(sel lang.Select, dir string) lang.Select {
	sel.Paths, sel.Skip = slices.Clone(sel.Paths), slices.Clone(sel.Skip)
	for i, p := range sel.Paths {
		sel.Paths[i] = seenFrom(dir, p)
	}
	for i, s := range sel.Skip {
		sel.Skip[i] = seenFrom(dir, s)
	}
	return sel
}

const configPath = sandbox.RunPath + "/run.json"

// runConfig is what the plugin reads, once, before any code of the environment.
type runConfig struct {
	Nonce  string   `json:"nonce"`
	Report string   `json:"report,omitempty"` // a file, where there is no channel
	Tree   string   `json:"tree"`
	Number int      `json:"number"`
	Skip   []string `json:"skip,omitempty"`
	Traces bool     `json:"traces,omitempty"` // tell what pytest prints of each failure
	// Python is the interpreter of the environment, whose place the bare one takes, and
	// Withheld are the variables that it takes then.
	Python   string            `json:"python,omitempty"`
	Withheld map[string]string `json:"withheld,omitempty"`
	Canaries []canary          `json:"canaries,omitempty"`
	// Loads is all that may load by itself; nil: whatever does.
	Loads json.RawMessage `json:"loads,omitempty"`
}

// canary is a test that asserts Left == Right, at a place among the others.
type canary struct {
	Name  string `json:"name"`
	Left  int    `json:"left"`
	Right int    `json:"right"`
	Place int    `json:"place"` // modulo the number of places
}

// withheld are the variables from which a starting interpreter takes code.
var withheld = []string{"PYTHONPATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR"}

// withChannel makes a run whose plugin is the first that runs in its process: the
// interpreter is the toolchain's own, which no build can write to, and it starts without
// the environment's .pth files, its sitecustomize and what the variables name.
func withChannel(r schemas.Recipe, run recipe.TestRun, sel lang.Select) recipe.TestRun {
	c := runConfig{
		Nonce: random(), Tree: sandbox.TreePath, Number: sel.Number, Skip: sel.Skip, Traces: sel.Traces,
		Python: venvPython, Withheld: map[string]string{}, Canaries: canaries(),
	}
	for _, name := range withheld {
		value, ok := run.Command.Env[name]
		if !ok {
			value, ok = r.Variables[name]
		}
		if ok {
			c.Withheld[name], run.Command.Env[name] = value, ""
		}
	}
	run.Command.Argv = append([]string{interpreter(r), "-S", pluginPath, "-"}, run.Command.Argv[3:]...)
	run.Inputs = []sandbox.File{{Path: pluginPath, Mode: 0o644, Data: plugin}}
	run.Given = encode(c)
	run.Sealed = []string{sandbox.EnvPath}
	return run
}

// withConfig makes a run that a person can start: settings and report are files.
func withConfig(run recipe.TestRun, sel lang.Select) recipe.TestRun {
	c := runConfig{Nonce: sel.Nonce, Report: run.Report, Tree: sandbox.TreePath, Number: sel.Number, Skip: sel.Skip}
	run.Inputs = []sandbox.File{
		{Path: pluginPath, Mode: 0o644, Data: plugin},
		{Path: configPath, Mode: 0o644, Data: encode(c)},
	}
	return run
}

// canaries are two tests that must fail and two that must pass, in any order.
func canaries() []canary {
	const many = 1 << 30
	out := make([]canary, 0, 4)
	for _, passes := range []bool{true, false, true, false} {
		c := canary{Name: "test_" + random()[:12], Left: number(many), Place: number(many)}
		c.Right = c.Left
		if !passes {
			c.Right += 1 + number(many)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b canary) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// random is 128 bits as text. It never fails: crypto/rand ends the program instead.
func random() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// number is one in [0, below), which is a power of two.
func number(below uint32) int {
	b := make([]byte, 4)
	rand.Read(b)
	return int(binary.NativeEndian.Uint32(b) % below)
}

func encode(c runConfig) []byte {
	b, err := json.Marshal(c)
	if err != nil {
		panic("encoding strings: " + err.Error()) // plain strings always encode
	}
	return b
}

// configOf is what a run was given.
func configOf(run recipe.TestRun) runConfig {
	var c runConfig
	if json.Unmarshal(run.Given, &c) == nil {
		return c
	}
	return runConfig{}
}

// splitPytest takes a test command apart: how pytest is started (the search path
// differs), and its words.
func splitPytest(argv []string) (style string, words []string) {
	for i, w := range argv {
		switch base := path.Base(w); {
		case w == "-m" && i+1 < len(argv) && argv[i+1] == "pytest":
			return "module", append([]string{}, argv[i+2:]...)
		case base == "pytest" || base == "py.test":
			return "script", append([]string{}, argv[i+1:]...)
		}
	}
	return "script", nil
}

// wordsWithValue are the kept options whose value is the next word (rule P8).
var wordsWithValue = map[string]bool{
	"-m": true, "-k": true, "-p": true, "-W": true, "-c": true, "-o": true, "--ignore": true, "--ignore-glob": true,
	"--deselect": true, "--import-mode": true, "--doctest-glob": true, "--confcutdir": true,
}

// withoutPaths leaves the options of a pytest line.
func withoutPaths(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") {
			continue
		}
		if w == "--pyargs" {
			continue // the targets are files
		}
		out = append(out, w)
		if wordsWithValue[w] && i+1 < len(words) {
			i++
			out = append(out, words[i])
		}
	}
	return out
}

// targetsOf turns changed test paths into what pytest is to collect: a test
// module stands for itself; a helper, conftest or data file for the nearest
// folder above it that holds test modules. An unknown target would make pytest
// run nothing, so only what is there is named.
func targetsOf(t lang.Tree, sel lang.Select) []string {
	skip := map[string]bool{}
	for _, s := range sel.Skip {
		skip[s] = true
	}
	patterns := pythonFiles(t)
	folders := testFolders(t, patterns)
	set := map[string]bool{}
	for _, p := range sel.Paths {
		switch {
		case skip[p]:
		case isTestModule(p, patterns):
			if t.Has(p) {
				set[p] = true
			}
		default:
			if f, ok := folderAbove(p, folders); ok {
				set[f] = true
			}
		}
	}
	return dropNested(set)
}

// wholeSuite reports whether targets are all that the suite would collect by name.
// Where the suite holds more than test modules (doctests, given tests), it is not told.
func wholeSuite(t lang.Tree, words, targets []string) bool {
	roots := readPytestINI(t).values["testpaths"]
	var paths []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case strings.HasPrefix(w, "--doctest"), w == "--pyargs", strings.Contains(w, "::"):
			return false
		case wordsWithValue[w]:
			i++
		case !strings.HasPrefix(w, "-"):
			paths = append(paths, path.Clean(w))
		}
	}
	if len(paths) > 0 {
		roots = paths
	}
	patterns := pythonFiles(t)
	for _, p := range t.Paths() {
		inSuite := isTestModule(p, patterns) && (len(roots) == 0 || below(p, roots))
		if inSuite != (isTestModule(p, patterns) && below(p, targets)) {
			return false
		}
	}
	return true
}

// below reports whether p is one of the roots or lies in one. A root may be a pattern as glob of
// Python has it, with ** for any folders: testpaths are such patterns.
func below(p string, roots []string) bool {
	for _, r := range roots {
		if r = path.Clean(r); r == "." || p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
		if strings.ContainsAny(r, "*?[") && belowPattern(strings.Split(p, "/"), strings.Split(r, "/")) {
			return true
		}
	}
	return false
}

// belowPattern reports whether the first names of a path match a pattern.
func belowPattern(names, pattern []string) bool {
	for ; len(pattern) > 0; names, pattern = names[1:], pattern[1:] {
		if pattern[0] == "**" && belowPattern(names, pattern[1:]) {
			return true
		}
		if len(names) == 0 {
			return false
		}
		if pattern[0] == "**" {
			return belowPattern(names[1:], pattern)
		}
		if ok, err := path.Match(pattern[0], names[0]); !ok || err != nil {
			return false
		}
	}
	return true
}

func folderAbove(p string, folders map[string]bool) (string, bool) {
	for d := path.Dir(p); ; d = path.Dir(d) {
		if folders[d] {
			return d, true
		}
		if d == "." || d == "/" {
			return "", false
		}
	}
}

// dropNested leaves out files below a folder that is named too: pytest would
// collect them twice.
func dropNested(set map[string]bool) []string {
	var out []string
	for p := range set {
		nested := false
		for d := path.Dir(p); d != "." && d != "/"; d = path.Dir(d) {
			nested = nested || set[d]
		}
		if !nested && (p == "." || !set["."]) {
			out = append(out, p)
		}
	}
	sort.Strings(out)
	return out
}

// testFolders are the folders that hold a test module, directly or below.
func testFolders(t lang.Tree, patterns []string) map[string]bool {
	out := map[string]bool{}
	for _, p := range t.Paths() {
		if !isTestModule(p, patterns) {
			continue
		}
		for d := path.Dir(p); !out[d]; d = path.Dir(d) {
			out[d] = true
			if d == "." || d == "/" {
				break
			}
		}
	}
	return out
}

// isTestModule reports whether pytest takes p for a test module by its name.
func isTestModule(p string, patterns []string) bool {
	base := path.Base(p)
	if path.Ext(base) != ".py" || base == "conftest.py" || base == "__init__.py" {
		return false
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool { return takesFile(pattern, p) })
}
