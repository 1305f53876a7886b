package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/samples"
)

// The second run of the demo asks each source once whether it has anything new, and
// does nothing else. How long it takes is for the command to judge, not for a test.
func TestTwice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a run with cold caches takes a minute")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("NO BUBBLEWRAP: apt-get install bubblewrap")
	}
	b := bench{dir: filepath.Join(t.TempDir(), "work"), kind: "bwrap", changes: 2}
	t.Cleanup(func() {
		if err := b.clean(); err != nil {
			t.Error(err)
		}
	})
	all, err := samples.Load(filepath.Join("..", "..", "testdata", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	repositories := t.TempDir()
	for _, s := range all {
		if dir := filepath.Join(repositories, filepath.FromSlash(s.Repository)); strings.HasPrefix(s.Name, "demo-") {
			if err := s.Build(dir); err != nil {
				t.Fatal(err)
			}
			b.sources = append(b.sources, dir)
		}
	}
	first, second, err := b.twice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tab figures
	tab.fill(first, second)
	var text strings.Builder
	_ = tab.Print(&text) // a goal of a run so small is no matter here
	t.Log(&text)
	for _, kind := range []string{gitKind, indexKind, filesKind, goKind, sumsKind} {
		if first.seen[kind].requests == 0 || first.seen[kind].bytes == 0 {
			t.Errorf("nothing was counted of %s in the first run", kind)
		}
	}
	if first.steps() == 0 || first.rows == 0 {
		t.Errorf("the first run executed %v steps, and made %d rows", first.executed, first.rows)
	}
	for kind, got := range second.seen {
		if want := int64(len(b.sources)); kind != gitKind || got.requests != want {
			t.Errorf("%d requests of %s in the second run; want %d of git, and no others", got.requests, kind, want)
		}
	}
	if len(first.refused)+len(second.refused) > 0 {
		t.Errorf("asked of others: %v, %v", first.refused, second.refused)
	}
	if second.steps() != 0 || second.manifest != first.manifest {
		t.Errorf("the second run executed steps %v; manifest %s, want %s", second.executed, second.manifest.Short(), first.manifest.Short())
	}
}

// far answers for the public hosts.
type far func(*http.Request) string

func (f far) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, _ = io.WriteString(w, f(r))
	return w.Result(), nil
}

func TestCounter(t *testing.T) {
	t.Parallel()
	repository := gitrepotest.New(t, "-- commit: Start --\ndate: 2026-01-01T00:00:00Z\n-- a --\na\n")
	c := &counter{sources: map[string]string{"/acme/a.git": repository, "/far/b.git": "https://example.org/far/b"}}
	c.client.Transport = far(func(r *http.Request) string {
		if r.Body != nil {
			return "a GET with a body"
		}
		return r.URL.String() + ` "https://` + hosts.PyPIFiles + `/packages/a.whl"`
	})
	stop, err := c.serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	through, err := url.Parse(c.address)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through)}}
	get := func(address string) string {
		t.Helper()
		answer, err := client.Get(address)
		if err != nil {
			return ""
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got, want := get("http://index.test/simple/a/"), "https://"+hosts.PyPI+`/simple/a/ "http://index.test/packages/a.whl"`; got != want {
		t.Errorf("a page is %q, want %q", got, want)
	}
	for address, want := range map[string]string{
		"http://index.test/packages/a.whl":                  "https://" + hosts.PyPIFiles + "/packages/a.whl ",
		"http://modules.test/!a/@v/list":                    "https://" + hosts.GoProxy + "/!a/@v/list ",
		"http://modules.test/sumdb/sum.example/lookup/a@v1": "https://" + hosts.GoProxy + "/sumdb/sum.example/lookup/a@v1 ",
		"http://git.test/far/b.git/info/refs?service=x":     "https://example.org/far/b/info/refs?service=x ",
	} {
		if got := get(address); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
	get("https://example.org/a") // by CONNECT
	get("http://example.org/a")
	cmd := exec.Command("git", "clone", "-q", "http://git.test/acme/a.git", filepath.Join(t.TempDir(), "clone"))
	cmd.Env = append(cmd.Environ(), append(c.environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen, refused := c.take()
	requests := map[string]int64{}
	for kind, s := range seen {
		requests[kind] = s.requests
		if s.bytes == 0 {
			t.Errorf("no bytes of %s", kind)
		}
	}
	want := map[string]int64{gitKind: 4, indexKind: 1, filesKind: 1, goKind: 1, sumsKind: 1, elsewhere: 2}
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CONNECT example.org:443", "GET example.org/a"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if seen, _ := c.take(); len(seen) > 0 {
		t.Errorf("counted again: %v", seen)
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"/somewhere/acme/widget.git": "/acme/widget.git", "acme/widget/": "/acme/widget.git",
		"https://example.org/acme/widget": "/acme/widget.git", "widget": "", "https://example.org/widget": "",
	} {
		if got, err := place(source); got != want || (err != nil) != (want == "") {
			t.Errorf("%s is at %q (%v), want %q", source, got, err, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	run := func(wall time.Duration, requests int64, executed int) measure {
		return measure{wall: wall, executed: map[string]int{"validate": executed}, manifest: "sha256:1", seen: map[string]traffic{gitKind: {requests, 10}}}
	}
	full := run(100*time.Second, 100, 9)
	other := run(0, 0, 0)
	other.manifest = "sha256:2"
	for _, c := range []struct {
		name          string
		first, second measure
		missed        bool
	}{
		{"kept", full, run(2*time.Second, 2, 0), false},
		{"too_slow", full, run(3*time.Second, 0, 0), true},
		{"too_many_requests", full, run(0, 3, 0), true},
		{"a_step_again", full, run(0, 0, 1), true},
		{"another_dataset", full, other, true},
		{"nothing_counted", run(100*time.Second, 0, 9), run(0, 0, 0), true},
		{"nothing_done", run(100*time.Second, 100, 0), run(0, 0, 0), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var tab figures
			tab.fill(c.first, c.second)
			var text strings.Builder
			if err := tab.Print(&text); errors.Is(err, table.ErrMissed) != c.missed {
				t.Errorf("%v, want missed %t:\n%s", err, c.missed, &text)
			}
		})
	}
}
