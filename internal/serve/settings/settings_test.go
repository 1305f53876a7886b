package settings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/internal/tree"
)

func treeOf(t *testing.T, archive string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for _, f := range txtar.Parse([]byte(archive)).Files {
		entries = append(entries, tree.Entry{Path: f.Name, Mode: "100644", Data: f.Data})
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The first source that names a variable decides: .env, examples, compose files, Dockerfiles,
// readmes; the service's folder before the root.
func TestRead(t *testing.T) {
	t.Parallel()
	tr := treeOf(t, `
-- .env --
export ONE="first" # said
TWO='a # b'
PATH=/evil
LD_PRELOAD=/evil
MISSING=${NOWHERE}
JOINED=${ONE}-${OTHER:-else}
-- backend/.env.example --
ONE=of the folder
THREE=3
-- backend/.env_rename_me --
THREE=late
TEN=10
-- backend/.env.prod --
TEN=of production
-- docker-compose.yml --
version: "3"
services:
  store:
    image: postgres:15
    environment:
      POSTGRES_USER: boss
      FOUR: of the database
  web:
    build: .
    command: ["gunicorn", "app:app"]
    environment:
      - FOUR=4
      - "FIVE=5"
volumes:
  data:
    FOUR: no
-- backend/Dockerfile --
FROM x
ENV SIX=6 \
    SEVEN=7
ENV EIGHT 8
CMD ["./main", "serve"]
-- README.md --
    export NINE='9'
    export ONE=late
`)
	s := settings.Read(tr, "backend")
	got := map[string]string{}
	for name, v := range s.Values {
		got[name] = v.Text + " | " + v.Source
	}
	want := map[string]string{
		"ONE": "first | .env:1", "TWO": "a # b | .env:2", "JOINED": "first-else | .env:6", "THREE": "3 | backend/.env.example:2",
		"FOUR": "4 | docker-compose.yml:12", "FIVE": "5 | docker-compose.yml:13", "POSTGRES_USER": "boss | docker-compose.yml:6",
		"SIX": "6 | backend/Dockerfile:2", "SEVEN": "7 | backend/Dockerfile:2", "EIGHT": "8 | backend/Dockerfile:4", "NINE": "9 | README.md:1",
		"TEN": "10 | backend/.env_rename_me:2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Hosts["store"] != settings.PostgresName || s.Example != "backend/.env.example" {
		t.Errorf("hosts %v, example %q", s.Hosts, s.Example)
	}
	var commands []string
	for _, c := range s.Commands {
		commands = append(commands, c.Text)
	}
	if diff := cmp.Diff([]string{"gunicorn app:app", "./main serve"}, commands); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	s := settings.Store{Kind: settings.PostgresName, User: "u", Password: "p", Name: "n", Port: 5432}
	for value, want := range map[string]string{
		"postgres://boss:word@db:5555/shop?sslmode=require":                  "postgres://boss:p@127.0.0.1:5432/shop?sslmode=disable",
		"postgresql+asyncpg://boss:word@db/shop":                             "postgresql+asyncpg://boss:p@127.0.0.1:5432/shop",
		"postgresql://localhost":                                             "postgresql://u:p@127.0.0.1:5432/n",
		"host=db user=boss password=word dbname=shop port=9 sslmode=require": "host=127.0.0.1 user=boss password=p dbname=shop port=5432 sslmode=disable",
		"sqlite:///a.db":     "sqlite:///a.db",
		"redis://redis:6379": "redis://redis:6379",
		"postgres://%zz@x/y": "postgres://u:p@127.0.0.1:5432/n",
	} {
		if got := s.Fit(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"mysql+pymysql://a@b/c": settings.MySQLName, "root:root@tcp(db:3306)/shop": settings.MySQLName, "%s:%s@tcp(%s)/%s": settings.MySQLName, "mongodb+srv://a/b": "MongoDB", "sqlite:///a.db": settings.SQLiteName,
		"./data/shop.db": settings.SQLiteName, "postgres://a/b": settings.PostgresName, "amqp://a": "RabbitMQ", "http://a/b": "", "postgres": "", "": "", "user=a": "",
	} {
		if got := settings.KindOf(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"POSTGRES_SERVER": "host", "DB_HOST": "host", "PGHOST": "host", "DATABASE_PORT": "port", "DB_USER": "user", "POSTGRES_PASSWORD": "password",
		"POSTGRES_DB": "name", "DB_NAME": "name", "DB_SSLMODE": "ssl", "REDIS_DB": "", "TEST_DB_NAME": "", "SMTP_HOST": "", "PORT": "", "DB_DSN": "",
	} {
		if got := settings.Role(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	got, ok := settings.Login(map[string]string{"FIRST_SUPERUSER": "a@b.c", "FIRST_SUPERUSER_PASSWORD": "w", "ADMIN_NAME": "x", "DB_USER": "u", "DB_PASSWORD": "p"})
	if !ok || got.User != "a@b.c" || got.Password != "w" {
		t.Errorf("got %v, %t", got, ok)
	}
	if _, ok := settings.Login(map[string]string{"DB_USER": "u", "DB_PASSWORD": "p", "ADMIN_EMAIL": "a"}); ok {
		t.Error("a database's user is not a login")
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	s := settings.Store{Port: 5432, Name: "n"}
	c, at, ok := s.Extensions(treeOf(t, "-- a/1.py --\nuuid_generate_v4()\n-- b.sql --\nx CITEXT\n-- c.sql --\nCREATE EXTENSION citext;\n"))
	if !ok || at != "a/1.py" || c.Argv[len(c.Argv)-1] != "uuid-ossp" || c.Argv[len(c.Argv)-2] != "n" {
		t.Errorf("got %v %q %t", c.Argv, at, ok)
	}
}

func TestFitServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, value, want string }{
		{settings.MySQLName, "mysql+pymysql://boss:word@db:5555/shop?charset=utf8mb4", "mysql+pymysql://boss:service@127.0.0.1:3306/shop?charset=utf8mb4"},
		{settings.MySQLName, "boss:word@tcp(db:5555)/shop?parseTime=true", "boss:service@tcp(127.0.0.1:3306)/shop?parseTime=true"},
		{settings.MySQLName, "mysql://boss:word@tcp(db)/", "mysql://boss:service@tcp(127.0.0.1:3306)/service"},
		{settings.MySQLName, "postgres://boss:word@db/shop", "postgres://boss:word@db/shop"},
		{settings.RedisName, "redis://cache", "redis://127.0.0.1:6379/0"},
		{settings.RedisName, "rediss://default:w/rd@cache:7000/3?db=4", "redis://127.0.0.1:6379/3?db=4"},
	} {
		if got := (settings.Store{Kind: c.kind}).Filled().Fit(c.value); got != c.want {
			t.Errorf("%q: got %q, want %q", c.value, got, c.want)
		}
	}
	for value, want := range map[string]settings.Store{
		"boss:word@tcp(127.0.0.1:5555)/shop?x": {Kind: settings.MySQLName, User: "boss", Password: "word", Name: "shop", Port: 5555},
		"%s:%s@tcp(%s)/%s":                     {Kind: settings.MySQLName},
		"mysql://boss:word@db:5555/shop":       {Kind: settings.MySQLName, User: "boss", Password: "word", Name: "shop"},
	} {
		if diff := cmp.Diff(want, settings.StoreOf(value, "")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

func TestBroker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, given, want string }{
		{"REDIS_URL", "", "redis://127.0.0.1:6379/0"}, {"REDIS_URL", "cache:7000", "127.0.0.1:6379"}, {"BROKER", "redis://:w@cache:7000/1", "redis://127.0.0.1:6379/1"},
		{"REDIS_HOST", "cache", "127.0.0.1"}, {"REDIS_HOST", "cache:6379", "127.0.0.1:6379"}, {"REDIS_ADDR", "", "127.0.0.1:6379"}, {"redis_port", "7000", "6379"},
		{"REDIS_DB", "3", "3"}, {"REDIS_DB", "", "0"}, {"REDIS_PASSWORD", "word", ""}, {"REDIS_TTL", "60", "none"}, {"DB_HOST", "db", "none"}, {"REDIS_SENTINEL_HOST", "x", "none"},
	} {
		got, kind, ok := settings.Broker([]string{settings.RedisName}, c.name, "", c.given)
		if !ok {
			got = "none"
		}
		if got != c.want || ok != (kind == settings.RedisName) {
			t.Errorf("%s=%s: got %q of %q", c.name, c.given, got, kind)
		}
		if _, _, ok := settings.Broker(nil, c.name, c.given); ok {
			t.Errorf("%s: a service without a broker gets one", c.name)
		}
	}
}

// Our database and our requests are plain.
func TestGivenPlain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"SSL": "FALSE", "DB_TLS_ENABLED": "FALSE", "HTTPS": "FALSE", "SSL_REDIRECT": "TRUE", "TLSA": "TRUE"} {
		s := &settings.Settings{Values: map[string]settings.Value{name: {Text: "TRUE"}}}
		if got := s.Given(settings.Servers{})[name].Text; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A request of ours has the host 127.0.0.1.
func TestGivenHosts(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"localhost": "*", `["localhost", "app.example.com"]`: `["*"]`, "localhost,127.0.0.1": "localhost,127.0.0.1", "*": "*",
	} {
		s := &settings.Settings{Values: map[string]settings.Value{"DJANGO_ALLOWED_HOSTS": {Text: given}, "HOSTS": {Text: given}}}
		got := s.Given(settings.Servers{})
		if got["DJANGO_ALLOWED_HOSTS"].Text != want || got["HOSTS"].Text != given {
			t.Errorf("%s: got %v", given, got)
		}
	}
}
