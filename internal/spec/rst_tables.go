package spec

import (
	"encoding/csv"
	"slices"
	"strings"
)

// maxColumns bounds the columns of a table.
const maxColumns = 64

// cell is the text of a cell on one line.
func (p *page) cell(lines []string) string {
	blocks := p.deeper(lines)
	for i, b := range blocks {
		if strings.HasPrefix(b, "```") {
			inner := strings.Split(b, "\n")
			blocks[i] = code(strings.Join(inner[1:len(inner)-1], " "))
		}
	}
	return strings.Join(blocks, " ")
}

// simple is a table whose columns are below rulers.
func (p *page) simple(lines []string, i int) ([]string, int) {
	var from []int
	for at := range lines[i] {
		if lines[i][at] == '=' && (at == 0 || lines[i][at-1] == ' ') {
			from = append(from, at)
		}
	}
	from = from[:min(len(from), maxColumns)]
	var rows [][][]string
	rulers, end, head := 1, i+1, 0
	for ; end < len(lines); end++ {
		l := lines[end]
		if simpleTable.MatchString(l) {
			rulers++
			if end+1 >= len(lines) || blank(lines[end+1]) {
				end++
				break
			}
			head = len(rows)
			continue
		}
		if blank(l) || strings.Trim(l, "- ") == "" {
			continue
		}
		cells := columns(l, from)
		if len(rows) > 0 && len(rows) != head && blank(cells[0]) {
			last := rows[len(rows)-1]
			for c := range cells {
				last[c] = append(last[c], cells[c])
			}
			continue
		}
		cellLines := make([][]string, len(cells))
		for c := range cells {
			cellLines[c] = []string{cells[c]}
		}
		rows = append(rows, cellLines)
	}
	if rulers < 2 {
		return []string{fence("text", lines[i:end])}, end
	}
	return []string{p.cells(rows, head > 0)}, end
}

// columns cuts a line at places; a cut within a character goes before it.
func columns(l string, from []int) []string {
	runes := []rune(l)
	out := make([]string, len(from))
	for c, at := range from {
		end := len(runes)
		if c+1 < len(from) {
			end = min(from[c+1], len(runes))
		}
		if at < end {
			out[c] = strings.TrimRight(string(runes[at:end]), " ")
		}
	}
	return out
}

// cells makes a table of the lines of its cells.
func (p *page) cells(rows [][][]string, head bool) string {
	var out [][]string
	if !head && len(rows) > 0 {
		out = append(out, make([]string, len(rows[0])))
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for c := range r {
			cells[c] = p.cell(r[c])
		}
		out = append(out, cells)
	}
	return table(out)
}

// grid is a table drawn with lines. One whose cells span others is given as it stands.
func (p *page) grid(lines []string, i int) ([]string, int) {
	end := i
	for end < len(lines) && (strings.HasPrefix(lines[end], "+") || strings.HasPrefix(lines[end], "|")) {
		end++
	}
	drawn := lines[i:end]
	var bars []int
	for at, r := range []rune(drawn[0]) {
		if r == '+' {
			bars = append(bars, at)
		}
	}
	if len(bars) > maxColumns {
		return []string{fence("text", drawn)}, end
	}
	var rows [][][]string
	head := 0
	current := make([][]string, len(bars)-1)
	for n, l := range drawn[1:] {
		runes := []rune(l)
		if len(runes) <= bars[len(bars)-1] || slices.ContainsFunc(bars, func(b int) bool { return !strings.ContainsRune("+|", runes[b]) }) {
			return []string{fence("text", drawn)}, end
		}
		if gridTable.MatchString(l) {
			rows = append(rows, current)
			current = make([][]string, len(bars)-1)
			if strings.Contains(l, "=") && n < len(drawn)-2 {
				head = len(rows)
			}
			continue
		}
		if runes[0] == '+' {
			return []string{fence("text", drawn)}, end
		}
		for c := range current {
			current[c] = append(current[c], strings.TrimRight(string(runes[bars[c]+1:bars[c+1]]), " "))
		}
	}
	return []string{p.cells(rows, head > 0)}, end
}

// listTable is a table written as a list of lists.
func (p *page) listTable(title string, o options, body []string) []string {
	var rows [][][]string
	for i := 0; i < len(body); {
		if !strings.HasPrefix(body[i], "*") && !strings.HasPrefix(body[i], "-") {
			i++
			continue
		}
		rest, next := indented(body, i+1)
		inner := dedent(append([]string{" " + body[i][1:]}, rest...))
		i = next
		var cells [][]string
		for j := 0; j < len(inner) && len(cells) < maxColumns; {
			if m := bulletLine.FindString(inner[j]); m != "" {
				more, after := indented(inner, j+1)
				cells = append(cells, append([]string{inner[j][len(m):]}, dedent(more)...))
				j = after
				continue
			}
			j++
		}
		rows = append(rows, cells)
	}
	return captioned(p.inline(title), p.cells(rows, o["header-rows"] != "" && o["header-rows"] != "0"))
}

// csvTable is a table of comma-separated values; one in a file of its own is left out.
func (p *page) csvTable(title string, o options, body []string) []string {
	r := csv.NewReader(strings.NewReader(strings.Join(body, "\n")))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	if d := o["delim"]; len(d) == 1 {
		r.Comma = rune(d[0])
	}
	records, err := r.ReadAll()
	if err != nil {
		return []string{fence("text", body)}
	}
	var rows [][][]string
	if h := o["header"]; h != "" {
		if head, err := csv.NewReader(strings.NewReader(h)).Read(); err == nil {
			records = append([][]string{head}, records...)
		}
	}
	for _, record := range records {
		cells := make([][]string, min(len(record), maxColumns))
		for c := range cells {
			cells[c] = strings.Split(record[c], "\n")
		}
		rows = append(rows, cells)
	}
	return captioned(p.inline(title), p.cells(rows, o["header"] != "" || o["header-rows"] != ""))
}

func captioned(title, block string) []string {
	if title == "" {
		return []string{block}
	}
	return []string{bold(title), block}
}
