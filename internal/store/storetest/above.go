package storetest

import (
	"context"
	"testing"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func until(stage string) func(*pipeline.BeginOptions) {
	return func(o *pipeline.BeginOptions) { o.Until = stage }
}

// outdated wants so many ends to be left out of a dataset.
func (d *Driver) outdated(want int) {
	d.T.Helper()
	n, err := d.Outdated(context.Background())
	d.check(err)
	if n != want {
		d.T.Errorf("%d ends are outdated, want %d", n, want)
	}
}

// A step that never ran is not given out while what it is made of is made again.
func testAbove(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 x/1=1 x/2=1")
	d.End(Default(d.TakeOne("grow")))
	for _, c := range d.Take("note", 9) {
		d.End(Default(c))
	}
	d.Is("make", "a", "ready")
	d.Is("make.build", "x", "ready")
	d.Version("note", "2")
	d.Kill()
	d.Is("make", "a", "ready")
	if got := append(d.Take("make", 9), d.Take("make.build", 9)...); len(got) > 0 {
		t.Errorf("given out below a step that is to be made again: %v", got)
	}
	d.Is("make", "a", "waiting")
	d.Is("make.build", "x", "waiting")
	d.Sound()
	// One member is enough for a build.
	for _, c := range d.Take("note", 9) {
		if c.Key == "x/2" {
			d.End(Default(c))
		} else {
			d.check(d.Release(context.Background(), d.Owner, []int64{c.ID}))
		}
	}
	b := d.TakeOne("make.build")
	if Text(b.Record) != "1" {
		t.Errorf("built with %s", b.Record)
	}
	// While it runs, its member is asked again: the result is dropped.
	d.check(d.Retry("note", "x/2"))
	if got := d.End(Default(b)); !got[0].Lost {
		t.Error("a result was taken whose input is to be made again")
	}
	d.Sound()
	d.Run()
	d.Packs("a=1", "x/1=1", "x/2=1")
	// A build alone is made again, below a step that is: its settled member frees it.
	d.Version("make.build", "2")
	d.Version("grow", "2")
	d.Kill()
	d.outdated(3)
	d.Packs()
	if got := d.Take("make.build", 9); len(got) > 0 {
		t.Errorf("built with a member that is to be made again: %v", got)
	}
	d.Sound()
	d.Ran = nil
	d.Run()
	d.Runs("grow/s", "make.build/x")
	d.Packs("a=1", "x/1=1", "x/2=1")
	d.outdated(0)
	// A drain that went without some is asked again, whatever becomes of them.
	d.Version("grow", "3")
	d.check(d.Retry("pack", ""))
	d.Kill()
	d.outdated(3)
	d.End(Default(d.TakeOne("pack")))
	d.Ran = nil
	d.Run()
	d.Kill()
	d.Run()
	d.Runs("grow/s", "pack/")
	d.Kill()
	d.Run()
	d.Runs()
}

// A build is not made again with the record of a member that has left.
func testMemberLeft(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=x/1=1 x/2=2")
	d.Run()
	d.Seed("s=x/2=2")
	d.Run()
	d.Version("make.build", "2")
	d.Kill()
	if b := d.TakeOne("make.build"); Text(b.Record) != "2" {
		t.Errorf("built with %s, which has left", b.Record)
	}
}

// A run that ends early takes no result of a later stage back, and says nothing of
// what later stages rest on.
func testUntil(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "make" && c.Key == "b" {
			return pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepFailed, Detail: "disk full"}
		}
		return Default(c)
	}
	d.Seed("s=a=1 b=1 x/1=1")
	d.Run()
	full := d.Plan
	for _, stage := range []string{"make", "make.build", "judge", "pack"} {
		d.Version(stage, "unknown")
	}
	d.Kill(until("note"))
	stands := []string{
		"grow done 1", "note done 3", "make.build done 1", "make done 2", "make failed 1", "judge done 2", "pack held 2", "pack done 1",
	}
	d.Stands(stands...)
	d.Packs("a=1", "x/1=1")
	d.outdated(0)
	// Equal inputs leave nothing behind; one that goes and comes back has its results.
	d.Version("note", "2")
	unknown := d.Plan
	d.Kill(until("note"))
	d.Seed("s=b=1 x/1=1")
	d.Take("make", 0)
	d.Ran = nil
	for d.step("grow") || d.step("note") {
	}
	d.Seed("s=a=1 b=1 x/1=1")
	for d.step("grow") || d.step("note") {
	}
	d.Is("judge", "a", "done")
	d.outdated(0)
	// Another input: its results stand, and are in no dataset.
	d.Seed("s=a=2 b=1 x/1=1")
	for d.step("grow") || d.step("note") {
	}
	d.Is("make", "a", "done")
	d.Is("judge", "a", "done")
	d.Packs("x/1=1")
	d.outdated(1)
	d.Plan = unknown
	d.Kill(until("note"))
	d.outdated(1)
	// The run that comes to them makes what changed, and tries again what failed.
	d.Plan = full
	for i := range d.Plan {
		if d.Plan[i].Name == "note" {
			d.Version("note", "2")
		}
	}
	d.Do = nil
	d.Kill()
	d.Ran = nil
	d.Run()
	d.Runs("make/a", "make/b", "judge/a", "judge/b", "pack/")
	d.Packs("a=2", "b=1", "x/1=1")
	d.outdated(0)
}

// step works off what is ready at one stage.
func (d *Driver) step(stage string) bool {
	d.T.Helper()
	all := d.Take(stage, 64)
	for _, c := range all {
		d.End(Default(c))
	}
	return len(all) > 0
}
