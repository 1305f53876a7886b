package packages

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// source is an index of one project. It counts how often files are fetched.
type source struct {
	files   map[string]string
	fetched map[string]int
	silent  bool
}

func (s *source) Project(_ context.Context, name string) ([]Listed, error) {
	if s.silent {
		return nil, errors.New("the index does not answer")
	}
	if name != "a-toy" {
		return nil, fs.ErrNotExist
	}
	var out []Listed
	for file := range s.files {
		out = append(out, Listed{Name: file, Fields: map[string]any{"filename": file, "upload-time": "2024-01-01T00:00:00Z", "core-metadata": true}})
	}
	return out, nil
}

func (s *source) Fetch(_ context.Context, f Listed, w io.Writer) error {
	s.fetched[f.Name]++
	_, err := io.WriteString(w, s.files[f.Name])
	return err
}

func (s *source) Wheel(context.Context, string, string, string) (File, bool, error) {
	return File{}, false, nil
}

const (
	toyWheel = "a_toy-1.0-py3-none-any.whl"
	toySdist = "a_toy-1.0.tar.gz"
)

func ask(t *testing.T, h http.Handler, path, bytes string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://packages.invalid"+path, nil)
	if bytes != "" {
		r.Header.Set("Range", "bytes="+bytes)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

type page struct {
	Name  string
	Files []map[string]any
}

func pageOf(t *testing.T, w *httptest.ResponseRecorder) (p page) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%d: %v: %s", w.Code, err, w.Body)
	}
	return p
}

// record takes the toy's wheel through a recorder, as a build does that reads its end first.
func record(t *testing.T, dir string) []File {
	t.Helper()
	s := &source{files: map[string]string{toyWheel: "the wheel", toySdist: "the source"}, fetched: map[string]int{}}
	r := NewRecorder(t.Context(), s, dir)
	p := pageOf(t, ask(t, r, "/simple/A.Toy/", ""))
	if len(p.Files) != 2 || p.Files[0]["core-metadata"] != nil || p.Files[0]["upload-time"] == nil {
		t.Errorf("the page is %+v", p)
	}
	for _, part := range []string{"4-8", "0-3", ""} {
		want := map[string]string{"4-8": "wheel", "0-3": "the ", "": "the wheel"}[part]
		if w := ask(t, r, "/files/"+toyWheel, part); w.Body.String() != want {
			t.Errorf("bytes %s: %d %q", part, w.Code, w.Body)
		}
	}
	if w := ask(t, r, "/simple/other/", ""); w.Code != http.StatusNotFound {
		t.Errorf("a project that is not there: %d", w.Code)
	}
	files, err := r.Files()
	if err != nil || s.fetched[toyWheel] != 1 || s.fetched[toySdist] != 0 {
		t.Errorf("%v, fetched %v", err, s.fetched)
	}
	return files
}

var toy = schemas.Recipe{Language: "python", Lock: "a-toy==1.0 \\\n    --hash=" + string(schemas.DigestBytes([]byte("the source"))) + " \\\n    --hash=" + string(schemas.DigestBytes([]byte("the wheel"))) + "\n"}

func kept(dir string, e Environment) *Kept {
	e.Recipe = KeyOf(toy)
	return NewKept(Index{Format: Format, Environments: []Environment{e}}, func(d schemas.Digest) (Content, error) { return os.Open(Path(dir, d)) })
}

// TestKept: what a build took is served again without its source, by index and by module proxy.
func TestKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := record(t, dir)
	want := []File{{Kind: Wheel, Name: "a-toy", Version: "1.0", File: toyWheel, Digest: schemas.DigestBytes([]byte("the wheel")), Size: 9}}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Fatal(diff)
	}
	mod, err := Store(dir, func(w io.Writer) error { _, err := io.WriteString(w, "module x\n"); return err })
	if err != nil {
		t.Fatal(err)
	}
	mod.Kind, mod.File = Module, "example.org/!x/@v/v1.0.0.mod"
	h, err := kept(dir, Environment{Complete: true, Files: append(files, mod)}).Registry(toy)
	if err != nil || h == nil {
		t.Fatal(h, err)
	}
	p := pageOf(t, ask(t, h, "/simple/a-toy/", ""))
	if len(p.Files) != 1 || p.Files[0]["url"] != "/files/"+toyWheel {
		t.Errorf("the page is %+v", p)
	}
	for path, want := range map[string]string{"/files/" + toyWheel: "the wheel", "/modules/" + mod.File: "module x\n"} {
		if w := ask(t, h, path, ""); w.Body.String() != want {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/simple/other/", "/files/" + toySdist, "/modules/example.org/x/@v/v1.0.0.zip", "/modules/../files/" + toyWheel, "/"} {
		if w := ask(t, h, path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestNotAllKept: an environment that is not complete, or lacks a package of the lock, is left to
// the registries; a file that was changed or is gone is refused.
func TestNotAllKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := record(t, dir)
	for name, e := range map[string]Environment{"incomplete": {Files: files}, "lacks a package": {Complete: true}} {
		if h, err := kept(dir, e).Registry(toy); h != nil || err != nil {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	other := toy
	other.Lock += "b==1\n"
	whole := Environment{Complete: true, Files: files}
	if h, err := kept(dir, whole).Registry(other); h != nil || err != nil {
		t.Errorf("another recipe: %v, %v", h, err)
	}
	for name, harm := range map[string]func(string) error{
		"changed": func(p string) error { return os.WriteFile(p, []byte("The wheel"), 0o600) },
		"gone":    os.Remove,
	} {
		if err := harm(Path(dir, files[0].Digest)); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		if _, err := kept(dir, whole).Registry(toy); !errors.As(err, &damaged) || damaged.File.File != toyWheel {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSilentSource: what a build came to while the index did not answer is no word on it.
func TestSilentSource(t *testing.T) {
	t.Parallel()
	r := NewRecorder(t.Context(), &source{silent: true}, t.TempDir())
	if w := ask(t, r, "/simple/a-toy/", ""); w.Code != http.StatusBadGateway {
		t.Error(w.Code)
	}
	if _, err := r.Files(); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	lock := "one==1.0 \\\n    --hash=sha256:" + a + "\ntwo[extra]==2.0 --hash=sha256:" + b + "\nthree==3 ; python_version < '3' --hash=sha256:" + b + "\n"
	e := Environment{Files: []File{{Digest: schemas.Digest("sha256:" + a)}}}
	if diff := cmp.Diff([]string{"two[extra]==2.0"}, e.Missing(lock)); diff != "" {
		t.Error(diff)
	}
}

func TestDistribution(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file, project string
		kind          Kind
		version       string
	}{
		{"a_toy-1.0-py3-none-any.whl", "a-toy", Wheel, "1.0"},
		{"a_toy-1.0-1-py3-none-any.whl", "a-toy", Wheel, "1.0"},
		{"a-toy-1.0-rc1.tar.gz", "a-toy", Sdist, "1.0-rc1"},
		{"A.Toy-1.0.zip", "a-toy", Sdist, "1.0"},
		{"a_toy-1.0.exe", "a-toy", "", ""},
		{"other-1.0.tar.gz", "a-toy", "", ""},
	} {
		if kind, version := distribution(tc.file, tc.project); kind != tc.kind || version != tc.version {
			t.Errorf("%s: %s %s", filepath.Base(tc.file), kind, version)
		}
	}
}
