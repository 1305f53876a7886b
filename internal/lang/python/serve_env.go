package python

import (
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
		asked := s.asked().Values
		for _, name := range sortedKeys(asked) {
			if !ok && settings.KindOf(asked[name].Text) == kind {
				at, ok = asked[name].Source, true
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

// asked are the settings whose name the program has; those of other containers are not.
func (s *serving) asked() *settings.Settings {
	out := &settings.Settings{Values: map[string]settings.Value{}}
	for name, v := range s.env.Values {
		if s.names(name) {
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
		if settings.Stores(b.Kind) {
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

// environment gives the service what the repository gives it. What it lacks then its first start tells.
func (s *serving) environment() {
	given := s.env.Given(settings.Servers{Store: s.store, Brokers: s.service.Brokers})
	for _, name := range sortedKeys(given) {
		s.values[name] = given[name].Text
		shown := given[name].Text
		if len(shown) > 120 {
			shown = shown[:120] + "…"
		}
		s.evidence("service.environment", name+"="+shown, given[name].Source)
	}
	s.debug()
}

var debugFlag = lazyregexp.New(`\bget_debug_flag\b|\bFLASK_DEBUG\b`)

// DatabaseURL implements lang.Server: SQLAlchemy is told its driver, where a recipe installs one for asyncio.
func (Language) DatabaseURL(r schemas.Recipe) string {
	has := func(dist string) bool {
		return slices.ContainsFunc(r.Requirements, func(line string) bool { return distName(line) == dist })
	}
	alchemy := has("sqlalchemy") && !has("databases")
	scheme := schemes[r.Service.Database]
	for _, d := range drivers {
		if d.kind == r.Service.Database && has(d.dist) && (alchemy || d.always) {
			scheme += "+" + d.name
			break
		}
	}
	if r.Service.Database == schemas.DatabaseSQLite {
		return scheme + ":///./service.db"
	}
	return settings.Of(*r.Service).Store.URL(scheme)
}

// schemes are those of the URLs of databases.
var schemes = map[string]string{schemas.DatabaseSQLite: "sqlite", schemas.DatabasePostgres: "postgresql", schemas.DatabaseMySQL: "mysql"}

// drivers are what a URL is told behind its scheme, where a recipe installs it: those for asyncio, and all of MySQL, whose first one is not
// the one that is mostly installed.
var drivers = []struct {
	kind, dist, name string
	always           bool // whether SQLAlchemy asks or not
}{
	{schemas.DatabasePostgres, "asyncpg", "asyncpg", false},
	{schemas.DatabaseSQLite, "aiosqlite", "aiosqlite", false},
	{schemas.DatabaseMySQL, "aiomysql", "aiomysql", true},
	{schemas.DatabaseMySQL, "asyncmy", "asyncmy", true},
	{schemas.DatabaseMySQL, "pymysql", "pymysql", true},
	{schemas.DatabaseMySQL, "mysqlclient", "mysqldb", true},
	{schemas.DatabaseMySQL, "mysql-connector-python", "mysqlconnector", true},
}

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
