package python

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
)

// install fills in toolchain, requirements and pinning.
func (s *serving) install() error {
	p := s.p
	p.Solution = under(s.p.Solution, s.manifest)
	g := &guess{p: p, m: readManifest(p.Solution), recipe: s.recipe}
	all, lock := s.requirements(g.m)
	if era, _, ok := eraOf(all); ok && era.Before(p.Date) {
		g.p.Date = era
	}
	g.ci = g.m.readCI()
	if v, ok := g.pick(g.usable(), s.versions(g.m)); ok {
		g.setToolchain(v.line, v.source)
	} else if err := g.toolchain(); err != nil {
		return err
	}
	if err := g.tools(); err != nil {
		return err
	}
	g.p.Date = s.p.Date
	for _, r := range all {
		if !strings.HasPrefix(r.line, "-c ") {
			g.evidence("requirements", r.line, r.source)
		}
	}
	if lock != "" {
		g.evidence("lock", itoa(len(all))+" pins", lock)
	}
	g.recipe.Requirements = lines(all)
	g.pinning()
	for i := range g.recipe.Evidence {
		if e := &g.recipe.Evidence[i]; s.manifest != "" && s.p.Solution.Has(path.Join(s.manifest, strings.SplitN(e.Source, ":", 2)[0])) {
			e.Source = path.Join(s.manifest, e.Source)
		}
	}
	s.recipe = g.recipe
	return nil
}

var (
	fromPython    = lazyregexp.New(`(?im)^\s*FROM\s+(?:\S+/)?(?:python|tiangolo/[\w-]+|ghcr\.io/astral-sh/uv):(?:[\w.-]*?python)?(\d\.\d+)`)
	runtimeText   = lazyregexp.New(`(?:python-)?(\d\.\d+)`)
	pipfilePython = lazyregexp.New(`(?m)^\s*python_(?:full_)?version\s*=\s*["'](\d\.\d+)`)
)

// versions are the interpreters that files of the service name.
func (s *serving) versions(m *manifest) []requirement {
	add := func(file string, re *lazyregexp.Regexp) []requirement {
		if x := re.FindStringSubmatch(string(m.read(file))); x != nil {
			return []requirement{{x[1], file}}
		}
		return nil
	}
	for _, f := range []string{"runtime.txt", ".python-version"} {
		if out := add(f, runtimeText); out != nil {
			return out
		}
	}
	if out := add("Pipfile", pipfilePython); out != nil {
		return out
	}
	for _, p := range settings.Dockerfiles(s.p.Solution, []string{s.dir, s.manifest, ""}) {
		data, err := s.p.Solution.Read(p)
		if x := fromPython.FindSubmatch(data); err == nil && x != nil {
			return []requirement{{string(x[1]), p}}
		}
	}
	return nil
}

// runtimeFile are requirement files of a program that runs, by their name.
var runtimeFile = lazyregexp.New(`^(?:requirements/)?(?:requirements?|reqs?|prod(?:uction)?|base|common|main|app|default|api|requirements?[-_.](?:prod(?:uction)?|base|common|main|app|api|backend|server))\.(?:txt|pip|in)$`)

// requirements are what the service needs, with the pins of its lock as constraints, and the
// lock's name.
func (s *serving) requirements(m *manifest) ([]requirement, string) {
	all, lock := m.pipfileLock()
	if len(all) == 0 {
		all = s.installed(m)
		if len(all) == 0 {
			all = m.runtimeFiles()
		}
		if len(all) == 0 {
			all = m.pinning(s.framework)
		}
		declared := m.declared()
		if len(all) == 0 || m.first("uv.lock", "poetry.lock", "pdm.lock") != "" && len(declared) > 0 {
			all = declared
		}
		if len(all) == 0 {
			all = m.pipfile()
		}
		if file := m.first("uv.lock", "poetry.lock", "pdm.lock"); file != "" {
			lock = file
			for _, pin := range lockFileVersions(m.tree) {
				all = append(all, requirement{"-c " + pin, file})
			}
		}
	}
	named := len(all) > 0
	all = s.unneeded(all)
	all = append(all, s.imported(all, named)...)
	return built(all), lock
}

// pipfileLock are the pins of Pipfile.lock.
func (m *manifest) pipfileLock() ([]requirement, string) {
	const file = "Pipfile.lock"
	var lock struct {
		Default map[string]struct {
			Version, Markers string
			Extras           []string
		}
	}
	if json.Unmarshal(m.read(file), &lock) != nil {
		return nil, ""
	}
	var out []requirement
	for _, name := range sortedKeys(lock.Default) {
		e := lock.Default[name]
		if e.Version == "" || !reqName.MatchString(name) {
			continue
		}
		line := name
		if len(e.Extras) > 0 {
			line += "[" + strings.Join(e.Extras, ",") + "]"
		}
		line += e.Version
		if e.Markers != "" {
			line += " ; " + e.Markers
		}
		out = append(out, requirement{line, m.where(file, `"`+name+`"`)})
	}
	return out, file
}

// pipfile are the packages of a Pipfile without lock.
func (m *manifest) pipfile() []requirement {
	packages := table(m.toml("Pipfile"), "packages")
	var out []requirement
	for _, name := range sortedKeys(packages) {
		if r, ok := poetryRequirement(name, packages[name]); ok {
			out = append(out, requirement{r, m.whereKey("Pipfile", name)})
		}
	}
	return out
}

var dockerInstall = lazyregexp.New(`pip3?\s+install\b[^|;&\n]*?(?:-r|--requirement)[\s=]*([\w./-]+)`)

// installed are the requirement files that the Dockerfile installs.
func (s *serving) installed(m *manifest) []requirement {
	var out []requirement
	for _, p := range settings.Dockerfiles(s.p.Solution, []string{s.dir, s.manifest}) {
		data, err := s.p.Solution.Read(p)
		if err != nil {
			continue
		}
		for _, x := range dockerInstall.FindAllSubmatch(data, 4) {
			file := strings.TrimLeft(string(x[1]), "./")
			for file != "" && !m.tree.Has(file) {
				_, file, _ = strings.Cut(file, "/")
			}
			if file != "" {
				out = append(out, m.readRequirements(file, false)...)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// runtimeFiles are the lines of the first requirement file of a running program.
func (m *manifest) runtimeFiles() []requirement {
	for _, name := range []string{"requirements.txt", "requirements/prod.txt", "requirements/production.txt", "requirements/base.txt", "requirements/common.txt", "requirements/requirements.txt"} {
		if out := m.readRequirements(name, false); len(out) > 0 {
			return out
		}
	}
	for _, p := range m.tree.Paths() {
		if runtimeFile.MatchString(p) {
			if out := m.readRequirements(p, false); len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

var requirementFile = lazyregexp.New(`^(?:requirements/[\w.-]+|[\w.-]*requirements?[\w.-]*)\.txt$`)

// pinning are the lines of a requirement file of another name that pins a framework: it is kept up
// where the metadata may not be.
func (m *manifest) pinning(framework string) []requirement {
	for _, p := range m.tree.Paths() {
		if !requirementFile.MatchString(p) {
			continue
		}
		out := m.readRequirements(p, false)
		if slices.ContainsFunc(out, func(r requirement) bool { return distName(r.line) == framework && exactPin.MatchString(r.line) }) {
			return out
		}
	}
	return nil
}

// declared are the dependencies of the packaging metadata.
func (m *manifest) declared() []requirement {
	var out []requirement
	for _, d := range list(m.pyproject, "project", "dependencies") {
		if line, ok := m.localOr(d); ok && !isLocal(line) {
			out = append(out, requirement{line, m.where("pyproject.toml", d)})
		}
	}
	deps := table(m.pyproject, "tool", "poetry", "dependencies")
	for _, dist := range sortedKeys(deps) {
		if r, ok := poetryRequirement(dist, deps[dist]); ok {
			if line, ok := m.localOr(r); ok && !isLocal(line) {
				out = append(out, requirement{line, m.whereKey("pyproject.toml", dist)})
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	if v, ok := m.setupCfg.get("options", "install_requires"); ok {
		for _, l := range v.lines {
			out = append(out, requirement{l.text, "setup.cfg:" + itoa(l.line)})
		}
	}
	for _, d := range pyStrings(m.setupPy, "install_requires") {
		if line, ok := m.localOr(d); ok && !isLocal(line) {
			out = append(out, requirement{line, m.where("setup.py", "install_requires")})
		}
	}
	return out
}

// leftOut are lines of requirement files that no Linux installation needs or can have.
var leftOut = []string{"pkg-resources", "pywin32", "pypiwin32", "pywinpty", "wincertstore", "win-inet-pton", "mysqlclient-dev", "distribute", "wsgiref", "uwsgi"}

// unneeded drops tools, the project itself and what cannot be had.
func (s *serving) unneeded(all []requirement) []requirement {
	return slices.DeleteFunc(slices.Clone(all), func(r requirement) bool {
		d := distName(strings.TrimPrefix(r.line, "-c "))
		return d == "" || isLocal(r.line) || slices.Contains(leftOut, d) || !strings.HasPrefix(r.line, "-c ") && isTool(d) && d != "uv" && d != "watchdog"
	})
}

// webDists are distributions of web services whose import has another name.
var webDists = map[string]string{
	"flask_restful": "flask-restful", "flask_cors": "flask-cors", "flask_login": "flask-login", "flask_jwt_extended": "flask-jwt-extended",
	"flask_restplus": "flask-restplus", "flask_restx": "flask-restx", "flask_marshmallow": "flask-marshmallow", "marshmallow_sqlalchemy": "marshmallow-sqlalchemy",
	"flask_migrate": "flask-migrate", "flask_bcrypt": "flask-bcrypt", "flask_script": "flask-script", "flask_httpauth": "flask-httpauth", "flask_jwt": "flask-jwt",
	"passlib": "passlib", "jose": "python-jose", "jwt": "pyjwt", "multipart": "python-multipart", "pydantic_settings": "pydantic-settings",
	"email_validator": "email-validator", "psycopg2": "psycopg2-binary", "decouple": "python-decouple", "environs": "environs", "fastapi_users": "fastapi-users",
	"peewee": "peewee", "sqlmodel": "sqlmodel", "sqlalchemy": "sqlalchemy", "databases": "databases", "tortoise": "tortoise-orm", "bcrypt": "bcrypt",
	"itsdangerous": "itsdangerous", "slowapi": "slowapi", "loguru": "loguru", "orjson": "orjson", "flasgger": "flasgger", "webargs": "webargs",
	"flask_smorest": "flask-smorest", "fastapi_pagination": "fastapi-pagination", "mako": "mako", "jinja2": "jinja2", "PIL": "pillow",
	"rest_framework": "djangorestframework", "rest_framework_simplejwt": "djangorestframework-simplejwt", "corsheaders": "django-cors-headers",
	"django_filters": "django-filter", "environ": "django-environ", "debug_toolbar": "django-debug-toolbar", "import_export": "django-import-export",
	"storages": "django-storages", "allauth": "django-allauth", "oauth2_provider": "django-oauth-toolkit", "crispy_forms": "django-crispy-forms",
	"taggit": "django-taggit", "mptt": "django-mptt", "django_extensions": "django-extensions", "whitenoise": "whitenoise", "drf_yasg": "drf-yasg",
	"drf_spectacular": "drf-spectacular", "dj_database_url": "dj-database-url", "channels": "channels", "celery": "celery", "asyncpg": "asyncpg",
	"aiohttp_jinja2": "aiohttp-jinja2", "aiohttp_cors": "aiohttp-cors", "aiohttp_session": "aiohttp-session", "aiopg": "aiopg", "aiofiles": "aiofiles",
}

// implied are what a service needs without importing it.
var implied = []struct {
	use  *lazyregexp.Regexp
	dist string
}{
	{lazyregexp.New(`\bEmailStr\b`), "email-validator"},
	{lazyregexp.New(`\b(?:OAuth2PasswordRequestForm|UploadFile|Form)\b|\brequest\.form\(`), "python-multipart"},
	{lazyregexp.New(`sqlite\+aiosqlite`), "aiosqlite"},
	{lazyregexp.New(`postgresql\+asyncpg`), "asyncpg"},
	{lazyregexp.New(`postgresql\+psycopg2|["']postgres(?:ql)?://|db\.backends\.postg`), "psycopg2-binary"},
	{lazyregexp.New(`postgresql\+psycopg\b`), "psycopg[binary]"},
	{lazyregexp.New(`mysql\+pymysql`), "pymysql"},
	{lazyregexp.New(`mysql\+aiomysql`), "aiomysql"},
	{lazyregexp.New(`mysql\+asyncmy`), "asyncmy"},
}

// imported are the distributions that the code imports and no line gives. Where a manifest
// names some, only those that services forget are added: what comes through others is there.
func (s *serving) imported(have []requirement, named bool) []requirement {
	given := map[string]bool{}
	for _, r := range have {
		given[distName(strings.TrimPrefix(r.line, "-c "))] = true
	}
	for a, b := range map[string]string{"psycopg2": "psycopg2-binary", "psycopg2-binary": "psycopg2", "psycopg": "psycopg2-binary"} {
		given[b] = given[b] || given[a]
	}
	standard := given["fastapi"] && slices.ContainsFunc(have, func(r requirement) bool {
		return strings.HasPrefix(strings.ToLower(r.line), "fastapi[")
	})
	var out []requirement
	add := func(dist, source string) {
		if d := distName(dist); !given[d] {
			given[d] = true
			out = append(out, requirement{dist, source})
		}
	}
	if !named {
		for _, f := range s.files {
			for _, name := range imports([]byte(f.text)) {
				if !slices.Contains(stdlib, name) && !s.holds(s.app.root, name) && !s.holds(s.dir, name) && !s.holds(folderOf(f.path), name) {
					dist := webDists[name]
					if dist == "" {
						dist = Distribution(name)
					}
					add(dist, f.path)
				}
			}
		}
	}
	for _, i := range implied {
		if standard && (i.dist == "email-validator" || i.dist == "python-multipart") {
			continue
		}
		if at, ok := s.matches(i.use); ok && (s.uvicorn() || i.dist != "python-multipart") {
			add(i.dist, at)
		}
	}
	if s.uvicorn() && !standard {
		add("uvicorn", "convention")
	}
	add(s.framework, s.app.why)
	if s.framework == flask {
		out = append(out, s.companions(have)...)
	}
	return out
}

// companions bound what an old Flask imports and an unpinned line would let go past it.
func (s *serving) companions(have []requirement) []requirement {
	var out []requirement
	pinned := map[string]string{}
	for _, r := range have {
		if v := newestOf(r.line); v != "" {
			pinned[distName(strings.TrimPrefix(r.line, "-c "))], _, _ = strings.Cut(v, ".")
		}
	}
	bound := func(dist, spec, why string) {
		if _, ok := pinned[dist]; !ok {
			out = append(out, requirement{"-c " + dist + spec, why})
		}
	}
	if old := pinned["flask-sqlalchemy"]; old == "1" || old == "2" {
		bound("sqlalchemy", "<2", "flask-sqlalchemy "+old)
	}
	if pinned["flask-jwt-extended"] == "3" {
		bound("pyjwt", "<2", "flask-jwt-extended 3")
	}
	switch pinned["flask"] {
	case "0", "1":
		bound("werkzeug", "<2.1", "flask "+pinned["flask"])
		bound("jinja2", "<3.1", "flask "+pinned["flask"])
		bound("itsdangerous", "<2.1", "flask "+pinned["flask"])
		bound("markupsafe", "<2.1", "flask "+pinned["flask"])
	case "2":
		bound("werkzeug", "<3", "flask 2")
	}
	return out
}

// unbuildable are pins whose source distribution no longer builds with what is around them,
// and what is taken in their place.
var unbuildable = []struct {
	dist   string
	before string // versions below it
	take   string // version, "" keeps it
	name   string // another distribution of the same modules
	since  string // when what is taken was there
	why    string
}{
	{"markupsafe", "1.1.0", "1.1.1", "", "2019-02-28", "it needs setuptools<46"},
	{"psycopg2", "2.7.4", "2.8.6", "psycopg2-binary", "2020-09-30", "the same modules, built"},
	{"psycopg2", "", "", "psycopg2-binary", "2020-09-30", "the same modules, built"},
	{"pyyaml", "5.4.1", "5.4.1", "", "2021-01-31", "older ones need an older Cython"},
	{"bcrypt", "3.1.7", "3.1.7", "", "2019-06-30", "older ones have no wheel"},
	{"cffi", "1.14", "1.15.1", "", "2022-07-31", "older ones have no wheel"},
	{"greenlet", "0.4.17", "0.4.17", "", "2020-09-30", "older ones have no wheel"},
}

// lateDates let a resolver of old versions see what is taken in the place of a pin.
func lateDates(day time.Time) []string {
	var out []string
	for _, u := range unbuildable {
		name := cmp.Or(u.name, u.dist)
		if pair := name + "=" + u.since; day.UTC().Format(dateOnly) < u.since && !slices.Contains(out, pair) {
			out = append(out, "--exclude-newer-package", pair)
		}
	}
	return out
}

// built replaces pins that cannot be built.
func built(all []requirement) []requirement {
	out := slices.Clone(all)
	for i, r := range out {
		head := ""
		line := r.line
		if rest, ok := strings.CutPrefix(line, "-c "); ok {
			head, line = "-c ", rest
		}
		for _, u := range unbuildable {
			if distName(line) != u.dist {
				continue
			}
			spec, marker, _ := strings.Cut(line, ";")
			x := exactPin.FindStringSubmatch(spec)
			if u.before != "" && (x == nil || !newer(u.before, x[1])) {
				continue
			}
			rest := strings.TrimPrefix(strings.TrimSpace(spec), reqName.FindString(line))
			if u.take != "" {
				rest = "==" + u.take
			}
			line = cmp.Or(u.name, u.dist) + rest
			if marker != "" {
				line += " ; " + strings.TrimSpace(marker)
			}
			out[i] = requirement{head + line, r.source + " (" + u.why + ")"}
			break
		}
	}
	return out
}

var exactPin = lazyregexp.New(`==\s*([\d.]+)`)

var (
	pinnedAt = lazyregexp.New(`[=~]=\s*v?(\d+(?:\.\d+)*)|<=\s*v?(\d+(?:\.\d+)*)`)
	upTo     = lazyregexp.New(`<\s*v?((?:\d+\.)*?)(\d+)(?:\.0+)*(?:[,\s]|$)`)
)

// newestOf is the newest version that a requirement allows, as far as a pin or an upper bound says; "" where neither does.
func newestOf(line string) string {
	spec, _, _ := strings.Cut(line, ";")
	if x := pinnedAt.FindStringSubmatch(spec); x != nil {
		return x[1] + x[2]
	}
	x := upTo.FindStringSubmatch(spec)
	if x == nil {
		return ""
	}
	n, err := strconv.Atoi(x[2])
	if err != nil || n == 0 {
		return ""
	}
	return x[1] + itoa(n-1) + ".999"
}

// eras are the last days of the year in which a version was what people installed: pins of
// then are not installed by an interpreter of today.
var eras = map[string][]struct {
	below string
	year  int
}{
	"aiohttp":  {{"3.0", 2017}, {"3.5", 2018}, {"3.7", 2020}, {"3.8", 2021}, {"3.9", 2023}, {"3.11", 2024}},
	"django":   {{"1.11", 2017}, {"2.1", 2018}, {"3.0", 2019}, {"3.2", 2020}, {"4.0", 2021}, {"4.2", 2022}, {"5.0", 2023}, {"5.2", 2024}},
	"flask":    {{"1.0", 2018}, {"1.1", 2019}, {"2.0", 2021}, {"2.2", 2022}, {"3.0", 2023}, {"3.1", 2024}},
	"fastapi":  {{"0.45", 2019}, {"0.63", 2020}, {"0.71", 2021}, {"0.89", 2022}, {"0.109", 2023}, {"0.116", 2024}},
	"pydantic": {{"1.7", 2020}, {"1.9", 2021}, {"1.10", 2022}, {"2.6", 2023}, {"2.10", 2024}},
	"uvicorn":  {{"0.12", 2020}, {"0.17", 2021}, {"0.21", 2022}, {"0.26", 2023}, {"0.35", 2024}},
	"werkzeug": {{"0.15", 2018}, {"1.0", 2019}, {"2.0", 2021}, {"2.3", 2022}, {"3.0", 2023}},
}

// eraOf is the day until which the pins of a list were current, and the day until which the first of them was: it was written before.
func eraOf(all []requirement) (last, first time.Time, ok bool) {
	day := func(year int) time.Time { return time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC) }
	for _, r := range all {
		line := strings.TrimPrefix(r.line, "-c ")
		version := newestOf(line)
		if version == "" {
			continue
		}
		for _, e := range eras[distName(line)] {
			if !newer(e.below, version) {
				continue
			}
			if d := day(e.year); !ok {
				last, first, ok = d, d, true
			} else if d.After(last) {
				last = d
			} else if d.Before(first) {
				first = d
			}
			break
		}
	}
	return last, first, ok
}
