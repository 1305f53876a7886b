package toolchain

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostStore looks at this machine's own toolchains, with a cache of its own.
func hostStore(t *testing.T) *Store {
	t.Helper()
	return New(Host{Cache: t.TempDir(), Env: os.Environ()})
}

func TestReleased(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, version, want string }{
		{Python, "3.12.1", "2023-10-02"},
		{Python, "2.7.18", "2010-07-03"},
		{Python, "3.17.0", "2028-10-01"}, // by rhythm
		{Go, "1.21.13", "2023-08-08"},
		{Go, "1.20", "2023-02-01"},
		{Go, "1.28.0", "2027-02-15"}, // by rhythm
		{Go, "1.29.0", "2027-08-15"},
	} {
		k, err := kindOf(c.name, c.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.release(c.version).Released.Format("2006-01-02"); got != c.want {
			t.Errorf("release %s of %s is of %s, want %s", c.version, c.name, got, c.want)
		}
	}
}

func TestToolchainVersion(t *testing.T) {
	t.Parallel()
	arch := strings.TrimPrefix(moduleVersion("1.21.13"), module+"@v0.0.1-go1.21.13.")
	for in, want := range map[string]string{
		"v0.0.1-go1.21.13." + arch:   "1.21.13",
		"v0.0.1-go1.11.13." + arch:   "1.11.13",
		"v0.0.1-go1.10.8." + arch:    "",
		"v0.0.1-go1.20." + arch:      "1.20",
		"v0.0.1-go1.26rc1." + arch:   "",
		"v0.0.1-go1.9." + arch:       "", // no modules
		"v0.0.1-go1.21.13.plan9-386": "",
		"v1.0.0":                     "",
	} {
		if got, _ := toolchainVersion(in); got != want {
			t.Errorf("toolchainVersion(%s) = %q, want %q", in, got, want)
		}
	}
}

// TestGoFault: only the registry's own word for it is absence. A firewall's 403 or a
// setting of this host says nothing of what there is.
func TestGoFault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"reading https://proxy/x.info: 404 Not Found":                                                             "missing",
		"reading https://proxy/x.info: 410 Gone":                                                                  "missing",
		"golang.org/toolchain@v0.0.1-go1.99: unknown revision":                                                    "missing",
		"module golang.org/toolchain: no matching versions for query \"latest\"":                                  "missing",
		"reading https://proxy/x.info: 403 Forbidden":                                                             "refused",
		"module lookup disabled by GOPROXY=off":                                                                   "refused",
		"Get \"https://proxy\": proxyconnect tcp: 407 Proxy Authentication Required":                              "refused",
		"Get \"https://proxy\": tls: failed to verify certificate: x509: certificate signed by unknown authority": "refused",
		"reading https://proxy/x.info: 503 Service Unavailable":                                                   "unreachable",
		"dial tcp: lookup proxy.example on 10.0.0.1:53: i/o timeout":                                              "unreachable",
		"dial tcp: lookup proxy.example: no such host":                                                            "unreachable",
		"Get \"https://proxy\": net/http: TLS handshake timeout":                                                  "unreachable",
		"reading x: read tcp 10.4.0.3:40400: connection reset by peer":                                            "unreachable",
		"open /cache/mod: no space left on device":                                                                "",
	} {
		got := kindOfError(goFault("1.99", errors.New("go list: exit status 1: "+text)))
		if got != want {
			t.Errorf("goFault(%q) is %q, want %q", text, got, want)
		}
	}
}

// TestOnlyWhatIsAsked: a Go proxy that gives nothing is a matter of those who ask for Go.
func TestOnlyWhatIsAsked(t *testing.T) {
	t.Parallel()
	s := New(Host{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=off")})
	if _, ok := s.host.goCommand(); !ok {
		t.Skip("LOUD SKIP: no go command in PATH")
	}
	if got, err := s.Available(t.Context(), UV); err != nil || len(got) != 1 {
		t.Errorf("uv: %v, %v", got, err)
	}
	if _, err := s.Available(t.Context(), Go); kindOfError(err) != "refused" || !strings.Contains(err.Error(), "set GOPROXY") {
		t.Errorf("go with GOPROXY=off: %v, want a *Refused that says what to set", err)
	}
	down := New(Host{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=http://127.0.0.1:1")})
	if _, err := down.Available(t.Context(), Go); kindOfError(err) != "unreachable" {
		t.Errorf("go with a proxy that is down: %v, want an *Unreachable", err)
	}
}

// kindOfError is which of the package's errors err is; "" is a fault of the machine.
func kindOfError(err error) string {
	switch {
	case errors.As(err, new(*Missing)):
		return "missing"
	case errors.As(err, new(*Refused)):
		return "refused"
	case errors.As(err, new(*Unreachable)):
		return "unreachable"
	}
	return ""
}

func TestMissing(t *testing.T) {
	t.Parallel()
	s := New(Host{Cache: t.TempDir(), Env: []string{"PATH=/nonexistent", "HOME=/nonexistent"}})
	for _, c := range []struct{ name, version, says string }{
		{Python, "3.99.0", "uv python install 3.99.0"},
		{Go, "1.99.0", "no go command is in PATH"},
		{UV, "9.9.9", "benchmint retry --stage resolve"},
		{"ruby", "3.0", "only python, go, uv, ruff, pyrefly, staticcheck are known"},
	} {
		_, err := s.Get(context.Background(), c.name, c.version)
		var missing *Missing
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Get(%s): error %v, want a *Missing that says %q", c.name, err, c.says)
		}
	}
	// An empty list without an error would be a verdict on all who ask.
	for _, c := range []struct{ name, says string }{{Python, "apt-get install python3"}, {Go, "no go command is in PATH"}, {"ruby", "only python"}} {
		got, err := s.Available(context.Background(), c.name)
		if len(got) > 0 || kindOfError(err) != "missing" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Available(%s) on a bare host = %v, %v; want a *Missing that says %q", c.name, got, err, c.says)
		}
	}
	if got, err := s.Available(context.Background(), UV); len(got) != 1 || err != nil {
		t.Errorf("Available(uv) on a bare host = %v, %v: uv is ours to bring", got, err)
	}
}

// anyPython is one interpreter of this machine.
func anyPython(t *testing.T, s *Store) install {
	t.Helper()
	found, err := s.interpreters(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("LOUD SKIP: no CPython on this machine: copies of interpreters are not tested")
	}
	for _, p := range found {
		if p.LibName != "" { // the harder kind: its library must be found in the copy
			return p
		}
	}
	return found[0]
}

func TestPythonCopyRunsAlone(t *testing.T) {
	t.Parallel()
	s := hostStore(t)
	p := anyPython(t, s)
	var got [2]string
	var wait sync.WaitGroup
	for i := range got { // two at once end with one copy
		wait.Add(1)
		go func() {
			defer wait.Done()
			tc, err := s.Get(context.Background(), Python, p.Version)
			if err != nil {
				t.Error(err)
			}
			got[i] = tc.Dir
		}()
	}
	wait.Wait()
	if got[0] == "" || got[0] != got[1] {
		t.Fatalf("two copies: %q and %q", got[0], got[1])
	}
	out, err := exec.Command(filepath.Join(got[0], "bin", "python"), "-c", "import sys, json, test.support; print(sys.prefix)").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != got[0] {
		t.Errorf("the copy says %q, %v; want its own folder %s", out, err, got[0])
	}
	// Debian's interpreter is built with the library, and does not need it.
	if slices.Contains(imported(t, filepath.Join(got[0], "bin", "python")), p.LibName) {
		maps, err := exec.Command(filepath.Join(got[0], "bin", "python"), "-c", "print(open('/proc/self/maps').read())").Output()
		if err != nil || !strings.Contains(string(maps), filepath.Join(got[0], "lib", p.LibName)) || strings.Contains(string(maps), filepath.Join(p.LibDir, p.LibName)) {
			t.Errorf("libpython comes from the old place, not from the copy (%v)", err)
		}
	}
	site, err := filepath.Glob(filepath.Join(got[0], "lib", "python*", "site-packages", "*"))
	if err != nil || len(site) > 0 {
		t.Errorf("installed packages came along: %v", site)
	}
}

// imported are the shared libraries that a program asks for by name.
func imported(t *testing.T, program string) []string {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestBrokenCopyIsReplaced(t *testing.T) {
	t.Parallel()
	s := hostStore(t)
	src := source{key: "k", copy: func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "f"), []byte("content"), 0o644)
	}}
	dir, digest, err := s.keep(context.Background(), "x", "1", src)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	again, same, err := s.keep(context.Background(), "x", "1", src)
	if err != nil || again != dir || same != digest {
		t.Fatalf("second copy: %s %s %v, want %s %s", again, same, err, dir, digest)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(data) != "content" {
		t.Errorf("the broken copy was used again: %q, %v", data, err)
	}
	src.key = "other"
	src.copy = func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "f"), []byte("changed"), 0o755)
	}
	if other, d, err := s.keep(context.Background(), "x", "1", src); err != nil || other == dir || d == digest {
		t.Errorf("a changed source gives the old copy: %s, %v", other, err)
	}
}

func TestCopyTree(t *testing.T) {
	t.Parallel()
	from, to, outside := t.TempDir(), filepath.Join(t.TempDir(), "to"), filepath.Join(t.TempDir(), "outside")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte("outside"), 0o600))
	must(os.MkdirAll(filepath.Join(from, "skipped"), 0o700))
	must(os.WriteFile(filepath.Join(from, "skipped", "x"), nil, 0o644))
	must(os.WriteFile(filepath.Join(from, "tool"), []byte("t"), 0o500))
	must(os.Symlink("tool", filepath.Join(from, "inside")))
	must(os.Symlink(outside, filepath.Join(from, "leaves")))
	must(os.Symlink("nowhere", filepath.Join(from, "dangling")))
	must(copyTree(context.Background(), from, to, func(rel string, dir bool) bool { return rel == "skipped" }))

	got := map[string]string{}
	entries, err := os.ReadDir(to)
	must(err)
	for _, e := range entries {
		info, err := e.Info()
		must(err)
		text, err := os.Readlink(filepath.Join(to, e.Name()))
		if err != nil {
			data, err := os.ReadFile(filepath.Join(to, e.Name()))
			must(err)
			text = info.Mode().String() + " " + string(data)
		}
		got[e.Name()] = text
	}
	want := map[string]string{"tool": "-rwxr-xr-x t", "inside": "tool", "leaves": "-rw-r--r-- outside", "dangling": "nowhere"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
}

func TestGoCopyRunsAlone(t *testing.T) {
	t.Parallel()
	s := hostStore(t)
	version, _, err := s.localGo(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if version == "" {
		t.Skip("LOUD SKIP: no released Go in PATH: copies of Go are not tested")
	}
	tc, err := s.Get(context.Background(), Go, version)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(tc.Dir, "bin", "go"), "env", "GOVERSION", "GOROOT")
	cmd.Env = append(s.host.plain(), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if want := "go" + version + "\n" + tc.Dir + "\n"; err != nil || string(out) != want {
		t.Errorf("the copy says %q, %v; want %q", out, err, want)
	}
}

// TestOutOfTime: what had no time to answer is not missing: that would be a verdict.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	s := hostStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.listed[Go] = []string{"1.27.0"} // the registry had answered before
	if got, err := s.Available(ctx, Python, Go, UV); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("Available: %v, %v", got, err)
	}
	for _, name := range []string{Python, Go, UV} {
		if _, err := s.Get(ctx, name, "1.2.3"); !errors.Is(err, context.Canceled) {
			t.Errorf("Get(%s): %v", name, err)
		}
	}
	// And nothing of it is remembered.
	fresh := hostStore(t)
	want, err := fresh.interpreters(context.Background())
	one, again := s.interpreters(context.Background())
	if err != nil || again != nil || len(want) != len(one) {
		t.Errorf("after a search that was cut short there are %d interpreters, of %d", len(one), len(want))
	}
}

// TestKilledCopy: what a killed process left of a copy is neither used nor kept, and
// of two processes (a Store each) that want the same, one copies.
func TestKilledCopy(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	left := filepath.Join(cache, "toolchains", ".copy-x-1", "tree")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "half"), []byte("half"), 0o444); err != nil {
		t.Fatal(err)
	}
	var copies atomic.Int32
	src := source{key: "k", copy: func(_ context.Context, dir string) error {
		copies.Add(1)
		return os.WriteFile(filepath.Join(dir, "f"), []byte("content"), 0o644)
	}}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			dir, _, err := New(Host{Cache: cache}).keep(context.Background(), "x", "1", src)
			if err != nil {
				t.Error(err)
				return
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "f" {
				t.Errorf("the copy holds %v, %v", entries, err)
			}
		})
	}
	wait.Wait()
	if n := copies.Load(); n != 1 {
		t.Errorf("copied %d times", n)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "toolchains", ".copy-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
