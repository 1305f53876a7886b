package golang

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

var (
	autoMigrate = lazyregexp.New(`\.AutoMigrate\(|\bCREATE TABLE\b|\bcreate table\b|\.CreateTables?\(|\.NewCreateTable\(`)
	migrateLibs = []string{"github.com/golang-migrate/migrate", "github.com/pressly/goose", "github.com/rubenv/sql-migrate", "github.com/uptrace/bun/migrate", "github.com/go-gormigrate/gormigrate", "github.com/mattes/migrate", "github.com/jackc/tern", "github.com/lopezator/migrator", "github.com/amacneil/dbmate", "ariga.io/atlas"}
	migrateName = lazyregexp.New(`(?i)^(?:db[-_:]?)?migrat(?:e|ions?)(?:[-_:](?:up|db))?$`)
	seedCommand = lazyregexp.New(`(?i)^(?:db[-_:]?)?seed(?:er|s)?$`)
	takesWords  = lazyregexp.New(`\bos\.Args\b|\bflag\.(?:Arg|Parse)\b`)
)

func (s *serving) first(source string, argv ...string) {
	s.service.Prepare = append(s.service.Prepare, schemas.Command{Argv: argv})
	shown := slices.Clone(argv)
	if len(shown) > 3 && shown[0] == "bash" {
		shown = append([]string{"sql"}, shown[4:]...)
	}
	s.evidence("service.prepare", strings.ReplaceAll(strings.Join(shown, " "), builtPrograms+"/", ""), source)
}

// prepare makes the tables where the program does not do so itself when it starts: by its
// sub-command, by a program of its own, or by the files of SQL.
func (s *serving) prepare() {
	s.sqlitePlaces()
	if s.service.Database == schemas.DatabaseNone {
		return
	}
	if c, at, ok := s.store.Extensions(s.p.Solution); ok && s.service.Database == settings.PostgresName {
		s.service.Prepare = append(s.service.Prepare, c)
		s.evidence("service.prepare", strings.Join(c.Argv[3:], " "), at)
	}
	made := len(s.service.Prepare)
	for _, c := range s.subcommands() {
		if migrateName.MatchString(c.name) {
			s.first(c.at, server, c.name)
		}
	}
	for _, c := range s.subcommands() {
		if seedCommand.MatchString(c.name) && len(s.service.Prepare) > made {
			s.first(c.at, server, c.name)
		}
	}
	if len(s.service.Prepare) > made || s.migratesItself() {
		return
	}
	for _, m := range s.mains {
		if i, ok := s.l.index(m.dir); m.dir == s.main.dir || !ok || s.l.modules[i].Dir != s.module.Dir || !strings.Contains(strings.ToLower(path.Base(m.dir)), "migrat") {
			continue
		}
		if slices.ContainsFunc(s.code.byDir[m.dir], func(f *goFile) bool { return takesWords.MatchString(f.text) }) {
			continue
		}
		to := builtPrograms + "/migrate"
		s.compile(m, to)
		s.first(m.at, to)
		return
	}
	if settings.Serves(s.service.Database) {
		s.sql()
	}
}

// migratesItself reports whether the code of the server makes its tables.
func (s *serving) migratesItself() bool {
	files := s.code.of(s.main.reaches)
	if _, ok := importer(files, migrateLibs); ok {
		return true
	}
	return slices.ContainsFunc(files, func(f *goFile) bool { return autoMigrate.MatchString(f.text) })
}

var (
	sqlFolder = lazyregexp.New(`(?i)(?:^|/)(?:migrations?|migrate|schemas?|sql|db|database|initdb|init|docker-entrypoint-initdb\.d)(?:/|$)`)
	sqlDown   = lazyregexp.New(`(?i)(?:\.down\.sql|_down\.sql|\.undo\.sql|rollback\.sql|drop\w*\.sql)$|(?:^|/)(?:quer(?:y|ies)|sqlc|test\w*|seeds?|fixtures?|sqlite\w*|down)/`)
	// sqlOf are the folders of files for one database.
	sqlOf = map[string]*lazyregexp.Regexp{
		settings.MySQLName:    lazyregexp.New(`(?i)(?:^|/)(?:mysql|mariadb)/`),
		settings.PostgresName: lazyregexp.New(`(?i)(?:^|/)(?:postgres\w*|pg|pgsql|psql)/`),
	}
	leading = lazyregexp.New(`^(?:V)?(\d+)`)
)

// applySQL applies files of migrations in order. Of those that hold both directions the way up is
// taken: goose, sql-migrate and dbmate mark where the way down begins. What a dump says of its own database and of the roles of
// its machine is left out: ours has another name and one role.
const applySQL = `set -eu
for file in "$@"; do
  awk '/^--[[:space:]]*(\+goose|\+migrate)[[:space:]]+Down|^--[[:space:]]*migrate:down|^---- create above/ {exit}
    left {left = !/;[[:space:]]*$/; next}
    tolower($0) ~ /^\\c(onnect)?[[:space:]]|^use[[:space:]]+[^[:space:]]+;/ {next}
    tolower($0) ~ /^((create|drop|alter|comment on)[[:space:]]+database|grant|revoke)[[:space:]]|^alter .* owner to / {left = !/;[[:space:]]*$/; next}
    {print}' "$file"
  printf '\n;\n'
done | %s >/dev/null`

// otherSQL reports whether a file of SQL is for another database than the service's.
func (s *serving) otherSQL(p string) bool {
	for kind, folder := range sqlOf {
		if kind != s.service.Database && folder.MatchString(p) {
			return true
		}
	}
	return sqlDown.MatchString(p)
}

// sql applies the SQL files of the folder that holds the schema.
func (s *serving) sql() {
	byDir := map[string][]string{}
	for _, p := range s.p.Solution.Paths() {
		if !strings.HasSuffix(p, ".sql") || s.otherSQL(p) || !sqlFolder.MatchString(p) || s.module.Dir != "" && !strings.HasPrefix(p, s.module.Dir+"/") {
			continue
		}
		if data, err := s.p.Solution.Read(p); err == nil && len(data) < 4<<20 && strings.Contains(strings.ToLower(string(data)), "create table") {
			byDir[dirOf(p)] = nil
		}
	}
	best := ""
	for d := range byDir {
		for _, p := range s.p.Solution.Paths() {
			if dirOf(p) == d && strings.HasSuffix(p, ".sql") && !s.otherSQL(p) {
				byDir[d] = append(byDir[d], p)
			}
		}
		if best == "" || len(byDir[d]) > len(byDir[best]) || len(byDir[d]) == len(byDir[best]) && d < best {
			best = d
		}
	}
	if best == "" {
		return
	}
	files := byDir[best]
	sort.Slice(files, func(i, j int) bool {
		a, b := fileNumber(files[i]), fileNumber(files[j])
		return a < b || a == b && files[i] < files[j]
	})
	for i := range files {
		files[i] = strings.TrimPrefix(strings.TrimPrefix(files[i], s.module.Dir), "/")
	}
	client := serve.Client(s.service, strconv.Itoa(s.store.Port), shellWord(s.store.User), shellWord(s.store.Password), shellWord(s.store.Name))
	s.first(best, append([]string{"bash", "-c", fmt.Sprintf(applySQL, client), "sql"}, files...)...)
}

func fileNumber(p string) int {
	x := leading.FindStringSubmatch(path.Base(p))
	if x == nil {
		return 0
	}
	n, _ := strconv.Atoi(x[1]) // 0: none
	return n
}

func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

var sqlitePath = lazyregexp.New(`^(?:file:|sqlite3?://)?(\./)?([\w-][\w.-]*(?:/[\w.-]+)*\.(?:db|sqlite3?|db3))`)

// sqlitePlaces makes the folder of a database file, where the tree has none.
func (s *serving) sqlitePlaces() {
	if s.service.Database != settings.SQLiteName {
		return
	}
	texts := s.literals()
	for name, v := range s.values {
		texts = append(texts, settings.Value{Text: v, Source: name})
	}
	for _, v := range texts {
		x := sqlitePath.FindStringSubmatch(v.Text)
		if x == nil || path.Dir(x[2]) == "." {
			continue
		}
		dir := path.Dir(x[2])
		if !slices.ContainsFunc(s.p.Solution.Paths(), func(p string) bool { return strings.HasPrefix(p, path.Join(s.module.Dir, dir)+"/") }) {
			s.first(v.Source, "mkdir", "-p", dir)
			return
		}
	}
}
