// Package parts decides which part of a change a path belongs to: test, code,
// docs or ci (design, section 6.3).
//
// It decides by whole folder names, file names and extensions, never by
// substring: latest.go, contest/, attestation.py and pytest_plugin.py are code.
// A language is asked first; these are the rules for what it has no say in.
package parts

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// Language is what is needed of a language here.
type Language interface {
	Name() string
	lang.Files
}

// Rules are the common rules and those of the languages.
type Rules struct{ languages []Language }

// New makes rules; languages are asked in order of their names, so that no order
// of configuration decides a part.
func New[L Language](languages ...L) Rules {
	var r Rules
	for _, l := range languages {
		r.languages = append(r.languages, l)
	}
	slices.SortFunc(r.languages, func(a, b Language) int { return strings.Compare(a.Name(), b.Name()) })
	return r
}

// Part decides one path of a tree, and says by which rule. The language whose
// source it is comes first; the others speak of data and manifests.
func (r Rules) Part(p string, t lang.Tree) (schemas.Part, string) { return r.PartBy(p, t, t) }

// PartBy is Part where the settings that name the tests are those of another tree: those of
// the base of a change, so that no solution says which of its files are tests.
func (r Rules) PartBy(p string, settings, t lang.Tree) (schemas.Part, string) {
	if schemas.InSuite(p) {
		return schemas.PartTest, "generated:rules"
	}
	for _, l := range r.languages {
		if namer, ok := l.(lang.TestNamer); ok {
			if rule, ok := namer.NamesTest(p, settings, t); ok {
				return schemas.PartTest, rule
			}
		}
	}
	for _, source := range []bool{true, false} {
		for _, l := range r.languages {
			if l.Source(p) != source {
				continue
			}
			if part, rule, ok := l.Part(p, t); ok {
				return part, rule
			}
		}
	}
	return Common(p)
}

// Tests returns whether a path of a tree is of its tests.
func (r Rules) Tests(t lang.Tree) func(path string) bool {
	return func(path string) bool {
		part, _ := r.Part(path, t)
		return part == schemas.PartTest
	}
}

// Shipped returns whether a path of a tree is code that ships.
func (r Rules) Shipped(t lang.Tree) func(path string) bool {
	return func(path string) bool {
		part, rule := r.Part(path, t)
		return Ships(path, part, rule)
	}
}

// Source names the language that path is source code of. A manifest is none,
// though it may be written in one (setup.py).
func (r Rules) Source(p string) (string, bool) {
	if IsManifest(p) {
		return "", false
	}
	for _, l := range r.languages {
		if l.Source(p) {
			return l.Name(), true
		}
	}
	return "", false
}

// Manifest asks each language to split a manifest's hunks (lang.Files).
func (r Rules) Manifest(p string, before, after []byte, hunks []lang.Hunk) (test []bool, mixed, ok bool) {
	for _, l := range r.languages {
		if test, mixed, ok = l.Manifest(p, before, after, hunks); ok {
			return test, mixed, true
		}
	}
	return nil, false, false
}

// ManifestIn is Manifest with the solution's tree at hand, for the languages that
// tell by imports whom a requirement serves (lang.TreeManifest).
func (r Rules) ManifestIn(p string, before, after []byte, hunks []lang.Hunk, solution lang.Tree) (test []bool, mixed, ok bool) {
	for _, l := range r.languages {
		if tm, has := l.(lang.TreeManifest); has {
			if test, mixed, ok = tm.ManifestIn(p, before, after, hunks, solution); ok {
				return test, mixed, true
			}
		}
	}
	return r.Manifest(p, before, after, hunks)
}

// Counts reports whether a path of the test part can tell two states apart: a
// manifest of the test part cannot by itself.
func Counts(part schemas.Part, rule string) bool {
	return part == schemas.PartTest && !isManifestRule(rule)
}

// Ships reports whether a path is code that ships: what a manifest asks for is not.
func Ships(p string, part schemas.Part, rule string) bool {
	return part == schemas.PartCode && !isManifestRule(rule) && !IsManifest(p)
}

const manifestRule = "manifest:"

// isManifestRule goes by the kind of a rule, which stands before the colon: what follows
// may be the name of any file.
func isManifestRule(rule string) bool {
	kind, _, _ := strings.Cut(rule, ":")
	return kind == "manifest" || kind == "test-only manifest"
}

// Common decides by the rules that hold in every language.
func Common(p string) (schemas.Part, string) {
	dir, name := path.Split(p)
	dirs := strings.FieldsFunc(dir, func(c rune) bool { return c == '/' })
	for _, rule := range []func([]string, string) (schemas.Part, string){
		byVendor, byAutomation, byTestName, byFolder, byManifest, byTooling, byDocName,
	} {
		if part, why := rule(dirs, name); part != "" {
			return part, why
		}
	}
	return schemas.PartCode, "ships"
}

// byVendor is other projects' files, which ship whatever they are called.
func byVendor(dirs []string, _ string) (schemas.Part, string) {
	for _, d := range dirs {
		if slices.Contains(vendorDirs, d) {
			return schemas.PartCode, "path:" + d + "/"
		}
	}
	return "", ""
}

// byAutomation is what forges and CI services read, at the root of a tree.
func byAutomation(dirs []string, name string) (schemas.Part, string) {
	if len(dirs) > 0 && slices.Contains(automationDirs, dirs[0]) {
		return schemas.PartCI, "path:" + dirs[0] + "/"
	}
	if len(dirs) == 0 && slices.Contains(automationNames, name) {
		return schemas.PartCI, "name:" + name
	}
	return "", ""
}

// byTestName is test code, snapshots and golden files, wherever they lie.
func byTestName(dirs []string, name string) (schemas.Part, string) {
	if rule := testName(name); rule != "" {
		return schemas.PartTest, rule
	}
	if len(dirs) == 0 && name == "test.py" { // deeper it may be a command or a module of that name
		return schemas.PartTest, "name:test.py"
	}
	for _, d := range dirs {
		if slices.Contains(goldenDirs, d) && !IsSource(name) {
			return schemas.PartTest, "path:" + d + "/"
		}
	}
	// The words between the full stops: out.golden.json, page.approved.html, x.snap.
	for _, word := range strings.Split(name, ".")[1:] {
		if slices.Contains(goldenWords, word) {
			return schemas.PartTest, "name:." + word
		}
	}
	return "", ""
}

// testName recognises the names that test runners collect.
func testName(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch ext {
	case ".py", ".pyi":
		switch {
		case stem == "conftest", stem == "tests":
			return "name:" + stem + ".py"
		case strings.HasPrefix(stem, "test_"):
			return "name:test_*.py"
		case strings.HasSuffix(stem, "_test"):
			return "name:*_test.py"
		}
	case ".go":
		if strings.HasSuffix(stem, "_test") {
			return "name:*_test.go"
		}
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue":
		if sub := path.Ext(stem); sub == ".test" || sub == ".spec" {
			return "name:*" + sub + ext
		}
	case ".java", ".kt", ".scala", ".groovy", ".cs":
		for _, suffix := range []string{"Test", "Tests", "TestCase", "IT", "Spec"} {
			if strings.HasSuffix(stem, suffix) && len(stem) > len(suffix) {
				return "name:*" + suffix + ext
			}
		}
	case ".rb":
		if strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") {
			return "name:*_test.rb"
		}
	}
	return ""
}

// byFolder goes from the root downwards: the first folder with a meaning decides,
// so that tests/docs/ is test and docs/testing/ is docs.
func byFolder(dirs []string, name string) (schemas.Part, string) {
	for depth, d := range dirs {
		switch {
		case testFolder(d, depth, path.Ext(name)):
			return schemas.PartTest, "path:" + d + "/"
		case depth == 0 && slices.Contains(topDocDirs, d), slices.Contains(docDirs, d) && !IsSource(name):
			// Source below a folder of that name inside a package ships.
			return schemas.PartDocs, "path:" + d + "/"
		case depth == 0 && slices.Contains(fragmentDirs, d) && !IsSource(name):
			return schemas.PartDocs, "path:" + d + "/"
		}
	}
	return "", ""
}

// testFolder reports whether what lies in a folder is of the tests. Packages called
// test, testing or spec ship (django.test, numpy.testing, logrus/hooks/test), so
// for source these names are believed only where such a package is not usual.
func testFolder(name string, depth int, ext string) bool {
	switch {
	case slices.Contains(testDirs, name):
		return true
	case name == "test":
		return depth == 0 || ext != ".go" && ext != ".py"
	case name == "testing":
		return depth == 0 && ext != ".go"
	}
	return depth == 0 && slices.Contains(topTestDirs, name) && ext != ".go" && ext != ".py"
}

// byManifest is requirement files by their purpose, and the settings of runners.
func byManifest(dirs []string, name string) (schemas.Part, string) {
	if slices.Contains(runnerNames, name) {
		return schemas.PartTest, manifestRule + name
	}
	if slices.Contains(manifestNames, name) {
		return schemas.PartCode, manifestRule + name
	}
	stem, isText := strings.CutSuffix(name, ".txt")
	if !isText {
		if stem, isText = strings.CutSuffix(name, ".in"); !isText {
			return "", ""
		}
	}
	words := strings.FieldsFunc(stem, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	inFolder := len(dirs) > 0 && (dirs[len(dirs)-1] == "requirements" || dirs[len(dirs)-1] == "reqs")
	if !inFolder && !slices.Contains(words, "requirements") && !slices.Contains(words, "constraints") {
		return "", ""
	}
	for _, w := range words {
		switch w {
		case "test", "tests", "testing", "dev", "develop", "development", "pytest":
			return schemas.PartTest, manifestRule + name
		case "doc", "docs":
			return schemas.PartDocs, manifestRule + name
		case "lint", "ci", "typing", "mypy", "release", "build":
			return schemas.PartCI, manifestRule + name
		}
	}
	return schemas.PartCode, manifestRule + name
}

// byDocName is documentation by its name or form.
func byDocName(dirs []string, name string) (schemas.Part, string) {
	ext := strings.ToLower(path.Ext(name))
	if len(dirs) == 0 && (slices.Contains(docNames, name) || slices.Contains(imageExts, ext)) {
		return schemas.PartDocs, "name:" + name
	}
	if isNotice(name, ext) {
		return schemas.PartDocs, "name:" + name
	}
	if slices.Contains(docExts, ext) && !slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(dataDirs, d) }) {
		return schemas.PartDocs, "name:*" + ext
	}
	if len(dirs) > 0 && slices.Contains(imageDirs, dirs[0]) && slices.Contains(imageExts, ext) {
		return schemas.PartDocs, "path:" + dirs[0] + "/"
	}
	return "", ""
}

// isNotice knows README, CHANGES.txt, LICENSE-MIT, README.rst.in; not history.py,
// news.json or a program called install.
func isNotice(name, ext string) bool {
	lower := strings.ToLower(name)
	stem := strings.TrimSuffix(lower, ext)
	word := lower
	if i := strings.IndexAny(lower, ".-"); i >= 0 {
		word = lower[:i]
	}
	switch {
	case IsSource(name):
		return false
	case slices.Contains(legalStems, word):
		return true
	case ext == "":
		return slices.Contains(docStems, stem) && name[0] >= 'A' && name[0] <= 'Z'
	}
	return slices.Contains(plainText, ext) && (slices.Contains(docStems, stem) || slices.Contains(docStems, word))
}

// byTooling is what serves the repository's own upkeep and does not ship.
func byTooling(dirs []string, name string) (schemas.Part, string) {
	if len(dirs) > 0 && (slices.Contains(toolingDirs, dirs[0]) || dirs[0] == "tools" && path.Ext(name) != ".go") {
		return schemas.PartCI, "path:" + dirs[0] + "/"
	}
	if len(dirs) == 0 && slices.Contains(toolingNames, name) {
		return schemas.PartCI, "name:" + name
	}
	if strings.HasPrefix(name, ".") && !slices.Contains(docNames, name) && !slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(dataDirs, d) }) {
		return schemas.PartCI, "name:.*"
	}
	if len(dirs) > 0 && strings.HasPrefix(dirs[0], ".") {
		return schemas.PartCI, "path:.*/"
	}
	return "", ""
}
