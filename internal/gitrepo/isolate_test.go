package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// attributed is a history whose tree and settings want to change what is read.
const attributed = `
-- commit: Start --
-- .gitattributes --
*.txt text eol=crlf ident diff=upper
*.py filter=evil -diff
*.dat diff=upper
tests/ export-ignore
version export-subst
-- a.txt --
$Id$
one
-- b.py --
x = 1
-- version --
$Format:%H$
-- tests/test_b.py --
import b
-- crlf: dos.txt --
a
b
-- commit: Change (#2) --
-- a.txt --
$Id$
two
-- b.py --
x = 2
-- crlf: dos.txt --
a
c
-- tests/test_b.py --
import b
assert b.x == 2
`

// answers is all that a repository says, as text.
func answers(t *testing.T, r *gitrepo.Repo) string {
	t.Helper()
	var out strings.Builder
	for _, c := range log(t, r, gitrepo.Query{}) {
		c.Repo = ""
		for _, f := range c.Files {
			out.WriteString(strings.Join([]string{f.Status, f.Path, f.OldBlob, f.NewBlob, string(rune('0' + f.Added)), string(rune('0' + f.Removed))}, " ") + "\n")
		}
		patch, err := r.Diff(t.Context(), c.BaseTree, c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := r.Tree(t.Context(), c.Commit)
		if err != nil {
			t.Fatal(err)
		}
		if tree.ID() != c.Tree {
			t.Errorf("tree of %s reads as %s, want %s", c.Subject, tree.ID(), c.Tree)
		}
		version, err := r.Describe(t.Context(), c.Commit)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(c.Subject + "\n" + string(patch) + version.Tag + "\n")
	}
	return out.String()
}

// TestHostileConfiguration holds that nobody's settings change an answer: those
// of the reader, and those of the repository itself. No t.Parallel with Setenv.
func TestHostileConfiguration(t *testing.T) {
	clean := gitrepotest.New(t, attributed)
	want := answers(t, open(t, clean))
	for _, s := range []string{"+two\n", "+x = 2\n", "+c\r\n", "+assert b.x == 2\n", "diff --git a/tests/test_b.py b/tests/test_b.py"} {
		if !strings.Contains(want, s) {
			t.Fatalf("the answers lack %q:\n%s", s, want)
		}
	}
	hostile := `[diff]
	noprefix = true
	mnemonicPrefix = true
	external = /bin/false
	algorithm = patience
	context = 9
	interHunkContext = 9
	renames = copies
	orderFile = /nonexistent
	wsErrorHighlight = all
	ignoreSubmodules = all
[diff "upper"]
	textconv = tr a-z A-Z <
	command = /bin/false
[filter "evil"]
	clean = /bin/false
	smudge = /bin/false
	required = true
[core]
	autocrlf = true
	eol = crlf
	fsmonitor = /bin/false
	abbrev = 4
	quotePath = false
	pager = false
[color]
	ui = always
[log]
	showSignature = true
	date = relative
	follow = true
	diffMerges = combined
[i18n]
	logOutputEncoding = UTF-16
[alias]
	log = !false
`
	home := t.TempDir()
	hooks := filepath.Join(home, "hooks")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(hooks, 0o755))
	must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(hostile+"[core]\n\tattributesFile = "+home+"/attributes\n\thooksPath = "+hooks+"\n"), 0o644))
	must(os.WriteFile(filepath.Join(home, "attributes"), []byte("* -diff binary\n"), 0o644))
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("GIT_EXTERNAL_DIFF", "/bin/false")
	t.Setenv("GIT_DIFF_OPTS", "-u9")
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_NAMESPACE", "x")
	if diff := cmp.Diff(want, answers(t, open(t, clean))); diff != "" {
		t.Errorf("the reader's configuration changes answers (-want +got):\n%s", diff)
	}

	own := gitrepotest.New(t, attributed)
	git := filepath.Join(own, ".git")
	config, err := os.ReadFile(filepath.Join(git, "config"))
	must(err)
	must(os.WriteFile(filepath.Join(git, "config"), append(config, hostile...), 0o644))
	must(os.MkdirAll(filepath.Join(git, "info"), 0o755))
	must(os.WriteFile(filepath.Join(git, "info", "attributes"), []byte("* -diff binary\n"), 0o644))
	head, parent := gitrepotest.Git(t, clean, "rev-parse", "HEAD"), gitrepotest.Git(t, clean, "rev-parse", "HEAD~1")
	must(os.WriteFile(filepath.Join(git, "info", "grafts"), []byte(head+"\n"), 0o644)) // the newest commit as a root
	must(os.MkdirAll(filepath.Join(git, "refs", "replace"), 0o755))
	must(os.WriteFile(filepath.Join(git, "refs", "replace", head), []byte(parent+"\n"), 0o644))
	if diff := cmp.Diff(want, answers(t, open(t, own))); diff != "" {
		t.Errorf("the repository's configuration changes answers (-want +got):\n%s", diff)
	}
}
