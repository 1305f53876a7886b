package seal

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

var baseDate = time.Date(2024, 3, 9, 12, 30, 15, 999, time.UTC)

func sampleTree(t *testing.T) *tree.Tree {
	t.Helper()
	tr, err := tree.New([]tree.Entry{
		{Path: "README.md", Mode: tree.ModeFile, Data: []byte("# Widget\r\nwith CRLF\r\n")},
		{Path: ".gitattributes", Mode: tree.ModeFile, Data: []byte("* text eol=lf\n*.bin filter=lfs\ndocs export-ignore\n")},
		{Path: ".gitignore", Mode: tree.ModeFile, Data: []byte("ignored.txt\n")},
		{Path: "ignored.txt", Mode: tree.ModeFile, Data: []byte("tracked all the same\n")},
		{Path: "a-b/x", Mode: tree.ModeFile, Data: []byte("1")},
		{Path: "a/x", Mode: tree.ModeFile, Data: []byte("1")},
		{Path: "a.b", Mode: tree.ModeFile, Data: nil},
		{Path: "data.bin", Mode: tree.ModeFile, Data: []byte{0, 1, 2, 0xff}},
		{Path: "run.sh", Mode: tree.ModeExec, Data: []byte("#!/bin/sh\n")},
		{Path: "link", Mode: tree.ModeSymlink, Data: []byte("a/x")},
		{Path: "sub/mod", Mode: tree.ModeModule, Data: []byte(strings.Repeat("ab", 20))},
		{Path: "naïve name", Mode: tree.ModeFile, Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// write puts files under a directory that stands for the sandbox's root, owned
// by the sandbox's user where the test may do that.
func write(t *testing.T, root string, files []sandbox.File) {
	t.Helper()
	for _, f := range files {
		p := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case f.Mode.IsDir():
			err = os.MkdirAll(p, 0o755)
		case f.Mode&fs.ModeSymlink != 0:
			err = os.Symlink(string(f.Data), p)
		default:
			err = os.WriteFile(p, f.Data, f.Mode.Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.Mode&fs.ModeSymlink == 0 {
			if err := os.Chtimes(p, f.ModTime, f.ModTime); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	// Bare environment: the reader's own git configuration must not take part.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "TZ=UTC"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestFilesIsOneCleanCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED LOUDLY: no git to judge the sealed tree")
	}
	tr := sampleTree(t)
	files, err := Files(tr, baseDate)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write(t, root, files)
	dir := filepath.Join(root, sandbox.TreePath)
	for _, tt := range []struct {
		name, want string
		args       []string
	}{
		{"log", "benchmint 2024-03-09T12:30:15+00:00 Start of the task\n", []string{"log", "--all", "--format=%an %cI %s"}},
		{"tree_id", tr.ID() + "\n", []string{"rev-parse", "HEAD^{tree}"}},
		{"branch", "main\n", []string{"branch", "--format=%(refname:short)"}},
		{"status", "", []string{"status", "--porcelain", "--ignored"}},
		{"diff", "", []string{"diff", "HEAD"}},
		// Plumbing that does not refresh: the index itself agrees with the files.
		{"diff_files", "", []string{"diff-files"}},
		{"fsck", "", []string{"fsck", "--strict", "--no-progress", "--no-dangling"}},
		{"reflog", "", []string{"reflog", "--all"}},
		{"remote", "", []string{"remote"}},
		{"tag", "", []string{"tag"}},
		{"stash", "", []string{"stash", "list"}},
	} {
		got, err := git(t, dir, tt.args...)
		if err != nil {
			t.Errorf("%s: %v: %s", tt.name, err, got)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
	if out, err := git(t, dir, "describe", "--tags"); err == nil {
		t.Errorf("git describe found a name: %s", out)
	}
	if out, err := git(t, dir, "cat-file", "--batch-all-objects", "--batch-check"); err != nil || strings.Contains(out, "missing") {
		t.Errorf("objects: %v: %s", err, out)
	}
	// The check above must be able to fail.
	if err := os.WriteFile(filepath.Join(dir, "a/x"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := git(t, dir, "status", "--porcelain"); err != nil || out != " M a/x\n" {
		t.Errorf("after an edit: %v: %q", err, out)
	}
}

func TestFilesForUserOfSandbox(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: only root can give files to another user")
	}
	for _, tool := range []string{"git", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: %v", err)
		}
	}
	files, err := Files(sampleTree(t), baseDate)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "seal")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	write(t, root, files)
	err = filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, sandbox.UID, sandbox.GID)
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("setpriv", fmt.Sprintf("--reuid=%d", sandbox.UID), fmt.Sprintf("--regid=%d", sandbox.GID), "--clear-groups", "git", "-C", filepath.Join(root, sandbox.TreePath), "status", "--porcelain")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("git status as the user: %v: %s", err, out)
	}
}

func TestFilesDeterministic(t *testing.T) {
	t.Parallel()
	a, err := Files(sampleTree(t), baseDate)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Files(sampleTree(t), baseDate.In(time.FixedZone("x", 7200)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("two sealings differ:\n%s", d)
	}
	for _, f := range a {
		if !f.ModTime.Equal(baseDate.Truncate(time.Second)) && !strings.HasSuffix(f.Path, ".git/index") {
			t.Errorf("%s: time %s is not the base's", f.Path, f.ModTime)
		}
	}
}

func TestFilesOfOddTrees(t *testing.T) {
	t.Parallel()
	empty, err := tree.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, date := range map[string]time.Time{"empty": baseDate, "before_1970": time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)} {
		files, err := Files(empty, date)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		root := t.TempDir()
		write(t, root, files)
		if out, err := git(t, filepath.Join(root, sandbox.TreePath), "status", "--porcelain"); err != nil || out != "" {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	broken, err := tree.New([]tree.Entry{{Path: "m", Mode: tree.ModeModule, Data: []byte("zz")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Files(broken, baseDate); err == nil || !strings.Contains(err.Error(), "submodule m") {
		t.Errorf("broken submodule: got %v", err)
	}
}
