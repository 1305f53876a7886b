package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plaintoml"
)

var _ mask.Hosting = Masker{}

// manifest is what a Cargo.toml says of who runs in the compiler.
type manifest struct {
	dir       string
	Lib       map[string]any
	Needs     map[string]any `toml:"dependencies"`
	Builds    map[string]any `toml:"build-dependencies"`
	Builds2   map[string]any `toml:"build_dependencies"`
	Patch     map[string]map[string]any
	Workspace *manifest
	Target    map[string]*manifest
}

// Hosted tells what runs in the compiler: crates of macros, and those of the tree that
// they, and build scripts, depend on. Those of tests and examples do not count: for
// their sake all of what they show would stay.
func (Masker) Hosted(settings map[string][]byte) func(path string) bool {
	crates := map[string]*manifest{}
	for p, source := range settings {
		m := &manifest{dir: path.Dir(p)}
		if path.Base(p) == "Cargo.toml" && plaintoml.Decode(source, m) == nil {
			crates[m.dir] = m
		}
	}
	hosted := map[string]bool{}
	var host func(dir string, but []string)
	host = func(dir string, but []string) {
		m := crates[dir]
		if m == nil || hosted[dir] || slices.Contains(but, dir) {
			return
		}
		hosted[dir] = true
		for _, d := range m.needs(crates) {
			host(d, but)
		}
	}
	for dir, m := range crates {
		if slices.ContainsFunc(strings.Split(dir, "/"), func(d string) bool { return testDirs[d] || d == "examples" || testName.MatchString(d) }) {
			continue
		}
		if m.Lib["proc-macro"] == true || m.Lib["proc_macro"] == true {
			host(dir, nil)
		}
		// What a crate shows or tests too does not stay whole for its build script.
		own := m.needs(crates)
		for _, d := range m.builds(crates) {
			host(d, own)
		}
	}
	return func(p string) bool {
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			if crates[dir] != nil || dir == "." {
				return hosted[dir]
			}
		}
	}
}

// needs are the folders of the crates that a crate depends on, on any target.
func (m *manifest) needs(crates map[string]*manifest) []string {
	out := m.folders(m.Needs, crates)
	for _, t := range m.Target {
		out = append(out, m.folders(t.Needs, crates)...)
	}
	return out
}

// builds are those that its build script depends on.
func (m *manifest) builds(crates map[string]*manifest) []string {
	out := slices.Concat(m.folders(m.Builds, crates), m.folders(m.Builds2, crates))
	for _, t := range m.Target {
		out = append(out, m.folders(t.Builds, crates)...)
	}
	return out
}

// folders are where dependencies lie: by a path, by that of a workspace around, or by
// one that a workspace puts in the place of what is published.
func (m *manifest) folders(needs map[string]any, crates map[string]*manifest) []string {
	var out []string
	for name, need := range needs {
		of, _ := need.(map[string]any)
		if p, ok := of["path"].(string); ok {
			out = append(out, path.Join(m.dir, p))
			continue
		}
		for dir := m.dir; ; dir = path.Dir(dir) {
			if w := crates[dir]; w != nil {
				tables := []map[string]any{w.Patch["crates-io"]}
				if of["workspace"] == true && w.Workspace != nil {
					tables = append(tables, w.Workspace.Needs)
				}
				for _, t := range tables {
					shared, _ := t[name].(map[string]any)
					if p, ok := shared["path"].(string); ok {
						out = append(out, path.Join(dir, p))
					}
				}
			}
			if dir == "." {
				break
			}
		}
	}
	return out
}
