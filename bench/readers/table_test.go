package readers

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/changelog"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/workflow"
	"github.com/benchmint/benchmint/schemas"
)

// reader is one that reads a text of a stranger, and the shapes that it is given.
type reader struct {
	read   func(text string)
	shapes []string
}

// readers are by name. What they give is of no interest.
func readers() map[string]reader {
	common := []string{"spaces", "lines", "letters", "words", "brackets", "braces", "parens", "balanced", "quotes", "single", "ticks", "backslash", "continued", "hashes", "comments", "json", "nul", "not_utf8", "stairs"}
	of := func(prefixes ...string) []string {
		out := slices.Clone(common)
		for _, name := range sortedKeys(shapes) {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				out = append(out, name)
			}
		}
		return out
	}
	all := map[string]reader{
		"workflow": {func(s string) {
			workflow.Read(treeOf(map[string]string{".github/workflows/test.yml": s}), workflow.Tests{Line: func(l string) bool { return strings.Contains(l, "pytest") }})
		}, of("yaml_")},
		"changelog fragment .yaml": {func(s string) { changelog.NewReader("a/b", s).Fragment("changelogs/fragments/1.yaml", s) }, of("yaml_")},
		"changelog .md":            {func(s string) { changelog.NewReader("a/b", s).Parse("CHANGELOG.md", s) }, of("md_", "rst_")},
		"changelog .rst":           {func(s string) { changelog.NewReader("a/b", s).Parse("CHANGES.rst", s) }, of("md_", "rst_")},
		"changelog fragment .md":   {func(s string) { changelog.NewReader("a/b", s).Fragment("changelog.d/1.feature.md", s) }, of("md_", "rst_")},
		"tag":                      {func(s string) { changelog.NewReader("a/b", s).Message(s) }, of("md_")},
		"message":                  {message, of("md_")},
		"visible":                  {func(s string) { prose.Visible(s) }, of()},
		"secrets of a patch":       {func(s string) { secrets.ScanPatch([]byte(s)) }, of("secret_", "patch_")},
		"secrets of a text":        {func(s string) { secrets.Scan("a.py", s) }, of("secret_", "md_")},
		"secrets masked":           {func(s string) { secrets.Scrub(s) }, of("secret_", "md_")},
		"patch":                    {patch, of("patch_")},
		"go test -json":            {goReport, of("events")},
		"pytest report":            {pyReport, of("records")},
	}
	files := map[string][]string{
		"pyproject.toml": of("toml_", "ini_", "py_"), "setup.cfg": of("ini_"), "tox.ini": of("ini_"), "pytest.ini": of("ini_"), "setup.py": of("py_"), "noxfile.py": of("py_"),
		"tox.toml": of("toml_"), "requirements.txt": of("req_"), "requirements-test.txt": of("req_"), "tests/test_a.py": of("py_"), ".github/workflows/test.yml": of("yaml_"),
	}
	for file, given := range files {
		all["python "+file] = reader{func(s string) { infer(python.Language{}, file, s) }, given}
	}
	for file, given := range map[string][]string{
		"go.mod": of("go_"), "go.work": of("go_"), "go.sum": of("go_"), "a_test.go": of("go_"), "Makefile": of(), ".github/workflows/test.yml": of("yaml_"),
	} {
		all["go "+file] = reader{func(s string) { infer(golang.Language{}, file, s) }, given}
	}
	all["python names"] = reader{func(s string) { names(python.Language{}, "box.py", "tests/test_box.py", s) }, of("py_")}
	all["go names"] = reader{func(s string) { names(golang.Language{}, "box.go", "box_test.go", s) }, of("go_")}
	all["python hunks"] = reader{func(s string) { hunks(s) }, of("toml_", "ini_")}
	return all
}

func treeOf(files map[string]string) *tree.Tree {
	var entries []tree.Entry
	for _, name := range sortedKeys(files) {
		entries = append(entries, tree.Entry{Path: name, Mode: tree.ModeFile, Data: []byte(files[name])})
	}
	t, err := tree.New(entries)
	if err != nil {
		panic(err) // the paths are ours
	}
	return t
}

// infer asks for a recipe of a project that has one file of a stranger.
func infer(l lang.Language, file, text string) {
	files := map[string]string{file: text}
	if l.Name() == golang.Name && file != "go.mod" {
		files["go.mod"] = "module example.org/a\n\ngo 1.22\n"
	}
	t := treeOf(files)
	p := lang.Project{Name: "a/b", Base: t, Solution: t, Date: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC), PinToDate: true}
	for _, v := range []string{"3.8.1", "3.12.1"} {
		p.Available = append(p.Available, lang.ToolchainRelease{Name: python.Name, Version: v, Released: p.Date.AddDate(-2, 0, 0)})
	}
	p.Available = append(p.Available, lang.ToolchainRelease{Name: golang.Name, Version: "1.22.1", Released: p.Date.AddDate(-1, 0, 0)})
	for name := range files {
		if strings.Contains(name, "test") {
			p.TestPaths = append(p.TestPaths, name)
		}
	}
	r, err := l.Infer(p)
	if err == nil {
		l.Repair(p, r, []byte(text))
	}
}

func names(l lang.Language, code, test, text string) {
	base := treeOf(map[string]string{code: "", test: ""})
	l.NewNames(base, treeOf(map[string]string{code: text, test: text}), []string{code}, []string{test})
	if same := l.Untouched(base, treeOf(map[string]string{code: text, test: text}), []string{test}); same != nil {
		same(lang.Test{ID: test + "::test_1", Unit: test})
	}
}

func hunks(text string) {
	lines := strings.Count(text, "\n")
	var all []lang.Hunk
	for i := 1; i < lines; i += 10 {
		all = append(all, lang.Hunk{OldStart: i, OldLines: 1, NewStart: i, NewLines: 1})
	}
	python.Language{}.Manifest("pyproject.toml", []byte(text), []byte(text), all)
	python.Language{}.Manifest("setup.cfg", []byte(text), []byte(text), all)
}

func patch(text string) { _, _ = treeOf(map[string]string{"a": "a\n"}).Apply([]byte(text)) }

// message reads the message of a commit or a pull request as describe does.
func message(text string) {
	prose.Plain("Subject", text)
	prose.Problem(text, nil)
	for _, b := range prose.Blocks(prose.Squashed("Subject", text)) {
		for _, s := range prose.Sentences(prose.Inline(b.Text)) {
			s, _ = prose.Torn(s)
			prose.Names(s)
			prose.Noise(s)
			prose.Points(s)
		}
	}
	prose.Code(text)
	prose.Strays(text, text)
	changelog.Words(text)
}

func goReport(text string) {
	t := treeOf(map[string]string{"go.mod": "module a\n\ngo 1.22\n", "a_test.go": "package a\n"})
	r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: golang.Name, Version: "1.22.1"}, Test: []schemas.Command{{Argv: []string{"go", "test", "./..."}}}}
	var outs []lang.Output
	for _, run := range (golang.Language{}).Runs(r, t, lang.Select{Number: 1}) {
		outs = append(outs, lang.Output{Run: run, Tree: t, Report: []byte(text), Result: sandbox.Result{End: sandbox.Exited, Output: []byte(text)}})
	}
	golang.Language{}.Parse(r, outs)
}

func pyReport(text string) {
	r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: python.Name, Version: "3.12.1"}, Test: []schemas.Command{{Argv: []string{"python", "-m", "pytest"}}}}
	t := treeOf(map[string]string{"a": ""})
	var outs []lang.Output
	for _, run := range (python.Language{}).Runs(r, t, lang.Select{Number: 1}) {
		var given struct{ Nonce string }
		if err := json.Unmarshal(run.Given, &given); err != nil {
			panic(err) // it is ours
		}
		said := strings.ReplaceAll(text, `"n":"n"`, `"n":"`+given.Nonce+`"`)
		outs = append(outs, lang.Output{Run: run, Report: []byte(said), Result: sandbox.Result{End: sandbox.Exited, Output: []byte(text)}})
	}
	python.Language{}.Parse(r, outs)
}
