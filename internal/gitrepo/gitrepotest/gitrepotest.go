// Package gitrepotest builds real git histories from txtar archives, for tests
// and for the sample repositories of the demo.
//
// A history is a list of blocks in order. "-- commit: Subject --" begins a
// commit on the current branch; its data are header lines (date, authored,
// author, committer, merge: <branch>), an empty line and a body. Blocks after
// it edit its tree: a plain path writes a file, and a verb before the path says
// how:
//
//	-- exec: run.sh --          mode 100755
//	-- symlink: a/link --       the data is the target
//	-- delete: old.py --        "old/" deletes all below it
//	-- rename: a.py -> b.py --  data, if any, replaces the content
//	-- base64: logo.png --      bytes that are no text
//	-- crlf: notes.txt --       each line ends in CRLF
//	-- bare: version --         without the last line end
//	-- submodule: lib --        the data is the commit
//
// A path or a subject in double quotes is a Go string: "caf\xe9.txt". Between commits stand
// "-- branch: name --" (continue there; new ones fork from the current commit),
// "-- tag: v1 --" (data: the message of an annotated tag) and
// "-- ref: refs/pull/3/head --". What stands before the first commit is no part
// of the history (Extras).
//
// It never touches the network and never reads the reader's git configuration,
// and equal archives give equal commit IDs on every machine. Objects are
// written with go-git and not by git, because git refuses to write the hostile
// trees that some tests need ("../" in a path).
package gitrepotest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build writes the history into dir, which must be empty or missing, as a
// repository with a work tree. head is the commit that HEAD stands on.
func Build(dir string, data []byte) (head string, err error) {
	h, err := parse(data)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil { // git runs inside dir
		return "", err
	}
	if head, err = write(filepath.Join(dir, ".git"), h); err != nil || h.raw {
		return head, err // a raw tree has paths that no work tree may hold
	}
	_, err = git(dir, "", "reset", "-q", "--hard")
	return head, err
}

// BuildBare writes the history into dir as a bare repository.
func BuildBare(dir string, data []byte) (head string, err error) {
	h, err := parse(data)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil { // git runs inside dir
		return "", err
	}
	if head, err = write(dir, h); err != nil {
		return "", err
	}
	_, err = git(dir, "", "config", "core.bare", "true")
	return head, err
}

// New is Build in a temporary directory of the test, and gives its path.
func New(t testing.TB, data string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if _, err := Build(dir, []byte(data)); err != nil {
		t.Fatalf("building history: %v", err)
	}
	return dir
}

// Git runs git in dir, away from every configuration but the repository's own,
// and gives what it printed.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := git(dir, "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// write makes the repository gitDir of h, with one pack and no loose objects.
func write(gitDir string, h *history) (head string, err error) {
	if err := os.MkdirAll(gitDir, 0o755); err != nil {
		return "", err
	}
	if old, err := os.ReadDir(gitDir); err != nil || len(old) > 0 {
		return "", errors.Join(err, fmt.Errorf("%s is not empty", gitDir))
	}
	if _, err := git(filepath.Dir(gitDir), "", "init", "-q", "--bare", "--template=", "--object-format=sha1", gitDir); err != nil {
		return "", err
	}
	to := objectsOf(gitDir)
	ids, err := writeObjects(to, h)
	if err != nil {
		return "", err
	}
	var updates strings.Builder
	for _, name := range sortedKeys(h.branches) {
		fmt.Fprintf(&updates, "create refs/heads/%s %s\n", name, ids[h.branches[name]])
	}
	for _, r := range h.refs {
		id := ids[r.commit]
		if r.message != "" {
			if id, err = writeTag(to, r, id, h.commits[r.commit]); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&updates, "create %s %s\n", r.name, id)
	}
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{updates.String(), []string{"update-ref", "--stdin"}},
		{"", []string{"symbolic-ref", "HEAD", "refs/heads/" + h.branch}},
		{"", []string{"repack", "-adq"}},
		{"", []string{"config", "core.bare", "false"}},
	} {
		if _, err := git(gitDir, step.stdin, append([]string{"--git-dir=" + gitDir}, step.args...)...); err != nil {
			return "", err
		}
	}
	return ids[h.branches[h.branch]], nil
}

// git runs the real program with an environment in which nothing of the
// reader's configuration, identity, hooks or templates exists.
func git(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
