package score

import "github.com/benchmint/benchmint/schemas"

// Cause is why an answer is not resolved, by rule. FeatBench's Figure 9 counts three causes that people told apart: incomplete and
// regressive are two of them, and that the intent was misunderstood no rule can see.
type Cause string

// The causes.
const (
	CauseUnapplied  Cause = "unapplied"  // there is no patch, or it does not apply
	CauseLimit      Cause = "limit"      // a limit ended the run, or its results cannot be believed
	CauseIncomplete Cause = "incomplete" // it misses tests of FAIL_TO_PASS alone
	CauseRegressive Cause = "regressive" // it misses tests of PASS_TO_PASS alone
	CauseBoth       Cause = "both"       // it misses tests of both lists
	// CauseMisunderstood is what a person says of it.
	CauseMisunderstood Cause = "misunderstood"
)

// Causes lists them.
var Causes = []Cause{CauseUnapplied, CauseLimit, CauseIncomplete, CauseRegressive, CauseBoth, CauseMisunderstood}

// cause is that of an answer that is not resolved: what a person says comes first.
func (a Answer) cause() Cause {
	if a.Review.Misunderstood {
		return CauseMisunderstood
	}
	return CauseOf(a.Grade)
}

// CauseOf is the cause of a grade; "" of one that is resolved.
func CauseOf(g schemas.Grade) Cause {
	switch {
	case g.Verdict == schemas.VerdictPass:
		return ""
	case g.Verdict == schemas.VerdictPatch, g.Verdict == schemas.VerdictEmpty:
		return CauseUnapplied
	case g.F2P == nil || g.P2P == nil:
		return CauseLimit
	case g.P2P.Full():
		return CauseIncomplete
	case g.F2P.Full():
		return CauseRegressive
	}
	return CauseBoth
}
