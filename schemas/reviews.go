package schemas

// PeerReview is what one person says of a whole task. A Review is what a model says of its statement.
type PeerReview struct {
	Verdict PeerVerdict `json:"verdict"`
	Code    RefusalCode `json:"code,omitempty"` // of a refusal
	Who     string      `json:"who"`
	Date    string      `json:"date"` // YYYY-MM-DD
	Note    string      `json:"note,omitempty"`
}

// ReviewColumns are those of a file of reviews.
var ReviewColumns = []string{"instance_id", "verdict", "code", "who", "date", "note"}

// PeerVerdict is accept or refuse.
type PeerVerdict string

// The verdicts of people.
const (
	PeerAccept PeerVerdict = "accept"
	PeerRefuse PeerVerdict = "refuse"
)

// PeerVerdicts are all of them.
var PeerVerdicts = []PeerVerdict{PeerAccept, PeerRefuse}

// RefusalCode says why a person refuses a task.
type RefusalCode string

// RefusalText is a code with what it means and the reason of its reject.
type RefusalText struct {
	Code    RefusalCode
	Meaning string
	Reason  Reason
}

// Refusals are the codes. Of codes that as many reviews name, the first one here is the reason.
var Refusals = []RefusalText{
	{"trivial", "it asks for next to nothing", ReviewTrivial},
	{"unrealistic", "nobody would ask for it like this", ReviewUnrealistic},
	{"unfair", "a right answer can fail its tests", ReviewUnfair},
	{"leak", "it gives the solution away", ReviewLeak},
	{"unclear", "it does not say what is wanted", ReviewUnclear},
}

// Refused reports whether reviews take their task out of a dataset, and why: a half of them refuse it, or more. The
// reason is that of the code which most refusals name.
func Refused(all []PeerReview) (Reason, bool) {
	refusals, of := 0, map[RefusalCode]int{}
	for _, r := range all {
		if r.Verdict == PeerRefuse {
			refusals++
			of[r.Code]++
		}
	}
	if refusals == 0 || 2*refusals < len(all) {
		return "", false
	}
	most := Refusals[0]
	for _, r := range Refusals[1:] {
		if of[r.Code] > of[most.Code] {
			most = r
		}
	}
	return most.Reason, true
}
