package settings

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Servers are the database of a service and the brokers and caches beside it.
type Servers struct {
	Store   Store
	Brokers []string // their kinds
}

// Of are those of a service.
func Of(s schemas.Service) Servers {
	return Servers{Store{Kind: s.Database, Port: s.DBPort, Name: s.DBName, User: s.DBUser, Password: s.DBPassword}, s.Brokers}
}

// absoluteFile is a URL of a SQLite file outside of the tree.
var absoluteFile = lazyregexp.New(`^(sqlite(?:\+\w+)?):////.*$`)

// Given are the variables that the repository gives its service, without the empty ones: what names a database, a broker or a cache names ours.
func (s *Settings) Given(servers Servers) map[string]Value {
	out, store := map[string]Value{}, servers.Store
	for name, v := range s.Values {
		if v.Text == "" || Reserved(name) {
			continue
		}
		if fitted, kind, ok := Broker(servers.Brokers, name, v.Text); ok {
			out[name] = Value{fitted, kind}
			continue
		}
		role := ""
		if !ForTests(name) && !DriverName(name) && store.Port > 0 {
			if role = Role(name); s.HostOf(name, v.Text) {
				role = "host"
			}
		}
		switch kind := KindOf(v.Text); {
		case kind != "" && kind == store.Kind && !ForTests(name):
			v.Text = absoluteFile.ReplaceAllString(store.Fit(v.Text), "$1:///./service.db")
		case kind == "" && role != "":
			v.Text, v.Source = store.Part(role, v.Text), "the database"
		case tlsSwitch.MatchString(name) && truth.MatchString(v.Text):
			v.Text = map[string]string{"1": "0", "true": "false", "TRUE": "FALSE", "True": "False"}[v.Text]
		case AnyHost(name, v.Text) != "":
			v.Text = AnyHost(name, v.Text)
		}
		out[name] = v
	}
	return out
}

var (
	allowedHosts = lazyregexp.New(`(?i)(?:ALLOWED|TRUSTED)_HOSTS$`)                                   // what a request's Host may be
	tlsSwitch    = lazyregexp.New(`(?i)^(?:\w+_)?(?:SSL|TLS|HTTPS)(?:_?(?:ENABLED?|ON|REQUIRED?))?$`) // our database and requests are plain
	truth        = lazyregexp.New(`^(?:1|true|TRUE|True)$`)
	anyHost      = lazyregexp.New(`^(\["?)?.*?("?\])?$`)
)

// AnyHost is the value of a variable that says which hosts requests may name, so that ours may; "" where it says something else, or
// value names ours.
func AnyHost(name, value string) string {
	if !allowedHosts.MatchString(name) || strings.Contains(value, "*") || strings.Contains(value, Loopback) {
		return ""
	}
	return anyHost.ReplaceAllString(value, "$1*$2")
}

// databaseURL is the name of a variable that holds the URL of a database.
var databaseURL = lazyregexp.New(`(?i)(?:^|_)(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL|SQLALCHEMY|STORE)\w*(?:URL|URI|DSN|CONN|CONNECTION|STRING|SOURCE)$|^(?:DATABASE|DSN|CONN_?STR\w*)$`)

// URLName reports whether a variable holds the URL of a service's database, by its name.
func URLName(name string) bool { return databaseURL.MatchString(name) && !ForTests(name) }

var driverName = lazyregexp.New(`(?i)(?:DB|DATABASE)_?(?:DRIVER|TYPE|DIALECT|ENGINE|CONNECTION)$`)

// DriverName reports whether a variable says which kind of database it is, by its name.
func DriverName(name string) bool { return driverName.MatchString(name) }

var (
	portVariable = lazyregexp.New(`(?i)^(?:\w+_)?(?:HTTP|SERVER|APP|API|LISTEN|WEB|SERVICE|REST|GIN)?_?PORT$`)
	addrVariable = lazyregexp.New(`(?i)^(?:\w+_)?(?:HTTP|SERVER|LISTEN|BIND|API|APP|WEB)_?(?:ADDR|ADDRESS|LISTEN|HOST_PORT|BIND|ENDPOINT)$|^(?:ADDR|ADDRESS|LISTEN|BIND)$`)
	otherPort    = lazyregexp.New(`(?i)REDIS|SMTP|MAIL|DB_|DATABASE|POSTGRES|PG|MYSQL|MONGO|GRPC|METRICS|DEBUG|PROM|JAEGER|KAFKA|RABBIT|AMQP|NATS|ELASTIC|ADMIN_PORT`)
)

// Forms are the values that say to listen on a port, for a variable of a name; what most programs take is the first. There are none
// for a variable that says something else.
func Forms(name, port string) []string {
	switch {
	case otherPort.MatchString(name):
		return nil
	case portVariable.MatchString(name):
		return []string{port, ":" + port, "0.0.0.0:" + port}
	case addrVariable.MatchString(name):
		return []string{":" + port, "0.0.0.0:" + port, port}
	}
	return nil
}

// exampleWord is what the name of an example has, and that of the file which is made of it has not.
var exampleWord = lazyregexp.New(`(?i)[._-](?:example|sample|dist|template|default)\b|^(?:example|sample)[._-]`)

// Examples are the texts of files that a service looked for in vain, by their path, each with the file that it is made of: an .env has
// the values that the service is started with, whether there is an example of one or not, and other files name our database.
func (s *Settings) Examples(t Tree, missing []string, servers Servers, values map[string]string) map[string]Value {
	out := map[string]Value{}
	for _, p := range missing {
		switch {
		case t.Has(p):
		case path.Base(p) == ".env" && s.Example != "":
			out[p] = Value{s.Dotenv(values), s.Example}
		case path.Base(p) == ".env":
			var lines []string
			for _, name := range slices.Sorted(maps.Keys(values)) {
				lines = append(lines, name+"="+values[name])
			}
			out[p] = Value{strings.Join(lines, "\n") + "\n", "nothing: the tree has no example of it"}
		default:
			for _, from := range t.Paths() {
				base := path.Base(from)
				if folderOf(from) == folderOf(p) && base != path.Base(p) && exampleWord.ReplaceAllString(base, "") == path.Base(p) {
					out[p] = Value{servers.FitFile(read(t, from)), from}
				}
			}
		}
	}
	return out
}

var (
	configKey   = lazyregexp.New(`^(\s*)"?([A-Za-z_][\w.-]*)"?\s*[:=]\s*(.*?),?\s*$`)
	configHead  = lazyregexp.New(`^\s*\[([\w.-]+)\]`)
	databaseKey = lazyregexp.New(`(?i)^(?:\w+[._-])?(?:db|database|postgres|postgresql|pg|psql|mysql|mariadb|sql|storage)(?:[._-]\w+)?$`)
	redisKey    = lazyregexp.New(`(?i)^(?:\w+[._-])?redis(?:[._-]\w+)?$`)
)

// FitFile rewrites the lines of a configuration file (YAML, TOML, JSON) that say where a database, a broker or a cache is: a URL, or the
// parts below a section for it.
func (s Servers) FitFile(text string) string {
	if s.Store.Port == 0 && len(s.Brokers) == 0 {
		return text
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	section, depth := "", -1
	for i, line := range lines {
		if x := configHead.FindStringSubmatch(line); x != nil {
			section, depth = "", -1
			if s.about(x[1]) != "" {
				section = x[1]
			}
			continue
		}
		x := configKey.FindStringSubmatch(line)
		if x == nil {
			continue
		}
		indent, key, value := len(x[1]), x[2], strings.Trim(strings.TrimSpace(x[3]), `"'`)
		if depth >= 0 && indent <= depth {
			section, depth = "", -1
		}
		if (x[3] == "" || x[3] == "{") && s.about(key) != "" {
			section, depth = key, indent
			continue
		}
		if fitted := s.fitted(section, key, value); fitted != value && value != "" {
			lines[i] = strings.Replace(line, value, fitted, 1)
		}
	}
	return strings.Join(lines, "\n")
}

// about is the kind of database or broker that a key of a file is about, "" where it is about none.
func (s Servers) about(key string) string {
	switch {
	case slices.Contains(s.Brokers, RedisName) && redisKey.MatchString(key):
		return RedisName
	case Serves(s.Store.Kind) && databaseKey.MatchString(key):
		return s.Store.Kind
	}
	return ""
}

// fitted is the value of a key, below a section or at the top, that leads to ours.
func (s Servers) fitted(section, key, value string) string {
	kind, about := KindOf(value), cmp.Or(s.about(section), s.about(key))
	name := strings.ToUpper(key)
	switch {
	case Serves(kind) && kind == s.Store.Kind:
		return s.Store.Fit(value)
	case about == RedisName || slices.Contains(s.Brokers, RedisName) && kind == RedisName:
		if section != "" {
			name = "REDIS_" + name
		}
		if fitted, _, ok := Broker(s.Brokers, name, value); ok {
			return fitted
		}
	case about != "":
		if section != "" {
			name = "DB_" + name
		}
		if role := RoleOf(about, name); role != "" {
			return s.Store.Part(role, value)
		}
	}
	return value
}
