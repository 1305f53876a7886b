package python

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// Frameworks whose services are started by rule.
const (
	aiohttp   = "aiohttp"
	django    = "django"
	fastAPI   = "fastapi"
	flask     = "flask"
	starlette = "starlette"
)

// rules say how the application of a framework is found, and what command serves it.
var rules = map[string]struct {
	find  func(*serving) error
	start func(*serving) schemas.Command
}{
	aiohttp:   {(*serving).findAiohttp, (*serving).startAiohttp},
	django:    {(*serving).findDjango, (*serving).startDjango},
	fastAPI:   {(*serving).findApp, (*serving).startUvicorn},
	flask:     {(*serving).findApp, (*serving).startFlask},
	starlette: {(*serving).findApp, (*serving).startUvicorn},
}

// ServiceReport is what Recipe.Report says for the recipe of a service.
const ServiceReport = "benchmint-http"

var _ lang.Server = Language{}

// serving is one guess of how a service is started.
type serving struct {
	p         lang.Project
	framework string
	files     []source // that the application imports, itself included
	all       []source // of the repository, without tests
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
	rule, ok := rules[framework]
	if !ok {
		return schemas.Recipe{}, &lang.Refusal{Reason: schemas.NoFramework, Detail: framework + " services are not started by rule; those of " + strings.Join(sortedKeys(rules), ", ") + " are"}
	}
	s := &serving{p: p, framework: framework, files: program(p.Solution), values: map[string]string{}}
	if err := rule.find(s); err != nil {
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
		s.service.Prepare[i].Dir, s.service.Prepare[i].Env = cmp.Or(s.service.Prepare[i].Dir, s.dir), s.values
	}
	packages := append([]string{clock.Package}, serve.Packages(s.service)...)
	if settings.Serves(s.service.Database) {
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
		if (strings.Contains(name, "SUPERUSER") || strings.Contains(name, "ADMIN")) && s.names(name) {
			return true
		}
	}
	return false
}

// start is the command that serves.
func (s *serving) start() {
	s.service.Start = rules[s.framework].start(s)
	s.evidence("service.start", strings.Join(s.service.Start.Argv[1:min(8, len(s.service.Start.Argv))], " "), s.app.why)
}

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
