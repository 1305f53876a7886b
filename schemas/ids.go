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

// The kinds.
const (
	KindFeature Kind = "feature" // a landed change, its base and its tests
	KindEdit    Kind = "edit"    // one commit and a later one, told in a sentence
	KindLibrary Kind = "library" // a release with the bodies of its functions taken out
	KindService Kind = "service" // a release with the handlers of some endpoints taken out
)

// Kinds lists them.
var Kinds = []Kind{KindFeature, KindEdit, KindLibrary, KindService}

const (
	maxID      = 100 // characters: design 4
	commitHex  = 12
	baseHex    = 8
	localOwner = "local"
	// mostTag and mostPart bound what a key takes of a tag and of a group or slice, so
	// that something is left for the repository.
	mostTag, mostPart = 24, 20
	// strict is the profile of a library's ID that names none.
	strict = "strict"
)

// InstanceID is owner__name-KEY (design 4): [A-Za-z0-9._-], at most 100 characters,
// stable across runs and releases. The kind of a task is a field of its own and is
// never read from its ID.
type InstanceID struct {
	Repo string // RepoSlug, shorter where the key needs the room
	// Key has no "-". It is 1234 or c and 12 hex (feature), e and 12 hex and perhaps .b
	// and 8 hex (edit), TAG.library[.PROFILE[.SLICE]] or TAG.GROUP.service[.env].
	Key string
}

// FeatureID names a landed change: by number, or by commit where there is none.
func FeatureID(repo string, number int, commit string) InstanceID {
	if number != 0 {
		return idOf(repo, strconv.Itoa(number))
	}
	return idOf(repo, "c"+head(commit, commitHex))
}

// EditID names an edit by its solution commit, and by its base where that is not the
// commit's parent; base is "" where it is.
func EditID(repo, commit, base string) InstanceID {
	key := "e" + head(commit, commitHex)
	if base != "" {
		key += ".b" + head(base, baseHex)
	}
	return idOf(repo, key)
}

// LibraryID names a masked release. "" is the default profile, and the whole library.
// Profiles are a closed list of words; a slice is whatever a user has named.
func LibraryID(repo, tag, profile, slice string) InstanceID {
	key := slug(tag, mostTag, true) + "." + string(KindLibrary)
	if slice != "" && profile == "" {
		profile = strict // else a slice could be taken for a profile
	}
	if profile != "" {
		key += "." + strings.ReplaceAll(profile, "-", "_")
	}
	if slice != "" {
		key += "." + slug(slice, mostPart, false)
	}
	return idOf(repo, key)
}

// ServiceID names a group of a release's endpoints. variant is "", or "env" where the
// solver makes the environment too.
func ServiceID(repo, tag, group, variant string) InstanceID {
	key := slug(tag, mostTag, true) + "." + slug(group, mostPart, false) + "." + string(KindService)
	if variant != "" {
		key += "." + variant
	}
	return idOf(repo, key)
}

// CutService reads the end of a service task's key: what stands before it, and its variant. ok is
// false for the key of another kind.
func CutService(key string) (rest, variant string, ok bool) {
	key, env := strings.CutSuffix(key, "."+VariantEnv)
	if env {
		variant = VariantEnv
	}
	rest, ok = strings.CutSuffix(key, "."+string(KindService))
	return rest, variant, ok
}

func (id InstanceID) String() string { return id.Repo + "-" + id.Key }

// idOf leaves the repository the room that the key does not need. A feature's key needs
// at most commitHex and a letter, but for numbers that nobody has; other keys may need
// more.
func idOf(repo, key string) InstanceID {
	return InstanceID{Repo: repoSlug(repo, maxID-1-max(len(key), 1+commitHex)), Key: key}
}

func head(s string, n int) string { return s[:min(n, len(s))] }

var (
	idShape  = lazily(`^([A-Za-z0-9._-]+?__[A-Za-z0-9._-]+)-([A-Za-z0-9._]+)$`)
	badInID  = lazily(`[^A-Za-z0-9._-]`)
	keyShape = lazily(`^([1-9][0-9]*|c[0-9a-f]{12}|e[0-9a-f]{12}(\.b[0-9a-f]{8})?|[A-Za-z0-9._]+\.library(\.[a-z0-9_]+(\.[A-Za-z0-9_]+)?)?|[A-Za-z0-9._]+\.[A-Za-z0-9_]+\.service(\.env)?)$`)
)

// lazily compiles at the first use: this package has nothing of ours to do it with.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// ParseInstanceID reads what String writes, of every kind. What a key was made of is not
// read from it.
func ParseInstanceID(s string) (InstanceID, error) {
	m := idShape().FindStringSubmatch(s)
	if m == nil || len(s) > maxID {
		return InstanceID{}, fmt.Errorf("%q is not an instance ID (owner__name-KEY, at most %d of A-Z a-z 0-9 . _ -)", s, maxID)
	}
	if !keyShape().MatchString(m[2]) {
		return InstanceID{}, fmt.Errorf("%q: key %q is that of no kind: not a number, nor c and %d hex digits, nor one of an edit, library or service", s, m[2], commitHex)
	}
	return InstanceID{Repo: m[1], Key: m[2]}, nil
}

// RepoSlug turns owner/name into owner__name; a name that had to be changed or cut gets
// 8 hex of the original, so that two names never become one.
func RepoSlug(name string) string { return repoSlug(name, maxID-1-(1+commitHex)) }

func repoSlug(name string, room int) string {
	owner, rest, ok := strings.Cut(name, "/")
	if !ok {
		owner, rest = localOwner, name
	}
	const sep = "__"
	clean := func(s string) string { return badInID().ReplaceAllString(s, "_") }
	slug := clean(owner) + sep + clean(rest)
	if owner != "" && rest != "" && slug == owner+sep+rest && len(slug) <= room && !strings.Contains(rest, sep) {
		return slug
	}
	suffix := "_" + DigestBytes([]byte(name)).Short()[:8]
	if cut := head(slug, room-len(suffix)); strings.Contains(cut[1:], sep) {
		return cut + suffix
	}
	// There is no owner, or it fills the room alone.
	return head(slug, room-len(suffix)-1) + "_" + suffix
}

// slug makes a part of a key of a tag, a group or a slice. One that had to be changed
// gets 4 hex of the original, one that had to be cut 8. Only a tag keeps its dots. A
// slice called service is changed: with its tag it would read as a service.
func slug(s string, most int, dots bool) string {
	allowed := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.' && dots:
			return r
		}
		return '_'
	}
	const short, long = 4, 8
	out, digest := strings.Map(allowed, s), DigestBytes([]byte(s)).Short()
	changed := out != s || s == "" || s == string(KindService) && !dots
	switch {
	case !changed && len(out) <= most:
		return out
	case len(out)+1+short <= most:
		return out + "_" + digest[:short]
	}
	return head(out, most-1-long) + "_" + digest[:long]
}
