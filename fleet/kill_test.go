package fleet_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

var (
	soak = flag.Int("soak", 1, "times as many kills")
	seed = flag.Uint64("seed", 5, "of the instants and victims of TestKills")
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
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// far is a run in processes: a coordinator, and workers beside it.
type far struct {
	*testing.T
	enginetest.Engine
	url  string
	n    int
	args []string // of the coordinator
	more []string // of all processes
}

func newFar(t *testing.T, config enginetest.Config, slots int) *far {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f := &far{T: t, url: "nats://" + address, args: []string{"-listen", address}}
	f.Engine = enginetest.Engine{Program: path, Dir: t.TempDir(), Slots: slots, Config: config}
	return f
}

// coordinate starts the coordinator.
func (f *far) coordinate() *enginetest.Process {
	f.Helper()
	e := f.Engine
	e.Slots = 1000
	p, err := e.Start(append(f.more, f.args...)...)
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// work starts a worker.
func (f *far) work() *enginetest.Process {
	f.Helper()
	f.n++
	p, err := f.Start(append(f.more, "-join", f.url, "-store", filepath.Join(f.Dir, fmt.Sprint("w", f.n)))...)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _, _ = p.Kill() })
	return p
}

// begun waits until so many executions of work were noted.
func (f *far) begun(want int) map[enginetest.Execution]int {
	f.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		all, _, err := enginetest.Executions(f.LogPath(), 0)
		if err != nil && !os.IsNotExist(err) {
			f.Fatal(err)
		}
		n := 0
		for e, times := range all {
			if e.Stage == enginetest.Work {
				n += times
			}
		}
		if n >= want {
			return all
		}
	}
	f.Fatal("it does not begin")
	return nil
}

// end waits for the coordinator, and holds the dataset against the plain loop.
func (f *far) end(p *enginetest.Process) enginetest.Result {
	f.Helper()
	select {
	case <-p.Done():
	case <-time.After(2 * time.Minute):
		f.Fatal("the run does not end")
	}
	r, err := p.Wait()
	if err != nil {
		f.Fatal(err)
	}
	got, err := enginetest.ReadDataset(f.DatasetPath())
	if err != nil || got != f.Config.Want() {
		f.Errorf("dataset %+v, %v; want %+v", got, err, f.Config.Want())
	}
	if err := enginetest.Audit(f.Context(), f.Engine); err != nil {
		f.Error(err)
	}
	return r
}

// repeated is how often work was done beyond once for each item.
func (f *far) repeated() (n int) {
	all, _, err := enginetest.Executions(f.LogPath(), 0)
	if err != nil {
		f.Fatal(err)
	}
	for e, times := range all {
		if e.Stage == enginetest.Work {
			n += times - 1
		}
	}
	return n
}

// slowly is a plan whose work takes a while, and in which nothing fails by lot.
func slowly(items int, seed uint64, sleep time.Duration) enginetest.Config {
	c := enginetest.Spike(items, seed)
	c.Sleep, c.Fail, c.Defer, c.Reject = sleep, 0, 0, 0
	return c
}

// TestWorkerDies: what a worker had is begun again by another after its lease, and only that.
func TestWorkerDies(t *testing.T) {
	t.Parallel()
	f := newFar(t, slowly(25, 1, 700*time.Millisecond), 4)
	c := f.coordinate()
	victim := f.work()
	f.begun(4)
	if _, err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	died := time.Now()
	f.work()
	f.end(c)
	t.Logf("%d begun again, the run ended %s after the kill", f.repeated(), time.Since(died).Round(time.Second/10))
	if n := f.repeated(); n < 1 || n > 4 {
		t.Errorf("%d begun again, want those of one worker with 4 slots", n)
	}
}

// TestCoordinatorDies: a coordinator that is killed and begins again repeats nothing that its workers did meanwhile.
func TestCoordinatorDies(t *testing.T) {
	t.Parallel()
	f := newFar(t, slowly(25, 2, 700*time.Millisecond), 4)
	c := f.coordinate()
	f.work()
	f.work()
	for n := 8; n <= 16; n += 8 {
		f.begun(n)
		if _, err := c.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c = f.coordinate()
	}
	f.end(c)
	if n := f.repeated(); n != 0 {
		t.Errorf("%d done again", n)
	}
}

// TestPoison: an item that ends its worker is given up alone, after five workers; who was beside it is done.
func TestPoison(t *testing.T) {
	t.Parallel()
	config := slowly(25, 3, 200*time.Millisecond)
	config.Poison = enginetest.PoisonExit
	f := newFar(t, config, 4)
	f.more = []string{"-lease", "1s"}
	c := f.coordinate()
	deaths := 0
	workers := []*enginetest.Process{f.work(), f.work()}
	for done := false; !done; {
		for i, w := range workers {
			select {
			case <-w.Done():
				if w.Killed() {
					deaths++
					workers[i] = f.work()
				}
			case <-c.Done():
				done = true
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	if r := f.end(c); r.Summary.Code() != 1 {
		t.Errorf("exit code %d with a failed item, want 1", r.Summary.Code())
	}
	if deaths != 5 {
		t.Errorf("%d workers died, want 5", deaths)
	}
}

// TestFrozen: a worker that stood still for longer than its lease reports what others have by then: it is refused.
func TestFrozen(t *testing.T) {
	t.Parallel()
	f := newFar(t, slowly(25, 4, 500*time.Millisecond), 2)
	f.more = []string{"-lease", "1s"}
	c := f.coordinate()
	frozen := f.work()
	f.begun(2)
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	f.work()
	time.AfterFunc(3*time.Second, func() { _ = frozen.Signal(syscall.SIGCONT) })
	f.end(c)
	if n := f.repeated(); n < 1 || n > 2 {
		t.Errorf("%d begun again, want those of the frozen worker with 2 slots", n)
	}
}

// TestKills: workers and coordinators that are killed at random instants come to the dataset of one machine.
func TestKills(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(*seed, 5))
	f := newFar(t, enginetest.Spike(250**soak, 5), 4)
	f.Config.Sleep, f.Config.Fail = 100*time.Millisecond, 0
	f.more = []string{"-lease", "1s"}
	c := f.coordinate()
	workers := []*enginetest.Process{f.work(), f.work(), f.work()}
	kills := 0
	for ; kills < 4**soak; kills++ {
		time.Sleep(time.Duration(200+rng.IntN(1500)) * time.Millisecond)
		select {
		case <-c.Done():
			t.Logf("it was done after %d kills", kills)
			f.end(c)
			return
		default:
		}
		i := rng.IntN(len(workers) + 1)
		victim := c
		if i < len(workers) {
			victim = workers[i]
		}
		if _, err := victim.Kill(); err != nil {
			t.Fatal(err)
		}
		if i < len(workers) {
			workers[i] = f.work()
		} else {
			c = f.coordinate()
		}
	}
	f.end(c)
	t.Logf("%d kills, %d of %d done again", kills, f.repeated(), f.Config.Sources*f.Config.Fan)
}
