package main

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
)

// The real program on the demo, killed ten times: the manifest is that of a run
// which nobody disturbed.
func TestDemo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("ten kills of a real run take minutes")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("NO BUBBLEWRAP: apt-get install bubblewrap")
	}
	d := demo{
		dir: t.TempDir(), kind: "bwrap", rng: rand.New(rand.NewPCG(4, 4)), say: t.Logf,
		samples: filepath.Join("..", "..", "testdata", "samples"), config: filepath.Join("..", "..", "testdata", "demo.yaml"),
	}
	r, err := d.run(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range r.Wrong {
		t.Error(wrong)
	}
	t.Logf("%d kills, %d runs, %d claims repeated (at most %d in one store of %d)", r.Kills, r.Runs, r.Repeated, r.Most, r.Steps)
	if r.Kills < 10 {
		t.Errorf("only %d kills", r.Kills)
	}
}
