package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

// program is built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "benchmint-engine-")
	if err != nil {
		return "", err
	}
	return enginetest.Compile(dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func compiled(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Real processes, killed at random instants.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 16, 256} {
		t.Run(fmt.Sprintf("%d_slots", slots), func(t *testing.T) {
			t.Parallel()
			seed := uint64(slots)
			e := enginetest.Engine{Program: compiled(t), Dir: t.TempDir(), Slots: slots, Config: enginetest.Spike(1000, seed)}
			k, err := e.KillRounds(t.Context(), 4**soak, time.Second, rand.New(rand.NewPCG(seed, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Err(); err != nil {
				t.Error(err)
			}
			t.Logf("%d kills, %d runs to their end, at most %d under way, %d repeated", k.Kills, k.Runs, k.Most, k.Repeated)
		})
	}
}
