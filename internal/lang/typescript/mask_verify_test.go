package typescript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
)

func TestRead(t *testing.T) {
	t.Parallel()
	listed := "/testbed/node_modules/x/index.d.ts\n/testbed/src/a.ts\n/testbed/src/b.ts\n"
	units := []string{"src/a.ts", "src/b.ts"}
	for _, c := range []struct {
		name, output string
		want         verify.Report
	}{
		{"sound", listed, verify.Report{Units: units}},
		{"a_type", "src/a.ts(3,7): error TS2322: Type 'string' is not assignable.\n  A second line.\n" + listed, verify.Report{
			Units: units, Faults: []verify.Fault{{Unit: "src/a.ts", Path: "src/a.ts", Line: 3, Message: "TS2322: Type 'string' is not assignable."}},
		}},
		// Behind these, tsc looks at no types: nothing of what it lists holds.
		{"no_types_for_syntax", "src/a.ts(3,7): error TS1005: ';' expected.\n" + listed, verify.Report{
			Units: units, Faults: []verify.Fault{{Unit: "src/a.ts", Path: "src/a.ts", Line: 3, Message: "TS1005: ';' expected."}},
			Untold: "tsc looks at no types: src/a.ts:3: TS1005: ';' expected.",
		}},
		{"no_types_for_settings", "error TS2688: Cannot find type definition file for 'node'.\n" + listed, verify.Report{
			Units: units, Untold: "tsc: TS2688: Cannot find type definition file for 'node'.",
		}},
		{"settings_by_place", "tsconfig.json(5,7): error TS5023: Unknown compiler option 'x'.\n" + listed, verify.Report{
			Units: units, Untold: "tsc: TS5023: Unknown compiler option 'x'.",
		}},
		{"nothing", "node: no such file\n", verify.Report{Untold: "tsc: node: no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, read(verify.Said{Output: []byte(c.output)})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &mask.Manifest{}
	for name, text := range map[string]string{
		"tsconfig.json":            "\ufeff{\n// the projects\n\"files\": [ /* none */ ],\n\"references\": [{\"path\": \"./packages/a\"}, // {\"path\": \"./packages/b\"}\n{ \"path\": \"tsconfig.app.json\", },],\n}\n",
		"tsconfig.app.json":        "\ufeff{\"include\": [\"src\"]}\n",
		"packages/a/tsconfig.json": "{\"compilerOptions\": {\"files\": []}}\n",
		"packages/b/tsconfig.json": "{}\n",
	} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m.Files = append(m.Files, mask.Record{Path: name, Before: "x"})
	}
	slices.SortFunc(m.Files, func(a, b mask.Record) int { return strings.Compare(a.Path, b.Path) })
	want := []string{"packages/a/tsconfig.json", "tsconfig.app.json"}
	if diff := cmp.Diff(want, projects(verify.NewTree(dir, m, "typescript"))); diff != "" {
		t.Error(diff)
	}
}
