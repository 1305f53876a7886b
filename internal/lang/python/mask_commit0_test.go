package python

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/masktest"
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
