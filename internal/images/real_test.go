package images

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/schemas"
)

func TestMain(m *testing.M) { os.Exit(dockertest.Main(m)) }

// engine is a real one, and its base layer.
func engine(t *testing.T) (*docker.Sandbox, sandbox.Layer) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts containers")
	}
	dir, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	box, err := docker.New(t.Context(), docker.Options{Dir: dir, Host: dockertest.Host(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	return box, base
}

// TestRealImage makes images in a real engine: a sound one keeps every rule, and what a
// build may leave is found from within.
func TestRealImage(t *testing.T) {
	t.Parallel()
	box, base := engine(t)
	x, token := task(t, "none"), token()
	files, err := seal.Files(x.Trees.B, time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, leaves string
		want         []Finding
	}{
		{"sound", "echo made >'out [1]'; mkdir -p made/deep; echo x >made/deep/y", nil},
		{"changed", "echo more >>widget.py", []Finding{{RuleTree, "changed:  M widget.py"}}},
		{"history", "git -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m more && rm -rf .git/logs", []Finding{
			{RuleTree, "2 commits, want 1"},
		}},
		// What a build takes along from the machine, and does not say.
		{"token", "printf 'password %s\\n' " + token + " >~/.netrc", []Finding{{RuleSecret, "/home/tester/.netrc"}}},
		{"own_credential", "mkdir -p ~/.cache/x && printf 'a\\0horse battery\\0b' >~/.cache/x/y.bin", []Finding{{RuleSecret, "/home/tester/.cache/x/y.bin holds credential 1 of this machine"}}},
		{"remote", "git remote add origin https://example.org/x", []Finding{{RuleTree, "it has a remote"}}},
	} {
		step := schemas.Command{Argv: []string{"/bin/sh", "-c", tt.leaves}}
		key := schemas.DigestOf([]any{"images test", version, tt.leaves, files, exclude, time.Now()})
		layer, _, err := box.Build(t.Context(), sandbox.Build{Key: key, Parent: base, Files: files, Steps: []schemas.Command{step, exclude}, Lease: true})
		if err != nil {
			t.Fatal(err)
		}
		image, err := box.Image(t.Context(), layer, docker.Image{Key: schemas.DigestOf([]any{"image", key}), Env: map[string]string{"A": "b c"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = errors.Join(box.Remove(context.WithoutCancel(t.Context()), image), box.Remove(context.WithoutCancel(t.Context()), layer))
		})
		found, err := Maker{Engine: box, Secrets: []string{"horse battery"}}.Lint(t.Context(), image, x)
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.Rule == RuleLeak }) // of git objects: TestLint
		for i, f := range found {                                                            // of a token it says the line and a fingerprint, too
			if strings.Contains(f.Detail, token) {
				t.Errorf("%s: it says the token: %s", tt.name, f.Detail)
			}
			if i < len(tt.want) && f.Rule == RuleSecret && strings.Contains(f.Detail, tt.want[i].Detail) {
				found[i].Detail = tt.want[i].Detail
			}
		}
		if !slices.Equal(found, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, found, tt.want)
		}
		setup, err := box.Setup(t.Context(), image)
		if err != nil || setup.User != "0:0" {
			t.Errorf("%s: it starts as %q, %v", tt.name, setup.User, err)
		}
		if out, err := box.Root(t.Context(), image, []string{"/bin/sh", "-c", `echo "$A" $(stat -c %u /testbed)`}); err != nil || string(out) != "b c 61000\n" {
			t.Errorf("%s: %q, %v", tt.name, out, err)
		}
	}
}

// What an image takes of another layer is root's, and everybody may read it.
func TestParts(t *testing.T) {
	t.Parallel()
	box, base := engine(t)
	key := schemas.DigestOf([]any{"parts test", time.Now()})
	const made = "umask 077; mkdir -p /opt/env/a/b && cd /opt/env/a && echo x >b/x && chmod 700 b/x && ln b/x hard && ln -s b/x soft && chmod 2777 b && echo y >y && chmod 666 y"
	tester, _, err := box.Build(t.Context(), sandbox.Build{Key: key, Parent: base, Steps: []schemas.Command{{Argv: []string{"/bin/sh", "-c", made}}}, Lease: true})
	if err != nil {
		t.Fatal(err)
	}
	image, err := box.Image(t.Context(), base, docker.Image{Key: schemas.DigestOf([]any{"image", key}), Parts: []docker.Part{{From: tester, Path: sandbox.EnvPath, To: httpsuite.JudgePath}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = errors.Join(box.Remove(context.WithoutCancel(t.Context()), image), box.Remove(context.WithoutCancel(t.Context()), tester))
	})
	const look = "cd " + httpsuite.JudgePath + " && find . | sort | xargs stat -c '%n %u:%g %a %h' && cat a/soft a/hard"
	out, err := box.Root(t.Context(), image, []string{"/bin/sh", "-c", look})
	if want := ". 0:0 755 3\n./a 0:0 755 3\n./a/b 0:0 755 2\n./a/b/x 0:0 755 2\n./a/hard 0:0 755 2\n./a/soft 0:0 777 1\n./a/y 0:0 644 1\nx\nx\n"; err != nil || string(out) != want {
		t.Errorf("got\n%s\nwant\n%s%v", out, want, err)
	}
}

// The names that an engine has for an image are no part of what a solver gets: an ID may
// hold digits of the landed commit.
func TestNamesAreNotSearched(t *testing.T) {
	t.Parallel()
	box, base := engine(t)
	x := task(t, "none")
	x.Start.Commit = "c7cc5738c6684e2c0ac3f1a25c5f0bb3e6d3cbd0"
	image, err := box.Image(t.Context(), base, docker.Image{Key: schemas.DigestOf([]any{"names test", time.Now()})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Remove(context.WithoutCancel(t.Context()), image) })
	name := "benchmint/test-" + x.Start.Commit[:13] + ":x"
	if err := box.Tag(t.Context(), image, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { untag(t, name) })
	found, err := Maker{Engine: box}.search(t.Context(), image, x)
	if err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func untag(t *testing.T, name string) {
	t.Helper()
	api, err := docker.Connect(context.Background(), dockertest.Host(t))
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := api.ImageRemove(context.Background(), name, client.ImageRemoveOptions{}); err != nil {
		t.Error(err)
	}
	_ = api.Close()
}
