package gitrepo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
)

// TestBundle: a repository that went through a bundle reads as the one that it was made of, a shallow clone too.
func TestBundle(t *testing.T) {
	t.Parallel()
	for _, depth := range []string{"", "2"} {
		dir := t.TempDir()
		source := filepath.Join(dir, "source")
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-C", source, "-c", "user.name=n", "-c", "user.email=n@example.org"}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		if err := os.Mkdir(source, 0o755); err != nil {
			t.Fatal(err)
		}
		git("init", "-q", "-b", "main")
		for _, text := range []string{"one", "two", "three"} {
			if err := os.WriteFile(filepath.Join(source, "file"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			git("add", "-A")
			git("commit", "-q", "-m", text)
			git("tag", "-a", "-m", text, "v"+text)
		}
		if depth != "" {
			git("clone", "-q", "--bare", "--depth", depth, "file://"+source, source+".git")
			source += ".git"
		}
		before, err := gitrepo.Open(t.Context(), source, "acme/widget", "")
		if err != nil {
			t.Fatal(err)
		}
		defer before.Close()
		cut, err := before.Bundle(t.Context(), filepath.Join(dir, "bundle"))
		if err != nil {
			t.Fatal(err)
		}
		if (cut != "") != (depth != "") {
			t.Errorf("depth %q: cut is %q", depth, cut)
		}
		copied := filepath.Join(dir, "copy")
		if err := gitrepo.Unbundle(t.Context(), filepath.Join(dir, "bundle"), cut, copied); err != nil {
			t.Fatal(err)
		}
		after, err := gitrepo.Open(t.Context(), copied, "acme/widget", "")
		if err != nil {
			t.Fatal(err)
		}
		defer after.Close()
		a, b := before.Info(), after.Info()
		if a.Head != b.Head || a.Root != b.Root || before.Origin().Refs() != after.Origin().Refs() {
			t.Errorf("depth %q: %+v became %+v", depth, a, b)
		}
		was, err1 := before.Describe(t.Context(), a.Head)
		is, err2 := after.Describe(t.Context(), a.Head)
		if err1 != nil || err2 != nil || was != is {
			t.Errorf("depth %q: %v %v became %v %v", depth, was, err1, is, err2)
		}
	}
}

// TestBundleOfGaps: what a clone lacks keeps nothing else from going through a bundle.
func TestBundleOfGaps(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"blob", "tree"} {
		dir := t.TempDir()
		source := filepath.Join(dir, "source")
		git := func(args ...string) string {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-C", source, "-c", "user.name=n", "-c", "user.email=n@example.org"}, args...)...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		if err := os.MkdirAll(filepath.Join(source, "folder"), 0o755); err != nil {
			t.Fatal(err)
		}
		git("init", "-q", "-b", "main")
		for _, text := range []string{"one", "two"} {
			if err := os.WriteFile(filepath.Join(source, "folder", "file"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			git("add", "-A")
			git("commit", "-q", "-m", text)
		}
		first, second := git("rev-parse", "HEAD~"), git("rev-parse", "HEAD")
		lost := git("rev-parse", map[string]string{"blob": "HEAD~:folder/file", "tree": "HEAD~:folder"}[what])
		if err := os.Remove(filepath.Join(source, ".git", "objects", lost[:2], lost[2:])); err != nil {
			t.Fatal(err)
		}
		before, err := gitrepo.Open(t.Context(), source, "acme/widget", "")
		if err != nil {
			t.Fatal(err)
		}
		defer before.Close()
		file, copied := filepath.Join(dir, "bundle"), filepath.Join(dir, "copy")
		if _, err := before.Bundle(t.Context(), file); err != nil {
			t.Fatalf("without a %s: %v", what, err)
		}
		if err := gitrepo.Unbundle(t.Context(), file, "", copied); err != nil {
			t.Fatalf("without a %s: %v", what, err)
		}
		after, err := gitrepo.Open(t.Context(), copied, "acme/widget", "")
		if err != nil {
			t.Fatal(err)
		}
		defer after.Close()
		if _, err := after.Tree(t.Context(), second); err != nil {
			t.Errorf("without a %s: %v", what, err)
		}
		if _, err := after.Tree(t.Context(), first); !errors.Is(err, gitrepo.ErrMissing) {
			t.Errorf("without a %s the tree that lacks it is read: %v", what, err)
		}
	}
}
