package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/formats"
)

// checker writes a dataset in formats, and asks clients of it.
type checker struct {
	*terminal
	d       *output.Dataset
	to      string // folder; "" is a temporary one
	images  *imageMaker
	options verify.Options
	bad     bool // something does not hold
	all     []checkedFormat
}

// checkedFormat is the end of one format for scripts.
type checkedFormat struct {
	formats.Result
	Judged *verify.Judged `json:"judged,omitempty"`
	Opened *verify.Result `json:"opened,omitempty"`
}

// exportChecked writes each format, into a temporary folder where none is named, and has
// its own client open it.
func (m machine) exportChecked(ctx context.Context, f formatFlags, to []written, d *output.Dataset, rows []output.Row) error {
	if err := m.useCache(ctx); err != nil {
		return &ended{exitUsage, err}
	}
	j := &checker{terminal: m.terminal, d: d, to: f.to, options: m.clients()}
	if judges([]string{to[0].client}) {
		var err error
		if j.images, err = m.openImages(ctx, rows); err != nil {
			return err
		}
		defer func() { _ = j.images.close() }() // the engine keeps what was made
	}
	for _, one := range to {
		if err := verify.Ready(ctx, one.client, j.options); err != nil {
			return noClient(err)
		}
	}
	for _, one := range to {
		if err := j.check(ctx, one); err != nil {
			return noClient(err)
		}
	}
	if m.json {
		if err := m.writeJSON(j.all); err != nil {
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
func (j *checker) check(ctx context.Context, one written) error {
	dir := j.to
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
	if j.images == nil {
		err = j.loaded(ctx, &r, dir, one.client)
	} else {
		err = j.judge(ctx, &r, dir, one)
	}
	j.all = append(j.all, r)
	return err
}

// loaded loads rows with the code that a format is read by: Hugging Face datasets, or Commit0's
// harness.
func (j *checker) loaded(ctx context.Context, r *checkedFormat, dir, client string) error {
	open := func(split string) (verify.Result, error) {
		if client == verify.Commit0Name {
			return verify.Commit0(ctx, dir, split, j.options)
		}
		return verify.HuggingFace(ctx, dir, split, append(verify.Formats[:len(verify.Formats):len(verify.Formats)], verify.Lists), j.options)
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
	if j.json {
		return nil
	}
	if err := printFormat(j.terminal, r.Result); err != nil {
		return err
	}
	t := j.out()
	printVerified(t, *r.Opened)
	return t.err
}

// judge makes the images, and has the client judge every task that has one.
func (j *checker) judge(ctx context.Context, r *checkedFormat, dir string, one written) error {
	tasks, err := formats.Judged(j.d, one)
	if err != nil {
		return err
	}
	faults, err := j.imagesFor(ctx, tasks)
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
		if *r.Judged, err = verify.Judge(ctx, one.client, dir, have, j.options); err != nil {
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
	if j.json {
		return nil
	}
	if err := printFormat(j.terminal, r.Result); err != nil {
		return err
	}
	return j.printJudged(*r.Judged, one.client, len(tasks))
}

// imagesFor makes the images of tasks; where one cannot be had it says why.
func (j *checker) imagesFor(ctx context.Context, tasks []verify.Task) (map[string]string, error) {
	faults := map[string]string{}
	for n, t := range tasks {
		row, err := j.d.Row(t.ID)
		if err != nil {
			return nil, err
		}
		j.say("image %d of %d: %s", n+1, len(tasks), visible(t.ID))
		made, err := j.images.of(ctx, j.d, row)
		switch f := against(made); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			faults[t.ID] = "no image: " + tail(err.Error(), 5)
		case f != nil:
			faults[t.ID] = "no image: rule " + string(f.Rule) + ": " + f.Detail
		}
	}
	return faults, nil
}

// wants says what a client has to find of each case.
var wants = map[verify.Case]string{verify.Gold: "resolved", verify.Nop: "not resolved", verify.Forged: "not resolved"}

func (j *checker) printJudged(all verify.Judged, client string, tasks int) error {
	t := j.out()
	for _, c := range verify.CasesOf(client) {
		hold, faults := all.Count(c)
		color := green
		if hold < tasks {
			color = red
		}
		line := t.in(color, fmt.Sprintf("%d of %d", hold, tasks)) + " " + wants[c]
		if faults > 0 {
			line += fmt.Sprintf(", %s without a verdict", plural(faults, "task"))
		}
		t.line("%-8s  %s (%s)", c, line, all.Client)
	}
	for _, v := range all.Verdicts {
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
