package settings

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var postgresDialect = &dialect{
	kind: PostgresName, port: 5432, scheme: "postgresql", images: []string{"postgres", "postgis"},
	names:  lazyregexp.New(`(?i)(?:^|_)(?:DB|DATABASE|POSTGRES|POSTGRESQL|PG|PSQL|SQL|POSTGRE)(?:_|$)|^PG(?:HOST|PORT|USER|PASSWORD|DATABASE)$|^DB[A-Z]+$`),
	others: lazyregexp.New(`(?i)REDIS|MONGO|MYSQL|MARIADB|CACHE|ELASTIC|RABBIT|AMQP|KAFKA|NATS|SMTP|MAIL|NEO4J|INFLUX`),
	read:   readKeywords, fit: fitKeywords, plain: withoutSSL,
	dsn: func(s Store) string { return s.URL("postgres") + "?sslmode=disable" },
}

// readKeywords reads "host=… user=…".
func readKeywords(s *Store, value string) bool {
	if schemeOf.MatchString(value) {
		return false
	}
	for _, x := range keyword.FindAllStringSubmatch(value, -1) {
		v := strings.Trim(x[2], "'")
		switch x[1] {
		case "user":
			s.User = v
		case "password":
			s.Password = v
		case "dbname":
			s.Name = v
		case "port":
			s.Port, _ = strconv.Atoi(v) // 0: the default
		}
	}
	return true
}

func fitKeywords(s Store, value string) (string, bool) {
	if schemeOf.MatchString(value) {
		return "", false
	}
	return keyword.ReplaceAllStringFunc(value, func(m string) string {
		x := keyword.FindStringSubmatch(m)
		switch x[1] {
		case "host":
			return "host=" + Loopback
		case "port":
			return "port=" + strconv.Itoa(s.Port)
		case "password":
			return "password=" + s.Password
		case "sslmode":
			return "sslmode=disable"
		}
		return m
	}), true
}

func withoutSSL(query string) string {
	q, err := url.ParseQuery(query)
	if err != nil || q.Get("sslmode") == "" && q.Get("ssl") == "" {
		return query
	}
	if q.Has("sslmode") {
		q.Set("sslmode", "disable")
	}
	q.Del("ssl")
	return q.Encode()
}
