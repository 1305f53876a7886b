package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/classify"
)

const labelsKey = "filters.labels"

// widens are the settings that let through what a filter left out, with its reasons. isWide
// says that the configuration does so already. shared says that other rules than the filter
// reject with these reasons, too: a preset, a group that a source asks for.
var widens = []struct {
	key, value string
	reasons    []schemas.Reason
	isWide     func(*config.Config) bool
	shared     bool
}{
	{"filters.modifies_only", "false", []schemas.Reason{schemas.AddsFunctions, schemas.DropsFunctions, schemas.UnreadSource}, func(c *config.Config) bool { return !c.Filters.ModifiesOnly }, false},
	{labelsKey, "", []schemas.Reason{schemas.OtherLabel}, func(c *config.Config) bool { return len(c.Filters.Labels) == len(schemas.Labels) }, false},
	{"filters.max_source_lines", "0", []schemas.Reason{schemas.TooLarge}, func(c *config.Config) bool { return c.Filters.MaxSourceLines == 0 }, false},
	{"filters.thin", "true", []schemas.Reason{schemas.ThinStatement}, func(c *config.Config) bool { return c.Filters.Thin }, false},
	{"filters.unnoticed", "true", []schemas.Reason{schemas.NoneNoticing}, func(c *config.Config) bool { return c.Filters.Unnoticed }, false},
	{"filters.min_noticed", "0", []schemas.Reason{schemas.FewNoticing}, func(c *config.Config) bool { return c.Filters.MinNoticed == 0 }, false},
	{"filters.min_releases", "0", []schemas.Reason{schemas.FewReleases}, func(c *config.Config) bool { return c.Filters.MinReleases == 0 }, true},
	{"filters.licences", "", []schemas.Reason{schemas.BadLicence}, func(c *config.Config) bool { return len(c.Filters.Licences) == 0 }, false},
	{"service.min_endpoints", "1", []schemas.Reason{schemas.SmallGroup}, func(c *config.Config) bool { return c.Service.MinEndpoints <= 1 }, true},
}

// letThrough is the setting that lets a rejected item through by now, "" where none does: the
// item was rejected under other settings.
func letThrough(c *config.Config, end schemas.Step) string {
	for _, w := range widens {
		label, _, _ := strings.Cut(end.Detail, ": ")
		kept := w.isWide(c) || w.key == labelsKey && slices.Contains(c.Filters.Labels, label)
		if kept && !w.shared && slices.Contains(w.reasons, end.Reason) {
			return w.key
		}
	}
	return ""
}

// filtered is what one filter left out, and the settings that let it through.
type filtered struct {
	key   string
	n     int
	split string // by label
	ways  []way
}

// way is one setting, and how many more items it has tried.
type way struct {
	set   string
	n     int
	after string // the stage that left them out
}

// filters are those that left something out and can be widened, the dearest first.
func filters(c *config.Config, s pipeline.Summary, st labelled) ([]filtered, error) {
	var out []filtered
	for _, w := range widens {
		f := filtered{key: w.key}
		after := ""
		for _, count := range s.Stages {
			for _, r := range w.reasons {
				if n := count.Rejected[r]; n > 0 {
					f.n, after = f.n+n, count.Stage
				}
			}
		}
		if f.n == 0 || w.isWide(c) {
			continue
		}
		f.ways = []way{{w.key + "=" + w.value, f.n, after}}
		if w.key == labelsKey {
			if err := f.byLabel(c.Filters.Labels, st); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b filtered) int { return cmp.Compare(b.n, a.n) })
	return out, nil
}

// labelled gives the steps of a stage; a store does.
type labelled interface {
	Steps(stage string) ([]schemas.Step, error)
}

// byLabel splits what the label filter left out by its labels, each with a setting of its own.
func (f *filtered) byLabel(kept []string, st labelled) error {
	steps, err := st.Steps(stages.Classify)
	if err != nil {
		return err
	}
	by, unsaid := map[string]int{}, 0
	for _, step := range steps {
		if step.Reason == schemas.OtherLabel {
			label, why, _ := strings.Cut(step.Detail, ": ")
			by[label]++
			if why == classify.Unsaid {
				unsaid++
			}
		}
	}
	f.ways = nil
	var parts []string
	for _, l := range schemas.Labels {
		n := by[string(l)]
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, l)
		if l == schemas.LabelOther && unsaid > 0 {
			part += fmt.Sprintf(" (%d of them without any label words)", unsaid)
		}
		parts = append(parts, part)
		f.ways = append(f.ways, way{labelsKey + "=" + strings.Join(append(slices.Clone(kept), string(l)), ","), n, stages.Classify})
	}
	f.split = ": " + strings.Join(parts, ", ")
	slices.SortStableFunc(f.ways, func(a, b way) int { return cmp.Compare(b.n, a.n) })
	return nil
}

// widenings are the lines on filters that a run ends with: on the one that left out the most,
// and on all of them where no row came of the run.
func widenings(ctx context.Context, c *config.Config, s pipeline.Summary, st *shelf, rows int) (lines [][2]string, err error) {
	all, err := filters(c, s, st)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	counts, err := st.funnel(ctx)
	if err != nil {
		return nil, err
	}
	most := ", the most of all filters"
	for _, f := range all {
		lines = append(lines, [2]string{"filter", fmt.Sprintf("%s left out %d%s%s", f.key, f.n, most, f.split)})
		for _, w := range f.ways {
			lines = append(lines, [2]string{"widen", w.line(counts, c.Proof.Parallel)})
		}
		if most = ""; rows > 0 {
			break
		}
	}
	return lines, nil
}

func (w way) line(counts []tally, parallel int) string {
	at, last := slices.Index(stages.Order, w.after), slices.Index(stages.Order, stages.LastWithoutSandbox)
	switch {
	case at > last: // they were tried
		return fmt.Sprintf("--set %s would keep up to %d more", w.set, w.n)
	case w.after == stages.Crawl:
		return fmt.Sprintf("--set %s would read the changes of %s", w.set, plural(w.n, "more source"))
	}
	line := fmt.Sprintf("--set %s would try %d more", w.set, w.n)
	if at < last { // other filters come behind
		line = fmt.Sprintf("--set %s would try up to %d more", w.set, w.n)
	}
	if took, ok := more(counts, parallel, w.after, w.n); ok {
		line += ", about " + took.Round(time.Second).String()
	}
	return line
}

// more is what n further items take that come through a stage, by what the stages behind it
// took so far.
func more(counts []tally, parallel int, after string, n int) (time.Duration, bool) {
	to := stages.FirstCommon
	if after == stages.Classify {
		to = stages.Resolve
	}
	counts = slices.Clone(counts)
	for i := range counts {
		counts[i].Open = 0
		if counts[i].Stage == to {
			counts[i].Open = n
		}
	}
	return timeLeft(counts, parallel)
}
