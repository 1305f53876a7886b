// Package release keeps a shelf of releases: dated versions of one dataset that are never written
// again, each with what came, what went and why.
//
// A shelf is a folder with one folder for each version and feed.json, which names the versions and
// every task that was withdrawn. A version is YYYY.MM (2026.07); a correction of it, YYYY.MM.N
// (2026.07.1), withdraws, holds or marks tasks and adds none. A task that the version before has is
// copied from there to the byte. It is not made again: no later tag, note, program or push to its
// repository changes it. What may change is a revision with a reason: a list that loses tests which
// turned out to be flaky, a mark, or a statement that somebody wrote by hand.
//
//	releases/
//	  feed.json     versions, newest last; withdrawals; holds; purges
//	  2026.01/      a dataset as package output writes it, with release.json, CHANGELOG.md, diff.json
//	  2026.07/
//
// A gate is a condition on a version: it takes new tasks out, or refuses the version.
package release

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Version names a version: YYYY.MM, or YYYY.MM.N for a correction, N from 1.
type Version string

var versionShape = lazyregexp.New(`^(\d{4})\.(0[1-9]|1[0-2])(?:\.([1-9]\d{0,3}))?$`)

// ParseVersion reads one.
func ParseVersion(s string) (Version, error) {
	if !versionShape.MatchString(s) {
		return "", fmt.Errorf("version %q is not YYYY.MM (2026.07), or YYYY.MM.N for a correction (2026.07.1)", s)
	}
	return Version(s), nil
}

func (v Version) parts() (year, month, correction int) {
	m := versionShape.FindStringSubmatch(string(v))
	if m == nil {
		return 0, 0, 0
	}
	year, _ = strconv.Atoi(m[1])
	month, _ = strconv.Atoi(m[2])
	correction, _ = strconv.Atoi(m[3])
	return year, month, correction
}

// Compare orders versions by age.
func (v Version) Compare(other Version) int {
	y, m, c := v.parts()
	oy, om, oc := other.parts()
	return cmp.Or(y-oy, m-om, c-oc)
}

// IsCorrection reports whether it corrects a version.
func (v Version) IsCorrection() bool {
	_, _, c := v.parts()
	return c > 0
}

// NextCorrection is the correction after it.
func (v Version) NextCorrection() Version {
	y, m, c := v.parts()
	return Version(fmt.Sprintf("%04d.%02d.%d", y, m, c+1))
}

// VersionOf is the version of a day.
func VersionOf(day time.Time) Version { return Version(day.Format("2006.01")) }
