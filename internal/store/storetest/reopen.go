package storetest

import (
	"context"
	"testing"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// rejects rejects each step that is named "stage/key" for its reason.
func rejects(d *Driver, reasons map[string]schemas.Reason) {
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		name := c.Stage + "/" + c.Key
		if reason := reasons[name]; reason != "" {
			return pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepRejected, Reason: reason, Detail: name}
		}
		return Default(c)
	}
}

// What was rejected for a reason that is no more is tried again, its build with it;
// all else stays as it is.
func testReopen(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	reopen := func(want int, reasons ...schemas.Reason) {
		t.Helper()
		got, err := d.Store.Reopen(context.Background(), reasons...)
		d.check(err)
		if got != want {
			t.Errorf("%d items are tried again, want %d", got, want)
		}
	}
	reopen(0, schemas.NoToolchain) // of a store without a step
	rejects(d, map[string]schemas.Reason{
		"make.build/x": schemas.NoBuild, "note/a": schemas.NoToolchain, "note/b": schemas.OtherLabel,
		"judge/c": schemas.NoF2P, "make.build/z": schemas.Unresolvable,
	})
	d.Seed("s=a=1 b=1 c=1 d=1 x/1=1 x/2=2 y/1=1 z/1=1")
	d.Run()
	d.Packs("d=1", "y/1=1")
	d.Sound()
	ends := d.Stand()
	d.Do, d.Ran = nil, nil

	reopen(0, schemas.BadLicence)
	reopen(0)
	d.Runs()
	if now := d.Stand(); len(now) != len(ends) {
		t.Errorf("nothing was to be tried again: %v, was %v", now, ends)
	}
	// As a process does that has not begun a run yet.
	d.Reopen()
	reopen(3, schemas.NoToolchain, schemas.NoBuild) // a, x/1, x/2
	reopen(0, schemas.NoToolchain, schemas.NoBuild) // asked twice
	d.Begin()
	d.Sound()
	d.Is("make", "x/1", "waiting")
	d.Is("make.build", "z", "rejected provision/resolve")
	d.Run()
	d.Runs("note/a", "make/a", "judge/a", "make.build/x", "make/x/1", "make/x/2", "judge/x/1", "judge/x/2", "pack/")
	d.Packs("a=1", "d=1", "x/1=1", "x/2=2", "y/1=1")
	d.Is("note", "b", "rejected classify/label")
	d.Is("judge", "c", "rejected validate/no_f2p")
	d.Sound()

	// One that is withdrawn comes back with its end: the machine is not asked for it.
	d.Seed("s=b=1 d=1")
	d.Run()
	reopen(0, schemas.NoF2P)
	d.Seed("s=b=1 c=1 d=1")
	d.Run()
	d.Is("judge", "c", "rejected validate/no_f2p")
	reopen(1, schemas.NoF2P)
	d.Run()
	d.Packs("c=1", "d=1")
	d.Sound()
}

func testNotes(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	for _, value := range []string{"", "one", "two", "two"} {
		if value != "" {
			d.check(d.SetNote(context.Background(), "machine", value))
		}
		d.Store.Close()
		d.Reopen()
		got, err := d.Note("machine")
		d.check(err)
		if got != value {
			t.Errorf("noted %q, want %q", got, value)
		}
	}
}
