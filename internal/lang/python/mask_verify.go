package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// about asks an interpreter where it and its packages lie.
const about = `import json, os, site, sys, sysconfig
dirs = site.getsitepackages() if hasattr(site, 'getsitepackages') else []
dirs += [sysconfig.get_path('purelib'), sysconfig.get_path('platlib')]
if site.ENABLE_USER_SITE: dirs.append(site.getusersitepackages())
base = getattr(sys, '_base_executable', None) or sys.executable
print(json.dumps({
 'version': '%d.%d.%d' % sys.version_info[:3], 'prefix': sys.base_prefix, 'base': os.path.realpath(base),
 'site': [d for i, d in enumerate(dirs) if d and os.path.isdir(d) and d not in dirs[:i]],
}))`

// Toolchain is the interpreter that was asked for, with the packages beside it.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Python, error(nil)
	if program == "" {
		if program, err = m.Look("python3"); err != nil {
			return nil, err
		}
	}
	answer, err := m.Ask(ctx, program, "-c", about)
	if err != nil {
		return nil, err
	}
	var here struct {
		Version, Prefix, Base string
		Site                  []string
	}
	if err := json.Unmarshal([]byte(answer), &here); err != nil {
		return nil, fmt.Errorf("%s is not a Python interpreter: %w", program, err)
	}
	kit := &verify.Kit{Label: "python " + here.Version}
	prefix, err := kit.Show("python", here.Prefix)
	if err != nil {
		return nil, err
	}
	rel, inside := strings.CutPrefix(here.Base, strings.TrimSuffix(here.Prefix, "/")+"/")
	if !inside {
		return nil, fmt.Errorf("the interpreter %s lies outside of its prefix %s", here.Base, here.Prefix)
	}
	kit.Program = path.Join(prefix, rel)
	for i, dir := range here.Site {
		shown := path.Join(prefix, strings.TrimPrefix(dir, here.Prefix))
		if !strings.HasPrefix(dir, here.Prefix+"/") {
			if shown, err = kit.Show(fmt.Sprintf("site%d", i), dir); err != nil {
				return nil, err
			}
		}
		kit.Depends = append(kit.Depends, shown)
	}
	kit.Env = map[string]string{"PYTHONHASHSEED": "0"}
	if prefix != here.Prefix { // it stands elsewhere than it was made for
		kit.Env["PYTHONHOME"], kit.Env["LD_LIBRARY_PATH"] = prefix, path.Join(prefix, "lib")
	}
	return kit, nil
}

// Checks import every module of the packages, tests and scripts left out.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	var files []string
	for _, f := range t.Files {
		if f.Kind != mask.Vendored {
			files = append(files, f.Path)
		}
	}
	names, roots := importable(t, files)
	if len(names) == 0 {
		return nil, errors.New("the source has no module that can be imported: no package, and no module at its top")
	}
	plan, err := json.Marshal(map[string]any{"site": k.Depends, "roots": roots, "modules": names, "seconds": verify.ImportSeconds})
	if err != nil {
		return nil, err
	}
	return []verify.Check{{
		What: "import", Of: "modules", Whole: true, Read: readImports,
		Inputs:  []sandbox.File{{Path: observePath, Mode: 0o644, Data: observer}, {Path: observePlan, Mode: 0o644, Data: plan}},
		Command: schemas.Command{Argv: []string{k.Program, observePath, sandbox.TreePath, verify.ReportPath, observePlan}},
	}}, nil
}

// readImports reads what the watcher left.
func readImports(s verify.Said) verify.Report {
	var r verify.Report
	for _, line := range observed(s.Report) {
		switch {
		case line.seen.Name != "":
			r.Ran = append(r.Ran, line.seen)
		case line.Unit != "":
			r.Units = append(r.Units, line.Unit)
		}
		if line.Message != "" {
			r.Faults = append(r.Faults, line.Fault)
		}
	}
	if s.Code != 0 {
		r.Untold = fmt.Sprintf("the import ended with exit code %d: %s", s.Code, verify.First(string(s.Output)))
	}
	return r
}

// looked is a tree that can be looked into.
type looked interface {
	Has(path string) bool
	Read(path string) ([]byte, error)
}

// importable are the modules among the files of a tree by the names under which its own code imports
// them, and the folders that have to be on the path for that. Tests and scripts are none. What is
// generated is imported with the rest.
func importable(t looked, files []string) (names, roots []string) {
	files = slices.DeleteFunc(slices.Clone(files), func(p string) bool {
		text, err := t.Read(p)
		return path.Ext(p) != ".py" || err != nil || Masker{}.Exempt(p, text).Kind != ""
	})
	known := map[string]string{} // by the outermost package
	for _, p := range files {
		if path.Base(p) == "__main__.py" {
			continue
		}
		top := topPackage(t, path.Dir(p))
		root, ok := known[top]
		switch {
		case top == "":
			root, ok = looseRoot(path.Dir(p))
		case !ok:
			root, ok = packageRoot(t, files, top), true
			known[top] = root
		}
		name := strings.TrimSuffix(strings.TrimSuffix(beneath(root, p), ".py"), "/__init__")
		if name = strings.ReplaceAll(name, "/", "."); ok && dotted.MatchString(name) {
			names, roots = append(names, name), append(roots, root)
		}
	}
	slices.Sort(roots)
	slices.Sort(names)
	return slices.Compact(names), slices.Compact(roots)
}

var dotted = lazyregexp.New(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)

// topPackage is the outermost folder around dir up to which every one is a package, ""
// where dir is none.
func topPackage(t looked, dir string) (top string) {
	for ; dir != "." && t.Has(path.Join(dir, "__init__.py")); dir = path.Dir(dir) {
		top = dir
	}
	return top
}

// looseRoot is the folder on the path for the modules of a folder that is no package. No
// import leads to those that lie neither at the top nor below src.
func looseRoot(dir string) (root string, ok bool) {
	for at := dir; at != "."; at = path.Dir(at) {
		if path.Base(at) == "src" {
			return at, true
		}
	}
	return ".", dir == "."
}

// packageRoot is the folder on the path for a package. What stands between the two is
// the folder that packages are kept in (lib/) or a namespace (google/cloud/): the imports
// of the package itself say which.
func packageRoot(t looked, files []string, top string) string {
	root := path.Dir(top)
	most := countImports(t, files, top, path.Base(top))
	for at := root; at != "." && path.Base(at) != "src"; {
		at = path.Dir(at)
		if n := countImports(t, files, top, strings.ReplaceAll(beneath(at, top), "/", ".")); n > most {
			root, most = at, n
		}
	}
	return root
}

func beneath(root, p string) string {
	if root == "." {
		return p
	}
	return strings.TrimPrefix(p, root+"/")
}

// countImports counts the imports of a package by a name in its own files.
func countImports(t looked, files []string, top, name string) int {
	line := regexp.MustCompile(`(?m)^[ \t]*(?:from|import)[ \t]+` + regexp.QuoteMeta(name) + `\b`)
	count := 0
	for _, p := range files {
		if !strings.HasPrefix(p, top+"/") {
			continue
		}
		if text, err := t.Read(p); err == nil {
			count += len(line.FindAllIndex(text, -1))
		}
	}
	return count
}
