package enginetest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

var items = flag.Int("items", 100_000, "items of the largest plan; a million takes minutes")

// Memory does not grow with the items.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 items take a minute")
	}
	type measured struct {
		items int
		peak  int64
	}
	var all []measured
	var sizes []int
	for n := 1000; n <= *items; n *= 10 {
		sizes = append(sizes, n)
	}
	// A peak is the worst moment of a run, and a longer run has more of them: the
	// middle size has several runs, of which the worst counts.
	for _, n := range append([]int{10_000, 10_000}, sizes...) {
		e := enginetest.Engine{Program: compiled(t), Dir: storetest.Dir(t), Slots: 64, Config: enginetest.Spike(n, 5)}
		r, _, err := e.Run()
		if err != nil {
			t.Fatal(err)
		}
		sameDataset(t, e)
		all = append(all, measured{n, r.Peak})
		t.Logf("%d items: %.1f s, peak %.1f MB", n, r.Millis/1000, float64(r.Peak)/(1<<20))
	}
	// A thousand items do not fill the caches, which are of a fixed size: their peak
	// is printed, and held against a looser bound.
	worst := map[int]int64{}
	for _, m := range all {
		worst[m.items] = max(worst[m.items], m.peak)
	}
	largest := sizes[len(sizes)-1]
	for n, bound := range map[int]float64{1000: 1.6, 10_000: 1.15} {
		if n < largest && float64(worst[largest]) > bound*float64(worst[n]) {
			t.Errorf("peak memory %d at %d items, %d at %d", worst[n], n, worst[largest], largest)
		}
	}
}

// A second run over settled items neither executes nor writes, and what it takes
// does not depend on their number.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	const sources = 40 // of both: what is offered again is compared
	took := map[int]float64{}
	for _, n := range []int{1000, 10_000} {
		e := enginetest.Engine{Program: compiled(t), Dir: storetest.Dir(t), Slots: 64, Config: enginetest.Spike(n, 5)}
		e.Config.Sources, e.Config.Fan = sources, n/sources
		e.Config.Fail = 0 // those would be tried again
		if _, _, err := e.Run(); err != nil {
			t.Fatal(err)
		}
		sameDataset(t, e)
		took[n] = secondRun(t, e)
		for range 4 {
			took[n] = min(took[n], secondRun(t, e))
		}
	}
	t.Logf("with 1,000 and 10,000 items: %.1f and %.1f ms", took[1000], took[10_000])
	if took[10_000] > 4*took[1000]+10 {
		t.Errorf("with 1,000 items %.1f ms, with 10,000 %.1f", took[1000], took[10_000])
	}
}

func secondRun(t *testing.T, e enginetest.Engine) (millis float64) {
	t.Helper()
	before := stateOf(t, e)
	r, _, err := e.Run()
	if err != nil {
		t.Fatal(err)
	}
	if r.Executed != 0 {
		t.Errorf("the second run settled %d steps", r.Executed)
	}
	if after := stateOf(t, e); before != after {
		t.Errorf("the second run wrote to the store: %s, then %s", before, after)
	}
	return r.Millis
}

// stateOf is when the store's file was written last, and what is in it.
func stateOf(t *testing.T, e enginetest.Engine) string {
	t.Helper()
	path := filepath.Join(e.StorePath(), "steps.db")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", schemas.DigestBytes(text).Short())
}
