package output

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/schemas"
)

func review(who string, code schemas.RefusalCode) schemas.PeerReview {
	r := schemas.PeerReview{Verdict: schemas.PeerAccept, Who: who, Date: "2026-01-02"}
	if code != "" {
		r.Verdict, r.Code, r.Note = schemas.PeerRefuse, code, "ask jo@acme.dev"
	}
	return r
}

func TestReviews(t *testing.T) {
	t.Parallel()
	s, dir := input(t), filepath.Join(t.TempDir(), "out")
	s.tasks[0].Reviews = []schemas.PeerReview{review("Ana", "leak"), review("Ben", "")}
	s.tasks[1].Reviews = []schemas.PeerReview{review("Ana", "unfair"), review("Ben", ""), review("Cy", "")}
	in := s.of()
	in.Balance = &Balance{Tasks: 3, Seed: 1, Pool: 2, Cells: []balance.Cell{{Property: "language", Value: "python", Share: 1, Want: 3, Pool: 2, Drawn: 2}}}
	if _, err := Write(dir, in); err != nil {
		t.Fatal(err)
	}
	d, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if findings, err := Check(dir); err != nil || len(findings) > 0 {
		t.Errorf("check: %v %v", err, findings)
	}
	if len(d.Rows) != 1 || len(d.Rows[0].Benchmint.Reviews) != 3 || strings.Contains(d.Rows[0].Benchmint.Reviews[0].Note, "jo@") {
		t.Errorf("rows: %+v", d.Rows)
	}
	r := d.Rejects[0]
	if r.Reason != schemas.ReviewLeak || r.Stage != exported || len(r.Reviews) != 2 || !strings.HasPrefix(r.Detail, "Ana, 2026-01-02: refuse (leak): ask ") || strings.Contains(r.Detail+r.Reviews[0].Note, "jo@") {
		t.Errorf("reject: %+v", r)
	}
	card := contents(t, dir)[CardFile]
	for _, want := range []string{
		"People reviewed 2 of 2 tasks and refused 1 of them", "| unfair: a right answer can fail its tests | 1 |\n| leak: it gives the solution away | 1 |",
		"| Ana, Ben | 2 | 0 | 0.00 |\n| Ana, Cy | 1 | 0 | 0.00 |\n| Ben, Cy | 1 | 1 | not defined: both always say the same |",
		"The dataset has 1 of the 3 tasks that the mix asks for, drawn from 2 by the seed 1.", "| language | python | 100.0 % | 3 | 1 | 2 |",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
}

// Cohen's own figures (Educational and Psychological Measurement 20, 1960) are of three classes; these are of two.
func TestKappa(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		x    agreement
		want float64
		ok   bool
	}{
		{agreement{n: 50, same: 35, acceptA: 25, accB: 30}, 0.4, true}, // 20 both accept, 15 both refuse: po 0.7, pe 0.5
		{agreement{n: 4, same: 4, acceptA: 2, accB: 2}, 1, true},
		{agreement{n: 4, same: 0, acceptA: 2, accB: 2}, -1, true},
		{agreement{n: 4, same: 4, acceptA: 4, accB: 4}, 0, false},
	} {
		got, ok := tt.x.kappa()
		if ok != tt.ok || got-tt.want > 1e-9 || tt.want-got > 1e-9 {
			t.Errorf("%+v: %v %t, want %v", tt.x, got, ok, tt.want)
		}
	}
}

func TestReviewLints(t *testing.T) {
	t.Parallel()
	accept, refuse := review("Ana", ""), review("Ben", "unclear")
	with := func(r schemas.PeerReview, change func(*schemas.PeerReview)) []schemas.PeerReview {
		change(&r)
		return []schemas.PeerReview{r}
	}
	for name, tt := range map[string]struct {
		reviews []schemas.PeerReview
		want    string
	}{
		"accepted":        {[]schemas.PeerReview{accept}, ""},
		"refused":         {[]schemas.PeerReview{accept, refuse}, "people refuse it: review/unclear"},
		"verdict":         {with(accept, func(r *schemas.PeerReview) { r.Verdict = "good" }), `"good" is not a verdict`},
		"code":            {with(accept, func(r *schemas.PeerReview) { r.Code = "leak" }), `the code of accept is "leak"`},
		"code_of_nothing": {append(with(refuse, func(r *schemas.PeerReview) { r.Code, r.Who = "vague", "Al" }), accept, review("Cy", "")), `the code of refuse is "vague"`},
		"nobody":          {with(accept, func(r *schemas.PeerReview) { r.Who = "" }), `who is ""`},
		"date":            {with(accept, func(r *schemas.PeerReview) { r.Date = "today" }), `date is "today"`},
		"twice":           {[]schemas.PeerReview{accept, accept}, "Ana stands after Ana"},
	} {
		row := RowOf(task(t, 1, goldPatch), Base{})
		row.Benchmint.Reviews = tt.reviews
		var got []string
		for _, f := range Lint(row) {
			if f.Rule == RuleReviews {
				got = append(got, f.Message)
			}
		}
		if text := strings.Join(got, "; "); !strings.Contains(text, tt.want) || (tt.want == "") != (text == "") {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
	for _, r := range []Reject{
		{Reason: schemas.ReviewLeak}, {Reason: schemas.ReviewLeak, Reviews: []schemas.PeerReview{refuse}}, {Reason: schemas.LeftOut, Reviews: []schemas.PeerReview{refuse}},
	} {
		if refusal(r) == "" {
			t.Errorf("%+v is let through", r)
		}
	}
	if text := refusal(Reject{Reason: schemas.LeftOut, Reviews: []schemas.PeerReview{accept}}); text != "" {
		t.Error(text)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		codes []schemas.RefusalCode // "" accepts
		want  schemas.Reason
	}{
		{nil, ""}, {[]schemas.RefusalCode{""}, ""}, {[]schemas.RefusalCode{"leak"}, schemas.ReviewLeak},
		{[]schemas.RefusalCode{"leak", ""}, schemas.ReviewLeak}, {[]schemas.RefusalCode{"leak", "", ""}, ""},
		{[]schemas.RefusalCode{"unclear", "unclear", "leak", ""}, schemas.ReviewUnclear}, {[]schemas.RefusalCode{"unclear", "leak"}, schemas.ReviewLeak},
	} {
		var all []schemas.PeerReview
		for _, code := range tt.codes {
			all = append(all, review("x", code))
		}
		if got, refused := schemas.Refused(all); got != tt.want || refused != (tt.want != "") {
			t.Errorf("%v: %s %t, want %s", tt.codes, got, refused, tt.want)
		}
	}
}
