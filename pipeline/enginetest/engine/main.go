// Command engine runs the synthetic plan of package enginetest in a process of its
// own, so that a test can kill it:
//
//	engine -store DIR -log FILE -out DIR -slots 16 -config '{"Sources":40,…}'
//
// It prints one JSON object at its end. It never cleans up, and never decides
// whether what it did was right: who starts it does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

func main() {
	var e engine
	config := flag.String("config", "{}", "enginetest.Config as JSON")
	flag.StringVar(&e.store, "store", "", "folder of the store")
	flag.StringVar(&e.log, "log", "", "file that executions are noted in")
	flag.StringVar(&e.out, "out", "", "folder of the dataset")
	flag.StringVar(&e.opts.Worker, "worker", "w"+strconv.Itoa(os.Getpid()), "name of this process in the store")
	flag.IntVar(&e.opts.Slots, "slots", 16, "steps at once")
	flag.StringVar(&e.opts.Until, "until", "", "last stage")
	flag.BoolVar(&e.opts.Partial, "partial", false, "export with deferred steps left")
	flag.BoolVar(&e.opts.RetryCrashed, "retry-crashed", false, "try poison again")
	flag.DurationVar(&e.opts.Grace, "grace", time.Second, "after the first signal")
	flag.DurationVar(&e.opts.Patience, "patience", time.Minute, "to wait for deferred steps")
	flag.BoolVar(&e.ungrouped, "ungrouped", false, "one transaction for each result")
	flag.BoolVar(&e.breadth, "breadth", false, "one stage after another")
	flag.StringVar(&e.spread.listen, "listen", "", "have workers do the stages of -away: HOST:PORT, or nats://… of a server")
	flag.StringVar(&e.spread.join, "join", "", "be a worker of the run at this URL")
	flag.StringVar(&e.spread.away, "away", enginetest.Work, "stages, with commas between")
	flag.StringVar(&e.spread.token, "token", "kit", "of the server")
	flag.DurationVar(&e.spread.lease, "lease", 3*time.Second, "of a worker")
	flag.Parse()
	if err := json.Unmarshal([]byte(*config), &e.config); err != nil {
		fail(err)
	}
	r, err := e.run(e.signals())
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fail(err)
	}
	os.Exit(r.Summary.Code())
}

// signals end the run: the first one its beginning of work, the second its grace.
func (e *engine) signals() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	e.opts.Hurry = hurry
	told := make(chan os.Signal, 2)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		cancel()
		<-told
		close(hurry)
	}()
	return ctx
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "engine:", err)
	os.Exit(2)
}

type engine struct {
	config             enginetest.Config
	store, log, out    string
	opts               pipeline.RunOptions
	spread             spread
	breadth, ungrouped bool
}

type silent struct{}

func (silent) Begin(string, string)   {}
func (silent) End(schemas.Step, bool) {}

func (e *engine) run(ctx context.Context) (r enginetest.Result, err error) {
	log, err := enginetest.OpenLog(e.log)
	if err != nil {
		return r, err
	}
	defer log.Close()
	if e.spread.join != "" {
		r.Millis, err = e.work(ctx, log)
		return r, err
	}
	s, err := store.Open(ctx, e.store, store.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	counted := enginetest.Count(s)
	counted.Ungrouped = e.ungrouped
	began := time.Now()
	var once sync.Once
	plan := e.config.Plan(enginetest.World{
		Log: log, Dir: e.out, Die: die, Worked: func(string) { once.Do(func() { r.First = millis(time.Since(began)) }) },
	})
	e.opts.Now = time.Now
	if e.spread.listen != "" {
		end, err := e.spread.begin(ctx, filepath.Dir(e.store), plan, s, &e.opts)
		if err != nil {
			return r, err
		}
		defer end()
	}
	until := []string{e.opts.Until}
	if e.breadth {
		until = plan.Stages()
	}
	for _, stage := range until {
		e.opts.Until = stage
		if r.Summary, err = plan.Run(ctx, counted, e.config.Seeds(), silent{}, e.opts); err != nil {
			return r, err
		}
	}
	r.Millis = millis(time.Since(began))
	r.Calls = counted.Calls()
	r.Lost, r.Executed = r.Calls[enginetest.Lost], r.Calls[enginetest.Ran]
	r.Peak, err = peak()
	return r, err
}

func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }

// work is a worker's part in a run.
func (e *engine) work(ctx context.Context, log *enginetest.Log) (ms float64, err error) {
	began := time.Now()
	err = e.spread.work(ctx, e.store, e.opts.Slots, e.config.Plan(enginetest.World{Log: log, Die: die}))
	return millis(time.Since(began)), err
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// peak reads this process's largest resident memory.
func peak() (int64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, nil // no Linux: not measured
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if rest, ok := strings.CutPrefix(scan.Text(), "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/self/status")
}
