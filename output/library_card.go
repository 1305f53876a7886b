package output

import (
	"bytes"
	"fmt"
)

// libraryMetrics are what the card says of libraries: the four panels of Commit0's Figure 2, and what else a row knows. A
// specification is counted in words, and not in tokens, which differ from model to model.
var libraryMetrics = []struct {
	name, title, unit string
	of                func(Row) int
}{
	{"library_tests", "Tests that count", "tests", func(r Row) int {
		return len(r.FailToPass) + r.Benchmint.Library.Counted.Want(r.PassToPass)
	}},
	{"library_specification", "Specification: words", "words", func(r Row) int {
		if s := r.Benchmint.Library.Specification; s != nil {
			return s.Words
		}
		return 0
	}},
	{"library_files", "Source files at base", "source files", func(r Row) int { return r.Benchmint.Statistics.RepositoryFiles }},
	{"library_functions", "Functions to write", "functions", func(r Row) int { return r.Benchmint.Library.Taken }},
	{"library_lines", "Lines of their bodies", "lines", func(r Row) int { return r.Benchmint.Library.Lines - r.Benchmint.Library.Left }},
}

// libraryTally is a section of a card: on whole libraries, or on slices of them.
type libraryTally struct {
	slices  bool
	figures [][]int // by libraryMetrics
	listed  []listedLibrary
}

// listedLibrary is a library as the card lists it.
type listedLibrary struct {
	id, source, coverage string
	zeroWork             float64
	figures              []int
}

func newLibraryTally(slices bool) *libraryTally {
	return &libraryTally{slices: slices, figures: make([][]int, len(libraryMetrics))}
}

func (t *libraryTally) add(r Row) {
	x := r.Benchmint.Library
	if x == nil || (x.Slice != nil) != t.slices {
		return
	}
	one := listedLibrary{id: r.InstanceID, zeroWork: x.ZeroWork}
	if x.Specification != nil {
		one.source = x.Specification.Source
	}
	if x.Coverage != nil {
		one.coverage = fmt.Sprintf("%.1f %%", 100*x.Coverage.Share)
	}
	for i, m := range libraryMetrics {
		n := m.of(r)
		t.figures[i], one.figures = append(t.figures[i], n), append(one.figures, n)
	}
	if len(t.listed) < tableRows {
		t.listed = append(t.listed, one)
	}
}

// print writes the section; nothing where there are no libraries.
func (t *libraryTally) print(b *bytes.Buffer) {
	n := len(t.figures[0])
	if n == 0 {
		return
	}
	title := "## Libraries\n\nThe solver writes the bodies of all functions. The first four figures are those of Figure 2 of Commit0's paper."
	if t.slices {
		title = "## Slices of libraries\n\nThe solver writes the bodies of some functions of a library."
	}
	fmt.Fprintf(b, "\n%s\n\n%s", title, statisticsHead)
	for i, m := range libraryMetrics {
		statistic(m.name, t.figures[i]).line(b, m.title)
	}
	fmt.Fprintf(b, "\n| Library | Functions | Lines | Tests | Pass with nothing done | Coverage of the suite | Specification |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, l := range t.listed {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.1f %% | %s | %s, %d words |\n", plain(l.id), l.figures[3], l.figures[4], l.figures[0], 100*l.zeroWork, l.coverage, l.source, l.figures[1])
	}
	if more := n - len(t.listed); more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", more)
	}
	if t.slices {
		return
	}
	fmt.Fprintln(b)
	for _, m := range libraryMetrics {
		fmt.Fprintf(b, "![%s](%s)\n", m.title, plotPath(m.name))
	}
}

// plots draws the distribution of each figure; nothing where there are no libraries.
func (t *libraryTally) plots(into map[string][]byte) error {
	for i, m := range libraryMetrics {
		if len(t.figures[i]) == 0 {
			return nil
		}
		b, err := histogram(m.title, m.unit, t.figures[i])
		if err != nil {
			return err
		}
		into[plotPath(m.name)] = b
	}
	return nil
}
