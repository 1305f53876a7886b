package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

func TestStore(t *testing.T) { storetest.Run(t) }

func TestSecondRunIsRefusedAndReadersAreNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := storetest.Open(t, dir, store.Options{})
	d.Seed("s=a=1")
	o, err := store.Open(t.Context(), dir, store.Options{})
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

func TestRandom(t *testing.T) {
	t.Parallel()
	storetest.Random(t, 110) // a hundred times
}

// A store that was made when a plan could not fork names one taker as a word; nothing is
// done again where it is the only one still.
func TestPlanThatCouldNotFork(t *testing.T) {
	t.Parallel()
	d := storetest.Open(t, t.TempDir(), store.Options{})
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
	d := storetest.Open(t, t.TempDir(), store.Options{})
	paid := pipeline.Payment{Resource: "model", Spend: pipeline.Spend{Stage: "grow", Key: "a", Model: "small", Questions: 1, Cost: 0.25}}
	if err := d.Pay(t.Context(), paid); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(d.Dir, "steps.db"))
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
	d := storetest.Open(t, t.TempDir(), store.Options{})
	d.Trace()
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
	d.Trace()
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
