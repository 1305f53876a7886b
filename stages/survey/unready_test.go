package survey

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// guessed is a recipe whose PORT nothing of the repository says.
func guessed(value string) schemas.Recipe {
	env := map[string]string{"PORT": value, "MODE": "dev"}
	return schemas.Recipe{
		Evidence: []schemas.Evidence{
			{Field: environmentField, Value: "MODE=dev", Source: ".env.example"},
			{Field: environmentField, Value: "PORT=" + value, Source: "made up: main.go:9 asks for it"},
			{Field: portField, Value: "8080", Source: "PORT"},
		},
		Service: &schemas.Service{
			Port: 8080, Start: schemas.Command{Argv: []string{"/env/server", "run it"}, Dir: "api", Env: env},
			Prepare: []schemas.Command{{Argv: []string{"/env/server", "migrate"}, Env: env}},
		},
	}
}

// TestUnready: how it was started, where it was asked and what it printed is told.
func TestUnready(t *testing.T) {
	t.Parallel()
	const started = "command: (cd api && /env/server 'run it')\nenvironment: MODE=dev (.env.example)\nenvironment: PORT=:8080 (made up: main.go:9 asks for it)\n"
	bare := guessed(":8080")
	bare.Service.Start = schemas.Command{Argv: []string{"/env/server"}}
	for name, c := range map[string]struct {
		not  contract.NotReady
		r    schemas.Recipe
		want string
	}{
		"printed_nothing":   {contract.NotReady{Why: "it ended with exit code 0", Log: []byte(" \n")}, guessed(":8080"), "it ended with exit code 0\n" + started + "port: 8080 is asked\nit printed nothing"},
		"last_lines":        {contract.NotReady{Why: "it ended with exit code 1", Log: []byte("1\n2\n3\n4\r\n5\n6\n" + strings.Repeat("x", 400) + "\n")}, guessed(":8080"), "it ended with exit code 1\n" + started + "port: 8080 is asked\nits last lines:\n  3\n  4\n  5\n  6\n  " + strings.Repeat("x", 300) + "…"},
		"listens_elsewhere": {contract.NotReady{Why: "no answer", Listens: []int{3000, 9090}}, guessed(":8080"), "no answer\n" + started + "port: 8080 is asked, and it listens on 3000 9090\nit printed nothing"},
		"listens_on_none":   {contract.NotReady{Why: "no answer", Listens: []int{}}, bare, "no answer\ncommand: /env/server\nenvironment: nothing beside that of the sandbox\nport: 8080 is asked, and it listens on none\nit printed nothing"},
	} {
		if diff := cmp.Diff(c.want, unready(&c.not, c.r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOtherForm: a made up value is tried in each of its forms; what the repository says stays, and nothing is tried twice.
func TestOtherForm(t *testing.T) {
	t.Parallel()
	own := guessed("8080")
	own.Evidence[1].Source = ".env.example"
	for name, c := range map[string]struct {
		r    schemas.Recipe
		want []string // PORT, one start after the other
	}{
		"made_up":           {guessed("8080"), []string{":8080", "0.0.0.0:8080"}},
		"of_the_repository": {own, nil},
		"no_port":           {guessed("http"), nil},
	} {
		var got []string
		for r := c.r; ; {
			next, ok := otherForm(r, &contract.NotReady{Why: "it ended"})
			if !ok {
				break
			}
			if r.Service.Start.Env["PORT"] == next.Service.Start.Env["PORT"] || len(next.Evidence) != len(r.Evidence)+1 {
				t.Errorf("%s: the recipe before is another: %+v", name, r)
			}
			if s := next.Service; s.Start.Env["MODE"] != "dev" || s.Prepare[0].Env["PORT"] != s.Start.Env["PORT"] || s.Port != 8080 {
				t.Errorf("%s: %+v", name, s)
			}
			got, r = append(got, next.Service.Start.Env["PORT"]), next
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestToldToServe: a program that lists its commands is given the one that serves, once.
func TestToldToServe(t *testing.T) {
	t.Parallel()
	recipe := func(argv ...string) schemas.Recipe {
		return schemas.Recipe{Service: &schemas.Service{Start: schemas.Command{Argv: argv}}}
	}
	const list = "Please specify one command of: backup, server\n\nAvailable commands:\n  backup   make one\n  server   run it\n"
	for name, c := range map[string]struct {
		argv []string
		log  string
		want []string
	}{
		"listed":       {[]string{"app"}, list, []string{"app", "server"}},
		"in_a_line":    {[]string{"app"}, "Please specify one command of: backup, import or server\n", []string{"app", "server"}},
		"told_already": {[]string{"app", "api"}, list, nil},
		"no_list":      {[]string{"app"}, "  server failed\n", nil},
		"not_indented": {[]string{"app"}, "server\nbackup\n", nil},
	} {
		got, ok := toldToServe(recipe(c.argv...), []byte(c.log))
		if ok != (c.want != nil) || ok && !slices.Equal(got.Service.Start.Argv, c.want) {
			t.Errorf("%s: %t %v", name, ok, got.Service.Start.Argv)
		}
	}
}
