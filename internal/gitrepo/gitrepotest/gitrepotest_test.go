package gitrepotest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `A history with one of everything.
-- expect.json --
{}
-- commit: Start --
date: 2024-03-01T10:00:00+02:00
author: Zoë <zoe@example.org>

Body line.
-- a.txt --
one
-- exec: run.sh --
#!/bin/sh
-- symlink: link --
a.txt
-- base64: logo.bin --
AAEC/w==
-- crlf: dos.txt --
x
y
-- "caf\xe9.txt" --
latin
-- tag: v1.0 --
Release 1.0
-- branch: topic --
-- commit: Topic work --
-- a.txt --
two
-- tmp/x --
-- delete: dos.txt --
-- delete: tmp/ --
-- ref: refs/pull/7/head --
-- branch: main --
-- commit: Main work --
-- b/c.txt --
deep
-- commit: Merge pull request #7 from zoe/topic --
merge: topic
-- rename: run.sh -> bin/run.sh --
-- tag: light --
`

func TestBuild(t *testing.T) {
	t.Parallel()
	dir := New(t, sample)
	Git(t, dir, "fsck", "--strict")
	if got := Git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("work tree differs from HEAD: %s", got)
	}
	got := strings.Split(Git(t, dir, "-c", "core.quotePath=true", "ls-tree", "-r", "HEAD"), "\n")
	for i, line := range got {
		meta, path, _ := strings.Cut(line, "\t")
		got[i] = strings.Fields(meta)[0] + " " + path // blobs are compared below
	}
	want := []string{
		"100644 a.txt", "100644 b/c.txt", "100755 bin/run.sh", `100644 "caf\351.txt"`, "120000 link", "100644 logo.bin",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree of HEAD (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ name, want, args string }{
		{"parents_of_merge", "2", "rev-list --count --max-count=2 HEAD^1 HEAD^2 --no-walk"},
		{"date_keeps_its_zone", "2024-03-01T10:00:00+02:00", "show -s --format=%cI v1.0^{commit}"},
		{"annotated", "tag", "cat-file -t v1.0"},
		{"light", "commit", "cat-file -t light"},
		{"pull_request_ref", "Topic work", "show -s --format=%s refs/pull/7/head"},
		{"body", "Body line.", "show -s --format=%b v1.0^{commit}"},
		{"merged_change", "two", "show HEAD:a.txt"},
		{"own_change", "deep", "show HEAD:b/c.txt"},
		{"crlf", "x\r\ny\r", "show v1.0:dos.txt"},
		{"binary", "\x00\x01\x02\xff", "show HEAD:logo.bin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.TrimSpace(Git(t, dir, strings.Fields(c.args)...)); got != strings.TrimSpace(c.want) {
				t.Errorf("git %s = %q, want %q", c.args, got, c.want)
			}
		})
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	// The reader's configuration must not matter either; no t.Parallel with Setenv.
	first, err := BuildBare(filepath.Join(t.TempDir(), "a"), []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_AUTHOR_NAME", "somebody")
	t.Setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("TZ", "Asia/Tokyo")
	second, err := Build(filepath.Join(t.TempDir(), "b"), []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("head %s, then %s", first, second)
	}
}

func TestHostileTree(t *testing.T) {
	t.Parallel()
	dir := New(t, "-- commit: Evil --\n-- ../evil.txt --\nx\n-- ok.txt --\ny\n")
	if got, want := Git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"), "../evil.txt\nok.txt"; got != want {
		t.Errorf("tree holds %q, want %q", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no_commit":      "-- a.txt --\nx\n",
		"unknown_header": "-- commit: A --\ncolour: red\n",
		"bad_date":       "-- commit: A --\ndate: yesterday\n",
		"nothing_there":  "-- commit: A --\n-- delete: x --\n",
		"nothing_below":  "-- commit: A --\n-- delete: x/ --\n",
		"no_branch":      "-- commit: A --\n-- commit: B --\nmerge: x\n",
		"bad_base64":     "-- commit: A --\n-- base64: x --\n!\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := parse([]byte(text)); err == nil {
				t.Error("want an error")
			}
		})
	}
}

func TestExtras(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{"expect.json": []byte("{}\n")}
	if diff := cmp.Diff(want, Extras([]byte(sample))); diff != "" {
		t.Errorf("extras (-want +got):\n%s", diff)
	}
}

// A relative path is taken from where the caller stands, as make demo gives one.
func TestBuildInARelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	const one = "-- commit: One --\ndate: 2025-01-01T00:00:00Z\n\n-- a --\nx\n"
	for name, build := range map[string]func(string, []byte) (string, error){"sub/work": Build, "sub/bare": BuildBare} {
		if _, err := build(name, []byte(one)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
