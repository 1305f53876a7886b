package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"slices"

	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/schemas"
)

var _ packages.Source = (*Store)(nil)

// Project implements packages.Source: the first index of the host that has the project lists it,
// further ones before the default, as uv asks them.
func (s *Store) Project(ctx context.Context, name string) ([]packages.Listed, error) {
	client := s.host.client()
	defer client.CloseIdleConnections()
	indexes := s.host.indexes()
	for _, index := range append(slices.Clone(indexes[1:]), indexes[0]) {
		at, err := url.Parse(index)
		if err != nil {
			return nil, fmt.Errorf("the package index %q is not an address", visibleIndex(index))
		}
		listed, err := list(ctx, client, at.JoinPath(name, "/"))
		if errors.As(err, new(*Missing)) {
			continue
		}
		for i, f := range listed { // a link of a page has the password of the page
			if link, err := url.Parse(f.URL); err == nil && link.User == nil && link.Host == at.Host {
				link.User = at.User
				listed[i].URL = link.String()
			}
		}
		return listed, err
	}
	return nil, fs.ErrNotExist
}

// Fetch implements packages.Source.
func (s *Store) Fetch(ctx context.Context, f packages.Listed, w io.Writer) error {
	client := s.host.client()
	defer client.CloseIdleConnections()
	at, err := url.Parse(f.URL)
	if err != nil {
		return err
	}
	answer, err := get(ctx, client, at, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = copyBody(w, answer.Body, at)
	return err
}

// Wheel keeps the wheel of a program that is brought in a folder; false for any other toolchain.
func (s *Store) Wheel(ctx context.Context, name, version, dir string) (f packages.File, ok bool, err error) {
	p := s.uv()
	w, known := p.wheels[runtime.GOARCH]
	if !known || name != p.name || version != p.version {
		return f, false, nil
	}
	f = packages.File{Kind: packages.Tool, Name: p.name, Version: p.version, File: w.file, Digest: schemas.Digest("sha256:" + w.sha256)}
	if info, err := os.Stat(packages.Path(dir, f.Digest)); err == nil {
		f.Size = info.Size()
		return f, true, nil
	}
	file, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return f, false, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // after the rename there is nothing left to remove
	f.Size, err = s.fetchWheel(ctx, p, w, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return f, false, err
	}
	return f, true, os.Rename(file.Name(), packages.Path(dir, f.Digest))
}

// keptWheel is fetchWheel from what is kept beside a dataset. fs.ErrNotExist.
func (s *Store) keptWheel(w wheel, out io.Writer) (int64, error) {
	if s.host.Kept == nil {
		return 0, fs.ErrNotExist
	}
	in, err := s.host.Kept(schemas.Digest("sha256:" + w.sha256))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(out, in)
}
