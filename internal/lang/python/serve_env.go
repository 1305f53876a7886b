package python

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// databaseURL is a URL of a database in the code.
type databaseURL struct {
	kind, text, source string
	class              string // that it stands in
	test, production   bool
}

var (
	urlLiteral = lazyregexp.New(`["']((?:sqlite|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|mssql|oracle)(?:\+\w+)?)(?:(:/[^"'\n]*)?["'])`)
	iniURL     = lazyregexp.New(`(?m)^\s*sqlalchemy\.url\s*=\s*(\S+)`)
	asksScheme = lazyregexp.New(`startswith\(|\.replace\(|\.split\(|\bin\s+\w*(?:url|uri|dsn)\b|[=!]=\s*["']|\bre\.\w+\(`)
	baseName   = lazyregexp.New(`(?i)\b(?:database|db)_?name\s*=\s*["'](\w+)["']`)
	classLine  = lazyregexp.New(`(?m)^class\s+(\w+)`)
)

// literals are the database URLs of the code, with what the class around each is for.
func (s *serving) literals() []databaseURL {
	var out []databaseURL
	for _, f := range s.files {
		if strings.Contains(f.path, "/versions/") {
			continue
		}
		for _, x := range urlLiteral.FindAllStringSubmatchIndex(f.text, -1) {
			text := f.text[x[2]:x[3]]
			if x[4] >= 0 {
				text += f.text[x[4]:x[5]]
			} else {
				text += "://"
			}
			l := databaseURL{kind: settings.KindOf(text), text: text, source: f.line(x[0])}
			if l.kind == "" || asksScheme.MatchString(lineOfText(f.text, x[0])) || strings.HasPrefix(strings.TrimSpace(lineOfText(f.text, x[0])), "#") {
				continue
			}
			l.class = classAround(f.text, x[0])
			around := strings.ToLower(l.class + " " + lineOfText(f.text, x[0]))
			l.test = strings.Contains(around, "test")
			l.production = strings.Contains(strings.ToLower(l.class), "prod")
			out = append(out, l)
		}
		out = append(out, djangoURLs(f)...)
	}
	for _, d := range []string{s.dir, s.manifest} {
		p := path.Join(d, "alembic.ini")
		if data, err := s.p.Solution.Read(p); err == nil {
			if x := iniURL.FindSubmatch(data); x != nil && settings.KindOf(string(x[1])) != "" && !strings.Contains(string(x[1]), "driver://") {
				out = append(out, databaseURL{kind: settings.KindOf(string(x[1])), text: string(x[1]), source: p, production: true})
			}
		}
	}
	return out
}

func lineOfText(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return line
}

// classAround is the name of the class that an offset lies in.
func classAround(text string, at int) string {
	name := ""
	for _, x := range classLine.FindAllStringSubmatchIndex(text, -1) {
		if x[0] > at {
			break
		}
		name = ""
		if functionEnd(text, x[1]) > at {
			name = text[x[2]:x[3]]
		}
	}
	return name
}

// brokers gives the service the brokers and caches whose clients it imports, or whose URL it is
// given.
func (s *serving) brokers() {
	for _, kind := range settings.Brokers() {
		at, ok := "", false
		for _, b := range settings.Backends {
			if b.Kind == kind {
				at, ok = s.importer(b.Python)
			}
		}
		for _, name := range sortedKeys(s.refs) {
			if v := s.env.Values[name]; !ok && (settings.KindOf(v.Text) == kind || settings.KindOf(s.refs[name].fallback) == kind) {
				at, ok = cmp.Or(v.Source, s.refs[name].source), true
			}
		}
		if ok {
			s.service.Brokers = append(s.service.Brokers, kind)
			s.evidence("service.brokers", kind, at)
		}
	}
}

// database decides which database the service is given, or refuses one that is not here.
func (s *serving) database() error {
	s.brokers()
	all := s.literals()
	var own []databaseURL
	for _, wanted := range []func(databaseURL) bool{
		func(l databaseURL) bool { return !l.test && !l.production },
		func(l databaseURL) bool { return !l.test },
	} {
		if len(own) == 0 {
			own = filter(all, wanted)
		}
	}
	given, ok := s.asked().Database()
	has := func(kind string) (databaseURL, bool) {
		for _, l := range own {
			if l.kind == kind {
				return l, true
			}
		}
		return databaseURL{}, false
	}
	lite, hasLite := has(schemas.DatabaseSQLite)
	server := s.serverOf(own)
	named, hasServer := has(server)
	switch {
	case ok && settings.Supported(given.Kind) && given.Kind != schemas.DatabaseNone && (!hasLite || given.Kind != schemas.DatabaseMySQL || s.drives(given.Kind)):
		return s.settle(given, given.Source)
	case ok && given.Kind == schemas.DatabaseNone && (hasServer || s.drives(server)): // parts of an address
		given.Kind = server
		return s.settle(given, given.Source)
	case hasLite && (!hasServer || strings.HasPrefix(lite.class, "Dev") || s.drives("") == s.drives(server)):
		s.forget("")
		return s.settle(settings.Store{Kind: lite.kind}, lite.source)
	case hasServer:
		store := settings.StoreOf(named.text, named.source)
		if strings.ContainsAny(named.text, "{%") {
			store = settings.Store{Kind: named.kind}
		}
		return s.settle(store, named.source)
	case hasLite:
		return s.settle(settings.Store{Kind: lite.kind}, lite.source)
	}
	if ok && !settings.Supported(given.Kind) {
		return &lang.Refusal{Reason: schemas.NoDatabase, Detail: given.Kind + ", which " + given.Source + " names"}
	}
	for _, l := range own {
		if !settings.Supported(l.kind) {
			return &lang.Refusal{Reason: schemas.NoDatabase, Detail: l.kind + ", which " + l.source + " names"}
		}
	}
	return s.driven()
}

// serverOf is the database with a server that the program is written for, if for any.
func (s *serving) serverOf(own []databaseURL) string {
	for _, kind := range []string{schemas.DatabasePostgres, schemas.DatabaseMySQL} {
		if slices.ContainsFunc(own, func(l databaseURL) bool { return l.kind == kind }) {
			return kind
		}
	}
	if !s.drives(schemas.DatabasePostgres) && s.drives(schemas.DatabaseMySQL) {
		return schemas.DatabaseMySQL
	}
	return schemas.DatabasePostgres
}

func filter(in []databaseURL, keep func(databaseURL) bool) []databaseURL {
	return slices.DeleteFunc(slices.Clone(in), func(l databaseURL) bool { return !keep(l) })
}

// asked are the settings that the code asks for; those of other containers are not.
func (s *serving) asked() *settings.Settings {
	out := &settings.Settings{Values: map[string]settings.Value{}}
	for name, v := range s.env.Values {
		if s.refs.has(name) || s.refs.has(strings.ToUpper(name)) {
			out.Values[name] = v
		}
	}
	return out
}

// drives reports whether the code or its requirements hold a driver of a kind.
func (s *serving) drives(kind string) bool {
	for _, b := range settings.Backends {
		if b.Kind != kind {
			continue
		}
		if _, ok := s.importer(b.Python); ok {
			return true
		}
		for _, r := range s.recipe.Requirements {
			d := strings.ReplaceAll(strings.TrimSuffix(distName(r), "-binary"), "-", "_")
			if slices.ContainsFunc(b.Python, func(m string) bool { return strings.EqualFold(m, d) }) {
				return true
			}
		}
	}
	return false
}

// importer is the first file that imports one of these modules.
func (s *serving) importer(modules []string) (string, bool) {
	for _, f := range s.files {
		for _, name := range imports([]byte(f.text)) {
			if slices.Contains(modules, name) {
				return f.path, true
			}
		}
	}
	return "", false
}

// driven decides by the drivers where no URL says which database it is.
func (s *serving) driven() error {
	for _, b := range settings.Backends {
		at, ok := s.importer(b.Python)
		if !ok || settings.Supported(b.Kind) {
			continue
		}
		if settings.Stores(b.Kind) || s.demands(b.Kind) {
			return &lang.Refusal{Reason: schemas.NoDatabase, Detail: b.Kind + ", which " + at + " imports a client of"}
		}
	}
	_, orm := s.importer([]string{"sqlalchemy", "sqlmodel", "flask_sqlalchemy", "databases", "tortoise", "peewee", "alembic", "django"})
	switch {
	case s.drives(schemas.DatabasePostgres):
		return s.settle(settings.Store{Kind: schemas.DatabasePostgres}, "its driver")
	case s.drives(schemas.DatabaseMySQL) && orm:
		return s.settle(settings.Store{Kind: schemas.DatabaseMySQL}, "its driver")
	case orm || s.drives(schemas.DatabaseSQLite):
		return s.settle(settings.Store{Kind: schemas.DatabaseSQLite}, "convention")
	}
	s.evidence("service.database", "none", "no driver, and no URL of a database")
	return nil
}

// demands reports whether a variable with the name of a broker must be set.
func (s *serving) demands(kind string) bool {
	for name, ref := range s.refs {
		if ref.required && strings.Contains(name, strings.ToUpper(kind)) {
			return true
		}
	}
	return false
}

// forget leaves out the variables that name a database of another kind.
func (s *serving) forget(kind string) {
	for name, v := range s.env.Values {
		if k := settings.KindOf(v.Text); k != "" && k != kind && settings.Stores(k) {
			delete(s.env.Values, name)
		}
	}
}

// namedInCode is the name of the database that code puts behind a URL.
func (s *serving) namedInCode() string {
	for _, f := range s.files {
		if x := baseName.FindStringSubmatch(f.text); x != nil && !strings.Contains(x[1], "test") {
			return x[1]
		}
	}
	return ""
}

func (s *serving) settle(store settings.Store, source string) error {
	s.service.Database = store.Kind
	if settings.Serves(store.Kind) && store.Name == "" {
		store.Name = s.namedInCode()
	}
	s.store = store.Filled()
	s.evidence("service.database", store.Kind, source)
	return nil
}

var urlVariable = lazyregexp.New(`(?i)(?:^|_)(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL|SQLALCHEMY)\w*(?:URL|URI|DSN|CONN|CONNECTION|STRING)$|^(?:DATABASE|DSN)$`)

// environment gives every variable that the code asks for a value: that of the repository, or
// a harmless one where the code cannot do without.
func (s *serving) environment() {
	names := sortedKeys(s.refs)
	for name := range s.env.Values {
		if strings.HasPrefix(name, "FLASK_") && name != "FLASK_APP" && name != "FLASK_RUN_PORT" && name != "FLASK_RUN_HOST" && !s.refs.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		value, source := s.valueOf(name)
		if source == "" || settings.Reserved(name) {
			continue
		}
		s.values[name] = value
		shown := value
		if len(shown) > 120 {
			shown = shown[:120] + "…"
		}
		s.evidence("service.environment", name+"="+shown, source)
	}
	s.debug()
	s.dotenv()
}

// valueOf is the value of one variable; source is "" where it is left unset.
func (s *serving) valueOf(name string) (value, source string) {
	ref := s.refs[name]
	given, ok := s.env.Values[name]
	if !ok {
		if g, low := s.env.Values[strings.ToLower(name)]; low {
			given, ok = g, true
		}
	}
	if value, source := s.served(name, ref, given.Text, ok); source != "" {
		return value, source
	}
	if s.service.Database == schemas.DatabaseSQLite {
		if urlVariable.MatchString(name) && (strings.HasPrefix(given.Text, "sqlite:////") || !ok && ref.required) {
			scheme := "sqlite"
			if _, async := s.matches(asyncEngine); async {
				scheme = "sqlite+aiosqlite"
			}
			return scheme + ":///./service.db", ref.source
		}
	}
	switch {
	case settings.SecretKey(name) && (ok && settings.Placeholder(given.Text) || !ok && ref.fallback == "" && !ref.field):
		return settings.Made(name), "made up: " + ref.source + " asks for it"
	case ok && (given.Text != "" || !ref.required):
		return given.Text, given.Source
	case ref.required && ref.field:
		return settings.MadeFor(name, ref.typ), "made up: " + ref.source + " requires it"
	case ref.required:
		return settings.Made(name), "made up: " + ref.source + " asks for it"
	}
	return "", ""
}

// served is the value of a variable that says where a database or broker beside the service is;
// source is "" where it says nothing of one.
func (s *serving) served(name string, ref asking, given string, ok bool) (value, source string) {
	if v, kind, ok := settings.Broker(s.service.Brokers, name, given, ref.fallback); ok {
		return v, kind
	}
	kind := s.service.Database
	if !settings.Serves(kind) || settings.ForTests(name) {
		return "", ""
	}
	role := settings.Role(name)
	if s.env.HostOf(name, given) {
		role = "host"
	}
	switch {
	case settings.KindOf(given) == kind:
		return s.store.Fit(given), cmp.Or(s.env.Values[name].Source, s.env.Values[strings.ToLower(name)].Source)
	case role != "" && settings.KindOf(ref.fallback) == "":
		return s.store.Part(role, given, ref.fallback), "the database"
	case urlVariable.MatchString(name) && (ref.required || ok && given == "" || settings.KindOf(ref.fallback) == kind):
		if settings.KindOf(ref.fallback) == kind && !strings.ContainsAny(ref.fallback, "{%") {
			return s.store.Fit(ref.fallback), ref.source
		}
		return s.store.URL(s.scheme()), ref.source
	}
	return "", ""
}

var (
	asyncEngine = lazyregexp.New(`\bcreate_async_engine\b|\basyncpg\b|\baiosqlite\b`)
	debugFlag   = lazyregexp.New(`\bget_debug_flag\b|\bFLASK_DEBUG\b`)
)

// scheme is the scheme of the URLs that the code reads.
func (s *serving) scheme() string {
	if s.service.Database == schemas.DatabaseMySQL {
		return s.mysqlScheme()
	}
	if _, ok := s.importer([]string{"databases", "asyncpg", "tortoise", "aiopg"}); ok {
		if _, engine := s.matches(asyncEngineOnly); !engine {
			return "postgresql"
		}
	}
	for _, r := range s.recipe.Requirements {
		if distName(r) == "asyncpg" {
			if _, ok := s.matches(asyncEngineOnly); ok {
				return "postgresql+asyncpg"
			}
		}
	}
	return "postgresql"
}

// mysqlScheme names the driver that the code or its requirements have.
func (s *serving) mysqlScheme() string {
	drivers := []string{"pymysql", "mysqldb", "mysqlconnector"}
	if _, ok := s.matches(asyncEngineOnly); ok {
		drivers = []string{"aiomysql", "asyncmy"}
	}
	for _, d := range drivers {
		module := cmp.Or(map[string]string{"mysqldb": "mysqlclient", "mysqlconnector": "mysql-connector-python"}[d], d)
		if slices.ContainsFunc(s.recipe.Requirements, func(r string) bool { return distName(r) == module }) {
			return "mysql+" + d
		}
	}
	return "mysql+" + drivers[0]
}

var asyncEngineOnly = lazyregexp.New(`\b(?:create_async_engine|AsyncEngine)\b`)

// debug sets the switch by which a Flask program chooses its settings for development: its
// settings for production ask for what only its owner has.
func (s *serving) debug() {
	if _, set := s.values["FLASK_DEBUG"]; set || s.framework != flask {
		return
	}
	if at, ok := s.matches(debugFlag); ok {
		s.values["FLASK_DEBUG"] = "1"
		s.evidence("service.environment", "FLASK_DEBUG=1", at)
	}
}

var opensDotenv = lazyregexp.New(`["'][\w./]*\.env["']|load_dotenv|dotenv_values`)

// dotenv writes the .env that people copy from the example.
func (s *serving) dotenv() {
	if s.env.Example == "" || s.env.Own {
		return
	}
	if at, ok := s.matches(opensDotenv); ok {
		s.service.Files = map[string]string{path.Join(s.dir, ".env"): s.env.Dotenv(s.values)}
		s.evidence("service.files", path.Join(s.dir, ".env")+" from "+s.env.Example, at)
	}
}
