package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// clone is what a clone was made without.
type clone struct {
	cut  map[string]bool // commits whose parents a shallow clone leaves out
	mend string          // what gets an object that is missing
}

func cloneOf(source string, f *found) clone {
	c := clone{cut: map[string]bool{}}
	for line := range strings.Lines(string(f.shallow)) {
		c.cut[strings.TrimSpace(line)] = true
	}
	switch {
	case isURL(source):
		// A mirror is whole, or mended by the next fetch.
	case f.promisor != "":
		c.mend = fmt.Sprintf("%s is a partial clone; git -C %[1]s fetch --refetch --no-filter gets what it lacks", source)
	default:
		c.mend = fmt.Sprintf("git -C %s fsck names what is damaged", source)
	}
	return c
}

// missing adds to an error that an object is missing how it can be had.
func (r *Repo) missing(err error) error {
	if err == nil || r.clone.mend == "" || !errors.Is(err, ErrMissing) {
		return err
	}
	return fmt.Errorf("%w; %s", err, r.clone.mend)
}

// partial is what stands in for the objects that a partial clone lacks.
type partial struct {
	mirror string // of its remote; "" where nothing is missing, or it cannot be had
	url    string
	err    error // why it cannot be had
	fresh  bool  // it was asked now
}

// promised finds the objects that a partial clone lacks: in a mirror of the remote that
// promises them, all in one fetch. The clone itself is left as it is. A mirror that has
// the head is not asked for anything new.
func promised(ctx context.Context, f *found, cacheDir string) (partial, error) {
	if f.promisor == "" || cacheDir == "" {
		return partial{}, nil
	}
	dir, err := mirrorDir(f.promisor, cacheDir)
	if err != nil {
		return partial{}, err
	}
	if _, err := output(online(ctx, filepath.Dir(dir), "--git-dir="+dir, "cat-file", "-e", f.head+"^{commit}")); err == nil {
		return partial{url: f.promisor, mirror: dir}, nil
	}
	lacks, err := lacksObjects(ctx, f)
	if err != nil || !lacks {
		return partial{}, err
	}
	p := partial{url: f.promisor, mirror: dir, fresh: true}
	m, err := mirror(ctx, f.promisor, cacheDir)
	if ctx.Err() != nil {
		return partial{}, ctx.Err()
	}
	if p.err = err; err == nil {
		p.err = m.silent
	}
	if _, err := os.Stat(filepath.Join(dir, "objects")); err != nil {
		p.mirror = "" // an older one is better than none
	}
	return p, nil
}

// lacksObjects looks for the first object that history needs and that is not there.
func lacksObjects(ctx context.Context, f *found) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := inside(ctx, f.common, "--git-dir="+f.common, "rev-list", "--objects", "--missing=print", f.head, "--")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("starting git: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "?") {
			cancel()
			_ = cmd.Wait() // it was killed: its exit code says nothing
			return true, nil
		}
	}
	if err := cmd.Wait(); err != nil {
		return false, gitError(cmd, err, stderr.Bytes())
	}
	return false, lines.Err()
}
