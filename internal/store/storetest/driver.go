// Package storetest is the conformance suite of the step table: what it promises.
//
// It never runs a stage: a test says itself what each step comes to.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Driver works on one store by hand: it claims, settles, and reports what it sees.
type Driver struct {
	T   testing.TB
	Dir string // of the store
	*store.Store
	Owner   string
	Options store.Options
	Plan    []pipeline.StageInfo
	// Do says what a step comes to; nil is Default.
	Do func(pipeline.Claim) pipeline.Settlement
	// Ran are the steps that were run, "stage/key", since the last Runs.
	Ran []string
}

// Plan is the plan of the suite: grow expands, trim takes some of what it made and note
// the others with what trim made, make shares builds, judge reads what grow and trim made,
// pack drains.
func Plan() []pipeline.StageInfo {
	info := func(name string, next ...string) pipeline.StageInfo {
		return pipeline.StageInfo{Name: name, Next: next, Fingerprint: schemas.Digest(name + " 1")}
	}
	grow, trim, note := info("grow", "trim", "note"), info("trim", "note"), info("note", "make")
	build, share, judge, pack := info("make.build"), info("make", "judge"), info("judge", "pack"), info("pack")
	build.Of, share.Build = "make", "make.build"
	judge.Reads = []string{"grow", "trim"}
	pack.Drain = true
	return []pipeline.StageInfo{grow, trim, note, build, share, judge, pack}
}

// Takers are the stages that take what a stage of the plan made of a text: trim takes
// those that begin with ~, trim and note those that begin with +.
func Takers(stage, text string) []string {
	switch {
	case stage != "grow":
		return map[string][]string{"trim": {"note"}, "note": {"make"}, "make": {"judge"}, "judge": {"pack"}, "make.build": {""}}[stage]
	case strings.HasPrefix(text, "~"):
		return []string{"trim"}
	case strings.HasPrefix(text, "+"):
		return []string{"trim", "note"}
	}
	return []string{"note"}
}

// Open opens a store and begins a run of the suite's plan.
func Open(t testing.TB, dir string, o store.Options) *Driver {
	t.Helper()
	d := &Driver{T: t, Dir: dir, Owner: "w1", Options: o, Plan: Plan()}
	d.Reopen()
	d.Begin()
	return d
}

// Reopen opens the store anew, as the next process would.
func (d *Driver) Reopen() {
	d.T.Helper()
	if d.Store != nil {
		d.check(d.Store.Close())
	}
	s, err := store.Open(context.Background(), d.Dir, d.Options)
	d.check(err)
	d.Store = s
	d.T.Cleanup(func() { _ = s.Close() }) // closed already by most
}

// Begin begins a run.
func (d *Driver) Begin(change ...func(*pipeline.BeginOptions)) {
	d.T.Helper()
	o := pipeline.BeginOptions{Worker: d.Owner, Stages: d.Plan}
	for _, c := range change {
		c(&o)
	}
	d.check(d.Store.Begin(context.Background(), o))
}

// Kill ends the process and begins the next run.
func (d *Driver) Kill(change ...func(*pipeline.BeginOptions)) {
	d.T.Helper()
	d.Reopen()
	d.Begin(change...)
}

// Version changes the fingerprint of a stage.
func (d *Driver) Version(stage, version string) {
	d.Plan = slices.Clone(d.Plan)
	for i := range d.Plan {
		if d.Plan[i].Name == stage {
			d.Plan[i].Fingerprint = schemas.Digest(stage + " " + version)
		}
	}
}

func (d *Driver) check(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Made is a record: "key" or "key=text"; a key with a slash needs the build that
// stands before it. What follows # is no field that the next stage depends on.
func Made(word string) pipeline.Made {
	key, text, _ := strings.Cut(word, "=")
	told, _, _ := strings.Cut(text, "#")
	record, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err) // of strings: it cannot be
	}
	return pipeline.Made{Key: key, Digest: schemas.Digest("told " + told), Whole: schemas.Digest("all " + text), Record: record}
}

// Text is what Made put into a record.
func Text(record json.RawMessage) string {
	var m map[string]string
	if json.Unmarshal(record, &m) != nil {
		return string(record)
	}
	return m["text"]
}

// ShareOf is the build that a key needs.
func ShareOf(key string) string {
	share, _, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	return share
}

// Done settles a step as done; outputs are words of Made, for those that Takers names.
// Those of note need a build.
func Done(c pipeline.Claim, words ...string) pipeline.Settlement {
	s := pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepDone}
	for _, w := range words {
		m := Made(w)
		if c.Stage == "note" {
			m.Share = ShareOf(m.Key)
		}
		for _, m.To = range Takers(c.Stage, Text(m.Record)) {
			s.Outputs = append(s.Outputs, m)
		}
	}
	return s
}

// Default is what a step comes to: grow makes what its text lists, trim takes the sign
// from a text (and marks the key of one that note has as well), each other stage hands on,
// a build makes its name.
func Default(c pipeline.Claim) pipeline.Settlement {
	switch c.Stage {
	case "grow":
		return Done(c, strings.Fields(Text(c.Record))...)
	case "trim":
		return Done(c, Trimmed(c.Key, Text(c.Record)))
	case "pack":
		return Done(c)
	case "make.build":
		return Done(c, c.Key+"=built")
	}
	return Done(c, c.Key+"="+Text(c.Record))
}

// Trimmed is the word that trim makes of a record.
func Trimmed(key, text string) string {
	if rest, both := strings.CutPrefix(text, "+"); both {
		return key + "t=" + rest
	}
	return key + "=" + strings.TrimPrefix(text, "~")
}

// Seeds are a list of seeds in order of key.
func Seeds(all ...pipeline.Made) iter.Seq2[pipeline.Made, error] {
	slices.SortFunc(all, func(a, b pipeline.Made) int { return strings.Compare(a.Key, b.Key) })
	return func(yield func(pipeline.Made, error) bool) {
		for _, m := range all {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Seed gives the first stage its inputs.
func (d *Driver) Seed(words ...string) {
	d.T.Helper()
	var all []pipeline.Made
	for _, w := range words {
		m := Made(w)
		m.Digest = m.Whole
		all = append(all, m)
	}
	d.check(d.Store.Seed(context.Background(), "grow", "", Seeds(all...)))
}

// Take claims up to n steps of a stage.
func (d *Driver) Take(stage string, n int) []pipeline.Claim {
	d.T.Helper()
	c, err := d.Claim(context.Background(), d.Owner, []pipeline.Want{{Stage: stage, N: n}})
	d.check(err)
	return c
}

// TakeOne claims the one ready step of a stage.
func (d *Driver) TakeOne(stage string) pipeline.Claim {
	d.T.Helper()
	c := d.Take(stage, 10)
	if len(c) != 1 {
		d.T.Fatalf("%d steps ready at %s, want one: %v", len(c), stage, c)
	}
	return c[0]
}

// End settles, in one transaction; every settlement is d's own where it names no
// other owner.
func (d *Driver) End(all ...pipeline.Settlement) []pipeline.Settled {
	d.T.Helper()
	for i := range all {
		if all[i].Owner == "" {
			all[i].Owner = d.Owner
		}
	}
	out, err := d.Settle(context.Background(), all)
	d.check(err)
	return out
}

// Run works until nothing is ready, the drain last.
func (d *Driver) Run() {
	d.T.Helper()
	for _, drain := range []bool{false, true} {
		for d.round(drain) {
		}
	}
}

func (d *Driver) round(drain bool) bool {
	d.T.Helper()
	do := d.Do
	if do == nil {
		do = Default
	}
	worked := false
	for i := len(d.Plan) - 1; i >= 0; i-- {
		if d.Plan[i].Drain != drain {
			continue
		}
		var all []pipeline.Settlement
		for _, c := range d.Take(d.Plan[i].Name, 64) {
			d.Ran = append(d.Ran, c.Stage+"/"+c.Key)
			all = append(all, do(c))
		}
		if len(all) > 0 {
			d.End(all...)
			worked = true
		}
	}
	return worked
}

// Runs wants exactly these steps to have been run since the last call.
func (d *Driver) Runs(want ...string) {
	d.T.Helper()
	slices.Sort(d.Ran)
	slices.Sort(want)
	if diff := cmp.Diff(want, d.Ran, cmpopts.EquateEmpty()); diff != "" {
		d.T.Errorf("steps that ran (-want +got):\n%s", diff)
	}
	d.Ran = nil
}

// Stand is the tally, "stage state n" or "stage state reason n".
func (d *Driver) Stand() []string {
	d.T.Helper()
	all, err := d.Tallies(context.Background())
	d.check(err)
	var out []string
	for _, x := range all {
		words := []string{x.Stage, string(x.State)}
		if x.Reason != "" {
			words = append(words, string(x.Reason))
		}
		out = append(out, strings.Join(append(words, fmt.Sprint(x.N)), " "))
	}
	return out
}

// Stands wants the tally to be this, and to be what the steps add up to.
func (d *Driver) Stands(want ...string) {
	d.T.Helper()
	slices.Sort(want)
	got := d.Stand()
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		d.T.Errorf("tally (-want +got):\n%s", diff)
	}
	d.Sound()
}

// Sound wants the tally to be a count over the rows, and nothing to wait for a
// build that has ended.
func (d *Driver) Sound() {
	d.T.Helper()
	ctx := context.Background()
	bad, err := d.Recount(ctx)
	d.check(err)
	if len(bad) > 0 {
		d.T.Errorf("the tally is off: %+v", bad)
	}
	stuck, err := d.Stuck(ctx)
	d.check(err)
	if len(stuck) > 0 {
		d.T.Errorf("steps that wait for ever: %v", stuck)
	}
}

// Is wants a step to stand so: "state", "state reason", or "" for no such step.
func (d *Driver) Is(stage, key, want string) schemas.Step {
	d.T.Helper()
	s, ok, err := d.Step(stage, key)
	d.check(err)
	got := ""
	if ok {
		got = strings.TrimSpace(string(s.State) + " " + string(s.Reason))
	}
	if got != want {
		d.T.Errorf("%s of %s is %q, want %q (%s)", stage, key, got, want, s.Detail)
	}
	return s
}

// Packed are the texts of the drain's inputs, "key=text".
func (d *Driver) Packed() []string {
	d.T.Helper()
	var out []string
	for after := ""; ; {
		all, err := d.Held(context.Background(), "pack", after, 3)
		d.check(err)
		if len(all) == 0 {
			return out
		}
		for _, m := range all {
			out = append(out, m.Key+"="+Text(m.Record))
			after = m.Key
		}
	}
}

// Packs wants the drain's inputs to be these.
func (d *Driver) Packs(want ...string) {
	d.T.Helper()
	if diff := cmp.Diff(want, d.Packed(), cmpopts.EquateEmpty()); diff != "" {
		d.T.Errorf("inputs of the drain (-want +got):\n%s", diff)
	}
}
