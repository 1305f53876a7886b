package rust

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// before is what stands in front of an item.
type before struct {
	attributes []string
	doc        bool
}

// front is that of an item.
func front(n syntax.Node) before {
	var b before
	for c := n.Before(); c.Is(fronts...); c = c.Before() {
		switch text := c.Text(); {
		case c.Is("attribute_item"):
			text = c.First("attribute").Text()
			b.attributes = append(b.attributes, text)
			b.doc = b.doc || strings.HasPrefix(text, "doc")
		case strings.HasPrefix(text, "///"):
			b.doc = b.doc || !strings.HasPrefix(text, "////")
		case strings.HasPrefix(text, "/**"):
			b.doc = b.doc || len(text) > len("/**/")+1
		}
	}
	return b
}

// fronts may stand between an item and its attributes.
var fronts = []string{"attribute_item", "inner_attribute_item", "line_comment", "block_comment", "visibility_modifier"}

// has reports whether there is an attribute of one of these names.
func (b before) has(names ...string) bool {
	return slices.ContainsFunc(b.attributes, func(a string) bool { return slices.Contains(names, wordOf(a)) })
}

// wordOf is the name of an attribute: the last word of its path, or the name inside of unsafe(…).
func wordOf(attribute string) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(attribute, "unsafe("), "(")
	path := strings.Split(strings.Trim(text, " )="), "::")
	return strings.TrimSpace(path[len(path)-1])
}

// attribute notes what is compiled for tests only: what comes behind an attribute, or is around an inner one.
func (r *reader) attribute(n syntax.Node) {
	r.lint(n)
	of := n.Parent()
	if n.Is("attribute_item") {
		for of = n.After(); of.Is(fronts...); {
			of = of.After()
		}
	} else if !of.Is("source_file", "declaration_list") {
		return
	}
	if of.Is() && forTests(n.First("attribute").Text()) {
		r.tests = max(r.tests, of.End())
	}
}

// tested reports whether an item is compiled for tests only.
func (r *reader) tested(n syntax.Node) bool { return n.Start() < r.tests }

// marked is what a definition is by what stands before it and around it; "" for none.
func (r *reader) marked(n syntax.Node, b before) mask.Construct {
	_, trait := owner(n)
	switch {
	case r.tested(n) || slices.ContainsFunc(b.attributes, forTests):
		return mask.Test
	case b.has("proc_macro", "proc_macro_derive", "proc_macro_attribute"):
		return mask.Macro
	case b.has("naked"): // only assembly may stand in it
		return mask.Bodiless
	case trait == "GlobalAlloc", trait == "Allocator", b.has("panic_handler", "ctor", "dtor", "alloc_error_handler", "lang", "entry", "start"):
		return mask.Hook // called by the language's runtime
	}
	return ""
}

// testWords are attributes of tests.
var testWords = []string{"test", "bench", "rstest", "test_case", "quickcheck", "proptest", "wasm_bindgen_test", "parameterized"}

// forTests tells the attribute of a test, and a cfg that holds when tests are built, and never else.
func forTests(attribute string) bool {
	if slices.Contains(testWords, wordOf(attribute)) {
		return true
	}
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(attribute), ""), "cfg(")
	return ok && testsOnly(strings.TrimSuffix(text, ")"), 0)
}

// testsOnly reads a predicate. In any(…) what stands beside test must be of use to tests
// only: a feature that ships (any(test, feature = "std")) is none.
func testsOnly(predicate string, depth int) bool {
	name, list, ok := strings.Cut(predicate, "(")
	if !ok {
		return predicate == "test"
	}
	of := func(p string) bool { return depth < deepest && testsOnly(p, depth+1) }
	all := alternatives(strings.TrimSuffix(list, ")"))
	switch name {
	case "all":
		return slices.ContainsFunc(all, of)
	case "any":
		return slices.ContainsFunc(all, of) && !slices.ContainsFunc(all, func(p string) bool { return !of(p) && !testCfg.MatchString(p) })
	}
	return false
}

// testCfg are the settings and features that tests, fuzzers and checkers are built with.
var testCfg = lazyregexp.New(`^(doctest|fuzzing|loom|miri|kani|feature="([\w-]*[-_])?(tests?|testing|testutils?|mocks?|proptest|quickcheck|arbitrary|fuzz|fuzzing|bench|benches|benchmarks?)([-_][\w-]*)?")$`)

// alternatives are the parts of a list, at its commas.
func alternatives(list string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range list + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			if i > start {
				out = append(out, list[start:i])
			}
			start = i + 1
		}
	}
	return out
}
