package enginetest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

var items = flag.Int("items", 100_000, "items of the largest plan; a million takes minutes")

// Memory does not grow with the items, and a second run over settled items neither
// executes nor writes, in a time that does not depend on their number.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 items take a minute")
	}
	type measured struct {
		items int
		peak  int64
		first float64 // milliseconds
		again float64
	}
	var all []measured
	for n := 1000; n <= *items; n *= 10 {
		e := enginetest.Engine{Program: compiled(t), Dir: quickDir(t), Slots: 64, Config: enginetest.Spike(n, 5)}
		e.Config.Fail = 0 // a second run would try those again
		r, _, err := e.Run()
		if err != nil {
			t.Fatal(err)
		}
		sameDataset(t, e)
		m := measured{n, r.Peak, r.Millis, secondRun(t, e)}
		all = append(all, m)
		t.Logf("%d items: %.1f s, peak %.1f MB, second run %.1f ms", n, m.first/1000, float64(m.peak)/(1<<20), m.again)
	}
	// A thousand items do not fill the caches, which are of a fixed size: their peak
	// is printed, and held against a looser bound.
	large := all[len(all)-1]
	for i, bound := range []float64{1.6, 1.15} {
		if m := all[i]; m.items < large.items && float64(large.peak) > bound*float64(m.peak) {
			t.Errorf("peak memory %d at %d items, %d at %d", m.peak, m.items, large.peak, large.items)
		}
	}
	// A second run that read its steps would take a few per cent of the first.
	if large.again > 0.01*large.first {
		t.Errorf("%d items: the second run took %.0f ms, the first %.0f", large.items, large.again, large.first)
	}
}

func secondRun(t *testing.T, e enginetest.Engine) float64 {
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
		t.Error("the second run wrote to the store")
	}
	return r.Millis
}

func stateOf(t *testing.T, e enginetest.Engine) schemas.Digest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.StorePath(), "steps.db"))
	if err != nil {
		t.Fatal(err)
	}
	return schemas.DigestBytes(text)
}
