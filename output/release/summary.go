package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/output"
)

// Cost is what a cycle cost, of the tasks that are new.
type Cost struct {
	Machine time.Duration // of all stages and suites
	Dollars float64
	Bytes   int64 // of the version on disk
}

// Summary is one page for people: it goes into a mail or a job's summary.
func (c *Candidate) Summary(outcome string, cost Cost) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s: %s\n\n", c.Shelf.Feed.Dataset, c.Version, outcome)
	d := c.Diff
	fmt.Fprintf(&b, "Sources as they stood before %s. ", c.AsOf.UTC().Format(time.DateOnly))
	if d.From == "" {
		fmt.Fprintf(&b, "The first version: %s.\n", tasks(len(c.Tasks)))
	} else {
		fmt.Fprintf(&b, "Against %s: %d came, %d withdrawn, %d held, %d back, %d revised; %s now.\n", d.From, len(d.Came), len(d.Out), len(d.Held), len(d.Back), len(d.Changed), tasks(len(c.Tasks)))
	}
	objections(&b, "Refused by gates", c.Refused)
	c.decisions(&b)
	came(&b, "Came", d.Came)
	came(&b, "Back", d.Back)
	came(&b, "Opened", d.Opened)
	came(&b, "Revealed", d.Revealed)
	c.hiddenText(&b)
	out(&b, "Withdrawn", d.Out)
	out(&b, "Held", d.Held)
	if len(d.Changed) > 0 {
		b.WriteString("\n## Revised\n\n")
		for _, x := range d.Changed {
			fmt.Fprintf(&b, "- `%s`: %s\n", x.ID, strings.Join(x.Reasons, "; "))
		}
	}
	objections(&b, "Left out by gates", c.Left)
	if len(c.Waiting) > 0 {
		fmt.Fprintf(&b, "\n%s landed on that day or later and wait for the next version.\n", tasks(len(c.Waiting)))
	}
	b.WriteString("\n## Gates\n\n| Gate | | Removed |\n| --- | --- | --- |\n")
	for _, g := range c.gated.results() {
		removed := ""
		if g.State != NotRun {
			removed = fmt.Sprintf("%d of %d new", g.Removed, g.Of)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", g.Name, cmp.Or(strings.TrimSpace(string(g.State)+" "+paren(g.Why)), "-"), removed)
	}
	fmt.Fprintf(&b, "\n## Cost\n\nNew tasks: %.1f machine hours, $%.2f for models. The version takes %.1f MB.\n", cost.Machine.Hours(), cost.Dollars, float64(cost.Bytes)/1e6)
	return b.String()
}

// objections is a list of them; one against the whole version has no ID.
func objections(b *strings.Builder, title string, all []Objection) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, o := range all {
		b.WriteString("- ")
		if o.ID != "" {
			fmt.Fprintf(b, "`%s`: ", o.ID)
		}
		fmt.Fprintf(b, "%s: %s\n", o.Gate, firstLine(o.Text))
	}
}

func (c *Candidate) decisions(b *strings.Builder) {
	var all []string
	for _, repo := range slices.Sorted(maps.Keys(c.Carried)) {
		all = append(all, fmt.Sprintf("%s: %s of the version before are no longer in the working dataset and stay as published. Is the repository gone, renamed or rewritten, or would this program no longer make them? (%s)",
			repo, tasks(len(c.Carried[repo])), few(c.Carried[repo])))
	}
	all = append(all, c.Decide...)
	if len(all) == 0 {
		if len(c.Refused) == 0 {
			b.WriteString("\nNobody has to decide anything.\n")
		}
		return
	}
	b.WriteString("\n## To decide\n\n")
	for _, line := range all {
		fmt.Fprintf(b, "- %s\n", line)
	}
}

func few(all []string) string {
	const most = 5
	text := strings.Join(all[:min(most, len(all))], ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func paren(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// CostOf sums the times of the candidate's new tasks.
func (c *Candidate) CostOf(bytes int64) (Cost, error) {
	cost := Cost{Bytes: bytes}
	if c.Work == nil {
		return cost, nil
	}
	added := map[string]bool{}
	for t := range c.New() {
		added[t.Row.InstanceID] = true
	}
	err := c.Work.Timings(func(t output.Timing) {
		if added[t.InstanceID] && t.Stage != output.SuiteTiming && t.Stage != output.ClockTiming { // these are within stages
			cost.Machine += time.Duration(t.MS) * time.Millisecond
			cost.Dollars += t.Cost
		}
	})
	return cost, err
}
