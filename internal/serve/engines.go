package serve

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// engine is a database, broker or cache that runs beside a service in its sandbox. Its scripts are
// parts of one shell script: find, then make or start, and at the end find, then stop. All of it
// runs as the user of the service, answers on loopback alone, and keeps its data in the layer.
type engine struct {
	kind     string   // of schemas
	title    string   // in statements
	packages []string // Debian's, that bring its programs
	port     int      // that it listens on whatever the recipe says; 0 is the recipe's
	more     []int    // others that it listens on
	// find sets the variables of the other scripts.
	find string
	// make makes an empty one and starts it, with one user and one database where it has such:
	// $1 is the port, $2 the user, $3 the password and $4 the name.
	make string
	// start starts it and waits until it answers. Its log is shown where it does not.
	start string
	// stop ends it, and leaves its data whole.
	stop string
	// client reads SQL from its standard input, with the words {port}, {user}, {password} and {name}.
	client string
}

// engines are those that services are started with, in the order in which they are started.
var engines = []engine{postgres, mysql, redis, smtp}

// enginesOf are the engines that a service is started with.
func enginesOf(s schemas.Service) []engine {
	var out []engine
	for _, e := range engines {
		if s.Needs(e.kind) {
			out = append(out, e)
		}
	}
	return out
}

func kinds(s schemas.Service) []string {
	var out []string
	for _, e := range enginesOf(s) {
		out = append(out, e.kind)
	}
	return out
}

// Packages are the Debian packages of what runs beside a service.
func Packages(s schemas.Service) []string {
	var out []string
	for _, e := range enginesOf(s) {
		out = append(out, e.packages...)
	}
	return out
}

// Titles name what runs beside a service: PostgreSQL.
func Titles(s schemas.Service) []string {
	var out []string
	for _, e := range enginesOf(s) {
		out = append(out, e.title)
	}
	return out
}

// Own reports whether a port is that of a database beside the service, and not the service's.
func Own(s schemas.Service, port int) bool {
	for _, e := range enginesOf(s) {
		if port == e.port || e.port == 0 && port == s.DBPort || slices.Contains(e.more, port) {
			return true
		}
	}
	return false
}

// Client is a shell command that runs the SQL of its standard input in the database of a service;
// "" where it has none that takes SQL. The words are put into it as they are.
func Client(s schemas.Service, port, user, password, name string) string {
	for _, e := range enginesOf(s) {
		if e.client != "" {
			return strings.NewReplacer("{port}", port, "{user}", user, "{password}", password, "{name}", name).Replace(e.client)
		}
	}
	return ""
}
