package toolchain

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const (
	fakeUV    = "\x7fELF the program"
	fakeWheel = "uv-0-py3-none-any.whl"
)

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// packed is a wheel with a program in it.
func packed(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(program{name: UV, version: UVVersion}.inWheel())
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// index serves a project's page and its file, and counts who asks.
type index struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *index {
	t.Helper()
	x := &index{}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		x.asked = append(x.asked, r.URL.Path)
		x.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(x.Close)
	return x
}

// good is an index that has the wheel; page is its body for the project.
func good(t *testing.T, kind, page string, file []byte) *index {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/simple/uv/":
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(page))
		case "/files/" + fakeWheel:
			_, _ = w.Write(file)
		default:
			http.NotFound(w, r)
		}
	})
}

const (
	jsonPage = `{"files": [{"filename": "other.whl", "url": "x"}, {"filename": "` + fakeWheel + `", "url": "../../files/` + fakeWheel + `"}]}`
	htmlPage = `<!DOCTYPE html><a href="x">other</a><a href="/files/` + fakeWheel + `#sha256=0">` + fakeWheel + `</a>`
)

// uvStore asks one index and has no uv of its own.
func uvStore(t *testing.T, env ...string) (*Store, *[]string) {
	t.Helper()
	var told []string
	s := New(Host{Cache: t.TempDir(), Env: append([]string{"PATH=/nonexistent", "HOME=" + t.TempDir(), "PIP_CONFIG_FILE=" + os.DevNull}, env...),
		Tell: func(line string) { told = append(told, line) }})
	s.wheels = map[string]wheel{runtime.GOARCH: {file: fakeWheel, sha256: sha(packed(t, fakeUV)), program: sha([]byte(fakeUV))}}
	return s, &told
}

// TestUVIsBrought: on a host without uv, pip or Python, uv comes from the index that the
// host names, once, and is said aloud.
func TestUVIsBrought(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]*index{
		"json": good(t, jsonIndex, jsonPage, packed(t, fakeUV)),
		"html": good(t, "text/html; charset=utf-8", htmlPage, packed(t, fakeUV)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := uvStore(t, "UV_DEFAULT_INDEX="+x.URL+"/simple/")
			if s.has(s.uv()) {
				t.Fatal("uv is there before it was fetched")
			}
			tc, err := s.Get(context.Background(), UV, UVVersion)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(tc.Dir, "bin", "uv")); err != nil || string(got) != fakeUV || !executable(filepath.Join(tc.Dir, "bin", "uv")) {
				t.Errorf("bin/uv holds %q, %v", got, err)
			}
			if len(*told) != 1 || !strings.HasPrefix((*told)[0], "fetching uv "+UVVersion+" from 127.0.0.1:") {
				t.Errorf("told %q", *told)
			}
			// Another process over the same cache asks nobody.
			again := New(s.host)
			again.wheels = s.wheels
			if other, err := again.Get(context.Background(), UV, UVVersion); err != nil || other.Dir != tc.Dir || !again.has(again.uv()) {
				t.Errorf("a second time: %v, %v", other, err)
			}
			if len(x.asked) != 2 {
				t.Errorf("the index was asked for %q", x.asked)
			}
		})
	}
}

// TestUVOfTheHost: the same file in PATH is taken, and any other is not, whatever it calls itself.
func TestUVOfTheHost(t *testing.T) {
	t.Parallel()
	for content, own := range map[string]bool{fakeUV: true, "\x7fELF of somebody else": false} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "uv"), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		x := good(t, jsonIndex, jsonPage, packed(t, fakeUV))
		s, _ := uvStore(t, "UV_DEFAULT_INDEX="+x.URL+"/simple")
		s.host.Env = append(s.host.Env, "PATH="+dir)
		tc, err := s.Get(context.Background(), UV, UVVersion)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(tc.Dir, "bin", "uv")); err != nil || string(got) != fakeUV {
			t.Errorf("bin/uv holds %q, %v", got, err)
		}
		if asked := len(x.asked) > 0; asked == own {
			t.Errorf("with %q in PATH the index was asked: %v", content, asked)
		}
	}
}

// TestUVCannotBeBrought: what an index says is told apart, and nothing half-made stays.
func TestUVCannotBeBrought(t *testing.T) {
	t.Parallel()
	const dead = "http://127.0.0.1:1" // the port of a closed server may be given to another test's
	status := func(code int) *index {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	cut := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/simple/uv/" {
			w.Header().Set("Content-Type", jsonIndex)
			_, _ = w.Write([]byte(jsonPage))
			return
		}
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte("PK"))
	})
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	for _, c := range []struct{ name, index, kind, says string }{
		{"not_found", status(404).URL, "missing", "404 Not Found; name an index that has it with UV_DEFAULT_INDEX"},
		{"no_such_file", good(t, jsonIndex, `{"files": []}`, nil).URL, "missing", "has no file " + fakeWheel},
		{"forbidden", status(403).URL, "refused", "403 Forbidden"},
		{"unavailable", status(503).URL, "unreachable", "503 Service Unavailable"},
		{"rate_limit", status(429).URL, "unreachable", "429"},
		{"dead", dead, "unreachable", "connection refused"},
		{"cut_off", cut.URL, "unreachable", "unexpected EOF"},
		{"not_trusted", tls.URL, "refused", "set SSL_CERT_FILE"},
		{"other_file", good(t, jsonIndex, jsonPage, packed(t, "\x7fELF forged")).URL, "", "the index serves another file under this name"},
		{"no_address", "ftp://127.0.0.1", "", "is not an http or https address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := uvStore(t, "UV_INDEX_URL="+c.index+"/simple")
			_, err := s.Get(context.Background(), UV, UVVersion)
			if err == nil || kindOfError(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v (%q), want one of kind %q that says %q", err, kindOfError(err), c.kind, c.says)
			}
			left, _ := filepath.Glob(filepath.Join(s.host.Cache, "toolchains", "[^.]*"))
			half, _ := filepath.Glob(filepath.Join(s.host.Cache, "toolchains", ".copy-*"))
			left = append(left, half...)
			if len(left) > 0 || s.has(s.uv()) {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestIndexes: the index is the one that the host's uv and pip would ask.
func TestIndexes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "pip"), 0o755); err != nil {
		t.Fatal(err)
	}
	conf := "[list]\nindex-url = https://no.example\n[global]\n# index-url = https://old.example\nindex-url = https://conf.example/simple/\nextra-index-url =\n    https://a.example\n    https://b.example\n"
	if err := os.WriteFile(filepath.Join(home, ".config", "pip", "pip.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	none := []string{"PIP_CONFIG_FILE=" + os.DevNull}
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"nothing_said", none, "https://pypi.org/simple"},
		{"uv_first", append(none, "PIP_INDEX_URL=https://p.example", "UV_DEFAULT_INDEX=https://u.example/s/"), "https://u.example/s"},
		{"named", append(none, "UV_DEFAULT_INDEX=corp=https://u.example/s"), "https://u.example/s"},
		{"more", append(none, "PIP_INDEX_URL=https://p.example", "PIP_EXTRA_INDEX_URL=https://p.example https://q.example"), "https://p.example https://q.example"},
		{"file_of_pip", []string{"HOME=" + home}, "https://conf.example/simple https://a.example https://b.example"},
	} {
		if got := strings.Join(Host{Env: c.env}.indexes(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPinnedUV fetches the real wheel of this architecture: the pin names a file that is there.
func TestPinnedUV(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("fetches 17 MB")
	}
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PATH=") && !strings.HasPrefix(pair, "HOME=") && !strings.HasPrefix(pair, "PYENV_ROOT=") {
			env = append(env, pair)
		}
	}
	s := New(Host{Cache: t.TempDir(), Env: env})
	_, err := s.Get(t.Context(), UV, UVVersion)
	if kindOfError(err) == "unreachable" {
		t.Skipf("NO PACKAGE INDEX ANSWERS: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
