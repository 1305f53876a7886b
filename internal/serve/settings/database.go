package settings

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Store is a database that a service asks for.
type Store struct {
	Kind                 string // a constant of schemas, or the name of one that is not supported
	User, Password, Name string
	Port                 int
	Source               string
}

// Backend is one kind of database or broker, and how a tree shows that it uses it.
type Backend struct {
	Kind    string
	Schemes []string // of URLs, without a driver
	Python  []string // modules that ask it
	Go      []string // import paths that ask it
}

// The kinds that services are started with.
const (
	PostgresName = schemas.DatabasePostgres
	SQLiteName   = schemas.DatabaseSQLite
	MySQLName    = schemas.DatabaseMySQL
	RedisName    = schemas.BrokerRedis
	SMTPName     = schemas.BrokerSMTP
)

// Backends are the databases and brokers that are known. Those that are not Supported are named
// in refusals.
var Backends = []Backend{
	{SQLiteName, []string{"sqlite", "sqlite3"}, []string{"sqlite3", "aiosqlite"},
		[]string{"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "gorm.io/driver/sqlite", "github.com/glebarez/sqlite", "github.com/jinzhu/gorm/dialects/sqlite", "github.com/glebarez/go-sqlite", "github.com/ncruces/go-sqlite3", "zombiezen.com/go/sqlite", "crawshaw.io/sqlite", "github.com/tursodatabase/go-libsql"}},
	{PostgresName, []string{"postgres", "postgresql", "pgsql"}, []string{"psycopg2", "psycopg", "asyncpg", "aiopg", "pg8000"},
		[]string{"github.com/lib/pq", "github.com/jackc/pgx", "gorm.io/driver/postgres", "github.com/jinzhu/gorm/dialects/postgres", "github.com/go-pg/pg", "github.com/uptrace/bun/driver/pgdriver", "github.com/uptrace/bun/dialect/pgdialect"}},
	{MySQLName, []string{"mysql", "mariadb"}, []string{"pymysql", "MySQLdb", "mysql", "aiomysql", "asyncmy", "flask_mysqldb", "flaskext"},
		[]string{"github.com/go-sql-driver/mysql", "gorm.io/driver/mysql", "github.com/jinzhu/gorm/dialects/mysql"}},
	{"SQL Server", []string{"mssql", "sqlserver"}, []string{"pymssql", "pyodbc"}, []string{"github.com/denisenkom/go-mssqldb", "github.com/microsoft/go-mssqldb", "gorm.io/driver/sqlserver"}},
	{"Oracle", []string{"oracle"}, []string{"cx_Oracle", "oracledb"}, []string{"github.com/godror/godror", "github.com/sijms/go-ora"}},
	{"MongoDB", []string{"mongodb", "mongodb+srv"}, []string{"pymongo", "motor", "mongoengine", "flask_mongoengine", "flask_pymongo", "beanie", "odmantic", "umongo"},
		[]string{"go.mongodb.org/mongo-driver", "gopkg.in/mgo.v2", "github.com/globalsign/mgo"}},
	{RedisName, []string{"redis", "rediss"}, []string{"redis", "aioredis", "flask_redis", "redis_om", "fastapi_limiter", "django_redis", "rq", "arq"}, []string{"github.com/go-redis/redis", "github.com/redis/go-redis", "github.com/gomodule/redigo", "github.com/redis/rueidis", "github.com/go-redis/cache"}},
	{SMTPName, []string{"smtp", "smtps", "smtp+tls", "smtp+ssl", "submission"}, nil, nil},
	{"Kafka", []string{"kafka"}, []string{"kafka", "aiokafka", "confluent_kafka"}, []string{"github.com/segmentio/kafka-go", "github.com/Shopify/sarama", "github.com/IBM/sarama", "github.com/confluentinc/confluent-kafka-go"}},
	{"RabbitMQ", []string{"amqp", "amqps"}, []string{"pika", "aio_pika", "kombu"}, []string{"github.com/streadway/amqp", "github.com/rabbitmq/amqp091-go"}},
	{"NATS", []string{"nats"}, []string{"nats"}, []string{"github.com/nats-io/nats.go"}},
	{"Elasticsearch", nil, []string{"elasticsearch", "elasticsearch_dsl", "opensearchpy"}, []string{"github.com/elastic/go-elasticsearch", "github.com/olivere/elastic"}},
	{"Cassandra", nil, []string{"cassandra"}, []string{"github.com/gocql/gocql"}},
	{"Neo4j", []string{"neo4j", "bolt"}, []string{"neo4j", "py2neo", "neomodel"}, []string{"github.com/neo4j/neo4j-go-driver"}},
	{"InfluxDB", nil, []string{"influxdb", "influxdb_client"}, []string{"github.com/influxdata/influxdb-client-go"}},
	{"DynamoDB", nil, []string{"pynamodb"}, []string{"github.com/aws/aws-sdk-go-v2/service/dynamodb", "github.com/guregu/dynamo"}},
	{"Firestore", nil, []string{"firebase_admin"}, []string{"cloud.google.com/go/firestore", "firebase.google.com/go"}},
	{"etcd", []string{"etcd"}, []string{"etcd3"}, []string{"go.etcd.io/etcd/client"}},
	{"Memcached", nil, []string{"pymemcache", "pylibmc"}, []string{"github.com/bradfitz/gomemcache"}},
}

// Supported reports whether a kind is one that services are started with.
func Supported(kind string) bool {
	return kind == schemas.DatabaseNone || kind == SQLiteName || dialectOf(kind) != nil
}

// Serves reports whether a kind is a database with a server, which services are started with.
func Serves(kind string) bool { return dialectOf(kind) != nil && Stores(kind) }

// Stores reports whether what a kind holds is the service's own data: a service without it
// cannot answer. Brokers and caches may be optional.
func Stores(kind string) bool {
	return !slices.Contains([]string{RedisName, SMTPName, "Kafka", "RabbitMQ", "NATS", "etcd", "Memcached", "InfluxDB", "Elasticsearch"}, kind)
}

// schemeOf is the scheme of a URL without its driver: postgresql of postgresql+asyncpg.
var schemeOf = lazyregexp.New(`^([a-z][a-z0-9]*(?:\+srv)?)(?:\+[a-z0-9_]+)?:/`)

// KindOf is the kind of database that a URL names, "" where it is no such URL.
func KindOf(value string) string {
	x := schemeOf.FindStringSubmatch(value)
	if x == nil {
		return keywordKind(value)
	}
	for _, b := range Backends {
		if slices.Contains(b.Schemes, x[1]) {
			return b.Kind
		}
	}
	return ""
}

var (
	keyword     = lazyregexp.New(`\b(host|port|user|password|dbname|sslmode)\s*=\s*('[^']*'|\S+)`)
	sqliteFiles = lazyregexp.New(`^(?:file:)?[\w./-]+\.(?:db|sqlite3?|db3)(?:\?.*)?$`)
)

// keywordKind recognises DSNs that are no URL: "host=… user=…" and "user:pw@tcp(host)/db".
func keywordKind(value string) string {
	switch {
	case len(keyword.FindAllString(value, -1)) >= 2:
		return PostgresName
	case mysqlDSN.MatchString(value):
		return MySQLName
	case sqliteFiles.MatchString(value):
		return SQLiteName
	}
	return ""
}

// StoreOf reads a URL or DSN of a kind that Serves.
func StoreOf(value, source string) Store {
	s := Store{Kind: KindOf(value), Source: source}
	d := dialectOf(s.Kind)
	if d == nil || d.read != nil && d.read(&s, value) {
		return s
	}
	u, err := url.Parse(value)
	if err != nil {
		return s
	}
	s.User = u.User.Username()
	s.Password, _ = u.User.Password()
	s.Name = strings.Trim(u.Path, "/")
	if local(u.Hostname()) {
		s.Port, _ = strconv.Atoi(u.Port()) // 0: the default
	}
	return s
}

func local(host string) bool {
	return host == "" || host == "localhost" || host == "127.0.0.1" || host == "0.0.0.0" || host == "::1"
}

// Loopback is where the database of a service answers.
const Loopback = "127.0.0.1"

// Fit rewrites a URL or DSN of the store's kind so that it names the host, port and password of
// ours, and fills in what it leaves open.
func (s Store) Fit(value string) string {
	d := dialectOf(s.Kind)
	if d == nil || KindOf(value) != s.Kind {
		return value
	}
	if d.fit != nil {
		if fitted, ok := d.fit(s, value); ok {
			return fitted
		}
	}
	u, err := url.Parse(value)
	if err != nil {
		return s.URL(schemeText(value))
	}
	u.Host = s.address()
	name := u.User.Username()
	if _, has := u.User.Password(); name == "" || has {
		u.User = s.userinfo(name)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/" + s.Name
	}
	u.RawQuery = d.plain(u.RawQuery)
	return u.String()
}

func (s Store) address() string { return Loopback + ":" + strconv.Itoa(s.Port) }

// userinfo is nil for a kind that asks for no password, and may refuse one.
func (s Store) userinfo(name string) *url.Userinfo {
	if !Stores(s.Kind) {
		return nil
	}
	return url.UserPassword(cmp.Or(name, s.User), s.Password)
}

func schemeText(value string) string {
	scheme, _, _ := strings.Cut(value, ":")
	return scheme
}

// URL is the URL of the database with a scheme (postgresql, postgresql+asyncpg).
func (s Store) URL(scheme string) string {
	u := url.URL{Scheme: scheme, User: s.userinfo(""), Host: s.address(), Path: "/" + s.Name}
	return u.String()
}

// DSN is the address of the database as most programs of a language take it.
func (s Store) DSN(language string) string {
	switch d := dialectOf(s.Kind); {
	case d == nil:
		return ""
	case language == "go":
		return d.dsn(s)
	default:
		return s.URL(d.scheme)
	}
}

// Parts of the names of variables that describe one database.
var (
	forTests = lazyregexp.New(`(?i)(?:^|_)TEST(?:S|ING)?(?:_|$)`)
	hostPart = lazyregexp.New(`(?i)(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS)$`)
	portPart = lazyregexp.New(`(?i)PORT$`)
	userPart = lazyregexp.New(`(?i)(?:USER|USERNAME|LOGIN)$`)
	wordPart = lazyregexp.New(`(?i)(?:PASSWORD|PASS|PASSWD|PWD)$`)
	namePart = lazyregexp.New(`(?i)(?:^|_)(?:NAME|DB|DBNAME|DATABASE|DATABASENAME)$|^PGDATABASE$|^DBNAME$|DB_?NAME$`)
	sslPart  = lazyregexp.New(`(?i)SSL_?MODE$`)
)

// Role is which part of a database's address a variable holds: host, port, user, password,
// name, ssl, or "" where it holds none.
func Role(name string) string {
	for _, d := range dialects {
		if role := RoleOf(d.kind, name); role != "" && Stores(d.kind) {
			return role
		}
	}
	return ""
}

// RoleOf is Role for one kind of database or broker.
func RoleOf(kind, name string) string {
	d := dialectOf(kind)
	if d == nil || !d.names.MatchString(name) || d.others.MatchString(name) || forTests.MatchString(name) {
		return ""
	}
	for _, r := range []struct {
		is   *lazyregexp.Regexp
		role string
	}{{sslPart, "ssl"}, {hostPart, "host"}, {portPart, "port"}, {userPart, "user"}, {wordPart, "password"}, {namePart, "name"}} {
		if r.is.MatchString(name) {
			return r.role
		}
	}
	return ""
}

// ForTests reports whether a variable is for tests, by its name.
func ForTests(name string) bool { return forTests.MatchString(name) }

// HostOf is whether a variable names the host of a database by the name of its container.
func (s *Settings) HostOf(name, value string) bool {
	d := dialectOf(s.Hosts[value])
	role := Role(name)
	return d != nil && Stores(d.kind) && d.names.MatchString(name) && (role == "" || role == "host")
}

// hostPort is a host with its port, in the place of a host alone.
var hostPort = lazyregexp.New(`^[\w.-]*:\d+$`)

// Part is the value that a variable of a role has with this database. like are the values that it
// has otherwise: an address stays one, and the number of a database of Redis, too.
func (s Store) Part(role string, like ...string) string {
	like = slices.DeleteFunc(slices.Clone(like), func(v string) bool { return v == "" })
	switch role {
	case "host":
		if len(like) > 0 && hostPort.MatchString(like[0]) {
			return s.address()
		}
		return Loopback
	case "port":
		return strconv.Itoa(s.Port)
	case "user":
		return s.User
	case "password":
		return s.Password
	case "name":
		if s.Kind == RedisName && len(like) > 0 {
			return like[0]
		}
		return s.Name
	case "ssl":
		return "disable"
	}
	return ""
}

// Broker is the value of a variable that says where one of the brokers is; false where it says
// nothing of one. like are the values that it has otherwise.
func Broker(kinds []string, name string, like ...string) (value, kind string, ok bool) {
	for _, kind := range kinds {
		s := Store{Kind: kind}.Filled()
		for _, v := range like {
			if KindOf(v) == kind {
				return s.Fit(v), kind, true
			}
		}
		d := dialectOf(kind)
		if d == nil || !d.names.MatchString(name) || d.others.MatchString(name) || forTests.MatchString(name) {
			continue
		}
		if whole.MatchString(name) && !slices.ContainsFunc(like, hostPort.MatchString) {
			return s.DSN(""), kind, true
		}
		switch role := RoleOf(kind, name); {
		case whole.MatchString(name) || role == "host" && addressName.MatchString(name):
			return s.Part("host", append(slices.Clone(like), s.address())...), kind, true
		case role != "":
			return s.Part(role, like...), kind, true
		}
	}
	return "", "", false
}

var (
	whole       = lazyregexp.New(`(?i)(?:URL|URI|DSN)$`)
	addressName = lazyregexp.New(`(?i)ADDR(?:ESS)?$`)
)

// Words of ours where a repository names none; they protect nothing.
const (
	DefaultUser     = "service"
	DefaultPassword = "service"
	DefaultName     = "service"
)

// Filled is the store with words of ours where the repository names none. The password is ours in
// any case: the database asks for none, and a task that held the repository's would look as if it
// gave away a credential.
func (s Store) Filled() Store {
	fill := func(v *string, with string) {
		if *v == "" {
			*v = with
		}
	}
	d := dialectOf(s.Kind)
	if d == nil {
		return s
	}
	switch {
	case Stores(s.Kind):
		fill(&s.User, DefaultUser)
		fill(&s.Name, DefaultName)
		s.Password = DefaultPassword
	case s.Kind == SMTPName:
		s.User, s.Password, s.Name = sender, DefaultPassword, "" // many send as who they log in as
	default:
		s.User, s.Password, s.Name = "", "", "0"
	}
	if s.Port <= 0 || s.Port > 65535 {
		s.Port = d.port
	}
	return s
}

// Database is the database that the variables describe: by a URL first, else by its parts.
func (s *Settings) Database() (Store, bool) {
	var parts Store
	found := false
	for _, name := range sorted(s.Values) {
		v := s.Values[name]
		if forTests.MatchString(name) {
			continue
		}
		if kind := KindOf(v.Text); kind != "" && Stores(kind) && !strings.HasPrefix(v.Text, "jdbc:") {
			return StoreOf(v.Text, v.Source), true
		}
		if role := Role(name); role != "" && v.Text != "" {
			parts.take(role, v)
			found = found || role != "ssl" && role != "password"
		}
	}
	return parts, found
}

func (s *Store) take(role string, v Value) {
	set := func(field *string) {
		if *field == "" {
			*field = v.Text
		}
	}
	if s.Source == "" {
		s.Source = v.Source
	}
	switch role {
	case "user":
		set(&s.User)
	case "password":
		set(&s.Password)
	case "name":
		set(&s.Name)
	}
}

func sorted(m map[string]Value) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Credential values that are made up where a service requires one: fixed, and of no use
// anywhere else.
const madeSecret = "benchmint-0123456789abcdef0123456789abcdef"

var (
	secretName  = lazyregexp.New(`(?i)SECRET|TOKEN|(?:^|_)KEY|SALT|PASSWORD|PASSWD|PASS$|JWT|HASH|PEPPER|SIGN`)
	mailName    = lazyregexp.New(`(?i)EMAIL|MAIL_?(?:FROM|SENDER|USER)|SUPERUSER$`)
	urlName     = lazyregexp.New(`(?i)(?:URL|URI|HOST_?NAME|ENDPOINT|ORIGINS?|DOMAIN)$`)
	numberName  = lazyregexp.New(`(?i)(?:MINUTES|SECONDS|HOURS|DAYS|EXPIRES?(?:_IN)?|EXPIRATION|TTL|TIMEOUT|LIMIT|SIZE|COUNT|MAX\w*|MIN\w*|LENGTH|ROUNDS|COST)$`)
	portName    = lazyregexp.New(`(?i)PORT$`)
	boolName    = lazyregexp.New(`(?i)^(?:USE|ENABLE|IS|HAS|DEBUG)|(?:ENABLED|DEBUG|TLS|SSL)$`)
	algorithm   = lazyregexp.New(`(?i)ALG(?:ORITHM|O)?$`)
	environment = lazyregexp.New(`(?i)^(?:FLASK|APP)_(?:CONFIG|MODE|STAGE)$|^(?:APP_?)?ENV(?:IRONMENT)?$|_ENV(?:IRONMENT)?$`)
)

// Made is a harmless value for a variable that a service requires and nobody gives.
func Made(name string) string {
	switch {
	case strings.HasSuffix(name, "ALLOWED_HOSTS"):
		return "*"
	case algorithm.MatchString(name):
		return "HS256"
	case numberName.MatchString(name):
		return "60"
	case portName.MatchString(name):
		return "8000"
	case boolName.MatchString(name):
		return "false"
	case mailName.MatchString(name):
		return "admin@example.com"
	case urlName.MatchString(name):
		return "http://localhost"
	case secretName.MatchString(name):
		return madeSecret
	case environment.MatchString(name):
		return "development"
	}
	return "benchmint"
}

var (
	secretKey   = lazyregexp.New(`(?i)SECRET|JWT_?KEY|SIGNING|SALT$|(?:^|_)(?:TOKEN|ACCESS|PRIVATE|SYMMETRIC|ENCRYPTION)_?KEY$|PASSPHRASE`)
	placeholder = lazyregexp.New(`(?i)^$|change|your|example|placeholder|replace|generate|todo|xxx|^<.*>$|^\W+$`)
)

// SecretKey reports whether a service cannot do its work without a variable, by its name: what
// it signs with.
func SecretKey(name string) bool { return secretKey.MatchString(name) }

// Placeholder reports whether a value of an example asks to be replaced. Some programs refuse
// to start with it.
func Placeholder(value string) bool { return placeholder.MatchString(value) }

var (
	loginName = lazyregexp.New(`(?i)^(.*?(?:FIRST_SUPERUSER|SUPERUSER|SUPER_USER|FIRST_USER|ADMIN|ROOT_USER|INITIAL_USER|DEFAULT_USER))(?:_(?:EMAIL|USERNAME|USER|NAME|LOGIN|MAIL))?$`)
)

// Login is the user that the settings seed: a pair of variables such as FIRST_SUPERUSER and
// FIRST_SUPERUSER_PASSWORD.
func Login(values map[string]string) (schemas.Login, bool) {
	names := make([]string, 0, len(values))
	for n := range values {
		names = append(names, n)
	}
	slices.Sort(names)
	var best schemas.Login
	for _, n := range names {
		x := loginName.FindStringSubmatch(n)
		if x == nil || values[n] == "" {
			continue
		}
		for _, suffix := range []string{"_PASSWORD", "_PASS", "_PWD"} {
			word := values[x[1]+suffix]
			if word == "" {
				continue
			}
			if best.User == "" || strings.Contains(values[n], "@") && !strings.Contains(best.User, "@") {
				best = schemas.Login{User: values[n], Password: word}
			}
		}
	}
	return best, best.User != ""
}
