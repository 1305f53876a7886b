package survey

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// TestDialled: the next start has what the first one dialled, and what it has already is no reason for another.
func TestDialled(t *testing.T) {
	t.Parallel()
	recipe := func(database string) schemas.Recipe {
		s := schemas.Service{
			Database: database, Prepare: []schemas.Command{{Argv: []string{"migrate"}}},
			Start: schemas.Command{Argv: []string{"serve"}, Env: map[string]string{
				"DB_NAME": "shop", "DB_HOST": "store:3306", "DSN": "boss:word@tcp(store:3306)/shop", "HOST": "store", "CACHE": "redis://:word@cache:6379/2", "REDIS_PASSWORD": "word",
			}},
		}
		return schemas.Recipe{Language: "go", SystemPackages: []string{"make"}, Service: &s, Build: append([]schemas.Command{{Argv: []string{"build"}}}, serve.Prepare(s)...)}
	}
	dial := func(addr string) look.Fact {
		return look.Fact{Fact: "dial", Addr: addr, At: "/testbed/store.go:9"}
	}
	for _, c := range []struct {
		name, database, addr string
		want                 map[string]string
		wantDatabase         string
		brokers, packages    []string
	}{
		{"mysql", "", "store:3306", map[string]string{"DB_NAME": "shop", "DB_HOST": "127.0.0.1:3306", "DSN": "boss:service@tcp(127.0.0.1:3306)/shop", "HOST": "127.0.0.1"}, "mysql", nil, []string{"make", "mariadb-client-core", "mariadb-server-core"}},
		{"in_place_of_a_file", "sqlite", "127.0.0.1:3306", map[string]string{"DB_NAME": "shop", "DB_HOST": "127.0.0.1:3306", "DSN": "boss:service@tcp(127.0.0.1:3306)/shop"}, "mysql", nil, []string{"make", "mariadb-client-core", "mariadb-server-core"}},
		{"redis", "postgres", "[::1]:6379", map[string]string{"CACHE": "redis://127.0.0.1:6379/2", "REDIS_PASSWORD": ""}, "postgres", []string{"redis"}, []string{"make", "postgresql", "redis-server", "redis-tools"}},
		{"has_another", "postgres", "store:3306", nil, "postgres", nil, []string{"make"}},
		{"has_it", "mysql", "store:3306", nil, "mysql", nil, []string{"make"}},
		{"no_database", "", "store:9999", nil, "", nil, []string{"make"}},
		{"no_port", "", "store", nil, "", nil, []string{"make"}},
	} {
		was := recipe(c.database)
		got, found := dialled(was, []look.Fact{dial(c.addr)})
		if found != (c.want != nil) || found == (len(got.Evidence) == 0) {
			t.Errorf("%s: found %t, evidence %v", c.name, found, got.Evidence)
		}
		env := recipe("").Service.Start.Env
		for name, v := range c.want {
			env[name] = v
		}
		for _, command := range []schemas.Command{got.Service.Start} {
			if diff := cmp.Diff(env, command.Env); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
		if got.Service.Database != c.wantDatabase || !slices.Equal(got.Service.Brokers, c.brokers) || !slices.Equal(got.SystemPackages, c.packages) {
			t.Errorf("%s: %q %v %v", c.name, got.Service.Database, got.Service.Brokers, got.SystemPackages)
		}
		if diff := cmp.Diff(append([]schemas.Command{{Argv: []string{"build"}}}, serve.Prepare(*got.Service)...), got.Build); diff != "" {
			t.Errorf("%s: it is built otherwise than it is prepared (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(recipe(c.database), was); diff != "" {
			t.Errorf("%s changed what it was given:\n%s", c.name, diff)
		}
	}
}

// TestCalledFor: the next start has the database and the user that a log misses.
func TestCalledFor(t *testing.T) {
	t.Parallel()
	s := schemas.Service{Database: "postgres", DBPort: 5432, DBName: "service", DBUser: "service", Start: schemas.Command{Argv: []string{"serve"}, Env: map[string]string{"DB_HOST": "x"}}}
	r := schemas.Recipe{Service: &s, Build: append([]schemas.Command{{Argv: []string{"build"}}}, serve.Prepare(s)...)}
	for log, want := range map[string]string{
		`FATAL: database "shop" does not exist (SQLSTATE 3D000)`:         "service@shop",
		`pq: role "boss" does not exist`:                                 "boss@service",
		`{"msg":"FATAL: database \"shop\" does not exist"}`:              "service@shop",
		`Error 1049: Unknown database 'shop'`:                            "service@shop",
		`database "service" does not exist`:                              "",
		`listening on 8080`:                                              "",
		"role \"boss\" does not exist\ndatabase \"shop\" does not exist": "boss@shop",
	} {
		got, found := calledFor(r, []byte(log))
		text := ""
		if found {
			text = got.Service.DBUser + "@" + got.Service.DBName
		}
		if text != want {
			t.Errorf("%s: %q, want %q", log, text, want)
		}
		if diff := cmp.Diff(append([]schemas.Command{{Argv: []string{"build"}}}, serve.Prepare(*got.Service)...), got.Build); diff != "" {
			t.Errorf("%s: it is built otherwise than it is prepared (-want +got):\n%s", log, diff)
		}
	}
}

// TestNamed: hosts without a dot that a service with a database looks for lead to loopback, and with a sink those of mail servers.
func TestNamed(t *testing.T) {
	t.Parallel()
	with := func(database string, brokers ...string) schemas.Recipe {
		return schemas.Recipe{Service: &schemas.Service{Database: database, Brokers: brokers, Names: []string{"old"}}}
	}
	dials := []look.Fact{
		{Addr: "store:"}, {Addr: "localhost:5432"}, {Addr: "10.0.0.1:5432"}, {Addr: "api.example.com:443"}, {Addr: "old:5432"}, {Addr: "cache:6379"},
		{Addr: "smtp.example.com:587"}, {Addr: "a b:1"}, {Addr: "cache:"}, {Addr: "nothing"}, {Addr: "[::1]:1"},
	}
	for name, c := range map[string]struct {
		r    schemas.Recipe
		want []string
	}{
		"database": {with("postgres"), []string{"cache", "old", "store"}},
		"mail":     {with("", "smtp"), []string{"cache", "old", "smtp.example.com", "store"}},
		"file":     {with("sqlite"), []string{"old"}},
	} {
		was := fmt.Sprintf("%+v", *c.r.Service)
		got, found := named(c.r, dials)
		if diff := cmp.Diff(c.want, got.Service.Names); diff != "" || found != (len(c.want) > 1) {
			t.Errorf("%s: %t (-want +got):\n%s", name, found, diff)
		}
		if fmt.Sprintf("%+v", *c.r.Service) != was {
			t.Errorf("%s changed what it was given", name)
		}
		if again, found := named(got, dials); found {
			t.Errorf("%s: the next start is another one: %v", name, again.Service.Names)
		}
	}
	var many []look.Fact
	for i := range 50 {
		many = append(many, look.Fact{Addr: fmt.Sprintf("h%d:", i)})
	}
	if got, _ := named(with("postgres"), many); len(got.Service.Names) != maxNames {
		t.Errorf("%d names", len(got.Service.Names))
	}
}

// TestElsewhere: a start names the hosts that nothing answers for, and not those that lead to ours.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	r := schemas.Recipe{Service: &schemas.Service{Names: []string{"store"}}}
	got := elsewhere(r, []look.Fact{{Addr: "store:5432"}, {Addr: "127.0.0.1:1"}, {Addr: "api.example.com:"}, {Addr: "api.example.com:443"}, {Addr: "queue:"}, {Addr: "queue:"}})
	if want := "\nit dials api.example.com, where nothing answers\nit dials api.example.com:443, where nothing answers\nit dials queue, where nothing answers"; got != want {
		t.Errorf("got %q", got)
	}
}
