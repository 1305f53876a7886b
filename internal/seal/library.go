package seal

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/schemas"
)

// Search is Scan for a project whose toolchain is in a folder of the host. Words of the
// standard library, which a project may have copied, tell nothing of a solution: where
// something is found, it is searched again without the needles that stand there. "" is no
// toolchain.
func Search(ctx context.Context, s *Set, walk Walk, toolchain string) (schemas.Scan, error) {
	found, err := Scan(ctx, s, walk)
	if err != nil || len(found.Hits) == 0 || toolchain == "" {
		return found, err
	}
	if s, err = s.without(ctx, sources(toolchain)); err != nil {
		return found, err
	}
	return Scan(ctx, s, walk)
}

// sources visits the source files below a folder.
func sources(dir string) Walk {
	return func(_ context.Context, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
		return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !source(filepath.ToSlash(name)) {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return visit(name, info, func() (io.ReadCloser, error) { return os.Open(name) })
		})
	}
}

// without is the set but for the texts that stand in what walk visits.
func (s *Set) without(ctx context.Context, walk Walk) (*Set, error) {
	m, known := matcherOf(s.needles), map[int]bool{}
	err := walk(ctx, func(_ string, _ fs.FileInfo, open func() (io.ReadCloser, error)) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := open()
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }() // only read
		_, err = m.read(r, func(i int) { known[i] = true })
		return err
	})
	if err != nil {
		return nil, err
	}
	out := *s
	out.needles, out.counts = nil, map[string]int{}
	for i, n := range s.needles {
		if !known[i] {
			out.needles = append(out.needles, n)
			out.counts[n.group()]++
		}
	}
	return &out, nil
}
