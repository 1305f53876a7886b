package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/output"
)

// The test binary is the child, too: with these set it makes one change of a shelf.
const (
	childShelf = "RELEASE_TEST_SHELF"
	childWork  = "RELEASE_TEST_WORK" // a dataset to release; "" purges
	childLimit = "RELEASE_TEST_LIMIT"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(childShelf)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := child(dir, os.Getenv(childWork), os.Getenv(childLimit)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(dir, work, limit string) error {
	if limit != "" {
		var n uint64
		if _, err := fmt.Sscan(limit, &n); err != nil {
			return err
		}
		signal.Ignore(syscall.SIGXFSZ) // so that a write gives EFBIG
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	return apply(dir, work)
}

// apply releases a dataset, or purges a task where there is none.
func apply(dir, work string) error {
	if work == "" {
		_, err := correct(dir, purgeOfGear)
		return err
	}
	d, err := output.Read(work)
	if err != nil {
		return err
	}
	_, err = plan(dir, options(d, "2025-03-01"), true)
	return err
}

var purgeOfGear = Act{IDs: []string{"acme__gear-1"}, Reason: "takedown", Text: "Its owner asks.", Purge: true}

// shelfToChange is one with two versions, of which a purge writes both again.
func shelfToChange(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "releases")
	publish(t, dir, options(work(t, nil, widget(1, "2025-01-10"), gear(1, "2025-01-12")), "2025-01-15"))
	publish(t, dir, options(work(t, nil, widget(2, "2025-01-20")), "2025-02-01"))
	return dir
}

func clone(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "releases")
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

func command(t testing.TB, dir, work, limit string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childShelf+"="+dir, childWork+"="+work, childLimit+"="+limit)
	return cmd
}

// visible is a shelf as its readers see it: feed and versions.
func visible(t testing.TB, dir string) map[string]string {
	t.Helper()
	s, err := Read(dir)
	must(t, err)
	b, err := output.EncodeRecord(s.Feed)
	must(t, err)
	out := map[string]string{FeedFile: string(b)}
	for _, e := range s.Feed.Versions {
		for name, b := range contents(t, s.Path(e.Version)) {
			out[string(e.Version)+"/"+name] = b
		}
	}
	return out
}

// TestKill: a release and a purge that are killed at any instant leave the shelf as it was or as
// it will be, and end in the same bytes when they are made again.
func TestKill(t *testing.T) {
	t.Parallel()
	shelf := shelfToChange(t)
	for name, w := range map[string]string{"release": work(t, nil, widget(1, "2025-01-10"), widget(2, "2025-01-20"), widget(3, "2025-02-20")).Dir, "purge": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undisturbed := clone(t, shelf)
			before := visible(t, undisturbed)
			began := time.Now()
			if b, err := command(t, undisturbed, w, "").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			took := time.Since(began)
			holds(t, undisturbed)
			after := visible(t, undisturbed)
			want := contents(t, undisturbed)
			killed := 0
			for i := range 20 {
				dir := clone(t, shelf)
				cmd := command(t, dir, w, "")
				must(t, cmd.Start())
				at := time.Duration(rand.Int64N(int64(took)))
				time.Sleep(at)
				must(t, cmd.Process.Kill())
				if err := cmd.Wait(); err != nil {
					killed++
				}
				what := fmt.Sprintf("kill %d after %s of %s", i, at, took)
				if got := visible(t, dir); got[FeedFile] == before[FeedFile] {
					same(t, what, before, got)
				} else {
					same(t, what, after, got)
				}
				for _, f := range findings(t, dir) {
					t.Errorf("%s: %s", what, f)
				}
				if err := apply(dir, w); err != nil && !errors.Is(err, ErrThere) && !strings.Contains(err.Error(), "was withdrawn") {
					t.Errorf("%s: again: %v", what, err)
				}
				same(t, what+", made again", want, contents(t, dir))
			}
			if killed < 5 {
				t.Errorf("only %d of 20 were killed before their end", killed)
			}
		})
	}
}

// TestKillBetweenSteps: every step of a change that is decided, one by one: a random kill rarely
// meets them.
func TestKillBetweenSteps(t *testing.T) {
	t.Parallel()
	shelf := shelfToChange(t)
	done := clone(t, shelf)
	must(t, apply(done, ""))
	after, want := visible(t, done), contents(t, done)
	moved := []Version{"2025.01", "2025.02", "2025.02.1"}
	for n := range 1 << len(moved) {
		dir := clone(t, shelf)
		must(t, os.Rename(copied(t, filepath.Join(done, FeedFile), filepath.Join(dir, ".feed")), filepath.Join(dir, nextFile)))
		for i, v := range moved {
			place := filepath.Join(dir, begun+string(v))
			must(t, os.CopyFS(place, os.DirFS(filepath.Join(done, string(v)))))
			if n>>i&1 == 1 {
				must(t, (&Shelf{Dir: dir, places: map[Version]string{v: begun + string(v)}}).moveOnly(v))
			}
		}
		put(t, filepath.Join(dir, ".new-2024.01", "x"), "begun")
		put(t, filepath.Join(dir, "..new-2025.02.1.new-123", "x"), "begun")
		put(t, filepath.Join(dir, ".tmp-123"), "begun")
		same(t, fmt.Sprintf("after the steps %03b", n), after, visible(t, dir))
		holds(t, dir)
		s, err := Open(context.Background(), dir, "bench")
		must(t, err)
		s.Close()
		same(t, fmt.Sprintf("opened after the steps %03b", n), want, contents(t, dir))
	}
}

// moveOnly puts one version in its place.
func (s *Shelf) moveOnly(v Version) error {
	from, to := filepath.Join(s.Dir, s.places[v]), filepath.Join(s.Dir, string(v))
	if _, err := os.Stat(to); err != nil {
		return os.Rename(from, to)
	}
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
}

func copied(t testing.TB, from, to string) string {
	t.Helper()
	put(t, to, read(t, from))
	return to
}

// TestLostVersion: a decided change whose folder is gone is said, and nothing is changed.
func TestLostVersion(t *testing.T) {
	t.Parallel()
	dir := shelfToChange(t)
	f := feedOf(t, dir)
	f.Versions[1].Record = f.Versions[0].Record
	b, err := output.EncodeRecord(f)
	must(t, err)
	put(t, filepath.Join(dir, nextFile), string(b))
	before := contents(t, dir)
	if _, err := Open(context.Background(), dir, "bench"); err == nil || !strings.Contains(err.Error(), "nothing is changed") {
		t.Errorf("%v", err)
	}
	same(t, "the shelf", before, contents(t, dir))
}

// TestFileLimit: a write that fails, as on a full disk, leaves the shelf as it was, whichever file
// is the first that does not fit.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	shelf := shelfToChange(t)
	w := work(t, nil, widget(3, "2025-02-20"))
	sizes := map[int64]bool{}
	done := clone(t, shelf)
	must(t, apply(done, w.Dir))
	for name := range files(t, done) {
		info, err := os.Stat(filepath.Join(done, name))
		must(t, err)
		sizes[info.Size()] = true
	}
	all := []int64{}
	for n := range sizes {
		all = append(all, n)
	}
	slices.Sort(all)
	before := contents(t, shelf)
	failed := 0
	for i := 1; i < len(all); i += max(1, len(all)/12) {
		dir := clone(t, shelf)
		if b, err := command(t, dir, w.Dir, fmt.Sprint(all[i]-1)).CombinedOutput(); err == nil {
			holds(t, dir)
		} else if failed++; !strings.Contains(string(b), "file too large") {
			t.Errorf("limit %d: %s", all[i]-1, b)
		} else {
			same(t, fmt.Sprintf("limit %d", all[i]-1), before, contents(t, dir))
		}
		must(t, apply(dir, w.Dir))
		same(t, fmt.Sprintf("after the limit %d", all[i]-1), contents(t, done), contents(t, dir))
	}
	if failed < 5 {
		t.Errorf("only %d limits were met", failed)
	}
}

// TestUndecided: a change whose feed cannot be written has done nothing.
func TestUndecided(t *testing.T) {
	t.Parallel()
	dir := shelfToChange(t)
	before := contents(t, dir)
	s, err := Open(context.Background(), dir, "bench")
	must(t, err)
	c, err := s.Plan(context.Background(), options(work(t, nil, widget(3, "2025-02-20")), "2025-03-01"))
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, nextFile), 0o755))
	if _, err := c.Write(context.Background()); err == nil {
		t.Error("it is written")
	}
	must(t, os.Remove(filepath.Join(dir, nextFile)))
	s.Close()
	s, err = Open(context.Background(), dir, "bench")
	must(t, err)
	s.Close()
	same(t, "the shelf", before, contents(t, dir))
}

// TestTwoAtOneTime: the second waits for the first, and finds nothing to do.
func TestTwoAtOneTime(t *testing.T) {
	t.Parallel()
	dir := shelfToChange(t)
	w := work(t, nil, widget(3, "2025-02-20"))
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = apply(dir, w.Dir) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, ErrThere) {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d of %d made the version", made, len(errs))
	}
	holds(t, dir)
	s, err := Open(context.Background(), dir, "bench")
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, dir, "bench"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a shelf that is open is opened: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := shelfToChange(t)
	if _, err := Open(context.Background(), dir, "other"); err == nil || !strings.Contains(err.Error(), `is the shelf of "bench"`) {
		t.Errorf("the shelf of another dataset: %v", err)
	}
	somebody := t.TempDir()
	put(t, filepath.Join(somebody, "thesis.tex"), "x")
	put(t, filepath.Join(somebody, ".tmp-notes"), "x")
	before := contents(t, somebody)
	if _, err := Open(context.Background(), somebody, "bench"); err == nil || !strings.Contains(err.Error(), "nothing is written to it") {
		t.Errorf("a folder of somebody: %v", err)
	}
	same(t, "the folder of somebody", before, contents(t, somebody))
	if _, err := Read(somebody); !errors.Is(err, ErrNoShelf) {
		t.Errorf("%v", err)
	}
	s, err := Read(dir)
	must(t, err)
	if _, err := s.Entry("2025.03"); !errors.Is(err, ErrUnknownVersion) || !strings.Contains(err.Error(), "did you mean 2025.0") {
		t.Errorf("%v", err)
	}
}
