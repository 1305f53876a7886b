// Package packages holds what environments are built from beside a dataset, and serves it to
// builds in the place of registries.
//
// The words:
//
//   - A File is one package as its registry has it: a wheel, a source distribution, a file of a
//     module, or the wheel of a tool of ours.
//   - An Environment is the files that one locked recipe is built from. It is Complete where a
//     build needs no registry.
//   - A Recorder stands between a build and a package index, and remembers the files that the
//     build took.
//   - Kept serves the files of complete environments.
//
// For example, two tasks with one lock name one Environment, and two locks with one version of a
// dependency name one File.
//
// The package never chooses a version and never builds anything. It serves no file whose bytes do
// not have their digest.
package packages

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Kind is what a file is for its registry.
type Kind string

// The kinds.
const (
	Wheel  Kind = "wheel"
	Sdist  Kind = "sdist"
	Module Kind = "module"
	Tool   Kind = "tool" // the wheel of a program that environments are made with
)

// File is one package as its registry has it.
type File struct {
	Kind    Kind           `json:"kind"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	File    string         `json:"file"` // its name in the index; of a module, its path below the proxy
	Digest  schemas.Digest `json:"digest"`
	Size    int64          `json:"size"` // bytes
}

// Environment is what one locked recipe is built from.
type Environment struct {
	// Recipe is the digest of what decides the environment in a recipe (recipe.Key without a base).
	Recipe   schemas.Digest `json:"recipe"`
	Language string         `json:"language"`
	// Toolchains are named by their digests; their bytes are not kept.
	Toolchains []schemas.Toolchain `json:"toolchains"`
	Complete   bool                `json:"complete"`
	Lacks      string              `json:"lacks,omitempty"` // why it is not complete
	Files      []File              `json:"files"`
}

// Format is the version of an Index.
const Format = "benchmint-packages/1"

// Index is all environments of a dataset, in order of Recipe.
type Index struct {
	Format       string        `json:"format"`
	Environments []Environment `json:"environments"`
}

// KeyOf is Environment.Recipe of a recipe.
func KeyOf(r schemas.Recipe) schemas.Digest { return recipe.Key(r, "") }

// Recipes are those whose environments a task needs: its own, and that of who asks its service.
func Recipes(r schemas.Recipe) []schemas.Recipe {
	if r.Service == nil || r.Service.Tester == nil {
		return []schemas.Recipe{r}
	}
	return []schemas.Recipe{r, *r.Service.Tester}
}

// Find gives the environment of a recipe; nil where the index has none.
func (x *Index) Find(r schemas.Recipe) *Environment {
	key := KeyOf(r)
	i := slices.IndexFunc(x.Environments, func(e Environment) bool { return e.Recipe == key })
	if i < 0 {
		return nil
	}
	return &x.Environments[i]
}

// Provable reports whether a task with this recipe is proved without a registry.
func (x *Index) Provable(r schemas.Recipe) bool {
	return !slices.ContainsFunc(Recipes(r), func(r schemas.Recipe) bool {
		e := x.Find(r)
		return e == nil || !e.Complete
	})
}

// Distinct are the files of all environments, each once, in order of digest.
func (x *Index) Distinct() []File {
	var out []File
	for _, e := range x.Environments {
		out = append(out, e.Files...)
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(string(a.Digest), string(b.Digest)) })
	return slices.CompactFunc(out, func(a, b File) bool { return a.Digest == b.Digest })
}

var (
	lockEntry = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==(\S+)`)
	lockHash  = lazyregexp.New(`--hash=(sha256:[0-9a-f]{64})\b`)
)

// Missing are the entries of a lock with digests, as pip and uv write it, of which no file is
// kept. An entry with a condition is left out: it may be of another machine.
func (e *Environment) Missing(lock string) []string {
	kept := map[string]bool{}
	for _, f := range e.Files {
		kept[string(f.Digest)] = true
	}
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(lock, "\\\n", " ")) {
		name, hashes := lockEntry.FindString(line), lockHash.FindAllStringSubmatch(line, -1)
		if name == "" || len(hashes) == 0 || strings.Contains(line, ";") {
			continue
		}
		if !slices.ContainsFunc(hashes, func(h []string) bool { return kept[h[1]] }) {
			out = append(out, name)
		}
	}
	return out
}

// Content is the bytes of a file, to be read from anywhere.
type Content interface {
	io.ReadSeeker
	io.Closer
}

// Kept is what a dataset keeps.
type Kept struct {
	index Index
	open  func(schemas.Digest) (Content, error)
	held  sync.Map // digests whose bytes were compared
}

// NewKept is an index with a place where files are opened by their digests.
func NewKept(x Index, open func(schemas.Digest) (Content, error)) *Kept {
	return &Kept{index: x, open: open}
}

// DamagedError is a kept file that is not what it was: a fault of the dataset's folder, and no
// verdict on what needs the file.
type DamagedError struct {
	File File
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("kept package %s (%s): %v", e.File.File, e.File.Digest.Hex(), e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Registry answers for the registries of a locked recipe; nil where not all of its packages are
// kept. Every file is compared with its digest before: *DamagedError.
func (k *Kept) Registry(r schemas.Recipe) (http.Handler, error) {
	e := k.index.Find(r)
	if e == nil || !e.Complete || len(e.Missing(r.Lock)) > 0 {
		return nil, nil
	}
	for _, f := range e.Files {
		if err := k.whole(f); err != nil {
			return nil, err
		}
	}
	return &registry{k, *e}, nil
}

// Program opens the wheel of a tool by its digest. fs.ErrNotExist, *DamagedError.
func (k *Kept) Program(d schemas.Digest) (io.ReadCloser, error) {
	for _, f := range k.index.Distinct() {
		if f.Kind == Tool && f.Digest == d {
			if err := k.whole(f); err != nil {
				return nil, err
			}
			return k.open(d)
		}
	}
	return nil, fs.ErrNotExist
}

func (k *Kept) whole(f File) error {
	if _, ok := k.held.Load(f.Digest); ok {
		return nil
	}
	in, err := k.open(f.Digest)
	if err != nil {
		return &DamagedError{f, err}
	}
	defer in.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	switch {
	case err != nil:
		return &DamagedError{f, err}
	case schemas.DigestSum(sum) != f.Digest:
		return &DamagedError{f, errors.New("the bytes do not have the digest that names them")}
	}
	k.held.Store(f.Digest, true)
	return nil
}

// registry serves one environment's files: a package index and a module proxy.
type registry struct {
	kept *Kept
	of   Environment
}

func (s *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	part, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	find := func(ok func(File) bool) {
		i := slices.IndexFunc(s.of.Files, ok)
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		s.give(w, r, s.of.Files[i])
	}
	switch part {
	case simplePart:
		s.page(w, r, normal(strings.TrimSuffix(rest, "/")))
	case filesPart:
		find(func(f File) bool { return f.Kind != Module && f.File == path.Base(rest) })
	case modulesPart:
		find(func(f File) bool { return f.Kind == Module && f.File == rest })
	default:
		http.NotFound(w, r)
	}
}

func (s *registry) give(w http.ResponseWriter, r *http.Request, f File) {
	in, err := s.kept.open(f.Digest)
	if err != nil { // it was whole before the build began
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer in.Close()
	serve(w, r, f.File, in)
}

// page is a project's page of the simple index (PEP 691).
func (s *registry) page(w http.ResponseWriter, r *http.Request, name string) {
	var files []map[string]any
	for _, f := range s.of.Files {
		if (f.Kind == Wheel || f.Kind == Sdist) && f.Name == name {
			files = append(files, map[string]any{"filename": f.File, "url": "/" + filesPart + "/" + f.File, "hashes": map[string]string{"sha256": f.Digest.Hex()}, "size": f.Size, "upload-time": uploaded})
		}
	}
	if files == nil {
		http.NotFound(w, r)
		return
	}
	writePage(w, name, files)
}

// uploaded is before every day that a build is held to: what is kept was chosen already.
const uploaded = "1970-01-01T00:00:00Z"

// Parts of the address under which a registry of ours answers.
const (
	simplePart  = "simple"
	filesPart   = "files"
	modulesPart = "modules"
)

func serve(w http.ResponseWriter, r *http.Request, name string, in io.ReadSeeker) {
	w.Header().Set("Content-Type", "application/octet-stream") // nobody sniffs
	http.ServeContent(w, r, name, time.Time{}, in)
}

const pageType = "application/vnd.pypi.simple.v1+json"

// writePage is not to be kept by clients: another dataset has other pages at its address.
func writePage(w http.ResponseWriter, name string, files []map[string]any) {
	w.Header().Set("Content-Type", pageType)
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": name, "files": files}) // a client that is gone needs none
}

var separators = lazyregexp.New(`[-_.]+`)

// normal is a project's name as indexes write it (PEP 503).
func normal(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// distribution reads kind, name and version from the name of a file of an index; "" where it is
// none that uv installs from.
func distribution(file, project string) (kind Kind, version string) {
	if stem, ok := strings.CutSuffix(file, ".whl"); ok {
		if parts := strings.Split(stem, "-"); len(parts) >= 5 {
			return Wheel, parts[1]
		}
		return "", ""
	}
	for _, end := range []string{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.zst"} {
		stem, ok := strings.CutSuffix(file, end)
		if !ok {
			continue
		}
		for i := range stem { // a name of a project may hold dashes, and so may a version
			if stem[i] == '-' && normal(stem[:i]) == project {
				return Sdist, stem[i+1:]
			}
		}
	}
	return "", ""
}
