package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Transitions settled in groups: claim and settle of each step, with records of
// about 600 bytes; one group is what a committer gathers at most.
func benchmarkSettle(b *testing.B, dir string, group int) {
	d := storetest.Open(b, dir, store.Options{})
	ctx := context.Background()
	record := fmt.Sprintf(`{"text":%q}`, make([]byte, 120))
	var words []pipeline.Made
	n := b.N/4 + 1
	for i := range n {
		words = append(words, pipeline.Made{Key: fmt.Sprintf("k%07d", i), Digest: "sha256:0123456789012345678901234567890123456789012345678901234567890123", Whole: "sha256:0123456789012345678901234567890123456789012345678901234567890123", Record: []byte(record)})
	}
	if err := d.Store.Seed(ctx, "grow", "", storetest.Seeds(words...)); err != nil {
		b.Fatal(err)
	}
	var wants []pipeline.Want
	for _, s := range []string{"judge", "make", "note", "grow"} {
		wants = append(wants, pipeline.Want{Stage: s, N: group})
	}
	done := 0
	b.ResetTimer()
	for done < 4*n {
		claims, err := d.Claim(ctx, "w1", wants)
		if err != nil {
			b.Fatal(err)
		}
		for len(claims) > 0 {
			some := claims[:min(group, len(claims))]
			claims = claims[len(some):]
			var all []pipeline.Settlement
			for _, c := range some {
				all = append(all, pipeline.Settlement{ID: c.ID, Owner: "w1", Attempt: c.Attempt, State: schemas.StepDone, MS: 1,
					Outputs: []pipeline.Made{{Key: c.Key, Digest: c.Digest, Whole: c.Digest, Record: c.Record}}})
			}
			if _, err := d.Settle(ctx, all); err != nil {
				b.Fatal(err)
			}
			done += len(some)
		}
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "transitions/s")
}

func BenchmarkSettle(b *testing.B) {
	for _, group := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(group), func(b *testing.B) { benchmarkSettle(b, b.TempDir(), group) })
	}
}
