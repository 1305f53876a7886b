package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// literals are the strings of the program that name a database.
func (s *serving) literals() []settings.Value {
	var out []settings.Value
	for _, f := range s.code.of(s.main.reaches) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok && strings.Contains(strings.ToLower(fn.Name.Name), "test") {
				return false
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if name, on := calleeOf(call); on == "strings" || on == "flag" || strings.HasPrefix(name, "Register") {
					return on == "flag"
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok {
				return true
			}
			text, ok := stringOf(lit)
			if !ok || len(text) > 512 {
				return true
			}
			if settings.KindOf(text) != "" {
				out = append(out, settings.Value{Text: text, Source: f.line(lit.Pos())})
				if settings.KindOf(text) == settings.SQLiteName && strings.Contains(text, "../") && !s.code.above {
					s.code.above, s.code.aboveAt = true, f.line(lit.Pos())
				}
			}
			return true
		})
	}
	return out
}

// database decides which database the program is given, by the drivers that it imports.
func (s *serving) database() error {
	files := s.code.of(s.main.reaches)
	drivers := map[string]string{}
	for _, b := range settings.Backends {
		if f, ok := importer(files, b.Go); ok {
			drivers[b.Kind] = f.path
		}
	}
	if !slices.ContainsFunc(settings.Backends, func(b settings.Backend) bool { return drivers[b.Kind] != "" && settings.Stores(b.Kind) }) {
		s.brought(files, drivers)
	}
	literals := s.literals()
	given, has := s.ofProgram(files).Database()
	_, lite := drivers[settings.SQLiteName]
	_, post := drivers[settings.PostgresName]
	switch {
	case post && lite:
		s.choose(given, has, literals)
	case post:
		s.postgres(given, has, literals, drivers[settings.PostgresName])
	case lite:
		s.settle(settings.Store{Kind: settings.SQLiteName}, drivers[settings.SQLiteName])
	}
	if post || lite {
		return s.brokers(drivers, files)
	}
	for _, b := range settings.Backends {
		if at := drivers[b.Kind]; at != "" && settings.Stores(b.Kind) {
			return &lang.Refusal{Reason: schemas.NoDatabase, Detail: b.Kind + ", whose client " + at + " imports"}
		}
	}
	if err := s.brokers(drivers, files); err != nil {
		return err
	}
	s.evidence("service.database", "none", "no driver is imported")
	return nil
}

// ofProgram are the settings whose name the program has, in any case.
func (s *serving) ofProgram(files []*goFile) *settings.Settings {
	out := &settings.Settings{Values: map[string]settings.Value{}}
	for name, v := range s.env.Values {
		if slices.ContainsFunc(files, func(f *goFile) bool {
			return strings.Contains(f.text, name) || strings.Contains(f.text, strings.ToLower(name))
		}) {
			out.Values[name] = v
		}
	}
	return out
}

// choose decides between SQLite and PostgreSQL where the program can do both: by its settings,
// then by what its code names.
func (s *serving) choose(given settings.Store, has bool, literals []settings.Value) {
	for name, v := range s.env.Values {
		if settings.DriverName(name) && strings.Contains(strings.ToLower(v.Text), "sqlite") {
			s.settle(settings.Store{Kind: settings.SQLiteName}, v.Source)
			return
		}
	}
	if !has {
		for _, l := range literals {
			if settings.KindOf(l.Text) == settings.SQLiteName {
				s.settle(settings.Store{Kind: settings.SQLiteName}, l.Source)
				return
			}
		}
	}
	if given.Kind == settings.SQLiteName {
		s.settle(given, given.Source)
		return
	}
	s.postgres(given, has, literals, "its driver")
}

// postgres settles on PostgreSQL with the words of the settings, of a configuration file or of
// the code.
func (s *serving) postgres(given settings.Store, has bool, literals []settings.Value, source string) {
	if has {
		given.Kind = settings.PostgresName
		s.settle(given, given.Source)
		return
	}
	for _, l := range literals {
		if settings.KindOf(l.Text) == settings.PostgresName && !strings.Contains(l.Text, "%") {
			s.settle(settings.StoreOf(l.Text, l.Source), l.Source)
			return
		}
	}
	s.settle(settings.Store{Kind: settings.PostgresName}, source)
}

var pings = lazyregexp.New(`\.Ping\(|\bDial(?:Config|Context|URL)?\(`)

// brokers refuses a service that asks a broker or a cache at its start.
func (s *serving) brokers(drivers map[string]string, files []*goFile) error {
	for _, b := range settings.Backends {
		if drivers[b.Kind] == "" || settings.Supported(b.Kind) || settings.Stores(b.Kind) {
			continue
		}
		for _, f := range files {
			if _, ok := importer([]*goFile{f}, b.Go); ok && pings.MatchString(f.text) {
				return &lang.Refusal{Reason: schemas.NoDatabase, Detail: b.Kind + ", which " + f.path + " connects to"}
			}
		}
	}
	return nil
}

func (s *serving) settle(store settings.Store, source string) {
	s.service.Database = store.Kind
	if store.Kind == settings.PostgresName {
		store = store.Filled()
	}
	s.store = store
	s.evidence("service.database", store.Kind, source)
}

// askers are the packages by which a program asks a database whose driver it need not import.
var askers = []string{"database/sql", "github.com/jmoiron/sqlx", "gorm.io/gorm", "github.com/jinzhu/gorm", "github.com/uptrace/bun", "entgo.io/ent", "xorm.io/xorm"}

// brought adds the databases whose driver another module brings: the program asks a database, and
// its module requires the driver for a package that it imports.
func (s *serving) brought(files []*goFile, drivers map[string]string) {
	asks, ok := importer(files, askers)
	if !ok || s.module.File == nil {
		return
	}
	for _, b := range settings.Backends {
		if !settings.Stores(b.Kind) || drivers[b.Kind] != "" {
			continue
		}
		for _, r := range s.module.File.Require {
			if r.Indirect && slices.ContainsFunc(b.Go, func(p string) bool { return r.Mod.Path == p || strings.HasPrefix(r.Mod.Path, p+"/") }) {
				drivers[b.Kind] = asks.path
			}
		}
	}
}
