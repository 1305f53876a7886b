package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func TestLimitsFilled(t *testing.T) {
	t.Parallel()
	want := sandbox.Limits{Memory: 1, Processes: sandbox.DefaultProcs, Disk: sandbox.DefaultDisk, Output: sandbox.DefaultOutput, Timeout: sandbox.DefaultTimeout}
	if diff := cmp.Diff(want, sandbox.Limits{Memory: 1, Processes: -1}.Filled()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRegistryEnv(t *testing.T) {
	t.Parallel()
	got := sandbox.RegistryEnv([]string{
		"PIP_INDEX_URL=https://me:secret@pip.example/simple", "UV_INDEX=inner=https://token@uv.example:8443/x https://plain.example/y",
		"GOPROXY=https://u:p@go.example,https://second.example|direct", "GOSUMDB=off", "GOPRIVATE=", "AWS_SECRET_ACCESS_KEY=secret", "HOME=/somewhere",
		"PIP_EXTRA_INDEX_URL=http://a.example/%41 http://b:c@b.example",
	})
	want := map[string]string{
		"PIP_INDEX_URL": "https://pip.example/simple", "UV_INDEX": "inner=https://uv.example:8443/x https://plain.example/y",
		"GOPROXY": "https://go.example,https://second.example|direct", "GOSUMDB": "off",
		"PIP_EXTRA_INDEX_URL": "http://a.example/%41 http://b.example",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	hosts := []string{"a.example", "b.example", "go.example", "pip.example", "plain.example", "second.example", "uv.example:8443"}
	if diff := cmp.Diff(hosts, sandbox.RegistryHosts(got)); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
}

// What the languages declare comes together here; NODE_EXTRA_CA_CERTS is of one that is
// only masked, and of packages that others bring.
func TestDeclaredByLanguages(t *testing.T) {
	t.Parallel()
	want := map[string]string{"UV_NATIVE_TLS": "true"}
	for _, name := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"} {
		want[name] = sandbox.CAPath
	}
	if d := cmp.Diff(want, sandbox.CAEnv()); d != "" {
		t.Errorf("CAEnv (-want +got):\n%s", d)
	}
	public := []string{"pypi.org", "files.pythonhosted.org", "proxy.golang.org", "sum.golang.org", "deb.debian.org", "security.debian.org"}
	if d := cmp.Diff(public, sandbox.PublicRegistries()); d != "" {
		t.Errorf("PublicRegistries (-want +got):\n%s", d)
	}
	var environ []string
	for _, name := range []string{
		"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX",
		"GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GONOPROXY", "GOPRIVATE", "GOINSECURE",
		"NPM_CONFIG_REGISTRY", "npm_config_registry",
	} {
		environ = append(environ, name+"=x")
	}
	if got := sandbox.RegistryEnv(environ); len(got) != len(environ) {
		t.Errorf("of %d variables %d are passed on: %v", len(environ), len(got), got)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	got := sandbox.Environ(map[string]string{"A": "1", "HOME": "/x"}, map[string]string{"A": "2"})
	if !slices.IsSorted(got) || !slices.Contains(got, "A=2") || !slices.Contains(got, "HOME=/x") || !slices.Contains(got, "TZ=UTC") {
		t.Errorf("%q", got)
	}
	if again := sandbox.Environ(); slices.Contains(again, "A=2") || !slices.Contains(again, "HOME="+sandbox.HomePath) {
		t.Errorf("one call changed the next: %q", again)
	}
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"/testbed": true, "/testbed/a b": true, "/testbed/..a": true, "/tmp/x": true, "/testbedx": false, "/testbed/": false,
		"/testbed/./a": false, "/testbed/../etc": false, "testbed/a": false, "/": false, "": false, "/testbed/\x00": false, "/tmpx": false,
	} {
		if err := sandbox.CheckPath(path, sandbox.Writable()); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
	for dir, want := range map[string]string{"": "/testbed", "sub/x": "/testbed/sub/x", "/opt/env": "/opt/env"} {
		if got := sandbox.WorkDir(dir); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
}

func TestCapped(t *testing.T) {
	t.Parallel()
	var over atomic.Int64
	c := sandbox.NewCapped(5, func() { over.Add(1) })
	for _, s := range []string{"ab", "cd", "e"} {
		if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if c.Full() || over.Load() != 0 {
		t.Error("full at the bound")
	}
	for range 3 {
		if n, err := c.Write(bytes.Repeat([]byte("x"), 100)); n != 100 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := string(c.Bytes()); got != "abcde" || !c.Full() || over.Load() != 1 {
		t.Errorf("%q, full %v, over %d times", got, c.Full(), over.Load())
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := sandbox.Lock(t.Context(), dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	if other, err := sandbox.Lock(t.Context(), dir, "b"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sandbox.Lock(ctx, dir, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v", err)
	}
	unlock()
	again, err := sandbox.Lock(t.Context(), dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := sandbox.Lock(t.Context(), dir, "no/dir"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock without its directory: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	step := schemas.Command{Argv: []string{"pip", "install", "x"}}
	for want, err := range map[string]error{
		"pip install x: exit 2: a | b":                         &sandbox.BuildError{Step: step, Result: sandbox.Result{End: sandbox.Exited, ExitCode: 2, Output: []byte("a\nb\n")}},
		"pip install x: over the limit on memory":              &sandbox.BuildError{Step: step, Result: sandbox.Result{End: sandbox.Memory}},
		"this host lacks a b: apt-get install a b":             &sandbox.PackagesError{Missing: []string{"a", "b"}},
		"cannot keep the sandbox's rule on x: why (apt-get y)": &sandbox.Refused{Rule: "x", Why: "why", Get: "apt-get y"},
	} {
		if !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// TestLeases: many users in two processes (each Leases opens its files anew, as a
// process does) come and go, and the layer is there whenever one of them has it.
func TestLeases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	locks := filepath.Join(dir, "locks")
	var mu sync.Mutex
	made, freed := 0, 0
	there := false
	var users sync.WaitGroup
	for range 2 {
		l := sandbox.NewLeases(filepath.Join(dir, "leases"))
		locked := func(do func() error) {
			unlock, err := sandbox.Lock(t.Context(), locks, "x")
			if err == nil {
				err = do()
				unlock()
			}
			if err != nil {
				t.Error(err)
			}
		}
		free := func() error {
			mu.Lock()
			defer mu.Unlock()
			if !there {
				t.Error("freed twice")
			}
			there = false
			freed++
			return nil
		}
		for range 4 {
			users.Go(func() {
				for range 20 {
					locked(func() error {
						mu.Lock()
						defer mu.Unlock()
						if err := l.Take("x"); err != nil {
							return err
						}
						if !there {
							made++
						}
						there = true
						return nil
					})
					time.Sleep(time.Millisecond) // so that others come and go meanwhile
					mu.Lock()
					if !there {
						t.Error("freed while it is leased")
					}
					mu.Unlock()
					locked(func() error { return l.Give("x", free) })
				}
			})
		}
	}
	users.Wait()
	if made != freed || there {
		t.Errorf("made %d times, freed %d times, there: %v", made, freed, there)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "leases", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestSweepOfLeases frees what a dead process had, and nothing else.
func TestSweepOfLeases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leases, locks := filepath.Join(dir, "leases"), filepath.Join(dir, "locks")
	alive := sandbox.NewLeases(leases)
	if err := alive.Take("used"); err != nil {
		t.Fatal(err)
	}
	for _, dead := range []string{"dead", "busy", "stuck"} {
		if err := os.WriteFile(filepath.Join(leases, dead), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := sandbox.Lock(t.Context(), locks, "busy")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var asked []string
	n := sandbox.NewLeases(leases).Sweep(t.Context(), locks, func(id string) error {
		asked = append(asked, id)
		if id == "stuck" {
			return errors.New("disk is read-only")
		}
		return nil
	})
	if diff := cmp.Diff([]string{"dead", "stuck"}, asked); diff != "" || n != 1 {
		t.Errorf("%d freed, asked for (-want +got):\n%s", n, diff)
	}
	left, _ := filepath.Glob(filepath.Join(leases, "*"))
	if len(left) != 3 { // busy, stuck, used
		t.Errorf("left: %q", left)
	}
}
