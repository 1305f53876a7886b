package settings

import (
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// extensions are the parts of PostgreSQL that people install by hand, and how code uses them.
var extensions = []struct {
	name string
	use  *lazyregexp.Regexp
}{
	{"citext", lazyregexp.New(`(?i)\bcitext\b`)},
	{"pg_trgm", lazyregexp.New(`\bgin_trgm_ops\b|\bgist_trgm_ops\b`)},
	{"pgcrypto", lazyregexp.New(`\bgen_salt\(`)},
	{"uuid-ossp", lazyregexp.New(`\buuid_generate_v\d`)},
}

var createsExtension = lazyregexp.New(`(?i)CREATE\s+EXTENSION`)

// Extensions is the command that adds to a database what the code uses of PostgreSQL's
// extensions and nothing in the tree creates; ok is false where there is nothing to add. It runs
// with the database up, and source says where the first is used.
func (s Store) Extensions(t Tree) (c schemas.Command, source string, ok bool) {
	var names []string
	for _, e := range extensions {
		at, created := "", false
		for _, p := range t.Paths() {
			if !strings.HasSuffix(p, ".py") && !strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, ".sql") {
				continue
			}
			text := read(t, p)
			created = created || createsExtension.MatchString(text) && strings.Contains(text, e.name)
			if at == "" && e.use.MatchString(text) {
				at = p
			}
		}
		if at != "" && !created {
			names = append(names, e.name)
			source = at
		}
	}
	if len(names) == 0 {
		return c, "", false
	}
	const script = `set -eu
port=$1 name=$2; shift 2
for extension in "$@"; do
  "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/psql" --quiet --no-psqlrc --host /tmp --port "$port" --username postgres --dbname "$name" \
    --command "CREATE EXTENSION IF NOT EXISTS \"$extension\""
done`
	return schemas.Command{Argv: append([]string{"bash", "-c", script, "extensions", strconv.Itoa(s.Port), s.Name}, names...)}, source, true
}
