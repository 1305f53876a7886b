package gitrepo_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/schemas"
)

func TestOpenEveryKindOfSource(t *testing.T) {
	t.Parallel()
	plain := gitrepotest.New(t, numbers)
	want := subjects(log(t, open(t, plain), gitrepo.Query{}))
	dir := t.TempDir()
	bare := filepath.Join(dir, "bare.git")
	if _, err := gitrepotest.BuildBare(bare, []byte(numbers)); err != nil {
		t.Fatal(err)
	}
	linked, link, odd := filepath.Join(dir, "linked"), filepath.Join(dir, "link"), filepath.Join(dir, "od\"d\n#name")
	gitrepotest.Git(t, plain, "worktree", "add", "-q", linked, "HEAD")
	if err := os.Symlink(bare, link); err != nil {
		t.Fatal(err)
	}
	if _, err := gitrepotest.BuildBare(odd, []byte(numbers)); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"work_tree": plain, "git_folder": filepath.Join(plain, ".git"), "bare": bare, "linked_work_tree": linked,
		"symlink": link, "odd_path": odd, "url": "file://" + bare,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := log(t, open(t, source), gitrepo.Query{})
			if diff := cmp.Diff(want, subjects(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got[3].Number != 5 {
				t.Errorf("%s is #%d: pull refs are not seen", got[3].Subject, got[3].Number)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo := gitrepotest.New(t, dates)
	inner, empty := filepath.Join(repo, "folder"), filepath.Join(dir, "empty")
	if err := errors.Join(os.Mkdir(inner, 0o755), os.Mkdir(empty, 0o755)); err != nil {
		t.Fatal(err)
	}
	gitrepotest.Git(t, empty, "init", "-q")
	for name, c := range map[string]struct {
		source string
		want   error
	}{
		"missing":                {filepath.Join(dir, "nowhere"), gitrepo.ErrNoRepo},
		"file":                   {filepath.Join(repo, "a"), gitrepo.ErrNoRepo},
		"folder_of_a_repository": {inner, gitrepo.ErrNoRepo},
		"no_commit":              {empty, gitrepo.ErrNoRepo},
		"dead_url":               {"file://" + dir + "/nowhere.git", gitrepo.ErrRemote},
		"program_as_url":         {"ext::sh -c 'touch " + dir + "/ran' ://", gitrepo.ErrRemote},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := gitrepo.Open(t.Context(), c.source, "", t.TempDir()); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v (%v)", err, c.want, r)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a URL ran a program")
	}
}

func TestMirrorIsUpdated(t *testing.T) {
	t.Parallel()
	upstream := gitrepotest.New(t, dates)
	cache := t.TempDir()
	heads := []string{}
	for range 2 {
		r, err := gitrepo.Open(t.Context(), "file://"+upstream, "", cache)
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, r.Info().Head)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		gitrepotest.Git(t, upstream, "reset", "-q", "--hard", "HEAD~2")
	}
	if want := gitrepotest.Git(t, upstream, "rev-parse", "ORIG_HEAD"); heads[1] != want || heads[0] == heads[1] {
		t.Errorf("heads %v, want another one and then %s", heads, want)
	}
}

// A remote is asked once whether it has anything new, in one request, and whatever is
// new, moved or gone is taken over.
func TestMirrorAsksOnce(t *testing.T) {
	t.Parallel()
	upstream := gitrepotest.New(t, dates)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int32
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + upstream, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		backend.ServeHTTP(w, r)
	}))
	defer server.Close()
	cache := t.TempDir()
	for _, c := range []struct {
		name   string
		change [][]string
		fetch  bool
	}{
		{"first", [][]string{{"-c", "user.name=A", "-c", "user.email=a@example.org", "tag", "-a", "-m", "one", "one"}, {"branch", "other"}, {"update-ref", "refs/pull/7/head", "HEAD"}}, true},
		{"unchanged", nil, false},
		{"not_mirrored", [][]string{{"update-ref", "refs/pull/7/merge", "HEAD"}}, false},
		{"new_pull", [][]string{{"update-ref", "refs/pull/8/head", "HEAD"}}, true},
		{"moved_tag", [][]string{{"tag", "-f", "one", "HEAD~1"}}, true},
		{"branch_gone", [][]string{{"branch", "-D", "other"}}, true},
		{"unchanged_again", nil, false},
		{"new_head", [][]string{{"checkout", "-q", "-b", "next"}}, true},
		{"old_head", [][]string{{"checkout", "-q", "-"}}, false},
		{"objects_gone", nil, true},
	} {
		for _, args := range c.change {
			gitrepotest.Git(t, upstream, args...)
		}
		if c.name == "objects_gone" {
			packs, err := filepath.Glob(filepath.Join(cache, "*.git", "objects", "*"))
			if err != nil || len(packs) == 0 {
				t.Fatalf("%v, %v", packs, err)
			}
			for _, p := range packs {
				if err := os.RemoveAll(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		requests.Store(0)
		r, err := gitrepo.Open(t.Context(), server.URL, "acme/widget", cache)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n := requests.Load(); (n > 1) != c.fetch || n == 0 {
			t.Errorf("%s: %d requests, fetch wanted: %t", c.name, n, c.fetch)
		}
		mirrors, err := filepath.Glob(filepath.Join(cache, "*.git"))
		if err != nil || len(mirrors) != 1 {
			t.Fatalf("%v, %v", mirrors, err)
		}
		refs := func(dir string) string {
			return gitrepotest.Git(t, dir, "symbolic-ref", "HEAD") + "\n" + gitrepotest.Git(t, dir, "for-each-ref", "refs/heads", "refs/tags", "refs/pull/*/head")
		}
		if diff := cmp.Diff(refs(upstream), refs(mirrors[0])); diff != "" {
			t.Errorf("%s: refs (-upstream +mirror):\n%s", c.name, diff)
		}
	}
}

// A remote that falls silent costs nothing that its mirror has; a mirror with a hole is
// as good as none.
func TestMirrorOfSilentRemote(t *testing.T) {
	t.Parallel()
	upstream, cache := gitrepotest.New(t, dates), t.TempDir()
	url := "file://" + upstream
	first, err := gitrepo.Open(t.Context(), url, "", cache)
	if err != nil {
		t.Fatal(err)
	}
	want := subjects(log(t, first, gitrepo.Query{}))
	if _, why := first.Origin().Silent(); why != nil {
		t.Errorf("a remote that answers is silent: %v", why)
	}
	if err := errors.Join(first.Close(), os.Rename(upstream, upstream+".away")); err != nil {
		t.Fatal(err)
	}
	silent, err := gitrepo.Open(t.Context(), url, "", cache)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, subjects(log(t, silent, gitrepo.Query{}))); diff != "" {
		t.Errorf("from the mirror (-want +got):\n%s", diff)
	}
	if asOf, why := silent.Origin().Silent(); !errors.Is(why, gitrepo.ErrRemote) || time.Since(asOf) > time.Hour || silent.Info().Name != first.Info().Name {
		t.Errorf("silent: %v, as of %v, %+v", why, asOf, silent.Info())
	}
	if err := silent.Close(); err != nil {
		t.Fatal(err)
	}
	blob := gitrepotest.Git(t, upstream+".away", "rev-parse", "HEAD:a")
	mirrors, err := filepath.Glob(filepath.Join(cache, "*.git"))
	if err != nil || len(mirrors) != 1 {
		t.Fatal(mirrors, err)
	}
	unpack(t, mirrors[0])
	if err := os.Remove(filepath.Join(mirrors[0], "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if r, err := gitrepo.Open(t.Context(), url, "", cache); !errors.Is(err, gitrepo.ErrRemote) {
		t.Errorf("a mirror that lacks a blob serves: %v, %v", r.Info(), err)
	}
}

// unpack makes loose objects of a repository's packs.
func unpack(t *testing.T, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range packs {
		b, err := os.ReadFile(pack)
		if err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".pack", ".idx", ".rev"} {
			if err := os.Remove(strings.TrimSuffix(pack, ".pack") + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "--git-dir="+dir, "unpack-objects", "-q")
		cmd.Stdin = bytes.NewReader(b)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// A selection is known before anything is done, by number, commit or pull ref.
func TestAnswer(t *testing.T) {
	t.Parallel()
	r := open(t, gitrepotest.New(t, numbers))
	all := log(t, r, gitrepo.Query{})
	for _, c := range all {
		asked := []string{c.Commit, c.Commit[:7]}
		if c.Number != 0 {
			asked = append(asked, strconv.Itoa(c.Number), "#"+strconv.Itoa(c.Number))
		}
		for _, only := range asked {
			got, err := r.Answer(t.Context(), only)
			if err != nil || len(got) != 1 || got[0].Commit != c.Commit {
				t.Errorf("%s (%s): %v, %v", only, c.Subject, got, err)
			}
		}
	}
	for _, only := range []string{"4711", "deadbeef", "x"} {
		if got, err := r.Answer(t.Context(), only); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", only, got, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"":                                "local/widget",
		"https://example.org/acme/w.git":  "acme/w",
		"https://example.org/acme/w/":     "acme/w",
		"git@example.org:acme/w.git":      "acme/w",
		"ssh://git@example.org:22/a/b/c":  "b/c",
		"https://example.org/only.git":    "local/only",
		"/somewhere/else.git":             "local/widget",
		"file:///somewhere/acme/else.git": "local/widget",
	} {
		dir := filepath.Join(t.TempDir(), "widget")
		if _, err := gitrepotest.Build(dir, []byte(dates)); err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			gitrepotest.Git(t, dir, "config", "remote.origin.url", origin)
		}
		r, err := gitrepo.Open(t.Context(), dir, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Info(); got.Name != want || got.URL != dir {
			t.Errorf("origin %q: %s from %s, want %s from %s", origin, got.Name, got.URL, want, dir)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shallow")
	gitrepotest.Git(t, t.TempDir(), "clone", "-q", "--depth=2", "file://"+gitrepotest.New(t, dates), dir)
	r := open(t, dir)
	// Of the oldest nobody knows what it changed.
	if diff := cmp.Diff([]string{"April"}, subjects(log(t, r, gitrepo.Query{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	oldest := gitrepotest.Git(t, dir, "rev-parse", "HEAD^")
	if n, cut := r.Origin().Shallow(); n != 2 || cut != strings.TrimSpace(oldest) {
		t.Errorf("%d commits, cut at %s, want 2 and %s", n, cut, oldest)
	}
	gitrepotest.Git(t, dir, "fetch", "-q", "--unshallow")
	r = open(t, dir)
	if n, cut := r.Origin().Shallow(); n != 0 || cut != "" {
		t.Errorf("of a whole clone: %d, %s", n, cut)
	}
	if got := log(t, r, gitrepo.Query{}); len(got) < 3 || got[len(got)-1].Base != "" {
		t.Errorf("its history: %v", subjects(got))
	}
}

// A partial clone is read whole, from a mirror of its remote, and is left as it is; once
// the mirror is there, and the remote is not, too.
func TestPartialClone(t *testing.T) {
	t.Parallel()
	upstream := gitrepotest.New(t, dates)
	gitrepotest.Git(t, upstream, "config", "uploadpack.allowFilter", "true")
	whole := log(t, open(t, upstream), gitrepo.Query{})
	dir, cache := filepath.Join(t.TempDir(), "partial"), t.TempDir()
	gitrepotest.Git(t, t.TempDir(), "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+upstream, dir)
	reopen := func(cache string) *gitrepo.Repo {
		t.Helper()
		r, err := gitrepo.Open(t.Context(), dir, "acme/widget", cache)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() }) // a view
		return r
	}
	r := reopen("") // nowhere to put a mirror
	_, err := r.Tree(t.Context(), whole[0].Commit)
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), dir+" is a partial clone; git -C "+dir+" fetch --refetch --no-filter") {
		t.Errorf("without a mirror: %v", err)
	}
	sound := open(t, upstream).Origin().Refs()
	before, files := r.Origin().Objects(), gitrepotest.Git(t, dir, "count-objects", "-v")

	for _, step := range []struct {
		name    string
		fetched bool
	}{{"first", true}, {"second", false}, {"remote_gone", false}} {
		if step.name == "remote_gone" {
			if err := os.Rename(upstream, upstream+".away"); err != nil {
				t.Fatal(err)
			}
		}
		r := reopen(cache)
		if url, fetched, err := r.Origin().Partial(); err != nil || url != "file://"+upstream || fetched != step.fetched {
			t.Errorf("%s: %s, fetched %t: %v", step.name, url, fetched, err)
		}
		got := log(t, r, gitrepo.Query{})
		if diff := cmp.Diff(whole, got, cmpopts.IgnoreFields(schemas.Change{}, "Repo")); diff != "" {
			t.Errorf("%s (-whole +partial):\n%s", step.name, diff)
		}
		for _, c := range got {
			if _, err := r.Tree(t.Context(), c.Tree); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		}
		if r.Origin().Refs() != sound {
			t.Errorf("%s: it is read otherwise than a whole clone", step.name)
		}
		if r.Origin().Objects() == before {
			t.Errorf("%s: it has other objects now, and looks the same", step.name)
		}
	}
	if diff := cmp.Diff(files, gitrepotest.Git(t, dir, "count-objects", "-v")); diff != "" {
		t.Errorf("the clone was written to:\n%s", diff)
	}

	// A remote that does not answer, and no mirror.
	r = reopen(t.TempDir())
	if _, _, err := r.Origin().Partial(); !errors.Is(err, gitrepo.ErrRemote) {
		t.Errorf("no remote: %v", err)
	}
	if got := log(t, r, gitrepo.Query{}); len(got) != len(whole) || r.Origin().Refs() == sound {
		t.Errorf("%d changes, want %d; read again later: %t", len(got), len(whole), r.Origin().Refs() != sound)
	}
	// The command that is named mends it.
	if err := os.Rename(upstream+".away", upstream); err != nil {
		t.Fatal(err)
	}
	looked := r.Origin().Objects()
	gitrepotest.Git(t, dir, "fetch", "-q", "--refetch", "--no-filter")
	r = reopen(t.TempDir())
	if url, _, err := r.Origin().Partial(); url != "" || err != nil {
		t.Errorf("mended, it still asks %s: %v", url, err)
	}
	if r.Origin().Objects() == looked {
		t.Error("mended, it looks the same")
	}
	if _, err := r.Tree(t.Context(), whole[0].Tree); err != nil {
		t.Error(err)
	}
}

func TestLicence(t *testing.T) {
	t.Parallel()
	mit := `-- LICENSE-MIT --
Copyright (c) 2025 Ann Author

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	isc := `-- COPYING --
Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`
	for name, c := range map[string]struct{ files, want string }{
		"one": {mit, "MIT"}, "choice": {mit + isc, "ISC OR MIT"}, "none": {"-- a --\nx\n", ""},
		"pointer": {"-- LICENSE --\nSee the files beside this one.\n", ""},
	} {
		r := open(t, gitrepotest.New(t, "-- commit: Start --\n"+c.files))
		got, err := r.Licence(t.Context())
		if of := log(t, r, gitrepo.Query{})[0].Licence; err != nil || got != c.want || of != c.want {
			t.Errorf("%s: %q, %v, of its changes %q, want %q", name, got, err, of, c.want)
		}
	}
}

// TestLicenceNotRead: what cannot be read is no word on the licence, and is asked again.
func TestLicenceNotRead(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, "-- commit: Start --\n-- LICENSE --\nx\n")
	id := strings.TrimSpace(gitrepotest.Git(t, dir, "rev-parse", "HEAD:LICENSE"))
	loosen(t, dir)
	object := filepath.Join(dir, ".git", "objects", id[:2], id[2:])
	if err := os.Rename(object, object+".away"); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	if got, err := r.Licence(t.Context()); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("without its file: %q, %v", got, err)
	}
	if changes := log(t, r, gitrepo.Query{}); len(changes) != 1 {
		t.Errorf("%d changes", len(changes))
	}
	if err := os.Rename(object+".away", object); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Licence(t.Context()); err != nil || got != "" {
		t.Errorf("with its file again: %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).Licence(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
}
