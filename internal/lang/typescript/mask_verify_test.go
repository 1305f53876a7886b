package typescript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
