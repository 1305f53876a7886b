// Package javascript is what masking knows of JavaScript; TypeScript reads its files
// with the same reader (internal/lang/typescript), since its grammar holds this one's.
//
// It never runs node, and never looks outside the file that it is given: which file an
// import means is said by paths, and by the names of packages.
package javascript

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is the mask.Language.
type Masker struct{}

var (
	_ mask.Language = Masker{}
	_ mask.Anchored = Masker{}
)

// Name is the field's word.
func (Masker) Name() string { return "javascript" }

// Semantics is what names and calls mean, in TypeScript too.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{Family: "javascript"}
}

// Grammar reads markup too: it is common in .js.
func (Masker) Grammar(file string) syntax.Language {
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs", ".jsx":
		return syntax.JavaScript
	}
	return ""
}

// Exempt is said by paths: neither language marks tests in the source.
func (Masker) Exempt(file string, _ []byte) mask.Whole { return Exempt(file) }

// Read says what a file holds.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File { return Read(file, tree, false) }

// IsAnchor is of the file that names a package.
func (Masker) IsAnchor(file string) bool { return path.Base(file) == "package.json" }

// Anchor is the package's name, by which its neighbours in a workspace import it.
func (Masker) Anchor(file string, source []byte) string {
	if path.Base(file) != "package.json" {
		return ""
	}
	var manifest struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")), &manifest) != nil {
		return ""
	}
	return manifest.Name
}

// testFolders hold nothing but tests and what they need.
var testFolders = map[string]bool{
	"test": true, "tests": true, "__tests__": true, "__test__": true, "spec": true, "specs": true,
	"__mocks__": true, "__fixtures__": true, "__snapshots__": true, "e2e": true, "cypress": true, "dtslint": true,
}

// runners have a file of settings, or one that sets tests up, beside the source.
var runners = []string{"jest", "vitest", "mocha", "karma", "ava", "playwright", "cypress", "jasmine", "wdio", "nyc", "tap"}

// Exempt gives the reason why a file of either language stays whole.
func Exempt(file string) mask.Whole {
	dir, base := path.Split(file)
	for folder := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if testFolders[folder] {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test or its helper"}
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, mark := range []string{".test", ".spec", "-test", "_test", ".cy", ".e2e", ".test-d", ".bench"} {
		if strings.HasSuffix(stem, mark) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test or its helper"}
		}
	}
	for _, runner := range runners {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(stem, "."), runner); ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "-") || rest == "rc") {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test or its helper"}
		}
	}
	switch {
	case strings.HasSuffix(stem, ".config"), strings.HasPrefix(stem, ".") && strings.HasSuffix(stem, "rc"),
		strings.EqualFold(stem, "gruntfile"), strings.EqualFold(stem, "gulpfile"), stem == "test" || stem == "tests":
		return mask.Whole{Kind: mask.ForTests, Reason: "settings of the build or the tests"}
	}
	return mask.Whole{}
}
