package patch_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

const block = 4096 // bytes of the file that deltas copy

func bombBase(t *testing.T) *tree.Tree {
	t.Helper()
	out, err := tree.New([]tree.Entry{
		{Path: "a.bin", Mode: tree.ModeFile, Data: make([]byte, block)},
		{Path: "large", Mode: tree.ModeFile, Data: make([]byte, 64<<20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// binaryFile is a file of a patch that makes it, or changes a.bin.
func binaryFile(name string, method gitdiff.BinaryPatchMethod, size int64, raw []byte) string {
	f := gitdiff.File{
		NewName: name, IsNew: true, NewMode: 0o100644, IsBinary: true,
		OldOIDPrefix: strings.Repeat("0", 40), NewOIDPrefix: strings.Repeat("1", 40),
		BinaryFragment: &gitdiff.BinaryFragment{Method: method, Size: size, RawData: raw},
	}
	if name == "a.bin" {
		f.IsNew, f.NewMode, f.OldName, f.OldMode, f.OldOIDPrefix = false, 0, name, 0o100644, tree.BlobID(make([]byte, block))
	}
	return f.String()
}

// packed are bytes as they stand in a patch, n times.
func packed(t *testing.T, data []byte, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	const head = 2
	out := append(b.Bytes(), bytes.Repeat(b.Bytes()[head:], n-1)...)
	sum := adler32.New()
	for range n {
		_, _ = sum.Write(data)
	}
	return sum.Sum(append(out, 1, 0, 0, 0xff, 0xff))
}

// delta copies a.bin n times.
func delta(n int) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, block), uint64(n)*block) //nolint:gosec // it is positive
	return append(out, bytes.Repeat([]byte{0xb0, block & 0xff, block >> 8}, n)...)
}

// TestBombs: a patch that says little and makes much is refused, in little memory.
func TestBombs(t *testing.T) { //nolint:paralleltest // its children take processors and memory
	const mib, whole, most = 1 << 20, 99, 300 << 20
	if file := os.Getenv("BENCHMINT_TEST_BOMB"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = patch.Answer(t.Context(), bombBase(t), text); !errors.Is(err, tree.ErrTooLarge) && !errors.Is(err, patch.ErrConflict) {
			t.Errorf("%v, want that it is too large, or a conflict", err)
		}
		return
	}
	literal := func(name string, size int) string {
		return binaryFile(name, gitdiff.BinaryPatchLiteral, int64(size)*mib, packed(t, make([]byte, mib), size))
	}
	huge, larger := literal("new.bin", 1500), delta(1<<30/block)
	var many, copies strings.Builder
	for i := range 17 {
		many.WriteString(literal(fmt.Sprint(i), whole))
		fmt.Fprintf(&copies, "diff --git a/large b/%[1]d\nsimilarity index 100%%\ncopy from large\ncopy to %[1]d\n", i)
	}
	for name, text := range map[string]string{
		"delta":         binaryFile("a.bin", gitdiff.BinaryPatchDelta, int64(len(larger)), packed(t, larger, 1)),
		"literal_400M":  literal("new.bin", 400),
		"literal_1500M": huge,
		"many_files":    many.String(),
		"copies":        copies.String(),
		// The strict reader stops before it sees the size, so git has the patch.
		"for_git": "diff --git a/large b/large\nold mode 100644\nnew mode 100755\nsimilarity index x%\n" + huge,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "bomb")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBombs$")
			cmd.Env = append(os.Environ(), "BENCHMINT_TEST_BOMB="+file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			took := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
			if t.Logf("a patch of %d KB: %d MiB, %v", len(text)>>10, took>>20, cmd.ProcessState.UserTime()); took > most {
				t.Errorf("%d MiB were taken, want at most %d", took>>20, most>>20)
			}
		})
	}
}

// TestLongHunk: what a patch takes grows with it, not with its square.
func TestLongHunk(t *testing.T) {
	t.Parallel()
	const lines = 300_000
	text := fmt.Sprintf("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,%d @@\n", lines) + strings.Repeat("+x\n", lines)
	began := time.Now()
	if _, err := patch.Answer(t.Context(), base(t), []byte(text)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d lines took %v", lines, took)
	}
}
