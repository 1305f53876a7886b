package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

// masked is a library without bodies; each "RAISE" stands for one of them.
const masked = `"""Weights."""
from .twin import ratio


def scale(values, factor):
    """Scale all values."""
    RAISE


def spread(values):
    """Give the distance of the ends."""
    RAISE


def blend(first, second, weight):
    """Blend two rows."""
    RAISE


def fold(rows):
    """Sum rows by their keys."""
    RAISE


def describe(rows):
    """Say what rows are."""
    RAISE
`

var takenOut = []string{
	"scaled = []\n    for value in values:\n        scaled.append(value * factor)\n    return scaled",
	"ordered = sorted(values)\n    if not ordered:\n        raise ValueError(\"an empty row of values has no distance between its two ends\")\n    return ordered[-1] - ordered[0]",
	"if len(first) != len(second):\n        return None\n    pairs = zip(first, second)\n    pairs = [pair for pair in pairs if all(pair)]\n    return [ratio(a, b, weight) for a, b in pairs]",
	foldBody,
	"if not rows:\n        return \"" + emptyText + "\"\n    return str(rows)",
}

const (
	foldBody  = "totals = {}\n    for key, amount in rows:\n        if key in totals:\n            totals[key] += amount\n        else:\n            totals[key] = amount\n    ordered_totals = sorted(totals.items(), key=str)\n    return dict(ordered_totals)"
	emptyText = "there are no rows at all to be described here so nothing can be said of their keys or of their values and whoever asks should first add some of both"
)

// twin is code that stays, with the lines of a body.
const twin = "def ratio(a, b, weight):\n    return a * weight + b * (1 - weight)\n\n\ndef fold_of_twins(rows):\n    " + foldBody + "\n"

func filled(bodies []string) string {
	out := masked
	for _, b := range bodies {
		out = strings.Replace(out, "RAISE", b, 1)
	}
	return out
}

func shipsCode(p string) bool { return strings.HasPrefix(p, "lib1/") }

// library gives the starter with some more files, and the bodies that it misses.
func library(t *testing.T, more map[string]string) (*tree.Tree, *Bodies) {
	t.Helper()
	var trees []*tree.Tree
	for _, code := range []string{strings.ReplaceAll(masked, "RAISE", "raise NotImplementedError"), filled(takenOut)} {
		files := map[string]string{"lib1/core.py": code, "lib1/twin.py": twin}
		for p, data := range more {
			if p != "lib1/core.py" {
				files[p] = data
			} else {
				files[p] += data
			}
		}
		var entries []tree.Entry
		for p, data := range files {
			entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)})
		}
		made, err := tree.New(entries)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, made)
	}
	p, err := patch.Between(t.Context(), trees[0], trees[1])
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := BodiesOf(trees[0], p, shipsCode)
	if err != nil {
		t.Fatal(err)
	}
	return trees[0], bodies
}

func prefixed(text, with string) string {
	return with + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+with) + "\n"
}

// highlit is code as Pygments writes it, with line numbers.
func highlit(code string) string {
	var out strings.Builder
	for i, line := range strings.Split(code, "\n") {
		marked := regexp.MustCompile(`\w+|"[^"]*"|[^\w\s]`).ReplaceAllStringFunc(line, func(s string) string { return `<span class="n">` + html.EscapeString(s) + "</span>" })
		fmt.Fprintf(&out, "<a id=\"L%d\"></a><span class=\"linenos\">%4d</span>%s\n", i, i+1, marked)
	}
	return "<html><body><pre>" + out.String() + "</pre></body></html>"
}

func wide(text string) string {
	var b bytes.Buffer
	for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
		b.Write([]byte{byte(c), byte(c >> 8)})
	}
	return b.String()
}

func notebook(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"cells": []any{map[string]any{"cell_type": "code", "source": strings.SplitAfter(text, "\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func cython(code string) string {
	var out strings.Builder
	lines := strings.Split(code, "\n")
	for i := range lines {
		fmt.Fprintf(&out, "/* \"lib1/core.pyx\":%d\n%s */\n  __pyx_t_1 = NULL;\n", i+1, prefixed(strings.Join(lines[max(i-2, 0):min(i+3, len(lines))], "\n"), " * "))
	}
	return out.String()
}

// TestCopies plants what was taken out in every form that is looked through.
func TestCopies(t *testing.T) {
	t.Parallel()
	solution := filled(takenOut)
	wrapped := regexp.MustCompile(`.{1,76}`).ReplaceAllString(base64.StdEncoding.EncodeToString([]byte(solution)), "$0\n")
	more := map[string]string{
		"docs/copied.rst":               "Core\n====\n\n.. code-block:: python\n\n" + prefixed(solution, "    "),
		"docs/one.rst":                  "Blending::\n\n    >>> " + strings.ReplaceAll(takenOut[2], "\n", "\n    ... ") + "\n",
		"changes.patch":                 "--- a/lib1/core.py\n+++ b/lib1/core.py\n@@ -1 +1 @@\n" + prefixed(solution, "+"),
		"lib1/core_c.c":                 cython(solution),
		"lib1/old.py":                   "X = 1\n\n" + prefixed(solution, "# "),
		"lib1/text.py":                  "X = '''\n" + solution + "'''\n",
		"docs/_build/html/modules.html": highlit(solution),
		"tour.ipynb":                    notebook(t, solution),
		"one.txt":                       strings.Join(strings.Fields(solution), " "),
		"escaped.js":                    "var x = " + string(mustMarshal(t, solution)) + ";",
		"a.b64":                         wrapped,
		"url.b64":                       "x = '" + base64.URLEncoding.EncodeToString([]byte(solution)) + "'\n",
		"b.rot":                         strings.Map(rot13, solution),
		"c.utf16":                       wide(solution),
		"d.gz":                          gz(t, solution),
		"e.zip":                         zipped(t, map[string]string{"in/core.txt": solution}),
		"f.b64":                         base64.StdEncoding.EncodeToString([]byte(gz(t, solution))),
		"lib1/core.cpython-312.pyc":     "\xcb\r\r\n\xda\x05pairs\xda\x07ordered\xda\x06scaled\xda\x05first",
	}
	// None of these is a copy.
	maps.Copy(more, map[string]string{
		"README.md":          "# Weights\n\n    >>> scale([1, 2], 3)\n    [3, 6]\n    scaled.append(value * factor)\n\n`scale(values, factor)`: Scale all values.\n",
		"docs/twin.rst":      "::\n\n" + prefixed(twin, "    "), // that code stays
		"tests/test_core.py": "def test_describe():\n    assert describe([]) == \"" + emptyText + "\"\n",
		"docs/short.md":      "    pairs = zip(first, second)\n    pairs = [pair for pair in pairs if all(pair)]\n",
		"lib1/core.py":       "\n\ndef more(values):\n    # Scale all values.\n    return scale(values, 2)\n",
		"logo.png":           "\x89PNG\r\n\x1a\n\x00\x00",
		"docs/signatures.md": prefixed(strings.ReplaceAll(masked, "RAISE", "..."), "    "),
	})
	starter, bodies := library(t, more)
	copies, err := bodies.Copies(t.Context(), starter)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range copies {
		got[c.Path] = c.How
		if c.Text == "" {
			t.Errorf("%s: no words", c.Path)
		}
	}
	want := map[string]string{
		"docs/copied.rst": "", "docs/one.rst": "", "changes.patch": "", "lib1/core_c.c": "", "lib1/old.py": "", "lib1/text.py": "", "docs/_build/html/modules.html": "marked up", "tour.ipynb": "escaped", "one.txt": "",
		"escaped.js": "escaped", "a.b64": "base64 1", "url.b64": "base64 1", "b.rot": "rot13", "c.utf16": "UTF-16", "d.gz": "unpacked", "e.zip": "in/core.txt", "f.b64": "base64 1!", "lib1/core.cpython-312.pyc": "compiled",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestScanOfLibrary: a test that holds much of the bodies is a leak, and one that holds a hundredth is none.
func TestScanOfLibrary(t *testing.T) {
	t.Parallel()
	var many []string // functions that nobody copies
	for i := range 400 {
		name := fmt.Sprintf("f%c%c", 'a'+i%26, 'a'+i/26)
		many = append(many, fmt.Sprintf("def %s(values):\n    %s_first = min(values) + %s_offset\n    return [%s_first - one for one in values if %s_check(one)]\n", name, name, name, name, name))
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		bulk  bool
		leaks []string
	}{
		{"much", map[string]string{"tests/helpers.py": filled(takenOut)}, false, []string{"/testbed/tests/helpers.py"}},
		{"little", map[string]string{"tests/helpers.py": filled(takenOut)}, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			starter, bodies := library(t, c.files)
			if c.bulk {
				e := tree.Entry{Path: "lib1/many.py", Mode: tree.ModeFile, Data: []byte(strings.Join(many, "\n"))}
				taken := map[int]bool{}
				for i := range 4 * len(many) {
					taken[i] = true
				}
				bodies.add(e, taken)
			}
			scan, err := Scan(t.Context(), Needles(Task{Base: starter, Solution: starter, Bodies: bodies}), walkOf())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range scan.Hits {
				got = append(got, h.Place)
			}
			if !slices.Equal(got, c.leaks) {
				t.Errorf("%v, want %v", scan.Hits, c.leaks)
			}
		})
	}
}
