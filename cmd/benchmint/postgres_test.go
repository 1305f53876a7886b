package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/postgrestest"
	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/internal/store"
)

// crew is a folder with the two demo repositories, and the processes that work on it.
type crew struct {
	t        *testing.T
	dir      string
	location string // of the database
	db       *sql.DB
}

func newCrew(t *testing.T) *crew {
	t.Helper()
	c := &crew{t: t, dir: t.TempDir()}
	all, err := samples.Load("../../testdata/samples")
	c.check(err)
	for _, s := range all {
		if s.Name == "demo-python" || s.Name == "demo-go" {
			c.check(s.Build(filepath.Join(c.dir, s.Name)))
		}
	}
	c.location = postgrestest.Location(t)
	c.db, err = sql.Open("pgx", c.location)
	c.check(err)
	t.Cleanup(func() { _ = c.db.Close() })
	c.configure("lite", "store: lite-state\n")
	c.configure("pg", "store: "+c.location+"\nblobs: shared\n")
	c.configure("other", "filters: {thin: true}\nstore: "+c.location+"\nblobs: shared\n")
	return c
}

func (c *crew) configure(name, rest string) {
	c.t.Helper()
	c.write(name+".yaml", "dataset: demo\nsources:\n  - {git: demo-python, name: demo/tally}\n  - {git: demo-go, name: demo/slug}\nproof: {runs: 1, hunks: 0}\noutput: "+name+"\n"+rest)
}

func (c *crew) write(name, text string) {
	c.t.Helper()
	c.check(os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
}

func (c *crew) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// process is one of benchmint, with what it says.
type process struct {
	*exec.Cmd
	said bytes.Buffer
}

func (c *crew) start(args ...string) *process {
	c.t.Helper()
	path, err := exec.LookPath("benchmint")
	c.check(err)
	p := &process{Cmd: exec.Command(path, args...)}
	p.Dir, p.Stdout, p.Stderr = c.dir, &p.said, &p.said
	p.Env = append(os.Environ(), "BENCHMINT_SANDBOX_KIND=bwrap", "NO_COLOR=1")
	c.check(p.Start())
	c.t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill() // a test that has failed
			_ = p.Wait()
		}
	})
	return p
}

// ends waits for a process, and wants this exit code.
func (c *crew) ends(p *process, want int) string {
	c.t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	if got := p.ProcessState.ExitCode(); got != want {
		c.t.Fatalf("%v: exit code %d, want %d; it said:\n%s", p.Args[1:], got, want, &p.said)
	}
	return p.said.String()
}

// says runs a program to its end, and wants something in what it says.
func (c *crew) says(code int, want string, args ...string) string {
	c.t.Helper()
	got := c.ends(c.start(args...), code)
	if !regexp.MustCompile(want).MatchString(got) {
		c.t.Errorf("%v said\n%swant %s", args, got, want)
	}
	return got
}

// refuses wants one line and nothing done.
func (c *crew) refuses(want string, args ...string) {
	c.t.Helper()
	if got := c.says(exitUsage, want, args...); strings.Count(got, "\n") != 1 {
		c.t.Errorf("%v said more than a line:\n%s", args, got)
	}
}

// held are the steps that a process has, "stage/key".
func (c *crew) held(p *process) map[string]bool {
	c.t.Helper()
	out := map[string]bool{}
	rows, err := c.db.Query("SELECT stage || '/' || key FROM step WHERE state = 'running' AND owner LIKE $1", fmt.Sprintf("%%-%d-%%", p.Process.Pid))
	c.check(err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var step string
		c.check(rows.Scan(&step))
		out[step] = true
	}
	c.check(rows.Err())
	return out
}

// until waits for something, for as long as a process lives that can bring it about.
func (c *crew) until(what string, so func() bool) {
	c.t.Helper()
	for begun := time.Now(); time.Since(begun) < 5*time.Minute; time.Sleep(20 * time.Millisecond) {
		if so() {
			return
		}
	}
	c.t.Fatalf("%s did not come", what)
}

func (c *crew) begun() bool {
	var n int
	return c.db.QueryRow("SELECT count(*) FROM step WHERE stage = 'crawl'").Scan(&n) == nil && n == 2
}

// sums are the digests of a dataset.
func (c *crew) sums(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name, "SHA256SUMS"))
	c.check(err)
	return string(text)
}

// A worker is killed in the middle of a step: the run takes that over and writes what
// an undisturbed run on SQLite writes.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	if ok, err := condition(config.Bwrap); !ok || err != nil {
		t.Skipf("NO BUBBLEWRAP: %v", err)
	}
	c := newCrew(t)
	lite := c.start("run", "-c", "lite.yaml")
	first := c.start("run", "-c", "pg.yaml", "-j", "1")
	c.until("the run's first step", c.begun)
	c.refuses("another run works on this store", "run", "-c", "pg.yaml")
	var lost map[string]bool
	for len(lost) == 0 {
		worker := c.start("work", "-c", "pg.yaml", "-j", "1")
		c.until("a dear step of the worker", func() bool {
			for step := range c.held(worker) {
				if stage, _, _ := strings.Cut(step, "/"); stage == "provision.build" || stage == "validate" || stage == "assess" {
					return true
				}
			}
			return false
		})
		c.check(worker.Process.Kill())
		_ = worker.Wait() // it was killed
		if lost = c.held(worker); len(lost) > 0 {
			c.takenOver(worker, first, lost)
		}
	}
	c.says(exitOK, "stage +done", "status", "-c", "pg.yaml") // beside the run
	c.ends(first, exitOK)
	c.ends(lite, exitOK)
	if diff := cmp.Diff(c.sums("lite"), c.sums("pg")); diff != "" {
		t.Errorf("the datasets differ (-SQLite +PostgreSQL):\n%s", diff)
	}
	c.readers()
}

// takenOver measures how long the steps of a dead process stay where they are.
func (c *crew) takenOver(dead, heir *process, lost map[string]bool) {
	c.t.Helper()
	begun := time.Now()
	c.until("the rescue of "+fmt.Sprint(lost), func() bool { return len(c.held(dead)) == 0 })
	rescued := time.Since(begun)
	c.until("the other's turn at "+fmt.Sprint(lost), func() bool {
		for step := range c.held(heir) {
			if lost[step] {
				return true
			}
		}
		return false
	})
	c.t.Logf("killed with %v; taken back after %.1f s, begun by the other after %.1f s", lost, rescued.Seconds(), time.Since(begun).Seconds())
}

// readers look at what the run has left, and write it once more.
func (c *crew) readers() {
	c.t.Helper()
	var id string
	c.check(c.db.QueryRowContext(context.Background(), "SELECT key FROM step WHERE stage = 'export' AND state = 'held' AND live ORDER BY key LIMIT 1").Scan(&id))
	c.says(exitOK, "(?m)^validate +[1-9]", "status", "-c", "pg.yaml")
	shown := c.says(exitOK, "(?s)"+regexp.QuoteMeta(id)+".*runs.*blobs", "show", id, "-c", "pg.yaml")
	at := regexp.MustCompile(`blobs  \(under (.*)\)\n +\S+ +(\S+)`).FindStringSubmatch(shown)
	if at == nil {
		c.t.Errorf("show names no blobs:\n%s", shown)
	} else if _, err := os.Stat(filepath.Join(c.dir, at[1], at[2])); err != nil {
		c.t.Error(err)
	}
	c.says(exitOK, "proved: [1-9]", "explain", id, "-c", "pg.yaml")
	c.says(exitOK, `store +\d+ steps counted`, "doctor", "-c", "pg.yaml", "--sandbox", "bwrap")
	c.says(exitOK, "dataset +again", "export", "-c", "pg.yaml", "--output", "again")
	if diff := cmp.Diff(c.sums("pg"), c.sums("again")); diff != "" {
		c.t.Errorf("exported again (-run +export):\n%s", diff)
	}
	c.says(exitOK, "0 steps ended here", "work", "-c", "pg.yaml")
}

// What needs no sandbox, or must not come as far as one.
func TestStoreOnPostgres(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	c.refuses("lite-state is for one process.*lite.yaml:", "work", "-c", "lite.yaml")
	c.refuses("no run has begun on this store", "work", "-c", "pg.yaml")
	if _, err := os.Stat(filepath.Join(c.dir, "shared", store.NotesFile)); err == nil {
		t.Error("a worker noted sources")
	}
	c.says(exitOK, "the run ended at link, as asked; what was done is in postgres://benchmint:xxxxx@", "run", "--until", "link", "-c", "pg.yaml",
		"--store", strings.Replace(c.location, "benchmint@", "benchmint:secret@", 1))
	if ok, err := condition(config.Bwrap); ok && err == nil {
		c.refuses("another plan is at work on this store: a worker needs the configuration", "work", "-c", "other.yaml")
	}
	if ok, err := condition(config.Bwrap); ok && err == nil {
		// A machine that has other toolchains takes no part.
		_, err := c.db.Exec(`INSERT INTO fixed VALUES ('inventory', '{"sandbox":"bwrap","toolchains":{"python":{"versions":["9.8.7"]}}}')`)
		c.check(err)
		c.refuses(`this machine differs from the one that began the run \(only there: python 9\.8\.7; only here: python .*\): what is made on one`, "work", "-c", "pg.yaml")
		_, err = c.db.Exec("DELETE FROM fixed WHERE name = 'inventory'")
		c.check(err)
	}
	c.says(exitOK, "link/no_tests +1", "status", "-c", "pg.yaml")
	c.says(exitOK, "(?s)demo__.*link.*rejected", "show", "demo__tally-1", "-c", "pg.yaml")
	c.says(exitOK, "demo__tally-1", "explain", "demo__tally-1", "-c", "pg.yaml")

	s, err := store.Open(t.Context(), c.location, store.Options{Blobs: filepath.Join(c.dir, "shared")})
	c.check(err)
	c.check(s.Lock())
	for _, verb := range []string{"run", "export", "retry --failed"} {
		c.refuses("another run works on this store", append(strings.Fields(verb), "-c", "pg.yaml")...)
	}
	c.check(s.Close())
	c.says(exitOK, "[1-9]\\d* steps? marked", "retry", "--stage", "link", "-c", "pg.yaml")
	c.says(exitOK, "to be done", "status", "-c", "pg.yaml")

	doctor := []string{"doctor", "--sandbox", "bwrap", "--json", "-c", "pg.yaml"}
	ours := `(?s)"name": "store",\s+"state": "%s",\s+"detail": "%s`
	c.finds(fmt.Sprintf(ours, "ok", `\d+ steps counted`), doctor...)
	_, err = c.db.Exec("UPDATE tally SET n = n + 1 WHERE n > 0 AND stage = 'link' AND state = 'ready'")
	c.check(err)
	c.finds(fmt.Sprintf(ours, "wrong", `\d+ lines? of the tally off, as link ready`), doctor...)
}

// finds is says, whatever else doctor finds on this machine.
func (c *crew) finds(want string, args ...string) {
	c.t.Helper()
	p := c.start(args...)
	_ = p.Wait() // the exit code tells of the machine
	if !regexp.MustCompile(want).MatchString(p.said.String()) {
		c.t.Errorf("%v said\n%swant %s", args, &p.said, want)
	}
}
