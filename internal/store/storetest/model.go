package storetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Random does steps at random, checks against a world in memory: in between that
// nothing is done twice and all adds up, at the end that what stands in the store
// is what a fresh run would have made.
func Random(t *testing.T, steps int) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, r, t.TempDir())
		defer func() { _ = w.driver.Store.Close() }()
		ops := w.ops()
		names := slices.Sorted(maps.Keys(ops))
		for range steps {
			w.last = rapid.SampledFrom(names).Draw(r, "op")
			ops[w.last]()
			w.sound()
		}
		w.quiesce()
	})
}

// world is what a store is to know, in memory: the seeds, what each stage makes of
// an input, and who may be asked again.
type world struct {
	r      *rapid.T
	driver *Driver
	last   string
	n      int // of owners

	seeds    map[string]bool              // those that are given
	texts    map[string]map[string]string // of a seed: key → text
	versions map[string]int
	hands    []hand
	// excused are steps that may be settled (again); fog excuses all of them.
	excused map[string]bool
	ended   map[string]bool
	fog     bool
	made    map[string]string // "stage/key" → output, as last settled
	clock   time.Time
}

// hand is a claimed step, with what it comes to: that is worked out when it is
// claimed, as a stage does that runs meanwhile.
type hand struct {
	pipeline.Claim
	owner  string
	result pipeline.Settlement
}

func newWorld(t *testing.T, r *rapid.T, dir string) *world {
	w := &world{
		r: r, seeds: map[string]bool{}, texts: map[string]map[string]string{}, versions: map[string]int{},
		excused: map[string]bool{}, ended: map[string]bool{}, made: map[string]string{}, clock: time.UnixMilli(1_700_000_000_000),
	}
	for i, seed := range []string{"r", "s", "t"} {
		w.seeds[seed] = true
		w.texts[seed] = map[string]string{fmt.Sprintf("k%d", i): "1", fmt.Sprintf("x/%d", i): "1", fmt.Sprintf("y/%d", i): "2"}
	}
	w.driver = &Driver{T: rapidly{t, r}, Dir: dir, Owner: "w0", Plan: Plan()}
	w.driver.Options.Now = func() time.Time { return w.clock }
	w.driver.Reopen()
	w.driver.Begin()
	w.seed()
	return w
}

// rapidly fails the attempt, not the whole test.
type rapidly struct {
	testing.TB
	r *rapid.T
}

func (x rapidly) Helper()                   {}
func (x rapidly) Fatal(a ...any)            { x.r.Fatal(a...) }
func (x rapidly) Fatalf(f string, a ...any) { x.r.Fatalf(f, a...) }
func (x rapidly) Errorf(f string, a ...any) { x.r.Fatalf(f, a...) }
func (x rapidly) Error(a ...any)            { x.r.Fatal(a...) }

func (w *world) ops() map[string]func() {
	// An operation that stands here twice is drawn twice as often.
	return map[string]func(){
		"claim": w.claim, "claim2": w.claim, "claim3": w.claim,
		"settle": w.settle, "settle2": w.settle, "settle3": w.settle,
		"suspect": w.suspect, "release": w.release, "due": w.due, "retry": w.retry,
		"withdraw": w.withdraw, "change": w.change, "move": w.move, "version": w.version, "kill": w.kill, "die": w.die,
	}
}

func roll(n uint32, words ...any) bool {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, words...)
	return h.Sum32()%n == 0
}

// trim, note, make and judge say what a stage makes of a text, by its version. "" is
// nothing: rejected.
func (w *world) trim(text string) string {
	told, _, _ := strings.Cut(strings.TrimPrefix(text, "~"), "#")
	return fmt.Sprintf("%s^%d", told, w.versions["trim"]/2)
}

func (w *world) note(key, text string) string {
	v := w.versions["note"]
	told, hidden, _ := strings.Cut(text, "#")
	if roll(7, "note", key, told, v) {
		return ""
	}
	return fmt.Sprintf("%s.%d#%s", told, v/2, hidden)
}

func (w *world) build(share string) string {
	v := w.versions["make.build"]
	if roll(5, "build", share, v) {
		return ""
	}
	return fmt.Sprintf("%s%d", share, v/2)
}

func (w *world) make(text, built string) string {
	told, _, _ := strings.Cut(text, "#")
	return fmt.Sprintf("%s,%s,%d", told, built, w.versions["make"]/2)
}

func (w *world) judge(key, text, grown string) string {
	v := w.versions["judge"]
	if roll(6, "judge", key, text, v) {
		return ""
	}
	return fmt.Sprintf("%s;%s;%d", text, grown, v/2)
}

// result is what a claim comes to, by what the store shows at its start.
func (w *world) result(c pipeline.Claim) pipeline.Settlement {
	d := w.driver
	text := Text(c.Record)
	ended := func(out string) pipeline.Settlement {
		if out == "" {
			return pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepRejected, Reason: schemas.NoCode}
		}
		return Done(c, c.Key+"="+out)
	}
	switch c.Stage {
	case "grow":
		return Done(c, strings.Fields(text)...)
	case "trim":
		return ended(w.trim(text))
	case "note":
		return ended(w.note(c.Key, text))
	case "make.build":
		out := w.build(c.Key)
		if out == "" {
			return pipeline.Settlement{ID: c.ID, Attempt: c.Attempt, State: schemas.StepRejected, Reason: schemas.NoBuild}
		}
		return Done(c, c.Key+"="+out)
	case "make":
		built := ""
		if c.Share != "" {
			raw, err := d.Built(context.Background(), "make", c.Share)
			d.check(err) // a member may start: its build is done
			built = Text(raw)
		}
		return ended(w.make(text, built))
	case "judge":
		grown, ok, err := d.Inputs("note", c.Key)
		d.check(err)
		if !ok {
			w.r.Fatalf("judge %s without a record of note", c.Key)
		}
		return ended(w.judge(c.Key, text, Text(grown)))
	}
	return Done(c)
}

func (w *world) take(claims ...pipeline.Claim) {
	for _, c := range claims {
		w.hands = append(w.hands, hand{c, w.driver.Owner, w.result(c)})
	}
}

func (w *world) claim() {
	var wants []pipeline.Want
	for _, s := range w.driver.Plan {
		if !s.Drain {
			wants = append(wants, pipeline.Want{Stage: s.Name, N: rapid.IntRange(0, 3).Draw(w.r, s.Name)})
		}
	}
	slices.Reverse(wants)
	got, err := w.driver.Claim(context.Background(), w.driver.Owner, wants)
	w.alive(err)
	w.take(got...)
}

func (w *world) suspect() {
	c, err := w.driver.ClaimSuspect(context.Background(), w.driver.Owner, []string{"grow", "trim", "note", "make.build", "make", "judge"})
	w.alive(err)
	if err == nil && c != nil {
		w.take(*c)
	}
}

// draw takes some of the hands, in any order.
func (w *world) draw() []hand {
	if len(w.hands) == 0 {
		return nil
	}
	n := rapid.IntRange(1, min(len(w.hands), 6)).Draw(w.r, "n")
	var out []hand
	for range n {
		i := rapid.IntRange(0, len(w.hands)-1).Draw(w.r, "hand")
		out = append(out, w.hands[i])
		w.hands = slices.Delete(w.hands, i, i+1)
	}
	return out
}

func (w *world) settle() {
	group := w.draw()
	var all []pipeline.Settlement
	for _, h := range group {
		s := h.result
		s.Owner, s.MS, s.Cost = h.owner, 3, 0.1
		switch rapid.IntRange(0, 9).Draw(w.r, "luck") {
		case 0:
			s = pipeline.Settlement{ID: s.ID, Owner: s.Owner, Attempt: s.Attempt, State: schemas.StepFailed, Detail: "disk full"}
		case 1:
			s = pipeline.Settlement{ID: s.ID, Owner: s.Owner, Attempt: s.Attempt, State: schemas.StepDeferred, NotBefore: w.clock.Add(time.Minute)}
		}
		all = append(all, s)
	}
	w.book(group, all)
}

func (w *world) book(group []hand, all []pipeline.Settlement) {
	got, err := w.driver.Settle(context.Background(), all)
	if err != nil {
		w.fog = true // it may have been committed
		w.alive(err)
		return
	}
	for i, h := range group {
		if !got[i].Lost {
			w.settled(h, all[i], got[i])
		}
	}
}

// settled checks that a step was settled for a reason, and notes for whom its end
// is one.
func (w *world) settled(h hand, s pipeline.Settlement, got pipeline.Settled) {
	id := h.Stage + "/" + h.Key
	if w.ended[id] && !w.excused[id] && !w.fog {
		w.r.Fatalf("%s was settled a second time for nothing", id)
	}
	if h.owner != w.driver.Owner {
		w.r.Fatalf("%s was settled by %s, which is dead", id, h.owner)
	}
	w.ended[id] = s.State == schemas.StepDone || s.State == schemas.StepRejected
	w.excused[id] = got.Err != nil
	// What was made otherwise than before is to be followed. An end that is none takes
	// everything with it, and brings it back unchanged.
	if h.Stage == "make.build" {
		out := "rejected"
		if s.State == schemas.StepDone {
			out = Text(s.Outputs[0].Record)
		}
		if s.State != schemas.StepDeferred && (w.made[id] != out || s.State != schemas.StepDone) {
			w.made[id] = out
			w.excuse("make", ShareOf(h.Key+"/"))
		}
		return
	}
	for _, m := range s.Outputs {
		out := m.To + "<" + m.Key
		if text := Text(m.Record); w.made[out] != text {
			w.made[out] = text
			w.excused[m.To+"/"+m.Key] = true
			if h.Stage == "grow" || h.Stage == "trim" {
				w.excused["judge/"+m.Key] = true
			}
		}
		if h.Stage == "grow" && m.To == "note" { // trim has lost its key: it makes it anew
			w.excused["trim/"+m.Key] = true
		}
	}
}

// excuse lets every step of a stage be settled again, or those of one build.
func (w *world) excuse(stage, share string) {
	for id := range w.ended {
		if name, key, _ := strings.Cut(id, "/"); name == stage && (share == "" || ShareOf(key) == share) {
			w.excused[id] = true
		}
	}
}

func (w *world) release() {
	var ids []int64
	for _, h := range w.draw() {
		ids = append(ids, h.ID)
	}
	w.alive(w.driver.Release(context.Background(), w.driver.Owner, ids))
}

func (w *world) due() {
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(1, 90).Draw(w.r, "seconds")) * time.Second)
	_, err := w.driver.Due(context.Background(), w.clock)
	w.alive(err)
}

func (w *world) retry() {
	if len(w.ended) == 0 {
		return
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(w.ended))).Draw(w.r, "step")
	stage, key, _ := strings.Cut(id, "/")
	if _, ok, err := w.driver.Step(stage, key); err != nil || !ok {
		w.alive(err)
		return
	}
	w.excused[id] = true
	if share := ShareOf(key); stage == "make" && share != "" {
		w.excused["make.build/"+share] = true
		w.excuse("make", share)
	}
	w.alive(w.driver.Retry(stage, key))
}

func (w *world) seed() {
	var all []pipeline.Made
	for seed, given := range w.seeds {
		if !given {
			continue
		}
		var words []string
		for _, key := range slices.Sorted(maps.Keys(w.texts[seed])) {
			words = append(words, key+"="+w.texts[seed][key])
		}
		m := Made(seed + "=" + strings.Join(words, " "))
		m.Digest = m.Whole
		all = append(all, m)
		if w.made["seed>"+seed] != string(m.Whole) {
			w.made["seed>"+seed] = string(m.Whole)
			w.excused["grow/"+seed] = true
		}
	}
	w.alive(w.driver.Store.Seed(context.Background(), "grow", "", Seeds(all...)))
}

func (w *world) anySeed() string { return rapid.SampledFrom([]string{"r", "s", "t"}).Draw(w.r, "seed") }

// withdraw takes a seed out, or gives it again.
func (w *world) withdraw() {
	seed := w.anySeed()
	w.seeds[seed] = !w.seeds[seed]
	w.seed()
}

// change adds, drops or changes one key of a seed: what the next stage depends on,
// or the rest.
func (w *world) change() {
	seed := w.anySeed()
	key := rapid.SampledFrom([]string{"k", "x/", "y/"}).Draw(w.r, "key") + map[string]string{"r": "0", "s": "1", "t": "2"}[seed] + rapid.SampledFrom([]string{"", "b"}).Draw(w.r, "more")
	if _, there := w.home(key); there && w.texts[seed][key] == "" {
		return // it lives elsewhere now
	}
	text := rapid.SampledFrom([]string{"", "1", "2", "3", "1#a", "1#b", "2#a", "~1", "~2", "~1#a"}).Draw(w.r, "text")
	if delete(w.texts[seed], key); text != "" {
		w.texts[seed][key] = text
	}
	w.seed()
}

// home is the seed that makes a key.
func (w *world) home(key string) (string, bool) {
	for seed, keys := range w.texts {
		if keys[key] != "" {
			return seed, true
		}
	}
	return "", false
}

// move gives a key to another seed. Whoever has it does its work anew.
func (w *world) move() {
	from, to := w.anySeed(), w.anySeed()
	keys := slices.Sorted(maps.Keys(w.texts[from]))
	if from == to || len(keys) == 0 {
		return
	}
	key := rapid.SampledFrom(keys).Draw(w.r, "key")
	w.texts[to][key] = w.texts[from][key]
	delete(w.texts[from], key)
	w.excuse("grow", "")
	w.seed()
}

// next is the process that comes after one that ended. It may die as it begins.
func (w *world) next(change ...func(*pipeline.BeginOptions)) {
	for {
		w.n++
		w.driver.Owner = fmt.Sprintf("w%d", w.n)
		w.driver.Reopen()
		o := pipeline.BeginOptions{Worker: w.driver.Owner, Stages: w.driver.Plan}
		for _, c := range change {
			c(&o)
		}
		err := w.driver.Store.Begin(context.Background(), o)
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrDead) {
			w.r.Fatalf("%s: %v", w.last, err)
		}
		w.fog = true
		w.driver.Options.Crash = nil
	}
}

func (w *world) kill() { w.next() }

func (w *world) version() {
	stage := rapid.SampledFrom([]string{"grow", "trim", "note", "make.build", "make", "judge"}).Draw(w.r, "stage")
	w.versions[stage]++
	w.driver.Version(stage, fmt.Sprintf("v%d", w.versions[stage]))
	w.excuse(stage, "")
	w.next()
}

// die makes the next operations fatal at a commit.
func (w *world) die() {
	n := rapid.IntRange(1, 4).Draw(w.r, "commits")
	after := rapid.Bool().Draw(w.r, "after")
	w.driver.Options.Crash = func(point string) error {
		if strings.HasSuffix(point, "/after") == after {
			if n--; n == 0 {
				return errKilled
			}
		}
		return nil
	}
	w.next()
	w.driver.Options.Crash = nil // for the one after it
}

// alive begins the next process where an operation was the death of this one.
func (w *world) alive(err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, store.ErrDead) {
		w.r.Fatalf("%s: %v", w.last, err)
	}
	w.fog = true
	w.next()
	if w.last == "change" || w.last == "move" || w.last == "withdraw" {
		w.seed()
	}
}

// sound are the rules that hold at every moment.
func (w *world) sound() {
	ctx := context.Background()
	bad, err := w.driver.Recount(ctx)
	if errors.Is(err, store.ErrDead) {
		w.alive(err)
		return
	}
	w.driver.check(err)
	if len(bad) > 0 {
		w.r.Fatalf("after %s the tally is off: %+v", w.last, bad)
	}
	stuck, err := w.driver.Stuck(ctx)
	w.driver.check(err)
	if len(stuck) > 0 {
		w.r.Fatalf("after %s these wait for ever: %v", w.last, stuck)
	}
}

// quiesce works until nothing is left to do, and compares.
func (w *world) quiesce() {
	w.driver.Options.Crash = nil
	w.last = "quiesce"
	w.hands = nil
	ctx := context.Background()
	for range 4 { // failed ones are tried again by the next run
		w.next(func(o *pipeline.BeginOptions) { o.RetryCrashed = true })
		w.seed()
		w.clock = w.clock.Add(time.Hour)
		_, err := w.driver.Due(ctx, w.clock)
		w.driver.check(err)
		for {
			w.claimAll()
			for range 30 {
				w.suspect()
				if len(w.hands) == 0 {
					break
				}
				w.settleAll()
			}
			if w.claimAll(); len(w.hands) == 0 {
				break
			}
			w.settleAll()
		}
		w.sound()
	}
	want := w.want()
	if diff := gocmp.Diff(want, w.stand()); diff != "" {
		w.r.Fatalf("not what a fresh run makes of %v %v (-want +got):\n%s\nit stands so:\n%s", w.seeds, w.texts, diff, w.dump())
	}
}

func (w *world) claimAll() {
	for _, s := range slices.Backward(w.driver.Plan) {
		if !s.Drain {
			w.take(w.driver.Take(s.Name, 50)...)
		}
	}
}

func (w *world) settleAll() {
	group := w.hands
	w.hands = nil
	var all []pipeline.Settlement
	for _, h := range group {
		s := h.result
		s.Owner = h.owner
		all = append(all, s)
	}
	w.book(group, all)
}

// want is every end that a fresh run comes to: "stage/key" → its state, and the
// record of what is held.
func (w *world) want() map[string]string {
	out := map[string]string{}
	members := map[string][]string{} // of a build: the texts by key
	notes := map[string]string{}
	grown := map[string]string{}
	for seed, given := range w.seeds {
		if !given {
			continue
		}
		out["grow/"+seed] = "done"
		for key, text := range w.texts[seed] {
			if strings.HasPrefix(text, "~") {
				out["trim/"+key], text = "done", w.trim(text)
			}
			note := w.note(key, text)
			if note == "" {
				out["note/"+key] = "rejected"
				continue
			}
			out["note/"+key] = "done"
			notes[key], grown[key] = note, text
			members[ShareOf(key)] = append(members[ShareOf(key)], key)
		}
	}
	for share, keys := range members {
		built := ""
		if share != "" {
			built = w.build(share)
		}
		switch {
		case share == "":
		case built == "":
			out["make.build/"+share] = "rejected"
		default:
			out["make.build/"+share] = "done"
		}
		for _, key := range keys {
			if share != "" && built == "" {
				out["make/"+key] = "rejected"
				continue
			}
			out["make/"+key] = "done"
			verdict := w.judge(key, w.make(notes[key], built), grown[key])
			if verdict == "" {
				out["judge/"+key] = "rejected"
				continue
			}
			out["judge/"+key], out["pack/"+key] = "done", verdict
		}
	}
	return out
}

// stand is what the store holds, in the same words.
func (w *world) stand() map[string]string {
	d := w.driver
	out := map[string]string{}
	for _, s := range d.Plan {
		for step, err := range d.Each(s.Name) {
			d.check(err)
			if s.Drain {
				continue
			}
			id := s.Name + "/" + step.Key
			out[id] = string(step.State)
		}
	}
	for _, line := range d.Packed() {
		key, text, _ := strings.Cut(line, "=")
		out["pack/"+key] = text
	}
	return out
}

// dump is every live step, for the person who looks for the fault.
func (w *world) dump() string {
	var b strings.Builder
	for _, s := range w.driver.Plan {
		for step, err := range w.driver.Each(s.Name) {
			w.driver.check(err)
			fmt.Fprintf(&b, "%s/%s %s %s by %s of %s: %q\n", step.Stage, step.Key, step.State, step.Reason, step.Fingerprint, step.Parent, Text(step.Record))
		}
	}
	return b.String()
}
