package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/postgrestest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

func onSQLite(t testing.TB) storetest.Place {
	return storetest.Place{Location: t.TempDir()}
}

func onPostgres(t testing.TB) storetest.Place {
	return storetest.Place{Location: postgrestest.Location(t), Blobs: t.TempDir(), Postgres: true}
}

func TestSQLite(t *testing.T)   { storetest.Run(t, onSQLite) }
func TestPostgres(t *testing.T) { storetest.Run(t, onPostgres) }

func TestSecondRunIsRefusedAndReadersAreNot(t *testing.T) {
	t.Parallel()
	place := onSQLite(t)
	d := storetest.Open(t, place, store.Options{})
	d.Seed("s=a=1")
	o, err := store.Open(t.Context(), place.Location, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := o.Lock(); !errors.Is(err, store.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if s, ok, err := o.Step("grow", "s"); !ok || err != nil || s.State != "ready" {
		t.Errorf("reader: %+v %v %v", s, ok, err)
	}
	child, err := d.Share()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Lock(); err != nil {
		t.Errorf("lock after close, with a child that still has the file: %v", err)
	}
}

func TestRescue(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	place := onPostgres(t)
	a := storetest.Open(t, place, store.Options{})
	a.Seed("s=a=1 b=1", "r=c=1")
	b := storetest.Open(t, place, store.Options{}) // begins beside a: nothing of a's is reset
	b.Owner = "w2"
	b.Begin(func(o *pipeline.BeginOptions) { o.Join = true })
	got := a.Take("grow", 1)
	storetest.Open(t, place, store.Options{}) // who begins beside others takes nothing from them
	a.Stands("grow running 1", "grow ready 1", "pack ready 1")
	if ok, err := a.Reserve(ctx, "model", 3); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if n, err := b.Beat(ctx, "w2", time.Hour); n != 0 || err != nil {
		t.Errorf("rescued %d of a living worker, %v", n, err)
	}
	time.Sleep(30 * time.Millisecond)
	if n, err := b.Beat(ctx, "w2", 20*time.Millisecond); n != 1 || err != nil {
		t.Errorf("rescued %d of a silent worker, want 1; %v", n, err)
	}
	if n, err := b.Beat(ctx, "w2", 20*time.Millisecond); n != 0 || err != nil {
		t.Errorf("rescued %d a second time, %v", n, err)
	}
	// It was only frozen: its result is refused, and it comes in again.
	if res := a.End(storetest.Default(got[0])); !res[0].Lost {
		t.Error("a frozen worker's result was taken")
	}
	if s := b.Is("grow", got[0].Key, "ready"); s.Crashes != 1 {
		t.Errorf("after its owner fell silent it counts %d", s.Crashes)
	}
	// Woken, it claims before it beats: an owner without a row is taken for dead.
	a.Take("grow", 1)
	if n, err := b.Beat(ctx, "w2", time.Hour); n != 1 || err != nil {
		t.Errorf("rescued %d of a worker without a row, want 1; %v", n, err)
	}
	if _, err := a.Beat(ctx, "w1", time.Hour); err != nil {
		t.Fatal(err)
	}
	all, err := b.Workers(ctx)
	if err != nil || len(all) != 2 || all[0].ID != "w1" || all[0].Beat.IsZero() {
		t.Errorf("workers %+v, %v", all, err)
	}
	b.Sound()
	if err := b.Leave(ctx, "w1"); err != nil {
		t.Fatal(err)
	}
	if all, err = b.Workers(ctx); err != nil || len(all) != 1 {
		t.Errorf("after one left: %+v, %v", all, err)
	}
}

// Two processes rescue, and two find deferred steps due, at the same instant: each
// step is taken back once (engine, 14).
func TestRescueAndDueOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	place := onPostgres(t)
	a := storetest.Open(t, place, store.Options{})
	var others []*storetest.Driver
	for _, name := range []string{"w2", "w3", "w4"} {
		o := storetest.Open(t, place, store.Options{})
		o.Owner = name
		o.Begin(func(b *pipeline.BeginOptions) { b.Join = true })
		others = append(others, o)
	}
	var words []string
	for i := range 40 {
		words = append(words, fmt.Sprintf("k%02d", i))
	}
	a.Seed(words...)
	for round := range 4 {
		silent := 25 * time.Millisecond
		if round%2 == 1 {
			silent = time.Hour // its row went with the last rescue: that is enough
		} else if _, err := a.Beat(ctx, a.Owner, time.Hour); err != nil {
			t.Fatal(err)
		}
		a.Take("grow", 40)
		var group sync.WaitGroup
		var rescued atomic.Int64
		if round%2 == 0 {
			time.Sleep(30 * time.Millisecond)
			for _, o := range others {
				if _, err := o.Beat(ctx, o.Owner, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, o := range others {
			group.Go(func() {
				n, err := o.Beat(ctx, o.Owner, silent)
				if err != nil {
					t.Error(err)
				}
				rescued.Add(int64(n))
			})
		}
		group.Wait()
		if n := rescued.Load(); n != 40 {
			t.Errorf("%d steps were rescued, want 40", n)
		}
		a.Sound()
		var all []pipeline.Settlement
		for range 40 {
			c, err := a.ClaimSuspect(ctx, a.Owner, []string{"grow"})
			if err != nil || c == nil {
				t.Fatal(c, err)
			}
			all = append(all[:0], pipeline.Settlement{ID: c.ID, State: schemas.StepDeferred, NotBefore: time.Now().Add(-time.Second)})
			a.End(all...)
		}
		for _, o := range others {
			group.Go(func() {
				if _, err := o.Due(ctx, time.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		a.Stands("grow ready 40", "pack ready 1")
	}
}

func TestRandomSQLite(t *testing.T) {
	t.Parallel()
	storetest.Random(t, 110, onSQLite) // a hundred times
}

func TestRandomPostgres(t *testing.T) {
	t.Parallel()
	storetest.Random(t, 10, onPostgres)
}

// A worker of an older plan is given nothing of a stage that has changed since, and
// what it has of it is refused.
func TestOlderPlanIsGivenNothing(t *testing.T) {
	t.Parallel()
	place := onPostgres(t)
	a := storetest.Open(t, place, store.Options{})
	a.Seed("s=a=1 b=1 c=1")
	a.End(storetest.Default(a.TakeOne("grow")))
	pair := a.Take("note", 2)
	a.End(storetest.Default(pair[0]))
	b := storetest.Open(t, place, store.Options{})
	b.Owner = "w2"
	b.Version("note", "2")
	b.Begin()
	if got := a.Take("note", 10); len(got) > 0 {
		t.Errorf("given to the older plan: %v", got)
	}
	if got := a.End(storetest.Default(pair[1])); !got[0].Lost {
		t.Error("a result of the older plan was taken")
	}
	if got := b.Take("note", 10); len(got) != 3 {
		t.Errorf("%d of 3 given to the newer plan", len(got))
	}
	b.Sound()
}

// A store that was made when a plan could not fork names one taker as a word; nothing is
// done again where it is the only one still.
func TestPlanThatCouldNotFork(t *testing.T) {
	t.Parallel()
	d := storetest.Open(t, onSQLite(t), store.Options{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d.Plan = d.Plan[2:] // without a fork
	d.Plan[len(d.Plan)-2].Reads = nil
	d.Begin()
	note := func() {
		check(d.Store.Seed(t.Context(), "note", "", storetest.Seeds(storetest.Made("a=1"), storetest.Made("x/1=1"))))
		d.Run()
	}
	note()
	older := map[string]string{}
	for _, info := range d.Plan {
		text, err := json.Marshal(info)
		check(err)
		var all map[string]any
		check(json.Unmarshal(text, &all))
		if all["Next"] = strings.Join(info.Next, " "); len(info.Next) > 1 {
			t.Fatalf("stage %s forks", info.Name)
		}
		text, err = json.Marshal(all)
		check(err)
		older[info.Name] = string(text)
	}
	check(d.Rewrite(t.Context(), older))
	d.Reopen()
	if all, err := d.Ended(t.Context(), "", "", 9); err != nil || len(all) > 0 {
		t.Errorf("reading without a plan: %v, %v", all, err)
	}
	d.Ran = nil
	d.Begin()
	note()
	d.Runs()
	// One that is followed by others now is done again.
	check(d.Rewrite(t.Context(), map[string]string{"note": strings.Replace(older["note"], `"make"`, `"judge"`, 1)}))
	d.Options.Crash = func(point string) error { // also where the process dies over it
		if point == "redo/after" {
			return errors.New("killed")
		}
		return nil
	}
	d.Reopen()
	if err := d.Store.Begin(t.Context(), pipeline.BeginOptions{Stages: d.Plan}); !errors.Is(err, store.ErrDead) {
		t.Errorf("begun with %v", err)
	}
	d.Options.Crash = nil
	d.Reopen()
	d.Begin()
	note()
	d.Runs("note/a", "note/x/1")
	d.Sound()
	var info pipeline.StageInfo
	if err := json.Unmarshal([]byte(`{"Next": 7}`), &info); err == nil {
		t.Errorf("a number is a stage: %v", info.Next)
	}
}

// What a store spent before payments were kept is one line of them, so that they add up.
func TestSpentBeforePayments(t *testing.T) {
	t.Parallel()
	place := onSQLite(t)
	d := storetest.Open(t, place, store.Options{})
	paid := pipeline.Payment{Resource: "model", Spend: pipeline.Spend{Stage: "grow", Key: "a", Model: "small", Questions: 1, Cost: 0.25}}
	if err := d.Pay(t.Context(), paid); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(place.Location, "steps.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DROP TABLE verdict", "DROP TABLE payment", "DELETE FROM version WHERE version > 2"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d.Reopen()
	if err := d.Pay(t.Context(), paid); err != nil {
		t.Fatal(err)
	}
	got, err := d.Spending(t.Context(), "model")
	want := []pipeline.Spend{{Cost: 0.25}, {Stage: "grow", Model: "small", Questions: 1, Cost: 0.25}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// scansAllowed are statements that may read a whole table, and why.
var scansAllowed = map[string]string{
	"count(*)":              "Recount is doctor's",
	"step m WHERE stage":    "Stuck is for tests and doctor",
	"SELECT info FROM":      "ten rows",
	"SELECT name, place":    "ten rows",
	"FROM tally":            "some hundred rows",
	"FROM worker":           "a row a process",
	"UPDATE resource":       "a row a resource",
	"FROM resource":         "a row a resource",
	"DELETE FROM reservati": "a row a process",
	"FROM version":          "one row",
	"INSERT INTO tally":     "its own values",
}

// No statement of a run walks the steps: with a million of them it would be felt.
func TestEveryStatementHasAnIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := storetest.Open(t, onSQLite(t), store.Options{})
	d.Seed("s=a=1 x/1=1 x/2=1", "r=b=1")
	d.Run()
	d.Seed("s=a=2 x/1=1")
	d.Run()
	d.Seed("s=a=3 x/1=1", "r=b=1")
	d.Run()
	for _, stage := range []string{"note", "make.build", "make"} {
		d.Version(stage, "2")
	}
	d.Begin()
	d.Seed("s=a=4 x/1=2 x/3=3", "r=b=1")
	for _, c := range d.Take("grow", 10) {
		d.End(pipeline.Settlement{ID: c.ID, State: schemas.StepDeferred, NotBefore: time.Unix(1, 0)})
	}
	if _, err := d.Due(ctx, time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	if err := d.Retry("judge", "b"); err != nil {
		t.Fatal(err)
	}
	plans, err := d.Plans()
	if err != nil {
		t.Fatal(err)
	}
	d.Take("grow", 1)
	d.Kill()
	if _, err := d.ClaimSuspect(ctx, d.Owner, []string{"grow"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Ended(ctx, "", "", 10); err != nil {
		t.Fatal(err)
	}
	d.Packed()
	d.Is("make", "x/1", "waiting")
	d.Sound()
	if _, err := d.Steps("make"); err != nil {
		t.Fatal(err)
	}
	if err := d.Leave(ctx, d.Owner); err != nil {
		t.Fatal(err)
	}
	more, err := d.Plans()
	if err != nil {
		t.Fatal(err)
	}
	if maps.Copy(plans, more); len(plans) < 45 {
		t.Errorf("only %d statements were looked at", len(plans))
	}
	for query, plan := range plans {
		allowed := false
		for some := range scansAllowed {
			allowed = allowed || strings.Contains(query, some)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") && line != "SCAN stage" && !strings.Contains(line, " up") && !strings.Contains(line, "USING") && !allowed && !strings.Contains(line, "CONSTANT") {
				t.Errorf("%s\n%s", query, plan)
			}
			if testing.Verbose() && strings.Contains(line, "TEMP B-TREE") {
				t.Logf("sorts: %s\n%s", query, plan)
			}
		}
	}
}
