package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/schemas"
)

// TestHostile: each attack of the samples has its own end, the ordinary changes beside
// them are rows, the dataset passes its check and has no token and no control character,
// and the rows can be proved again from empty caches.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bwrap", "docker"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := &bench{kind: kind, all: true, env: needs(t, kind), dir: t.TempDir()}
			b.env = append(slices.Clone(b.env), "BENCHMINT_PROOF_HUNKS=0", "BENCHMINT_PROOF_RUNS=2")
			b.ownCache(t)
			b.hostile(t, "results", "hostile-results-")
			b.hostile(t, "limits", "hostile-limits-")
			b.hostile(t, "build", "hostile-build-")
			b.hostile(t, "texts", "hostile-texts-", "hostile-cache-beside-")
		})
	}
}

// hostile mints the samples with a prefix as one dataset.
func (b *bench) hostile(t *testing.T, name string, prefixes ...string) {
	t.Run(name, func(t *testing.T) {
		of := b.load(t, prefixes...)
		if len(of) == 0 {
			t.Skip("-samples names none of these")
		}
		b.raw = rawTrees(t, of)
		compare(t, b.mint(t, name, everything, of), of)
		b.must(t, "check", name)
		harmless(t, filepath.Join(b.dir, name))
		b.clean(t)
		b.must(t, "prove", name)
	})
}

// rawTrees gives the samples of texts, as changes, trees that git would not write and an
// object that is larger than any: what writes them into the repository. Their names stand
// before all others of that sample, as git orders them.
func rawTrees(t *testing.T, of []samples.Sample) func(repo string) {
	at := slices.IndexFunc(of, func(s samples.Sample) bool { return s.Name == "hostile-texts-python" })
	if at < 0 {
		return nil
	}
	const zeros = "zeros"
	first := len(of[at].Changes) + 1
	dir := t.TempDir()
	if err := of[at].Build(dir); err != nil {
		t.Fatal(err)
	}
	raw := gitrepotest.NewRaw(t, dir)
	names := append(slices.Sorted(maps.Keys(raw.UnsafeTrees(raw.Rows("HEAD")))), zeros)
	for i, name := range names {
		end := schemas.UnsafePath
		if name == gitrepotest.Endless || name == zeros {
			end = schemas.HugeObject
		}
		of[at].Changes = append(of[at].Changes, samples.Change{Number: first + i, Shows: "findings 12 and 14: " + name, End: string(end)})
	}
	return func(repo string) {
		if filepath.Base(repo) != of[at].Name {
			return
		}
		raw := gitrepotest.NewRaw(t, repo)
		sound := raw.Rows("HEAD")
		good := raw.Tree(sound...)
		trees := raw.UnsafeTrees(sound)
		trees[zeros] = raw.Tree(append([]gitrepotest.Row{{Mode: "100644", Name: "A", ID: raw.Blob(strings.Repeat("\x00", 101<<20))}}, sound...)...)
		for i, name := range names {
			raw.Commit(fmt.Sprintf("%s (#%d)", name, first+i), trees[name])
			raw.Commit("Clear up", good)
		}
	}
}

// harmful is the token of the samples, and characters that drive a terminal or turn text.
var harmful = regexp.MustCompile(`ghp_[0-9A-Za-z]{36}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

// harmless looks into every text of a dataset.
func harmless(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{".parquet", ".gz"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if found := harmful.Find(text); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
