package java

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/syntax"
)

// What nests so deep that nobody wrote it is code of what is around it: it costs no more
// than its length.
func TestMaskDeep(t *testing.T) {
	t.Parallel()
	const n = 500
	for name, source := range map[string]string{
		"objects": "class A { Object f() { return " + strings.Repeat("new Object() { Object g() { return ", n) + "1" + strings.Repeat("; } }", n) + "; } }",
		"classes": strings.Repeat("class A { ", n) + "int f() { return 1; }" + strings.Repeat(" }", n),
	} {
		tree, err := syntax.ParseTree(syntax.Java, []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if f := (Masker{}).Read("A.java", tree); len(f.Classes) > 2*maxLevel || len(f.Functions) > 2*maxLevel {
			t.Errorf("%s: %d classes, %d functions", name, len(f.Classes), len(f.Functions))
		}
	}
}
