package patch_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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

// packed are n bytes of a reader as they stand in a patch.
func packed(t *testing.T, from io.Reader, n int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err == nil {
		_, err = io.CopyN(z, from, n)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// delta copies a.bin n times.
func delta(n int) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, block), uint64(n)*block) //nolint:gosec // it is positive
	return append(out, bytes.Repeat([]byte{0xb0, block & 0xff, block >> 8}, n)...)
}

// TestBombs: a patch that says little and makes much is refused, in little memory.
func TestBombs(t *testing.T) { //nolint:paralleltest // its children take processors and memory
	const whole, most = 99 << 20, 300 << 20
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
	literal := func(size int64) string {
		return binaryFile("new.bin", gitdiff.BinaryPatchLiteral, size, packed(t, zeros{}, size))
	}
	huge, larger := literal(1500<<20), delta(1<<30/block)
	var many, copies strings.Builder
	one := packed(t, zeros{}, whole)
	for i := range 17 {
		many.WriteString(binaryFile(fmt.Sprint(i), gitdiff.BinaryPatchLiteral, whole, one))
		fmt.Fprintf(&copies, "diff --git a/large b/%[1]d\nsimilarity index 100%%\ncopy from large\ncopy to %[1]d\n", i)
	}
	for name, text := range map[string]string{
		"delta":         binaryFile("a.bin", gitdiff.BinaryPatchDelta, int64(len(larger)), packed(t, bytes.NewReader(larger), int64(len(larger)))),
		"literal_400M":  literal(400 << 20),
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
