package serve

import "github.com/benchmint/benchmint/schemas"

var redis = engine{
	kind: schemas.BrokerRedis, title: "Redis", packages: []string{"redis-server", "redis-tools"}, port: schemas.RedisPort,
	find: findRedis, make: "mkdir -p \"$data\"\n" + startRedis, start: startRedis, stop: stopRedis,
}

const findRedis = `data=` + home + `/redis
log=/tmp/redis.log
`

// startRedis reads what stopRedis wrote; while the service runs nothing is written.
const startRedis = `redis-server --port 6379 --bind 127.0.0.1 --save '' --appendonly no --dir "$data" --pidfile "$data/server.pid" --logfile "$log" --daemonize yes >/dev/null
tries=0
until redis-cli -h 127.0.0.1 ping 2>/dev/null | grep -q PONG; do
  tries=$((tries + 1))
  [ $tries -lt 600 ] || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
`

const stopRedis = `redis-cli -h 127.0.0.1 shutdown save
`
