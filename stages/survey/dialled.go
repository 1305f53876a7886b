package survey

import (
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/serve/settings"
	"github.com/benchmint/benchmint/schemas"
)

// dialled is a recipe with the databases, caches and brokers whose ports the service dialled without one there; false where
// it dialled none of them. A database with a server takes the place of a file, not that of another server.
func dialled(r schemas.Recipe, dials []look.Fact) (schemas.Recipe, bool) {
	found := false
	for _, f := range dials {
		host, port, err := net.SplitHostPort(f.Addr)
		kind := settings.KindAt(port)
		if err != nil || kind == "" || r.Service.Needs(kind) || settings.Stores(kind) && settings.Serves(r.Service.Database) {
			continue
		}
		r, found = withEngine(r, kind, host), true
		at, _ := look.Place(f.At)
		if place, ours := look.InTree(at, ""); ours {
			at = place
		}
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.database", Value: kind, Source: "it dials " + f.Addr + " at " + at})
	}
	return r, found
}

// withEngine is a recipe whose service has a database, cache or broker of a kind beside it. Variables that name another place
// of this kind, or host, name ours.
func withEngine(r schemas.Recipe, kind, host string) schemas.Recipe {
	s := *r.Service
	store := settings.Store{Kind: kind}.Filled()
	if settings.Stores(kind) {
		values := map[string]settings.Value{}
		for name, v := range s.Start.Env {
			values[name] = settings.Value{Text: v}
		}
		named, _ := (&settings.Settings{Values: values}).Database()
		named.Kind = kind
		store = named.Filled()
		s.Database, s.DBPort, s.DBName, s.DBUser, s.DBPassword = kind, store.Port, store.Name, store.User, store.Password
	} else {
		s.Brokers = append(slices.Clone(s.Brokers), kind)
		slices.Sort(s.Brokers)
	}
	r.SystemPackages = slices.Concat(r.SystemPackages, serve.Packages(s))
	slices.Sort(r.SystemPackages)
	r.SystemPackages = slices.Compact(r.SystemPackages)
	return served(r, s, func(c schemas.Command) schemas.Command {
		c.Env = maps.Clone(c.Env)
		for name, v := range c.Env {
			role := settings.RoleOf(kind, name)
			switch {
			case settings.KindOf(v) == kind:
				c.Env[name] = store.Fit(v)
			case role != "":
				c.Env[name] = store.Part(role, v)
			case host != "" && v == host:
				c.Env[name] = settings.Loopback
			}
		}
		return c
	})
}

// calledFor is a recipe whose database has the name and the user that the log of a service misses; false where it misses none.
func calledFor(r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	s := *r.Service
	if !settings.Serves(s.Database) {
		return r, false
	}
	if x := noDatabase.FindSubmatch(log); x != nil {
		s.DBName = string(x[1]) + string(x[2])
	}
	if x := noRole.FindSubmatch(log); x != nil {
		s.DBUser = string(x[1])
	}
	if s.DBName == r.Service.DBName && s.DBUser == r.Service.DBUser {
		return r, false
	}
	r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.database", Value: s.DBUser + "@" + s.DBName, Source: "its log misses them"})
	return served(r, s, adding(nil)), true
}

var (
	noDatabase = lazyregexp.New(`database \\?"([\w-]+)\\?" does not exist|Unknown database '([\w-]+)'`)
	noRole     = lazyregexp.New(`role \\?"([\w-]+)\\?" does not exist`)
)

// named is a recipe in which the hosts that a service looked for lead to loopback, where its database and what else it has beside it
// are: names of containers, and those of mail servers. false where it looked for no other one.
func named(r schemas.Recipe, dials []look.Fact) (schemas.Recipe, bool) {
	s := *r.Service
	if !settings.Serves(s.Database) && len(s.Brokers) == 0 {
		return r, false
	}
	for _, f := range dials {
		host, port, err := net.SplitHostPort(f.Addr)
		mail := s.Needs(schemas.BrokerSMTP) && settings.KindAt(port) == schemas.BrokerSMTP
		if err != nil || !hostForm.MatchString(host) || strings.Contains(host, ".") && !mail || host == "localhost" || net.ParseIP(host) != nil ||
			slices.Contains(s.Names, host) || len(s.Names) >= maxNames {
			continue
		}
		s.Names = append(slices.Clone(s.Names), host)
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.names", Value: host, Source: "it looks for " + f.Addr})
	}
	if len(s.Names) == len(r.Service.Names) {
		return r, false
	}
	slices.Sort(s.Names)
	r.Service = &s
	return r, true
}

var hostForm = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// maxNames bounds the hosts of one service.
const maxNames = 10
