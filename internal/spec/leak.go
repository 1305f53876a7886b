package spec

import (
	"bytes"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
)

// A line of a body tells something where it is minTold long and has minWords. Lines that
// follow one another, here and in the body, tell it where there are minLines of them or
// where they have minLength together: an example of how a library is called shares single
// lines with it, and a pair that everybody writes.
const (
	minTold   = 16
	minWords  = 2
	minLines  = 3
	minLength = 60
	maxBlocks = 10 // of one document; with more the document is left out
)

// solution is what the bodies say: each line that tells, and the lines that follow it.
type solution map[string]map[string]bool

var bodyWord = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]{2,}`)

// bodies reads the lines that the patch of a starter adds, without those that stand in its
// code all the same: signatures, and functions that stay.
func bodies(o Options) solution {
	s := solution{}
	files, _, _ := gitdiff.Parse(bytes.NewReader(o.Patch)) // of one that does not parse nothing can be told
	if len(files) == 0 {
		return s
	}
	stays := map[string]bool{}
	for _, e := range o.Starter.Entries() {
		if e.Mode == tree.ModeSymlink || e.Mode == tree.ModeModule || !o.Ships(e.Path) {
			continue
		}
		for line := range bytes.Lines(e.Data) {
			if line = bytes.TrimSpace(line); tells(string(line)) {
				stays[string(line)] = true
			}
		}
	}
	for _, f := range files {
		for _, part := range f.TextFragments {
			last := ""
			for _, l := range part.Lines {
				line := strings.TrimSpace(l.Line)
				switch {
				case line == "":
					continue
				case l.Op != gitdiff.OpAdd || !tells(line) || stays[line]:
					last = ""
					continue
				}
				if s[line] == nil {
					s[line] = map[string]bool{}
				}
				if last != "" {
					s[last][line] = true
				}
				last = line
			}
		}
	}
	return s
}

func tells(line string) bool {
	return len(line) >= minTold && len(bodyWord.FindAllString(line, minWords)) >= minWords && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") &&
		!strings.HasPrefix(line, "import ") && !strings.HasPrefix(line, "from ")
}

// Leaks are the blocks of code of a text that hold lines of the bodies that are missing in a
// starter.
func Leaks(markdown string, o Options) []string {
	s := bodies(o)
	all := strings.Split(markdown, "\n")
	var out []string
	for _, block := range codeOf(all) {
		lines := all[block[0]:block[1]]
		if s.in(lines) {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

// in reports whether lines of code are lines of a body.
func (s solution) in(lines []string) bool {
	last, run, length := "", 0, 0
	for _, l := range lines {
		l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), ">. "))
		if l == "" {
			continue
		}
		if !s[last][l] {
			run, length = 0, 0
		}
		if last = ""; s[l] == nil {
			continue
		}
		last, run, length = l, run+1, length+len(l)
		if run >= minLines || length >= minLength {
			return true
		}
	}
	return false
}

// codeOf are the blocks of code of lines: from the line after the fence to the one that ends
// it. Code that is indented and not fenced is one as well.
func codeOf(lines []string) [][2]int {
	var out [][2]int
	start, mark := -1, ""
	for i, l := range lines {
		trimmed := strings.TrimLeft(l, " >")
		n := len(trimmed) - len(strings.TrimLeft(trimmed, "`"))
		switch {
		case start < 0 && n >= 3:
			start, mark = i+1, trimmed[:n]
		case start >= 0 && n >= len(mark) && strings.TrimSpace(trimmed) == trimmed[:n]:
			out = append(out, [2]int{start, i})
			start = -1
		case start < 0 && strings.HasPrefix(strings.TrimLeft(l, ">"), "    "):
			if k := len(out) - 1; k >= 0 && strings.TrimLeft(strings.Join(lines[out[k][1]:i], ""), " >") == "" {
				out[k][1] = i + 1
			} else {
				out = append(out, [2]int{i, i + 1})
			}
		}
	}
	if start >= 0 {
		out = append(out, [2]int{start, len(lines)})
	}
	return out
}

const leftOut = "[code left out: it holds lines of the implementation]"

// redact takes the code out that holds lines of bodies, and says how many blocks that are;
// whole where so many do that nothing of the document stays.
func (s solution) redact(d *document) (n int, whole bool) {
	if len(s) == 0 {
		return 0, false
	}
	for i, block := range d.blocks {
		lines := strings.Split(block, "\n")
		all := codeOf(lines)
		for k := len(all) - 1; k >= 0; k-- {
			from, to := all[k][0], all[k][1]
			if !s.in(lines[from:to]) {
				continue
			}
			n++
			pad := lines[from][:len(lines[from])-len(strings.TrimLeft(lines[from], " >"))]
			lines = append(append(lines[:from:from], pad+leftOut), lines[to:]...)
		}
		d.blocks[i] = strings.Join(lines, "\n")
	}
	if n > maxBlocks {
		d.blocks = []string{heading + "1" + d.title, "*[document left out: it holds the implementation]*"}
		return n, true
	}
	return n, false
}
