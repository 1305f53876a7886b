package gitrepo

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Version is what a tag's name says: whose release it is, and which.
type Version struct {
	Package string // "" where the repository is one package
	Text    string // without package and "v"
	Pre     bool   // alpha, beta, rc, dev and their like: PEP 440's and semver's words, never by substring
	numbers []int
	phases  []phase
}

// phase is what stands after the numbers: rc2, .post1, -beta.3.
type phase struct{ rank, number int }

var (
	// A version ends the tag; what stands before it is a package's name.
	tagShape = lazyregexp.New(`^(?:(.*?)(?:==|[@/_-]))??([vV]?\.?)(\d+(?:[._]\d+)*)((?:[-._]?[A-Za-z]+[-._]?\d*)*(?:-\d+)?)(?:\+[0-9A-Za-z.-]+)?$`)
	dateTag  = lazyregexp.New(`^[vV]?(\d{4})-(\d{2})-(\d{2})$`)
	words    = lazyregexp.New(`[A-Za-z]+|\d+`)

	// noPackage are words before a version that name no package.
	noPackage = wordSet("release releases rel version ver v r tag tags stable final prod production")
	// unstable are words before a version that name what is no release yet.
	unstable = wordSet("nightly canary snapshot dev preview alpha beta rc pre prerelease pre-release")

	ranks = map[string]int{
		"dev": -6, "snapshot": -6, "nightly": -6, "canary": -6, "experimental": -6, "insiders": -6, "next": -6,
		"a": -5, "alpha": -5, "ea": -5, "b": -4, "beta": -4, "m": -3, "milestone": -3,
		"pre": -2, "preview": -2, "prerelease": -2, "c": -1, "rc": -1, "cr": -1,
		"post": 1, "p": 1, "patch": 1, "sp": 1, "rev": 1, "r": 1, "hotfix": 1,
	}
	// lettersNeedNumber are so short that alone they may be anything: 1.0m, 1.1c.
	lettersNeedNumber = wordSet("m c r p")
)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// ParseVersion reads a tag's name: v1.2.3, pkg-1.2, pkg==1.2, pkg/v1.2.3,
// release-2024.01, 1.0.0rc1, v2.0.0-beta.1. What names no version, as nightly and
// the branch-like 2.1.x, is none.
func ParseVersion(tag string) (Version, bool) {
	if m := dateTag.FindStringSubmatch(tag); m != nil {
		return Version{Text: strings.TrimLeft(tag, "vV"), numbers: numbersOf(strings.Join(m[1:], "."))}, true
	}
	m := tagShape.FindStringSubmatch(tag)
	if m == nil {
		return Version{}, false
	}
	name, v, core, suffix := m[1], m[2], m[3], m[4]
	// A name and one number is an issue, a Python, a day's build: pkg-7 says too little.
	named := name != "" && !noPackage[strings.ToLower(name)] && !unstable[strings.ToLower(name)]
	if named && v == "" && !strings.ContainsAny(core, "._") {
		return Version{}, false
	}
	const coreGroup = 3
	out := Version{Text: tag[tagShape.FindStringSubmatchIndex(tag)[2*coreGroup]:], numbers: numbersOf(core)}
	if out.phases, out.Pre = phasesOf(suffix); out.phases == nil && strings.Trim(suffix, ".-_xX") == "" && suffix != "" {
		return Version{}, false // 2.1.x is a branch
	}
	if unstable[strings.ToLower(name)] {
		out.Pre, out.phases = true, append(out.phases, phase{rank: ranks["dev"]})
	}
	if named {
		out.Package = packageOf(name)
	}
	return out, out.numbers != nil
}

// packageOf takes words off a package's name that only say that it was released.
func packageOf(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	parts = slices.DeleteFunc(parts, func(p string) bool { return noPackage[strings.ToLower(p)] })
	name = strings.Join(parts, "/")
	for word := range noPackage {
		if len(word) > 2 {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "-"+word), "_"+word)
		}
	}
	return name
}

// numbersOf is a version's numbers without zeros at the end: 1.2 is 1.2.0. Nil
// where one is beyond any version.
func numbersOf(core string) []int {
	out := []int{}
	for _, s := range strings.FieldsFunc(core, func(r rune) bool { return r == '.' || r == '_' }) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	for len(out) > 1 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// phasesOf reads what stands after the numbers, by whole words.
func phasesOf(suffix string) (all []phase, pre bool) {
	tokens := words.FindAllString(strings.ToLower(suffix), -1)
	for i, word := range tokens {
		rank, known := ranks[word]
		number := -1
		if i+1 < len(tokens) {
			if n, err := strconv.Atoi(tokens[i+1]); err == nil {
				number = n
			}
		}
		if _, err := strconv.Atoi(word); err == nil {
			if i == 0 { // 1.2.3-1, as packagers count
				all = append(all, phase{1, mustInt(word)})
			}
			continue
		}
		if !known || lettersNeedNumber[word] && number < 0 {
			continue // final, jre, march: a release
		}
		all = append(all, phase{rank, max(number, 0)})
		pre = pre || rank < 0
	}
	if suffix != "" && all == nil && !strings.EqualFold(strings.Trim(suffix, ".-_"), "x") {
		all = []phase{}
	}
	return all, pre
}

func mustInt(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// Compare orders versions of one package: 1.0.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1 < 1.1.
func (v Version) Compare(w Version) int {
	if c := slices.Compare(v.numbers, w.numbers); c != 0 {
		return c
	}
	for i := range max(len(v.phases), len(w.phases)) {
		a, b := v.phaseAt(i), w.phaseAt(i)
		if c := cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number)); c != 0 {
			return c
		}
	}
	return 0
}

func (v Version) phaseAt(i int) phase {
	if i < len(v.phases) {
		return v.phases[i]
	}
	return phase{}
}

// Prepares reports whether v is w or a pre-release of it.
func (v Version) Prepares(w Version) bool {
	return slices.Equal(v.numbers, w.numbers) && (v.Pre || v.Compare(w) == 0)
}
