package workflow

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files is a tree of workflows by their names in .github/workflows, or of others by
// their whole paths.
type files map[string]string

func (f files) Paths() []string {
	var out []string
	for name := range f {
		if !strings.Contains(name, "/") {
			name = ".github/workflows/" + name
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (f files) Read(p string) ([]byte, error) {
	for _, name := range []string{p, strings.TrimPrefix(p, ".github/workflows/")} {
		if text, ok := f[name]; ok {
			return []byte(text), nil
		}
	}
	return nil, os.ErrNotExist
}

// runTests is a language whose tests are run by "check".
var runTests = Tests{
	Line: func(line string) bool { return strings.Contains(line, "check") },
	Uses: func(action string) bool { return strings.Contains(action, "checker") },
	Name: func(name string) bool { return name == "suite" },
}

// describe is what was read, a line each.
func describe(jobs []Job) string {
	var b strings.Builder
	say := func(kind string, key string, w Word) {
		fmt.Fprintf(&b, "  %s %s=%q %s\n", kind, key, w.Value, strings.TrimPrefix(w.Source, ".github/workflows/"))
	}
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s\n", j.ID)
		for _, f := range j.Matrix {
			say("matrix", strings.Join(f.Keys, "."), f.Word)
		}
		for _, f := range j.Inputs {
			say("input", strings.Join(f.Keys, "."), f.Word)
		}
		for _, name := range slices.Sorted(maps.Keys(j.Env)) {
			say("env", name, j.Env[name])
		}
		for _, s := range j.Steps {
			for _, f := range s.With {
				say(s.Uses, strings.Join(f.Keys, "."), f.Word)
			}
			for _, l := range s.Lines {
				say("line", l.Dir, l.Word)
			}
			for _, w := range s.Packages {
				say("package", "", w)
			}
			for _, w := range s.Locales {
				say("locale", "", w)
			}
		}
	}
	return b.String()
}

const whole = `name: CI
on: push
env:
  MODE: strict
  HIDDEN: outer
jobs:
  unit:
    name: unit ${{ matrix.docs }}
    env:
      MODE: lax
      HIDDEN: ${{ matrix.os }}
    strategy:
      matrix:
        tool: ["1.9", 1.20, 3.10]
        os:
          - linux
        exclude:
          - tool: "0.1"
        include:
          - tool: 0x10 # an unquoted word
            more: {deep: "7"}
    steps:
      - uses: example/setup-tool@v5
        with:
          tool-version: |
            1.9
            1.20
      - run: |
          # check
          sudo apt-get update && sudo apt-get install -y -t stable libone-dev \
            g++ "libtwo-dev" $MORE ./local.deb # libthree
          locale-gen de_DE.UTF-8 fr_FR.UTF-8; sudo locale-gen

          check all
        env: {LEVEL: 2, MODE: "off"}
      - run: >
          echo one
          two
        env: {ELSEWHERE: yes}
  other:
    steps:
      - run: build
`

const wholeRead = `unit
  matrix tool="1.9" ci.yml:14
  matrix tool="1.20" ci.yml:14
  matrix tool="3.10" ci.yml:14
  matrix os="linux" ci.yml:16
  matrix include.tool="0x10" ci.yml:20
  matrix include.more.deep="7" ci.yml:21
  env LEVEL="2" ci.yml:35
  env MODE="off" ci.yml:35
  example/setup-tool@v5 tool-version="1.9\n1.20\n" ci.yml:25
  line ="sudo apt-get update" ci.yml:30
  line ="sudo apt-get install -y -t stable libone-dev    g++ \"libtwo-dev\" $MORE ./local.deb" ci.yml:30
  line ="locale-gen de_DE.UTF-8 fr_FR.UTF-8" ci.yml:32
  line ="sudo locale-gen" ci.yml:32
  line ="check all" ci.yml:34
  package ="libone-dev" ci.yml:30
  package ="g++" ci.yml:30
  package ="libtwo-dev" ci.yml:30
  locale ="de_DE.UTF-8" ci.yml:32
  locale ="fr_FR.UTF-8" ci.yml:32
  locale ="" ci.yml:32
  line ="echo one two" ci.yml:36
`

func TestRead(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(wholeRead, describe(Read(files{"ci.yml": whole}, runTests))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// one is a workflow of one job whose body follows.
func one(body string) string { return "jobs:\n  unit:\n" + body }

const check = "    steps: [run: check]\n"

func TestJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree files
		want string // ids
	}{
		{"order_of_paths_then_as_written", files{"b.yaml": "jobs:\n  z:\n" + check + "  a:\n" + check, "a.yml": "jobs:\n  m:\n" + check}, "m z a"},
		{"other_folders", files{"workflows/ci.yml": one(check), ".github/ci.yml": one(check), ".github/workflows/deep/ci.yml": one(check), "ci.json": one(check)}, ""},
		{"file_of_other_work", files{"lint.yml": one(check), "docs-check.yaml": one(check), "doctest.yml": one(check)}, "unit"},
		{"job_of_other_work", files{"ci.yml": "jobs:\n  wheels:\n    name: Build wheels\n" + check + "  typing:\n" + check}, ""},
		{"matrix_words_of_a_name", files{"ci.yml": one("    name: on ${{ matrix.windows }}\n" + check)}, "unit"},
		{"comment_is_no_test", files{"ci.yml": one("    steps: [run: '# check']\n")}, ""},
		{"action", files{"ci.yml": one("    steps: [uses: some/checker@v1]\n")}, "unit"},
		{"shared_workflow", files{"ci.yml": one("    uses: some/repo/.github/workflows/checker.yml@main\n    with: {tool: '1'}\n")}, "unit"},
		{"id_is_enough", files{"ci.yml": "jobs:\n  suite:\n    steps: [run: build]\n"}, "suite"},
		{"file_is_enough", files{"suite.yml": one("    steps: [run: build]\n")}, "unit"},
		{"no_steps", files{"ci.yml": one("    runs-on: x\n")}, ""},
	} {
		var ids []string
		for _, j := range Read(c.tree, runTests) {
			ids = append(ids, j.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: jobs %q, want %q", c.name, got, c.want)
		}
	}
	if got := Read(files{"ci.yml": whole}, Tests{}); got != nil {
		t.Errorf("jobs of a language that knows none: %v", got)
	}
}

func TestEnv(t *testing.T) {
	t.Parallel()
	jobs := Read(files{"ci.yml": "env: {A: '1', B: '1', E: '${{ x }}', N: }\njobs:\n  x:\n    env: {B: '2'}\n" + check + "  y:\n    env: {B: '3', C: '3', A: '${{ y }}'}\n" + check}, runTests)
	got := map[string]string{}
	for name, w := range Env(jobs) {
		got[name] = w.Value
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "2", "C": "3", "N": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOtherWork(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lint": true, "golangci-lint": true, "Docs": true, "docs_build": true, "type-check": true, "typecheck": true, "mypy": true, "test (windows)": true,
		"goreleaser": true, "Release": true, "govulncheck": true, "go-mod-tidy": true, "CodeQL analysis": true, "build-wheels": true, "macos14": true,
		"doctest": false, "docker": false, "tests": false, "prototype": false, "splinter": false, "blocks": false, "unit": false, "": false,
	} {
		if got := OtherWork(name); got != want {
			t.Errorf("OtherWork(%q) = %t", name, got)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"carriage_returns", strings.ReplaceAll(one("    steps:\n      - run: |\n          a\n          check\n      - run: b\n"), "\n", "\r\n"),
			"unit\n  line =\"a\" ci.yml:5\n  line =\"check\" ci.yml:6\n  line =\"b\" ci.yml:7\n"},
		{"byte_order_mark", "\ufeff" + one(check), "unit\n  line =\"check\" ci.yml:3\n"},
		{"anchors", "x-m: &m {v: ['1']}\njobs:\n  unit:\n    strategy: {matrix: *m}\n    env: &e {A: b}\n" + check + "  too:\n    env: *e\n" + check,
			"unit\n  matrix v=\"1\" ci.yml:1\n  env A=\"b\" ci.yml:5\n  line =\"check\" ci.yml:6\ntoo\n  env A=\"b\" ci.yml:5\n  line =\"check\" ci.yml:9\n"},
		{"merged_keys", "x: &x\n  env: {A: b}\n  name: lint\njobs:\n  unit:\n    <<: *x\n    name: n\n" + check, "unit\n  env A=\"b\" ci.yml:2\n  line =\"check\" ci.yml:8\n"},
		{"tags", "jobs:\n  unit:\n    env: {A: !!str 3}\n" + check, "unit\n  env A=\"3\" ci.yml:3\n  line =\"check\" ci.yml:4\n"},
		{"second_document_is_not_read", one(check) + "---\njobs:\n  b:\n" + check, "unit\n  line =\"check\" ci.yml:3\n"},
		{"steps_of_odd_forms", one("    env: [A]\n    strategy: 7\n    steps: [check, null, [run: check], {run: [check]}, {run: check, uses: {a: b}, with: w}]\n"), "unit\n   =\"w\" ci.yml:5\n  line =\"check\" ci.yml:5\n"},
	} {
		if diff := cmp.Diff(c.want, describe(Read(files{"ci.yml": c.text}, runTests))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// laughs is an alias bomb of nine levels of nine.
func laughs() string {
	var b strings.Builder
	b.WriteString("x0: &x0 [a, b, c, d, e, f, g, h, i]\n")
	for i := 1; i <= 9; i++ {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i-1), 9), ", "))
	}
	return b.String() + one("    strategy: {matrix: {v: *x9}}\n"+check)
}

// Lines run where their step, their job, their workflow or a cd before them says.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"step_wins", "defaults: {run: {working-directory: a}}\njobs:\n  unit:\n    defaults: {run: {working-directory: b}}\n    steps: [{run: check, working-directory: ./c/}]\n", "c: check"},
		{"job_wins", "defaults: {run: {working-directory: a}}\njobs:\n  unit:\n    defaults: {run: {working-directory: b}}\n    steps: [run: check]\n", "b: check"},
		{"workflow", "defaults: {run: {working-directory: a}}\njobs:\n  unit:\n    steps: [run: check]\n", "a: check"},
		{"matrix", one("    strategy: {matrix: {p: [x, y], include: [{p: z}]}}\n    steps: [{run: check, working-directory: 'pkgs/${{ matrix.p }}'}]\n"), "pkgs/x: check; pkgs/y: check; pkgs/z: check"},
		{"unknown_is_the_root", one("    steps: [{run: check, working-directory: '${{ inputs.x }}'}]\n"), ": check"},
		{"out_of_the_tree", one("    steps: [{run: check, working-directory: ../x}]\n"), ": check"},
		{"cd", one("    steps:\n    - run: |\n        make\n        cd python && setup\n        check\n        cd ..\n        check\n"), ": make; python: setup; python: check; : check"},
		{"cd_of_one_step", one("    steps:\n    - run: cd a; check\n    - run: check\n"), "a: check; : check"},
		{"subshell", one("    steps:\n    - run: |\n        (cd a && check)\n        check\n"), "a: check; : check"},
		{"pushd", one("    steps:\n    - run: |\n        pushd a\n        check\n        popd\n        check\n"), "a: check; : check"},
		{"workspace", one("    steps:\n    - working-directory: a\n      run: cd $GITHUB_WORKSPACE/b && check\n"), "b: check"},
		{"unknown_cd", one("    steps: [{working-directory: a, run: cd $(mktemp -d) && check}]\n"), "a: mktemp -d; a: check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, j := range Read(files{"a.yml": c.text}, runTests) {
				for _, s := range j.Steps {
					for _, l := range s.Lines {
						got = append(got, l.Dir+": "+l.Value)
					}
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Words are those that a shell would give to a program; what only a run can tell stays.
func TestCommands(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", maxFile)
	for name, c := range map[string]struct {
		script string
		want   [][]string
	}{
		"quotes":          {`pip install "a; b < '3'" c'd e'"\$f\d" g\ h`, [][]string{{"pip", "install", "a; b < '3'", `cd e$f\d`, "g h"}}},
		"expressions":     {"A=${{ env.a }} run ${{ m.a }} \"$B\" $(date) x${{ 'y && z' }}", [][]string{{"A=${{ env.a }}", "run", "${{ m.a }}", "$B", "$(date)", "x${{ 'y && z' }}"}, {"date"}}},
		"written":         {"cat > f <<E\npytest\nE\necho 'check; check' | tee x # check", [][]string{{"cat"}, {"echo", "check; check"}, {"tee", "x"}}},
		"only_assignment": {"A=check", nil},
		"not_a_script":    {"then a 'b' && c\n# check\nd", [][]string{{"then", "a", "'b'"}, {"c"}, {"d"}}},
		"too_large":       {large + " 'a b'", [][]string{{large, "'a", "b'"}}},
	} {
		var script []Word
		for line := range strings.SplitSeq(c.script, "\n") {
			script = append(script, Word{Value: line})
		}
		var got [][]string
		for _, l := range Commands(script, "") {
			got = append(got, l.Args)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", name, diff)
		}
	}
	deep := strings.Repeat("$(", 2000) + "check" + strings.Repeat(")", 2000)
	if got := len(Commands([]Word{{Value: deep}}, "")); got > 100 {
		t.Errorf("%d commands are in one another", got)
	}
}

// What is broken or costly says nothing, soon, and spoils no other file.
func TestHostile(t *testing.T) {
	t.Parallel()
	deepest := strings.Repeat("[", 60_000)
	for name, text := range map[string]string{
		"empty":                 "",
		"null":                  "null\n",
		"not_a_mapping":         "- jobs\n- " + one(check),
		"jobs_are_no_mapping":   "jobs: [" + "unit]\n",
		"template":              "{% for v in versions %}\n" + one(check) + "{% endfor %}\n",
		"tabs":                  "jobs:\n\tunit:\n\t\tsteps: [run: check]\n",
		"key_twice":             one(check) + "jobs:\n  unit:\n" + check,
		"alias_bomb":            laughs(),
		"alias_of_itself":       one("    strategy: {matrix: &a *a}\n" + check),
		"list_that_holds_it":    one("    strategy: {matrix: &a [*a, *a]}\n" + check),
		"mapping_that_holds_it": one("    strategy: {matrix: &a {k: *a, l: *a}}\n" + check),
		"merge_of_itself":       one("    strategy: {matrix: &a {<<: [*a, *a]}}\n" + check),
		"deep_flow":             one("    strategy: " + deepest + strings.Repeat("]", 60_000) + "\n" + check),
		"deep_on_a_line":        one(check) + "x:\n  " + strings.Repeat("- ", 60_000) + "a\n",
		"many_tags":             one(check) + "x: " + strings.Repeat("!a ", 40_000) + "b\n",
		"huge":                  one(check) + strings.Repeat("# a line of no use at all\n", 10_000),
		"not_text":              "\x00\x01\xff\xfe jobs",
		"unknown_alias":         "jobs: *nowhere\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			jobs := Read(files{"a.yml": text, "b.yml": "jobs:\n  good:\n" + check}, runTests)
			if len(jobs) != 1 || jobs[0].ID != "good" {
				t.Errorf("jobs:\n%.2000s", describe(jobs))
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestTotalIsBounded(t *testing.T) {
	t.Parallel()
	tree := files{}
	for i := range 30 {
		tree[fmt.Sprintf("w%02d.yml", i)] = "jobs:\n  unit:\n" + check + strings.Repeat("# filled with comments\n", 5_000)
	}
	if got := len(Read(tree, runTests)); got != 9 {
		t.Errorf("%d files were read, want the 9 that come to 1 MiB", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{whole, laughs(), one(check), "jobs: &a {b: *a}\n", "? jobs\n: {<<: *x}\n", "jobs:\r\n  a:\r\n    steps: [run: >-\r\n      check]\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		jobs := Read(files{"ci.yml": string(data)}, runTests)
		last := 2 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r")
		check := func(w Word) {
			var line int
			if _, err := fmt.Sscanf(w.Source, ".github/workflows/ci.yml:%d", &line); err != nil || line < 1 || line > last {
				t.Errorf("%q is at %q of %d lines", w.Value, w.Source, last)
			}
		}
		for _, j := range jobs {
			for name, w := range j.Env {
				check(w)
				if name == "" || strings.Contains(w.Value, "${{") {
					t.Errorf("variable %q=%q is not literal", name, w.Value)
				}
			}
			for _, f := range slices.Concat(j.Matrix, j.Inputs) {
				check(f.Word)
			}
			for _, s := range j.Steps {
				for _, l := range s.Lines {
					check(l.Word)
				}
				for _, w := range slices.Concat(s.Packages, s.Locales) {
					check(w)
				}
				for _, w := range s.Packages {
					if !debian.MatchString(w.Value) {
						t.Errorf("package %q", w.Value)
					}
				}
			}
		}
	})
}
