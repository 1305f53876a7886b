package spec

import (
	"strconv"
	"strings"
)

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// indent is how many blanks begin a line; 0 of a blank one.
func indent(s string) int {
	if blank(s) {
		return 0
	}
	return len(s) - len(strings.TrimLeft(s, " "))
}

// indented are the lines from i on that are blank or indented, without blank ones at either
// end, and the line after them.
func indented(lines []string, i int) (body []string, next int) {
	end := i
	for next = i; next < len(lines); next++ {
		if blank(lines[next]) {
			continue
		}
		if indent(lines[next]) == 0 {
			break
		}
		end = next + 1
	}
	for i < end && blank(lines[i]) {
		i++
	}
	return lines[i:end], next
}

// dedent takes off what all lines are indented by.
func dedent(lines []string) []string {
	least := -1
	for _, l := range lines {
		if n := indent(l); !blank(l) && (least < 0 || n < least) {
			least = n
		}
	}
	return atMost(lines, max(least, 0))
}

// atMost takes off so many blanks of each line, or as many as it has.
func atMost(lines []string, most int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(most, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return out
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l)
	}
	return out
}

// prefixed puts a prefix before each line of blocks that are set apart by blank lines.
func prefixed(prefix string, blocks []string) string {
	if len(blocks) == 0 {
		return ""
	}
	lines := strings.Split(strings.Join(blocks, "\n\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(prefix+l, " ")
	}
	return strings.Join(lines, "\n")
}

// hanging puts a mark before blocks, and indents what follows by its width.
func hanging(mark string, blocks []string) string {
	if len(blocks) == 0 {
		return strings.TrimRight(mark, " ")
	}
	pad := strings.Repeat(" ", len(mark))
	lines := strings.Split(strings.Join(blocks, "\n\n"), "\n")
	for i, l := range lines {
		if i == 0 {
			lines[i] = mark + l
		} else if l != "" {
			lines[i] = pad + l
		}
	}
	return strings.Join(lines, "\n")
}

func number(n int) string { return strconv.Itoa(n) + ". " }

// fence is a block of code.
func fence(language string, lines []string) string {
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return ""
	}
	mark := "```"
	for _, l := range lines {
		for strings.Contains(l, mark) {
			mark += "`"
		}
	}
	return mark + language + "\n" + strings.Join(lines, "\n") + "\n" + mark
}

// code is text as code in a line.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	mark := "`"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	if mark != "`" || s == "" {
		return mark + " " + s + " " + mark
	}
	return mark + s + mark
}

// row is a line of a table.
func row(cells []string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, c := range cells {
		c = strings.Join(strings.Fields(c), " ")
		b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
	}
	return b.String()
}

// table is one of Markdown, its first row the head.
func table(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	out := make([]string, 0, len(rows)+1)
	for i, r := range rows {
		r = append(r[:len(r):len(r)], make([]string, width-len(r))...)
		out = append(out, row(r))
		if i == 0 {
			out = append(out, "|"+strings.Repeat(" --- |", width))
		}
	}
	return strings.Join(out, "\n")
}
