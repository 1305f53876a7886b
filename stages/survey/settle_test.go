package survey

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// TestSettling: what the next start has is what the last one lacked, and no more.
func TestSettling(t *testing.T) {
	t.Parallel()
	tr, err := tree.New([]tree.Entry{
		{Path: "api/config.example.yml", Mode: "100644", Data: []byte("port: 1\ndatabase:\n  host: db\n")},
		{Path: "api/.env.example", Mode: "100644", Data: []byte("MODE=x\nMORE=\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	postgres := schemas.Service{Database: schemas.DatabasePostgres, DBPort: 5432, DBName: "n", DBUser: "u", DBPassword: "p", Port: 3000}
	none := schemas.Service{Port: 3000}
	random := schemas.Service{Port: 41234}
	env := func(names ...string) (r look.Report) {
		for _, n := range names {
			name, fallback, _ := strings.Cut(n, "=")
			r.Env = append(r.Env, look.Fact{Fact: "env", Name: name, Default: fallback, At: "/testbed/api/main.go:3"})
		}
		return r
	}
	elsewhere := env("API_KEY", "A")
	elsewhere.Env[1].At = "/opt/lib.go:2"
	given := env("MODE", "PATH", "not.a.name", "LATER")
	given.Env[3].Set = true
	files := look.Report{Files: []look.Fact{{Path: ".env"}, {Path: "/testbed/api/config.yml"}, {Path: "../../etc/x.yml"}, {Path: "/etc/config.yml"}}}
	failed := func(log string) *contract.NotReady { return &contract.NotReady{Why: "it ended", Log: []byte(log)} }
	for name, c := range map[string]struct {
		s     schemas.Service
		told  look.Report
		not   *contract.NotReady
		start int
		want  []string
	}{
		"ready_has_all":          {none, env("LOG_FORMAT", "HOST"), nil, 1, nil},
		"ready_without_a_secret": {none, env("JWT_SECRET", "APP_SECRET=dev", "HOST"), nil, 1, []string{"JWT_SECRET=benchmint-0123456789abcdef0123456789abcdef"}},
		"ready_without_database": {postgres, env("DB_HOST", "DATABASE_URL", "DB_DRIVER", "TEST_DB_NAME", "PGHOST", "REDIS_PORT"), nil, 1, []string{"DATABASE_URL=the url", "DB_HOST=127.0.0.1", "PGHOST=127.0.0.1"}},
		"ready_for_other_hosts":  {none, env("ALLOWED_HOSTS", "APP_TRUSTED_HOSTS=localhost", "API_ALLOWED_HOSTS=*"), nil, 1, []string{"ALLOWED_HOSTS=*", "APP_TRUSTED_HOSTS=*"}},
		"no_database":            {none, env("DB_HOST", "DATABASE_URL"), nil, 1, nil},
		"ready_on_any_port":      {random, env("PORT", "MODE2"), nil, 1, []string{"PORT=8080", "at 8080"}},
		"ready_on_its_port":      {none, env("PORT"), nil, 1, nil},
		"failed_names_one":       {none, env("APP_HOST", "api_token", "LOG_LEVEL"), failed("panic: API_TOKEN is not set"), 1, []string{"api_token=benchmint-0123456789abcdef0123456789abcdef"}},
		"failed_names_flags":     {none, env("APP_URL", "AUTH_CALLBACK_URL", "SECRET", "LOG_LEVEL"), failed("the required flags `--secret' and `--url' were not specified\nsee --level"), 1, []string{"APP_URL=http://localhost", "SECRET=benchmint-0123456789abcdef0123456789abcdef"}},
		"failed_names_none":      {none, env("APP_HOST", "LOG_LEVEL", "PORT", "ADDR", "WORKERS=4"), failed("panic"), 1, []string{"ADDR=:3000", "APP_HOST=127.0.0.1", "LOG_LEVEL=info", "PORT=3000"}},
		"failed_again":           {none, env("A", "B"), failed("A is missing"), 3, []string{"A=benchmint", "B=benchmint"}},
		"of_a_library":           {none, elsewhere, failed("panic"), 1, []string{"API_KEY=benchmint-0123456789abcdef0123456789abcdef"}},
		"not_to_give":            {none, given, failed("panic"), 1, nil},
		"failed_without_files":   {postgres, files, failed("no config"), 1, []string{"file api/.env MODE=dev\nMORE=\n", "file api/config.yml port: 1\ndatabase:\n  host: 127.0.0.1\n"}},
		"ready_without_files":    {none, files, nil, 1, []string{"file api/config.yml port: 1\ndatabase:\n  host: db\n"}},
	} {
		c.s.Start = schemas.Command{Argv: []string{"serve"}, Dir: "api", Env: map[string]string{"MODE": "dev"}}
		c.s.Prepare = []schemas.Command{{Argv: []string{"migrate"}}}
		r := schemas.Recipe{Service: &c.s, Build: append([]schemas.Command{{Argv: []string{"go", "build"}}}, serve.Prepare(c.s)...)}
		got, ok := settling{tree: tr, url: func(schemas.Recipe) string { return "the url" }, start: c.start}.next(r, looked{c.told, c.not})
		if ok != (c.want != nil) || len(c.s.Start.Env) != 1 {
			t.Errorf("%s: changed %t, the recipe before has %v", name, ok, c.s.Start.Env)
		}
		if !ok {
			continue
		}
		var have []string
		for _, n := range slices.Sorted(maps.Keys(got.Service.Start.Env)) {
			if n != "MODE" {
				have = append(have, n+"="+got.Service.Start.Env[n])
			}
		}
		for _, p := range slices.Sorted(maps.Keys(got.Service.Files)) {
			have = append(have, "file "+p+" "+got.Service.Files[p])
		}
		if got.Service.Port != 3000 {
			have = append(have, "at "+strconv.Itoa(got.Service.Port))
		}
		if diff := cmp.Diff(c.want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(serve.Prepare(*got.Service), got.Build[1:]); diff != "" || got.Build[0].Argv[0] != "go" {
			t.Errorf("%s: the build is that of another service:\n%s", name, diff)
		}
	}
}
