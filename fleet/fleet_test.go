package fleet_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

const token = "the token of a test"

// away are all stages of the kit's plan that can go to other machines.
var away = []string{enginetest.Expand, enginetest.Filter, enginetest.Refine, enginetest.Build, enginetest.Join, enginetest.Work}

// lab is a coordinator with the kit's plan.
type lab struct {
	*testing.T
	dir    string
	config enginetest.Config
	store  *store.Store
	log    *enginetest.Log
	server *fleet.Server
	coord  *fleet.Coordinator
	lease  time.Duration
}

func newLab(t *testing.T, config enginetest.Config) *lab {
	t.Helper()
	l := &lab{T: t, dir: t.TempDir(), config: config, lease: 3 * time.Second}
	var err error
	if l.log, err = enginetest.OpenLog(filepath.Join(l.dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.log.Close() })
	if l.store, err = store.Open(t.Context(), filepath.Join(l.dir, "store"), store.Options{Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.store.Close() })
	if l.server, err = fleet.Serve(filepath.Join(l.dir, "nats"), "127.0.0.1:0", token, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.server.Close)
	return l
}

func (l *lab) plan() *pipeline.Plan {
	return l.config.Plan(enginetest.World{Log: l.log, Dir: filepath.Join(l.dir, "dataset")})
}

// open opens the coordinator.
func (l *lab) open() *fleet.Coordinator {
	l.Helper()
	prints := map[string]schemas.Digest{}
	for _, info := range l.plan().Infos() {
		for _, stage := range away {
			if info.Name == stage {
				prints[stage] = info.Fingerprint
			}
		}
	}
	layers, err := blob.Open(filepath.Join(l.dir, "layers"))
	if err != nil {
		l.Fatal(err)
	}
	l.coord, err = fleet.Open(l.Context(), l.server.URL(), fleet.Options{
		Stages: prints, Lease: l.lease, Blobs: l.store.Blobs, Layers: layers, Steps: l.store, Books: l.store, Notes: l.store, Now: time.Now,
	}, l.server.Options()...)
	if err != nil {
		l.Fatal(err)
	}
	return l.coord
}

// work starts a worker. What it gives waits a moment for its end, ends it, and says what ended it.
func (l *lab) work(name string, slots int, plan *pipeline.Plan) (stop func() error) {
	l.Helper()
	client, err := fleet.Dial(l.server.URL(), token)
	if err != nil {
		l.Fatal(err)
	}
	blobs, err := blob.Open(filepath.Join(l.dir, name))
	if err != nil {
		l.Fatal(err)
	}
	blobs.Remote = client.Depot(false)
	client.Keep(blobs)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- client.Work(ctx, fleet.Work{Name: name, Host: "h", Slots: slots, Lease: l.lease, Plan: plan, Now: time.Now})
		client.Close()
	}()
	return sync.OnceValue(func() error {
		time.AfterFunc(l.lease, cancel)
		return <-ended
	})
}

func (l *lab) run(slots int) pipeline.Summary {
	l.Helper()
	sum, err := l.plan().Run(l.Context(), l.store, l.config.Seeds(), pipeline.NewLive(nil, time.Now), pipeline.RunOptions{
		Now: time.Now, Slots: slots, Patience: time.Minute, Grace: time.Second, Far: l.coord, Limits: l.coord.Limits(), Resources: map[string]int{},
	})
	if err != nil {
		l.Fatal(err)
	}
	return sum
}

func (l *lab) wantDataset() {
	l.Helper()
	got, err := enginetest.ReadDataset(filepath.Join(l.dir, "dataset"))
	if err != nil {
		l.Fatal(err)
	}
	if got != l.config.Want() {
		l.Error("the dataset is not that of one machine")
	}
}

// TestFleet: every stage far, with deferrals, rejects, failures, a poisonous item and records that
// are larger than a message, comes to the dataset of one machine.
func TestFleet(t *testing.T) {
	t.Parallel()
	config := enginetest.Spike(100, 1)
	config.Poison, config.Fail, config.Bytes = enginetest.PoisonPanic, 20, 40_000
	l := newLab(t, config)
	l.open()
	stops := []func() error{l.work("one", 4, l.plan()), l.work("two", 4, l.plan())}
	sum := l.run(32)
	if n := l.coord.Slots(); n != 8 {
		t.Errorf("%d slots, want those of both workers", n)
	}
	l.coord.Close(true)
	for _, stop := range stops {
		if err := stop(); err != nil {
			t.Errorf("a worker ended with %v", err)
		}
	}
	if !sum.Drained {
		t.Errorf("summary: %+v", sum)
	}
	l.wantDataset()
}

// TestGoesOn: a worker that leaves gives back what it has, and a coordinator that begins again
// takes the reports that came meanwhile: nothing is done twice.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	config := enginetest.Spike(50, 2)
	config.Sleep, config.Fail, config.Defer = 300*time.Millisecond, 0, 0
	l := newLab(t, config)
	l.open()
	first := l.work("one", 4, l.plan())
	ctx, cut := context.WithCancel(t.Context())
	began := make(chan struct{}, 1000)
	go func() {
		for range 8 {
			<-began
		}
		cut()
	}()
	_, err := l.plan().Run(ctx, l.store, config.Seeds(), tell{began}, pipeline.RunOptions{
		Now: time.Now, Slots: 32, Grace: time.Millisecond, Far: l.coord, Limits: l.coord.Limits(), Resources: map[string]int{},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.coord.Close(false)
	time.Sleep(time.Second) // what was under way ends, and is reported to nobody
	l.open()
	second := l.work("two", 4, l.plan())
	l.run(32)
	l.coord.Close(true)
	for _, stop := range []func() error{first, second} {
		if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	l.wantDataset()
	seen, _, err := enginetest.Executions(filepath.Join(l.dir, "log"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for e, n := range seen {
		if n > 1 {
			t.Errorf("done %d times: %v", n, e)
		}
	}
}

// tell tells of each work that begins.
type tell struct{ began chan struct{} }

func (o tell) Begin(stage, _ string) {
	if stage == enginetest.Work {
		o.began <- struct{}{}
	}
}
func (tell) End(schemas.Step, bool) {}

// TestStrangers: who has no token gets nothing, a worker may ask and report and nothing else, and one of another
// version takes nothing.
func TestStrangers(t *testing.T) {
	t.Parallel()
	l := newLab(t, enginetest.Spike(25, 3))
	l.open()
	defer func() { l.coord.Close(true) }()
	for _, wrong := range []string{"", "another token"} {
		if c, err := fleet.Dial(l.server.URL(), wrong); err == nil {
			c.Close()
			t.Errorf("the token %q was taken", wrong)
		}
	}
	l.config.Tags = map[string]string{enginetest.Expand: "other"}
	other := l.plan()
	l.config.Tags = nil
	stop := l.work("other", 1, other)
	time.AfterFunc(200*time.Millisecond, func() { l.work("good", 2, l.plan()) })
	l.run(32)
	if err := stop(); !errors.Is(err, pipeline.ErrOther) && !errors.Is(err, context.Canceled) {
		t.Errorf("a worker of another version ended with %v, want ErrOther", err)
	}
	l.wantDataset()
}

// TestLayers: an environment that one worker brought is read by another, the first content stays, and one that was
// deleted is made again.
func TestLayers(t *testing.T) {
	t.Parallel()
	l := newLab(t, enginetest.Spike(25, 6))
	l.open()
	defer func() { l.coord.Close(true) }()
	client, err := fleet.Dial(l.server.URL(), token)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	here, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here.Remote = client.Depot(true)
	layers, key := client.Layers(here), schemas.DigestBytes([]byte("key"))
	got := func() (text string, ok bool) {
		t.Helper()
		ok, err := layers.Get(t.Context(), key, func(r io.Reader) error {
			b, err := io.ReadAll(r)
			text = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return text, ok
	}
	put := func(text string) {
		t.Helper()
		if err := layers.Put(t.Context(), key, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := got(); ok {
		t.Error("there before it was brought")
	}
	put("first")
	put("second")
	if text, _ := got(); text != "first" {
		t.Errorf("%q, want what was brought first", text)
	}
	if err := os.RemoveAll(filepath.Join(l.dir, "layers")); err != nil {
		t.Fatal(err)
	}
	if _, ok := got(); ok {
		t.Error("there although it was deleted")
	}
}
