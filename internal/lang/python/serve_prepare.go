package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// prepare are the commands that make tables and seed them, in order.
func (s *serving) prepare() {
	s.sqlitePlaces()
	if s.framework == django && s.service.Database != schemas.DatabaseNone {
		s.first(s.app.why, venvPython, "manage.py", "migrate", "--noinput", "--run-syncdb") // apps without migrations, too
	} else {
		s.migrate()
	}
	s.scripts()
	s.copied()
}

func (s *serving) first(source string, argv ...string) {
	s.service.Prepare = append(s.service.Prepare, schemas.Command{Argv: argv})
	shown := strings.Join(argv, " ")
	if i := strings.IndexByte(shown, '\n'); i >= 0 {
		shown = shown[:i] + " …"
	}
	s.evidence("service.prepare", strings.ReplaceAll(shown, venvPath+"/bin/", ""), source)
}

var sqlitePath = lazyregexp.New(`sqlite(?:\+\w+)?:///(\./)?([\w.-]+(?:/[\w.-]+)*)`)

// sqlitePlaces makes the folder of a database file, where the tree has none.
func (s *serving) sqlitePlaces() {
	if s.service.Database != schemas.DatabaseSQLite {
		return
	}
	texts := map[string]string{}
	for _, l := range s.literals() {
		texts[l.text] = l.source
	}
	for name, v := range s.values {
		texts[v] = name
	}
	for _, text := range sortedKeys(texts) {
		x := sqlitePath.FindStringSubmatch(text)
		if x == nil || path.Dir(x[2]) == "." {
			continue
		}
		dir := path.Dir(x[2])
		if !slices.ContainsFunc(s.p.Solution.Paths(), func(p string) bool { return strings.HasPrefix(p, path.Join(s.dir, dir)+"/") }) {
			s.first(texts[text], "mkdir", "-p", dir)
		}
	}
}

var (
	aboveTree     = lazyregexp.New(`["'](?:sqlite(?:\+\w+)?:///)?(?:\./)?\.\./[\w./-]*\.(?:db|sqlite3?)["']`)
	alembicScript = lazyregexp.New(`(?m)^\s*script_location\s*=\s*(\S+)`)
)

// copied reports a database file above the folder of the service.
func (s *serving) copied() {
	if at, ok := s.matches(aboveTree); ok && s.dir == "" && s.service.Database == schemas.DatabaseSQLite {
		s.service.Copied = true
		s.evidence("service.copied", "the database lies above the tree", at)
	}
}

// migrate makes the tables: by the migrations of the repository, else from its models.
func (s *serving) migrate() {
	if s.service.Database == schemas.DatabaseNone {
		return
	}
	if c, at, ok := s.store.Extensions(s.p.Solution); ok && s.service.Database == schemas.DatabasePostgres {
		s.service.Prepare = append(s.service.Prepare, c)
		s.evidence("service.prepare", strings.Join(c.Argv[3:], " "), at)
	}
	if s.framework == flask {
		if _, ok := s.importer([]string{"flask_migrate"}); ok {
			for _, dir := range []string{"migrations", "migration", "alembic", path.Join(s.app.root, "migrations")} {
				if s.hasRevisions(path.Join(s.dir, dir)) {
					argv := []string{venvPython, "-m", "flask", "db", "upgrade"}
					if dir != "migrations" {
						argv = append(argv, "--directory", dir)
					}
					s.values["FLASK_APP"] = s.app.flaskName()
					s.first(path.Join(s.dir, dir), argv...)
					return
				}
			}
		}
	}
	if s.alembic() {
		return
	}
	s.createAll()
}

// alembic brings the tables to the newest revision, by the alembic.ini of the service's folder, else the
// first of the tree that leads to revisions. Its script_location is relative to where the command runs.
func (s *serving) alembic() bool {
	folders := []string{s.dir, s.app.root, s.manifest}
	for _, p := range s.p.Solution.Paths() {
		if path.Base(p) == "alembic.ini" && !slices.Contains(folders, folderOf(p)) {
			folders = append(folders, folderOf(p))
		}
	}
	for _, d := range folders {
		ini := path.Join(d, "alembic.ini")
		data, err := s.p.Solution.Read(ini)
		if err != nil {
			continue
		}
		location, here := "alembic", false
		if x := alembicScript.FindSubmatch(data); x != nil {
			location, here = strings.CutPrefix(string(x[1]), "%(here)s/")
			location = strings.ReplaceAll(strings.TrimPrefix(location, "./"), ":", "/")
		}
		argv := []string{venvPath + "/bin/alembic"}
		if d != s.dir {
			argv = append(argv, "-c", path.Join(sandbox.TreePath, ini))
		}
		outer := !here && s.hasRevisions(path.Join(s.dir, location))
		if !outer && !s.hasRevisions(path.Join(d, location)) {
			continue
		}
		at := d
		if outer {
			at = s.dir
		}
		script, _ := s.p.Solution.Read(path.Join(at, location, "env.py")) // without one alembic says so
		env := string(script)
		s.alembicNeeds(ini, env)
		argv = append(argv, "upgrade", "head")
		if settings.Serves(s.service.Database) && !iniURL.Match(data) && strings.Contains(env, "engine_from_config(") && !strings.Contains(env, "sqlalchemy.url\", ") {
			url := s.store.Filled().URL(schemes[s.service.Database])
			argv = []string{venvPython, "-c", fmt.Sprintf(alembicAt, path.Join(sandbox.TreePath, ini), url)}
		}
		s.first(ini, argv...)
		if !outer && !here {
			s.service.Prepare[len(s.service.Prepare)-1].Dir = d
		}
		return true
	}
	return false
}

// alembicAt migrates a database that neither the alembic.ini nor its env.py names: a program of the repository does otherwise.
const alembicAt = `from alembic import command
from alembic.config import Config
config = Config(%q)
config.set_main_option("sqlalchemy.url", %q)
command.upgrade(config, "head")
`

// alembicNeeds adds what migrations need and the service itself does not: alembic, and the drivers that their env.py names.
func (s *serving) alembicNeeds(ini, env string) {
	need := []string{"alembic"}
	for _, i := range implied {
		if i.use.MatchString(env) {
			need = append(need, i.dist)
		}
	}
	for _, dist := range need {
		if !slices.ContainsFunc(s.recipe.Requirements, func(line string) bool {
			return distName(line) == distName(dist) || distName(line) == strings.TrimSuffix(dist, "-binary")
		}) {
			s.recipe.Requirements = append(s.recipe.Requirements, dist)
			s.evidence("requirements", dist, ini)
		}
	}
	slices.Sort(s.recipe.Requirements)
}

func (s *serving) hasRevisions(dir string) bool {
	return slices.ContainsFunc(s.p.Solution.Paths(), func(p string) bool {
		rest, ok := strings.CutPrefix(p, dir+"/")
		return ok && strings.Contains(rest, "versions/") && strings.HasSuffix(rest, ".py") && path.Base(rest) != "__init__.py"
	})
}

var (
	flaskDB      = lazyregexp.New(`(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?SQLAlchemy\(`)
	modelClass   = lazyregexp.New(`(?m)^class\s+\w+\([^)]*\b(?:Model|Base|SQLModel|BaseModel)\b`)
	anyCreateAll = lazyregexp.New(`\bcreate_all\b|\bcreate_tables\b|\bgenerate_schemas\b`)
	baseMade     = lazyregexp.New(`(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?declarative_base\(|^class\s+(\w+)\((?:\w+\.)?(?:DeclarativeBase|AsyncAttrs\s*,\s*DeclarativeBase)\b`)
	engineMade   = lazyregexp.New(`(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?create_engine\(`)
)

// createAll makes the tables of the models, where no migration does.
func (s *serving) createAll() {
	if at, ok := s.matches(flaskDB); ok && s.framework == flask {
		s.first(at, venvPython, "-c", s.flaskTables())
		return
	}
	if _, made := s.matches(anyCreateAll); made {
		return // by the program itself, or by a script that is run below
	}
	var base, engine string
	var at string
	for _, f := range s.files {
		if x := baseMade.FindStringSubmatchIndex(f.text); x != nil && base == "" {
			name := ""
			for _, g := range [][2]int{{x[2], x[3]}, {x[4], x[5]}} {
				if g[0] >= 0 {
					name = f.text[g[0]:g[1]]
				}
			}
			base, at = "from "+moduleName(f.path, s.app.root)+" import "+name+" as base", f.line(x[0])
		}
		if x := engineMade.FindStringSubmatch(f.text); x != nil && engine == "" {
			engine = "from " + moduleName(f.path, s.app.root) + " import " + x[1] + " as engine"
		}
	}
	if base != "" && engine != "" {
		s.first(at, venvPython, "-c", strings.Join([]string{base, engine, "import " + s.app.module, "base.metadata.create_all(engine)"}, "\n"))
	}
}

// flaskTables is a program that makes the tables of Flask-SQLAlchemy, in the application's
// context and with the modules of its models loaded. An application that its file puts together
// in the main block is caught where it would begin to serve.
func (s *serving) flaskTables() string {
	if s.app.script {
		return "import runpy, sys, flask\n" + tablesOf + "flask.Flask.run = lambda application, *args, **kwargs: create(application)\n" +
			"sys.path.insert(0, '')\nrunpy.run_path('" + path.Base(s.app.file) + "', run_name='__main__')\n"
	}
	lines := []string{"import importlib"}
	if s.app.factory {
		lines = append(lines, "from "+s.app.module+" import "+s.app.attr+" as make", "application = make("+s.app.args+")")
	} else {
		lines = append(lines, "from "+s.app.module+" import "+s.app.attr+" as application")
	}
	var models []string
	for _, m := range s.files {
		if modelClass.MatchString(m.text) && s.loads(m.path) {
			models = append(models, `"`+moduleName(m.path, s.app.root)+`"`)
		}
	}
	if len(models) > 0 {
		lines = append(lines, "for name in ["+strings.Join(models, ", ")+"]:", "    importlib.import_module(name)")
	}
	return strings.Join(lines, "\n") + "\n" + tablesOf + "create(application)\n"
}

// tablesOf is the function that makes the tables: the extension is known to the application.
const tablesOf = `def create(application):
    state = application.extensions["sqlalchemy"]
    with application.app_context():
        getattr(state, "db", state).create_all()
`

// loads reports whether a file is imported from the root by a plain name.
func (s *serving) loads(p string) bool {
	return (s.app.root == "" || strings.HasPrefix(p, s.app.root+"/")) && moduleShape.MatchString(moduleName(p, s.app.root))
}

var moduleShape = lazyregexp.New(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$`)

var (
	seedName   = lazyregexp.New(`(?i)(?:^|/)(?:initial_data|init_data|seeds?|seed_db|seed_data|seeder|init_db|initdb|create_db|db_create|create_tables|create_superuser|create_admin|populate_db|setup_db|backend_pre_start|pre_start|prestart)\.py$`)
	pythonRun  = lazyregexp.New(`\bpython3?\s+(?:-m\s+)?([\w./]+)`)
	cliCommand = lazyregexp.New(`\.cli\.command\(\s*(?:name\s*=\s*)?["']([\w-]*(?:create|init|setup)[-_]?(?:db|database|tables?|all))["']`)
)

// scripts are the files that start scripts run after the migrations, and those of a name that
// says that they seed.
func (s *serving) scripts() {
	done := map[string]bool{}
	for _, c := range s.env.Commands {
		if strings.HasPrefix(path.Base(strings.SplitN(c.Source, ":", 2)[0]), "README") {
			continue
		}
		for _, x := range pythonRun.FindAllStringSubmatch(c.Text, -1) {
			file := s.fileOf(x[1])
			if seedName.MatchString("/"+file) && !done[file] {
				done[file] = true
				s.script(file, c.Source)
			}
		}
	}
	for _, f := range s.all {
		if !strings.HasPrefix(f.path, s.app.root) || strings.Count(f.path, "/") > strings.Count(s.app.file, "/")+2 {
			continue
		}
		if !done[f.path] && seedName.MatchString("/"+f.path) && mainGuard.MatchString(f.text) && !strings.Contains(path.Base(f.path), "start") {
			done[f.path] = true
			s.script(f.path, "convention")
		}
	}
	if len(done) == 0 && s.framework == flask && len(s.service.Prepare) == 0 {
		for _, f := range s.files {
			if x := cliCommand.FindStringSubmatch(f.text); x != nil {
				s.values["FLASK_APP"] = s.app.flaskName()
				s.first(f.path, venvPython, "-m", "flask", x[1])
				return
			}
		}
	}
}

// fileOf is the file of the tree that a word of a start script names: a path of a container,
// or a module.
func (s *serving) fileOf(word string) string {
	if !strings.HasSuffix(word, ".py") {
		word = strings.ReplaceAll(word, ".", "/") + ".py"
	}
	word = strings.TrimLeft(path.Clean("/"+word), "/")
	for word != "" {
		for _, d := range []string{s.dir, s.app.root, ""} {
			if p := path.Join(d, word); s.p.Solution.Has(p) {
				return p
			}
		}
		_, word, _ = strings.Cut(word, "/")
	}
	return ""
}

// script runs one file. One that asks for arguments or waits for another machine is left out.
func (s *serving) script(file, source string) {
	text := ""
	for _, f := range s.all {
		if f.path == file {
			text = f.text
		}
	}
	if text == "" || usesArguments.MatchString(text) {
		return
	}
	if s.loads(file) && strings.Contains(file, "/") {
		s.first(source, venvPython, "-m", moduleName(file, s.app.root))
		return
	}
	s.first(source, venvPython, path.Join(sandbox.TreePath, file))
}

var usesArguments = lazyregexp.New(`\bsys\.argv\[|\bargparse\b|\binput\(|\bgetpass\b`)
