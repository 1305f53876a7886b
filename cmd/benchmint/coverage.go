package main

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

// covered is how much of the code the tests run, for scripts.
type covered struct {
	Lines int           `json:"lines"` // that can run
	Ran   int           `json:"ran"`
	Share float64       `json:"share"` // ran of lines, 0 to 1; 0 where there is none
	Files []coveredFile `json:"files"`
}

type coveredFile struct {
	Path   string `json:"path"`
	Lines  int    `json:"lines"`
	Ran    int    `json:"ran"`
	Missed []int  `json:"missed"` // lines that can run and did not
}

func coveredOf(files []lang.Coverage) *covered {
	out := covered{Files: []coveredFile{}}
	for _, c := range files {
		ran := map[int]bool{}
		for _, n := range c.Ran {
			ran[n] = true
		}
		f := coveredFile{Path: c.Path, Lines: len(c.Lines), Ran: len(c.Ran), Missed: []int{}}
		for _, n := range c.Lines {
			if !ran[n] {
				f.Missed = append(f.Missed, n)
			}
		}
		out.Files = append(out.Files, f)
		out.Lines, out.Ran = out.Lines+f.Lines, out.Ran+f.Ran
	}
	if out.Lines > 0 {
		out.Share = float64(out.Ran) / float64(out.Lines)
	}
	return &out
}

func (c *covered) show(t *printer) {
	if len(c.Files) == 0 {
		t.line("coverage   not known: no test came to its end")
		return
	}
	for _, f := range c.Files {
		line := fmt.Sprintf("%-40s %5d of %5d", visible(f.Path), f.Ran, f.Lines)
		if len(f.Missed) > 0 {
			line += "  without " + ranges(f.Missed)
		}
		t.line("%s", line)
	}
	t.line("coverage   %.1f %%: %d of %d lines", 100*c.Share, c.Ran, c.Lines)
}

// ranges writes sorted numbers as 3-5, 9.
func ranges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprint(numbers[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}
