package golang

import (
	"encoding/json"
	"go/version"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var _ lang.Guarded = Language{}

// Hook is what the go command takes in the place of the modules that tests import: vendor
// folders. Nothing in them is checked against go.sum.
func (Language) Hook(p string, _ lang.Tree) bool {
	return slices.Contains(strings.Split(p, "/"), "vendor") // or a link of this name
}

// RunnerSettings are what a module or a workspace puts in the place of other modules, the
// tests' own dependencies among them.
func (Language) RunnerSettings(p string, data []byte) string {
	var replaced []*modfile.Replace
	var used []*modfile.Use
	var err error
	switch path.Base(p) {
	case "go.mod":
		var f *modfile.File
		if f, err = modfile.Parse(p, data, nil); err == nil {
			replaced = f.Replace
		}
	case "go.work":
		var f *modfile.WorkFile
		if f, err = modfile.ParseWork(p, data, nil); err == nil {
			replaced, used = f.Replace, f.Use
		}
	}
	if err != nil {
		return "not read: " + string(data)
	}
	var settings []string
	for _, r := range replaced {
		settings = append(settings, "replace "+r.Old.String()+" "+r.New.String())
	}
	for _, u := range used {
		settings = append(settings, "use "+path.Clean(u.Path))
	}
	if len(settings) == 0 {
		return ""
	}
	slices.Sort(settings)
	b, err := json.Marshal(settings)
	if err != nil {
		return "not JSON: " + string(data)
	}
	return string(b)
}

// ownLoops is the Go from which on each turn of a loop has variables of its own. Under an older go line a parallel test
// of a table tests nothing but its last row.
const ownLoops = "go1.22"

// Weakens implements lang.Guarded.
func (Language) Weakens(p string, task, answer []byte) bool {
	if path.Base(p) != "go.mod" && path.Base(p) != "go.work" {
		return false
	}
	return version.Compare(lineOfGo(task), ownLoops) >= 0 && version.Compare(lineOfGo(answer), ownLoops) < 0
}

var lineOfGoIn = lazyregexp.New(`(?m)^\s*go\s+([0-9][0-9A-Za-z.]*)`)

// lineOfGo is the version of a manifest's go line, "" for none, which is an old one.
func lineOfGo(data []byte) string {
	if m := lineOfGoIn.FindSubmatch(data); m != nil {
		return "go" + string(m[1])
	}
	return ""
}

// Cache implements lang.Guarded: what is compiled lies in the environment, and goes by content.
func (Language) Cache(string) string { return "" }
