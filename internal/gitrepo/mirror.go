package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/benchmint/benchmint/schemas"
)

// mirror makes or updates a bare copy of url under cacheDir and gives its path.
// A fetch that is interrupted leaves the copy as it was before.
func mirror(ctx context.Context, url, cacheDir string) (string, error) {
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
	dir := filepath.Join(cacheDir, slug+"-"+schemas.DigestBytes([]byte(url)).Short()+".git")
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("locking the mirror: %w", err)
	}
	defer unlock()
	if err := sweepMirror(dir); err != nil {
		return "", fmt.Errorf("cleaning the mirror: %w", err)
	}
	// Each time: it changes nothing in a whole repository, and mends half a one.
	if _, err := output(online(ctx, cacheDir, "init", "-q", "--bare", "--template=", "--object-format=sha1", dir)); err != nil {
		return "", err
	}
	// HEAD is asked first: its branch is then among what is fetched.
	out, err := output(online(ctx, dir, "ls-remote", "--symref", "--", url, "HEAD"))
	if err != nil {
		return "", remoteError(ctx, err)
	}
	fetch := append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", "-q", "--prune", "--no-write-fetch-head",
		"--no-recurse-submodules", "--", url}, mirrored...)
	if _, err := output(online(ctx, dir, fetch...)); err != nil {
		return "", remoteError(ctx, err)
	}
	return dir, setHead(ctx, dir, string(out))
}

var (
	unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]`)
	// mirrored names what is copied; a remote without pull refs offers none.
	mirrored = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+refs/pull/*/head:refs/pull/*/head"}
)

// setHead gives the mirror the remote's default branch.
func setHead(ctx context.Context, dir, symref string) error {
	for line := range strings.Lines(symref) {
		target, ok := strings.CutPrefix(line, "ref: ")
		if !ok {
			continue
		}
		target, _, _ = strings.Cut(target, "\t")
		_, err := output(online(ctx, dir, "symbolic-ref", "HEAD", target))
		return err
	}
	// A detached HEAD names a commit, and no branch.
	if id, _, ok := strings.Cut(symref, "\t"); ok {
		_, err := output(online(ctx, dir, "update-ref", "--no-deref", "HEAD", id))
		return err
	}
	return fmt.Errorf("%w: the remote has no HEAD", ErrNoRepo)
}

func remoteError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrRemote, err)
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
