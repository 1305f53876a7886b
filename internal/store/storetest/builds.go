package storetest

import (
	"testing"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func testBuildOnce(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=x/1=1 x/2=2 y/1=3 z=4")
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "make.build" {
			d.T.Fatal("built too early")
		}
		return Default(c)
	}
	d.End(Default(d.TakeOne("grow")))
	for _, c := range d.Take("note", 10) {
		d.End(Default(c))
	}
	d.Stands("grow done 1", "note done 4", "make.build ready 2", "make waiting 3", "make ready 1", "pack ready 1")
	builds := d.Take("make.build", 10)
	if builds[0].Key != "x" || Text(builds[0].Record) != "1" {
		t.Errorf("the build got %+v", builds[0])
	}
	d.End(Default(builds[0]))
	d.Stands("grow done 1", "note done 4", "make.build done 1", "make.build running 1", "make waiting 1", "make ready 3", "pack ready 1")
	// Who comes later finds it built.
	d.Do = nil
	d.Seed("s=x/1=1 x/2=2 y/1=3 z=4 x/3=5")
	d.End(Default(builds[1]))
	d.Run()
	d.Packs("x/1=1", "x/2=2", "x/3=5", "y/1=3", "z=4")
	d.Stands("grow done 1", "note done 5", "make.build done 2", "make done 5", "judge done 5", "pack held 5", "pack done 1")
}

func buildEnds(d *Driver, end pipeline.Settlement) {
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "make.build" {
			s := end
			s.ID = c.ID
			if s.State == schemas.StepDone {
				return Done(c, c.Key+"="+s.Detail)
			}
			return s
		}
		return Default(c)
	}
}

func testBuildEnds(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	buildEnds(d, pipeline.Settlement{State: schemas.StepRejected, Reason: schemas.NoBuild, Detail: "no x", Evidence: "log"})
	d.Seed("s=x/1=1 x/2=2 y=3")
	d.Run()
	if s := d.Is("make", "x/2", "rejected provision/build"); s.Detail != "no x" || s.Evidence != "log" || s.Fingerprint != "make 1" {
		t.Errorf("member of a rejected build: %+v", s)
	}
	d.Stands("grow done 1", "note done 3", "make.build rejected provision/build 1", "make rejected provision/build 2", "make done 1",
		"judge done 1", "pack held 1", "pack done 1")
	d.Ran = nil
	d.Begin() // rejected ones are not tried again
	d.Seed("s=x/1=1 x/2=2 y=3 x/3=3")
	d.Run()
	d.Runs("grow/s", "note/x/3", "pack/")
	d.Is("make", "x/3", "rejected provision/build")
	// A new version of the build tries for all of them.
	buildEnds(d, pipeline.Settlement{State: schemas.StepFailed, Detail: "disk full"})
	d.Version("make.build", "2")
	d.Begin()
	d.Stands("grow done 1", "note done 4", "make.build ready 1", "make waiting 3", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	d.Run()
	d.Runs("make.build/x", "pack/")
	d.Stands("grow done 1", "note done 4", "make.build failed 1", "make failed 3", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	// Failed ones are tried again by the next run.
	d.Do = nil
	d.Begin()
	d.Stands("grow done 1", "note done 4", "make.build ready 1", "make waiting 3", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	d.Run()
	d.Runs("make.build/x", "make/x/1", "make/x/2", "make/x/3", "judge/x/1", "judge/x/2", "judge/x/3", "pack/")
	d.Packs("x/1=1", "x/2=2", "x/3=3", "y=3")
	d.Sound()
}

func testBuildRedone(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=x/1=1 x/2=2 y=3")
	d.Run()
	d.Ran = nil
	// The same comes out: its members are not asked.
	d.Version("make.build", "2")
	d.Begin()
	d.Run()
	d.Runs("make.build/x")
	// Another comes out: they are.
	buildEnds(d, pipeline.Settlement{State: schemas.StepDone, Detail: "otherwise"})
	d.Version("make.build", "3")
	d.Begin()
	d.Run()
	d.Runs("make.build/x", "make/x/1", "make/x/2")
	// Both change: members wait for it, and are run once.
	d.Do = nil
	d.Version("make.build", "4")
	d.Version("make", "4")
	d.Begin()
	d.Stands("grow done 1", "note done 3", "make.build ready 1", "make waiting 2", "make ready 1", "judge done 3", "pack held 3", "pack done 1")
	d.Run()
	d.Runs("make.build/x", "make/x/1", "make/x/2", "make/y")
	// It is rejected now: so is what rested on it, and what came of that goes.
	buildEnds(d, pipeline.Settlement{State: schemas.StepRejected, Reason: schemas.NoBuild})
	d.Version("make.build", "5")
	d.Begin()
	d.Run()
	d.Packs("y=3")
	d.Is("make", "x/1", "rejected provision/build")
	d.Ran = nil
	// And back: what came of it is there still.
	d.Do = nil
	d.Version("make.build", "6")
	d.Begin()
	d.Run()
	d.Runs("make.build/x", "make/x/1", "make/x/2", "pack/")
	d.Packs("x/1=1", "x/2=2", "y=3")
	// The same while they are away: rejected, withdrawn, and built when they are back.
	buildEnds(d, pipeline.Settlement{State: schemas.StepRejected, Reason: schemas.NoBuild})
	d.Version("make.build", "7")
	d.Begin()
	d.Run()
	d.Seed()
	d.Do = nil
	d.Version("make.build", "8")
	d.Begin()
	d.Seed("s=x/1=1 x/2=2 y=3")
	d.Run()
	d.Packs("x/1=1", "x/2=2", "y=3")
	d.Sound()
}

func testBuildWithdrawn(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("r=x/1=1", "s=x/2=2")
	for _, stage := range []string{"grow", "note"} {
		for _, c := range d.Take(stage, 10) {
			d.End(Default(c))
		}
	}
	// The member that it is tried with goes while it runs: it is tried with another.
	c := d.TakeOne("make.build")
	d.Seed("s=x/2=2")
	if got := d.End(Default(c)); !got[0].Lost {
		t.Error("a build was settled by the run with a withdrawn member")
	}
	if c = d.TakeOne("make.build"); Text(c.Record) != "2" {
		t.Errorf("tried with %s", c.Record)
	}
	// Its input changes while it runs: what it ends by is no more.
	d.Seed("s=x/2=3")
	d.End(Default(d.TakeOne("grow")))
	d.End(Default(d.TakeOne("note")))
	if got := d.End(pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepRejected, Reason: schemas.NoRunner}); !got[0].Lost {
		t.Error("a build was rejected for an input that its member has no more")
	}
	if c = d.TakeOne("make.build"); Text(c.Record) != "3" {
		t.Errorf("tried with %s", c.Record)
	}
	d.Seed("s=x/2=2")
	d.End(Default(d.TakeOne("grow")))
	d.End(Default(d.TakeOne("note")))
	c = d.TakeOne("make.build")
	// The last one goes: so does the build, and comes back with one.
	d.Seed()
	if got := d.End(Default(c)); !got[0].Lost {
		t.Error("a build without members was settled")
	}
	d.Stands("pack ready 1")
	d.Seed("r=x/1=1", "s=x/2=2")
	d.Run()
	d.Packs("x/1=1", "x/2=2")
	d.Ran = nil
	// Done, away, and back: built no second time.
	d.Seed()
	d.Stands("pack ready 1")
	d.Seed("r=x/1=1")
	d.Run()
	d.Runs("pack/")
	d.Stands("grow done 1", "note done 1", "make.build done 1", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	// Away while the build's version changes.
	d.Seed()
	d.Version("make.build", "2")
	d.Begin()
	d.Run()
	d.Ran = nil
	d.Seed("r=x/1=1", "s=x/2=2")
	d.Run()
	d.Runs("make.build/x", "pack/")
	d.Sound()
}

// A member that needs another build leaves the old one.
func testBuildChanges(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	share := "x"
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		s := Default(c)
		if c.Stage == "note" && c.Key == "k" {
			s.Outputs[0].Share = share
		}
		return s
	}
	d.Seed("s=k=1")
	d.Run()
	d.Is("make.build", "x", "done")
	d.Ran = nil
	share = "y"
	d.Version("note", "2")
	d.Begin()
	d.Run()
	d.Runs("note/k", "make.build/y", "make/k", "pack/")
	d.Stands("grow done 1", "note done 1", "make.build done 1", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	share = ""
	d.Version("note", "3")
	d.Begin()
	d.Run()
	d.Runs("note/k", "make/k", "pack/")
	d.Stands("grow done 1", "note done 1", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	share = "x"
	d.Version("note", "4")
	d.Begin()
	d.Run()
	d.Runs("note/k", "make/k", "pack/")
	d.Sound()
}
