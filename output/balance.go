package output

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/schemas"
)

// Balance says how the tasks of a dataset were drawn to a mix.
type Balance struct {
	Tasks int            `json:"tasks"` // that the mix asks for
	Seed  int            `json:"seed"`
	Pool  int            `json:"pool"` // tasks that could have been drawn
	Cells []balance.Cell `json:"cells"`
}

// written is a draw with what came of it: a drawn task may still hold a credential.
func (x *Balance) written(t *tally) *Balance {
	if x == nil {
		return nil
	}
	out := *x
	out.Cells = nil
	for _, c := range x.Cells {
		c.Drawn = t.values[c.Property][c.Value]
		out.Cells = append(out.Cells, c)
	}
	return &out
}

// Missing says of each value that has fewer tasks than the mix wants by how much it misses, and why.
func (x *Balance) Missing() []string {
	if x == nil {
		return nil
	}
	return balance.Missing(x.Cells)
}

// print writes the section of the card.
func (x *Balance) print(b *bytes.Buffer, m Manifest) {
	if x == nil {
		return
	}
	fmt.Fprintf(b, "\n## Balance\n\nThe dataset has %d of the %d tasks that the mix asks for, drawn from %d by the seed %d. `%s` lists the others (`%s`).\n", m.Counts.Tasks, x.Tasks, x.Pool, x.Seed, RejectsFile, schemas.LeftOut)
	if len(x.Cells) > 0 {
		fmt.Fprintf(b, "\n| Property | Value | Share | Wanted | Drawn | In the pool |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	}
	for _, c := range x.Cells {
		fmt.Fprintf(b, "| %s | %s | %.1f %% | %d | %d | %d |\n", c.Property, plain(c.Value), 100*c.Share, c.Want, c.Drawn, c.Pool)
	}
	if missing := x.Missing(); len(missing) > 0 {
		fmt.Fprintf(b, "\nThe mix is not met:\n\n- %s\n", strings.Join(missing, "\n- "))
	}
}

// balance: the figures of a draw are those of the rows.
func (c *checker) balance(x *Balance, t *tally) {
	if x == nil {
		return
	}
	for i, cell := range x.Cells {
		if n := t.values[cell.Property][cell.Value]; n != cell.Drawn {
			c.add(ManifestFile, RuleBalance, "balance.cells[%d]: %d tasks of %s %s are drawn; the rows have %d", i, cell.Drawn, cell.Property, cell.Value, n)
		}
	}
}

// count counts what a draw looks at.
func (t *tally) count(r Row) {
	item := r.Item()
	for _, p := range balance.Properties {
		if t.values[p] == nil {
			t.values[p] = map[string]int{}
		}
		t.values[p][item.Value(p)]++
	}
}

// Item is a row as a draw sees it.
func (r Row) Item() balance.Item {
	e := r.Benchmint
	framework, category := "", e.Category
	if e.Service != nil {
		framework, category = e.Service.Framework, e.Service.Category
	}
	return itemOf(r.InstanceID, e.Language, framework, category, string(e.Kind), r.Repo)
}

// Item is a task as a draw sees it; of the task it reads origin and start.
func (t Task) Item() balance.Item {
	framework := ""
	category, _ := t.Origin.Category()
	if g := t.Start.Group; g != nil {
		framework, category = g.Framework, categoryOf(g.Name, g.Endpoints)
	}
	return itemOf(t.ID(), t.Start.Language, framework, category, string(t.Start.Kind), t.Origin.Repo())
}

func itemOf(id, language, framework, category, kind, repo string) balance.Item {
	return balance.Item{ID: id, Values: map[string]string{
		balance.Language: language, balance.Framework: framework, balance.Category: category, balance.Kind: kind, balance.Repository: repo,
	}}
}

// NotDrawn is the end of a task that a draw left out.
func (t Task) NotDrawn(why string) Reject { return t.ended().notDrawn(why, t.Reviews) }

// NotDrawn is the end of a row that a draw left out.
func (r Row) NotDrawn(why string) Reject { return r.ended().notDrawn(why, r.Benchmint.Reviews) }

func (r Reject) notDrawn(why string, reviews []schemas.PeerReview) Reject {
	r.Reason, r.Detail, r.Reviews = schemas.LeftOut, "not drawn: "+why, reviews
	return r
}
