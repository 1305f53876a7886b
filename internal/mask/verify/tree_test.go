package verify_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
)

// A compiler that pnpm installed lies behind a link; one outside of the tree is not there for
// the sandbox.
func TestTreeHas(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "tree")
	tool := filepath.Join(root, ".pnpm", "tool")
	if err := errors.Join(
		os.MkdirAll(tool, 0o755), os.WriteFile(filepath.Join(tool, "run"), nil, 0o755), os.WriteFile(filepath.Join(filepath.Dir(root), "run"), nil, 0o755),
		os.Symlink(".pnpm/tool", filepath.Join(root, "tool")), os.Symlink("..", filepath.Join(root, "up")),
	); err != nil {
		t.Fatal(err)
	}
	tree := verify.NewTree(root, &mask.Manifest{Files: []mask.Record{
		{Path: ".pnpm/tool/run", Before: "a", After: "a"}, {Path: "tool", Link: ".pnpm/tool"}, {Path: "up", Link: ".."},
	}}, "")
	for p, want := range map[string]bool{
		".pnpm/tool/run": true, "tool/run": true, "tool/none": false, "tool": true, "up/run": false, ".pnpm": false, "run": false,
	} {
		if tree.Has(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}
