package mask_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

// undoes holds the undone starter against its source.
func undoes(t testing.TB, src, out string) {
	t.Helper()
	if _, err := mask.Undo(t.Context(), mask.UndoPath(out), out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listing(t, src), listing(t, out)); diff != "" {
		t.Errorf("undone, -source +starter:\n%s", diff)
	}
}

// An undo is one stream of gzip, and those of earlier versions are read too.
func TestUndoForms(t *testing.T) {
	t.Parallel()
	src := source(t, project)
	for name, write := range map[string]func(*testing.T, string, []string){"written": nil, "lines": written, "zipped": zipped, "members": members} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := starter(t, mask.Options{Source: src})
			if write != nil {
				write(t, result.Undo, undoLines(t, result.Undo))
			}
			undoes(t, src, result.Output)
		})
	}
}

// undoLines are the lines of an undo that is one stream.
func undoLines(t *testing.T, file string) []string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, file)))
	must(t, err)
	z.Multistream(false)
	text, err := io.ReadAll(z)
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func TestUndoRefuses(t *testing.T) {
	t.Parallel()
	src := source(t, project)
	for name, spoil := range map[string]func(t *testing.T, out string){
		"edited":  func(t *testing.T, out string) { put(t, filepath.Join(out, "util.py"), []byte("edited")) },
		"removed": func(t *testing.T, out string) { must(t, os.Remove(filepath.Join(out, "util.py"))) },
		"a_folder": func(t *testing.T, out string) {
			must(t, os.Remove(filepath.Join(out, "util.py")))
			must(t, os.Mkdir(filepath.Join(out, "util.py"), 0o755))
		},
		"a_link_outside": func(t *testing.T, out string) {
			must(t, os.Rename(filepath.Join(out, "util.py"), out+".away"))
			must(t, os.Symlink(out+".away", filepath.Join(out, "util.py")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := starter(t, mask.Options{Source: src})
			spoil(t, result.Output)
			before := listing(t, result.Output)
			_, err := mask.Undo(t.Context(), result.Undo, result.Output)
			var refused *mask.RefusedError
			if !errors.As(err, &refused) || len(refused.Files) != 1 || !strings.HasPrefix(refused.Files[0], "util.py (") {
				t.Fatalf("got %v, want util.py to be refused", err)
			}
			if diff := cmp.Diff(before, listing(t, result.Output)); diff != "" {
				t.Errorf("a refused undo wrote:\n%s", diff)
			}
		})
	}
	result, _ := starter(t, mask.Options{Source: src})
	undoes(t, src, result.Output)
	undoes(t, src, result.Output) // once more does no harm
	for _, file := range []string{result.Manifest, filepath.Join(src, "none")} {
		if _, err := mask.Undo(t.Context(), file, result.Output); !errors.Is(err, mask.ErrUnmet) {
			t.Errorf("%s as an undo: %v", file, err)
		}
	}
}

// A damaged undo is told from a whole one before anything is written.
func TestDamagedUndo(t *testing.T) {
	t.Parallel()
	result, _ := starter(t, mask.Options{Source: source(t, project)})
	lines := undoLines(t, result.Undo)
	before := listing(t, result.Output)
	for name, c := range map[string]struct {
		lines []string
		fault string
	}{
		"cut_off":        {lines[:2], "is not a complete undo record of a mask, from line 3: EOF"},
		"no_files":       {lines[:1], "is not a complete undo record of a mask, from line 2: EOF"},
		"one_is_missing": {slices.Delete(slices.Clone(lines), 1, 2), "from line 3: 2 files are said, and 1 are there"},
		"two_together":   {slices.Concat(lines, lines), "from line 4: 2 files are said, and 2 are there"},
		"no_path":        {[]string{lines[0], "{}", lines[2]}, "from line 2: no path"},
		"no_json":        {[]string{lines[0], "["}, "is not a complete undo record of a mask, from line 2: "},
		"another":        {[]string{`{"format":"x"}`}, `has the format "x"`},
		"empty":          {nil, "is not a complete undo record of a mask: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "undo")
			for _, write := range []func(*testing.T, string, []string){written, zipped, members} {
				write(t, file, c.lines)
				if _, err := mask.Undo(t.Context(), file, result.Output); !errors.Is(err, mask.ErrUnmet) || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("got %v, want %s", err, c.fault)
				}
			}
		})
	}
	for name, c := range map[string]struct{ old, new, fault string }{
		"out_of_the_folder": {`"app/core.py"`, `"../core.py"`, "../core.py (statat: path escapes from parent)"},
		"of_the_machine":    {`"app/core.py"`, `"/etc/hostname"`, "/etc/hostname (statat: path escapes from parent)"},
		"another_text":      {"util.halt", "util.hold", "app/core.py (the undo does not give its source back)"},
		"another_place":     {`"start":`, `"start":1`, "app/core.py (the undo does not fit it)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := slices.Clone(lines)
			changed[1] = strings.Replace(changed[1], c.old, c.new, 1)
			file := filepath.Join(t.TempDir(), "undo")
			written(t, file, changed)
			_, err := mask.Undo(t.Context(), file, result.Output)
			var refused *mask.RefusedError
			if !errors.As(err, &refused) || refused.Files[0] != c.fault {
				t.Errorf("got %v, want %s", err, c.fault)
			}
		})
	}
	t.Cleanup(func() {
		if diff := cmp.Diff(before, listing(t, result.Output)); diff != "" {
			t.Errorf("a damaged undo wrote:\n%s", diff)
		}
	})
}

// written, zipped and members are the ways in which the lines of an undo lie in a file: as
// they are, in one stream of gzip, each line in one of its own.
func written(t *testing.T, file string, lines []string) {
	t.Helper()
	put(t, file, []byte(strings.Join(append(slices.Clone(lines), ""), "\n")))
}

func zipped(t *testing.T, file string, lines []string) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for _, line := range lines {
		_, err := z.Write([]byte(line + "\n"))
		must(t, err)
	}
	must(t, z.Close())
	put(t, file, out.Bytes())
}

func members(t *testing.T, file string, lines []string) {
	t.Helper()
	var out bytes.Buffer
	for _, line := range lines {
		z := gzip.NewWriter(&out)
		_, err := z.Write([]byte(line + "\n"))
		must(t, errors.Join(err, z.Close()))
	}
	put(t, file, out.Bytes())
}
