package output

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/balance"
)

// Rows and tasks are the same to a draw.
func TestItem(t *testing.T) {
	t.Parallel()
	x := task(t, 1, goldPatch)
	x.Origin.Change.Category = "web"
	if diff := cmp.Diff(x.Item(), RowOf(x, Base{}).Item()); diff != "" || x.Item().Value(balance.Category) != "web" || x.Item().Value(balance.Framework) != balance.None {
		t.Errorf("%+v (-task +row):\n%s", x.Item(), diff)
	}
}

// Forty of 120 rows are drawn to a mix: the same by the same seed, others by another.
func TestDrawOfRows(t *testing.T) {
	t.Parallel()
	var pool []balance.Item
	of := map[string]string{}
	for n := range 120 {
		x := task(t, n+1, goldPatch)
		x.Start.Language = []string{"python", "python", "python", "go", "go", "java"}[n%6]
		x.Origin.Change.Category = []string{"web", "data", "tools", "games"}[n/6%4]
		row := RowOf(x, Base{})
		pool = append(pool, row.Item())
		of[row.InstanceID] = row.Benchmint.Language + " " + row.Benchmint.Category
	}
	draw := func(seed int) (ids []string) {
		r := balance.Draw(balance.Mix{Tasks: 40, Seed: seed, By: map[string]map[string]float64{balance.Language: {"python": 0.5, "go": 0.3, "java": 0.2}, balance.Category: nil}}, pool)
		for _, item := range pool {
			if _, left := r.Why[item.ID]; !left {
				ids = append(ids, item.ID)
			}
		}
		return ids
	}
	first, other := draw(1), draw(2)
	if diff := cmp.Diff(first, draw(1)); diff != "" {
		t.Errorf("again by the same seed (-want +got):\n%s", diff)
	}
	same := 0
	got := map[string]int{}
	for _, id := range first {
		same += toInt(slices.Contains(other, id))
		var language, category string
		if _, err := fmt.Sscan(of[id], &language, &category); err != nil {
			t.Fatal(err)
		}
		got[language]++
		got[category]++
	}
	want := map[string]int{"python": 20, "go": 12, "java": 8, "web": 10, "data": 10, "tools": 10, "games": 10}
	if diff := cmp.Diff(want, got); diff != "" || same > 25 {
		t.Errorf("%d of 40 by another seed, too; mix (-want +got):\n%s", same, diff)
	}
	t.Logf("40 of %d: %v; by another seed %d of them again", len(pool), got, same)
}
