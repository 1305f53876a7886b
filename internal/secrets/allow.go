package secrets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
)

// Allow names findings that are known to be none: fingerprints (RULE:HEX, as a finding
// has them), files (tests/key.pem), and folders (tests/certs/).
type Allow []string

var fingerprintShape = lazyregexp.New(`^([^/:]+):([^/:]*)$`)

// Validate reports entries that can allow nothing.
func (a Allow) Validate() []error {
	var out []error
	for _, entry := range a {
		m := fingerprintShape.FindStringSubmatch(entry)
		switch {
		case entry == "" || strings.HasPrefix(entry, "/") || strings.ContainsAny(entry, "*?"):
			out = append(out, fmt.Errorf("%q is not RULE:FINGERPRINT, a file or a folder that ends in / (without patterns, relative to the repository)", entry))
		case m == nil:
		case !slices.Contains(Rules(), m[1]):
			out = append(out, fmt.Errorf("%q: there is no rule %q%s", entry, m[1], nearest.Hint(m[1], Rules())))
		case len(m[2]) != 8 || strings.Trim(m[2], "0123456789abcdef") != "":
			out = append(out, fmt.Errorf("%q: %q is not 8 hex digits", entry, m[2]))
		}
	}
	return out
}

// Has reports whether a finding is allowed.
func (a Allow) Has(f Finding) bool {
	return slices.ContainsFunc(a, func(entry string) bool {
		return entry == f.Fingerprint || f.Path != "" && (entry == f.Path || strings.HasSuffix(entry, "/") && strings.HasPrefix(f.Path, entry))
	})
}

// Without is the findings that are not allowed.
func (a Allow) Without(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), a.Has)
}

// Tell says what was found in a text, and how it is allowed; never the secret.
func Tell(name string, all []Finding) string {
	const most = 5
	var words []string
	for i, f := range all {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		where := fmt.Sprintf("line %d of the %s", f.Line, name)
		if f.Path != "" {
			where = fmt.Sprintf("%q, %s", f.Path, where)
		}
		words = append(words, fmt.Sprintf("%s at %s (%s)", f.Rule, where, f.Fingerprint))
	}
	return "what looks like a credential: " + strings.Join(words, "; ")
}
