package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// Frameworks whose services are started by rule.
const (
	flask   = "flask"
	fastAPI = "fastapi"
)

// ServiceReport is what Recipe.Report says for the recipe of a service.
const ServiceReport = "benchmint-http"

var _ lang.Server = Language{}

// serving is one guess of how a service is started.
type serving struct {
	p         lang.Project
	framework string
	files     []source // that the application imports, itself included
	all       []source // of the repository, without tests
	refs      references
	app       app
	dir       string // where the service is started, "" is the root of the tree
	manifest  string // the folder of its manifest
	env       *settings.Settings
	store     settings.Store
	values    map[string]string // the environment of the service
	recipe    schemas.Recipe
	service   schemas.Service
}

// Serve guesses how the service of the solution tree is installed, prepared and started.
func (l Language) Serve(p lang.Project, framework string) (schemas.Recipe, error) {
	if framework != flask && framework != fastAPI {
		return schemas.Recipe{}, &lang.Refusal{Reason: schemas.NoFramework, Detail: framework + " services are not started by rule; flask and fastapi are"}
	}
	s := &serving{p: p, framework: framework, files: program(p.Solution), values: map[string]string{}}
	s.refs = referencesOf(s.files)
	if err := s.findApp(); err != nil {
		return schemas.Recipe{}, err
	}
	s.recipe = schemas.Recipe{
		Language: Name, Report: ServiceReport, DepsFrom: "solution", Pinning: schemas.PinNone,
		Variables: map[string]string{"PATH": searchPath, "VIRTUAL_ENV": venvPath, "PYTHONDONTWRITEBYTECODE": "1"},
		Test:      []schemas.Command{{Argv: []string{ServiceReport}}},
	}
	s.service = schemas.Service{Framework: framework, Shifts: true}
	if err := s.install(); err != nil {
		return schemas.Recipe{}, err
	}
	if err := s.database(); err != nil {
		return schemas.Recipe{}, err
	}
	s.environment()
	s.start()
	s.prepare()
	s.finish()
	return s.recipe, nil
}

func (s *serving) evidence(field, value, source string) {
	s.recipe.Evidence = append(s.recipe.Evidence, schemas.Evidence{Field: field, Value: value, Source: source})
}

// finish puts the parts together. Every command of the service has its environment.
func (s *serving) finish() {
	s.values["PYTHONPATH"] = s.pythonPath()
	s.evidence("service.environment", "PYTHONPATH="+s.values["PYTHONPATH"], s.app.file)
	s.service.Start.Dir, s.service.Start.Env = s.dir, s.values
	for i := range s.service.Prepare {
		s.service.Prepare[i].Dir, s.service.Prepare[i].Env = s.dir, s.values
	}
	packages := []string{clock.Package}
	if s.service.Database == schemas.DatabasePostgres {
		packages = append(packages, "postgresql")
		s.service.DBPort, s.service.DBName = s.store.Port, s.store.Name
		s.service.DBUser, s.service.DBPassword = s.store.User, s.store.Password
	}
	s.recipe.SystemPackages = append(s.recipe.SystemPackages, packages...)
	slices.Sort(s.recipe.SystemPackages)
	s.recipe.SystemPackages = slices.Compact(s.recipe.SystemPackages)
	if login, ok := settings.Login(s.values); ok && s.seeds() {
		s.service.Login = &login
		s.evidence("service.login", login.User, "environment")
	}
	service := s.service
	s.recipe.Service = &service
	s.recipe.Evidence = unique(s.recipe.Evidence)
}

// pythonPath are the folders that modules of the service are imported from.
func (s *serving) pythonPath() string {
	tree := sandbox.TreePath
	out := path.Join(tree, s.app.root)
	if s.dir != s.app.root {
		out += ":" + path.Join(tree, s.dir)
	}
	return out
}

// seeds reports whether something that runs before or at the start uses the login.
func (s *serving) seeds() bool {
	for name := range s.values {
		if (strings.Contains(name, "SUPERUSER") || strings.Contains(name, "ADMIN")) && s.refs.has(name) {
			return true
		}
	}
	return false
}

// start is the command that serves.
func (s *serving) start() {
	python := venvPython
	switch {
	case s.framework == fastAPI:
		s.service.Port = 8000
		argv := []string{python, "-m", "uvicorn", s.app.module + ":" + s.app.attr, "--host", settings.Loopback, "--port", "8000"}
		if s.app.factory {
			argv = append(argv, "--factory")
		}
		s.service.Start = schemas.Command{Argv: argv}
	case s.app.script:
		s.service.Port = 5000
		s.service.Start = schemas.Command{Argv: []string{python, "-c", flaskScript, path.Base(s.app.file), "5000"}}
		s.dir = folderOf(s.app.file)
	default:
		s.service.Port = 5000
		s.values["FLASK_APP"] = s.app.flaskName()
		s.service.Start = schemas.Command{Argv: []string{python, "-m", "flask", "run", "--host", settings.Loopback, "--port", "5000", "--no-reload", "--no-debugger"}}
	}
	s.evidence("service.start", strings.Join(s.service.Start.Argv[1:min(8, len(s.service.Start.Argv))], " "), s.app.why)
}

// flaskScript runs a file whose main block does more than to start the service, with our
// address and without a reloader.
const flaskScript = `import runpy, sys
import flask
path, port = sys.argv[1], int(sys.argv[2])
def run(self, *args, **kwargs):
    from werkzeug.serving import run_simple
    run_simple("127.0.0.1", port, self, threaded=True)
flask.Flask.run = run
sys.argv = [path]
sys.path.insert(0, "")
runpy.run_path(path, run_name="__main__")
`

func folderOf(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// subtree is the part of a tree below a folder, with paths of its own.
type subtree struct {
	tree lang.Tree
	dir  string
}

func under(t lang.Tree, dir string) lang.Tree {
	if dir == "" {
		return t
	}
	return subtree{t, dir}
}

func (s subtree) Paths() []string {
	var out []string
	for _, p := range s.tree.Paths() {
		if rest, ok := strings.CutPrefix(p, s.dir+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

func (s subtree) Has(p string) bool { return s.tree.Has(path.Join(s.dir, p)) }

func (s subtree) Read(p string) ([]byte, error) {
	data, err := s.tree.Read(path.Join(s.dir, p))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	return data, nil
}
