package contamination

import (
	"fmt"
	"slices"
	"strings"
)

// cells are the columns of a row that its family wants, as text. A column within another one is outer.inner; several
// values of a list are joined by blank lines.
type cells map[string]string

// family is a form of rows, recognised by its columns.
type family struct {
	name  string
	needs []string // columns that all are there
	not   []string // columns of which none is there
	wants []string // columns that read uses, beside needs
	read  func(cells) (Task, error)
}

// families are asked in this order. A new one is a file with a line here.
var families = []family{own, multiSWEBench, multiSWEBenchFlat, r2e, commit0, sweSmith, sweBench}

// familyOf recognises rows by their columns. The error names the columns and the nearest family.
func familyOf(columns []string) (family, error) {
	nearest, lacks, most := family{}, []string(nil), 0
	for _, f := range families {
		var missing []string
		for _, n := range f.needs {
			if !slices.Contains(columns, n) {
				missing = append(missing, n)
			}
		}
		if len(missing) == 0 && !slices.ContainsFunc(f.not, func(n string) bool { return slices.Contains(columns, n) }) {
			return f, nil
		}
		if has := len(f.needs) - len(missing); has > most || has == most && len(missing) < len(lacks) {
			nearest, lacks, most = f, missing, has
		}
	}
	columns = slices.Sorted(slices.Values(columns))
	text := "its columns are " + strings.Join(columns[:min(30, len(columns))], ", ")
	if len(lacks) > 0 {
		text += fmt.Sprintf("; the nearest is %s, which also has %s", nearest.name, strings.Join(lacks, ", "))
	}
	return family{}, fmt.Errorf("%s", text)
}

// columns are all that a family reads.
func (f family) columns() []string { return slices.Concat(f.needs, f.wants) }

// first is the first text that is not empty.
func (c cells) first(names ...string) string {
	for _, n := range names {
		if c[n] != "" {
			return c[n]
		}
	}
	return ""
}
