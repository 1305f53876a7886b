package java

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask/verify"
)

func TestReadJavac(t *testing.T) {
	t.Parallel()
	lost := verify.Fault{Unit: "A.java", Path: "A.java", Line: 3, Message: "cannot find symbol: class Thing"}
	const javac = "A.java:3: error: cannot find symbol\n  Thing t;\n  symbol:   class Thing\n1 error\n"
	for _, c := range []struct {
		name, output string
		code         int
		want         verify.Report
	}{
		{"sound", "", 0, verify.Report{}},
		{"a_symbol", javac, 1, verify.Report{Faults: []verify.Fault{lost}}},
		{"maven_has_nothing_to_say", "maven: \n", 0, verify.Report{}},
		{"maven_fails", "maven: No plugin found for prefix 'dependency'\n" + javac, 1, verify.Report{
			Faults: []verify.Fault{lost}, Lacks: "without the jars of its pom: No plugin found for prefix 'dependency'",
		}},
		{"javac_does_not_start", "sh: javac: not found\n", 127, verify.Report{Untold: "javac: sh: javac: not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.want.Units = []string{"A.java"}
			if diff := cmp.Diff(c.want, readJavac(c.want.Units, verify.Said{Code: c.code, Output: []byte(c.output)})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
