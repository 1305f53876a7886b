package settings

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

var redisDialect = &dialect{
	kind: RedisName, port: schemas.RedisPort, scheme: "redis", images: []string{"redis", "valkey", "keydb", "dragonfly"},
	names:  lazyregexp.New(`(?i)REDIS`),
	others: lazyregexp.New(`(?i)SENTINEL|CLUSTER`),
	fit:    fitRedis, plain: same,
	dsn: func(s Store) string { return s.URL("redis") },
}

// fitRedis takes what stands before the host out: a server without a password refuses one. Ours has
// no certificate.
func fitRedis(s Store, value string) (string, bool) {
	_, rest, _ := strings.Cut(value, "://")
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	_, path, _ := strings.Cut(rest, "/")
	path, query, has := strings.Cut(path, "?")
	if path == "" {
		path = s.Name
	}
	if has {
		path += "?" + query
	}
	return "redis://" + s.address() + "/" + path, true
}
