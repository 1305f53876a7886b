package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

var drawn = flag.Int("drawn", 1, "how many runs TestNeighbours makes of changes drawn at random; from 2 on the demo's are among them")

// TestNeighbours: a change has the same end, and a row of the same bytes, whatever else is
// in its run, in whatever order and however many at one time. The neighbours have equal
// requirements, and so one environment key, and each needs another repair.
//
// What a repository knows together is left as the design has it: a test that disagreed with
// itself in one change is quarantined in all, and of two equal changes the later one is an
// alias. No sample here has either.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	b := &bench{kind: "bwrap", all: true, env: needs(t, "bwrap"), dir: t.TempDir()}
	b.env = append(slices.Clone(b.env), "BENCHMINT_PROOF_HUNKS=0", "BENCHMINT_PROOF_RUNS=1")
	prefixes := []string{"neighbour-"}
	if *drawn > 1 {
		prefixes = append(prefixes, "demo-")
	}
	var all []samples.Sample // of one change each
	for _, s := range b.load(t, prefixes...) {
		for _, c := range s.Changes {
			one := s
			one.Changes = []samples.Change{c}
			all = append(all, one)
		}
	}
	alone := map[string]string{}
	for i, s := range all {
		maps.Copy(alone, b.ends(t, fmt.Sprintf("alone%d", i), 1, []samples.Sample{s}))
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range *drawn {
		some, parallel := slices.Clone(all), 2
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		if i > 0 {
			some, parallel = some[:2+r.IntN(len(some)-1)], 1+r.IntN(3)
		}
		got := b.ends(t, fmt.Sprintf("together%d", i), parallel, together(some))
		want := map[string]string{}
		for _, s := range some {
			id := s.ID(s.Changes[0])
			want[id] = alone[id]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d at one time (-alone +together):\n%s", parallel, diff)
		}
	}
}

// together joins changes of one sample, which are of one source, in the order of the first.
func together(all []samples.Sample) []samples.Sample {
	var out []samples.Sample
	for _, s := range all {
		at := slices.IndexFunc(out, func(x samples.Sample) bool { return x.Name == s.Name })
		if at < 0 {
			out = append(out, s)
		} else {
			out[at].Changes = slices.Concat(out[at].Changes, s.Changes)
		}
	}
	return out
}

// ends is how each change of a run ended: its row, or its reject, as bytes.
func (b *bench) ends(t *testing.T, name string, parallel int, of []samples.Sample) map[string]string {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, "repos")); err != nil {
		t.Fatal(err)
	}
	d := b.mint(t, name, everything+fmt.Sprintf("proof: {parallel: %d}\n", parallel), of)
	out := map[string]string{}
	put := func(id string, v any) {
		raw, err := schemas.Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = strings.ReplaceAll(string(raw), filepath.Join(b.dir, "repos"), "")
	}
	for _, r := range d.Rows {
		put(r.InstanceID, r.Row)
	}
	for _, r := range d.Rejects {
		put(r.InstanceID, r)
	}
	for _, s := range of {
		for _, c := range s.Changes {
			if row := slices.ContainsFunc(d.Rows, func(r output.Located) bool { return r.InstanceID == s.ID(c) }); row != (c.End == samples.Done) {
				t.Errorf("%s: a row: %t\n%s", s.ID(c), row, out[s.ID(c)])
			}
		}
	}
	return out
}
