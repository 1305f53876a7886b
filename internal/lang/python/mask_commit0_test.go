package python

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/masktest"
	"github.com/benchmint/benchmint/internal/syntax"
)

// in.py of the archive, by each of the profiles.
func TestMaskCommit0(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "commit0", "rules.txtar")
	a, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "in.py"), a.Files[0].Data, 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := &txtar.Archive{Comment: a.Comment, Files: a.Files[:1:1]}
	for _, profile := range []mask.Profile{mask.Commit0All, mask.Commit0Docstring, mask.Commit0Combined} {
		out := filepath.Join(dir, string(profile))
		if _, err := mask.Run(t.Context(), mask.Options{Source: src, Output: out, Profile: profile, Languages: []mask.Language{Masker{}}}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "in.py"))
		if err != nil {
			t.Fatal(err)
		}
		fresh.Files = append(fresh.Files, txtar.File{Name: string(profile) + ".py", Data: text})
	}
	if masktest.Updating() {
		if err := os.WriteFile(golden, txtar.Format(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(fresh))); diff != "" {
		t.Errorf("-want +got (-update writes it anew):\n%s", diff)
	}
}

// forms are what definitions and docstrings lie in that no archive has.
const forms = `if a:
    pass
elif b:
    def f():
        """Doc."""
        return 1

try:
    pass
except* E:
    def g():
        ("Doc."
         " And more.")
        return 1

def h():
    "No doc." f" {h}."
    return 1
`

// What the outline leaves out changes nothing: of every file of ours, and of each with its
// end cut off, which leaves errors.
func TestMaskCommit0Outline(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var nodes, written int
	compare := func(name string, source []byte) {
		part, err := Masker{}.Commit0Tree(source)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := syntax.ParseTree(syntax.Python, source)
		if err != nil {
			t.Fatal(err)
		}
		if part.Broken() != whole.Broken() {
			t.Errorf("%s: broken %v and %v", name, whole.Broken(), part.Broken())
		}
		if !whole.Broken() {
			nodes += whole.Len()
			written += part.Len()
		}
		for _, profile := range []mask.Profile{mask.Commit0All, mask.Commit0Docstring, mask.Commit0Combined} {
			want, got := (Masker{}).Commit0(name, whole, profile), (Masker{}).Commit0(name, part, profile)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: -whole +outline:\n%s", name, profile, diff)
			}
		}
	}
	compare("forms", []byte(forms))
	for _, at := range archives {
		a, err := txtar.ParseFile(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if filepath.Ext(f.Name) == ".py" && len(f.Data) > 40 {
				compare(at+" "+f.Name, f.Data)
				compare(at+" "+f.Name+", cut", f.Data[:len(f.Data)-20])
			}
		}
	}
	if written == 0 || written > nodes/2 {
		t.Errorf("%d nodes of %d are written down", written, nodes)
	}
}

// What an error may be the beginning of stays: without it a decorator would be left behind.
func TestMaskCommit0BehindError(t *testing.T) {
	t.Parallel()
	tree, err := syntax.ParseTree(syntax.Python, []byte("class C:\n    @a\n# left\n    def f(self): pass\n\n    x = = 1\n\n    def g(self): pass\n"))
	if err != nil {
		t.Fatal(err)
	}
	choice := Masker{}.Commit0("c.py", tree, mask.Commit0Combined)
	for i, broken := range []bool{true, false} {
		if f := choice.Functions[i]; f.Broken != broken {
			t.Errorf("%s is broken: %v, want %v", f.Name, f.Broken, broken)
		}
	}
}
