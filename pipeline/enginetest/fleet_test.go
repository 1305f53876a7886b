package enginetest_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/postgrestest"
	"github.com/benchmint/benchmint/pipeline/enginetest"
)

const (
	beat   = 300 * time.Millisecond
	silent = 2 * time.Second // less, and a busy machine takes the living for dead
	// A process may be frozen within a transaction, with locks.
	idle = "&idle_in_transaction_session_timeout=500"
)

// fleet is an empty database, and no process yet.
func fleet(t *testing.T, seed uint64) *enginetest.Fleet {
	t.Helper()
	c := enginetest.Spike(500, seed)
	c.Sleep = 20 * time.Millisecond
	c.Limit = 2 * time.Hour // what a step may take has no part in the rescue
	return &enginetest.Fleet{
		Engine: enginetest.Engine{Program: compiled(t), Dir: t.TempDir(), Store: postgrestest.Location(t) + idle, Slots: 4, Config: c},
		Beat:   beat, Silent: silent,
	}
}

// One of four processes is killed: its steps are taken over, and the rest ends.
func TestOneOfFourKilled(t *testing.T) {
	t.Parallel()
	f := fleet(t, 11)
	add(t, f)
	if err := f.Begun(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	add(t, f)
	add(t, f)
	add(t, f)
	if err := f.Begun(t.Context(), 200); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	takeover, err := f.Kill(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the killed worker's steps were taken back after %s", takeover.Round(time.Millisecond))
	if most := 2*silent + beat; takeover > most {
		t.Errorf("taken back after %s, want at most %s", takeover, most)
	}
	if _, err := f.Wait(); err != nil {
		t.Fatal(err)
	}
	sameDataset(t, f.Engine)
}

func add(t *testing.T, f *enginetest.Fleet) {
	t.Helper()
	if err := f.Add(); err != nil {
		t.Fatal(err)
	}
}

// A process that is frozen for longer than others wait, and then woken: its results
// are refused, and every step is settled once.
func TestFrozenWorker(t *testing.T) {
	t.Parallel()
	f := fleet(t, 12)
	add(t, f)
	if err := f.Begun(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	add(t, f)
	frozen, name := f.Process(0)
	if err := f.Begun(t.Context(), 200); err != nil {
		t.Fatal(err)
	}
	owned, err := f.Freeze(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * silent)
	left, err := f.Owned(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("frozen with %d steps, of which it still held %d after three times the silent time", owned, left)
	}
	all, err := f.Wait()
	if err != nil {
		t.Fatal(err)
	}
	lost, ended := 0, 0
	for _, r := range all {
		lost += r.Lost
		ended += r.Executed - r.Lost - r.Calls[enginetest.Put]
	}
	if lost == 0 {
		t.Error("no result was refused")
	}
	if want := f.Config.Ends(); ended != want {
		t.Errorf("%d steps were ended, want %d: each once", ended, want)
	}
	t.Logf("frozen with %d steps; %d results refused", owned, lost)
	sameDataset(t, f.Engine)
}

// Several processes, one after another killed and replaced.
func TestKillInAFleet(t *testing.T) {
	t.Parallel()
	f := fleet(t, 13)
	k, err := f.FleetRounds(t.Context(), 4, 3, time.Second, rand.New(rand.NewPCG(13, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Err(); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills, %d executions repeated", k.Kills, k.Repeated)
}

// The server closes every connection again and again: work goes on over new ones.
// Only a process whose commit was cut off, and that cannot know what it holds, may
// leave; what it held is taken back.
func TestConnectionsCutOff(t *testing.T) {
	t.Parallel()
	f := fleet(t, 14)
	const name = "cut-off"
	f.Store += "&application_name=" + name
	add(t, f)
	if err := f.Begun(t.Context(), 50); err != nil {
		t.Fatal(err)
	}
	add(t, f)
	cut := 0
	for range 8 {
		time.Sleep(150 * time.Millisecond)
		n, err := f.CutOff(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		cut += n
	}
	if cut == 0 {
		t.Error("nothing was cut off")
	}
	add(t, f)
	if _, err := f.Wait(); err != nil && !strings.Contains(err.Error(), "lost over a commit") {
		t.Error(err)
	}
	t.Logf("%d connections cut off", cut)
	sameDataset(t, f.Engine)
}
