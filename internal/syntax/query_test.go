package syntax

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMatched(t *testing.T) {
	t.Parallel()
	const query = `
(call function: (_) @callee) @call @seen
((function_definition name: (_) @name) @function (#match? @name "^f"))
(comment) @comment
`
	tree, err := ParseMatched(Python, []byte("# a\ndef f(x):\n  return g(h(1))\ndef other(): pass\n"), query)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range tree.Matches() {
		got = append(got, strings.Join(m.Marks, " ")+" "+m.At("name").Text()+m.At("callee").Text())
	}
	if diff := cmp.Diff([]string{"comment ", "function f", "call seen g", "call seen h"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := ParseMatched(Go, []byte("package a\n"), query); err == nil || !strings.Contains(err.Error(), "the query for go: invalid node type 'call' at line 2") {
		t.Errorf("a query of another grammar: %v", err)
	}
	deep := []byte("x = " + strings.Repeat("(", maxNest) + strings.Repeat(")", maxNest) + "\n")
	if _, err := ParseMatched(Python, deep, query); !errors.Is(err, ErrTooDeep) {
		t.Errorf("%d levels: %v", maxNest, err)
	}
}
