package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func testCrashes(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=x/1=1")
	d.End(Default(d.TakeOne("grow")))
	d.End(Default(d.TakeOne("note")))
	for i := range 5 {
		d.claimAny("make.build")
		d.Kill()
		want := "ready"
		if i == 4 {
			want = "failed engine/crashed"
		}
		if s := d.Is("make.build", "x", want); s.Crashes != i+1 {
			t.Errorf("after death %d it counts %d", i+1, s.Crashes)
		}
		d.Sound()
	}
	d.Is("make", "x/1", "failed engine/crashed")
	if got := d.Take("make.build", 1); len(got) > 0 {
		t.Error("what crashed five times was given out again")
	}
	d.Begin()
	d.Stands("grow done 1", "note done 1", "make.build failed engine/crashed 1", "make failed engine/crashed 1", "pack ready 1")
	d.Begin(func(o *pipeline.BeginOptions) { o.RetryCrashed = true })
	d.Stands("grow done 1", "note done 1", "make.build ready 1", "make waiting 1", "pack ready 1")
	if got := d.Take("make.build", 1); len(got) > 0 {
		t.Error("a suspect was given out beside others")
	}
	c := d.claimAny("make.build")
	d.End(Default(c))
	if s := d.Is("make.build", "x", "done"); s.Crashes != 0 {
		t.Errorf("a step that ended well counts %d crashes", s.Crashes)
	}
	d.Run()
	d.Packs("x/1=1")
	// A new version asks for it again by itself.
	for range 5 {
		if d.Stand(); len(d.Take("judge", 1)) == 0 && d.suspect("judge") == nil {
			d.Version("judge", "crashing")
			d.Begin()
			d.claimAny("judge")
		}
		d.Kill()
	}
	d.Is("judge", "x/1", "failed engine/crashed")
	d.Packs()
	d.Version("judge", "mended")
	d.Begin()
	d.Run()
	d.Packs("x/1=1")
	d.Sound()
}

func (d *Driver) suspect(stages ...string) *pipeline.Claim {
	d.T.Helper()
	c, err := d.ClaimSuspect(context.Background(), d.Owner, stages)
	d.check(err)
	return c
}

// claimAny claims the one step of a stage, by either lane.
func (d *Driver) claimAny(stage string) pipeline.Claim {
	d.T.Helper()
	if c := d.suspect(stage); c != nil {
		return *c
	}
	return d.TakeOne(stage)
}

func testSuspects(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("a=", "b=", "c=", "d=")
	d.Take("grow", 2)
	d.Kill()
	if got := d.Take("grow", 10); len(got) != 2 || got[0].Key != "c" {
		t.Errorf("beside suspects: %v", got)
	}
	if c := d.suspect("note", "make"); c != nil {
		t.Errorf("of other stages: %v", c)
	}
	a := d.suspect("note", "grow")
	if a == nil || a.Key != "a" || a.Crashes != 1 {
		t.Fatalf("first suspect: %+v", a)
	}
	if c := d.suspect("grow"); c != nil {
		t.Errorf("a second one: %+v", c)
	}
	d.Kill() // a 2, b 1, c 1, d 1
	for _, want := range []string{"b", "c", "d", "a"} {
		c := d.suspect("grow")
		if c == nil || c.Key != want {
			t.Fatalf("got %+v, want %s", c, want)
		}
		d.End(Default(*c))
	}
	d.Stands("grow done 4", "pack ready 1")
}

// testBlockedSuspects: one that waits for another suspect does not hide it.
func testBlockedSuspects(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1 b=1")
	d.End(Default(d.TakeOne("grow")))
	d.Take("note", 2)
	d.Kill() // a 1, b 1
	d.Version("grow", "2")
	d.Begin()
	d.TakeOne("grow")
	d.Kill()
	if c := d.suspect("grow"); c == nil {
		t.Fatal("grow/s died once and is no suspect")
	}
	d.Kill() // s 2: a and b come first, and rest on it
	if c := d.suspect("note", "grow"); c == nil || c.Stage != "grow" {
		t.Fatalf("first suspect that may start: %+v, want grow/s", c)
	}
}

func testFingerprints(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "note" && c.Key == "no" {
			return pipeline.Settlement{ID: c.ID, State: schemas.StepRejected, Reason: schemas.NoCode}
		}
		return Default(c)
	}
	d.Seed("s=a=1 no=1 x/1=1")
	d.Run()
	for stage, want := range map[string][]string{
		"grow": {"grow/s"}, "note": {"note/a", "note/no", "note/x/1"}, "make.build": {"make.build/x"},
		"make": {"make/a", "make/x/1"}, "judge": {"judge/a", "judge/x/1"}, "pack": {"pack/"},
	} {
		d.Ran = nil
		d.Version(stage, "2")
		d.Begin()
		d.Run()
		d.Runs(want...)
		d.Begin()
		d.Run()
		d.Runs()
	}
	if s := d.Is("note", "no", "rejected link/no_code"); s.Fingerprint != "note 2" {
		t.Errorf("made by %s", s.Fingerprint)
	}
	// A stage that goes and comes back.
	whole := d.Plan
	d.Plan = slices.DeleteFunc(slices.Clone(whole), func(s pipeline.StageInfo) bool { return s.Name == "judge" })
	d.Begin()
	for _, line := range d.Stand() {
		if strings.HasPrefix(line, "judge") {
			t.Errorf("a stage that is not in the plan is counted: %s", line)
		}
	}
	d.Plan = whole
	d.Begin()
	d.Run()
	d.Runs()
	d.Sound()
}

var errKilled = errors.New("killed")

// killer makes the n-th commit point of an operation fatal.
func killer(op string, n int) func(string) error {
	return func(point string) error {
		if point == op {
			if n--; n == 0 {
				return errKilled
			}
		}
		return nil
	}
}

func testRedoCutOff(t *testing.T) {
	for n := 1; ; n++ {
		d := Open(t, t.TempDir(), store.Options{})
		d.Seed("s=a=1 b=1 x/1=1 x/2=1")
		d.Run()
		d.Ran = nil
		d.Version("make", "2")
		d.Version("make.build", "2")
		d.Version("note", "2")
		d.Options.Crash = killer([]string{"redo/before", "redo/after"}[n%2], (n+1)/2)
		d.Reopen()
		err := d.Store.Begin(context.Background(), pipeline.BeginOptions{Worker: d.Owner, Stages: d.Plan})
		if err == nil {
			if n < 10 {
				t.Errorf("only %d points to die at", n)
			}
			return
		}
		if !errors.Is(err, store.ErrDead) || !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if _, err := d.Tallies(context.Background()); !errors.Is(err, store.ErrDead) {
			t.Errorf("a dead store answered: %v", err)
		}
		d.Options.Crash = nil
		d.Reopen()
		d.Begin()
		d.Run()
		d.Runs("note/a", "note/b", "note/x/1", "note/x/2", "make/a", "make/b", "make/x/1", "make/x/2", "make.build/x")
		d.Sound()
	}
}

func testDeferral(t *testing.T) {
	ctx := context.Background()
	start := time.UnixMilli(1_700_000_000_000).UTC()
	d := Open(t, t.TempDir(), store.Options{Now: func() time.Time { return start }})
	put := func(c pipeline.Claim, after time.Duration) pipeline.Settlement {
		return pipeline.Settlement{ID: c.ID, State: schemas.StepDeferred, Reason: "registry", Detail: "503", NotBefore: start.Add(after), Cost: 0.5, MS: 3}
	}
	due := func(after time.Duration) time.Duration {
		t.Helper()
		next, err := d.Due(ctx, start.Add(after))
		d.check(err)
		if next.IsZero() {
			return 0
		}
		return next.Sub(start)
	}
	if got := due(0); got != 0 {
		t.Errorf("next of none: %v", got)
	}
	d.Seed("a=", "b=", "c=")
	all := d.Take("grow", 3)
	d.End(put(all[0], time.Second), put(all[1], time.Minute), put(all[2], time.Hour))
	d.Stands("grow deferred registry 3", "pack ready 1")
	if got := due(time.Second - time.Millisecond); got != time.Second {
		t.Errorf("next in %v, want 1s", got)
	}
	if got := d.Take("grow", 1); len(got) > 0 {
		t.Error("a deferred step was given out")
	}
	if got := due(time.Second); got != time.Minute {
		t.Errorf("next in %v, want 1m", got)
	}
	d.Stands("grow deferred registry 2", "grow ready 1", "pack ready 1")
	c := d.TakeOne("grow")
	if s := d.Is("grow", "a", "running"); c.Key != "a" || s.Deferrals != 1 || s.Attempts != 2 || s.Cost != 0.5 {
		t.Errorf("after its deferral: %+v", s)
	}
	d.End(Default(c))
	if s := d.Is("grow", "b", "deferred registry"); !s.NotBefore.Equal(start.Add(time.Minute)) || s.Detail != "503" {
		t.Errorf("deferred: %+v", s)
	}
	// The next run finds them deferred still; withdrawn ones are not due.
	d.Reopen()
	d.Begin()
	d.Seed("a=", "c=")
	if got := due(time.Minute); got != time.Hour {
		t.Errorf("next in %v, want 1h", got)
	}
	d.Seed("a=", "b=", "c=")
	if got := due(2 * time.Hour); got != 0 {
		t.Errorf("next in %v, want none", got)
	}
	d.Run()
	d.Stands("grow done 3", "pack done 1")
}

func testBudget(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	d := Open(t, t.TempDir(), store.Options{Now: func() time.Time { return now }})
	budget := func(b pipeline.Budget) {
		d.Plan = slices.Clone(d.Plan)
		d.Plan[0].Budget = b
		d.Begin()
	}
	said := false
	put := func() {
		d.T.Helper()
		_, err := d.Due(context.Background(), now)
		d.check(err)
		c := d.TakeOne("grow")
		d.End(pipeline.Settlement{ID: c.ID, State: schemas.StepDeferred, Detail: "503", NotBefore: now.Add(time.Minute), Said: said})
		now = now.Add(time.Minute)
	}
	budget(pipeline.Budget{Tries: 2})
	d.Seed("a=")
	put()
	put()
	d.Is("grow", "a", "deferred")
	put()
	if s := d.Is("grow", "a", "failed"); s.Detail != "put off 3 times, more than its budget allows: 503" {
		t.Errorf("detail %q", s.Detail)
	}
	// The next run gives it a new budget, by time now. A wait whose end the resource says is
	// not of it.
	budget(pipeline.Budget{Wait: 150 * time.Second})
	said = true
	for range 5 {
		put()
	}
	d.Is("grow", "a", "deferred")
	said = false
	put()
	put()
	d.Is("grow", "a", "deferred")
	put()
	if s := d.Is("grow", "a", "failed"); s.Detail != "waiting any longer is more than its budget of 2m30s allows: 503" {
		t.Errorf("detail %q", s.Detail)
	}
	d.Sound()
}

func testDrain(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	d.Seed("s=a=1")
	d.Run()
	d.Ran = nil
	// A change while it runs: its end does not count.
	d.Version("pack", "2")
	d.Begin()
	c := d.TakeOne("pack")
	d.Seed("s=a=2")
	d.End(Default(d.TakeOne("grow")))
	if got := d.End(Default(c)); !got[0].Lost {
		t.Error("a drain that missed a change was settled")
	}
	d.Run()
	d.Runs("note/a", "make/a", "judge/a", "pack/")
	// Other ends are changes as well, the same end is none.
	end := pipeline.Settlement{State: schemas.StepRejected, Reason: schemas.NoCode, Provenance: []byte(`1`)}
	d.Do = func(c pipeline.Claim) pipeline.Settlement {
		if c.Stage == "judge" {
			s := end
			s.ID, s.MS = c.ID, int64(len(d.Ran))
			return s
		}
		return Default(c)
	}
	for i, want := range [][]string{{"judge/a", "pack/"}, {"judge/a"}, {"judge/a", "pack/"}, {"judge/a"}} {
		if i == 2 {
			end.Provenance = []byte(`2`)
		}
		d.Version("judge", fmt.Sprint("again", i))
		d.Begin()
		d.Run()
		d.Runs(want...)
	}
	d.Sound()
}

func testRetry(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	buildEnds(d, pipeline.Settlement{State: schemas.StepRejected, Reason: schemas.NoBuild})
	d.Seed("s=a=1 x/1=1 x/2=2", "r=b=1")
	d.Run()
	d.Ran = nil
	d.Reopen() // by a process that knows of no plan
	for _, s := range [][2]string{{"make", "x/1"}, {"judge", "a"}, {"pack", ""}} {
		d.check(d.Retry(s[0], s[1]))
	}
	if err := d.Retry("make", "missing"); err == nil {
		t.Error("retried a step that is not there")
	}
	d.Do = nil
	d.Begin()
	d.Run()
	d.Runs("make.build/x", "make/x/1", "make/x/2", "judge/x/1", "judge/x/2", "judge/a", "pack/")
	d.Seed("s=a=1 x/1=1 x/2=2")
	d.check(d.Retry("judge", "b"))
	d.Run()
	d.Ran = nil
	d.Seed("s=a=1 x/1=1 x/2=2", "r=b=1")
	d.Run()
	d.Runs("judge/b", "pack/")
	d.Sound()
}

func testResources(t *testing.T) {
	ctx := context.Background()
	d := Open(t, t.TempDir(), store.Options{})
	at := time.UnixMilli(1_700_000_000_123).UTC()
	d.check(d.Pause(ctx, "github", at))
	d.check(d.Pause(ctx, "github", at.Add(-time.Hour))) // is over before
	d.check(d.Cap(ctx, "model", 1))
	reserve := func(cost float64, want bool) {
		t.Helper()
		ok, err := d.Reserve(ctx, "model", cost)
		d.check(err)
		if ok != want {
			t.Errorf("reserving %v: %v, want %v", cost, ok, want)
		}
	}
	for range 10 {
		reserve(0.1, true) // ten tenths are one, in spite of their binary forms
	}
	reserve(0.01, false)
	for range 10 {
		d.check(d.Pay(ctx, pipeline.Payment{Resource: "model", Reserved: 0.1, Spend: pipeline.Spend{Cost: 0.05}}))
	}
	reserve(0.5, true)
	reserve(0.01, false)
	d.check(d.Pay(ctx, pipeline.Payment{Resource: "model", Reserved: 0.5, Spend: pipeline.Spend{Cost: 0.6}})) // a call may cost more than it was taken for
	reserve(0, false)
	if ok, err := d.Reserve(ctx, "free", 1e6); !ok || err != nil {
		t.Errorf("without a cap: %v %v", ok, err)
	}
	got, err := d.Resources(ctx)
	d.check(err)
	for i := range got {
		got[i].Spent = float64(int(got[i].Spent*1000+0.5)) / 1000
	}
	want := []pipeline.Resource{{Name: "free"}, {Name: "github", PausedUntil: at}, {Name: "model", Spent: 1.1, Cap: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What a dead process had reserved comes back.
	d.check(d.Cap(ctx, "model", 2))
	reserve(0.8, true)
	reserve(0.2, false)
	d.Kill()
	reserve(0.9, true)
}

func testAnswers(t *testing.T) {
	ctx := context.Background()
	d := Open(t, t.TempDir(), store.Options{})
	intend := func(want pipeline.Answer) {
		t.Helper()
		got, err := d.Intend(ctx, "q")
		d.check(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	answered := func(request schemas.Digest, a pipeline.Answer) error {
		return d.Pay(ctx, pipeline.Payment{Request: request, Answer: &a, Resource: "model"})
	}
	intend(pipeline.Answer{Sent: 1})
	d.Kill()
	intend(pipeline.Answer{Sent: 2})
	a := pipeline.Answer{Blob: "b", Model: "m", Input: 3, Output: 4}
	d.check(answered("q", a))
	a.Answered, a.Sent = true, 2
	intend(a)
	d.check(answered("q", pipeline.Answer{Blob: "another"}))
	intend(a)
	d.check(answered("unasked", pipeline.Answer{Blob: "c"}))
	if got, err := d.Intend(ctx, "unasked"); err != nil || got.Blob != "c" || !got.Answered {
		t.Errorf("%+v %v", got, err)
	}
}

// What was paid is told by stage, item and model, and adds up to what was spent.
func testPayments(t *testing.T) {
	ctx := context.Background()
	d := Open(t, t.TempDir(), store.Options{})
	ok, err := d.Reserve(ctx, "model", 10)
	if d.check(err); !ok {
		t.Error("nothing could be set aside")
	}
	pay := func(request, stage, key, model string, in, cached, out int64, cost float64) {
		t.Helper()
		d.check(d.Pay(ctx, pipeline.Payment{
			Request: schemas.Digest(request), Answer: &pipeline.Answer{Blob: "b", Model: model}, Resource: "model", Reserved: 2,
			Spend: pipeline.Spend{Stage: stage, Key: key, Model: model, Questions: 1, Input: in, Cached: cached, Output: out, Cost: cost},
		}))
	}
	pay("1", "grow", "a", "small", 100, 0, 10, 0.25)
	pay("2", "grow", "a", "small", 200, 50, 20, 0.5)
	pay("3", "grow", "a", "large", 300, 0, 30, 1)
	pay("4", "judge", "b", "small", 400, 0, 40, 2)
	d.check(d.Pay(ctx, pipeline.Payment{Request: "5", Resource: "model", Reserved: 2, Spend: pipeline.Spend{Stage: "judge", Key: "c", Model: "small"}})) // nobody answered
	for key, want := range map[string][]pipeline.Spend{
		"a": {{Stage: "grow", Key: "a", Model: "large", Questions: 1, Input: 300, Output: 30, Cost: 1}, {Stage: "grow", Key: "a", Model: "small", Questions: 2, Input: 300, Cached: 50, Output: 30, Cost: 0.75}},
		"b": nil, // of another stage
	} {
		got, err := d.SpendingOf(ctx, "model", "grow", key)
		d.check(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	d.Kill() // what was paid stays
	got, err := d.Spending(ctx, "model")
	d.check(err)
	want := []pipeline.Spend{
		{Stage: "grow", Model: "large", Questions: 1, Input: 300, Output: 30, Cost: 1}, {Stage: "grow", Model: "small", Questions: 2, Input: 300, Cached: 50, Output: 30, Cost: 0.75},
		{Stage: "judge", Model: "small", Questions: 1, Input: 400, Output: 40, Cost: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all, err := d.Resources(ctx)
	d.check(err)
	if len(all) != 1 || all[0].Spent != 3.75 {
		t.Errorf("spent in all: %+v, want 3.75", all)
	}
	verdict := func(request, why, fault string) pipeline.Verdict {
		return pipeline.Verdict{Request: schemas.Digest(request), Resource: "model", Stage: "grow", Key: "a", Model: "small", Prompt: "p", Why: why, Fault: fault}
	}
	for _, v := range []pipeline.Verdict{verdict("1", "leak", "says\x00 it"), verdict("2", "leak", "says that"), verdict("1", "thin", "again"), verdict("9", "slow", "")} {
		d.check(d.Judge(ctx, v))
	}
	useless, err := d.Useless(ctx, "model")
	d.check(err)
	if diff := cmp.Diff([]pipeline.Useless{{Model: "small", Why: "leak", N: 2}, {Model: "small", Why: "slow", N: 1}}, useless); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	verdicts, err := d.VerdictsOf(ctx, "model", "grow", "a")
	d.check(err)
	if len(verdicts) != 3 || verdicts[0].Blob != "b" || verdicts[0].Why != "leak" || verdicts[2].Blob != "" {
		t.Errorf("%+v", verdicts)
	}
}

// On an error nothing is changed: a death before the commit leaves nothing, one
// after it the whole.
func testCommit(t *testing.T) {
	for point, want := range map[string][]string{
		"settle/before": {"grow ready 1", "pack ready 1"},
		"settle/after":  {"grow done 1", "note ready 2", "pack ready 1"},
	} {
		d := Open(t, t.TempDir(), store.Options{Crash: killer(point, 1)})
		d.Seed("s=a=1 b=1")
		s := Default(d.TakeOne("grow"))
		s.Owner = d.Owner
		if _, err := d.Settle(context.Background(), []pipeline.Settlement{s}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		d.Options.Crash = nil
		d.Kill()
		d.Stands(want...)
	}
}

// A death before a commit leaves nothing of it, one after it all; the run that
// follows ends as an undisturbed one does.
func testCrashPoints(t *testing.T) {
	points := map[string]int{}
	work := func(d *Driver) {
		d.Begin()
		d.Seed("s=a=1 x/1=1 x/2=2", "r=b=1")
		d.Run()
	}
	dir := t.TempDir()
	whole := Open(t, dir, store.Options{})
	whole.Options.Crash = func(point string) error {
		points[point]++
		return nil
	}
	whole.Reopen()
	work(whole)
	want, stand := whole.Packed(), whole.Stand()
	for _, op := range []string{"begin", "seed", "claim", "settle"} {
		if op != "begin" && points[op+"/before"] == 0 || points[op+"/before"] != points[op+"/after"] {
			t.Errorf("points of %s: %v", op, points)
		}
	}
	for point, n := range points {
		for i := 1; i <= n; i += 1 + n/4 {
			d := &Driver{T: mute{t}, Dir: t.TempDir(), Owner: "w1", Plan: Plan()}
			d.Options.Crash = killer(point, i)
			died(func() { d.Reopen(); work(d) })
			d.T, d.Options.Crash = t, nil
			d.Kill()
			d.Seed("s=a=1 x/1=1 x/2=2", "r=b=1")
			for d.round(false) || d.lane() {
			}
			d.Run()
			if diff := cmp.Diff(want, d.Packed()); diff != "" {
				t.Errorf("killed at %s %d (-want +got):\n%s", point, i, diff)
			}
			if diff := cmp.Diff(stand, d.Stand()); diff != "" {
				t.Errorf("killed at %s %d (-want +got):\n%s", point, i, diff)
			}
			d.Sound()
		}
	}
}

// lane runs one suspect.
func (d *Driver) lane() bool {
	d.T.Helper()
	var names []string
	for _, s := range d.Plan {
		if !s.Drain {
			names = append(names, s.Name)
		}
	}
	c := d.suspect(names...)
	if c == nil {
		c = d.suspect("pack")
	}
	if c != nil {
		d.End(Default(*c))
	}
	return c != nil
}

// mute is a test that a death ends without failing it.
type mute struct{ testing.TB }

type death struct{}

func (mute) Fatal(...any)          { panic(death{}) }
func (mute) Fatalf(string, ...any) { panic(death{}) }

func died(f func()) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(death); !ok {
				panic(p)
			}
		}
	}()
	f()
}

func testFix(t *testing.T) {
	d := Open(t, t.TempDir(), store.Options{})
	var got []string
	for _, v := range []string{"", "docker", "bwrap", ""} {
		x, err := d.Fix("sandbox", v)
		d.check(err)
		got = append(got, x)
	}
	if diff := cmp.Diff([]string{"", "docker", "docker", "docker"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
