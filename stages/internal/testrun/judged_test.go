package testrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
)

// TestJudged: a run can change nothing that judges it, nor what a link of that leads to.
func TestJudged(t *testing.T) {
	t.Parallel()
	in := environmenttest.Tree(t, map[string]string{
		"setup.cfg": "-> etc/set.txt", "etc/set.txt": "[x]\n", "tests/want.json": "-> ../share/want.json", "share/want.json": "1\n",
		"tests/pkg": "-> ../pkg", "pkg/a.py": "a = 1\n", "pkg/a.json": "1\n", "tests/up": "-> ..", "free.json": "1\n",
	})
	l := python.Language{}
	b := New(Outside{Builder: &environment.Builder{Languages: map[string]lang.Language{l.Name(): l}}}, Case{Lang: l, Trees: states.Trees{B: in, S: in}}, sandbox.Limits{})
	want := []string{"/testbed/etc/set.txt", "/testbed/pkg/a.json", "/testbed/setup.cfg", "/testbed/share/want.json", "/testbed/tests/pkg", "/testbed/tests/up", "/testbed/tests/want.json"}
	if diff := cmp.Diff(want, b.judged(in)); diff != "" {
		t.Error(diff)
	}
}
