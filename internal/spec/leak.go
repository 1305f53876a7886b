package spec

import (
	"strings"

	"github.com/benchmint/benchmint/internal/seal"
)

const maxBlocks = 10 // that are left out of one document; with more the document is left out

// Leak gives what a text holds of the bodies that are missing in a starter: a block of code, or words
// anywhere in it. "" is nothing.
func Leak(markdown string, bodies *seal.Bodies) string {
	all := strings.Split(markdown, "\n")
	for _, block := range codeOf(all) {
		if code := strings.Join(all[block[0]:block[1]], "\n"); bodies.Block(code) {
			return code
		}
	}
	return bodies.Text(markdown)
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
// whole where so many do that nothing of the document stays, or where its words do.
func redact(d *document, bodies *seal.Bodies) (n int, whole bool) {
	if bodies == nil {
		return 0, false
	}
	for i, block := range d.blocks {
		lines := strings.Split(block, "\n")
		all := codeOf(lines)
		for k := len(all) - 1; k >= 0; k-- {
			from, to := all[k][0], all[k][1]
			if !bodies.Block(strings.Join(lines[from:to], "\n")) {
				continue
			}
			n++
			pad := lines[from][:len(lines[from])-len(strings.TrimLeft(lines[from], " >"))]
			lines = append(append(lines[:from:from], pad+leftOut), lines[to:]...)
		}
		d.blocks[i] = strings.Join(lines, "\n")
	}
	if n > maxBlocks || bodies.Text(strings.Join(d.blocks, "\n\n")) != "" {
		d.blocks = []string{heading + "1" + d.title, "*[document left out: it holds the implementation]*"}
		return n, true
	}
	return n, false
}
