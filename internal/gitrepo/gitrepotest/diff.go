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

// Diff is the patch between two sets of files, as git makes it with so many lines of context.
// Content that begins with "-> " is a symlink's target.
func Diff(t testing.TB, context int, from, to map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	for side, files := range map[string]map[string]string{"a": from, "b": to} {
		if err := os.Mkdir(filepath.Join(dir, side), 0o755); err != nil {
			t.Fatal(err)
		}
		for p, data := range files {
			file := filepath.Join(dir, side, p)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if target, ok := strings.CutPrefix(data, "-> "); ok {
				if err := os.Symlink(target, file); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-prefix", "--no-renames", "--full-index", "--binary", fmt.Sprintf("-U%d", context), "a", "b")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	return out
}
