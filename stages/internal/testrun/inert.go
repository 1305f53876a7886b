package testrun

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// inert reports whether the recipe's build leaves the same in the solution as in B: whatever lies
// beside the files of the two trees is equal. An extension that is compiled, a version that is
// written down or a build that failed in B differ, and so does a list of files where the change
// adds one.
func (b *Bench) inert(ctx context.Context) (bool, error) {
	if b.same != nil {
		return *b.same, nil
	}
	var left [2]map[string]leaving
	for i, s := range []schemas.State{schemas.StateB, schemas.StateG} {
		at, err := b.Place(ctx, s)
		if err != nil {
			return false, err
		}
		if left[i], err = b.leavings(ctx, at); err != nil {
			return false, err
		}
	}
	same := len(left[0]) == len(left[1])
	var asked []string
	for p, x := range left[0] {
		y, ok := left[1][p]
		switch {
		case !ok || x.mode != y.mode || x.size != y.size && path.Base(p) != record:
			same = false
		case !x.at.Equal(y.at):
			asked = append(asked, p)
		}
	}
	if same {
		var err error
		if same, err = b.equal(ctx, asked); err != nil {
			return false, err
		}
	}
	b.same = &same
	return same, nil
}

// leaving is a file of a state that is none of its tree.
type leaving struct {
	mode fs.FileMode
	size int64
	at   time.Time
}

func (b *Bench) leavings(ctx context.Context, at Place) (map[string]leaving, error) {
	out := map[string]leaving{}
	err := b.Builder.Sandbox.Files(ctx, at.Layer, func(p string, info fs.FileInfo, _ func() (io.ReadCloser, error)) error {
		if _, below := out[p]; below || b.ofTree(p) || path.Ext(p) == bytecode || path.Base(p) == installed {
			return nil
		}
		out[p] = leaving{info.Mode(), info.Size(), info.ModTime()}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading what the build of state %s left: %w", at.State, err)
	}
	return out, nil
}

// ofTree reports whether B or the solution has a file, or it is of the commit that seals B.
func (b *Bench) ofTree(p string) bool {
	in, ok := strings.CutPrefix(p, sandbox.TreePath+"/")
	return ok && (b.B.Has(in) || b.G.Has(in) || strings.HasPrefix(in, ".git/"))
}

// What differs between two builds of one and the same, in Python.
const (
	bytecode  = ".pyc"          // it names the time and the size of its source
	installed = "uv_cache.json" // when uv saw the manifests
	record    = "RECORD"        // names the digest of that file, among those of all others
)

// equal reports whether files have the same bytes in B and in the solution.
func (b *Bench) equal(ctx context.Context, paths []string) (bool, error) {
	if len(paths) == 0 {
		return true, nil
	}
	sums := map[string]string{}
	for _, p := range paths {
		sums[p] = ""
	}
	same := true
	for _, s := range []schemas.State{schemas.StateB, schemas.StateG} {
		seen := map[string]bool{}
		at, err := b.Place(ctx, s)
		if err != nil {
			return false, err
		}
		err = b.Builder.Sandbox.Files(ctx, at.Layer, func(p string, _ fs.FileInfo, open func() (io.ReadCloser, error)) error {
			if _, ok := sums[p]; !ok || seen[p] {
				return nil
			}
			seen[p] = true
			f, err := open()
			if err != nil {
				return err
			}
			defer f.Close()
			sum := sha256.New()
			if path.Base(p) == record {
				err = others(sum, f)
			} else {
				_, err = io.Copy(sum, f)
			}
			if s == schemas.StateB {
				sums[p] = string(sum.Sum(nil))
			}
			same = same && sums[p] == string(sum.Sum(nil))
			return err
		})
		if err != nil {
			return false, fmt.Errorf("comparing what builds left: %w", err)
		}
	}
	return same, nil
}

// others copies the lines of a list of files that are not about the one that always differs.
func others(to io.Writer, from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if !strings.Contains(line, installed) {
			_, _ = io.WriteString(to, line) // a digest takes all
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
