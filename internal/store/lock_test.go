package store_test

import (
	"bufio"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/pipeline"
)

var holdFor = flag.String("hold", "", "take the lock of the store there, say so, and wait for a killer")

// TestHold is the process that others kill.
func TestHold(t *testing.T) {
	if *holdFor == "" {
		t.Skip("part of TestLockOnPostgres")
	}
	s := another(t, storetest.Place{Location: *holdFor, Blobs: t.TempDir()})
	if err := s.Lock(); err != nil {
		t.Fatal(err)
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
}

func another(t *testing.T, p storetest.Place) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), p.Location, store.Options{Blobs: p.Blobs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func refused(t *testing.T, what string, s *store.Store) {
	t.Helper()
	if err := s.Lock(); !errors.Is(err, store.ErrLocked) {
		t.Errorf("%s: %v, want ErrLocked", what, err)
	}
}

func granted(t *testing.T, what string, s *store.Store) {
	t.Helper()
	if err := s.Lock(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// One run at a time on a store, any number of workers and readers beside it, and
// none on the store of another schema.
func TestLockOnPostgres(t *testing.T) {
	t.Parallel()
	place := onPostgres(t)
	a := another(t, place)
	granted(t, "the first", a)
	granted(t, "the first again", a)
	b := another(t, place)
	refused(t, "the second", b)
	granted(t, "a store beside it", another(t, onPostgres(t)))

	d := storetest.Open(t, place, store.Options{})
	d.Seed("s=a=1")
	d.Owner = "w2"
	d.Begin(func(o *pipeline.BeginOptions) { o.Join = true })
	d.End(storetest.Default(d.TakeOne("grow"))) // not refused

	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	granted(t, "after the first was closed", b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// A killed run leaves no lock.
func TestLockOfTheDead(t *testing.T) {
	t.Parallel()
	place := onPostgres(t)
	holder := exec.Command(os.Args[0], "-test.run=^TestHold$", "-hold="+place.Location)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Wait() }() // it was killed
	defer func() { _ = holder.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" || err != nil {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	s := another(t, place)
	refused(t, "beside a run that lives", s)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	granted(t, "after it was killed", s)
}

// The lock goes with its connection: a beat takes it again, or says that another
// run has it by now.
func TestLockIsKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	place := onPostgres(t)
	a, b := another(t, place), another(t, place)
	granted(t, "the first", a)
	cut := func() {
		t.Helper()
		db, err := sql.Open("pgx", place.Location)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.Exec(`SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'
			AND classid = 7264002 AND objid = CAST('version' AS regclass) AND granted`)
		if err != nil {
			t.Fatal(err)
		}
	}
	cut()
	if _, err := a.Beat(ctx, "w1", time.Hour); err != nil {
		t.Errorf("a beat after its connection was lost: %v", err)
	}
	refused(t, "the second, after a beat of the first", b)
	cut()
	granted(t, "the second, before a beat of the first", b)
	if _, err := a.Beat(ctx, "w1", time.Hour); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a beat of a run that lost its lock to another: %v, want ErrLocked", err)
	}
}
