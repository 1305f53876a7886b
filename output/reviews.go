package output

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// toldOf says what people say of a task that they refuse, a line each.
func toldOf(all []schemas.PeerReview) string {
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("%s, %s: %s", r.Who, r.Date, r.Verdict)
		if r.Code != "" {
			line += " (" + string(r.Code) + ")"
		}
		if r.Note != "" {
			line += ": " + strings.ReplaceAll(r.Note, "\n", " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// reviews: what people say is in the words that there are, and does not refuse the task.
func (l *linter) reviews() {
	all := l.row.Benchmint.Reviews
	for _, fault := range reviewFaults(all) {
		l.add(RuleReviews, "%s", fault)
	}
	if reason, refused := schemas.Refused(all); refused {
		l.add(RuleReviews, "people refuse it: %s", reason)
	}
}

// refusal is what is wrong with the reviews of a reject, "" for nothing.
func refusal(r Reject) string {
	if faults := reviewFaults(r.Reviews); len(faults) > 0 {
		return faults[0]
	}
	reason, refused := schemas.Refused(r.Reviews)
	byPeople := slices.ContainsFunc(schemas.Refusals, func(x schemas.RefusalText) bool { return x.Reason == r.Reason })
	if (refused || byPeople) && reason != r.Reason {
		return fmt.Sprintf("its reviews make the reason %q, not %s", reason, r.Reason)
	}
	return ""
}

func reviewFaults(all []schemas.PeerReview) (faults []string) {
	say := func(form string, args ...any) { faults = append(faults, "reviews: "+fmt.Sprintf(form, args...)) }
	for i, r := range all {
		known := slices.ContainsFunc(schemas.Refusals, func(x schemas.RefusalText) bool { return x.Code == r.Code })
		if !slices.Contains(schemas.PeerVerdicts, r.Verdict) {
			say("%q is not a verdict", r.Verdict)
		} else if (r.Verdict == schemas.PeerRefuse) != known || !known && r.Code != "" {
			say("the code of %s is %q", r.Verdict, r.Code)
		}
		if _, err := time.Parse(time.DateOnly, r.Date); err != nil || r.Who == "" {
			say("who is %q and date is %q", r.Who, r.Date)
		}
		if i > 0 && r.Who <= all[i-1].Who {
			say("%s stands after %s", r.Who, all[i-1].Who)
		}
	}
	return faults
}

// reviewTally is what the card says of what people say.
type reviewTally struct {
	tasks   [][]schemas.PeerReview // of each that somebody reviewed
	outside int                    // of these, not in the dataset
	refused int
	codes   map[string]int // of refusals
}

// reject adds the reviews of a task that is not in the dataset.
func (t *reviewTally) reject(r Reject) {
	t.outside += toInt(len(r.Reviews) > 0)
	t.add(r.Reviews)
}

func (t *reviewTally) add(all []schemas.PeerReview) {
	if len(all) == 0 {
		return
	}
	t.tasks = append(t.tasks, all)
	if _, refused := schemas.Refused(all); refused {
		t.refused++
	}
	for _, r := range all {
		if r.Verdict == schemas.PeerRefuse {
			if t.codes == nil {
				t.codes = map[string]int{}
			}
			t.codes[string(r.Code)]++
		}
	}
}

// agreement is how far two people agree on accept and refuse, over the tasks that both reviewed.
type agreement struct {
	a, b          string
	n, same       int
	acceptA, accB int // how many of the n each accepts
}

// kappa is Cohen's: (po − pe) / (1 − pe). po is the share of tasks on which the two agree, and pe the share on which
// they would by chance, if each gave as many verdicts of each sort. False where pe is 1: both say always the same.
func (x agreement) kappa() (float64, bool) {
	n := float64(x.n)
	a, b := float64(x.acceptA)/n, float64(x.accB)/n
	pe := a*b + (1-a)*(1-b)
	if pe == 1 {
		return 0, false
	}
	return (float64(x.same)/n - pe) / (1 - pe), true
}

// agreements are those of each two people with a task in common, those with most first.
func (t *reviewTally) agreements() []agreement {
	of := map[[2]string]*agreement{}
	for _, all := range t.tasks {
		for i, a := range all {
			for _, b := range all[i+1:] {
				key := [2]string{a.Who, b.Who}
				if of[key] == nil {
					of[key] = &agreement{a: a.Who, b: b.Who}
				}
				x := of[key]
				x.n++
				x.same += toInt(a.Verdict == b.Verdict)
				x.acceptA += toInt(a.Verdict == schemas.PeerAccept)
				x.accB += toInt(b.Verdict == schemas.PeerAccept)
			}
		}
	}
	var out []agreement
	for _, x := range of {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(x, y agreement) int {
		return cmp.Or(y.n-x.n, strings.Compare(x.a, y.a), strings.Compare(x.b, y.b))
	})
	return out
}

func toInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// print writes the section of the card; rows are the tasks of the dataset.
func (t *reviewTally) print(b *bytes.Buffer, rows int) {
	if len(t.tasks) == 0 {
		return
	}
	all := rows + t.outside
	fmt.Fprintf(b, "\n## Reviews by people\n\nPeople reviewed %d of %d tasks and refused %d of them, which are not in the dataset (`%s` says who and why).\n", len(t.tasks), all, t.refused, RejectsFile)
	fmt.Fprintf(b, "A task is refused where half of its reviews or more refuse it.\n")
	if len(t.codes) > 0 {
		fmt.Fprintf(b, "\n| Code | Refusals |\n| --- | ---: |\n")
		for _, x := range schemas.Refusals {
			if n := t.codes[string(x.Code)]; n > 0 {
				fmt.Fprintf(b, "| %s: %s | %d |\n", x.Code, x.Meaning, n)
			}
		}
	}
	pairs := t.agreements()
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(b, "\nCohen's kappa of two reviewers is (p − e) / (1 − e) over the n tasks that both reviewed: p is the share on which they agree to accept or to refuse, e the share on which they would by chance.\n")
	fmt.Fprintf(b, "\n| Reviewers | n | Agree | Kappa |\n| --- | ---: | ---: | ---: |\n")
	for _, x := range pairs[:min(len(pairs), tableRows)] {
		kappa := "not defined: both always say the same"
		if k, ok := x.kappa(); ok {
			kappa = fmt.Sprintf("%.2f", k)
		}
		fmt.Fprintf(b, "| %s, %s | %d | %d | %s |\n", plain(x.a), plain(x.b), x.n, x.same, kappa)
	}
	if more := len(pairs) - tableRows; more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", more)
	}
}
