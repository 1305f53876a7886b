package python

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const plainConf = "project = 'Kit'\nextensions = []\n"

func TestDocsTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files      map[string]string
		tool, conf string
	}{
		"none":                    {map[string]string{"docs/index.rst": "Kit\n", "conf.py": plainConf}, "", ""},
		"sphinx":                  {map[string]string{"docs/conf.py": plainConf}, sphinx, "docs/conf.py"},
		"sphinx_in_source":        {map[string]string{"doc/source/conf.py": plainConf, "doc/source/tests/conf.py": plainConf}, sphinx, "doc/source/conf.py"},
		"conf_of_something_else":  {map[string]string{"docs/conf.py": "import os\n"}, "", ""},
		"of_a_theme":              {map[string]string{"docs/_themes/conf.py": plainConf}, "", ""},
		"mkdocs":                  {map[string]string{"mkdocs.yml": "site_name: Kit\n"}, mkdocs, "mkdocs.yml"},
		"both":                    {map[string]string{"docs/conf.py": plainConf, "mkdocs.yml": "site_name: Kit\n"}, sphinx, "docs/conf.py"},
		"both_and_one_published":  {map[string]string{"docs/conf.py": plainConf, "mkdocs.yml": "a: 1\n", ".readthedocs.yaml": "mkdocs:\n  configuration: ./mkdocs.yml\n"}, mkdocs, "mkdocs.yml"},
		"published_elsewhere":     {map[string]string{"manual/conf.py": "", ".readthedocs.yml": "sphinx: {configuration: manual/conf.py}\n"}, sphinx, "manual/conf.py"},
		"published_and_not_there": {map[string]string{"docs/conf.py": plainConf, ".readthedocs.yml": "sphinx: {configuration: manual/conf.py}\n"}, sphinx, "docs/conf.py"},
		"published_is_broken":     {map[string]string{"docs/conf.py": plainConf, ".readthedocs.yml": "sphinx: [\n"}, sphinx, "docs/conf.py"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := readManifest(docsTree(t, c.files))
			if tool, conf := m.docsTool(m.readTheDocs()); tool != c.tool || conf != c.conf {
				t.Errorf("%q, %q", tool, conf)
			}
		})
	}
}

func TestDocsRequirements(t *testing.T) {
	t.Parallel()
	conf := "import pkg_resources\nextensions = [\n  'sphinx.ext.autodoc', \"sphinxcontrib.log_cabinet\",\n  'sphinx_copybutton', 'myst_parser', 'kit_docs.own',\n]\n"
	of := []string{"myst-parser", "setuptools", "sphinx", "sphinx-copybutton", "sphinxcontrib-log-cabinet"}
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"convention":  {nil, of},
		"file":        {map[string]string{"docs/requirements.txt": "sphinx==7.1  # pinned\nmyst-parser<3\n-c limits.txt\n", "docs/limits.txt": "docutils<0.20\n"}, []string{"-c docutils<0.20", "myst-parser<3", "setuptools", "sphinx-copybutton", "sphinx==7.1", "sphinxcontrib-log-cabinet"}},
		"folder":      {map[string]string{"requirements/docs.txt": "sphinx~=5.0\n"}, with(of, "sphinx", "sphinx~=5.0")},
		"group":       {map[string]string{"pyproject.toml": "[project]\nname = 'kit'\n[dependency-groups]\ndocs = ['sphinx>=7', {include-group = 'more'}]\nmore = ['kit']\n", "docs/requirements.txt": "sphinx==1\n"}, append([]string{"."}, with(of, "sphinx", "sphinx>=7")...)},
		"extra":       {map[string]string{"pyproject.toml": "[project]\nname = 'kit'\n[project.optional-dependencies]\ndocs = ['sphinx>=7', 'sphinx-copybutton']\n"}, []string{".[docs]", "myst-parser", "setuptools", "sphinxcontrib-log-cabinet"}},
		"tox":         {map[string]string{"tox.ini": "[testenv:docs]\ndeps =\n  sphinx==6\n  -r docs/more.txt\n", "docs/more.txt": "sphinx-copybutton==1\n"}, []string{"myst-parser", "setuptools", "sphinx-copybutton==1", "sphinx==6", "sphinxcontrib-log-cabinet"}},
		"published":   {map[string]string{".readthedocs.yaml": "python:\n  install:\n    - requirements: rtd.txt\n    - path: .\n", "rtd.txt": "Sphinx==4\n", "docs/requirements.txt": "sphinx==1\n"}, with(of, "sphinx", "Sphinx==4")},
		"two_lists":   {map[string]string{".readthedocs.yaml": "python:\n  install:\n    - requirements: rtd.txt\n", "rtd.txt": "furo\n", "docs/requirements.txt": "sphinx==5\n"}, append([]string{"furo"}, with(of, "sphinx", "sphinx==5")...)},
		"without_it":  {map[string]string{"docs/requirements.txt": "furo\n"}, append([]string{"furo"}, of...)},
		"hatch":       {map[string]string{"pyproject.toml": "[tool.hatch.envs.docs]\ndependencies = ['sphinx>=5']\n"}, with(of, "sphinx", "sphinx>=5")},
		"poetry":      {map[string]string{"pyproject.toml": "[tool.poetry.group.docs.dependencies]\nsphinx = '^6'\n"}, with(of, "sphinx", "sphinx>=6,<7")},
		"url_in_list": {map[string]string{"docs/requirements.txt": "sphinx\ngit+https://example.org/theme\n--index-url https://example.org\n"}, of},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"docs/conf.py": conf}
			for p, text := range c.files {
				files[p] = text
			}
			m := readManifest(docsTree(t, files))
			got := lines(m.docsRequirements(sphinx, "docs/conf.py", m.readTheDocs()))
			slices.Sort(c.want)
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// with is a list with one entry in the place of another.
func with(in []string, old, by string) []string {
	out := slices.Clone(in)
	out[slices.Index(out, old)] = by
	return out
}

// TestDocumentation: the environment is one of its own, of the recipe's interpreter and
// date, and is asked for once with versions and once without; nothing of the run depends on the day.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	p := lang.Project{Date: time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), Solution: docsTree(t, map[string]string{
		"docs/conf.py": plainConf, "docs/requirements.txt": "sphinx==7.1 ; python_version > '3'\nfuro[x]<9\n-c limits.txt\n", "docs/limits.txt": "docutils<0.20\n",
		"pyproject.toml": "[build-system]\nrequires = ['flit-core']\nbuild-backend = 'flit_core.buildapi'\n[project]\nname = 'kit'\nversion = '1'\n",
	})}
	r := schemas.Recipe{
		Language: Name, Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1"}, Lock: "pytest==8\n", Requirements: []string{".", "pytest"}, Setup: []schemas.Command{{Argv: []string{"x"}}},
		Build: []schemas.Command{{Argv: []string{"build"}, Env: map[string]string{"SETUPTOOLS_SCM_PRETEND_VERSION": "2", "PATH": "/x"}}}, Test: []schemas.Command{{Argv: []string{"pytest"}}},
	}
	got, ok := Language{}.Documentation(p, r)
	if !ok || got.Tool != sphinx || len(got.Recipes) != 2 {
		t.Fatalf("%t, %+v", ok, got)
	}
	for i, want := range [][]string{{".", "-c docutils<0.20", "flit-core", "furo[x]<9", "sphinx==7.1 ; python_version > '3'"}, {".", "flit-core", "furo[x]", "sphinx ; python_version > '3'"}} {
		x := got.Recipes[i]
		if diff := cmp.Diff(want, x.Requirements); diff != "" {
			t.Error(diff)
		}
		if x.Lock != "" || x.Setup != nil || x.Test != nil || x.Toolchain != r.Toolchain || len(x.Build) != 1 {
			t.Errorf("%+v", x)
		}
	}
	env := got.Run.Command.Env
	if env["SOURCE_DATE_EPOCH"] != "1709251200" || env["TZ"] != "UTC" || env["PYTHONHASHSEED"] != "0" || env["SETUPTOOLS_SCM_PRETEND_VERSION"] != "2" || env["PATH"] == "/x" {
		t.Errorf("%v", env)
	}
	var settings map[string]string
	if err := json.Unmarshal(got.Run.Inputs[1].Data, &settings); err != nil || settings["conf"] != "/testbed/docs/conf.py" || settings["out"] != got.Run.Report || settings["tool"] != sphinx {
		t.Errorf("%v, %v", settings, err)
	}
	if _, ok := (Language{}).Documentation(lang.Project{Solution: docsTree(t, map[string]string{"a.py": ""})}, r); ok {
		t.Error("a tree without documentation has some")
	}
}

func TestExtensionDist(t *testing.T) {
	t.Parallel()
	for module, want := range map[string]string{
		"sphinx.ext.autodoc": "", "sphinx": "", "sphinx_design": "sphinx-design", "sphinxcontrib.log_cabinet": "sphinxcontrib-log-cabinet", "sphinxcontrib.apidoc.ext": "sphinxcontrib-apidoc",
		"notfound.extension": "sphinx-notfound-page", "kit.docs": "", "IPython.sphinxext.ipython_directive": "ipython", "sphinxcontrib": "",
	} {
		if got := extensionDist(module); got != want {
			t.Errorf("%s: %q", module, got)
		}
	}
	if !strings.Contains(string(docsDriver), `"sphinx.ext.viewcode"`) {
		t.Error("source code is shown")
	}
}

func docsTree(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	entries := make([]tree.Entry, 0, len(files))
	for p, data := range files {
		entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)})
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
