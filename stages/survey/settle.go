package survey

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// looked is one start of a service with its hook.
type looked struct {
	told look.Report
	not  *contract.NotReady // nil of one that got ready
}

// settling says what the next start of a service has that the last one lacked.
type settling struct {
	tree  settings.Tree
	url   func(schemas.Recipe) string // that of its database (lang.Server)
	start int                         // of the last one, from 1
}

// allNamed is the start from which a service that fails gets all variables that it lacks, not those alone that its log names.
const allNamed = 3

// next is a recipe with what a start lacked; false where that is nothing. Variables of its database, and secrets, are given whether the
// service got ready or not. One that failed also gets the variables that its log names, in doubt all, and the files that the
// tree has examples of.
func (t settling) next(r schemas.Recipe, l looked) (schemas.Recipe, bool) {
	found := false
	if l.not != nil {
		var renamed bool
		r, found = dialled(r, l.told.Dials)
		r, renamed = calledFor(r, l.not.Log)
		found = found || renamed
	}
	r, sends := mailing(r, l.told)
	r, leads := named(r, l.told.Dials)
	found = found || sends || leads
	s := *r.Service
	g := &gift{made: map[string]string{}, s: s}
	lacks := lacking(s, l.told)
	required := flagged(l.not, lacks)
	for _, f := range lacks {
		value, source := t.needed(r, l, f)
		if value == "" && required[f.Name] {
			value, source = valueFor(s, f.Name), madeUp
		}
		g.give(f, value, source)
	}
	files, evidence := t.files(s, l, g.made)
	if l.not != nil && (!found && len(g.made)+len(files) == 0 || t.start >= allNamed) {
		for _, f := range lacks {
			if !libpq.MatchString(f.Name) && f.Default == "" {
				g.give(f, valueFor(s, f.Name), madeUp)
			}
		}
		g.placeholders()
	}
	if len(g.made)+len(files) == 0 {
		return r, found
	}
	r.Evidence = slices.Concat(r.Evidence, evidence, g.evidence)
	if l.not == nil && unsteady(s.Port) {
		s.Port = askedPort(s)
	}
	if len(files) > 0 {
		maps.Copy(files, s.Files)
		s.Files = files
	}
	return served(r, s, adding(g.made)), true
}

// needed is the value of a variable that the next start has in any case, and where it is from; "" of others.
func (t settling) needed(r schemas.Recipe, l looked, f look.Fact) (value, source string) {
	s := *r.Service
	if v, kind, ok := settings.Broker(s.Brokers, f.Name, f.Default); ok {
		return v, kind
	}
	if from := settings.MailFrom(f.Name); from != "" && f.Default == "" && s.Needs(schemas.BrokerSMTP) {
		return from, schemas.BrokerSMTP
	}
	switch {
	case ofDatabase(s, f.Name) && (s.DBPort > 0 || l.not != nil): // a file may lie anywhere
		return t.stored(r, f.Name), "the database"
	case libpq.MatchString(f.Name):
	case settings.AnyHost(f.Name, f.Default) != "":
		return settings.AnyHost(f.Name, f.Default), madeUp
	case settings.SecretKey(f.Name) && f.Default == "":
		return settings.Made(f.Name), madeUp
	case l.not != nil && inLog(f.Name, l.not.Log), l.not == nil && unsteady(s.Port) && settings.Forms(f.Name, "") != nil:
		return valueFor(s, f.Name), madeUp
	}
	return "", ""
}

// gift is what the next start has that the last one lacked.
type gift struct {
	made     map[string]string
	evidence []schemas.Evidence
	s        schemas.Service
}

// give adds a variable that was asked for, once.
func (g *gift) give(f look.Fact, value, source string) {
	if _, has := g.made[f.Name]; has || value == "" || len(g.made) >= maxMade {
		return
	}
	g.add(f.Name, value, fmt.Sprintf("%s: %s asks for it", source, placeOf(g.s, f)))
}

func (g *gift) add(name, value, source string) {
	g.made[name] = value
	g.evidence = append(g.evidence, schemas.Evidence{Field: environmentField, Value: name + "=" + value, Source: source})
}

// placeholders gives a value for each secret whose example asks to be replaced: some programs refuse to start with it.
func (g *gift) placeholders() {
	for _, name := range slices.Sorted(maps.Keys(g.s.Start.Env)) {
		if settings.SecretKey(name) && settings.Placeholder(g.s.Start.Env[name]) {
			g.add(name, settings.Made(name), madeUp+": the repository asks for another one")
		}
	}
}

// lacking are the variables that the tree of a service asked for and did not have.
func lacking(s schemas.Service, told look.Report) []look.Fact {
	return slices.DeleteFunc(slices.Clone(told.Env), func(f look.Fact) bool {
		_, has := s.Start.Env[f.Name]
		return f.Set || has || placeOf(s, f) == "" || settings.Reserved(f.Name) || !variable.MatchString(f.Name)
	})
}

// placeOf is the line of the tree that a fact is of; "" where it is none.
func placeOf(s schemas.Service, f look.Fact) string {
	at, line := look.Place(f.At)
	for _, root := range []string{"", serve.Root(s)} {
		if p, ok := look.InTree(at, root); ok {
			return p + ":" + strconv.Itoa(line)
		}
	}
	return ""
}

// inLog reports whether a log names a variable.
func inLog(name string, log []byte) bool {
	return slices.ContainsFunc(word.FindAllString(string(log), -1), func(w string) bool { return strings.EqualFold(w, name) })
}

var requiredFlag = lazyregexp.New(`--([a-z][\w-]*)`)

// flagged are the variables of the flags that a log says are required: of those whose names end as a flag's does, the shortest.
func flagged(not *contract.NotReady, lacks []look.Fact) map[string]bool {
	out := map[string]bool{}
	if not == nil {
		return out
	}
	for line := range strings.Lines(string(not.Log)) {
		if !strings.Contains(line, "required") {
			continue
		}
		for _, x := range requiredFlag.FindAllStringSubmatch(line, -1) {
			end, best := "_"+strings.ToUpper(strings.ReplaceAll(x[1], "-", "_")), ""
			for _, f := range lacks {
				if strings.HasSuffix("_"+strings.ToUpper(f.Name), end) && (best == "" || len(f.Name) < len(best)) {
					best = f.Name
				}
			}
			out[best] = true
		}
	}
	return out
}

// ofDatabase reports whether a variable says where the database is that a service has.
func ofDatabase(s schemas.Service, name string) bool {
	return s.Database != schemas.DatabaseNone && !settings.DriverName(name) && (settings.URLName(name) || s.DBPort > 0 && settings.Role(name) != "")
}

// stored is what a variable says of a service's database.
func (t settling) stored(r schemas.Recipe, name string) string {
	if role := settings.Role(name); role != "" {
		return settings.Of(*r.Service).Store.Part(role)
	}
	return t.url(r)
}

// unsteady reports whether a port may be another one in the next start, or be refused to a user.
func unsteady(port int) bool { return port < 1024 || port >= 32768 }

// files are those that the service looked for in vain, and the tree has examples of. An .env is written for one that failed alone.
func (t settling) files(s schemas.Service, l looked, made map[string]string) (out map[string]string, evidence []schemas.Evidence) {
	var missing []string
	for _, f := range l.told.Files {
		p := f.Path
		if rest, ok := look.InTree(p, ""); ok {
			p = rest
		} else if rest, ok := look.InTree(p, serve.Root(s)); ok {
			p = rest
		} else if path.IsAbs(p) {
			continue
		} else {
			p = path.Join(s.Start.Dir, p)
		}
		if _, have := s.Files[p]; !have && !strings.HasPrefix(p, "..") && (l.not != nil || path.Base(p) != ".env") {
			missing = append(missing, p)
		}
	}
	values := map[string]string{}
	maps.Copy(values, s.Start.Env)
	maps.DeleteFunc(values, func(name, _ string) bool { return settings.Reserved(name) })
	maps.Copy(values, made)
	out = map[string]string{}
	found := settings.Read(t.tree, s.Start.Dir).Examples(t.tree, missing, settings.Of(s), values)
	for _, p := range slices.Sorted(maps.Keys(found)) {
		out[p] = found[p].Text
		evidence = append(evidence, schemas.Evidence{Field: "service.files", Value: p, Source: "made of " + found[p].Source})
	}
	return out, evidence
}

// valueFor is a harmless value for a variable that a service cannot do without.
func valueFor(s schemas.Service, name string) string {
	if forms := settings.Forms(name, strconv.Itoa(askedPort(s))); forms != nil {
		return forms[0]
	}
	switch {
	case hostName.MatchString(name):
		return settings.Loopback
	case levelName.MatchString(name):
		return "info"
	}
	return settings.Made(name)
}

// askedPort is the port that a service is told to listen on.
func askedPort(s schemas.Service) int {
	if unsteady(s.Port) {
		return 8080
	}
	return s.Port
}

// adding gives a command more variables.
func adding(made map[string]string) func(schemas.Command) schemas.Command {
	return func(c schemas.Command) schemas.Command {
		env := maps.Clone(c.Env)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, made)
		c.Env = env
		return c
	}
}

// served is a recipe whose service has each of its commands in another form.
func served(r schemas.Recipe, s schemas.Service, with func(schemas.Command) schemas.Command) schemas.Recipe {
	s.Start, s.Prepare = with(s.Start), slices.Clone(s.Prepare)
	for i := range s.Prepare {
		s.Prepare[i] = with(s.Prepare[i])
	}
	r.Build = slices.Concat(r.Build[:building(r)], serve.Prepare(s))
	r.Service = &s
	return r
}

var (
	variable  = lazyregexp.New(`^[A-Za-z_]\w*$`)
	word      = lazyregexp.New(`\w+`)
	libpq     = lazyregexp.New(`^PG[A-Z]+$`) // a client's own, for what its caller does not say
	hostName  = lazyregexp.New(`(?i)(?:^|_)(?:HOST|BIND|IP)$`)
	levelName = lazyregexp.New(`(?i)LEVEL$`)
)

// maxMade bounds the variables that are made up for one service at once.
const maxMade = 60
