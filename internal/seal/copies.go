package seal

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	versions "deps.dev/util/semver"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/plaintoml"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// project is what the task's repository is called in package indexes.
type project struct {
	dists   map[string]bool // normalised (PEP 503)
	modules map[string]bool // escaped Go module paths, without /vN
	imports map[string]bool // top-level packages and modules of Python
	words   map[string]bool // any of its names, as a component of a path
	version string          // of the nearest release at base; "" where there is none
}

var (
	separators = lazyregexp.New(`[-_.]+`)
	setupName  = lazyregexp.New(`(?m)^\s*name\s*=\s*['"]?([A-Za-z0-9][A-Za-z0-9._-]*)`)
	majorPath  = lazyregexp.New(`(/v[0-9]+|\.v[0-9]+)$`)
)

func normal(dist string) string { return strings.ToLower(separators.ReplaceAllString(dist, "-")) }

// projectOf reads the names from the manifests of base and solution.
func projectOf(t Task) project {
	p := project{dists: map[string]bool{}, modules: map[string]bool{}, imports: map[string]bool{}, words: map[string]bool{}, version: t.Version}
	p.words[strings.ToLower(path.Base(t.Name))] = true
	for _, tr := range []*tree.Tree{t.Base, t.Solution} {
		for _, name := range tr.Paths() {
			data, err := tr.Read(name)
			if err != nil {
				continue
			}
			switch path.Base(name) {
			case "__init__.py":
				p.addImport(strings.TrimPrefix(path.Dir(name), "src/"))
			case "go.mod":
				if mod := modfile.ModulePath(data); mod != "" && !slices.Contains(strings.Split(name, "/"), "testdata") {
					p.addModule(mod)
				}
			case "pyproject.toml", "setup.cfg", "setup.py":
				if !strings.Contains(name, "/") {
					p.addDist(path.Base(name), data)
				}
			}
		}
	}
	for mod := range p.modules {
		p.words[strings.ToLower(strings.ReplaceAll(path.Base(mod), "!", ""))] = true
	}
	for _, names := range []map[string]bool{p.dists, p.imports} {
		for n := range names {
			p.words[strings.ToLower(n)] = true
		}
	}
	return p
}

// names reports whether a component of a path is one of the project's names: a
// vendored copy of it, a cache of it.
func (p project) names(place string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(place), func(r rune) bool { return strings.ContainsRune("/!@-.", r) }), func(c string) bool {
		return p.words[c]
	})
}

// plain are directories that many projects have and some install by mistake.
var plain = map[string]bool{
	"tests": true, "test": true, "testing": true, "docs": true, "doc": true, "examples": true, "example": true, "benchmarks": true, "bench": true,
	"scripts": true, "tools": true, "build": true, ".": true, "src": true, "utils": true,
}

func (p project) addImport(dir string) {
	if !strings.Contains(dir, "/") && !plain[dir] {
		p.imports[dir] = true
	}
}

func (p project) addModule(mod string) {
	if escaped, err := module.EscapePath(mod); err == nil {
		p.modules[majorPath.ReplaceAllString(escaped, "")] = true
	}
}

func (p project) addDist(file string, data []byte) {
	if file != "pyproject.toml" {
		if m := setupName.FindSubmatch(data); m != nil {
			p.dists[normal(string(m[1]))] = true
		}
		return
	}
	var doc struct {
		Project struct{ Name string }
		Tool    struct {
			Poetry struct{ Name string }
			Flit   struct{ Metadata struct{ Module string } }
		}
	}
	if plaintoml.Decode(data, &doc) != nil {
		return // a manifest that does not parse names nothing
	}
	for _, n := range []string{doc.Project.Name, doc.Tool.Poetry.Name, doc.Tool.Flit.Metadata.Module} {
		if n != "" {
			p.dists[normal(n)] = true
		}
	}
}

// copies finds releases of the project among the paths of a layer. One copy may
// be there: the tree itself, and the metadata of its in-place installation.
type copies struct {
	project  project
	found    []schemas.Hit
	metadata map[string]schemas.Hit // dist-info directory → the copy, unless it is the in-place one
	inPlace  map[string]bool        // dist-info directories without files of the package
}

func newCopies(p project) *copies {
	return &copies{project: p, metadata: map[string]schemas.Hit{}, inPlace: map[string]bool{}}
}

var (
	archiveName = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._]*?(?:-[A-Za-z][A-Za-z0-9._]*?)*)-v?([0-9][A-Za-z0-9.!+_]*?)(?:-[^/]*)?\.(?:whl|egg|tar\.gz|tgz|zip|tar\.bz2|conda)$`)
	condaMeta   = lazyregexp.New(`/conda-meta/(.+)-([^-]+)-[^-]+\.json$`)
	installed   = lazyregexp.New(`/(?:site|dist)-packages/([^/]+?)-([0-9][^/-]*?)(?:-py[0-9.]+)?\.(dist-info|egg-info|egg)(?:/|$)`)
	importable  = lazyregexp.New(`/(?:site|dist)-packages/([^/]+?)(?:/__init__)?\.py$`)
	moduleZip   = lazyregexp.New(`/cache/download/(.+)/@v/(v[^/]+)\.zip$`)
	moduleDir   = lazyregexp.New(`/([^/@]+\.[^/@]+(?:/[^/@]+)*)@(v[^/!]+)/`)
)

// path looks at one path; members of archives come as archive!member.
func (c *copies) path(name string) {
	if strings.HasPrefix(name, sandbox.TreePath+"/") && !strings.Contains(name, "!") && !strings.Contains(name, "/site-packages/") && !strings.Contains(name, "/dist-packages/") {
		return // the tree is the one copy; what its build leaves there is searched by content
	}
	member := name[strings.LastIndexByte(name, '!')+1:]
	if m := archiveName.FindStringSubmatch(path.Base(member)); m != nil && c.project.dists[normal(m[1])] {
		c.add(name, m[1]+" "+m[2], c.kind(m[2], pep440Later, false))
	}
	if m := condaMeta.FindStringSubmatch(name); m != nil && c.project.dists[normal(m[1])] {
		c.add(name, m[1]+" "+m[2], c.kind(m[2], pep440Later, true))
	}
	if m := installed.FindStringSubmatchIndex(name); m != nil && c.project.dists[normal(name[m[2]:m[3]])] {
		c.install(strings.TrimSuffix(name[:m[1]], "/"), name[m[4]:m[5]])
	}
	if m := importable.FindStringSubmatch(name); m != nil && c.project.imports[m[1]] {
		c.add(name, m[1], KindCopy)
	}
	if m := moduleZip.FindStringSubmatch(name); m != nil && c.ownModule(m[1]) {
		c.add(name, m[1]+" "+m[2], c.kind(m[2], semverLater, false))
	}
	if m := moduleDir.FindStringSubmatch(name); m != nil && c.ownModule(m[1]) {
		c.add(name[:strings.Index(name, "@"+m[2])+1+len(m[2])], m[1]+" "+m[2], c.kind(m[2], semverLater, false))
	}
}

// ownModule: mod is a path that may have a cache's directories before it.
func (c *copies) ownModule(mod string) bool {
	mod = majorPath.ReplaceAllString(mod, "")
	for own := range c.project.modules {
		if mod == own || strings.HasSuffix(mod, "/"+own) {
			return true
		}
	}
	return false
}

// install takes a file of an installation's metadata. It is the in-place one if
// it lists no file of a package.
func (c *copies) install(dir, version string) {
	if _, ok := c.metadata[dir]; !ok {
		c.metadata[dir] = schemas.Hit{Needle: path.Base(dir), Place: dir, Kind: c.kind(version, pep440Later, true)}
	}
}

// linked is told the content of direct_url.json (PEP 610) beside an installation.
func (c *copies) linked(name string, content []byte) {
	var from struct {
		URL string `json:"url"`
		Dir struct {
			Editable bool `json:"editable"`
		} `json:"dir_info"`
	}
	at, isFile := "", false
	if json.Unmarshal(content, &from) == nil { // what is none says nothing
		at, isFile = strings.CutPrefix(from.URL, "file://")
	}
	if isFile && from.Dir.Editable && (at == sandbox.TreePath || strings.HasPrefix(at, sandbox.TreePath+"/")) {
		c.inPlace[path.Dir(name)] = true
	}
}

// link is told the content of an .egg-link or .pth file of the project.
func (c *copies) link(name string, content []byte) {
	first, _, _ := strings.Cut(strings.TrimSpace(string(content)), "\n")
	if first != "" && !strings.HasPrefix(first, "import ") && first != sandbox.TreePath && !strings.HasPrefix(first, sandbox.TreePath+"/") {
		c.add(name, first, KindCopy)
	}
}

// reads reports whether the content of a file decides, and who is to be told.
func (c *copies) reads(name string) func(string, []byte) {
	base := path.Base(name)
	switch {
	case base == "direct_url.json":
		return c.linked
	case strings.HasSuffix(base, ".egg-link") && c.project.dists[normal(strings.TrimSuffix(base, ".egg-link"))]:
		return c.link
	case strings.HasPrefix(base, "__editable__.") && strings.HasSuffix(base, ".pth"):
		dist, _, _ := strings.Cut(strings.TrimPrefix(base, "__editable__."), "-")
		if c.project.dists[normal(dist)] {
			return c.link
		}
	}
	return nil
}

// kind of a release: later ones are leaks wherever they are, others where code
// would be imported from; "" is none.
func (c *copies) kind(v string, later func(v, base string) bool, onPath bool) string {
	switch {
	case c.project.version == "" || later(v, c.project.version):
		return KindLater
	case onPath:
		return KindCopy
	}
	return ""
}

func (c *copies) add(place, what, kind string) {
	if kind != "" {
		c.found = append(c.found, schemas.Hit{Needle: what, Place: place, Kind: kind})
	}
}

func (c *copies) hits() []schemas.Hit {
	out := slices.Clone(c.found)
	for _, dir := range sortedKeys(c.metadata) {
		if !c.inPlace[dir] && !strings.Contains(dir, "!") {
			out = append(out, c.metadata[dir])
		}
	}
	return out
}

var tagPrefix = lazyregexp.New(`^.*?(v?[0-9]+(\.|$))`)

// release is the version in a tag: "v1.2", "release-1.2", "widget/v1.2".
func release(tag string) string {
	m := tagPrefix.FindStringSubmatchIndex(tag)
	if m == nil {
		return tag
	}
	return strings.TrimPrefix(tag[m[2]:], "v")
}

func pep440Later(v, base string) bool {
	a, err := versions.PyPI.Parse(v)
	if err != nil {
		return true // what cannot be compared is not let through
	}
	b, err := versions.PyPI.Parse(release(base))
	return err != nil || a.Compare(b) > 0
}

func semverLater(v, base string) bool {
	b := "v" + release(base)
	return !semver.IsValid(b) || semver.Compare(v, b) > 0
}
