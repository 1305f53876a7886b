package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func testFlow(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=x/1=one x/2=two y=three")
	d.Stands("grow ready 1", "pack ready 1")
	c := d.TakeOne("grow")
	if c.Key != "s" || Text(c.Record) != "x/1=one x/2=two y=three" || c.Digest != Made("s=x/1=one x/2=two y=three").Whole {
		t.Errorf("claimed %+v", c)
	}
	d.Stands("grow running 1", "pack ready 1")
	if more := d.Take("grow", 1); len(more) > 0 {
		t.Errorf("claimed twice: %v", more)
	}
	s := Default(c)
	s.MS, s.Cost = 12, 0.25
	d.End(s)
	d.Run()
	d.Packs("x/1=one", "x/2=two", "y=three")
	d.Stands("grow done 1", "note done 3", "make.build done 1", "make done 3", "judge done 3", "pack held 3", "pack done 1")
	d.Runs("note/x/1", "note/x/2", "note/y", "make.build/x", "make/x/1", "make/x/2", "make/y", "judge/x/1", "judge/x/2", "judge/y", "pack/")
	all, err := d.Tallies(context.Background())
	d.check(err)
	want := pipeline.Tally{Stage: "grow", State: "done", N: 1, Cost: 0.25, MS: 12}
	if i := slices.IndexFunc(all, func(x pipeline.Tally) bool { return x.Stage == "grow" }); all[i] != want {
		t.Errorf("tally %+v, want %+v", all[i], want)
	}
}

func testViews(t *testing.T) {
	ctx := context.Background()
	d := Open(t, t.TempDir(), store.Options{})
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		s := Default(c)
		switch c.Stage + "/" + c.Key {
		case "make/x/1":
			s.Provenance, s.MS = []byte(`{"model":"m"}`), 7
		case "note/no":
			s = pipeline.Settlement{ID: c.ID, State: schemas.StepRejected, Reason: schemas.NoCode, Detail: "nothing in it", Evidence: "e"}
		case "judge/bad":
			s = pipeline.Settlement{ID: c.ID, State: schemas.StepFailed, Detail: "disk full"}
		case "make.build/z":
			s = pipeline.Settlement{ID: c.ID, State: schemas.StepRejected, Reason: schemas.NoBuild, Detail: "no z"}
		}
		return s
	}
	d.Seed("s=x/1=one no=no bad=b z/1=u B=2")
	d.Run()
	want := schemas.Step{
		Stage: "make", Key: "x/1", State: schemas.StepDone, Fingerprint: "make 1", Input: Made("x/1=one").Digest, Parent: "x/1", Share: "x",
		Record: Made("x/1=one").Record, Attempts: 1, Provenance: []byte(`{"model":"m"}`), MS: 7,
		Outputs: []schemas.Output{{To: "judge", Key: "x/1", Digest: Made("x/1=one").Whole, Record: Made("x/1=one").Record}},
	}
	if diff := cmp.Diff(want, d.Is("make", "x/1", "done")); diff != "" {
		t.Errorf("step (-want +got):\n%s", diff)
	}
	if s := d.Is("grow", "s", "done"); len(s.Outputs) != 5 || s.Parent != "" {
		t.Errorf("grow is %+v", s)
	}
	if s := d.Is("make.build", "x", "done"); len(s.Outputs) != 1 || Text(s.Outputs[0].Record) != "built" || s.Parent != "x/1" {
		t.Errorf("build is %+v", s)
	}
	if s := d.Is("note", "no", "rejected link/no_code"); s.Detail != "nothing in it" || s.Evidence != "e" {
		t.Errorf("rejected step is %+v", s)
	}
	built, err := d.Built(ctx, "make.build", "x")
	if err != nil || Text(built) != "built" {
		t.Errorf("built %s, %v", built, err)
	}
	if _, err := d.Built(ctx, "make.build", "z"); err == nil {
		t.Error("a rejected build gave something")
	}
	if in, ok, err := d.Inputs("make", "x/1"); err != nil || !ok || Text(in) != "one" {
		t.Errorf("input %s %v %v", in, ok, err)
	}
	ladder, err := d.Ladder([]string{"grow", "note", "make", "judge", "pack"}, "x/1")
	d.check(err)
	if len(ladder) != 3 || ladder[0].Stage != "note" || ladder[2].Stage != "judge" {
		t.Errorf("ladder %+v", ladder)
	}
	var keys []string
	for s, err := range d.Each("note") {
		d.check(err)
		keys = append(keys, s.Key)
	}
	if diff := cmp.Diff([]string{"B", "bad", "no", "x/1", "z/1"}, keys); diff != "" {
		t.Errorf("each is not in the order of bytes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"judge/bad failed", "note/no rejected", "make/z/1 rejected"}, ended(d, 1)); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ended(d, 1), ended(d, 100)); diff != "" {
		t.Errorf("ends depend on the size of a page:\n%s", diff)
	}
	if _, ok, err := d.Step("note", "missing"); ok || err != nil {
		t.Errorf("missing step: %v %v", ok, err)
	}
}

func ended(d *Driver, page int) []string {
	d.T.Helper()
	var out []string
	for key, stage := "", ""; ; {
		all, err := d.Ended(context.Background(), key, stage, page)
		d.check(err)
		if len(all) == 0 {
			return out
		}
		for _, s := range all {
			out = append(out, fmt.Sprintf("%s/%s %s", s.Stage, s.Key, s.State))
			key, stage = s.Key, s.Stage
		}
	}
}

func testOddTexts(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	for _, key := range []string{"a'b", `a"b`, "a/../b", "ä€𝄞", "x y%2f", "$1", "{lock}", "sha256:abc"} {
		d.Seed(key)
		c := d.TakeOne("grow")
		if c.Key != key {
			t.Errorf("key %q came back as %q", key, c.Key)
		}
		d.End(pipeline.Settlement{ID: c.ID, State: schemas.StepRejected, Reason: schemas.NoCode, Detail: "\xff\x00 {lock} $1 ' ä", Provenance: []byte(`{"a":"\u0000"}`)})
		if s := d.Is("grow", key, "rejected link/no_code"); s.Detail != "\uFFFD {lock} $1 ' ä" || string(s.Provenance) != `{"a":"\u0000"}` {
			t.Errorf("detail came back as %q, provenance as %s", s.Detail, s.Provenance)
		}
	}
	d.Sound()
}

func testBigRecords(t *testing.T) {
	dir := t.TempDir()
	d := Open(t, dir, store.Options{})
	big := strings.Repeat("x", 100_000)
	d.Seed("a=" + big)
	if c := d.TakeOne("grow"); Text(c.Record) != big {
		t.Errorf("%d bytes came back", len(c.Record))
	} else {
		d.End(Done(c, "k="+big+"1"))
	}
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "judge" {
			return Done(c, c.Key+"="+big+"2")
		}
		return Default(c)
	}
	d.Run()
	if got := d.Packed(); len(got) != 1 || got[0] != "k="+big+"2" {
		t.Errorf("%d held", len(got))
	}
	if s := d.Is("grow", "a", "done"); len(s.Outputs) != 1 || Text(s.Outputs[0].Record) != big+"1" {
		t.Errorf("outputs of %d bytes", len(s.Outputs))
	}
	// A lost blob is told to who claims its step, which has no end by it, and to no other.
	d.Seed("a="+big, "b="+big+"b", "c=")
	sum := strings.TrimPrefix(string(schemas.DigestBytes(Made("b="+big+"b").Record)), "sha256:")
	d.check(os.Remove(filepath.Join(dir, "blobs", sum[:2], sum[2:])))
	if c := d.Take("grow", 10); len(c) != 2 || c[0].Key != "b" || !errors.Is(c[0].Lost, fs.ErrNotExist) || c[1].Key != "c" || c[1].Lost != nil {
		t.Errorf("claimed %d, not b without its record and c", len(c))
	}
	d.Sound()
}

// An expansion goes in by many rows a statement; the odd ones are met one by one.
func testExpansion(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	var words []string
	for i := range 203 {
		words = append(words, fmt.Sprintf("k%03d=%d", i, i))
	}
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "grow" {
			return Done(c, words...)
		}
		return Default(c)
	}
	d.Seed("s=1")
	d.Run()
	if got := d.Packed(); !slices.Equal(got, words) {
		t.Errorf("%d of %d came through", len(got), len(words))
	}
	d.Ran = nil
	words = append(words[:100:100], append([]string{"k100=other"}, words[150:]...)...)
	for i := range 30 {
		words = append(words, fmt.Sprintf("m%03d=%d", i, i))
	}
	d.Seed("s=2")
	d.Run()
	if got := d.Packed(); !slices.Equal(got, words) {
		t.Errorf("%d of %d came through the second time", len(got), len(words))
	}
	if want := 1 + 31*3 + 1; len(d.Ran) != want {
		t.Errorf("%d steps ran, want %d", len(d.Ran), want)
	}
	d.Sound()
}

// Lists of seeds over several pages, of which some come, go, come back and change.
func testSeeds(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	done := map[string]string{} // what was done of each seed, also of one that is gone
	var last []pipeline.Made
	for _, share := range []int{50, 70, 0, 100, 3, 60} {
		now, want := map[string]string{}, map[string]string{}
		for i := range 2000 {
			if key := fmt.Sprintf("s%04d", i); random.IntN(100) < share {
				now[key] = "#" + strconv.Itoa(random.IntN(3)/2) // #0 mostly
				if done[key] != now[key] {
					want[key] = now[key]
				}
			}
		}
		var all []pipeline.Made
		for key, text := range now {
			m := Made(key + "=" + text)
			m.Digest = m.Whole
			all = append(all, m)
		}
		last = all
		list := schemas.DigestOf(now)
		d.check(d.Store.Seed(context.Background(), "grow", list, Seeds(all...)))
		d.check(d.Store.Seed(context.Background(), "grow", list, unread(t)))
		got := map[string]string{}
		var ends []pipeline.Settlement
		for _, c := range d.Take("grow", 5000) {
			got[c.Key], done[c.Key] = Text(c.Record), Text(c.Record)
			ends = append(ends, Done(c))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%d of 2000 seeds: want -, got +\n%s", len(now), diff)
		}
		d.End(ends...)
		if stands := []string{"pack ready 1"}; len(now) > 0 {
			d.Stands(append([]string{fmt.Sprintf("grow done %d", len(now))}, stands...)...)
		} else {
			d.Stands(stands...)
		}
	}
	// Those that were gone already ask for nothing.
	d.Run()
	d.check(d.Store.Seed(context.Background(), "grow", "", Seeds(last...)))
	d.Stands(fmt.Sprintf("grow done %d", len(last)), "pack done 1")
	d.Sound()
}

// unread are seeds that are not to be read.
func unread(t *testing.T) iter.Seq2[pipeline.Made, error] {
	return func(func(pipeline.Made, error) bool) { t.Error("an equal list of seeds was read") }
}

func testFence(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 b=1")
	c := d.TakeOne("grow")
	other := Default(c)
	other.Owner = "somebody"
	if got := d.End(other, Default(c), Default(c)); !got[0].Lost || got[1].Lost || !got[2].Lost {
		t.Errorf("another's, ours, ours again: %+v", got)
	}
	d.Stands("grow done 1", "note ready 2", "pack ready 1")
	// A step whose input changed while it ran is not the runner's any more.
	old := d.Take("note", 2)
	d.Seed("s=a=2 b=1")
	d.Run()
	// Nor is one that is the same in the end: what it joined may have been missing.
	if got := d.End(Default(old[0]), Default(old[1])); !got[0].Lost || !got[1].Lost {
		t.Errorf("changed, equal: %+v", got)
	}
	d.Run()
	d.Packs("a=2", "b=1")
	// Likewise within one transaction: the change comes first.
	d.Seed("s=a=3 b=1")
	grow := d.TakeOne("grow")
	d.End(Default(grow))
	note := d.TakeOne("note")
	d.Seed("s=a=4 b=1")
	if got := d.End(Default(d.TakeOne("grow")), Default(note)); got[0].Lost || !got[1].Lost {
		t.Errorf("changed in the same transaction: %+v", got)
	}
	d.Run()
	d.Packs("a=4", "b=1")
	// And where the same owner has claimed the new work before the old has ended.
	d.Seed("s=a=5 b=1")
	before := d.TakeOne("grow")
	d.Seed("s=a=6 b=1")
	after := d.TakeOne("grow")
	if got := d.End(Default(before), Default(after)); !got[0].Lost || got[1].Lost {
		t.Errorf("claimed anew by the same owner: %+v", got)
	}
	d.Run()
	d.Packs("a=6", "b=1")
	d.Sound()
}

func testRelease(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1")
	c := d.TakeOne("grow")
	d.check(d.Release(context.Background(), "somebody", []int64{c.ID}))
	d.Stands("grow running 1", "pack ready 1")
	d.check(d.Release(context.Background(), d.Owner, []int64{c.ID, c.ID, 999}))
	d.Stands("grow ready 1", "pack ready 1")
	if got := d.End(Default(c)); !got[0].Lost {
		t.Error("a released step was settled")
	}
	if s := d.Is("grow", "s", "ready"); s.Attempts != 0 {
		t.Errorf("a released step counts %d attempts", s.Attempts)
	}
	c = d.TakeOne("grow")
	d.check(d.Leave(context.Background(), d.Owner))
	if s := d.Is("grow", "s", "ready"); s.Attempts != 0 || s.Crashes != 0 {
		t.Errorf("left behind: %+v", s)
	}
	_ = c
	d.Sound()
}

func testRedo(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 b=1 c=1")
	d.Run()
	d.Ran = nil
	// Equal outputs: the redo ends where it began.
	d.Version("note", "2")
	d.Begin()
	d.Run()
	d.Runs("note/a", "note/b", "note/c")
	// One other, one gone, one new.
	d.Seed("s=a=2 c=1 d=1")
	d.Run()
	d.Runs("grow/s", "note/a", "make/a", "judge/a", "note/d", "make/d", "judge/d", "pack/")
	d.Packs("a=2", "c=1", "d=1")
	d.Stands("grow done 1", "note done 3", "make done 3", "judge done 3", "pack held 3", "pack done 1")
}

// What a step made before goes when it fails, and comes back with its results.
func testRedoOfFailed(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 b=1")
	d.Run()
	d.Ran = nil
	broken := true
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if broken && c.Stage == "note" && c.Key == "a" {
			return pipeline.Settlement{ID: c.ID, State: schemas.StepFailed, Detail: "disk full"}
		}
		return Default(c)
	}
	d.Version("note", "2")
	d.Begin()
	d.Run()
	d.Runs("note/a", "note/b", "pack/")
	d.Packs("b=1")
	d.Stands("grow done 1", "note done 1", "note failed 1", "make done 1", "judge done 1", "pack held 1", "pack done 1")
	broken = false
	d.Begin()
	d.Run()
	d.Runs("note/a", "pack/")
	d.Packs("a=1", "b=1")
	d.Sound()
}

func testWithdrawAndRevive(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 x/1=1", "r=b=1 x/2=1")
	d.Run()
	d.Ran = nil
	d.Seed("r=b=1 x/2=1") // as --only does
	d.Run()
	d.Runs("pack/")
	d.Packs("b=1", "x/2=1")
	d.Stands("grow done 1", "note done 2", "make.build done 1", "make done 2", "judge done 2", "pack held 2", "pack done 1")
	d.Seed("s=a=1 x/1=1", "r=b=1 x/2=1")
	d.Run()
	d.Runs("pack/")
	d.Packs("a=1", "b=1", "x/1=1", "x/2=1")
	// The same again writes nothing.
	d.Seed("r=b=1 x/2=1", "s=a=1 x/1=1")
	d.Run()
	d.Runs()
	// Nothing at all, and what was under way is nobody's.
	d.Seed("s=a=1 x/1=1", "r=b=2 x/2=1")
	c := d.TakeOne("grow")
	d.Seed()
	d.Stands("pack ready 1")
	if got := d.End(Default(c)); !got[0].Lost {
		t.Error("a withdrawn step was settled")
	}
	d.Run()
	d.Ran = nil
	// Back with another input: its subtree is back at once, and follows by digest.
	d.Seed("s=a=2 x/1=1", "r=b=1 x/2=1")
	d.Run()
	d.Runs("grow/s", "note/a", "make/a", "judge/a", "grow/r", "pack/")
	d.Packs("a=2", "b=1", "x/1=1", "x/2=1")
	d.Sound()
}

func testRevivedStale(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1", "r=b=1")
	d.Run()
	d.Seed("r=b=1")
	d.Version("make", "2")
	d.Begin()
	d.Run()
	d.Ran = nil
	d.Seed("s=a=1", "r=b=1")
	d.Stands("grow done 2", "note done 2", "make done 1", "make ready 1", "judge done 2", "pack held 2", "pack ready 1")
	d.Run()
	d.Runs("make/a", "pack/")
	// A redo that read another output while it was away.
	d.Seed("r=b=1")
	d.Run()
	d.Ran = nil
	d.Seed("s=a=1#more", "r=b=1")
	d.Run()
	d.Runs("grow/s", "judge/a", "pack/")
	d.Packs("a=1", "b=1")
	d.Sound()
}

func testReads(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "make" { // hands on less than it knows
			told, _, _ := strings.Cut(Text(c.Record), "#")
			return Done(c, c.Key+"="+told)
		}
		return Default(c)
	}
	d.Seed("s=a=1#x b=1")
	d.Run()
	d.Packs("a=1", "b=1")
	d.Ran = nil
	// grow's output differs in what note does not depend on, and judge reads it.
	d.Seed("s=a=1#y b=1")
	d.Run()
	d.Runs("grow/s", "judge/a", "pack/")
	if in, _, _ := d.Inputs("note", "a"); Text(in) != "1#y" {
		t.Errorf("note's input is %s", in)
	}
	d.Sound()
}

func testTwoParents(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("r=b=1 k=1", "s=a=1 k=1")
	all := d.Take("grow", 2)
	got := d.End(Default(all[0]), Default(all[1]))
	if got[0].Err != nil || got[1].Err == nil || !strings.Contains(got[1].Err.Error(), "made by both r and s") {
		t.Fatalf("two parents of k: %+v", got)
	}
	if s := d.Is("grow", "s", "failed"); !strings.Contains(s.Detail, "made by both") {
		t.Errorf("detail %q", s.Detail)
	}
	d.Stands("grow done 1", "grow failed 1", "note ready 2", "pack ready 1")
	d.Is("note", "a", "") // nothing of it is left
	// The next run finds the plan mended.
	d.Seed("r=b=1", "s=a=1 k=1")
	d.Begin()
	d.Run()
	d.Packs("a=1", "b=1", "k=1")
	d.Sound()
}

// A key may go from one parent to another, in whichever order they are done again.
func testKeyMoves(t *testing.T) {
	for _, first := range []int{0, 1} {
		d := Open(t, t.TempDir(), store.Options{})
		d.Seed("r=b=1 k=1", "s=a=1")
		d.Run()
		d.Ran = nil
		d.Seed("r=b=1", "s=a=1 k=1")
		all := d.Take("grow", 2)
		d.End(Default(all[first]))
		d.End(Default(all[1-first]))
		d.Run()
		d.Runs("pack/")
		d.Packs("a=1", "b=1", "k=1")
		if s := d.Is("note", "k", "done"); s.Parent != "s" {
			t.Errorf("k is %s's", s.Parent)
		}
		// Back where it was, while its parent is away: that one makes it anew.
		d.Seed("s=a=1 k=1")
		d.Seed("r=b=1 k=1", "s=a=1")
		d.Run()
		d.Packs("a=1", "b=1", "k=1")
		// Away, its key taken, and back with the very input of its last end.
		d.Seed("s=a=1 k=1")
		d.Run()
		d.Seed("r=b=1 k=1", "s=a=1")
		d.Run()
		d.Packs("a=1", "b=1", "k=1")
		d.Sound()
	}
}

// A fault of one settlement is booked with it; its neighbours are settled.
func testFaults(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("a=", "b=", "c=", "d=")
	all := d.Take("grow", 4)
	odd := Done(all[2], "x=1")
	odd.State = "odd"
	odd.MS = 5
	got := d.End(Done(all[0], "k=1", "k=2"), Done(all[1], "y=1"), odd, Done(all[3], ""))
	if got[0].Err == nil || got[1].Err != nil || got[2].Err == nil || got[3].Err == nil {
		t.Errorf("%+v", got)
	}
	d.Stands("grow done 1", "grow failed 3", "note ready 1", "pack ready 1")
	if err := d.Store.Seed(context.Background(), "grow", "", Seeds(Made("a"), Made("a"))); err == nil {
		t.Error("a seed was taken twice")
	}
	b, a := Seeds(Made("b")), Seeds(Made("a"))
	backwards := func(yield func(pipeline.Made, error) bool) { b(yield); a(yield) }
	if err := d.Store.Seed(context.Background(), "grow", "", backwards); err == nil {
		t.Error("seeds were taken that are not in order")
	}
	if err := d.Store.Seed(context.Background(), "nowhere", "", Seeds(Made("a"))); err == nil {
		t.Error("a stage that is not in the plan was seeded")
	}
	d.Stands("grow done 1", "grow failed 3", "note ready 1", "pack ready 1")
}
