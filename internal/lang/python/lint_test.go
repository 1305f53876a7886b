package python

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func TestLints(t *testing.T) {
	t.Parallel()
	runs := Language{}.Lints(schemas.Recipe{}, []string{"src/a.py", "b.py"}, lang.OwnSettings)
	if len(runs) != 2 || runs[0].Needs != "ruff" || runs[1].Needs != "pyrefly" {
		t.Fatalf("%+v", runs)
	}
	for _, run := range runs {
		argv := run.Command.Argv
		if argv[0] != "/run/benchmint/"+run.Tool || !slices.Equal(argv[len(argv)-2:], []string{"src/a.py", "b.py"}) || run.Report == "" {
			t.Errorf("%s: %q, report %q", run.Tool, argv, run.Report)
		}
	}
	// What the project has ruff do at home must not change the lines that it speaks of.
	if !slices.Contains(runs[0].Command.Argv, "--no-fix") {
		t.Errorf("ruff may mend: %q", runs[0].Command.Argv)
	}
	if runs := (Language{}).Lints(schemas.Recipe{}, nil, lang.OwnSettings); runs != nil {
		t.Errorf("for no file: %v", runs)
	}
}

// TestLintsByStandard: by settings that are ours, both get a file of them and the Python of the environment,
// and comments count only where they are asked to.
func TestLintsByStandard(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		version   string
		by        lang.LintSettings
		ruff      string // the options that are added
		pyrefly   string
		wantFiles bool
	}{
		{"3.9.1", lang.OwnSettings, "", "", false},
		{"3.9.1", lang.Standard, "--config /run/benchmint/lint_ruff.toml --target-version py39", "--config /run/benchmint/lint_pyrefly.toml --python-version 3.9 --enabled-ignores type,pyrefly", true},
		{"3.13.0", lang.Unsuppressed, "--config /run/benchmint/lint_ruff.toml --target-version py313 --ignore-noqa", "--config /run/benchmint/lint_pyrefly.toml --python-version 3.13", true},
		{"3.6.15", lang.Unsuppressed, "--config /run/benchmint/lint_ruff.toml --target-version py37 --ignore-noqa", "--config /run/benchmint/lint_pyrefly.toml --python-version 3.6", true},
	} {
		runs := Language{}.Lints(schemas.Recipe{Toolchain: schemas.Toolchain{Version: tc.version}}, []string{"a.py"}, tc.by)
		for i, want := range []string{tc.ruff, tc.pyrefly} {
			argv := runs[i].Command.Argv
			_, added, _ := strings.Cut(strings.Join(argv[:len(argv)-1], " "), lintOut+runs[i].Tool)
			if strings.TrimSpace(added) != want {
				t.Errorf("%s %d %s: %q, want %q", tc.version, tc.by, runs[i].Tool, added, want)
			}
			given := map[string]string{}
			for _, f := range runs[i].Inputs {
				given[strings.TrimPrefix(f.Path, sandbox.RunPath+"/")] = string(f.Data)
			}
			if diff := cmp.Diff(Language{}.Standard(), given); (diff == "") != tc.wantFiles {
				t.Errorf("%s %d %s: %s", tc.version, tc.by, runs[i].Tool, diff)
			}
		}
	}
	if !strings.Contains(pyreflySettings, `["`+sandbox.TreePath+`/src", "`+sandbox.TreePath+`"]`) {
		t.Error("pyrefly does not look for imports in the tree")
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tool, report string
		want               []lang.Finding
		fault              string
	}{
		{"ruff", ruff, `[{"cell":null,"code":"F821","end_location":{"column":16,"row":9},"filename":"/testbed/src/a.py","fix":null,"location":{"column":1,"row":8},"message":"Undefined name","name":"undefined-name"},
			{"code":null,"filename":"/testbed/b.py","location":{"column":5,"row":2},"message":"Expected an expression","name":"invalid-syntax"}]`, []lang.Finding{
			{Tool: ruff, Path: "src/a.py", Line: 8, Column: 1, Rule: "F821", Message: "Undefined name"},
			{Tool: ruff, Path: "b.py", Line: 2, Column: 5, Rule: "invalid-syntax", Message: "Expected an expression"},
		}, ""},
		{"pyrefly", pyrefly, `{"errors":[{"line":6,"column":1,"stop_line":6,"stop_column":10,"path":"src/a.py","code":-2,"name":"unknown-name","description":"long","concise_description":"Could not find name","severity":"error"},
			{"line":7,"column":1,"path":"src/a.py","name":"redundant-cast","concise_description":"needless","severity":"warn"}]}`, []lang.Finding{
			{Tool: pyrefly, Path: "src/a.py", Line: 6, Column: 1, Rule: "unknown-name", Message: "Could not find name"},
		}, ""},
		{"no_report", ruff, "", nil, "ruff ended with code 2: unexpected end of JSON input: bad settings"},
	} {
		got, err := Language{}.Findings(lang.LintRun{Tool: tc.tool}, lang.Output{Report: []byte(tc.report), Result: sandbox.Result{ExitCode: 2, Output: []byte("warning\nbad settings\n")}})
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if (err == nil) != (tc.fault == "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.fault)
		}
	}
}
