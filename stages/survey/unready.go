package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// madeUp begins the source of a value that no file of the repository gives.
const madeUp = "made up"

// unready is what was seen of a service that does not get ready: how it was started, where it was
// asked, and what it printed.
func unready(not *contract.NotReady, r schemas.Recipe) string {
	s := *r.Service
	out := []string{not.Why, "command: " + recipe.ShellLine(schemas.Command{Argv: s.Start.Argv, Dir: s.Start.Dir})}
	sources := map[string]string{}
	for _, e := range r.Evidence {
		if name, _, ok := strings.Cut(e.Value, "="); ok && e.Field == environmentField {
			sources[name] = e.Source
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Start.Env)) {
		out = append(out, fmt.Sprintf("environment: %s=%s (%s)", name, cutTo(s.Start.Env[name]), cmp.Or(sources[name], "the repository")))
	}
	if len(s.Start.Env) == 0 {
		out = append(out, "environment: nothing beside that of the sandbox")
	}
	port := fmt.Sprintf("port: %d is asked", s.Port)
	switch {
	case len(not.Listens) > 0:
		port += ", and it listens on " + strings.Trim(fmt.Sprint(not.Listens), "[]")
	case not.Listens != nil:
		port += ", and it listens on none"
	}
	return strings.Join(append(out, port, lastLines(not.Log)), "\n")
}

// lastLines is the end of a log.
func lastLines(log []byte) string {
	const most = 5
	text := strings.TrimSpace(string(log))
	if text == "" {
		return "it printed nothing"
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-most):]
	for i := range lines {
		lines[i] = "  " + cutTo(strings.TrimRight(lines[i], "\r"))
	}
	return "its last lines:\n" + strings.Join(lines, "\n")
}

// cutTo is the beginning of a line.
func cutTo(line string) string {
	const most = 300
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// The fields of evidence that otherForm looks at, and adds to.
const (
	environmentField = "service.environment"
	portField        = "service.port"
)

// otherForm is a recipe with one thing in its other form, after a service did not get ready with
// the first: the port that it was seen to listen on, or a value that we made up for a port with or
// without its colon. false where there is no such thing, or it was tried.
func otherForm(r schemas.Recipe, not *contract.NotReady) (schemas.Recipe, bool) {
	s := *r.Service
	r.Evidence = slices.Clone(r.Evidence)
	if len(not.Listens) == 1 && not.Listens[0] != s.Port {
		was := s.Port
		s.Port, r.Service = not.Listens[0], &s
		r.Evidence = append(r.Evidence, schemas.Evidence{Field: portField, Value: strconv.Itoa(s.Port), Source: fmt.Sprintf("it listens there, not on %d", was)})
		return r, true
	}
	for _, e := range slices.Backward(r.Evidence) {
		name, value, _ := strings.Cut(e.Value, "=")
		bare := strings.TrimPrefix(value, ":")
		if e.Field != environmentField || !strings.HasPrefix(e.Source, madeUp) || bare != strconv.Itoa(s.Port) || s.Start.Env[name] != value {
			continue
		}
		other := bare
		if value == bare {
			other = ":" + bare
		}
		with := func(c schemas.Command) schemas.Command {
			c.Env = maps.Clone(c.Env)
			if c.Env[name] == value {
				c.Env[name] = other
			}
			return c
		}
		r = served(r, s, with)
		r.Evidence = append(r.Evidence, schemas.Evidence{Field: environmentField, Value: name + "=" + other, Source: fmt.Sprintf("with %s=%s %s", name, value, not.Why)})
		return r, true
	}
	return r, false
}

// settled is a recipe with a value for each variable that the service asked for and did not have, and with the databases that
// it dialled; false where it had all.
func settled(r schemas.Recipe, told look.Report) (schemas.Recipe, bool) {
	r, found := dialled(r, told.Dials)
	s := *r.Service
	made := map[string]string{}
	r.Evidence = slices.Clone(r.Evidence)
	for _, f := range told.Env {
		at, _ := look.Place(f.At)
		place, ours := look.InTree(at, "")
		if _, has := s.Start.Env[f.Name]; f.Set || has || !ours || settings.Reserved(f.Name) || len(made) >= maxMade {
			continue
		}
		made[f.Name] = valueFor(s, r.Language, f.Name)
		_, line := look.Place(f.At)
		r.Evidence = append(r.Evidence, schemas.Evidence{Field: environmentField, Value: f.Name + "=" + made[f.Name], Source: fmt.Sprintf("%s: %s:%d asks for it", madeUp, place, line)})
	}
	if len(made) == 0 {
		return r, found
	}
	with := func(c schemas.Command) schemas.Command {
		c.Env = maps.Clone(c.Env)
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		maps.Copy(c.Env, made)
		return c
	}
	return served(r, s, with), true
}

// served is a recipe whose service has its commands in another form.
func served(r schemas.Recipe, s schemas.Service, with func(schemas.Command) schemas.Command) schemas.Recipe {
	before := max(0, len(r.Build)-len(serve.Prepare(*r.Service)))
	s.Start, s.Prepare = with(s.Start), slices.Clone(s.Prepare)
	for i := range s.Prepare {
		s.Prepare[i] = with(s.Prepare[i])
	}
	r.Service = &s
	r.Build = slices.Concat(r.Build[:before], serve.Prepare(s))
	return r
}

// valueFor is a value for a variable that a service cannot do without: that of its database where its name says so, or a
// harmless one.
func valueFor(s schemas.Service, language, name string) string {
	if v, _, ok := settings.Broker(s.Brokers, name); ok {
		return v
	}
	if store := storeOf(s); settings.Serves(s.Database) {
		switch role := settings.RoleOf(s.Database, name); {
		case role != "":
			return store.Part(role)
		case databaseURL.MatchString(name):
			return store.DSN(language)
		}
	}
	if portName.MatchString(name) && s.Port > 0 {
		return strconv.Itoa(s.Port)
	}
	return settings.Made(name)
}

var (
	databaseURL = lazyregexp.New(`(?i)^(?:\w+_)?(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL)_?(?:URL|URI|DSN|CONN|CONNECTION|CONNECTION_STRING|SOURCE)$|^DSN$`)
	portName    = lazyregexp.New(`(?i)^(?:\w+_)?(?:HTTP|SERVER|APP|API|LISTEN|WEB|SERVICE|REST)?_?PORT$`)
)

// maxMade bounds the variables that are made up for one service.
const maxMade = 60
