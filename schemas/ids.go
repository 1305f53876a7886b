package schemas

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Kind is a task kind (design 2).
type Kind string

// KindFeature is a landed change, its base and its tests.
const KindFeature Kind = "feature"

const (
	maxID      = 100 // characters: design 4
	commitHex  = 12
	localOwner = "local"
)

// InstanceID is owner__name-KEY (design 4): [A-Za-z0-9._-], at most 100
// characters, stable across runs and releases.
type InstanceID struct {
	Repo string // owner__name
	Key  string // 1234, or c and 12 hex
}

// FeatureID names a landed change: by number, or by commit where there is none.
func FeatureID(repo string, number int, commit string) InstanceID {
	key := strconv.Itoa(number)
	if number == 0 {
		key = "c" + commit[:min(commitHex, len(commit))]
	}
	return InstanceID{Repo: RepoSlug(repo), Key: key}
}

func (id InstanceID) String() string { return id.Repo + "-" + id.Key }

var (
	idShape  = lazily(`^([A-Za-z0-9._-]+?__[A-Za-z0-9._-]+)-([A-Za-z0-9._]+)$`)
	badInID  = lazily(`[^A-Za-z0-9._-]`)
	numOrHex = lazily(`^([1-9][0-9]*|c[0-9a-f]{12})$`)
)

// lazily compiles at the first use: this package has nothing of ours to do it with.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// ParseInstanceID reads what String writes. The kind is never read from it.
func ParseInstanceID(s string) (InstanceID, error) {
	m := idShape().FindStringSubmatch(s)
	if m == nil || len(s) > maxID {
		return InstanceID{}, fmt.Errorf("%q is no instance ID (owner__name-KEY, at most %d of A-Z a-z 0-9 . _ -)", s, maxID)
	}
	if !numOrHex().MatchString(m[2]) {
		return InstanceID{}, fmt.Errorf("%q: key %q is neither a number nor c and %d hex digits", s, m[2], commitHex)
	}
	return InstanceID{Repo: m[1], Key: m[2]}, nil
}

// RepoSlug turns owner/name into owner__name; a name that had to be changed or
// cut gets 8 hex of the original, so that two names never become one.
func RepoSlug(name string) string {
	owner, rest, ok := strings.Cut(name, "/")
	if !ok {
		owner, rest = localOwner, name
	}
	slug := badInID().ReplaceAllString(owner, "_") + "__" + badInID().ReplaceAllString(rest, "_")
	const room = maxID - 1 - (1 + commitHex) // for "-c<12 hex>"
	if slug != owner+"__"+rest || len(slug) > room || strings.Contains(rest, "__") {
		suffix := "_" + DigestBytes([]byte(name)).Short()[:8]
		slug = slug[:min(len(slug), room-len(suffix))] + suffix
	}
	return slug
}
