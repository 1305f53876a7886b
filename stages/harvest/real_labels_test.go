package harvest_test

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/classify"
)

// labels holds what the classifier says with the headings hidden against what the
// headings say: how often each pair occurred.
type labels map[[2]schemas.Label]int

// add takes the changes whose own note stands under a heading that names one label.
// Nothing is known of their code here: the rules for its size and names rest.
func (l labels) add(ctx context.Context, changes []schemas.Change, quiet bool) (told, same int, err error) {
	shown, hidden := classify.Rules{}, classify.Rules{HideHeadings: true}
	for _, c := range changes {
		_, evidence, err := shown.Decide(ctx, c, schemas.Start{})
		if err != nil {
			return told, same, err
		}
		want, one := heading(evidence)
		if !one {
			continue
		}
		got, why, err := hidden.Decide(ctx, c, schemas.Start{})
		if err != nil {
			return told, same, err
		}
		l[[2]schemas.Label{want, got}]++
		told++
		if got == want {
			same++
			continue
		}
		if !quiet {
			fmt.Printf("%.12s %s, not %s: %.200q", c.Commit, want, got, c.Notes[0].Text)
			for _, e := range why {
				fmt.Printf(" [%s %d %s %q]", e.Label, e.Weight, e.Rule, e.Quote)
			}
			fmt.Println()
		}
	}
	return told, same, nil
}

// heading is the label that all headings of a change agree on.
func heading(evidence []schemas.LabelEvidence) (label schemas.Label, one bool) {
	for _, e := range evidence {
		if e.Rule != "heading" && e.Rule != "fragment_type" {
			continue
		}
		if label != "" && label != e.Label {
			return "", false
		}
		label = e.Label
	}
	return label, label != ""
}

// print is the matrix, and how well the wanted labels are told from the others.
func (l labels) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "heading \\ classifier\t")
	for _, got := range schemas.Labels {
		fmt.Fprint(w, got, "\t")
	}
	fmt.Fprintln(w)
	wanted := func(x schemas.Label) bool { return x == schemas.LabelFeature || x == schemas.LabelImprovement }
	total, same, most, kept, right, all := 0, 0, 0, 0, 0, 0
	for _, want := range schemas.Labels {
		fmt.Fprint(w, want, "\t")
		row := 0
		for _, got := range schemas.Labels {
			n := l[[2]schemas.Label{want, got}]
			fmt.Fprint(w, n, "\t")
			row += n
			if want == got {
				same += n
			}
			if wanted(got) {
				kept += n
			}
			if wanted(want) {
				all += n
			}
			if wanted(want) && wanted(got) {
				right += n
			}
		}
		total, most = total+row, max(most, row)
		fmt.Fprintln(w)
	}
	_ = w.Flush() // as little as the lines around it
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	fmt.Printf("labels: %d told by a heading, %d the same with headings hidden (%.1f%%; saying the most frequent one always: %.1f%%)\n",
		total, same, share(same, total), share(most, total))
	fmt.Printf("feature or improvement: %d, %d of them kept (recall %.1f%%), of %d kept in all (precision %.1f%%)\n",
		all, right, share(right, all), kept, share(right, kept))
}
