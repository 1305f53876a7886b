package report

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// diff is a patch as the page shows it.
type diff struct {
	Files []diffFile
	Note  string // that it is cut, or empty
}

// diffFile is what a patch does to one file.
type diffFile struct {
	Name           string
	Added, Removed int // lines that are shown
	Runs           []diffRun
}

// diffRun is consecutive lines of one sort: one element in the page, however many lines.
type diffRun struct {
	Sort string
	Text string
}

// The sorts of lines.
const (
	sortHead    = "head" // what stands above the hunks
	sortHunk    = "hunk" // @@
	sortAdded   = "added"
	sortRemoved = "removed"
	sortSame    = "same"
)

var hunkHead = lazyregexp.New(`^@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@`)

// diffOf sorts the lines of a patch by the counts of its hunks: a removed line that begins
// with "-- " does not begin a file.
func diffOf(patch []byte, limit int, where string) diff {
	text := headOf(string(patch), limit)
	var d diff
	if len(text) < len(patch) {
		d.Note = cut(string(patch), limit, where).Note
	}
	before, after := 0, 0 // lines that the hunk still has
	for line := range strings.Lines(text) {
		sort := sortHead
		switch {
		case (before > 0 || after > 0) && strings.HasPrefix(line, "+"):
			sort, after = sortAdded, after-1
		case (before > 0 || after > 0) && strings.HasPrefix(line, "-"):
			sort, before = sortRemoved, before-1
		case (before > 0 || after > 0) && !strings.HasPrefix(line, `\`):
			sort, before, after = sortSame, before-1, after-1
		case strings.HasPrefix(line, `\`):
			sort = sortSame // of the line before: no newline at the end of file
		default:
			if m := hunkHead.FindStringSubmatch(line); m != nil {
				sort, before, after = sortHunk, lines(m[1]), lines(m[2])
			}
		}
		d.add(sort, line)
	}
	for i := range d.Files {
		for j := range d.Files[i].Runs {
			d.Files[i].Runs[j].Text = visible(d.Files[i].Runs[j].Text)
		}
	}
	return d
}

// lines is a count of a hunk's head; it is 1 where none is written.
func lines(count string) int {
	n := 1
	if count != "" {
		_, _ = fmt.Sscan(count, &n) // digits; a number that is too large stays 1
	}
	return n
}

func (d *diff) add(sort, line string) {
	if name, ok := beginsFile(sort, line, d.Files); ok {
		d.Files = append(d.Files, diffFile{Name: short(name, mostName)})
	}
	f := &d.Files[len(d.Files)-1]
	switch sort {
	case sortAdded:
		f.Added++
	case sortRemoved:
		f.Removed++
	}
	if n := len(f.Runs); n > 0 && f.Runs[n-1].Sort == sort {
		f.Runs[n-1].Text += line
		return
	}
	f.Runs = append(f.Runs, diffRun{sort, line})
}

// beginsFile gives the name of the file that a line begins; everything before the first
// such line is a file without a name.
func beginsFile(sort, line string, before []diffFile) (string, bool) {
	if sort == sortHead {
		if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
			rest = strings.TrimRight(rest, "\r\n")
			if half := len(rest) / 2; len(rest)%2 == 1 && rest[half] == ' ' {
				a, okA := strings.CutPrefix(rest[:half], "a/")
				b, okB := strings.CutPrefix(rest[half+1:], "b/")
				if okA && okB && a == b {
					return a, true
				}
			}
			return rest, true
		}
	}
	return "", len(before) == 0
}
