package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/schemas"
)

// shelfOf has copies of one repository, by the names acme/0, acme/1, …
func shelfOf(t *testing.T, most, copies int) *gitrepo.Shelf {
	t.Helper()
	source := gitrepotest.New(t, numbers)
	s := gitrepo.NewShelf(most)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range copies {
		o, err := gitrepo.Look(t.Context(), source, fmt.Sprintf("acme/%d", i), "")
		if err != nil {
			t.Fatal(err)
		}
		s.Add(o)
	}
	return s
}

func TestShelfBoundsWhatIsOpen(t *testing.T) {
	t.Parallel()
	const most = 3
	s := shelfOf(t, most, 10)
	var mu sync.Mutex
	inUse := map[*gitrepo.Repo]int{}
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			r, release, err := s.Open(t.Context(), schemas.Repo{Name: fmt.Sprintf("acme/%d", i%10)})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			if inUse[r]++; len(inUse) > most {
				t.Errorf("%d are in use, want at most %d", len(inUse), most)
			}
			mu.Unlock()
			if _, err := r.Tree(t.Context(), r.Info().Head); err != nil {
				t.Error(err)
			}
			mu.Lock()
			if inUse[r]--; inUse[r] == 0 {
				delete(inUse, r)
			}
			mu.Unlock()
			release()
			release() // gives nothing back twice
		})
	}
	wg.Wait()
	if _, _, err := s.Open(t.Context(), schemas.Repo{Name: "acme/none"}); err == nil {
		t.Error("a repository that is not on the shelf was opened")
	}
}

// What was made of a repository is there when it is opened again.
func TestShelfKeepsWhatWasMade(t *testing.T) {
	t.Parallel()
	s := shelfOf(t, 1, 2)
	r, release, err := s.Open(t.Context(), schemas.Repo{Name: "acme/0"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Graft(t.Context(), "", []gitrepo.Edit{{Path: "a/b", Mode: "100644", Data: []byte("made\n")}})
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, release, err = s.Open(t.Context(), schemas.Repo{Name: "acme/1"}); err != nil { // closes the first
		t.Fatal(err)
	}
	release()
	if r, release, err = s.Open(t.Context(), schemas.Repo{Name: "acme/0"}); err != nil {
		t.Fatal(err)
	}
	defer release()
	if tr, err := r.Tree(t.Context(), id); err != nil || !tr.Has("a/b") {
		t.Errorf("the tree that was made: %v", err)
	}
}

// A record is read at its head, whatever was fetched since, and whatever was thrown away.
func TestOpenAtTheHeadOfARecord(t *testing.T) {
	t.Parallel()
	upstream, cache := gitrepotest.New(t, numbers), t.TempDir()
	first, err := gitrepo.Look(t.Context(), "file://"+upstream, "", cache)
	if err != nil {
		t.Fatal(err)
	}
	record := first.Info()
	if first.Here() || record.Root != "" {
		t.Errorf("looked up without a mirror: here %t, root %q", first.Here(), record.Root)
	}
	if m, err := filepath.Glob(filepath.Join(cache, "*.git")); err != nil || len(m) > 0 {
		t.Errorf("looking up fetched %v (%v)", m, err)
	}
	want := len(mustOpen(t, first, "").Line())
	gitrepotest.Git(t, upstream, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "Later")
	moved, err := gitrepo.Look(t.Context(), "file://"+upstream, "", cache)
	if err != nil {
		t.Fatal(err)
	}
	if moved.Here() || moved.Info().Head == record.Head || moved.Info().Root == "" {
		t.Errorf("moved: here %t, %+v", moved.Here(), moved.Info())
	}
	if got := len(mustOpen(t, moved, "").Line()); got != want+1 || !moved.Here() {
		t.Errorf("%d commits, want %d; here %t", got, want+1, moved.Here())
	}
	if r := mustOpen(t, moved, record.Head); len(r.Line()) != want || r.Info().Head != record.Head {
		t.Errorf("at the record's head: %d commits, want %d", len(r.Line()), want)
	}
	if _, err := moved.Open(t.Context(), "0123456789012345678901234567890123456789"); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a head that nobody has: %v", err)
	}
	if err := os.RemoveAll(upstream); err != nil {
		t.Fatal(err)
	}
	silent, err := gitrepo.Look(t.Context(), "file://"+upstream, "", cache)
	if err != nil {
		t.Fatal(err)
	}
	if _, why := silent.Silent(); !errors.Is(why, gitrepo.ErrRemote) || len(mustOpen(t, silent, record.Head).Line()) != want {
		t.Errorf("silent: %v", why)
	}
}

func mustOpen(t *testing.T, o *gitrepo.Origin, head string) *gitrepo.Repo {
	t.Helper()
	r, err := o.Open(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
