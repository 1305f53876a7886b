package release

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/benchmint/benchmint/internal/push"
	"github.com/benchmint/benchmint/schemas"
)

// bare is an empty git repository, and git in it.
func bare(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "widgets.git")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "--bare", "-b", "main", dir)
	return dir, func(args ...string) string { t.Helper(); return run(append([]string{"--git-dir=" + dir}, args...)...) }
}

// between does something after a remote was read and before anything is sent.
type between struct {
	push.Remote
	do func()
}

func (b between) Send(ctx context.Context, s push.State, p push.Parcel) (push.State, error) {
	b.do()
	return b.Remote.Send(ctx, s, p)
}

func pushGit(t *testing.T, dir, url string, v Version, do func()) (Pushed, error) {
	t.Helper()
	g, err := push.NewGit(t.Context(), url, "", os.Environ())
	must(t, err)
	defer func() { must(t, g.Close()) }()
	var r push.Remote = g
	if do != nil {
		r = between{g, do}
	}
	return pushed(dir, Push{Remote: r, Version: v})
}

// checkedOut are the files of a tag, as a clone has them.
func checkedOut(t *testing.T, url, tag string) map[string][]byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "-q", "-c", "core.autocrlf=true", "--branch", tag, url, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files := map[string][]byte{}
	must(t, filepath.WalkDir(to, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(to, file)
		must(t, err)
		files[filepath.ToSlash(rel)], err = os.ReadFile(file)
		return err
	}))
	return files
}

// Three releases come to a git repository; the same on another machine has the same commits; the
// same again sends nothing, and a tag never moves.
func TestPushToGit(t *testing.T) {
	t.Parallel()
	dir := threeReleases(t)
	url, git := bare(t)
	other, gitOther := bare(t)
	done, err := pushGit(t, dir, url, "", nil)
	if err != nil || states(done) != "2024.04 pushed, 2024.06 pushed, 2024.06.1 pushed" {
		t.Fatalf("%s: %v", states(done), err)
	}
	for _, v := range threeVersions {
		isVersion(t, dir, v, checkedOut(t, url, v))
		if kind := git("cat-file", "-t", v); kind != "tag" {
			t.Errorf("%s is a %s", v, kind)
		}
	}
	if git("rev-parse", "2024.06.1^{}") != git("rev-parse", "main") || git("rev-list", "--count", "main") != "3" || git("log", "-1", "--format=%cI %s") != "2024-06-01T00:00:00+00:00 bench 2024.06.1" {
		t.Error(git("log", "--format=%H %cI %s", "main"))
	}
	git("fsck", "--strict")
	if _, err := pushGit(t, dir, other, "", nil); err != nil || git("for-each-ref") != gitOther("for-each-ref") {
		t.Errorf("elsewhere it is another commit: %v", err)
	}
	refs := git("for-each-ref")
	if done, err = pushGit(t, dir, url, "", nil); err != nil || states(done) != "2024.04 there, 2024.06 there, 2024.06.1 there" || git("for-each-ref") != refs {
		t.Errorf("again: %s, %v", states(done), err)
	}
	git("tag", "-f", "2024.04", "2024.06")
	if _, err = pushGit(t, dir, url, "", nil); err == nil || !strings.Contains(err.Error(), "the tag 2024.04 of "+url+" never moves") {
		t.Errorf("a moved tag: %v", err)
	}
	gitOther("tag", "-d", "2024.06.1")
	if done, err = pushGit(t, dir, other, "", nil); err != nil || states(done) != "2024.04 there, 2024.06 there, 2024.06.1 tagged" || gitOther("for-each-ref") != refs {
		t.Errorf("a tag that is gone: %s, %v", states(done), err)
	}
}

// A push that a git repository does not take whole leaves it as it was.
func TestPushToGitFaults(t *testing.T) {
	t.Parallel()
	dir := threeReleases(t)
	url, git := bare(t)
	if _, err := pushGit(t, dir, url, "2024.04", nil); err != nil {
		t.Fatal(err)
	}
	refused := func(name, says string, do func()) {
		t.Helper()
		refs := ""
		_, err := pushGit(t, dir, url, "", func() {
			if do != nil {
				do()
			}
			refs = git("for-each-ref")
		})
		var r *push.RefusedError
		if !errors.As(err, &r) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
		if refs != git("for-each-ref") {
			t.Errorf("%s: something is pushed", name)
		}
	}
	git("config", "receive.maxInputSize", "2000")
	refused("cut", "unpacker error", nil)
	git("config", "--unset", "receive.maxInputSize")
	hook := filepath.Join(url, "hooks", "update")
	must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\ncase $1 in refs/tags/*) exit 1;; esac\n"), 0o755))
	refused("no_tag", "rejected", nil)
	must(t, os.Remove(hook))
	refused("head_moves", "nothing is pushed", func() {
		git("update-ref", "refs/heads/main", git("commit-tree", "-p", "main", "-m", "Mine", "main^{tree}"))
	})
	refused("tag_comes", "nothing is pushed", func() { git("tag", "2024.06", "main") })
	git("tag", "-d", "2024.06")
	ctx, cancel := context.WithCancel(t.Context())
	interrupted, err := push.NewGit(t.Context(), url, "", os.Environ())
	must(t, err)
	refs := git("for-each-ref")
	s, err := Read(dir)
	must(t, err)
	if _, err := s.Push(ctx, Push{Remote: between{interrupted, cancel}, Say: func(string, int, int) {}}); !errors.Is(err, context.Canceled) || git("for-each-ref") != refs {
		t.Errorf("interrupted: %v", err)
	}
	must(t, interrupted.Close())
	done, err := pushGit(t, dir, url, "2024.06", nil)
	if err != nil || states(done) != "2024.04 there, 2024.06 pushed" {
		t.Fatalf("%s: %v", states(done), err)
	}
	// The feed alone.
	corrected(t, dir, Act{IDs: []string{widget(1, "").id()}, Reason: schemas.ForFlaky, Text: "it disagrees with itself", Hold: true})
	if done, err = pushGit(t, dir, url, "2024.06", nil); err != nil || done.Feed != git("rev-parse", "main") || git("diff", "--name-only", "main^", "main") != FeedFile {
		t.Errorf("%+v: %v", done, err)
	}

	var asked atomic.Value
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user, word, ok := req.BasicAuth(); ok {
			asked.Store(user + " " + word)
		}
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(401)
	}))
	defer locked.Close()
	settings := filepath.Join(t.TempDir(), "gitconfig")
	must(t, os.WriteFile(settings, []byte("[credential]\n\thelper = \"!f() { echo username=u; echo password=p; }; f\"\n"), 0o644))
	g, err := push.NewGit(t.Context(), locked.URL+"/widgets.git", "", append(os.Environ(), "GIT_CONFIG_GLOBAL="+settings))
	must(t, err)
	if _, err := pushed(dir, Push{Remote: g}); !errors.Is(err, push.ErrUnmet) || asked.Load() != "u p" {
		t.Errorf("the helper of the user's configuration: %v, %v", asked.Load(), err)
	}
	must(t, g.Close())
	if _, err := pushGit(t, dir, locked.URL+"/widgets.git", "", nil); !errors.Is(err, push.ErrUnmet) || !strings.Contains(err.Error(), "a credential that git does not have") {
		t.Errorf("a repository with a lock: %v", err)
	}
	locked.Close()
	if _, err := pushGit(t, dir, locked.URL+"/widgets.git", "", nil); !errors.Is(err, push.ErrAway) {
		t.Errorf("a repository that is away: %v", err)
	}
	if _, err := pushGit(t, dir, filepath.Join(t.TempDir(), "none.git"), "", nil); !errors.Is(err, push.ErrUnmet) {
		t.Errorf("no repository: %v", err)
	}
}
