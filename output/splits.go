package output

import "github.com/benchmint/benchmint/schemas"

// Splits of libraries by rule. All has every task, of other kinds too.
const (
	All  = "all"
	Lite = "lite"
)

// Splits are their names.
func Splits() []string { return []string{Lite, All} }

// LiteFunctions is the most functions that are to be written in a library of Lite: what a
// solver can come through in one sitting. Whole files of larger libraries do not fit a context.
const LiteFunctions = 200

// In reports whether a row is in a split of Splits. library.taken of the row decides.
func (r Row) In(split string) bool {
	switch l := r.Benchmint.Library; split {
	case All:
		return true
	case Lite:
		return r.Benchmint.Kind == schemas.KindLibrary && l != nil && l.Taken <= LiteFunctions
	}
	return false
}

// Only is the dataset with the rows of a split of Splits alone, for what is written of it in
// another form. The folder stays as it is.
func (d *Dataset) Only(split string) *Dataset {
	out := *d
	out.Rows = nil
	tasks := map[string]int{}
	for _, row := range d.Rows {
		if row.In(split) {
			out.Rows = append(out.Rows, row)
			tasks[row.File]++
		}
	}
	out.Manifest.Splits = nil
	for _, s := range d.Manifest.Splits {
		s.Tasks = tasks[dataPath(s.Name)]
		out.Manifest.Splits = append(out.Manifest.Splits, s)
	}
	return &out
}
