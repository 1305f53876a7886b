package survey

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
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

// elsewhere says which hosts a service dialled that nothing answers for, each in a line.
func elsewhere(r schemas.Recipe, dials []look.Fact) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, f := range dials {
		host, port, err := net.SplitHostPort(f.Addr)
		ip := net.ParseIP(host)
		if err != nil || host == "" || host == "localhost" || ip != nil && ip.IsLoopback() || slices.Contains(r.Service.Names, host) || seen[f.Addr] || len(seen) == mostDialled {
			continue
		}
		seen[f.Addr] = true
		fmt.Fprintf(&b, "\nit dials %s, where nothing answers", strings.TrimSuffix(net.JoinHostPort(host, port), ":"))
	}
	return b.String()
}

// mostDialled bounds the hosts that are told of one start.
const mostDialled = 8

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

// The fields of evidence of what looks find out.
const (
	environmentField = "service.environment"
	portField        = "service.port"
	startField       = "service.look"
)

// otherForm is a recipe with a value that we made up for a port in its next form, after a service did not get ready with the last one.
// false where there is no such value, or all forms were tried.
func otherForm(r schemas.Recipe, not *contract.NotReady) (schemas.Recipe, bool) {
	s := *r.Service
	for _, name := range slices.Sorted(maps.Keys(s.Start.Env)) {
		value := s.Start.Env[name]
		forms := settings.Forms(name, strconv.Itoa(askedPort(s)))
		ours := slices.ContainsFunc(r.Evidence, func(e schemas.Evidence) bool {
			return e.Field == environmentField && strings.HasPrefix(e.Source, madeUp) && e.Value == name+"="+value
		})
		i := slices.Index(forms, value)
		if !ours || i < 0 || i+1 == len(forms) {
			continue
		}
		other := forms[i+1]
		r = served(r, s, adding(map[string]string{name: other}))
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: environmentField, Value: name + "=" + other, Source: fmt.Sprintf("%s: with %s %s", madeUp, value, not.Why)})
		return r, true
	}
	return r, false
}

// serveCommands are the commands of programs that serve, the likeliest first.
var serveCommands = []string{"serve", "server", "api", "start", "run", "http", "web", "rest"}

var commandsOf = lazyregexp.New(`(?i)\bcommands?(?: of| are)?:\s*(\S.*)`)

// toldToServe is a recipe whose program is given a command that serves, where its log is a list of its commands with that one; false
// where it is none, or was given a word already.
func toldToServe(r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	if len(r.Service.Start.Argv) != 1 {
		return r, false
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(log)) {
		if words := strings.Fields(line); len(words) > 0 && strings.TrimLeft(line, " \t") != line {
			listed[words[0]] = true
		}
		if x := commandsOf.FindStringSubmatch(line); x != nil {
			for _, word := range strings.Fields(strings.ReplaceAll(x[1], ",", " ")) {
				listed[word] = true
			}
		}
	}
	for _, name := range serveCommands {
		if !listed[name] || len(listed) < 2 {
			continue
		}
		s := *r.Service
		s.Start.Argv = append(slices.Clone(s.Start.Argv), name)
		r.Service = &s
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.start", Value: name, Source: "its log lists this command"})
		return r, true
	}
	return r, false
}
