package settings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// dialect is how programs and repositories write where a database or broker is.
type dialect struct {
	kind   string
	port   int      // where it listens if nobody says so
	more   []int    // other ports that programs look for it at
	scheme string   // of its URLs
	images []string // parts of the names of its images
	// names are those of variables about it, and others those among them that are about another.
	names, others *lazyregexp.Regexp
	// read takes a form that is not a URL apart, and fit makes it ours; false where the value is a
	// URL. Both are nil where there is no other form.
	read func(*Store, string) bool
	fit  func(Store, string) (string, bool)
	// plain is the query of a URL without encryption.
	plain func(query string) string
	// dsn is the form that drivers of Go take.
	dsn func(Store) string
}

// dialects are those of the servers that services are started with.
var dialects = []*dialect{postgresDialect, mysqlDialect, redisDialect, smtpDialect}

// dialectOf is nil for a kind that is not served.
func dialectOf(kind string) *dialect {
	for _, d := range dialects {
		if d.kind == kind {
			return d
		}
	}
	return nil
}

// KindAt is the kind that listens on a port if nobody says so, "" where none does.
func KindAt(port string) string {
	for _, d := range dialects {
		if slices.ContainsFunc(append([]int{d.port}, d.more...), func(p int) bool { return strconv.Itoa(p) == port }) {
			return d.kind
		}
	}
	return ""
}

// Brokers are the brokers and caches that services are started with.
func Brokers() []string {
	var out []string
	for _, d := range dialects {
		if !Stores(d.kind) {
			out = append(out, d.kind)
		}
	}
	return out
}

// kindOfImage is the kind that a container of an image serves, "" where it serves none.
func kindOfImage(image string) string {
	for _, d := range dialects {
		for _, part := range d.images {
			if strings.Contains(image, part) {
				return d.kind
			}
		}
	}
	return ""
}

// same is the query of a kind whose URLs say nothing of encryption there.
func same(query string) string { return query }
