package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const modeModule = "160000"

// rows reads one answer of --raw (and --numstat) with -z: records that end in
// NUL, so that no file name can be taken for anything else. tree.ErrTooLarge where
// there are too many to list.
func (r *Repo) rows(ctx context.Context, d *differ, from, to string) ([]schemas.ChangedFile, error) {
	if err := r.listable(ctx, from, to); err != nil && !errors.Is(err, ErrMissing) { // git says what is missing
		return nil, err
	}
	rows := []schemas.ChangedFile{}
	err := d.diff(ctx, from, to, func(out *bufio.Reader) error {
		rows = rows[:0]
		counted := 0
		for {
			first, err := out.Peek(1)
			if err != nil {
				return err
			}
			switch first[0] {
			case mark[0]:
				_, err := out.Discard(len(mark))
				return err
			case ':':
				row, err := readRaw(out)
				if err != nil {
					return err
				}
				rows = append(rows, row)
			default:
				if counted == len(rows) {
					return fmt.Errorf("diff-tree counts more files than it lists")
				}
				if err := readCounts(out, &rows[counted]); err != nil {
					return err
				}
				counted++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// readRaw reads ":<mode> <mode> <id> <id> <status>[score]" NUL path NUL [path NUL].
func readRaw(out *bufio.Reader) (schemas.ChangedFile, error) {
	meta, err := readNul(out)
	if err != nil {
		return schemas.ChangedFile{}, err
	}
	f := strings.Fields(strings.TrimPrefix(meta, ":"))
	if len(f) != 5 {
		return schemas.ChangedFile{}, fmt.Errorf("diff-tree answers %q", meta)
	}
	row := schemas.ChangedFile{OldMode: f[0], NewMode: f[1], OldBlob: f[2], NewBlob: f[3], Status: f[4][:1]}
	if row.Path, err = readNul(out); err != nil {
		return row, err
	}
	if row.Status == "R" {
		row.OldPath = row.Path
		row.Path, err = readNul(out)
	}
	return row, err
}

// readCounts reads "<added> TAB <removed> TAB path NUL", or with an empty path
// and two more fields for a rename; "-" for binary files.
func readCounts(out *bufio.Reader, row *schemas.ChangedFile) error {
	s, err := readNul(out)
	if err != nil {
		return err
	}
	added, rest, _ := strings.Cut(s, "\t")
	removed, path, ok := strings.Cut(rest, "\t")
	if !ok {
		return fmt.Errorf("diff-tree counts %q", s)
	}
	if path == "" {
		for range 2 {
			if path, err = readNul(out); err != nil {
				return err
			}
		}
	}
	if path != row.Path {
		return fmt.Errorf("diff-tree counts %q where %q is listed", path, row.Path)
	}
	if added == "-" {
		row.Added, row.Removed = -1, -1
		return nil
	}
	if row.Added, err = strconv.Atoi(added); err != nil {
		return fmt.Errorf("counting lines of %q: %w", path, err)
	}
	if row.Removed, err = strconv.Atoi(removed); err != nil {
		return fmt.Errorf("counting lines of %q: %w", path, err)
	}
	return nil
}

func readNul(out *bufio.Reader) (string, error) {
	s, err := out.ReadString(0)
	if err != nil {
		return "", err
	}
	return s[:len(s)-1], nil
}

// maxPatch bounds a patch, in bytes.
const maxPatch = 256 << 20

// readPatch copies lines up to mark. tree.ErrTooLarge, with the rest unread.
func readPatch(out *bufio.Reader, w io.Writer) error {
	size := 0
	for fresh := true; ; {
		line, err := out.ReadSlice('\n')
		long := err == bufio.ErrBufferFull //nolint:errorlint // ReadSlice gives it unwrapped
		if err != nil && !long {
			return err
		}
		if fresh && string(line) == mark {
			return nil
		}
		if size += len(line); size > maxPatch {
			return fmt.Errorf("%w: a patch of more than %d MiB", tree.ErrTooLarge, maxPatch>>20)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		fresh = !long
	}
}
