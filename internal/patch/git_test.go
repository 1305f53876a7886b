package patch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

// checkedOut is the part of a rapid.T and a testing.T that is needed here.
type checkedOut interface {
	Context() context.Context
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// byGit is what git apply makes of a tree in a new folder; ok is false where it refuses.
func byGit(t checkedOut, dir string, before *tree.Tree, text []byte, args ...string) (files map[string]string, ok bool) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range before.Entries() {
		p := filepath.Join(dir, e.Path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch e.Mode {
		case tree.ModeSymlink:
			err = os.Symlink(string(e.Data), p)
		case tree.ModeExec:
			err = os.WriteFile(p, e.Data, 0o755)
		default:
			err = os.WriteFile(p, e.Data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", append(append([]string{"apply"}, args...), "-")...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(text)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	if out, err := cmd.CombinedOutput(); err != nil {
		if !errors.As(err, new(*exec.ExitError)) {
			t.Fatalf("%v: %s", err, out)
		}
		return nil, false
	}
	files = map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(p)
			files[rel] = tree.ModeSymlink + " " + target
			return err
		}
		data, err := os.ReadFile(p)
		info, infoErr := d.Info()
		mode := tree.ModeFile
		if infoErr == nil && info.Mode()&0o100 != 0 {
			mode = tree.ModeExec
		}
		files[rel] = mode + " " + string(data)
		return errors.Join(err, infoErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, true
}

func entriesOf(t *tree.Tree) map[string]string {
	out := map[string]string{}
	for _, e := range t.Entries() {
		out[e.Path] = e.Mode + " " + string(e.Data)
	}
	return out
}

// history has each kind of change in its last commit.
const history = `
-- commit: One --
date: 2024-01-01T00:00:00Z
-- a.txt --
1
2
3
4
5
6
7
8
9
10
11
12
13
14
15
16
17
18
19
20
-- crlf: dos.txt --
one
two
three
four
five
six
-- base64: logo.png --
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
-- tool.sh --
echo hello
-- old/name.txt --
one
two
three
four
five
-- symlink: link --
a.txt
-- bare: tail --
no newline
-- becomes --
a file
-- gone.txt --
gone
-- commit: Two --
date: 2024-01-02T00:00:00Z
-- a.txt --
1
2
3
three and a half
4
5
6
7
8
9
10
11
12
13
14
15
sixteen
17
18
19
20
-- crlf: dos.txt --
one
two
3
four
five
six
-- base64: logo.png --
iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0k
-- delete: tool.sh --
-- exec: tool.sh --
echo hello
-- rename: old/name.txt -> new/name.txt --
one
two
3
four
five
-- delete: link --
-- symlink: link --
tail
-- bare: tail --
no newline, longer
-- delete: becomes --
-- symlink: becomes --
a.txt
-- delete: gone.txt --
-- made/empty.txt --
`

// TestApplyAsGit: in every form that git writes, and moved by lines that came before, a patch
// gives what git apply gives, and is refused where git refuses it.
func TestApplyAsGit(t *testing.T) {
	t.Parallel()
	dir := gitrepotest.New(t, history)
	git := func(args ...string) string { return gitrepotest.Git(t, dir, args...) }
	var entries []tree.Entry
	for row := range strings.SplitSeq(strings.TrimRight(git("ls-tree", "-r", "-z", "HEAD^"), "\x00\n"), "\x00") {
		meta, path, _ := strings.Cut(row, "\t")
		out, err := exec.Command("git", "-C", dir, "cat-file", "blob", strings.Fields(meta)[2]).Output()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, tree.Entry{Path: path, Mode: strings.Fields(meta)[0], Data: out})
	}
	diff := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir, "diff", "--no-color", "HEAD^", "HEAD"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	whole := diff("--binary", "--full-index", "--no-renames")
	patches := map[string]string{
		"binary": whole, "renames": diff("--binary", "--full-index", "-M"), "copies": diff("--binary", "--full-index", "-C", "--find-copies-harder"),
		"without_context": diff("--binary", "--full-index", "-U0"), "one_line_of_context": diff("--binary", "--full-index", "-U1"),
		"without_binaries": diff(), "short_index": diff("--binary"), "no_prefix": diff("--binary", "--full-index", "--no-prefix"),
		"patience": diff("--binary", "--full-index", "--patience"), "backward": diff("--binary", "--full-index", "-R"),
		"mail":            "From 1 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.com>\nSubject: [PATCH] x\n\n---\n" + whole + "-- \n2.39.5\n\n",
		"prose_before_it": "Here is the patch:\n\n" + whole, "crlf_of_the_patch": strings.ReplaceAll(whole, "\n", "\r\n"),
		"without_the_last_newline": strings.TrimSuffix(whole, "\n"), "twice": whole + whole,
		"dates":  "--- a/a.txt\t2024-01-01 00:00:00.000000000 +0000\n+++ b/a.txt\t2024-01-02 00:00:00.000000000 +0000\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
		"no_git": "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "only_a_mode": diff("--", "tool.sh"), "crlf_alone": diff("--", "dos.txt"), "type": diff("--", "becomes"),
		"empty_file": diff("--", "made"), "last_line": diff("--", "tail"), "link": diff("--", "link"),
	}
	bases := map[string]func(e *tree.Entry){
		"as_it_was":      func(*tree.Entry) {},
		"lines_before":   func(e *tree.Entry) { e.Data = append([]byte("0\n-1\n-2\n-3\n-4\n"), e.Data...) },
		"another_middle": func(e *tree.Entry) { e.Data = bytes.Replace(e.Data, []byte("9\n"), []byte("nine\nnine\n"), 1) },
		"other_context":  func(e *tree.Entry) { e.Data = bytes.Replace(e.Data, []byte("2\n"), []byte("II\n"), 1) },
		"lf":             func(e *tree.Entry) { e.Data = bytes.ReplaceAll(e.Data, []byte("\r\n"), []byte("\n")) },
		"crlf":           func(e *tree.Entry) { e.Data = bytes.ReplaceAll(e.Data, []byte("\n"), []byte("\r\n")) },
		"executable":     func(e *tree.Entry) { e.Mode = tree.ModeExec },
		"missing":        nil,
	}
	for name, change := range bases {
		var of []tree.Entry
		for _, e := range entries {
			e.Data = bytes.Clone(e.Data)
			switch {
			case change == nil && e.Path == "a.txt":
				continue
			case change != nil && e.Mode != tree.ModeSymlink && (e.Path == "a.txt" || e.Path == "dos.txt" || e.Path == "old/name.txt"):
				change(&e)
			}
			of = append(of, e)
		}
		before, err := tree.New(of)
		if err != nil {
			t.Fatal(err)
		}
		for kind, text := range patches {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				asGit(t, t.TempDir(), before, []byte(text))
			})
		}
	}
}

// asGit compares. Where every line is exactly at its place, git is told that hunks may have
// no context: without that it refuses some of them, and puts others at the end of the file.
// A patch that lost its last line end is then taken as well, which git refuses.
func asGit(t checkedOut, dir string, before *tree.Tree, text []byte) {
	t.Helper()
	want, ok := byGit(t, filepath.Join(dir, "plain"), before, text)
	after, exact, err := patch.Apply(t.Context(), before, text)
	if err != nil && !errors.Is(err, patch.ErrConflict) && !errors.Is(err, tree.ErrUnsafe) {
		t.Fatal(err)
	}
	if exact {
		whole := append(bytes.TrimSuffix(bytes.Clone(text), []byte("\n")), '\n')
		want, ok = byGit(t, filepath.Join(dir, "forgiven"), before, whole, "--unidiff-zero")
	}
	if ok != (err == nil) {
		t.Fatalf("git applies it: %v; we say: %v", ok, err)
	}
	if !ok {
		return
	}
	if d := cmp.Diff(want, entriesOf(after)); d != "" {
		t.Fatalf("exact %v (-git +ours):\n%s", exact, d)
	}
}

// TestRandomPatchesAsGit: patches of random edits, on texts that had other edits before.
func TestRandomPatchesAsGit(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "\tx", "é"}), 0, 30).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		text := func(lines []string) string {
			if len(lines) == 0 {
				return ""
			}
			return strings.Join(lines, end) + end
		}
		edit := func(what string, lines []string) []string {
			out := slices.Clone(lines)
			for i := range rapid.IntRange(0, 3).Draw(t, what) {
				at := rapid.IntRange(0, len(out)).Draw(t, "at")
				upto := min(len(out), at+rapid.IntRange(0, 2).Draw(t, "gone"))
				out = slices.Replace(out, at, upto, slices.Repeat([]string{fmt.Sprint(what, i)}, rapid.IntRange(0, 2).Draw(t, "new"))...)
			}
			return out
		}
		dir := filepath.Join(top, fmt.Sprint(n))
		made := edit("patch", lines)
		for side, s := range map[string]string{"a": text(lines), "b": text(made)} {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, side), 0o755), os.WriteFile(filepath.Join(dir, side, "f"), []byte(s), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "diff", "--no-index", "--no-prefix", fmt.Sprintf("-U%d", rapid.IntRange(0, 3).Draw(t, "context")), "a/f", "b/f")
		cmd.Dir = dir
		out, _ := cmd.Output() // it says 1 where there is a difference
		before, err := tree.New([]tree.Entry{{Path: "f", Mode: tree.ModeFile, Data: []byte(text(edit("base", lines)))}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 { // else there is no patch
			asGit(t, dir, before, out)
		}
	})
}
