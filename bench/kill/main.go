// Command kill ends the engine with kill -9 at random instants, again and again,
// and holds what comes out against a run that nobody disturbed:
//
//	go run ./bench/kill -rounds 60            # the synthetic plan at 1, 16, 256 workers, three seeds each
//	go run ./bench/kill -rounds 60 -demo      # benchmint run on the two demo repositories
//	go run ./bench/kill -rounds 60 -postgres postgres://…   # one of four processes; empties the database
//
// It prints one table and exits 1 where anything was lost, settled twice, or other
// than undisturbed. It never simulates a kill: each is a process and a signal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

func main() {
	var k killer
	flag.IntVar(&k.rounds, "rounds", 60, "kills of each row")
	flag.BoolVar(&k.demo, "demo", false, "kill benchmint run on the demo repositories instead of the synthetic plan")
	flag.StringVar(&k.postgres, "postgres", "", "address of a database to be emptied: kill one of four processes on it")
	flag.StringVar(&k.dir, "dir", filepath.Join("_work", "kill"), "where stores and datasets go; made anew")
	flag.StringVar(&k.kind, "sandbox", "bwrap", "docker or bwrap, for -demo")
	flag.IntVar(&k.items, "items", 10_000, "of the synthetic plan")
	flag.DurationVar(&k.most, "most", 1500*time.Millisecond, "longest time between a start and its kill, synthetic plan")
	slots := flag.String("workers", "1,16,256", "comma-separated")
	seeds := flag.String("seeds", "1,2,3", "comma-separated; they decide the plan and the instants")
	flag.Parse()
	k.slots, k.seeds = numbers(*slots), numbers(*seeds)
	if err := k.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		if errors.Is(err, errWrong) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// errWrong: all kills were done, and something was not as it must be.
var errWrong = errors.New("something is wrong")

func numbers(list string) []int {
	var out []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			fmt.Fprintln(os.Stderr, "kill:", err)
			os.Exit(2)
		}
		out = append(out, n)
	}
	return out
}

type killer struct {
	rounds, items int
	demo          bool
	dir, kind     string
	postgres      string
	most          time.Duration
	slots, seeds  []int
}

func (k *killer) run(ctx context.Context) (err error) {
	if k.dir, err = filepath.Abs(k.dir); err != nil {
		return err
	}
	switch {
	case k.demo:
		return k.killDemo(ctx)
	case k.postgres != "":
		return k.killFleet(ctx)
	}
	return k.killEngine(ctx)
}

func (k *killer) killEngine(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(k.dir), os.MkdirAll(k.dir, 0o755)); err != nil {
		return err
	}
	program, err := enginetest.Compile(k.dir)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workers\tseed\tkills\truns ended\tunder way at a kill, most\trepeated a kill\twrong\t")
	wrong := 0
	for _, slots := range k.slots {
		for _, seed := range k.seeds {
			e := enginetest.Engine{Program: program, Dir: filepath.Join(k.dir, fmt.Sprintf("%d-%d", slots, seed)), Slots: slots, Config: enginetest.Spike(k.items, uint64(seed))}
			r, err := e.KillRounds(ctx, k.rounds, k.most, rand.New(rand.NewPCG(uint64(seed), uint64(slots))))
			if err != nil {
				return err
			}
			if err := r.Err(); err != nil {
				fmt.Fprintf(os.Stderr, "%d workers, seed %d:\n%v\n", slots, seed, err)
			}
			wrong += len(r.Wrong)
			fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%.1f\t%d\t\n", slots, seed, r.Kills, r.Runs, r.Most, float64(r.Repeated)/float64(r.Kills), len(r.Wrong))
			fmt.Fprintf(os.Stderr, "%d workers, seed %d: %d kills\n", slots, seed, r.Kills)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if wrong > 0 {
		return errWrong
	}
	return nil
}

// killFleet kills one of four processes, again and again, beginning anew whenever
// all have come to their end.
func (k *killer) killFleet(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(k.dir), os.MkdirAll(k.dir, 0o755)); err != nil {
		return err
	}
	program, err := enginetest.Compile(k.dir)
	if err != nil {
		return err
	}
	for _, seed := range k.seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		kills, runs, repeated, wrong := 0, 0, 0, 0
		for kills < k.rounds {
			if err := enginetest.Empty(ctx, k.postgres); err != nil {
				return err
			}
			f := enginetest.Fleet{Beat: 500 * time.Millisecond, Silent: 2 * time.Second, Engine: enginetest.Engine{
				Program: program, Dir: filepath.Join(k.dir, fmt.Sprintf("%d-%d", seed, runs)), Store: k.postgres, Slots: 16,
				Config: enginetest.Spike(k.items, uint64(seed)),
			}}
			r, err := f.FleetRounds(ctx, 4, k.rounds-kills, k.most, rng)
			if err != nil {
				return err
			}
			if err := r.Err(); err != nil {
				fmt.Fprintf(os.Stderr, "seed %d:\n%v\n", seed, err)
			}
			kills, runs, repeated, wrong = kills+r.Kills, runs+1, repeated+r.Repeated, wrong+len(r.Wrong)
		}
		fmt.Printf("one of four, 16 workers each, seed %d: %d kills, %d runs ended, %.1f repeated a kill, %d wrong\n", seed, kills, runs, float64(repeated)/float64(kills), wrong)
		if wrong > 0 {
			return errWrong
		}
	}
	return nil
}

func (k *killer) killDemo(ctx context.Context) error {
	d := demo{
		dir: k.dir, kind: k.kind, samples: filepath.Join("testdata", "samples"), config: filepath.Join("testdata", "demo.yaml"),
		rng: rand.New(rand.NewPCG(uint64(k.seeds[0]), 0)),
		say: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	}
	r, err := d.run(ctx, k.rounds)
	if err != nil {
		return err
	}
	fmt.Printf("benchmint run, %s: %.1f s undisturbed, %d claims\n", k.kind, r.Undisturbed.Seconds(), r.Steps)
	fmt.Printf("%d kills in %d runs: %.1f claims repeated a kill, manifests differ: %d\n", r.Kills, r.Runs, float64(r.Repeated)/float64(r.Kills), len(r.Wrong))
	if len(r.Wrong) > 0 {
		return fmt.Errorf("%w:\n%s", errWrong, strings.Join(r.Wrong, "\n"))
	}
	return nil
}
