package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// changelog is CHANGELOG.md, without what names the day on which it was made.
func (c *Candidate) changelog() string {
	var b strings.Builder
	d := c.Diff
	fmt.Fprintf(&b, "# %s %s\n\n", c.Shelf.Feed.Dataset, c.Version)
	if d.From == "" {
		fmt.Fprintf(&b, "The first version: %s.\n", tasks(len(d.Came)))
	} else {
		fmt.Fprintf(&b, "Against %s: %d came, %d withdrawn, %d held, %d back, %d revised. %s now.\n", d.From, len(d.Came), len(d.Out), len(d.Held), len(d.Back), len(d.Changed), tasks(len(c.Tasks)))
	}
	came(&b, "Came", d.Came)
	came(&b, "Back", d.Back)
	came(&b, "Opened", d.Opened)
	came(&b, "Revealed", d.Revealed)
	c.hiddenText(&b)
	out(&b, "Withdrawn", d.Out)
	out(&b, "Held", d.Held)
	if len(d.Changed) > 0 {
		b.WriteString("\n## Revised\n")
		for _, x := range d.Changed {
			fmt.Fprintf(&b, "\n- `%s` (%s): %s\n", x.ID, joined(x.Classes), strings.Join(x.Reasons, "; "))
			for _, f := range x.Fields {
				if line := f.line(); line != "" && f.Class != ClassMarks {
					fmt.Fprintf(&b, "  - `%s`: %s\n", f.Key, line)
				}
			}
		}
	}
	return b.String()
}

// came is a table by repository and month, and the names.
func came(b *strings.Builder, title string, all []Came) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| Repository | Month | Tasks |\n| --- | --- | --- |\n", title)
	by := map[[2]string][]string{}
	for _, t := range all {
		name := "`" + t.ID + "`"
		if t.Backfill {
			name += " (older than the window)"
		}
		by[[2]string{t.Repo, t.Month}] = append(by[[2]string{t.Repo, t.Month}], name)
	}
	keys := slices.SortedFunc(maps.Keys(by), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) })
	for _, k := range keys {
		fmt.Fprintf(b, "| %s | %s | %s |\n", k[0], k[1], strings.Join(by[k], ", "))
	}
}

func out(b *strings.Builder, title string, all []Out) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| Task | Reason | |\n| --- | --- | --- |\n", title)
	for _, t := range all {
		text := strings.Join(strings.Fields(t.Text), " ")
		if t.ReplacedBy != "" {
			text += " Replaced by `" + t.ReplacedBy + "`."
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", t.ID, t.Reason, strings.ReplaceAll(text, "|", `\|`))
	}
}

// line is a change of a field for people; "" where there is nothing to read.
func (f Field) line() string {
	const most = 10
	names := func(sign string, all []string) string {
		if len(all) == 0 {
			return ""
		}
		text := sign + strings.Join(all[:min(most, len(all))], ", ")
		if more := len(all) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	switch {
	case f.Text != "":
		return strings.ReplaceAll(f.Text, "\n", " ")
	case len(f.Added)+len(f.Removed) > 0:
		return strings.TrimSpace(names("+ ", f.Added) + " " + names("− ", f.Removed))
	case f.Before != "" || f.After != "":
		return f.Before + " → " + f.After
	}
	return ""
}

func joined(classes []Class) string {
	var out []string
	for _, c := range classes {
		out = append(out, string(c))
	}
	return strings.Join(out, ", ")
}

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

// Text is a diff for people.
func (d Diff) Text() string {
	var b strings.Builder
	for _, group := range []struct {
		name string
		all  []Came
	}{{"came", d.Came}, {"back", d.Back}, {"opened", d.Opened}, {"revealed", d.Revealed}, {"gone", d.Gone}} {
		for _, t := range group.all {
			fmt.Fprintf(&b, "%-9s  %s\n", group.name, t.ID)
		}
	}
	for _, group := range []struct {
		name string
		all  []Out
	}{{"withdrawn", d.Out}, {"held", d.Held}} {
		for _, t := range group.all {
			fmt.Fprintf(&b, "%-9s  %s  %s: %s\n", group.name, t.ID, t.Reason, t.Text)
		}
	}
	for _, x := range d.Changed {
		fmt.Fprintf(&b, "%-9s  %s  %s\n", "changed", x.ID, joined(x.Classes))
		for _, f := range x.Fields {
			fmt.Fprintf(&b, "             %s: %s\n", f.Key, f.line())
		}
	}
	return b.String()
}
