package score

import (
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// RESQ is one of RES-Q's results. Its states are PASS, FAIL, PATCH FAILED and TIMED OUT; an
// empty patch is PATCH FAILED there.
type RESQ struct {
	ID       string `json:"id"`
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Feedback string `json:"test_suite_feedback"`
}

// RESQOf are the results of one model, by instance and sample. The feedback names the tests
// that do not pass, each with what the run says of it; it is empty on PASS and TIMED OUT, as in RES-Q.
func (e Evaluation) RESQOf(model string) []RESQ {
	out := []RESQ{}
	for _, a := range e.Answers {
		g := a.Grade
		if g.Prediction.Model != model {
			continue
		}
		r := RESQ{ID: g.Prediction.Instance, Success: g.Verdict == schemas.VerdictPass, Message: string(g.Verdict)}
		switch g.Verdict {
		case schemas.VerdictEmpty:
			r.Message = string(schemas.VerdictPatch)
		case schemas.VerdictPatch:
			r.Feedback = g.Detail
		case schemas.VerdictFail:
			r.Feedback = strings.Join(missed(g), "\n")
		}
		out = append(out, r)
	}
	return out
}

// missed are the tests that do not pass, a line or more each.
func missed(g schemas.Grade) []string {
	var out []string
	for _, s := range []*schemas.Score{g.F2P, g.P2P} {
		if s == nil {
			continue
		}
		for _, id := range s.Missed {
			if why := g.Why[id]; why != "" {
				id += ": " + why
			}
			out = append(out, id)
		}
	}
	return out
}
