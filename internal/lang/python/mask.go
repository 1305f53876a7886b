package python

import (
	_ "embed" // the query
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is what masking knows of Python.
type Masker struct{}

var (
	_ mask.Language   = Masker{}
	_ mask.Compatible = Masker{}
	_ mask.Placed     = Masker{}
	_ mask.Rooted     = Masker{}
)

// Name is "python".
func (Masker) Name() string { return Name }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics { return mask.Semantics{} }

// Grammar is Python's for modules. Stubs hold no bodies.
func (Masker) Grammar(p string) syntax.Language {
	switch path.Ext(p) {
	case ".py", ".pyw":
		return syntax.Python
	}
	return ""
}

var (
	testFolder  = lazyregexp.New(`^(_?tests?|unittests|unit_tests|integration_tests|functional_tests)$`)
	buildScript = lazyregexp.New(`^(setup|noxfile|fabfile|hatch_build|pdm_build|ez_setup|versioneer)\.py$`)
)

// Exempt goes by names of whole segments, and by the text where a module is only
// named like a test. A folder called testing inside of a package ships with it.
func (Masker) Exempt(p string, source []byte) mask.Whole {
	base, folders := path.Base(p), strings.Split(path.Dir(p), "/")
	switch {
	case base == "conftest.py":
		return mask.Whole{Kind: mask.ForTests, Reason: "a test's helper", Detail: "conftest.py"}
	case slices.ContainsFunc(folders, testFolder.MatchString):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test or its helper", Detail: "in a folder of tests"}
	case folders[0] == "testing":
		return mask.Whole{Kind: mask.ForTests, Reason: "a test or its helper", Detail: "in testing/"}
	case testModule.MatchString(base) && definesTests.Match(source):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test", Detail: nameRule(base)}
	case buildScript.MatchString(base):
		return mask.Whole{Kind: mask.ForTools, Reason: "a build script", Detail: base}
	case aside(p):
		return mask.Whole{Kind: mask.Example, Reason: "no part of what is imported", Detail: "in " + folders[0] + "/"}
	}
	return mask.Whole{}
}

// asideFolders, at the root, hold what uses the project and is used by nothing.
var asideFolders = []string{"docs", "doc", "examples", "example", "samples", "demos", "demo", "benchmarks", "benchmark", "bench", "asv_bench"}

// aside tells what nobody imports: what it runs itself runs in no test.
func aside(p string) bool {
	first, _, inside := strings.Cut(p, "/")
	return inside && slices.Contains(asideFolders, first) || buildScript.MatchString(path.Base(p))
}

//go:embed mask.scm
var maskQuery string

// Query is mask.scm.
func (Masker) Query(syntax.Language) string { return maskQuery }

// Read says what a module holds.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &reader{module: modules(p)[0]}
	r.OnFunction, r.OnClass, r.OnCall, r.OnImport, r.OnOther = r.function, r.class, callee, r.imports, r.condition
	f := r.Reader.Read(tree)
	f.Modules = modules(p)
	if aside(p) || path.Base(p) == "__main__.py" {
		f.Loads = nil
	}
	return f
}

// IsRoot tells a tree with an __init__.py that nobody builds.
func (Masker) IsRoot(paths []string) bool {
	return slices.Contains(paths, "__init__.py") && !slices.Contains(paths, "setup.py")
}

// Entry is that of a package's own file.
func (Masker) Entry() string { return "__init__" }

// Strays are the modules outside of every package, where there are packages: beside them
// at the top, or in a folder that no import goes through.
func (m Masker) Strays(paths []string) []string {
	if m.IsRoot(paths) {
		return nil
	}
	packages := map[string]bool{}
	above := map[string]bool{} // folders that hold packages
	for _, p := range paths {
		dir := path.Dir(p)
		if path.Base(p) == "__init__.py" && dir != "." && !aside(p) {
			packages[dir], above[path.Dir(dir)] = true, true
		}
	}
	if len(packages) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		dir := path.Dir(p)
		if dir != "." && above[dir] || aside(p) {
			return true // a namespace of packages; what loads nothing anyway
		}
		for ; dir != "."; dir = path.Dir(dir) {
			if packages[dir] || slices.Contains(roots, path.Base(dir)) {
				return true
			}
		}
		return false
	})
}

var importStatement = lazyregexp.New(`(?m)^[ \t]*(?:from|import)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)`)

// ImportedBy reads the lines that import.
func (Masker) ImportedBy(source []byte) []string {
	var out []string
	for _, m := range importStatement.FindAllSubmatch(source, -1) {
		for name := range strings.SplitSeq(string(m[1]), ",") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

// roots are folders that stand on the path rather than in a module's name.
var roots = []string{"src", "lib", "python"}

// modules are the dotted names of a file. What is on the path is not known from the
// path: below a known root first, then from the top, then from every folder on the
// way that leaves a package. A single word deep inside is no module of its own: it
// would be taken for one of the standard library.
func modules(p string) []string {
	parts := strings.Split(strings.TrimSuffix(p, path.Ext(p)), "/")
	if last := len(parts) - 1; parts[last] == "__init__" && last > 0 {
		parts = parts[:last]
	}
	var first, rest []string
	for i := range parts {
		name := strings.Join(parts[i:], ".")
		switch {
		case i > 0 && slices.Contains(roots, parts[i-1]):
			first = append(first, name)
		case i == 0 || len(parts)-i > 1:
			rest = append(rest, name)
		}
	}
	return append(first, rest...)
}
