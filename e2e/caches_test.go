package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/samples"
)

var alternations = flag.Int("alternations", 1, "how often TestCaches alternates hostile and benign repositories")

// TestCaches: hostile and benign repositories in random order over one cache. Layers are
// made anew for each, so that what builds take from the cache decides. The benign rows
// are those of a run alone, file for file, and they can be proved again from empty caches.
func TestCaches(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bwrap", "docker"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testCaches(t, &bench{kind: kind, all: true, env: needs(t, kind), dir: t.TempDir()})
		})
	}
}

func testCaches(t *testing.T, b *bench) {
	b.env = append(slices.Clone(b.env), "BENCHMINT_PROOF_HUNKS=0", "BENCHMINT_PROOF_RUNS=1")
	cache := b.ownCache(t)
	hostile, benign := b.load(t, "hostile-cache-python", "hostile-cache-go"), b.load(t, "hostile-cache-beside-")
	run := func(name string, of []samples.Sample) map[string]string {
		for _, left := range []string{filepath.Join(b.dir, name), filepath.Join(b.dir, name+"-state"), filepath.Join(b.dir, "repos"), filepath.Join(cache, "sandbox", b.kind, "layers")} {
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, b.mint(t, name, everything, of), of)
		got := map[string]string{}
		for file, digest := range digests(t, filepath.Join(b.dir, name)) {
			got[file] = string(digest)
		}
		return got
	}
	alone := run("benign", benign)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var order []bool // hostile
	for range *alternations {
		order = append(order, true, false)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(order)-2, func(i, j int) { order[i+1], order[j+1] = order[j+1], order[i+1] }) // hostile first, benign last
	for i, attack := range order {
		if attack {
			run("hostile", hostile)
			continue
		}
		if diff := cmp.Diff(alone, run("benign", benign)); diff != "" {
			t.Errorf("round %d of %v: the benign dataset is not that of a run alone:\n%s", i, order, diff)
		}
	}
	b.clean(t)
	b.must(t, "prove", "benign")
}

// clean empties the caches of a bench that has its own.
func (b *bench) clean(t *testing.T) {
	t.Helper()
	b.must(t, "clean", "--force")
}

// ownCache gives the bench a cache of its own with the toolchains that are there.
func (b *bench) ownCache(t *testing.T) string {
	t.Helper()
	cache := filepath.Join(b.dir, "cache", "benchmint")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	users, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	toolchains := filepath.Join(users, "benchmint", "toolchains")
	if err := os.MkdirAll(toolchains, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(toolchains, filepath.Join(cache, "toolchains")); err != nil {
		t.Fatal(err)
	}
	b.env = append(slices.Clone(b.env), fmt.Sprintf("XDG_CACHE_HOME=%s", filepath.Dir(cache)))
	return cache
}
