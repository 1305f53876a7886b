package serve

import "github.com/benchmint/benchmint/schemas"

var mysql = engine{
	kind: schemas.DatabaseMySQL, title: "MySQL (MariaDB)", packages: []string{"mariadb-client-core", "mariadb-server-core"},
	find: findMySQL, make: makeMySQL, start: startMySQL, stop: stopMySQL,
	// MariaDB does not know the collations of MySQL 8.
	client: `sed 's/utf8mb4_0900_[a-z_]*/utf8mb4_unicode_ci/g' | mariadb --no-defaults --protocol tcp --host 127.0.0.1 --port {port} --user {user} --password={password} {name}`,
}

const findMySQL = `data=` + home + `/mysql
log=/tmp/mysql.log
pid=$data/server.pid
mysql() { mariadb --no-defaults --socket /tmp/mysql.sock --user root "$@"; }
`

// startMySQL starts the server apart from the shell, which becomes the service.
const startMySQL = `setsid --fork mariadbd --defaults-file="$data/my.cnf" </dev/null >"$log" 2>&1
tries=0
until [ -e "$pid" ] && mysql --execute 'SELECT 1' >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 600 ] || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
`

// makeMySQL lets in everybody, whatever the password: only the service can ask it. No user is
// made, because a server without grants knows none.
const makeMySQL = `mkdir -p "$data"
mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --force \
  --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M --innodb-buffer-pool-size=8M >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cat >"$data/my.cnf" <<CONF
[mariadbd]
datadir = $data
port = $1
bind-address = 127.0.0.1
socket = /tmp/mysql.sock
pid-file = $pid
tmpdir = /tmp
skip-grant-tables
skip-name-resolve
skip-log-bin
character-set-server = utf8mb4
collation-server = utf8mb4_unicode_ci
default-time-zone = +00:00
performance-schema = off
innodb-data-file-path = ibdata1:10M:autoextend
innodb-log-file-size = 4M
innodb-buffer-pool-size = 32M
innodb-flush-log-at-trx-commit = 0
innodb-flush-method = nosync
innodb-doublewrite = off
innodb-use-native-aio = off
innodb-stats-auto-recalc = off
key-buffer-size = 1M
aria-pagecache-buffer-size = 1M
max-connections = 60
CONF
` + startMySQL + `mysql --execute "CREATE DATABASE IF NOT EXISTS ` + "\\`${4//\\`/\\`\\`}\\`\"" + `
`

const stopMySQL = `mysql --execute SHUTDOWN
while [ -e "$pid" ]; do sleep 0.05; done
`
