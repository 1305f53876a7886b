package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lists of names with braces are expanded to a bound, and no further.
func TestExpandBraces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"plain":      {"py310, py311-{a,b}\nlint", 4},
		"nested":     {"py{310,31{1,2}}-{a,b}", 8},
		"many":       {"py" + strings.Repeat("{a,b}", 60), 256},
		"too_long":   {"py" + strings.Repeat("{a,b}", 4000), 1},
		"unclosed":   {strings.Repeat("{a,", 4000), 1},
		"one_by_one": {strings.Repeat("{a,b},", 100), 200},
	} {
		if got := expandBraces(c.text); len(got) != c.want {
			t.Errorf("%s: %d names, want %d", name, len(got), c.want)
		}
	}
}

// TestToxConditions: what is asked for under a condition is asked for where it holds alone,
// whatever it is.
func TestToxConditions(t *testing.T) {
	t.Parallel()
	const ini = `[tox]
envlist = py311, dev, py{310,311}-old
[testenv]
deps =
    pytest
    dev: https://example.org/werkzeug/main.tar.gz
    dev: git+https://example.org/jinja.git#egg=jinja2
    !dev: six
    py{310,311}: attrs
    py310, py311: idna
    py{39,310}-dev: rich
    py311-!dev: mock
    old: pluggy<1
    https://example.org/always.tar.gz
commands = pytest
`
	m := readManifest(treeOf(t, "-- tox.ini --\n"+ini))
	want := []string{"pytest", "six", "attrs", "idna", "mock"}
	var got []string
	for _, r := range m.tox("3.11")[0].requires {
		got = append(got, r.line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// tox 1 and 2 write {posargs} as [].
func TestToxOldPosargs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"py.test --pyargs cairocffi []": "py.test --pyargs cairocffi ", "pytest [] -v": "pytest -v", "pytest -k a[]": "pytest -k a[]"} {
		if got := toxText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
