package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/stages/grade"
)

// measuring is whether coverage is asked for, and the file of an earlier result to compare it with.
type measuring struct {
	on      bool
	against string
}

// covered is how much of the code the tests run, for scripts.
type covered struct {
	// Unknown is why nothing is known of it; the figures are 0 then and say nothing.
	Unknown string  `json:"unknown,omitempty"`
	Lines   int     `json:"lines"` // that can run
	Ran     int     `json:"ran"`
	Share   float64 `json:"share"` // ran of lines, 0 to 1; 0 where there is none
	// Missing are the processes of tests that left no count, of Processes: what they ran is not in it.
	Missing   int           `json:"missing,omitempty"`
	Processes int           `json:"processes,omitempty"`
	Files     []coveredFile `json:"files"`
	Against   *compared     `json:"against,omitempty"`
}

type coveredFile struct {
	Path    string `json:"path"`
	Lines   int    `json:"lines"`
	Ran     int    `json:"ran"`
	Covered []int  `json:"covered"` // the lines that ran
	Missed  []int  `json:"missed"`  // lines that can run and did not
	// Prints tell the lines of the file from one another, so that a later run finds those that moved: base64 of 3
	// bytes each.
	Prints string `json:"prints"`
}

func coveredOf(got grade.Tried) *covered {
	c := got.Coverage
	out := covered{Unknown: c.Unknown, Missing: c.Missing, Processes: c.Processes, Files: []coveredFile{}}
	if got.Limit != "" {
		out.Unknown = "the run did not come to its end: " + string(got.Limit)
		return &out
	}
	for _, x := range c.Files {
		f := coveredFileOf(x, got.Tree)
		out.Files = append(out.Files, f)
		out.Lines, out.Ran = out.Lines+f.Lines, out.Ran+f.Ran
	}
	out.Share = share(out.Ran, out.Lines)
	return &out
}

func coveredFileOf(c lang.Coverage, in *tree.Tree) coveredFile {
	f := coveredFile{Path: c.Path, Lines: len(c.Lines), Ran: len(c.Ran), Covered: append([]int{}, c.Ran...), Missed: []int{}}
	ran := setOf(c.Ran)
	for _, n := range c.Lines {
		if !ran[n] {
			f.Missed = append(f.Missed, n)
		}
	}
	if e, ok := in.Entry(c.Path); ok {
		f.Prints = printsOf(string(e.Data))
	}
	return f
}

func share(ran, lines int) float64 {
	if lines == 0 {
		return 0
	}
	return float64(ran) / float64(lines)
}

func setOf(numbers []int) map[int]bool {
	out := map[int]bool{}
	for _, n := range numbers {
		out[n] = true
	}
	return out
}

// printBytes is how much of a line's digest is kept: 3 bytes are 4 characters of base64.
const printBytes = 3

func printsOf(text string) string {
	var all []byte
	for line := range strings.Lines(text) {
		sum := sha256.Sum256([]byte(strings.TrimRight(line, "\r\n")))
		all = append(all, sum[:printBytes]...)
	}
	return base64.StdEncoding.EncodeToString(all)
}

func (c *covered) show(t *printer) {
	if c.Unknown != "" {
		t.line("coverage   not known: %s", visible(c.Unknown))
		return
	}
	for _, f := range c.Files {
		line := fmt.Sprintf("%-40s %5d of %5d", visible(f.Path), f.Ran, f.Lines)
		if len(f.Missed) > 0 {
			line += "  without " + ranges(f.Missed)
		}
		t.line("%s", line)
	}
	if c.Missing > 0 {
		t.line("coverage   %d of %d processes of tests left no count: what they ran is missing", c.Missing, c.Processes)
	}
	t.line("coverage   %.1f %%: %d of %d lines", 100*c.Share, c.Ran, c.Lines)
	if c.Against != nil {
		c.Against.show(t)
	}
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
