package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/formats"
)

// judged is a dataset that clients are asked of.
type judged struct {
	d    *output.Dataset
	rows []output.Row
	bad  bool // something does not hold
	all  []checkedFormat
}

// checkedFormat is the end of one format for scripts.
type checkedFormat struct {
	formats.Result
	Judged *verify.Judged `json:"judged,omitempty"`
	Opened *verify.Result `json:"opened,omitempty"`
}

// exportChecked writes each format, into a temporary folder where none is named, and has
// its own client open it.
func (p *program) exportChecked(ctx context.Context, c *config.Config, f formatFlags, to []written, j *judged) error {
	if err := p.useCache(ctx); err != nil {
		return &ended{exitUsage, err}
	}
	o := verify.Options{Cache: p.cache, Env: p.environ, Say: p.say, Jobs: c.Proof.Parallel}
	var m *imageMaker
	if judges([]string{to[0].client}) {
		var err error
		if m, err = p.openImages(ctx, c, j.rows); err != nil {
			return err
		}
		defer func() { _ = m.close() }() // the engine keeps what was made
	}
	for _, one := range to {
		if err := verify.Ready(ctx, one.client, o); err != nil {
			return noClient(err)
		}
	}
	for _, one := range to {
		if err := p.check(ctx, f, one, m, j, o); err != nil {
			return noClient(err)
		}
	}
	if p.json {
		if err := p.writeJSON(j.all); err != nil {
			return err
		}
	}
	if j.bad {
		return &ended{code: exitFailed}
	}
	return nil
}

// noClient is an end of its own for what this machine lacks.
func noClient(err error) error {
	if errors.Is(err, verify.ErrNoClient) || errors.Is(err, verify.ErrNoTool) {
		return &ended{exitUsage, err}
	}
	return err
}

// check writes one format and asks its client.
func (p *program) check(ctx context.Context, f formatFlags, one written, m *imageMaker, j *judged, o verify.Options) error {
	dir := f.to
	if dir == "" {
		fresh, err := os.MkdirTemp("", "benchmint-format-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(fresh) }()
		dir = filepath.Join(fresh, one.Name())
	}
	var r checkedFormat
	var err error
	if r.Result, err = exported(dir, j.d, one.Format); err != nil {
		return err
	}
	if m == nil {
		err = p.loaded(ctx, &r, dir, one.client, j, o)
	} else {
		err = p.judge(ctx, &r, dir, one, m, j, o)
	}
	j.all = append(j.all, r)
	return err
}

// loaded loads rows with the code that a format is read by: Hugging Face datasets, or Commit0's
// harness.
func (p *program) loaded(ctx context.Context, r *checkedFormat, dir, client string, j *judged, o verify.Options) error {
	open := func(split string) (verify.Result, error) {
		if client == verify.Commit0Name {
			return verify.Commit0(ctx, dir, split, o)
		}
		return verify.HuggingFace(ctx, dir, split, append(verify.Formats[:len(verify.Formats):len(verify.Formats)], verify.Lists), o)
	}
	r.Opened = &verify.Result{}
	for _, s := range j.d.Manifest.Splits {
		seen, err := open(s.Name)
		if err != nil {
			return err
		}
		r.Opened.Client, r.Opened.Rows, r.Opened.Formats = seen.Client, r.Opened.Rows+seen.Rows, append(r.Opened.Formats, seen.Formats...)
	}
	j.bad = j.bad || !r.Opened.Equal()
	if p.json {
		return nil
	}
	if err := p.printFormat(r.Result); err != nil {
		return err
	}
	t := p.out()
	printVerified(t, *r.Opened)
	return t.err
}

// judge makes the images, and has the client judge every task that has one.
func (p *program) judge(ctx context.Context, r *checkedFormat, dir string, one written, m *imageMaker, j *judged, o verify.Options) error {
	tasks, err := formats.Judged(j.d, one)
	if err != nil {
		return err
	}
	faults, err := p.imagesFor(ctx, m, j, tasks)
	if err != nil {
		return err
	}
	have := slices.DeleteFunc(slices.Clone(tasks), func(t verify.Task) bool { return faults[t.ID] != "" })
	if 0 < len(have) && len(have) < len(tasks) { // a client takes a folder as a whole
		part, err := os.MkdirTemp("", "benchmint-format-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(part) }()
		dir = filepath.Join(part, one.Name())
		if _, err := formats.Export(dir, j.d, formats.Without(one, faults)); err != nil {
			return err
		}
	}
	r.Judged = &verify.Judged{Client: one.client}
	if len(have) > 0 {
		if *r.Judged, err = verify.Judge(ctx, one.client, dir, have, o); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		for _, c := range verify.CasesOf(one.client) {
			if why := faults[t.ID]; why != "" {
				r.Judged.Verdicts = append(r.Judged.Verdicts, verify.Verdict{ID: t.ID, Case: c, Fault: why})
			}
		}
	}
	for _, v := range r.Judged.Verdicts {
		j.bad = j.bad || !v.Holds()
	}
	if p.json {
		return nil
	}
	if err := p.printFormat(r.Result); err != nil {
		return err
	}
	return p.printJudged(*r.Judged, one.client, len(tasks))
}

// imagesFor makes the images of tasks; where one cannot be had it says why.
func (p *program) imagesFor(ctx context.Context, m *imageMaker, j *judged, tasks []verify.Task) (map[string]string, error) {
	faults := map[string]string{}
	for n, t := range tasks {
		row, err := j.d.Row(t.ID)
		if err != nil {
			return nil, err
		}
		p.say("image %d of %d: %s", n+1, len(tasks), visible(t.ID))
		i, err := m.of(ctx, j.d, row)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			faults[t.ID] = "no image: " + tail(err.Error(), 5)
		case len(i.Findings) > 0:
			faults[t.ID] = "no image: rule " + string(i.Findings[0].Rule) + ": " + i.Findings[0].Detail
		}
	}
	return faults, nil
}

// wants says what a client has to find of each case.
var wants = map[verify.Case]string{verify.Gold: "resolved", verify.Nop: "not resolved", verify.Forged: "not resolved"}

func (p *program) printJudged(j verify.Judged, client string, tasks int) error {
	t := p.out()
	for _, c := range verify.CasesOf(client) {
		hold, faults := j.Count(c)
		color := green
		if hold < tasks {
			color = red
		}
		line := t.in(color, fmt.Sprintf("%d of %d", hold, tasks)) + " " + wants[c]
		if faults > 0 {
			line += fmt.Sprintf(", %s without a verdict", plural(faults, "task"))
		}
		t.line("%-8s  %s (%s)", c, line, j.Client)
	}
	for _, v := range j.Verdicts {
		switch {
		case v.Fault != "":
			t.line("  %s  %s: %s", v.ID, v.Case, visible(v.Fault))
		case !v.Holds() && v.Resolved:
			t.line("  %s  %s is resolved", v.ID, v.Case)
		case !v.Holds():
			t.line("  %s  %s is not resolved", v.ID, v.Case)
		}
	}
	return t.err
}
