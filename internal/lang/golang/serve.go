package golang

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// ServiceReport is what Recipe.Report says for the recipe of a service.
const ServiceReport = "benchmint-http"

// Programs of a service lie in the layer of its state.
const (
	builtPrograms = sandbox.EnvPath + "/service"
	server        = builtPrograms + "/server"
)

var _ lang.Server = Language{}

// serving is one guess of how a service is started.
type serving struct {
	p       lang.Project
	l       layout
	module  module
	code    *goCode
	main    mainPackage
	mains   []mainPackage
	env     *settings.Settings
	store   settings.Store
	values  map[string]string
	recipe  schemas.Recipe
	service schemas.Service
}

// Serve guesses how the service of the solution tree is built, prepared and started.
func (Language) Serve(p lang.Project, framework string) (schemas.Recipe, error) {
	imports := routes.Imports(framework)
	s := &serving{p: p, l: layoutOf(p.Solution), values: map[string]string{}}
	if len(s.l.modules) == 0 {
		return schemas.Recipe{}, &lang.Refusal{Reason: schemas.NoBoot, Detail: "no go.mod: packages without modules are not built"}
	}
	s.code = readCode(p.Solution, s.l)
	if err := s.findMain(imports); err != nil {
		return schemas.Recipe{}, err
	}
	s.recipe = schemas.Recipe{
		Language: Name, Report: ServiceReport, DepsFrom: "solution",
		Test: []schemas.Command{{Argv: []string{ServiceReport}}},
	}
	s.service = schemas.Service{Framework: framework}
	if err := s.build(); err != nil {
		return schemas.Recipe{}, err
	}
	if err := s.database(); err != nil {
		return schemas.Recipe{}, err
	}
	s.environment()
	s.start()
	s.configure()
	s.prepare()
	return s.finish(), nil
}

func (s *serving) evidence(field, value, source string) {
	s.recipe.Evidence = append(s.recipe.Evidence, schemas.Evidence{Field: field, Value: value, Source: source})
}

// build is the one command that makes the program, with the caches of the env layer.
func (s *serving) build() error {
	jobs := readCI(s.p.Solution)
	s.l.serve(s.module.Dir)
	if err := chooseToolchain(&s.recipe, s.p, s.l, jobs); err != nil {
		return err
	}
	s.recipe.Variables = variables(s.recipe)
	const experiment = "GOEXPERIMENT"
	if v := s.env.Values[experiment]; v.Text != "" {
		if _, ok := recipe.Admit(experiment, v.Text); ok {
			s.recipe.Variables[experiment] = v.Text
			s.evidence("variables", experiment+"="+v.Text, v.Source)
		}
	}
	systemPackages(&s.recipe, s.p.Solution, jobs)
	s.uncommitted()
	s.compile(s.main, server)
	service := s.service
	s.recipe.Service = &service // it says which module's dependencies are wanted
	dependencies(&s.recipe, s.p, s.l)
	return nil
}

// uncommitted gives a file of nothing to each package that the program imports for its effect alone and the repository makes and does
// not commit, as the documentation of swag: without it the program does not build.
func (s *serving) uncommitted() {
	made := map[string]bool{}
	for _, f := range s.code.of(s.main.reaches) {
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			dir, own := s.l.dir(name)
			rel, inside := strings.CutPrefix("/"+dir, strings.TrimSuffix("/"+s.module.Dir, "/")+"/")
			if err != nil || !own || !inside || made[dir] || spec.Name == nil || spec.Name.Name != "_" ||
				slices.ContainsFunc(s.p.Solution.Paths(), func(p string) bool { return strings.HasPrefix(p, dir+"/") }) {
				continue
			}
			made[dir] = true
			const script = `mkdir -p "$0" && echo "package generated" >"$0/benchmint.go"`
			s.recipe.Build = append(s.recipe.Build, schemas.Command{Argv: []string{"/bin/sh", "-c", script, rel}, Dir: s.module.Dir})
			s.evidence("build", rel+" is not committed: it is empty", f.line(spec.Pos()))
		}
	}
}

// compile adds the build of one program.
func (s *serving) compile(m mainPackage, to string) {
	env := map[string]string{}
	for k, v := range offline {
		env[k] = v
	}
	if s.module.Outside {
		env["GOWORK"] = "off"
	}
	if s.module.Vendored {
		env["GOFLAGS"] = strings.TrimSpace(s.recipe.Variables["GOFLAGS"] + " -mod=vendor")
	}
	pkg := "./" + strings.TrimPrefix(strings.TrimPrefix(m.dir, s.module.Dir), "/")
	s.recipe.Build = append(s.recipe.Build, schemas.Command{Argv: []string{goCommand(s.recipe), "build", "-o", to, pkg}, Dir: s.module.Dir, Env: env})
	s.evidence("build", "go build "+pkg, m.at)
}

// serve marks the module of a service as the one whose dependencies are wanted.
func (l *layout) serve(dir string) {
	l.modules = slices.Clone(l.modules)
	for i := range l.modules {
		l.modules[i].Tests = l.modules[i].Dir == dir
	}
}

// layoutFor is the layout that a recipe's dependencies are decided by: all modules with tests,
// or of a service its own.
func layoutFor(t lang.Tree, r schemas.Recipe) layout {
	l := layoutOf(t)
	for _, c := range r.Test {
		l.tags = append(l.tags, commandTags(r, c))
	}
	for _, rival := range r.Rivals {
		for _, c := range rival.Test {
			l.tags = append(l.tags, commandTags(r, c))
		}
	}
	if r.Service != nil && len(r.Build) > 0 {
		l.serve(r.Build[0].Dir)
	}
	return l
}

// start is the command that serves: the program with the arguments that the repository's own
// start has, or the sub-command whose name says that it serves.
func (s *serving) start() {
	args, source := s.arguments()
	s.service.Start = schemas.Command{Argv: append([]string{server}, args...)}
	s.evidence("service.start", strings.Join(append([]string{"server"}, args...), " "), source)
}

// finish puts the parts together. Every command of the service has its environment.
func (s *serving) finish() schemas.Recipe {
	s.service.Start.Dir, s.service.Start.Env = s.module.Dir, s.values
	for i := range s.service.Prepare {
		s.service.Prepare[i].Dir, s.service.Prepare[i].Env = s.module.Dir, s.values
	}
	s.recipe.SystemPackages = append(s.recipe.SystemPackages, serve.Packages(s.service)...)
	slices.Sort(s.recipe.SystemPackages)
	if settings.Serves(s.service.Database) {
		s.service.DBPort, s.service.DBName = s.store.Port, s.store.Name
		s.service.DBUser, s.service.DBPassword = s.store.User, s.store.Password
	}
	if login, ok := settings.Login(s.values); ok {
		s.service.Login = &login
		s.evidence("service.login", login.User, "environment")
	}
	if s.code.above && s.service.Database == schemas.DatabaseSQLite {
		s.service.Copied = true
		s.evidence("service.copied", "the database lies above the tree", s.code.aboveAt)
	}
	service := s.service
	s.recipe.Service = &service
	return s.recipe
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// set gives a variable its value, once.
func (s *serving) set(name, value, source string) {
	if _, there := s.values[name]; there {
		return
	}
	s.values[name] = value
	if len(value) > 120 {
		value = value[:120] + "…"
	}
	s.evidence("service.environment", name+"="+value, source)
}
