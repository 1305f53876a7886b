package pair

import "github.com/benchmint/benchmint/internal/lazyregexp"

// classes are the kinds of edits, by the words that subjects begin with; the first that fits
// holds.
var classes = []struct {
	name string
	fits *lazyregexp.Regexp
}{
	{"fix", lazyregexp.New(`(?i)^(?:fix|bug|hotfix|correct|repair|resolve|prevent|avoid|handle|don't|do not|stop)|\b(?:fix(?:es|ed)?|bug)\b`)},
	{"feature", lazyregexp.New(`(?i)^(?:feat|add|support|implement|introduce|allow|enable|new|create|provide|expose|make)`)},
	{"removal", lazyregexp.New(`(?i)^(?:remove|drop|delete|deprecate|disable|revert)`)},
	{"refactor", lazyregexp.New(`(?i)^(?:refactor|rename|move|simplif|clean|extract|split|rework|reorgani[sz]e|restructure|inline|use|replace|convert|switch)`)},
	{"change", lazyregexp.New(`(?i)^(?:update|change|improve|optimi[sz]e|perf|speed|reduce|extend|tweak|adjust|enhance|set|raise|return|bump)`)},
}

// Class is the kind of edit that a subject names: fix, feature, removal, refactor, change
// or other.
func Class(subject string) string {
	for _, c := range classes {
		if c.fits.MatchString(subject) {
			return c.name
		}
	}
	return "other"
}
