package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// copied is a mirror, and how it stands to its remote.
type copied struct {
	dir string
	// silent is why the remote could not be asked now: the mirror is as it was at asOf.
	silent error
	asOf   time.Time
}

// mirror makes or updates a bare copy of url under cacheDir. A fetch that is
// interrupted leaves the copy as it was before. A remote that does not answer leaves
// it as well: a whole copy serves until it does. ErrRemote where there is none.
func mirror(ctx context.Context, url, cacheDir string) (copied, error) {
	dir, err := mirrorDir(url, cacheDir)
	if err != nil {
		return copied{}, err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return copied{}, fmt.Errorf("locking the mirror: %w", err)
	}
	defer unlock()
	if err := sweepMirror(dir); err != nil {
		return copied{}, fmt.Errorf("cleaning the mirror: %w", err)
	}
	err = update(ctx, url, dir)
	if errors.Is(err, ErrRemote) {
		if asOf, ok := whole(ctx, dir); ok {
			return copied{dir, err, asOf}, nil
		}
	}
	return copied{dir: dir}, err
}

// whole reports whether a mirror can be read as it is, and since when nobody has
// asked its remote: every object is there that its refs lead to. A mirror that was
// never fetched has no HEAD.
func whole(ctx context.Context, dir string) (asOf time.Time, ok bool) {
	if _, err := output(online(ctx, dir, "rev-list", "--quiet", "--objects", "HEAD", "--all")); err != nil {
		return asOf, false
	}
	info, err := os.Stat(filepath.Join(dir, "HEAD"))
	if err != nil {
		return asOf, false
	}
	return info.ModTime(), true
}

// mirrorDir is where the mirror of a URL lies.
func mirrorDir(url, cacheDir string) (string, error) {
	if strings.HasPrefix(url, "-") || cacheDir == "" {
		return "", fmt.Errorf("%w: %q cannot be mirrored", ErrNoRepo, url)
	}
	cacheDir, err := filepath.Abs(cacheDir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return "", err
	}
	slug := unsafeInName.ReplaceAllString(nameOfURL(url), "_")
	return filepath.Join(cacheDir, slug+"-"+schemas.DigestBytes([]byte(url)).Short()+".git"), nil
}

// update brings a mirror up to its remote, and dates it.
func update(ctx context.Context, url, dir string) error {
	// Each time: it changes nothing in a whole repository, and mends half a one.
	if _, err := output(online(ctx, filepath.Dir(dir), "init", "-q", "--bare", "--template=", "--object-format=sha1", dir)); err != nil {
		return err
	}
	list, err := listRemote(ctx, url, dir)
	if err != nil {
		return err
	}
	has, _ := listMirror(ctx, dir)
	if !slices.Equal(offered(list), offered(has)) {
		if err := fetch(ctx, url, dir, mirrored...); err != nil {
			return err
		}
	}
	if err := setHead(ctx, dir, list); err != nil {
		return err
	}
	return date(dir)
}

// listRemote asks a remote for its refs. One question, and no more where nothing
// changed: since protocol 2 a list takes two requests. HEAD is in it: its branch is then
// among what is fetched. ErrRemote.
func listRemote(ctx context.Context, url, dir string) (string, error) {
	cmd := online(ctx, dir, "-c", "protocol.version=0", "ls-remote", "--symref", "--", url)
	cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // no repository around the cache
	out, err := converse(ctx, url, cmd)
	return string(out), err
}

// listMirror is the same list of a mirror. The type makes git look at what each ref is
// at: where that is missing there is no list, and a fetch mends it.
func listMirror(ctx context.Context, dir string) (string, error) {
	out, err := output(online(ctx, dir, "for-each-ref", "--format=%(objectname)\t%(refname)%(if)%(objecttype)%(then)%(end)"))
	return string(out), err
}

func fetch(ctx context.Context, url, dir string, what ...string) error {
	args := append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", "--progress", "--prune", "--no-write-fetch-head",
		"--no-recurse-submodules", "--", url}, what...)
	// Its progress is what a remote says while it makes a pack.
	_, err := converse(ctx, url, online(ctx, dir, args...))
	return err
}

// fetchCommit fetches one commit that no ref leads to any more, and what is below it.
func fetchCommit(ctx context.Context, url, dir, commit string) error {
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return fmt.Errorf("locking the mirror: %w", err)
	}
	defer unlock()
	return fetch(ctx, url, dir, commit)
}

// offered are the lines of those refs that are mirrored, in order.
func offered(list string) []string {
	var out []string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if _, name, _ := strings.Cut(line, "\t"); mirroredRef.MatchString(name) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

var (
	unsafeInName = lazyregexp.New(`[^A-Za-z0-9._-]`)
	// mirrored names what is copied; a remote without pull refs offers none.
	mirrored = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+refs/pull/*/head:refs/pull/*/head"}
	// mirroredRef is the same for a name; a tag is listed once more for what it stands on.
	mirroredRef = lazyregexp.New(`^refs/(heads/|tags/|pull/.*/head$)[^^]*$`)
)

// setHead gives the mirror the remote's default branch.
func setHead(ctx context.Context, dir, symref string) error {
	for line := range strings.Lines(symref) {
		target, ok := strings.CutPrefix(line, "ref: ")
		if !ok || !strings.HasSuffix(line, "\tHEAD\n") {
			continue
		}
		target, _, _ = strings.Cut(target, "\t")
		_, err := output(online(ctx, dir, "symbolic-ref", "HEAD", target))
		return err
	}
	// A detached HEAD names a commit, and no branch.
	if id, rest, _ := strings.Cut(symref, "\t"); strings.HasPrefix(rest, "HEAD\n") {
		_, err := output(online(ctx, dir, "update-ref", "--no-deref", "HEAD", id))
		return err
	}
	return fmt.Errorf("%w: the remote has no HEAD", ErrNoRepo)
}

// lock keeps two processes from fetching into one mirror.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing drops the lock
}
