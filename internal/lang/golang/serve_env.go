package golang

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/serve/settings"
)

var (
	urlVariable  = lazyregexp.New(`(?i)(?:^|_)(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|SQL|STORE)\w*(?:URL|URI|DSN|CONN|CONNECTION|STRING|SOURCE)$|^(?:DATABASE|DSN|CONN_?STR\w*)$`)
	portVariable = lazyregexp.New(`(?i)^(?:\w+_)?(?:HTTP|SERVER|APP|API|LISTEN|WEB|SERVICE|REST|GIN)?_?PORT$`)
	addrVariable = lazyregexp.New(`(?i)^(?:\w+_)?(?:HTTP|SERVER|LISTEN|BIND|API|APP|WEB)_?(?:ADDR|ADDRESS|LISTEN|HOST_PORT|BIND|ENDPOINT)$|^(?:ADDR|ADDRESS|LISTEN|BIND)$`)
	otherPort    = lazyregexp.New(`(?i)REDIS|SMTP|MAIL|DB_|DATABASE|POSTGRES|PG|MYSQL|MONGO|GRPC|METRICS|DEBUG|PROM|JAEGER|KAFKA|RABBIT|AMQP|NATS|ELASTIC|ADMIN_PORT`)
)

// environment gives every variable that the program asks for a value: that of the repository,
// or a harmless one where the program cannot do without.
func (s *serving) environment() {
	all := s.asked()
	names := sortedNames(all)
	for _, name := range names {
		if settings.Reserved(name) {
			continue
		}
		a := all[name]
		given, ok := s.env.Values[name]
		if v, kind, ok := settings.Broker(s.service.Brokers, name, given.Text, a.fallback); ok {
			s.set(name, v, kind)
			continue
		}
		if kind := s.service.Database; settings.Serves(kind) && !settings.ForTests(name) {
			role := settings.Role(name)
			if s.env.HostOf(name, given.Text) {
				role = "host"
			}
			switch {
			case settings.KindOf(given.Text) == kind:
				s.set(name, s.store.Fit(given.Text), given.Source)
				continue
			case settings.KindOf(a.fallback) == kind:
				s.set(name, s.store.Fit(a.fallback), a.source)
				continue
			case role != "" && !driverName.MatchString(name):
				s.set(name, s.store.Part(role, given.Text, a.fallback), "the database")
				continue
			case urlVariable.MatchString(name) && (!ok || given.Text == "") && a.fallback == "":
				s.set(name, s.store.DSN(Name), a.source)
				continue
			}
		}
		switch {
		case settings.SecretKey(name) && (ok && settings.Placeholder(given.Text) || !ok && a.fallback == ""):
			s.set(name, settings.Made(name), "made up: "+a.source+" asks for it")
		case ok && given.Text != "":
			s.set(name, given.Text, given.Source)
		case a.required:
			s.set(name, settings.Made(name), "made up: "+a.source+" requires it")
		}
	}
}

var (
	listenCall = lazyregexp.New(`\.(?:Run|ListenAndServe|Listen|Start)\(\s*"([^"\n]*:\d+)"|\bListenAndServe\(\s*"([^"\n]*:\d+)"|\bAddr\s*:\s*"([^"\n]*:\d+)"`)
	namedPort  = lazyregexp.New(`(?i)\b(?:const|var)?\s*\w*(?:port|addr|address)\w*\s*(?::?=|:)\s*"?(:?\d{4,5}|[\w.]*:\d{2,5})"?\s*(?:$|//|,|\n)`)
	emptyRun   = lazyregexp.New(`\.Run\(\s*\)`)
	exposes    = lazyregexp.New(`(?im)^\s*EXPOSE\s+(\d+)`)
)

// port finds where the program listens, by what it asks the environment for, by its code and by
// its Dockerfile.
func (s *serving) port() {
	files := s.code.of(s.main.reaches)
	take := func(text, source string) bool {
		n, ok := portOf(text)
		if ok {
			s.service.Port = n
			s.evidence("service.port", fmt.Sprint(n), source)
		}
		return ok
	}
	for _, f := range files {
		if x := listenCall.FindStringSubmatchIndex(f.text); x != nil && !strings.Contains(lineOf(f.text, x[0]), "pprof") {
			for g := 2; g < 8; g += 2 {
				if x[g] >= 0 && take(f.text[x[g]:x[g+1]], f.lineAt(x[0])) {
					return
				}
			}
		}
	}
	all := s.asked()
	names := sortedNames(all)
	sort.Slice(names, func(i, j int) bool {
		return len(names[i]) < len(names[j]) || len(names[i]) == len(names[j]) && names[i] < names[j]
	})
	for _, name := range names {
		isPort, isAddr := portVariable.MatchString(name), addrVariable.MatchString(name)
		if !isPort && !isAddr || otherPort.MatchString(name) || settings.Role(name) != "" {
			continue
		}
		if v := s.values[name]; v != "" && take(v, name) {
			return
		}
		if f := all[name].fallback; f != "" && take(f, all[name].source) {
			return
		}
		if isPort {
			s.set(name, s.portText(files, "8080"), "made up: "+all[name].source+" asks for it")
		} else {
			s.set(name, ":8080", "made up: "+all[name].source+" asks for it")
		}
		if take(s.values[name], name) {
			return
		}
	}
	if s.flagPort(files, take) {
		return
	}
	for _, f := range files {
		if x := emptyRun.FindStringIndex(f.text); x != nil {
			if _, ok := importer([]*goFile{f}, routes.Imports("gin")); ok {
				s.set("PORT", "8080", f.lineAt(x[0]))
				take("8080", f.lineAt(x[0]))
				return
			}
		}
	}
	for _, c := range s.configs() {
		if text := portIn(c.text); text != "" && take(text, c.path) {
			return
		}
	}
	for _, f := range files {
		for _, x := range namedPort.FindAllStringSubmatchIndex(f.text, 8) {
			if !otherPort.MatchString(lineOf(f.text, x[0])) && take(f.text[x[2]:x[3]], f.lineAt(x[0])) {
				return
			}
		}
	}
	for _, p := range settings.Dockerfiles(s.p.Solution, []string{s.module.Dir, ""}) {
		data, err := s.p.Solution.Read(p)
		if x := exposes.FindSubmatch(data); err == nil && x != nil && take(string(x[1]), p) {
			return
		}
	}
	take("8080", "convention")
}

var colonPort = lazyregexp.New(`":"\s*\+|":%[sdv]|%[sv]:%[sdv]`)

// portText is a port as the program reads it: with a colon where it adds none itself.
func (s *serving) portText(files []*goFile, port string) string {
	for _, f := range files {
		if colonPort.MatchString(f.text) {
			return port
		}
	}
	if slices.ContainsFunc(files, func(f *goFile) bool { return emptyRun.MatchString(f.text) }) {
		return port
	}
	return ":" + port
}

var flagCall = lazyregexp.New(`\b(?:flag|pflag|fs|flags|Flags\(\)|PersistentFlags\(\))\.(?:String|Int|Uint|StringP|IntP)(?:Var|VarP)?\(\s*(?:&[\w.]+\s*,\s*)?"([\w.-]*(?:port|addr|listen|bind|http)[\w.-]*)"\s*,\s*(?:"\w?"\s*,\s*)?"?([\w.]*:?\d+)"?`)

// flagPort is the default of a flag that says where to listen.
func (s *serving) flagPort(files []*goFile, take func(text, source string) bool) bool {
	for _, f := range files {
		for _, x := range flagCall.FindAllStringSubmatchIndex(f.text, 8) {
			if !otherPort.MatchString(f.text[x[2]:x[3]]) && take(f.text[x[4]:x[5]], f.lineAt(x[0])) {
				return true
			}
		}
	}
	return false
}

// configFile is a configuration file of the tree that the program may read.
type configFile struct {
	path, text string
}

var (
	configName = lazyregexp.New(`(?i)(?:^|/)(?:config|conf|app|application|settings|server|local|dev|development|default|(?:config|conf|app|settings|application)[._-](?:local|dev|development|default|example|sample|dist|template)|[\w-]*config)\.(?:ya?ml|toml|json)(?:\.(?:example|sample|dist))?$`)
	configPort = lazyregexp.New(`(?i)^(?:http_?|server_?|app_?|api_?)?(?:port|addr|address|listen)$`)
	serverHead = lazyregexp.New(`(?i)^(?:\w+[._-])?(?:http|server|app|api|web|service|listen|rest|gin|application)(?:[._-]?server)?$`)
	configKey  = lazyregexp.New(`^(\s*)"?([A-Za-z_][\w.-]*)"?\s*[:=]\s*(.*?),?\s*$`)
	configHead = lazyregexp.New(`^\s*\[([\w.-]+)\]`)
)

// configs are the configuration files of the module, those nearest to its root first.
func (s *serving) configs() []configFile {
	var out []configFile
	for _, p := range s.p.Solution.Paths() {
		under := s.module.Dir == "" || strings.HasPrefix(p, s.module.Dir+"/")
		if !under || !configName.MatchString(p) || otherName.MatchString(dirOf(p)) || strings.Contains(p, "node_modules/") {
			continue
		}
		data, err := s.p.Solution.Read(p)
		if err != nil || len(data) > 64<<10 {
			continue
		}
		out = append(out, configFile{p, strings.ReplaceAll(string(data), "\r\n", "\n")})
		if len(out) == 40 {
			break
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return strings.Count(out[i].path, "/") < strings.Count(out[j].path, "/") })
	return out
}

// portIn is the port of a configuration file: at its top, or below a section for the server.
func portIn(text string) string {
	section, depth := "", -1
	for _, line := range strings.Split(text, "\n") {
		if x := configHead.FindStringSubmatch(line); x != nil {
			section, depth = x[1], -1
			continue
		}
		x := configKey.FindStringSubmatch(line)
		if x == nil {
			continue
		}
		value := strings.Trim(strings.TrimSpace(x[3]), `"'`)
		if depth >= 0 && len(x[1]) <= depth {
			section, depth = "", -1
		}
		if value == "" || value == "{" {
			section, depth = x[2], len(x[1])
			continue
		}
		if _, ok := portOf(value); ok && configPort.MatchString(x[2]) && (section == "" || serverHead.MatchString(section)) {
			return value
		}
	}
	return ""
}

// configure writes the configuration files that name a database so that they name ours, and the
// .env that people copy from its example.
func (s *serving) configure() {
	files := map[string]string{}
	if s.env.Example != "" && !s.env.Own {
		if at, ok := s.opensDotenv(); ok {
			files[path.Join(s.module.Dir, ".env")] = s.env.Dotenv(s.values)
			s.evidence("service.files", ".env from "+s.env.Example, at)
		}
	}
	if at, ok := s.opensDotenv(); ok && s.env.Example == "" && !s.env.Own && len(s.values) > 0 {
		var lines []string
		for _, name := range sortedNames(s.values) {
			lines = append(lines, name+"="+s.values[name])
		}
		files[path.Join(s.module.Dir, ".env")] = strings.Join(lines, "\n") + "\n" // some programs end where there is none
		s.evidence("service.files", ".env, which the program reads and the tree does not have", at)
	}
	for _, c := range s.configs() {
		text := c.text
		if settings.Serves(s.service.Database) || len(s.service.Brokers) > 0 {
			text = s.fit(text)
		}
		to := c.path
		if base := exampleWord.ReplaceAllString(path.Base(c.path), ""); base != path.Base(c.path) {
			to = path.Join(dirOf(c.path), base)
			if s.p.Solution.Has(to) || files[to] != "" || !s.reads(base) {
				continue
			}
		}
		if text != c.text || to != c.path {
			files[to] = text
			s.evidence("service.files", to+" with our database", c.path)
		}
	}
	if len(files) > 0 {
		s.service.Files = files
	}
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

var exampleWord = lazyregexp.New(`(?i)[._-](?:example|sample|dist|template|default)\b|^(?:example|sample)[._-]`)

// reads reports whether the program names a configuration file, by its name or by its trunk.
func (s *serving) reads(base string) bool {
	trunk, _, _ := strings.Cut(base, ".")
	for _, f := range s.code.of(s.main.reaches) {
		if strings.Contains(f.text, base) || strings.Contains(f.text, `SetConfigName("`+trunk+`")`) {
			return true
		}
	}
	return false
}

var dotenvFile = lazyregexp.New("[\"`](?:\\./)?\\.env[\"`]|\\bgodotenv\\.")

// opensDotenv is where the program reads an .env.
func (s *serving) opensDotenv() (string, bool) {
	for _, f := range s.code.of(s.main.reaches) {
		if at := dotenvFile.FindStringIndex(f.text); at != nil {
			return f.lineAt(at[0]), true
		}
	}
	return "", false
}

var databaseKey = lazyregexp.New(`(?i)^(?:\w+[._-])?(?:db|database|postgres|postgresql|pg|psql|mysql|mariadb|sql|storage)(?:[._-]\w+)?$`)

// fit rewrites the lines of a configuration file that say where the database is: a URL, or the
// parts below a section for it.
func (s *serving) fit(text string) string {
	lines := strings.Split(text, "\n")
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
		fitted := s.fitted(section, key, value)
		if fitted != value && value != "" {
			lines[i] = strings.Replace(line, value, fitted, 1)
		}
	}
	return strings.Join(lines, "\n")
}

// about is the kind of database or broker beside the service that a key is about, "" where it is
// about none.
func (s *serving) about(key string) string {
	switch {
	case s.service.Needs(settings.RedisName) && redisKey.MatchString(key):
		return settings.RedisName
	case settings.Serves(s.service.Database) && databaseKey.MatchString(key):
		return s.service.Database
	}
	return ""
}

var redisKey = lazyregexp.New(`(?i)^(?:\w+[._-])?redis(?:[._-]\w+)?$`)

// fitted is the value of a key, below a section or at the top, that leads to ours.
func (s *serving) fitted(section, key, value string) string {
	kind, about := settings.KindOf(value), cmp.Or(s.about(section), s.about(key))
	name := strings.ToUpper(key)
	switch {
	case settings.Serves(kind) && kind == s.service.Database:
		return s.store.Fit(value)
	case about == settings.RedisName || s.service.Needs(settings.RedisName) && kind == settings.RedisName:
		if section != "" {
			name = "REDIS_" + name
		}
		if fitted, _, ok := settings.Broker(s.service.Brokers, name, value); ok {
			return fitted
		}
	case about != "":
		if section != "" {
			name = "DB_" + name
		}
		if role := settings.RoleOf(about, name); role != "" {
			return s.store.Part(role, value)
		}
	}
	return value
}
