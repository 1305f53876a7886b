package output

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math/bits"
	"slices"
	"strconv"
	"sync"
)

//go:embed plot.svg.tmpl
var plotText string

// plotTemplate is parsed where something is drawn: no start waits for it.
var plotTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("plot").Parse(plotText)) })

// plot is one drawing in whole pixels: equal numbers give equal bytes.
type plot struct {
	Title         string
	Width, Height int
	Bars          []plotBar
	Texts         []plotLabel
}

type plotBar struct {
	X, Y, W, H int
	Fill       string
}

type plotLabel struct {
	X, Y   int
	Anchor string // start, middle, end
	Text   string
}

const (
	plotBlue = "#4878a8"
	plotGrey = "#d0d7de"
)

func (p plot) svg() ([]byte, error) {
	var b bytes.Buffer
	if err := plotTemplate().Execute(&b, p); err != nil {
		return nil, fmt.Errorf("drawing %s: %w", p.Title, err)
	}
	return b.Bytes(), nil
}

// funnelPlot has one bar a level in the middle of the drawing, each a part of the one
// above it; what was lost is grey. Repositories are another unit: they are in the table.
func funnelPlot(lines []level) ([]byte, error) {
	const left, right, step, top = 250, 130, 26, 36
	lines = slices.DeleteFunc(slices.Clone(lines), func(l level) bool { return l.sources })
	p := plot{Title: "Funnel: from changes to tasks", Width: 720, Height: top + step*len(lines) + 10}
	most := 1
	for _, l := range lines {
		most = max(most, l.count)
	}
	const whole = 720 - left - right
	bar := func(n, y int, fill string) plotBar {
		w := n * whole / most
		return plotBar{left + (whole-w)/2, y, w, step - 8, fill}
	}
	for i, l := range lines {
		y := top + i*step
		if l.of > l.count {
			p.Bars = append(p.Bars, bar(l.of, y, plotGrey))
		}
		p.Bars = append(p.Bars, bar(l.count, y, plotBlue))
		text := strconv.Itoa(l.count)
		if s := l.share(); s != "" {
			text += " (" + s + ")"
		}
		p.Texts = append(p.Texts, plotLabel{left - 8, y + 13, "end", l.title}, plotLabel{left + whole + 6, y + 13, "start", text})
	}
	return p.svg()
}

// histogram has a bar for 0 and one for each power of two: the figures of tasks
// span four orders.
func histogram(title, unit string, values []int) ([]byte, error) {
	const step, top, tall, axis = 66, 66, 150, 20
	counts := make([]int, 1)
	for _, v := range values {
		k := bits.Len(uint(max(v, 0)))
		for len(counts) <= k {
			counts = append(counts, 0)
		}
		counts[k]++
	}
	first := 0
	for counts[first] == 0 { // some bar is not empty: there are values
		first++
	}
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	p := plot{Title: fmt.Sprintf("%s (%d tasks)", title, len(values)), Width: max(360, 24+step*(len(counts)-first)), Height: top + tall + 30 + axis}
	p.Texts = append(p.Texts, plotLabel{12, 42, "start", "tasks"}, plotLabel{p.Width / 2, top + tall + 16 + axis, "middle", unit + " of a task"})
	for k := first; k < len(counts); k++ {
		x, h := 12+step*(k-first), counts[k]*tall/most
		p.Texts = append(p.Texts, plotLabel{x + step/2, top + tall + 16, "middle", bin(k)})
		if counts[k] > 0 {
			p.Bars = append(p.Bars, plotBar{x + 3, top + tall - h, step - 6, h, plotBlue})
			p.Texts = append(p.Texts, plotLabel{x + step/2, top + tall - h - 4, "middle", strconv.Itoa(counts[k])})
		}
	}
	return p.svg()
}

// bin names the values of one bar.
func bin(k int) string {
	if k <= 1 {
		return strconv.Itoa(k)
	}
	low, high := 1<<(k-1), 1<<k-1
	return short(low) + "–" + short(high)
}

func short(n int) string {
	switch {
	case n+1 >= 1<<20:
		return strconv.Itoa((n+1)>>20) + "M"
	case n+1 >= 1<<13:
		return strconv.Itoa((n+1)>>10) + "k"
	}
	return strconv.Itoa(n)
}
