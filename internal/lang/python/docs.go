package python

import (
	_ "embed" // the driver of the documentation's tools
	"encoding/json"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/plainyaml"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/benchmint_docs.py
var docsDriver []byte

// The tools that build documentation.
const (
	sphinx = "sphinx"
	mkdocs = "mkdocs"
)

const (
	docsPath     = sandbox.RunPath + "/benchmint_docs.py"
	docsSettings = sandbox.RunPath + "/docs.json"
	docsScratch  = "/tmp/.benchmint-docs"
	docsOut      = "/tmp/.benchmint-docs.json"
	maxSettings  = 1 << 20 // bytes of a file that says how documentation is built
)

var _ lang.Documenter = Language{}

// Documentation is that of Sphinx or MkDocs. Its environment has the project, what builds
// it, and what the first list that names the tool asks for; the second recipe asks for the
// same without versions, where those of the list cannot be had together.
func (l Language) Documentation(p lang.Project, r schemas.Recipe) (lang.Documentation, bool) {
	m := readManifest(p.Solution)
	published := m.readTheDocs()
	tool, conf := m.docsTool(published)
	if tool == "" {
		return lang.Documentation{}, false
	}
	var own []requirement
	if m.buildable() {
		own = append([]requirement{{".", m.first("pyproject.toml", "setup.py", "setup.cfg")}}, m.buildRequires()...)
	}
	docs := m.docsRequirements(tool, conf, published)
	out := lang.Documentation{Tool: tool, Run: docsRun(p, r, tool, conf)}
	for _, asked := range [][]requirement{docs, unversioned(docs)} {
		out.Recipes = append(out.Recipes, schemas.Recipe{
			Language: r.Language, Toolchain: r.Toolchain, Tools: r.Tools, SystemPackages: r.SystemPackages, Variables: r.Variables,
			Report: r.Report, DepsFrom: r.DepsFrom, Pinning: r.Pinning, PinDate: r.PinDate, Build: r.Build,
			Requirements: lines(append(slices.Clone(own), asked...)),
		})
	}
	return out, true
}

// docsRun builds the pages. Dates in them are the project's; nothing of them depends on the
// day, the zone or the order of a set.
func docsRun(p lang.Project, r schemas.Recipe, tool, conf string) recipe.TestRun {
	env := activated()
	env["SOURCE_DATE_EPOCH"], env["TZ"], env["PYTHONHASHSEED"], env["PYTHONDONTWRITEBYTECODE"] = strconv.FormatInt(p.Date.Unix(), 10), "UTC", "0", "1"
	env["NO_COLOR"], env["MPLBACKEND"], env["LC_ALL"] = "1", "agg", "C.UTF-8"
	for _, b := range r.Build { // the version that tags would have given
		for k, v := range b.Env {
			if _, own := env[k]; !own {
				env[k] = v
			}
		}
	}
	settings, err := json.Marshal(map[string]string{
		"tool": tool, "root": sandbox.TreePath, "conf": path.Join(sandbox.TreePath, conf), "scratch": docsScratch, "out": docsOut,
	})
	if err != nil {
		settings = nil // strings are always written
	}
	return recipe.TestRun{
		Command: schemas.Command{Argv: []string{venvPython, docsPath, docsSettings}, Env: env},
		Inputs:  []sandbox.File{text(docsPath, string(docsDriver)), text(docsSettings, string(settings))},
		Report:  docsOut,
	}
}

// readTheDocs is what .readthedocs.yaml says of how documentation is built.
type readTheDocs struct {
	Sphinx struct {
		Configuration string `yaml:"configuration"`
	} `yaml:"sphinx"`
	MkDocs struct {
		Configuration string `yaml:"configuration"`
	} `yaml:"mkdocs"`
	Python struct {
		Install []struct {
			Requirements string   `yaml:"requirements"`
			Path         string   `yaml:"path"`
			Extras       []string `yaml:"extra_requirements"`
		} `yaml:"install"`
	} `yaml:"python"`
	file string
}

// readTheDocs is empty where there is none that can be read.
func (m *manifest) readTheDocs() readTheDocs {
	for _, file := range []string{".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml", "readthedocs.yaml"} {
		data := m.read(file)
		if data == nil || len(data) > maxSettings {
			continue
		}
		if tokens := lexer.Tokenize(string(data)); plainyaml.Deep(tokens) || plainyaml.Aliased(tokens) {
			continue
		}
		var out readTheDocs
		_ = yaml.Unmarshal(data, &out) // what it has read before a fault counts
		out.file = file
		return out
	}
	return readTheDocs{}
}

var (
	sphinxConf = lazyregexp.New(`^(?:docs?|documentation|docsrc|sphinx)/(?:[^/_.][^/]*/){0,2}conf\.py$`)
	sphinxSays = lazyregexp.New(`(?m)^\s*(?:extensions|project|html_theme|master_doc|root_doc|source_suffix|copyright)\s*(?::\s*[^=\n]+)?(?:\+?=)`)
	mkdocsConf = lazyregexp.New(`^(?:docs?/)?mkdocs\.ya?ml$`)
)

// docsTool is the tool and its configuration: the one that Read the Docs is told, else
// Sphinx, by the conf.py nearest to the top, else MkDocs. "" where there is none.
func (m *manifest) docsTool(published readTheDocs) (tool, conf string) {
	if c := path.Clean(published.Sphinx.Configuration); published.Sphinx.Configuration != "" && m.tree.Has(c) {
		return sphinx, c
	}
	if c := path.Clean(published.MkDocs.Configuration); published.MkDocs.Configuration != "" && m.tree.Has(c) {
		return mkdocs, c
	}
	var confs, yamls []string
	for _, p := range m.tree.Paths() {
		switch {
		case sphinxConf.MatchString(p) && sphinxSays.Match(m.read(p)):
			confs = append(confs, p)
		case mkdocsConf.MatchString(p):
			yamls = append(yamls, p)
		}
	}
	for _, found := range []struct {
		tool  string
		paths []string
	}{{sphinx, confs}, {mkdocs, yamls}} {
		sort.SliceStable(found.paths, func(i, j int) bool {
			return strings.Count(found.paths[i], "/") < strings.Count(found.paths[j], "/")
		})
		if len(found.paths) > 0 {
			return found.tool, found.paths[0]
		}
	}
	return "", ""
}

// docsNames are the names that a list of what documentation needs has, best first.
var docsNames = []string{"docs", "doc", "documentation", "sphinx", "mkdocs", "rtd", "docs-build", "build-docs", "website"}

// docsRequirements is what the documentation needs: the first lists until one names the
// tool, then the extensions and imports of its configuration that no list gives.
func (m *manifest) docsRequirements(tool, conf string, published readTheDocs) []requirement {
	var out []requirement
	for _, source := range []func() []requirement{
		func() []requirement { return m.publishedDocs(published) }, m.toxDocs, m.docsGroups, m.docsExtras, m.hatchDocs, m.docsFiles,
		func() []requirement { return m.poetryGroup("docs") }, func() []requirement { return m.poetryGroup("doc") },
	} {
		if names(m.expand(out), tool) {
			break
		}
		out = append(out, source()...)
	}
	if !names(m.expand(out), tool) {
		out = append(out, requirement{tool, "convention"})
	}
	out = append(out, m.extensions(tool, conf, out)...)
	for _, dist := range sortedKeys(seeds) {
		if seeds[dist].Match(m.read(conf)) && !names(out, dist) {
			out = append(out, requirement{dist, conf})
		}
	}
	return append(out, m.missing(out, []string{conf})...)
}

// names reports whether requirements hold a distribution of this name. A theme or an
// extension of the tool brings it as well, but no certain version of it.
func names(in []requirement, dist string) bool {
	return slices.ContainsFunc(in, func(r requirement) bool { return distName(r.line) == dist })
}

// publishedDocs is what Read the Docs installs.
func (m *manifest) publishedDocs(published readTheDocs) []requirement {
	var out []requirement
	for _, i := range published.Python.Install {
		switch {
		case i.Requirements != "":
			out = append(out, m.readRequirements(i.Requirements, false)...)
		case path.Clean(i.Path) == "." && len(i.Extras) > 0:
			out = append(out, requirement{ofTree(m.dir, i.Extras...), published.file})
		}
	}
	return out
}

// toxDocs is what tox installs for the documentation.
func (m *manifest) toxDocs() []requirement {
	ini, file := parseINI(m.read("tox.ini")), "tox.ini"
	offset := 0
	if legacy := str(m.pyproject, "tool", "tox", "legacy_tox_ini"); !m.tree.Has("tox.ini") && legacy != "" {
		ini, file, offset = parseINI([]byte(legacy)), "pyproject.toml", m.lineOf("pyproject.toml", "legacy_tox_ini")
	}
	for _, name := range docsNames {
		if section := "testenv:" + name; ini[section] != nil {
			return m.toxRequires(toxEnv{ini: ini, file: file, offset: offset, section: section, factors: map[string]bool{name: true}})
		}
	}
	return nil
}

func (m *manifest) docsGroups() []requirement {
	groups := m.groups()
	for _, n := range docsNames {
		if g, ok := groups[n]; ok {
			return g
		}
	}
	return nil
}

func (m *manifest) docsExtras() []requirement {
	extras := m.extras()
	for _, n := range docsNames {
		if _, ok := extras[n]; ok {
			return []requirement{{ofTree(m.dir, n), m.first("pyproject.toml", "setup.cfg", "setup.py")}}
		}
	}
	return nil
}

func (m *manifest) hatchDocs() []requirement {
	var out []requirement
	for _, n := range docsNames {
		env := table(m.pyproject, "tool", "hatch", "envs", n)
		for _, key := range []string{"dependencies", "extra-dependencies"} {
			for _, r := range list(env, key) {
				if line, ok := m.localOr(r); ok {
					out = append(out, requirement{line, m.where("pyproject.toml", r)})
				}
			}
		}
	}
	return out
}

var docsFile = []*lazyregexp.Regexp{
	lazyregexp.New(`^(?:docs?|documentation)/(?:[^/]+/)?(?:[a-z]+[_-])?requirements(?:[_-][a-z]+)?\.(?:txt|pip|in)$`),
	lazyregexp.New(`^requirements/(?:.*[_-])?docs?(?:umentation)?\.(?:txt|pip|in)$`),
	lazyregexp.New(`^requirements[_.-]docs?\.(?:txt|pip|in)$`),
	lazyregexp.New(`^docs?[_-]requirements\.(?:txt|pip|in)$`),
	lazyregexp.New(`^(?:requirements/(?:dev|development)|requirements[_-]dev|dev[_-]requirements)\.(?:txt|pip|in)$`),
}

// docsFiles is the first file of requirements for documentation.
func (m *manifest) docsFiles() []requirement {
	for _, pattern := range docsFile {
		for _, p := range m.tree.Paths() {
			if pattern.MatchString(p) {
				return m.readRequirements(p, false)
			}
		}
	}
	return nil
}

var (
	extensionList = lazyregexp.New(`(?s)(?:^|\n)\s*extensions\s*(?::[^=\n]*)?(?:\+?=|\.extend\()\s*[\[(](.*?)[\])]`)
	ofSphinx      = lazyregexp.New(`^(?:sphinx\.|sphinx$)`)
)

// extensionDists are extensions whose distribution has another name than the module.
var extensionDists = map[string]string{
	"notfound": "sphinx-notfound-page", "autoapi": "sphinx-autoapi", "hoverxref": "sphinx-hoverxref", "myst_parser": "myst-parser",
	"myst_nb": "myst-nb", "versionwarning": "sphinx-version-warning", "enum_tools": "enum-tools", "ipython": "ipython", "matplotlib": "matplotlib",
	"numpydoc": "numpydoc", "nbsphinx": "nbsphinx", "recommonmark": "recommonmark", "m2r": "m2r", "m2r2": "m2r2", "furo": "furo", "jupyter_sphinx": "jupyter-sphinx",
	"breathe": "breathe", "releases": "releases", "guzzle_sphinx_theme": "guzzle-sphinx-theme", "pallets_sphinx_themes": "pallets-sphinx-themes",
	"alabaster": "alabaster", "sphinxext": "sphinxext-opengraph", "sphinx_rtd_theme": "sphinx-rtd-theme", "sphinx_issues": "sphinx-issues",
}

// extensions are those of Sphinx that its configuration names and no list gives.
func (m *manifest) extensions(tool, conf string, have []requirement) []requirement {
	if tool != sphinx {
		return nil
	}
	given := map[string]bool{}
	for _, r := range m.expand(have) {
		given[distName(r.line)] = true
	}
	var out []requirement
	for _, found := range extensionList.FindAllStringSubmatch(string(m.read(conf)), -1) {
		for _, x := range pyLiteral.FindAllStringSubmatch(found[1], -1) {
			dist := extensionDist(x[1] + x[2])
			if dist != "" && !given[dist] {
				given[dist] = true
				out = append(out, requirement{dist, m.where(conf, x[0])})
			}
		}
	}
	return out
}

// extensionDist is the distribution of an extension by the name of its module, "" where
// Sphinx has it or nothing says which it is.
func extensionDist(module string) string {
	top, rest, _ := strings.Cut(module, ".")
	switch {
	case ofSphinx.MatchString(module):
		return ""
	case top == "sphinxcontrib" && rest != "":
		second, _, _ := strings.Cut(rest, ".")
		return normalise("sphinxcontrib-" + second)
	case extensionDists[strings.ToLower(top)] != "":
		return extensionDists[strings.ToLower(top)]
	case strings.HasPrefix(top, "sphinx_"):
		return normalise(top)
	}
	return ""
}

// unversioned are requirements by their names and extras alone; constraints are left out.
func unversioned(in []requirement) []requirement {
	var out []requirement
	for _, r := range in {
		if isLocal(r.line) {
			out = append(out, r)
			continue
		}
		name := reqName.FindString(r.line)
		if name == "" || strings.HasPrefix(r.line, "-c ") {
			continue
		}
		if x := extrasOf.FindString(r.line[len(name):]); x != "" && strings.HasPrefix(strings.TrimSpace(r.line[len(name):]), "[") {
			name += strings.ReplaceAll(x, " ", "")
		}
		if _, marker, ok := strings.Cut(r.line, ";"); ok {
			name += " ;" + marker
		}
		out = append(out, requirement{name, r.source})
	}
	return out
}
