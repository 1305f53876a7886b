package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// Fleet is several processes on one store in a database.
type Fleet struct {
	Engine
	// Silent is how long a worker may be silent, Beat how often it speaks.
	Beat, Silent time.Duration

	procs []*Process
	names []string
	n     int
}

// Add starts one more process; the first begins the run, the others join it.
func (f *Fleet) Add() error {
	f.n++
	name := fmt.Sprintf("w%d", f.n)
	args := []string{"-worker", name, "-beat", f.Beat.String(), "-silent", f.Silent.String()}
	if len(f.procs) > 0 {
		args = append(args, "-join")
	}
	p, err := f.Start(args...)
	if err != nil {
		return err
	}
	f.procs, f.names = append(f.procs, p), append(f.names, name)
	return nil
}

// Process is the ith that was added, with its name in the store.
func (f *Fleet) Process(i int) (*Process, string) { return f.procs[i], f.names[i] }

// Begun waits until so many executions were noted.
func (f *Fleet) Begun(ctx context.Context, executions int) error {
	for ctx.Err() == nil {
		n, _, err := Executions(f.LogPath(), 0)
		if err != nil {
			return err
		}
		if len(n) >= executions {
			return nil
		}
		select {
		case <-f.procs[0].done:
			return fmt.Errorf("it ended before that: %s", f.procs[0].Said())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return context.Cause(ctx)
}

// Wait waits for all that were not killed.
func (f *Fleet) Wait() ([]Result, error) {
	var all []Result
	var errs []error
	for i, p := range f.procs {
		<-p.done
		if p.Killed() {
			continue
		}
		r, err := p.Wait()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.names[i], err))
		}
		all = append(all, r)
	}
	return all, errors.Join(errs...)
}

// Owned counts the steps that a worker holds.
func (f *Fleet) Owned(ctx context.Context, worker string) (n int, err error) {
	db, done, err := f.look()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM step WHERE owner = $1", worker).Scan(&n)
	return n, err
}

// Freeze stops a process at an instant at which it holds steps.
func (f *Fleet) Freeze(ctx context.Context, i int) (held int, err error) {
	p, name := f.Process(i)
	for ctx.Err() == nil {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			return 0, err
		}
		// What it had sent is through by then.
		time.Sleep(20 * time.Millisecond)
		if held, err = f.Owned(ctx, name); held > 0 || err != nil {
			return held, err
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			return 0, err
		}
		select {
		case <-p.done:
			return 0, fmt.Errorf("%s ended without being frozen at work", name)
		case <-time.After(30 * time.Millisecond):
		}
	}
	return 0, context.Cause(ctx)
}

// Kill kills one process at work and waits until nothing is in its name any more.
func (f *Fleet) Kill(ctx context.Context, i int) (takeover time.Duration, err error) {
	if _, err := f.Freeze(ctx, i); err != nil {
		return 0, err
	}
	p, name := f.Process(i)
	killed, err := p.Kill()
	if err != nil || !killed {
		return 0, errors.Join(err, fmt.Errorf("%s had ended by itself", name))
	}
	began := time.Now()
	for {
		n, err := f.Owned(ctx, name)
		if err != nil || n == 0 {
			return time.Since(began), err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// Ends is how many steps a first run ends, the export included. Deferrals are no
// ends: who begins a step again that another had begun cannot know that it was put
// off before, and puts it off once more.
func (c Config) Ends() int {
	return len(c.Expected()) + 1 + c.count(func(key string) bool {
		return !c.rejected(key) && !c.bad(c.share(key)) && c.Fails(Execution{Work, key})
	})
}

// FleetRounds runs the plan in several processes on an empty database and kills one
// of them at random instants, each time starting another in its place.
func (f *Fleet) FleetRounds(ctx context.Context, processes, rounds int, most time.Duration, rng *rand.Rand) (Kills, error) {
	var k Kills
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return k, err
	}
	v := victim{Engine: f.Engine, kills: &k, want: f.Config.Expected()}
	if err := f.Add(); err != nil {
		return k, err
	}
	if err := f.Begun(ctx, 1); err != nil {
		return k, err
	}
	for range processes - 1 {
		if err := f.Add(); err != nil {
			return k, err
		}
	}
	for k.Kills < rounds {
		time.Sleep(time.Duration(rng.Int64N(int64(most))))
		p, _ := f.Process(len(f.procs) - 1 - rng.IntN(processes))
		killed, err := p.Kill()
		if err != nil {
			return k, err
		}
		if !killed {
			break // all is done
		}
		k.Kills++
		v.mine++
		if err := v.oneDied(ctx); err != nil {
			return k, err
		}
		if err := f.Add(); err != nil {
			return k, err
		}
	}
	if _, err := f.Wait(); err != nil {
		return k, err
	}
	k.Runs++
	if err := v.segment(nil); err != nil {
		return k, err
	}
	if err := Audit(ctx, f.Engine); err != nil {
		k.wrong("%v", err)
	}
	v.compare(f.Config.Want())
	return k, nil
}

// oneDied is died where others go on: first what is settled, then where the log
// stands, so that what begins after both must not be settled.
func (v *victim) oneDied(ctx context.Context) error {
	held, err := SettledIn(ctx, v.Engine)
	if err != nil {
		return err
	}
	if err := v.segment(nil); err != nil {
		return err
	}
	v.lost(held)
	v.before = held
	return nil
}

// Empty takes all tables out of a database.
func Empty(ctx context.Context, address string) (err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	return err
}

// CutOff ends all connections of a fleet whose address names an application.
func (f *Fleet) CutOff(ctx context.Context, application string) (n int, err error) {
	db, done, err := f.look()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = db.QueryRowContext(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()", application).Scan(&n)
	return n, err
}
