package javascript

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/syntax"
)

// What is handed on so often that nobody wrote it is followed no further: it costs no more
// than its length.
func TestMaskDeep(t *testing.T) {
	t.Parallel()
	const n = 500
	tree, err := syntax.ParseTree(syntax.JavaScript, []byte("function f() { return "+strings.Repeat("g(", n)+"h"+strings.Repeat(")", n)+"; }"))
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, ref := range (Masker{}).Read("a.js", tree).Functions[0].Runs {
		if ref.Path[0] == "g" {
			calls++
		}
	}
	if calls == 0 || calls > 2*maxLevel {
		t.Errorf("%d calls of one function are told apart", calls)
	}
}
