package readers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/hosts"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// shapes make texts of about n bytes.
var shapes = map[string]func(n int) string{
	// Of any format.
	"spaces":    filled("", " ", ""),
	"lines":     filled("", "\n", ""),
	"letters":   filled("", "a", ""),
	"words":     filled("", "word ", ""),
	"brackets":  filled("", "[", ""),
	"braces":    filled("", "{", ""),
	"parens":    filled("", "(", ""),
	"balanced":  func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
	"quotes":    filled("", `"`, ""),
	"single":    filled("", "'", ""),
	"ticks":     filled("", "`", ""),
	"backslash": filled("", `\`, ""),
	"continued": filled("", "a \\\n", ""),
	"hashes":    filled("", "#", ""),
	"comments":  filled("", "# a\n", ""),
	"json":      filled("", `{"a":`, ""),
	"nul":       filled("", "\x00", ""),
	"not_utf8":  filled("", "\xff", ""),
	"stairs": func(n int) string { // each line is indented deeper
		return stairs(n, "", "- a", " ")
	},

	"yaml_keys":     numbered("on: [push]\njobs:\n  test:\n    env:\n", "      K%d: v\n", "    steps: [{run: pytest}]\n"),
	"yaml_steps":    filled("on: [push]\njobs:\n  test:\n    steps:\n", "      - run: pytest\n", ""),
	"yaml_jobs":     numbered("on: [push]\njobs:\n", "  test%d:\n    steps: [{run: pytest}]\n", ""),
	"yaml_matrix":   numbered("on: [push]\njobs:\n  test:\n    strategy:\n      matrix:\n        python-version:\n", "          - '3.%d'\n", "    steps: [{run: pytest}]\n"),
	"yaml_script":   filled("jobs:\n  test:\n    steps:\n      - run: |\n", "          pytest -k a\n", ""),
	"yaml_carried":  filled("jobs:\n  test:\n    steps:\n      - run: |\n", "          pytest \\\n", ""),
	"yaml_flow":     filled("jobs: ", "[", ""),
	"yaml_maps":     filled("jobs: ", "{a: ", ""),
	"yaml_deep":     func(n int) string { return stairs(n, "jobs:\n", "a:", "  ") },
	"yaml_lists":    filled("jobs: ", "- ", ""),
	"yaml_aliases":  doubling("a0: &a0 [x]\n", "a%d: &a%d [*a%d, *a%d]\n", "jobs: {test: {strategy: {matrix: *a%d}, steps: [{run: pytest}]}}\n"),
	"yaml_merges":   doubling("a0: &a0 {k: v}\n", "a%d: &a%d {<<: [*a%d, *a%d]}\n", "jobs: {test: {env: *a%d, steps: [{run: pytest}]}}\n"),
	"yaml_anchors":  numbered("", "k%d: &a%[1]d v\n", ""),
	"yaml_open":     filled("jobs: \"", "a\n  ", ""),
	"yaml_colons":   filled("jobs: ", "a: ", ""),
	"yaml_tags":     filled("jobs: ", "!a ", ""),
	"yaml_files":    filled("", "---\na: b\n", ""),
	"yaml_question": filled("", "? a\n", ""),
	"yaml_words":    filled("jobs: ", "word ", ""),
	"yaml_folded":   filled("jobs: >\n", "  a\n\n", ""),

	"ini_sections":  numbered("", "[s%d]\nk = v\n", ""),
	"ini_again":     filled("", "[pytest]\naddopts = -x\n", ""),
	"ini_keys":      numbered("[testenv]\n", "k%d = v\n", ""),
	"ini_lines":     filled("[testenv]\ncommands =\n", "    pytest -x\n", ""),
	"ini_deps":      numbered("[testenv]\ndeps =\n", "    py%d: pytest\n", ""),
	"ini_choices":   filled("[tox]\nenvlist = py", "{a,b}", "\n"),
	"ini_nested":    filled("[tox]\nenvlist = py", "{a,", "\n"),
	"ini_factors":   func(n int) string { return "[testenv]\ndeps =\n    " + strings.Repeat("{a,b}-", n/6) + "py: pytest\n" },
	"ini_names":     func(n int) string { return "[testenv:" + strings.Repeat("{a,b}", n/5) + "]\ncommands = pytest\n" },
	"ini_refers":    filled("[testenv]\ncommands = pytest\ndeps =\n", "    {[testenv]deps}\n", ""),
	"ini_refers_on": numberedTwice("[testenv]\ncommands = pytest\ndeps = {[d0]deps}\n", "[d%d]\ndeps =\n  {[d%[2]d]deps}\n  {[d%[2]d]deps}\n"),
	"ini_envs":      numbered("[tox]\nenvlist = py\n", "[testenv:py%d]\ncommands = pytest\n", ""),
	"ini_list":      numbered("[tox]\nenvlist = ", "py%d,", "\n[testenv]\ncommands = pytest\n"),
	"ini_options":   filled("[pytest]\naddopts = ", "--cov=a ", "\n"),
	"ini_groups":    numbered("[metadata]\nname = a\n[options.extras_require]\n", "e%d = pytest\n", ""),

	"toml_keys":       numbered("", "k%d = 1\n", ""),
	"toml_tables":     numbered("", "[t%d]\n", ""),
	"toml_dotted":     filled("a", ".a", " = 1\n"),
	"toml_header":     filled("[a", ".a", "]\n"),
	"toml_headers":    headers,
	"toml_arrays":     filled("a = ", "[", ""),
	"toml_inline":     filled("a = ", "{a = ", ""),
	"toml_again":      filled("", "[[a]]\n", ""),
	"toml_deps":       numbered("[project]\nname = 'a'\ndependencies = [\n", "  'd%d',\n", "]\n"),
	"toml_same":       filled("[project]\nname = 'a'\ndependencies = [\n", "  'd>1',\n", "]\n"),
	"toml_extras":     numbered("[project]\nname = 'a'\n[project.optional-dependencies]\n", "e%d = ['pytest']\n", ""),
	"toml_extras_of":  numberedTwice("[project]\nname = 'a'\n[project.optional-dependencies]\ntest = ['a[e0]']\n", "e%d = ['a[e%d]', 'a[e%[2]d]', 'pytest']\n"),
	"toml_groups":     numbered("[project]\nname = 'a'\n[dependency-groups]\n", "g%d = ['pytest']\n", ""),
	"toml_groups_of":  numberedTwice("[project]\nname = 'a'\n[dependency-groups]\ntest = [{include-group = 'g0'}]\n", "g%d = [{include-group = 'g%d'}, {include-group = 'g%[2]d'}, 'pytest']\n"),
	"toml_text":       filled("a = '''", "word ", "'''\n"),
	"toml_classifies": numbered("[project]\nname = 'a'\nclassifiers = [\n", "  'Programming Language :: Python :: 3.%d',\n", "]\n"),
	"toml_poetry":     numbered("[tool.poetry]\nname = 'a'\n[tool.poetry.group.test.dependencies]\n", "d%d = '^1'\n", ""),
	"toml_hatch":      numbered("[project]\nname = 'a'\n[tool.hatch.envs.test]\ndependencies = [\n", "  'd%d',\n", "]\n"),

	"req_lines":  numbered("", "d%d==1\n", ""),
	"req_itself": filled("", "-r requirements.txt\n", ""),
	"req_long":   filled("d", "[a]", "\n"),
	"req_marks":  filled("d; ", "a and ", "\n"),

	"py_lists":    filled("setup(name='a', ", "install_requires=[", ""),
	"py_extras":   filled("setup(name='a', ", "extras_require={'a': [", ""),
	"py_sessions": numbered("import nox\n", "@nox.session\ndef tests%d(session):\n    session.run('pytest')\n", ""),
	"py_runs":     filled("import nox\n@nox.session\ndef tests(session):\n", "    session.run('pytest')\n", ""),
	"py_open":     filled("import nox\n@nox.session\ndef tests(session):\n    ", "session.run(", ""),
	"py_names":    filled("", "name = 'a' ", ""),
	"py_imports":  numbered("", "import m%d\n", ""),
	"py_defs":     numbered("", "def f%d():\n    return f%[1]d()\n\n\n", ""),
	"py_classes":  numbered("", "class C%d(C):\n    def f(self):\n        return self.f()\n\n\n", ""),
	"py_nested":   func(n int) string { return stairs(n, "", "def f():", " ") },
	"py_calls":    filled("x = ", "f(", ""),
	"py_dots":     filled("x = a", ".b", "\n"),
	"py_sums":     filled("x = 1", " + a", "\n"),
	"py_uses":     numbered("from box import *\n", "def test_%d():\n    assert name%[1]d() == 1\n\n\n", ""),

	"go_requires": numbered("module example.org/a\n\ngo 1.22\n\n", "require example.org/d%d v1.0.0\n", ""),
	"go_block":    numbered("module example.org/a\n\ngo 1.22\n\nrequire (\n", "\texample.org/d%d v1.0.0\n", ")\n"),
	"go_replaces": numbered("module example.org/a\n\ngo 1.22\n\n", "replace example.org/d%d => ./d\n", ""),
	"go_uses":     numbered("go 1.22\n\n", "use ./d%d\n", ""),
	"go_sums":     numbered("", "example.org/d%d v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", ""),
	"go_funcs":    numbered("package box\n\n", "func F%d() int { return F%[1]d() }\n", ""),
	"go_tests":    numbered("package box\n\nimport \"testing\"\n\n", "func Test%d(t *testing.T) { Name%[1]d() }\n", ""),
	"go_nested":   filled("package box\n\nfunc F() {", "{", ""),
	"go_sum":      filled("package box\n\nvar X = 1", " + a", "\n"),
	"go_imports":  numbered("package box\n\nimport (\n", "\t\"example.org/d%d\"\n", ")\n"),

	"md_headings": numbered("", "# 1.0.%d\n", ""),
	"md_versions": numbered("", "## 1.0.%d\n\n- Fix a thing (#%[1]d)\n\n", ""),
	"md_bullets":  numbered("# 1.0\n\n", "- Fix a thing #%d\n", ""),
	"md_nested":   func(n int) string { return stairs(n, "# 1.0\n\n", "- Fix #1:", "  ") },
	"md_labels":   func(n int) string { return stairs(n, "# 1.0\n\n", "- Fixes:", "  ") },
	"md_counts":   func(n int) string { return stairs(n, "# 1.0\n\n", "1. Fix #1:", "  ") },
	"md_numbers":  filled("# 1.0\n\n- Fix ", "#1 ", "\n"),
	"md_pulls":    numbered("# 1.0\n\n- Fix ", hosts.GitHub+"a/b/pull/%d ", "\n"),
	"md_links":    numbered("# 1.0\n\n- Fix ", "[#%d]("+hosts.GitHub+"a/b/pull/%[1]d) ", "\n"),
	"md_defined":  numbered("# 1.0\n\n- Fix [#1]\n\n", "[#%d]: "+hosts.GitHub+"a/b/pull/%[1]d\n", ""),
	"md_used":     numberedTwice("# 1.0\n\n", "- Fix [#%d][a%[1]d]\n\n[a%[1]d]: "+hosts.GitHub+"a/b/pull/%[1]d\n"),
	"md_comment":  filled("# 1.0\n\n", "<!-- ", ""),
	"md_tags":     filled("# 1.0\n\n- ", "<a ", "\n"),
	"md_stars":    filled("# 1.0\n\n- ", "*a", "\n"),
	"md_lines_of": filled("# 1.0\n\n", "*a* _b_ **c**\n", ""),
	"md_images":   filled("# 1.0\n\n- ", "![", "\n"),
	"md_fences":   filled("# 1.0\n\n", "```\na\n", ""),
	"md_tables":   filled("# 1.0\n\n", "| a | b |\n", ""),
	"md_quotes":   filled("# 1.0\n\n", "> ", ""),
	"md_rules":    filled("# 1.0\n\n", "---\n", ""),
	"md_words":    filled("# 1.0\n\n- Fix ", "a thing, ", "\n"),
	"md_paras":    filled("# 1.0\n\n", "A thing was fixed.\n\n", ""),
	"md_sentence": filled("", "I want a. ", ""),
	"md_code":     filled("", "`a` ", ""),
	"md_camel":    filled("", "aB.cD(", ""),
	"md_trailers": filled("Subject\n\n", "Signed-off-by: A <a@example.org>\n", ""),
	"md_prompts":  filled("", ">>> a\n", ""),
	"md_entities": filled("", "&amp;", ""),
	"rst_heads":   numbered("", "1.0.%d\n------\n\n", ""),
	"rst_levels":  filled("", "1.0\n====\n\nFixes\n-----\n\n* a\n\n", ""),
	"rst_roles":   filled("1.0\n===\n\n* Fix ", ":pr:`1` ", "\n"),
	"rst_notes":   filled("1.0\n===\n\n", ".. note::\n\n", ""),
	"rst_deep":    func(n int) string { return stairs(n, "1.0\n===\n\n", ".. note::", "  ") },
	"rst_targets": numbered("1.0\n===\n\n", ".. _a%d: "+hosts.GitHub+"a/b/pull/%[1]d\n", ""),
	"rst_literal": filled("1.0\n===\n\na::\n\n", "   b\n", ""),
	"rst_under":   filled("", "=", "\n"),
	"rst_subst":   filled("1.0\n===\n\n* ", "|a|_ ", "\n"),

	"patch_hunks":  numbered("diff --git a/a b/a\n--- a/a\n+++ b/a\n", "@@ -%d,0 +%[1]d,1 @@\n+a\n", ""),
	"patch_same":   filled("diff --git a/a b/a\n--- a/a\n+++ b/a\n", "@@ -1 +1 @@\n-a\n+a\n", ""),
	"patch_files":  numbered("", "diff --git a/f%d b/f%[1]d\nnew file mode 100644\n--- /dev/null\n+++ b/f%[1]d\n@@ -0,0 +1 @@\n+a\n", ""),
	"patch_heads":  filled("", "diff --git a/a b/a\n", ""),
	"patch_lines":  filled("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,9999999 @@\n-a\n", "+a\n", ""),
	"patch_binary": filled("diff --git a/a b/a\nGIT binary patch\nliteral 9999999\n", "zcmZQzK!9)k00aO\n", "\n"),
	"patch_rename": numbered("", "diff --git a/f%d b/g%[1]d\nsimilarity index 100%%\nrename from f%[1]d\nrename to g%[1]d\n", ""),

	"events":       numbered("", `{"Action":"run","Package":"a","Test":"T%d"}`+"\n"+`{"Action":"pass","Package":"a","Test":"T%[1]d"}`+"\n", ""),
	"events_out":   filled(`{"Action":"run","Package":"a","Test":"T"}`+"\n", `{"Action":"output","Package":"a","Test":"T","Output":"--- PASS: T (0.00s)\n"}`+"\n", ""),
	"events_open":  numbered("", `{"Action":"run","Package":"a","Test":"T%d"}`+"\n", ""),
	"events_units": numbered("", `{"Action":"run","Package":"a%d","Test":"T"}`+"\n"+`{"Action":"fail","Package":"a%[1]d","Test":"T"}`+"\n"+`{"Action":"fail","Package":"a%[1]d"}`+"\n", ""),
	"events_deep":  deepEvents,
	"events_long": func(n int) string {
		return `{"Action":"run","Package":"a","Test":"T` + strings.Repeat("/a", n/2) + `"}` + "\n"
	},
	"events_text":  filled("", "panic: a\ngoroutine 1 [running]:\n", ""),
	"events_build": numbered("", `{"ImportPath":"a%d","Action":"build-output","Output":"x.go:1:1: a\n"}`+"\n"+`{"ImportPath":"a%[1]d","Action":"build-fail"}`+"\n", ""),
	"events_same":  filled("", `{"Action":"run","Package":"a","Test":"T"}`+"\n"+`{"Action":"fail","Package":"a","Test":"T"}`+"\n", ""),

	"records":        numbered("", record(`"t":"begin","id":"a::T%d","unit":"a"`)+record(`"t":"phase","id":"a::T%[1]d","unit":"a","when":"call","outcome":"failed"`)+record(`"t":"end","id":"a::T%[1]d","unit":"a"`), ""),
	"records_listed": numbered("", record(`"t":"listed","unit":"a%d","ids":["a%[1]d::T"]`), ""),
	"records_units":  numbered("", record(`"t":"unit","unit":"a%d","outcome":"failed","why":"E   x"`), ""),
	"records_deep":   filled("", `{"n":"n","i":`, ""),
	"records_why":    filled(`{"n":"n","i":0,"t":"unit","unit":"a","outcome":"failed","why":"`, `E   a\n`, `"}`+"\n"),
	"records_dead":   filled("", record(`"t":"dead","why":"a"`), ""),

	"secret_words": filled("", "password = ", ""),
	"secret_pairs": numbered("", "api_key_%d = 'aB3dE5gH7jK9mN1pQ3sT5vW7'\n", ""),
	"secret_line":  filled("", "key='aB3dE5gH7jK9mN1pQ3sT5vW7';", ""),
	"secret_b64":   filled("", "aB3dE5gH7jK9mN1pQ3sT5vW7+/", ""),
	"secret_begin": filled("", "-----BEGIN "+"RSA PRIVATE KEY-----\n", ""),
	"secret_urls":  filled("", "https://a:b@c/ ", ""),
	"secret_dots":  filled("", "eyJ.eyJ.", ""),
	"secret_patch": filled("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,9999999 @@\n", "+password = 'aB3dE5gH7jK9mN1pQ3sT5vW7'\n", ""),
}

func filled(head, part, tail string) func(int) string {
	return func(n int) string { return head + strings.Repeat(part, n/len(part)) + tail }
}

// numbered repeats a format of one number.
func numbered(head, format, tail string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + tail
	}
}

// numberedTwice repeats a format of a number and the next one.
func numberedTwice(head, format string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i, i+1)
		}
		return b.String()
	}
}

// doubling has lines that each name the one before twice, and a last one that uses them.
func doubling(head, format, tail string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		i := 1
		for ; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i, i, i-1, i-1)
		}
		return b.String() + fmt.Sprintf(tail, i-1)
	}
}

// stairs has lines that are each indented by one more step.
func stairs(n int, head, line, step string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(step, i) + line + "\n")
	}
	return b.String()
}

// headers are tables of TOML that are each below the one before.
func headers(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString("[a" + strings.Repeat(".a", i) + "]\n")
	}
	return b.String()
}

// deepEvents are subtests of subtests.
func deepEvents(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(`{"Action":"run","Package":"a","Test":"T` + strings.Repeat("/a", i) + `"}` + "\n")
	}
	return b.String()
}

// record is one of the pytest plugin's, marked with the nonce "n".
func record(fields string) string { return `{"n":"n","i":0,` + fields + "}\n" }
