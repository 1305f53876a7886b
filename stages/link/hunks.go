package link

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// hunksOf reads a patch without context lines. Its sections come in the order of
// the rows, so that no file name has to be read out of it; a type change (file to
// symlink) has two sections.
func hunksOf(patch []byte, rows []schemas.ChangedFile) ([][]lang.Hunk, error) {
	var sections [][]lang.Hunk
	for line := range bytes.Lines(patch) {
		switch {
		case bytes.HasPrefix(line, []byte("diff --git ")):
			sections = append(sections, nil)
		case bytes.HasPrefix(line, []byte("@@ -")) && len(sections) > 0:
			h, err := readHunk(line)
			if err != nil {
				return nil, err
			}
			last := len(sections) - 1
			sections[last] = append(sections[last], h)
		}
	}
	hunks := make([][]lang.Hunk, len(rows))
	next := 0
	for i, row := range rows {
		n := 1
		if row.Status == "T" {
			n = 2
		}
		for range n {
			if next == len(sections) {
				return nil, fmt.Errorf("the patch has fewer files than the change: %d for %d", len(sections), len(rows))
			}
			hunks[i] = append(hunks[i], sections[next]...)
			next++
		}
	}
	if next != len(sections) {
		return nil, fmt.Errorf("the patch has more files than the change: %d for %d", len(sections), len(rows))
	}
	return hunks, nil
}

var hunkHeader = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func readHunk(line []byte) (lang.Hunk, error) {
	m := hunkHeader.FindSubmatch(line)
	if m == nil {
		return lang.Hunk{}, fmt.Errorf("hunk header %q", line)
	}
	var n [4]int
	for i, s := range m[1:] {
		n[i] = 1 // a count that is left out
		if s != nil {
			var err error
			if n[i], err = strconv.Atoi(string(s)); err != nil {
				return lang.Hunk{}, fmt.Errorf("hunk header %q: %w", line, err)
			}
		}
	}
	return lang.Hunk{OldStart: n[0], OldLines: n[1], NewStart: n[2], NewLines: n[3]}, nil
}

// takeHunks is before with some of the hunks that lead to after.
func takeHunks(before, after []byte, hunks []lang.Hunk, take []bool) []byte {
	old, now := bytes.SplitAfter(before, []byte{'\n'}), bytes.SplitAfter(after, []byte{'\n'})
	var out [][]byte
	done := 0
	for i, h := range hunks {
		from, to := span(h.OldStart, h.OldLines)
		out = append(out, old[done:from]...)
		if take[i] {
			a, b := span(h.NewStart, h.NewLines)
			out = append(out, now[a:b]...)
		} else {
			out = append(out, old[from:to]...)
		}
		done = to
	}
	return bytes.Join(append(out, old[done:]...), nil)
}

// span turns a hunk's start and count into indexes: without lines, the start is
// the line before (git's way).
func span(start, lines int) (from, to int) {
	if lines == 0 {
		return start, start
	}
	return start - 1, start - 1 + lines
}
