package grade

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/tree"
)

// TestDiffering: what a build made of a tree is seen by type and content, whatever stands in a link.
func TestDiffering(t *testing.T) {
	t.Parallel()
	const text = "assert_value(1)"
	committed, err := tree.New([]tree.Entry{
		{Path: "kept.py", Mode: tree.ModeFile, Data: []byte(text)}, {Path: "linked.py", Mode: tree.ModeFile, Data: []byte(text)},
		{Path: "fifo.py", Mode: tree.ModeFile, Data: nil}, {Path: "link", Mode: tree.ModeSymlink, Data: []byte("kept.py")},
		{Path: "file", Mode: tree.ModeSymlink, Data: []byte(text)}, {Path: "two  blanks.py", Mode: tree.ModeFile, Data: []byte(text)},
		{Path: "gone.py", Mode: tree.ModeFile, Data: []byte(text)},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"kept.py", "two  blanks.py", "file", "new.py"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"linked.py": text, "link": "kept.py"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fifo.py", "fifo"} {
		if err := unix.Mkfifo(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", sums)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fifo", "fifo.py", "file", "gone.py", "linked.py", "new.py"}
	if d := cmp.Diff(want, differing(summed(string(out)), committed)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
