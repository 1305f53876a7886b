package python

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// app is the object that serves, or the function that makes it.
type app struct {
	file    string
	attr    string
	factory bool
	args    string // of the factory, as the code gives them
	script  bool   // the file is run, because its main block does more than to start
	module  string // as it is imported from root
	root    string // the folder that modules are imported from
	why     string // path:line
	score   int
}

// flaskName is the app as FLASK_APP names it.
func (a app) flaskName() string {
	name := a.module + ":" + a.attr
	if a.factory {
		name += "(" + a.args + ")"
	}
	return name
}

// constructors make an application, by framework.
var constructors = map[string]string{
	aiohttp:   `Application`,
	fastAPI:   `FastAPI`,
	flask:     `Flask|APIFlask|OpenAPI|Eve`,
	starlette: `Starlette`,
}

var (
	functionHead = lazyregexp.New(`(?m)^(?:async\s+)?def\s+(\w+)\s*\(([^)]*)\)`)
	mainGuard    = lazyregexp.New(`(?m)^if\s+__name__\s*==\s*["']__main__["']\s*:`)
	appSubclass  = lazyregexp.New(`(?m)^class\s+(\w+)\((?:\w+\.)?(Flask|FastAPI|Starlette)\)`)
)

// findApp chooses the application.
func (s *serving) findApp() error { return s.choose(s.apps()) }

// choose takes one of the applications. What commands of the repository name comes first.
func (s *serving) choose(found []app) error {
	if len(found) == 0 {
		return &lang.Refusal{Reason: schemas.NoBoot, Detail: "no " + s.framework + " application is made at the top of a module or by a function without required arguments"}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].score > found[j].score })
	s.env = settings.Read(s.p.Solution, folderOf(found[0].file))
	for i := range found {
		if source, weight := s.named(found[i]); weight > 0 {
			found[i].score += weight
			found[i].why = source
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].score > found[j].score })
	a := found[0]
	a.root = s.importRoot(a.file)
	a.module = moduleName(a.file, a.root)
	if strings.ContainsAny(a.module, "-/ ") {
		a.root = folderOf(a.file)
		a.module = moduleName(a.file, a.root)
	}
	s.take(a)
	s.env = settings.Read(s.p.Solution, s.dir)
	return nil
}

// take settles on an application, its folders and its files.
func (s *serving) take(a app) {
	s.app = a
	s.place()
	s.narrow()
}

// apps are the places where an application is made.
func (s *serving) apps() []app {
	ctor := constructors[s.framework]
	for _, f := range s.files {
		for _, x := range appSubclass.FindAllStringSubmatch(f.text, -1) {
			if strings.EqualFold(x[2], s.framework) {
				ctor += "|" + x[1]
			}
		}
	}
	direct := regexp.MustCompile(`(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?(?:` + ctor + `)\(`)
	inside := regexp.MustCompile(`(?m)^[ \t]+(?:return\s+|(?:\w+\s*(?::[^=\n]+)?=\s*))(?:\w+\.)?(?:` + ctor + `)\(`)
	var out []app
	factories := map[string]app{}
	for _, f := range s.files {
		for _, x := range direct.FindAllStringSubmatchIndex(f.text, -1) {
			out = append(out, s.weigh(f, app{attr: f.text[x[2]:x[3]], why: f.line(x[0])}))
		}
		for _, x := range inside.FindAllStringIndex(f.text, -1) {
			name, params, ok := enclosing(f.text, x[0])
			if !ok {
				continue
			}
			a := s.weigh(f, app{attr: name, factory: true, why: f.line(x[0])})
			factories[name] = a
			if !needsArguments(params) {
				a.score -= 20
				out = append(out, a)
			}
		}
	}
	return append(out, s.callers(factories)...)
}

// enclosing is the top-level function that an offset lies in.
func enclosing(text string, at int) (name, params string, ok bool) {
	for _, x := range functionHead.FindAllStringSubmatchIndex(text, -1) {
		if x[0] > at {
			break
		}
		if functionEnd(text, x[1]) > at {
			return text[x[2]:x[3]], text[x[4]:x[5]], true
		}
	}
	return "", "", false
}

func needsArguments(params string) bool {
	for _, p := range strings.Split(params, ",") {
		if p = strings.TrimSpace(p); p != "" && !strings.Contains(p, "=") && !strings.HasPrefix(p, "*") {
			return true
		}
	}
	return false
}

// callers are the modules that call a factory at their top, or in their main block.
func (s *serving) callers(factories map[string]app) []app {
	if len(factories) == 0 {
		return nil
	}
	names := sortedKeys(factories)
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	call := regexp.MustCompile(`(?m)^([ \t]*)(\w+)\s*(?::[^=\n]+)?=\s*(?:[\w.]+\.)?(` + strings.Join(names, "|") + `)\(([^\n]*)`)
	var out []app
	for _, f := range s.files {
		guard := mainGuard.FindStringIndex(f.text)
		for _, x := range call.FindAllStringSubmatchIndex(f.text, -1) {
			indent, attr, factory := f.text[x[2]:x[3]], f.text[x[4]:x[5]], f.text[x[6]:x[7]]
			a := s.weigh(f, app{attr: attr, why: f.line(x[0])})
			a.score += max(0, factories[factory].score)/2 + 10
			switch {
			case indent == "":
				out = append(out, a)
			case guard != nil && x[0] > guard[0] && s.framework == flask:
				a.script = true
				a.score -= 5
				out = append(out, a)
			}
		}
	}
	return out
}

var (
	entryNames = map[string]int{"main": 10, "app": 10, "wsgi": 9, "asgi": 9, "autoapp": 9, "run": 8, "server": 7, "api": 6, "manage": 5, "application": 8, "__main__": 10, "__init__": 4, "run_api": 6}
	included   = lazyregexp.New(`\.(?:include_router|register_blueprint|add_api_route|add_routes?|add_url_rule|mount|init_app|add_middleware|add_resource|register_namespace|add_namespace)\(|@\w+\.(?:get|post|put|delete|patch|route)\(`)
	runCall    = lazyregexp.New(`\.run\(|serve\(`)
	guardWork  = lazyregexp.New(`(?i)\b\w*(?:create_all|init_db|create_db|create_tables|seed|populate|setup|initialize|migrate|connect)\w*\(|\.(?:register_blueprint|init_app|add_resource|add_namespace)\(`)
	plainCall  = lazyregexp.New(`(?m)^[ \t]+(\w+)\(`)
)

// weigh scores a place by its name, its depth and by how much it puts together.
func (s *serving) weigh(f source, a app) app {
	a.file = f.path
	base := strings.TrimSuffix(path.Base(f.path), ".py")
	a.score += entryNames[base] - 2*strings.Count(f.path, "/") + min(20, 2*len(included.FindAllStringIndex(f.text, 20)))
	if a.attr == "app" || a.attr == "application" || a.attr == "create_app" {
		a.score += 3
	}
	if guard := mainGuard.FindStringIndex(f.text); guard != nil {
		block := mainBlock(f.text, guard[1])
		if runCall.MatchString(block) {
			a.score += 4
			a.script = s.framework == flask && !a.factory && guardWork.MatchString(block)
		}
	}
	return a
}

// mainBlock is the text of a main block, with the functions of its file that it calls.
func mainBlock(text string, from int) string {
	block := text[from:functionEnd(text, from)]
	for _, c := range plainCall.FindAllStringSubmatch(block, 20) {
		for _, x := range functionHead.FindAllStringSubmatchIndex(text, -1) {
			if text[x[2]:x[3]] == c[1] {
				block += text[x[1]:functionEnd(text, x[1])]
			}
		}
	}
	return block
}

var (
	serverCall = lazyregexp.New(`\b(?:uvicorn|gunicorn|hypercorn|waitress-serve|daphne|granian)\b[^|;&]*?[\s"',=]([A-Za-z_][\w.]*):([A-Za-z_]\w*)`)
	fileCall   = lazyregexp.New(`\b(?:fastapi\s+(?:run|dev)|python3?(?:\.\d+)?|flask\s+--app)[\s=]+(?:-u\s+)?([\w./-]+\.py)`)
)

// named is the place of the repository that names an application as what is started.
func (s *serving) named(a app) (source string, weight int) {
	trunk := strings.TrimSuffix(strings.TrimSuffix(a.file, ".py"), "/__init__")
	fits := func(module string) bool {
		p := strings.ReplaceAll(module, ".", "/")
		return trunk == p || strings.HasSuffix(trunk, "/"+p) || strings.HasSuffix(p, "/"+trunk) || a.file == module
	}
	if v, ok := s.env.Values["FLASK_APP"]; ok && s.framework == flask {
		module, attr, _ := strings.Cut(v.Text, ":")
		attr, _, _ = strings.Cut(attr, "(")
		module = strings.TrimSuffix(module, ".py")
		module = module[strings.LastIndex(module, "/")+1:]
		if fits(module) && (attr == "" || attr == a.attr) {
			return v.Source, 50
		}
	}
	for _, c := range s.env.Commands {
		if x := serverCall.FindStringSubmatch(c.Text); x != nil && fits(x[1]) && x[2] == a.attr {
			return c.Source, 50
		}
		if x := fileCall.FindStringSubmatch(c.Text); x != nil && path.Base(x[1]) == path.Base(a.file) && strings.HasSuffix("/"+a.file, "/"+strings.TrimLeft(x[1], "./")) {
			return c.Source, 15
		}
	}
	return "", 0
}

// moduleName is the name by which a file is imported from a folder.
func moduleName(file, root string) string {
	p := strings.TrimPrefix(strings.TrimPrefix(file, root), "/")
	p = strings.TrimSuffix(strings.TrimSuffix(p, ".py"), "/__init__")
	return strings.ReplaceAll(p, "/", ".")
}

var relativeImport = lazyregexp.New(`(?m)^\s*from\s+(\.+)`)

// importRoot is the folder from which the imports of a file and of its neighbours lead into
// the tree: the one that most of their names are found in.
func (s *serving) importRoot(file string) string {
	dir := folderOf(file)
	if path.Base(file) == "__init__.py" {
		dir = folderOf(dir)
	}
	var roots []string
	for d := dir; ; d = folderOf(d) {
		roots = append(roots, d)
		if d == "" {
			break
		}
	}
	names := map[string]bool{}
	count, dots := 0, 0
	for _, f := range s.files {
		if f.path != file && (!strings.HasPrefix(f.path, dir+"/") && dir != "" || count > 200) {
			continue
		}
		count++
		if f.path == file {
			for _, x := range relativeImport.FindAllStringSubmatch(f.text, -1) {
				dots = max(dots, len(x[1]))
			}
		}
		for _, n := range imports([]byte(f.text)) {
			if !slices.Contains(stdlib, n) {
				names[n] = true
			}
		}
	}
	if path.Base(file) == "__init__.py" && dots > 0 {
		dots--
	}
	best, score := s.packageRoot(dir), -1
	for i, root := range roots {
		if i < dots {
			continue // relative imports need a package around them
		}
		n := 0
		for name := range names {
			if s.holds(root, name) {
				n++
			}
		}
		if n > score && n > 0 || n == score && root == s.packageRoot(dir) {
			best, score = root, n
		}
	}
	return best
}

// packageRoot is the nearest folder that is not a package.
func (s *serving) packageRoot(dir string) string {
	for dir != "" && s.p.Solution.Has(path.Join(dir, "__init__.py")) {
		dir = folderOf(dir)
	}
	return dir
}

// holds reports whether a module can be imported from a folder.
func (s *serving) holds(root, name string) bool {
	prefix := path.Join(root, name)
	return slices.ContainsFunc(s.files, func(f source) bool {
		return f.path == prefix+".py" || strings.HasPrefix(f.path, prefix+"/")
	})
}

// manifestNames are the files that say what is installed.
var manifestNames = []string{"pyproject.toml", "Pipfile", "Pipfile.lock", "requirements.txt", "setup.py", "setup.cfg", "requirements", "poetry.lock", "uv.lock"}

// place chooses the folder that the service is started in and that of its manifest.
func (s *serving) place() {
	s.dir = s.app.root
	if base := path.Base(s.dir); (base == "src" || base == "lib") && !s.hasManifest(s.dir) {
		s.dir = folderOf(s.dir)
	}
	for d := folderOf(s.app.file); ; d = folderOf(d) {
		if s.hasManifest(d) {
			s.manifest = d
			return
		}
		if d == "" {
			s.manifest = s.dir
			return
		}
	}
}

func (s *serving) hasManifest(dir string) bool {
	t := s.p.Solution
	for _, n := range manifestNames {
		if t.Has(path.Join(dir, n)) {
			return true
		}
	}
	return slices.ContainsFunc(t.Paths(), func(p string) bool {
		rest, ok := strings.CutPrefix(p, dir)
		return ok && runtimeFile.MatchString(strings.TrimPrefix(rest, "/"))
	})
}

var importFrom = lazyregexp.New(`(?m)^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#;]+))`)

// narrow keeps of the program the files that the application imports, in all: a repository may
// hold other programs, scripts and lessons. Packages that load their modules by name are kept
// whole.
func (s *serving) narrow() {
	byPath := map[string]source{}
	for _, f := range s.files {
		byPath[f.path] = f
	}
	seen := map[string]bool{}
	todo := []string{s.app.file}
	visit := func(p string) {
		for _, q := range []string{p + ".py", path.Join(p, "__init__.py")} {
			if _, ok := byPath[q]; ok && !seen[q] {
				todo = append(todo, q)
			}
		}
	}
	for len(todo) > 0 {
		f := byPath[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if seen[f.path] {
			continue
		}
		seen[f.path] = true
		for d := folderOf(f.path); d != "" && d != s.app.root; d = folderOf(d) {
			visit(d)
		}
		if loadsByName.MatchString(f.text) {
			for p := range byPath {
				if strings.HasPrefix(p, folderOf(f.path)+"/") || folderOf(f.path) == s.app.root && s.app.root != "" && strings.HasPrefix(p, s.app.root+"/") {
					todo = append(todo, p)
				}
			}
		}
		for _, x := range moduleText.FindAllStringSubmatch(f.text, 400) { // modules named by text: "project.config.Development"
			name := strings.ReplaceAll(x[1], ".", "/")
			for _, r := range []string{s.app.root, s.dir} {
				visit(path.Join(r, name))
				visit(path.Join(r, folderOf(name)))
			}
		}
		for _, x := range importFrom.FindAllStringSubmatch(f.text, 400) {
			s.follow(f, x, visit)
		}
	}
	s.all = s.files
	s.files = nil
	for _, f := range s.all {
		if seen[f.path] {
			s.files = append(s.files, f)
		}
	}
}

var loadsByName = lazyregexp.New(`\b(?:import_module|import_string|iter_modules|walk_packages|find_modules)\b`)

var moduleText = lazyregexp.New(`["']([A-Za-z_]\w*(?:\.\w+)+)["']`)

// follow visits the modules of the tree that one import names.
func (s *serving) follow(f source, x []string, visit func(string)) {
	roots := []string{s.app.root, s.dir, folderOf(f.path)}
	if x[4] != "" {
		for _, name := range strings.Split(x[4], ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			for _, r := range roots {
				visit(path.Join(r, strings.ReplaceAll(name, ".", "/")))
			}
		}
		return
	}
	if x[1] != "" {
		up := folderOf(f.path)
		for range len(x[1]) - 1 {
			up = folderOf(up)
		}
		roots = []string{up}
	}
	module := strings.ReplaceAll(x[2], ".", "/")
	for _, r := range roots {
		p := path.Join(r, module)
		visit(p)
		for _, name := range strings.FieldsFunc(x[3], func(c rune) bool { return strings.ContainsRune("(), \t\n\\", c) }) {
			visit(path.Join(p, name))
		}
	}
}
