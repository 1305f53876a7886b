package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStepsRoundTripUnderOddKeys(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for _, key := range []string{"acme__widget-12", "sha256:abc", "a/../b", "..", "x y%2f"} {
		want := schemas.Step{Stage: "link", Key: key, State: schemas.StepDone, Outputs: []schemas.Output{{Key: key, Digest: "d", Record: []byte(`{"a":1}`)}}}
		if err := s.Put(want); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Step("link", key)
		if err != nil || !ok {
			t.Fatalf("%q: %v %v", key, ok, err)
		}
		if got.Key != key || len(got.Outputs) != 1 {
			t.Errorf("%q read back as %+v", key, got)
		}
	}
	steps, err := s.Steps("link")
	if err != nil || len(steps) != 5 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
	if _, ok, err := s.Step("link", "missing"); ok || err != nil {
		t.Errorf("missing step: %v %v", ok, err)
	}
}

func TestStepNamesTheBrokenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Put(schemas.Step{Stage: "link", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "steps", "link", "k.json")
	if err := os.WriteFile(path, []byte(`{"stage":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Step("link", "k"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name %s", err, path)
	}
}

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	if err := a.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(); !errors.Is(err, store.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(); err != nil {
		t.Errorf("lock after close: %v", err)
	}
}

func TestFixKeepsTheFirstValue(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var got []string
	for _, v := range []string{"", "docker", "bwrap", ""} {
		x, err := s.Fix("sandbox", v)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	if diff := cmp.Diff([]string{"", "docker", "docker", "docker"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
