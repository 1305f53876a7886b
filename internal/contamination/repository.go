package contamination

import (
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var (
	scheme     = lazyregexp.New(`^(?:[a-z+]+://)?(?:[^@/]+@)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)[/:]`)
	copied     = lazyregexp.New(`^(?:swesmith|swebench)/([\w.-]+?)__([\w.-]+)$`)
	joined     = lazyregexp.New(`^([\w.-]+?)__([\w.-]+)$`)
	commitEnd  = lazyregexp.New(`\.([0-9a-f]{7,40})$`)
	instanceID = lazyregexp.New(`^([A-Za-z0-9][\w.-]*?)__([\w.-]+)-(\d{1,7})$`)
)

// Fold gives the one form of a repository's name: owner/name in lower case, without host and .git. Names such as
// owner__name and swesmith/owner__name.1a2b3c4d are read, too.
func Fold(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = scheme.ReplaceAllString(name, "")
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	for _, form := range []*lazyregexp.Regexp{copied, joined} {
		if m := form.FindStringSubmatch(name); m != nil {
			return m[1] + "/" + commitEnd.ReplaceAllString(m[2], "")
		}
	}
	return name
}

// numbered reads owner__name-123.
func numbered(id string) (repo string, number int) {
	m := instanceID.FindStringSubmatch(id)
	if m == nil {
		return "", 0
	}
	n, _ := strconv.Atoi(m[3])
	return m[1] + "/" + m[2], n
}

// folder folds names by case, form and alias.
type folder map[string]string

func newFolder(aliases map[string]string) folder {
	f := folder{}
	for old, now := range aliases {
		f[Fold(old)] = Fold(now)
	}
	return f
}

// of follows aliases to the last name; a circle of them ends.
func (f folder) of(name string) string {
	name = Fold(name)
	for range len(f) {
		now, ok := f[name]
		if !ok {
			break
		}
		name = now
	}
	return name
}
