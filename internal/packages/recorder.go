package packages

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// Source is the package indexes of a machine.
type Source interface {
	// Project lists the files of a project. fs.ErrNotExist.
	Project(ctx context.Context, name string) ([]Listed, error)
	// Fetch writes a file. What it writes is not compared with a digest.
	Fetch(ctx context.Context, f Listed, w io.Writer) error
	// Wheel puts that of a toolchain into a folder, by its digest; false where it has none.
	Wheel(ctx context.Context, name, version, dir string) (File, bool, error)
}

// Listed is one file of a project's page.
type Listed struct {
	Name   string
	URL    string
	Fields map[string]any // of the page (PEP 691), without the address
}

// Recorder answers a build from a Source, and keeps the files that the build takes in a folder,
// each by its digest.
type Recorder struct {
	ctx    context.Context // of the build: one request that ends does not end a fetch
	source Source
	dir    string

	mu    sync.Mutex
	files map[string]*taken // by name
	fault error
}

type taken struct {
	sync.Mutex
	project string
	from    Listed
	file    *File
}

// NewRecorder records into a folder, for one build.
func NewRecorder(ctx context.Context, source Source, dir string) *Recorder {
	return &Recorder{ctx: ctx, source: source, dir: dir, files: map[string]*taken{}}
}

// Path is where a recorded file lies.
func Path(dir string, d schemas.Digest) string { return path.Join(dir, d.Hex()) }

// Files are those that the build took, in order of name. The error is of a source that did not
// answer: what the build came to then is no word on what it asked for.
func (r *Recorder) Files() ([]File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []File
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if f := r.files[name].file; f != nil {
			out = append(out, *f)
		}
	}
	return out, r.fault
}

// ServeHTTP is the index that the build asks.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	part, rest, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	var err error
	switch part {
	case simplePart:
		err = r.page(w, normal(strings.TrimSuffix(rest, "/")))
	case filesPart:
		err = r.give(w, q, path.Base(rest))
	default:
		err = fs.ErrNotExist
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		http.NotFound(w, q)
	default:
		r.mu.Lock()
		r.fault = errors.Join(r.fault, err)
		r.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

// page is that of the source without its metadata files: a build reads the metadata out of the
// package, as it will of a kept one.
func (r *Recorder) page(w http.ResponseWriter, name string) error {
	listed, err := r.source.Project(r.ctx, name)
	if err != nil {
		return err
	}
	files := []map[string]any{}
	r.mu.Lock()
	for _, f := range listed {
		if r.files[f.Name] == nil {
			r.files[f.Name] = &taken{project: name, from: f}
		}
		fields := maps.Clone(f.Fields)
		for _, key := range []string{"core-metadata", "dist-info-metadata", "data-dist-info-metadata"} {
			delete(fields, key)
		}
		fields["url"] = "/" + filesPart + "/" + f.Name
		files = append(files, fields)
	}
	r.mu.Unlock()
	writePage(w, name, files)
	return nil
}

// give fetches a whole file the first time that any byte of it is asked for.
func (r *Recorder) give(w http.ResponseWriter, q *http.Request, name string) error {
	r.mu.Lock()
	t := r.files[name]
	r.mu.Unlock()
	if t == nil {
		return fs.ErrNotExist
	}
	t.Lock()
	defer t.Unlock()
	if t.file == nil {
		kind, version := distribution(name, t.project)
		if kind == "" {
			return fmt.Errorf("%s is neither a wheel nor a source distribution: %w", name, fs.ErrNotExist)
		}
		f, err := Store(r.dir, func(w io.Writer) error { return r.source.Fetch(r.ctx, t.from, w) })
		if err != nil {
			return err
		}
		f.Kind, f.Name, f.Version, f.File = kind, t.project, version, name
		r.mu.Lock()
		t.file = &f
		r.mu.Unlock()
	}
	in, err := os.Open(Path(r.dir, t.file.Digest))
	if err != nil {
		return err
	}
	defer in.Close()
	serve(w, q, name, in)
	return nil
}

// Store keeps what write writes in a folder, by its digest.
func Store(dir string, write func(io.Writer) error) (f File, err error) {
	tmp, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is nothing left to remove
	sum, size := sha256.New(), &counter{}
	if err := errors.Join(write(io.MultiWriter(tmp, sum, size)), tmp.Close()); err != nil {
		return f, err
	}
	f.Digest, f.Size = schemas.DigestSum(sum), size.n
	return f, os.Rename(tmp.Name(), Path(dir, f.Digest))
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }
