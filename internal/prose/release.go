package prose

import "github.com/benchmint/benchmint/internal/lazyregexp"

// releases match what is said of a commit that only makes or prepares a release, or sets its number.
var releases = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^(?:(?:re-?)?release|tag|publish|prepare|preparing|prep|cut|bump|set|update|increase|increment|start|begin|back to)\b[^.]{0,40}\b(?:releases?|version(?: number)?s?|v?\d+(?:\.\w+)+|dev(?:elopment)?|next)\.?$`),
	// "Prepare for 2.15.0 release", "Cut the v1.2.0rc1 release"
	lazyregexp.New(`(?i)^(?:prepar(?:e|es|ed|ing|ation)|prep|cut|make|tag|start|finali[sz]e|begin|ready|get ready) (?:(?:for|the|a|new|next|final|version|upcoming) )*v?\d+(?:\.\w+)+[- ]?(?:release|version|dev(?:elopment)?(?: cycle)?)\.?$`),
	lazyregexp.New(`(?i)^bump(?:ed|ing|s)?(?: up)?(?: (?:the|package|project|library|release))? ?version\b(?: (?:number|string))?(?: (?:to|for|from)\b.*|:? v?\d.*)?\.?$`),
	lazyregexp.New(`(?i)^(?:have |release )?(?:an? |the )?(?:new |initial |first |next )?(?:release|version|v)?:? ?v?\d+(?:\.\d+)+\w*(?: release)?\.?$`),
	lazyregexp.New(`(?i)^(?:have |add |make )?(?:an? |the )?(?:initial|first) (?:commit|version|release|import)\b(?: of (?:the )?(?:library|project|code|package|module|repo\w*)\b.*|[^.]{0,30}from\b.*| in \S+)?\.?$`),
}

// releaseType is what stands before it.
var releaseType = lazyregexp.New(`(?i)^\W*(?:chore|build|ci|maint|rel|rls|release)\b(?:\([^)]*\))?!?: *`)

// Release reports whether a subject is that of a commit which only makes or prepares a release.
func Release(subject string) bool {
	subject = releaseType.ReplaceAllString(subject, "")
	for _, m := range releases {
		if m.MatchString(subject) {
			return true
		}
	}
	return false
}
