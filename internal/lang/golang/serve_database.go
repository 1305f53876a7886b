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
	var kinds []string
	for _, b := range settings.Backends {
		if drivers[b.Kind] != "" && settings.Stores(b.Kind) && settings.Supported(b.Kind) {
			kinds = append(kinds, b.Kind)
		}
	}
	switch {
	case len(kinds) > 1:
		s.choose(kinds, given, has, literals)
	case len(kinds) == 1 && kinds[0] == settings.SQLiteName:
		s.settle(settings.Store{Kind: settings.SQLiteName}, drivers[settings.SQLiteName])
	case len(kinds) == 1:
		s.server(kinds[0], given, has, literals, drivers[kinds[0]])
	}
	if len(kinds) > 0 {
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

// choose decides between the databases that the program can use: by its settings, then by what
// its code names.
func (s *serving) choose(kinds []string, given settings.Store, has bool, literals []settings.Value) {
	for name, v := range s.env.Values {
		if !settings.DriverName(name) {
			continue
		}
		for _, kind := range kinds {
			switch {
			case !strings.Contains(strings.ToLower(v.Text), kind):
			case kind == settings.SQLiteName:
				s.settle(settings.Store{Kind: kind}, v.Source)
				return
			default:
				s.server(kind, given, has, literals, v.Source)
				return
			}
		}
	}
	if !has {
		for _, l := range literals {
			if settings.KindOf(l.Text) == settings.SQLiteName && slices.Contains(kinds, settings.SQLiteName) {
				s.settle(settings.Store{Kind: settings.SQLiteName}, l.Source)
				return
			}
		}
	}
	if given.Kind == settings.SQLiteName {
		s.settle(given, given.Source)
		return
	}
	kind := given.Kind
	if !slices.Contains(kinds, kind) {
		kind = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == settings.SQLiteName })[0]
		for _, l := range slices.Backward(literals) {
			if k := settings.KindOf(l.Text); !has && slices.Contains(kinds, k) {
				kind = k
			}
		}
	}
	s.server(kind, given, has, literals, "its driver")
}

// server settles on a database with a server, with the words of the settings, of a configuration
// file or of the code.
func (s *serving) server(kind string, given settings.Store, has bool, literals []settings.Value, source string) {
	if has {
		given.Kind = kind
		s.settle(given, given.Source)
		return
	}
	for _, l := range literals {
		if settings.KindOf(l.Text) == kind && !strings.Contains(l.Text, "%") {
			s.settle(settings.StoreOf(l.Text, l.Source), l.Source)
			return
		}
	}
	s.settle(settings.Store{Kind: kind}, source)
}

var pings = lazyregexp.New(`\.Ping\(|\bDial(?:Config|Context|URL)?\(`)

// brokers gives the service the brokers and caches whose clients it imports, and refuses one that
// asks another at its start.
func (s *serving) brokers(drivers map[string]string, files []*goFile) error {
	for _, b := range settings.Backends {
		if drivers[b.Kind] == "" || settings.Stores(b.Kind) {
			continue
		}
		if settings.Supported(b.Kind) {
			s.service.Brokers = append(s.service.Brokers, b.Kind)
			s.evidence("service.brokers", b.Kind, drivers[b.Kind])
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
	s.store = store.Filled()
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
