package docker

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// configName is the pseudo file that holds the image's configuration and history:
// labels and variables are part of what a solver gets.
const configName = "/image-config.json"

// entry is one file of one layer.
type entry struct {
	path string
	info fs.FileInfo
	open func() (io.ReadCloser, error)
}

// Files walks every layer of the image above its base, so that a file which a later
// layer deletes or replaces is still seen: by path, and where two layers have the
// same path, the upper one first.
func (s *Sandbox) Files(ctx context.Context, l sandbox.Layer, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) (err error) {
	defer s.answers(ctx, &err)
	r, err := s.recordOf(ctx, l)
	if err != nil {
		return err
	}
	spool, err := os.MkdirTemp(s.dir, "files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(spool)
	entries, err := s.entries(ctx, r, spool)
	if err != nil {
		return fmt.Errorf("reading layer %s: %w", l.Key, err)
	}
	config, err := s.imageConfig(ctx, r)
	if err != nil {
		return err
	}
	entries = append(entries, config)
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(e.path, e.info, e.open); err != nil {
			return err
		}
	}
	return nil
}

// imageConfig is what an inspection of the image shows, without what names this
// engine's disk.
func (s *Sandbox) imageConfig(ctx context.Context, r record) (entry, error) {
	image, err := s.api.ImageInspect(ctx, r.Image)
	if err != nil {
		return entry{}, err
	}
	history, err := s.api.ImageHistory(ctx, r.Image)
	if err != nil {
		return entry{}, err
	}
	for i := range history.Items {
		history.Items[i].Tags = nil // names that this engine has for it: nobody in a container sees them
	}
	b, err := json.MarshalIndent(map[string]any{
		"config": image.Config, "comment": image.Comment, "author": image.Author, "history": history.Items,
	}, "", "  ")
	if err != nil {
		return entry{}, err
	}
	return entry{configName, fileInfo{name: path.Base(configName), size: int64(len(b))}, func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(b))), nil
	}}, nil
}

// fileInfo stands for a file that lies on no disk.
type fileInfo struct {
	name string
	size int64
}

func (f fileInfo) Name() string       { return f.name }
func (f fileInfo) Size() int64        { return f.size }
func (f fileInfo) Mode() fs.FileMode  { return 0o644 }
func (f fileInfo) ModTime() time.Time { return time.Time{} }
func (f fileInfo) IsDir() bool        { return false }
func (f fileInfo) Sys() any           { return nil }

// entries lists the layers, the uppermost first: on the engine's disk where that is
// in our sight, else from an archive of the image.
func (s *Sandbox) entries(ctx context.Context, r record, spool string) ([]entry, error) {
	image, err := s.api.ImageInspect(ctx, r.Image)
	if err != nil {
		return nil, err
	}
	above := len(image.RootFS.Layers) - r.Base
	if g := image.GraphDriver; g != nil && s.local {
		dirs := []string{g.Data["UpperDir"]}
		if lower := g.Data["LowerDir"]; lower != "" {
			dirs = append(dirs, strings.Split(lower, ":")...)
		}
		if len(dirs) == len(image.RootFS.Layers) {
			if entries, err := onDisk(dirs[:above]); err == nil {
				return entries, nil
			}
		}
	}
	return s.saved(ctx, r, above, spool)
}

func onDisk(dirs []string) ([]entry, error) {
	var all []entry
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Mode()&fs.ModeCharDevice != 0 {
				return err // a whiteout
			}
			all = append(all, entry{strings.TrimPrefix(p, dir), info, func() (io.ReadCloser, error) { return openEntry(p, info) }})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// openEntry reads a file, or the target of a link: what is written in it.
func openEntry(p string, info fs.FileInfo) (io.ReadCloser, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(p)
		return io.NopCloser(strings.NewReader(target)), err
	case !info.Mode().IsRegular():
		return io.NopCloser(strings.NewReader("")), nil
	}
	return os.OpenFile(p, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
}

// saved reads an archive of the image, spooled, because its layers come in any order.
func (s *Sandbox) saved(ctx context.Context, r record, above int, spool string) ([]entry, error) {
	res, err := s.api.ImageSave(ctx, []string{r.Image})
	if err != nil {
		return nil, fmt.Errorf("saving the image: %w", err)
	}
	defer res.Close()
	var manifest []struct{ Layers []string }
	files := map[string]string{} // name in the archive → spooled file
	for tr := tar.NewReader(res); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("saving the image: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Name == "manifest.json" {
			if err := json.NewDecoder(tr).Decode(&manifest); err != nil {
				return nil, fmt.Errorf("manifest of the image: %w", err)
			}
			continue
		}
		file := filepath.Join(spool, fmt.Sprint(len(files)))
		if err := spoolTo(file, tr); err != nil {
			return nil, err
		}
		files[h.Name] = file
	}
	if len(manifest) != 1 || len(manifest[0].Layers) < above {
		return nil, errors.New("the saved image has no manifest of ours")
	}
	layers := slices.Clone(manifest[0].Layers)
	slices.Reverse(layers)
	var all []entry
	for _, name := range layers[:above] {
		entries, err := inArchive(files[name])
		if err != nil {
			return nil, fmt.Errorf("layer %s of the saved image: %w", name, err)
		}
		all = append(all, entries...)
	}
	return all, nil
}

func spoolTo(file string, r io.Reader) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// countingReader knows where in its file the archive's next byte is.
type countingReader struct {
	r  io.Reader
	at int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.at += int64(n)
	return n, err
}

const whiteout = ".wh."

func inArchive(file string) ([]entry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := &countingReader{r: f}
	var all []entry
	for tr := tar.NewReader(in); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		name := path.Join("/", h.Name)
		if h.Typeflag == tar.TypeDir || strings.HasPrefix(path.Base(name), whiteout) {
			continue
		}
		at, size, link := in.at, h.Size, h.Linkname
		if h.Typeflag == tar.TypeLink {
			continue // its content is walked under its first name
		}
		all = append(all, entry{name, h.FileInfo(), func() (io.ReadCloser, error) {
			if link != "" {
				return io.NopCloser(strings.NewReader(link)), nil
			}
			return openSection(file, at, size)
		}})
	}
}

func openSection(file string, at, size int64) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, at, size), f}, nil
}
