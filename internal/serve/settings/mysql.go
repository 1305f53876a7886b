package settings

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var mysqlDialect = &dialect{
	kind: MySQLName, port: 3306, scheme: "mysql+pymysql", images: []string{"mysql", "mariadb", "percona"},
	names:  lazyregexp.New(`(?i)(?:^|_)(?:DB|DATABASE|MYSQL|MARIADB|SQL)(?:_|$)|^MYSQL[A-Z]+$|^DB[A-Z]+$`),
	others: lazyregexp.New(`(?i)REDIS|MONGO|POSTGRES|CACHE|ELASTIC|RABBIT|AMQP|KAFKA|NATS|SMTP|MAIL|NEO4J|INFLUX|SSL_?MODE$`),
	read:   readDSN, fit: fitDSN, plain: same,
	dsn: func(s Store) string {
		return s.User + ":" + s.Password + "@tcp(" + s.address() + ")/" + s.Name + "?charset=utf8mb4&parseTime=true"
	},
}

// mysqlDSN is the form of the driver of Go, with the scheme that golang-migrate puts in front:
// user:password@tcp(host:port)/name?parseTime=true.
var mysqlDSN = lazyregexp.New(`^(mysql://)?([^:@/\s]*)(?::([^@\s]*))?@(?:tcp|unix)\(([^)]*)\)(?:/([^?\s]*))?(\?\S*)?`)

// readDSN leaves out what a program fills in: user:%s@tcp(%s)/%s.
func readDSN(s *Store, value string) bool {
	x := mysqlDSN.FindStringSubmatch(value)
	if x == nil {
		return false
	}
	if strings.Contains(value, "%") {
		return true
	}
	s.User, s.Password, s.Name = x[2], x[3], x[5]
	if host, port, _ := strings.Cut(x[4], ":"); local(host) {
		s.Port, _ = strconv.Atoi(port) // 0: the default
	}
	return true
}

func fitDSN(s Store, value string) (string, bool) {
	x := mysqlDSN.FindStringSubmatch(value)
	if x == nil {
		return "", false
	}
	return x[1] + cmp.Or(x[2], s.User) + ":" + s.Password + "@tcp(" + s.address() + ")/" + cmp.Or(x[5], s.Name) + x[6], true
}
