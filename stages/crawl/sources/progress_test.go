package sources

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
)

// Finding and asking of many repositories say again and again how far they came, and end at all.
func TestProgress(t *testing.T) {
	t.Parallel()
	const of = 250
	there := githubtest.Repositories{}
	var all []placed
	for i := range of {
		name := fmt.Sprintf("acme/kit%03d", i)
		there[name] = &githubtest.Repository{Forge: schemas.Forge{Stars: i + 1}}
		all = append(all, placed{Source: config.Source{GitHub: name}})
	}
	s := githubtest.Start(there)
	t.Cleanup(s.Close)
	client, err := github.New(s.URL(), []string{"token"}, 0, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]int{}
	f := &Finder{Config: config.Default(), GitHub: github.NewLibrary(client, t.TempDir()), Now: time.Now, Progress: func(what string, done, all int) {
		if all != of {
			t.Errorf("%s %d of %d", what, done, all)
		}
		said[what] = append(said[what], done)
	}}
	found, err := f.search(t.Context(), config.Search{Stars: ">=1"})
	if err != nil || len(found) != of {
		t.Errorf("found %d: %v", len(found), err)
	}
	if _, err := f.ask(t.Context(), all); err != nil {
		t.Error(err)
	}
	for _, what := range []string{"found", "asked of"} {
		if n := said[what]; len(n) < 2 || !slices.IsSorted(n) || n[len(n)-1] != of {
			t.Errorf("%s: %v", what, n)
		}
	}
}
