package typescript

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/mask"
)

// compilerVersion is installed where PATH has no tsc.
const compilerVersion = "5.9.3"

// realTSC is the compiler: the one of PATH, else one that npm installs, once.
func realTSC(t *testing.T) string {
	t.Helper()
	if tsc, err := exec.LookPath("tsc"); err == nil {
		return tsc
	}
	for _, need := range []string{"node", "npm"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("LOUD SKIP: no tsc and no %s in PATH: what a starter's types are is not tested", need)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("LOUD SKIP: no cache folder for TypeScript %s: %v", compilerVersion, err)
	}
	dir := filepath.Join(cache, "benchmint-test", "typescript-"+compilerVersion)
	tsc := filepath.Join(dir, "node_modules", ".bin", "tsc")
	if exec.Command(tsc, "--version").Run() == nil {
		return tsc
	}
	install := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "typescript@"+compilerVersion)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("LOUD SKIP: TypeScript %s cannot be had: %v: %s", compilerVersion, err, out)
	}
	return tsc
}

// A starter has the types of its source, as the compiler sees them.
func TestMaskCompiles(t *testing.T) {
	t.Parallel()
	tsc := realTSC(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "tsc", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no testdata/tsc/*.txtar (%v)", err)
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			files, err := txtar.ParseFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			source, starter := filepath.Join(dir, "source"), filepath.Join(dir, "starter")
			for _, f := range files.Files {
				at := filepath.Join(source, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			result, err := mask.Run(context.Background(), mask.Options{Source: source, Output: starter, Languages: []mask.Language{Masker{}, javascript.Masker{}}})
			if err != nil {
				t.Fatal(err)
			}
			if result.Totals.Masked == 0 || len(result.Failed) > 0 {
				t.Fatalf("masked: %d, failed: %q", result.Totals.Masked, result.Failed)
			}
			for _, tree := range []string{starter, source} { // of the source only where the starter does not compile
				cmd := exec.Command(tsc, "-p", ".", "--noEmit", "--pretty", "false")
				cmd.Dir = tree
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				t.Errorf("tsc in the %s: %v\n%s", filepath.Base(tree), err, bytes.TrimSpace(out))
			}
		})
	}
}
