package serve

import "github.com/benchmint/benchmint/schemas"

var postgres = engine{
	kind: schemas.DatabasePostgres, title: "PostgreSQL", packages: []string{"postgresql"},
	find: findPostgres, make: makePostgres, start: startPostgres, stop: stopPostgres,
	client: `PGPASSWORD={password} "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/psql" --quiet --no-psqlrc --set ON_ERROR_STOP=1 --host 127.0.0.1 --port {port} --username {user} --dbname {name}`,
}

// findPostgres sets the folder of PostgreSQL's programs, which Debian keeps out of PATH.
const findPostgres = `postgres=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
data=` + home + `/postgres
log=/tmp/postgres.log
`

// startPostgres starts the server and waits for it. Its log is shown where it does not start.
const startPostgres = `"$postgres/pg_ctl" --pgdata "$data" --log "$log" --wait --timeout 60 start >/dev/null || { cat "$log" >&2; exit 1; }
`

// makePostgres trusts everybody: only the service can ask it.
const makePostgres = `mkdir -p "${data%/*}"
"$postgres/initdb" --pgdata "$data" --username postgres --auth trust --encoding UTF8 --locale C.UTF-8 --no-sync >/dev/null
cat >>"$data/postgresql.conf" <<CONF
port = $1
listen_addresses = '127.0.0.1'
unix_socket_directories = '/tmp'
fsync = off
full_page_writes = off
synchronous_commit = off
jit = off
max_connections = 60
shared_buffers = 32MB
timezone = 'UTC'
autovacuum = off
CONF
` + startPostgres + `"$postgres/psql" --quiet --no-psqlrc --host /tmp --port "$1" --username postgres --set ON_ERROR_STOP=1 \
  --set user="$2" --set password="$3" --set name="$4" <<'SQL'
SELECT format('CREATE ROLE %I SUPERUSER LOGIN', :'user') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'user') \gexec
ALTER ROLE :"user" PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'user') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
SQL
`

const stopPostgres = `"$postgres/pg_ctl" --pgdata "$data" --mode fast --wait stop >/dev/null
`
