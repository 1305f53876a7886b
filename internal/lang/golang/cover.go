package golang

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Coverer = Language{}

// Cover is Reach: a test that panics keeps no other from being measured.
func (l Language) Cover(r schemas.Recipe, t lang.Tree, _ lang.Select, tests []lang.Test, _ []string) ([]recipe.TestRun, bool) {
	return l.Reach(r, t, tests, nil)
}

// Covered reads the blocks of the profiles: the lines of a block run where it does.
func (Language) Covered(_ schemas.Recipe, out []lang.Output) []lang.Coverage {
	lines := map[string]map[int]bool{} // by path: whether a line ran
	for _, o := range out {
		l := layoutOf(o.Tree)
		for scan := bufio.NewScanner(bytes.NewReader(o.Report)); scan.Scan(); {
			b, ok := blockOf(scan.Text())
			dir, own := l.dir(path.Dir(b.file))
			if !ok || !own {
				continue
			}
			p := path.Join(dir, path.Base(b.file))
			if lines[p] == nil {
				lines[p] = map[int]bool{}
			}
			for n := b.from; n <= b.to; n++ {
				lines[p][n] = lines[p][n] || b.ran
			}
		}
	}
	var all []lang.Coverage
	for p, of := range lines {
		c := lang.Coverage{Path: p}
		for n, ran := range of {
			if c.Lines = append(c.Lines, n); ran {
				c.Ran = append(c.Ran, n)
			}
		}
		slices.Sort(c.Lines)
		slices.Sort(c.Ran)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b lang.Coverage) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// block is one line of a profile: example.com/m/pkg/file.go:3.24,5.2 1 1
type block struct {
	file     string // by import path
	from, to int
	ran      bool
}

// mostLines bounds the lines of a block: a profile is written by the tests' own process.
const mostLines = 1 << 20

func blockOf(line string) (block, bool) {
	place, counts, ok := strings.Cut(line, " ")
	i := strings.LastIndexByte(place, ':')
	if !ok || i < 0 {
		return block{}, false
	}
	from, to, ok := strings.Cut(place[i+1:], ",")
	from, _, dotted := strings.Cut(from, ".")
	to, _, dottedToo := strings.Cut(to, ".")
	b := block{file: place[:i], ran: !strings.HasSuffix(counts, " 0")}
	var errs [2]error
	b.from, errs[0] = strconv.Atoi(from)
	b.to, errs[1] = strconv.Atoi(to)
	return b, ok && dotted && dottedToo && errs[0] == nil && errs[1] == nil && b.from > 0 && b.to-b.from < mostLines
}
