package javascript

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// Toolchain is the node of this machine.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("node")
	if err != nil {
		return nil, err
	}
	// A shim of a version manager is no node: it says itself where that is.
	answer, err := m.Ask(ctx, program, "-p", "process.version + '\\n' + process.execPath")
	if err != nil {
		return nil, err
	}
	version, file, _ := strings.Cut(answer, "\n")
	kit := &verify.Kit{Label: "node " + strings.TrimPrefix(version, "v")}
	if kit.Program, err = kit.ShowProgram("node", file); err != nil {
		return nil, err
	}
	kit.Env = map[string]string{"PATH": path.Dir(kit.Program) + ":/usr/bin:/bin", "NODE_ENV": "test"}
	return kit, nil
}

// check reads a file as its package says, and where that fails as an ES module: that is
// how bundlers take it.
const check = `"$1" --check "$2" || "$1" --input-type=module --check - <"$2" 2>/dev/null`

// Checks read every changed file, and import what the packages give out.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	checks := []verify.Check{verify.EachFile("node --check", t, []string{"/bin/sh", "-c", check, "sh", k.Program}, checked)}
	list := entries(t)
	if len(list) == 0 {
		return checks, nil
	}
	plan, err := json.Marshal(map[string]any{"entries": list, "seconds": verify.ImportSeconds})
	if err != nil {
		return nil, err
	}
	script, in := sandbox.RunPath+"/import.js", sandbox.RunPath+"/plan.json"
	return append(checks, verify.Check{
		What: "import", Of: "entries", Whole: true, Read: verify.ReadLines,
		Inputs:  []sandbox.File{{Path: script, Mode: 0o644, Data: importer}, {Path: in, Mode: 0o644, Data: plan}},
		Command: schemas.Command{Argv: []string{k.Program, script, in, verify.ReportPath}},
	}), nil
}

//go:embed mask_verify.js
var importer []byte

var (
	checkedAt = lazyregexp.New(`(?m)^\S*:(\d+)$`)
	errorLine = lazyregexp.New(`(?m)^\w*Error\b.*$`)
)

func checked(_, said string) verify.Fault {
	f := verify.Fault{Message: errorLine.FindString(said)}
	if f.Message == "" {
		f.Message = verify.First(said)
	}
	if m := checkedAt.FindStringSubmatch(said); m != nil {
		f.Line, _ = strconv.Atoi(m[1]) // digits
	}
	return f
}

// entries are the files that the packages of a tree give to those who import them.
func entries(t *verify.Tree) []string {
	found := map[string]bool{}
	for _, dir := range t.Folders("package.json") {
		source, err := t.Read(path.Join(dir, "package.json"))
		var p struct {
			Main    string `json:"main"`
			Exports any    `json:"exports"`
		}
		if err != nil || json.Unmarshal(source, &p) != nil || Exempt(path.Join(dir, "index.js")).Kind != "" {
			continue
		}
		targets := targetsOf(p.Exports)
		if main := mainOf(t, path.Join(dir, p.Main)); main != "" {
			found[main] = true
		}
		for _, target := range targets {
			if file := path.Join(dir, target); t.Has(file) && isScript(file) {
				found[file] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// mainOf is the file that node takes for main.
func mainOf(t *verify.Tree, main string) string {
	for _, end := range []string{"", ".js", "/index.js"} {
		if file := path.Join(main + end); t.Has(file) && isScript(file) {
			return file
		}
	}
	return ""
}

func isScript(file string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(file))
}

// elsewhere are conditions of exports that node does not take.
var elsewhere = []string{"types", "browser", "react-native", "deno", "bun", "worker", "workerd", "edge-light"}

func targetsOf(exports any) []string {
	switch e := exports.(type) {
	case string:
		return []string{e}
	case []any:
		var out []string
		for _, v := range e {
			out = append(out, targetsOf(v)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, key := range slices.Sorted(maps.Keys(e)) {
			if !slices.Contains(elsewhere, key) {
				out = append(out, targetsOf(e[key])...)
			}
		}
		return out
	}
	return nil
}
