// Package sandboxtest is the one suite for every kind of sandbox: each rule of the
// design (section 7) is shown by a command that breaks it.
//
// It never looks into an implementation: what it knows of a kind is in Kind. The
// commands need bash, perl and coreutils inside, which both kinds have.
package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Kind is one implementation under test.
type Kind struct {
	// Open makes a sandbox for one suite.
	Open func(t *testing.T, o Options) sandbox.Sandbox
	// Left names what runs of ours have left on the machine: containers, directories.
	Left func(t *testing.T) []string
	// Kill ends, as another user of the machine could, the sandbox in which a process with
	// this marker runs.
	Kill func(t *testing.T, marker string)
	// OnSmall opens a sandbox that watches a small file system, and names its folder;
	// nil where its disk is out of sight.
	OnSmall func(t *testing.T) (s sandbox.Sandbox, dir string)
	// Looked: processes are counted by looking from time to time, not by the kernel.
	// The limit holds; that a run which ended at once had met it is not seen.
	Looked bool
	// Asked: the engine is asked what was written. A file that no directory names any
	// more is not counted; each one is bounded by the whole limit.
	Asked bool
	// Bare: no layer can be put over a cache, and steps see an empty one.
	Bare bool
	// Only these cases, where others would show nothing new; nil is all.
	Only []string
}

// Options are what the suite asks of a sandbox.
type Options struct {
	CABundle   string
	Registries []string
	Env        map[string]string
}

// Planted on the host for the suite to look for inside.
const (
	secret   = "PLANTED_SECRET_TOKEN"
	caMarker = "planted-authority-of-this-machine"
)

// box is the sandbox of one suite with what the cases share.
type box struct {
	sandbox.Sandbox
	kind     Kind
	base     sandbox.Layer
	world    *world
	options  Options
	home     string // a directory of the host with a file "private" in it
	sequence *atomic.Int64
}

// Run runs the suite. It may not be parallel to other tests: it plants variables.
func Run(t *testing.T, k Kind) {
	t.Setenv("PLANTED_SECRET", secret)
	home := t.TempDir()
	write(t, filepath.Join(home, "private"), secret)
	ca := filepath.Join(home, "ca.crt")
	write(t, ca, "# "+caMarker+"\n")
	w := newWorld(t)
	o := Options{CABundle: ca, Registries: []string{w.registry, w.secure}, Env: map[string]string{"PIP_INDEX_URL": "http://" + w.registry + "/simple"}}
	s := k.Open(t, o)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a first base system may have to be made
	defer cancel()
	base, err := s.Base(ctx, sandbox.Base{})
	if err != nil {
		t.Fatalf("Base: %v", err)
	}
	b := &box{Sandbox: s, kind: k, base: base, world: w, options: o, home: home, sequence: new(atomic.Int64)}
	for _, name := range k.Only {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			t.Errorf("no case %s", name)
		}
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			if k.Only != nil && !slices.Contains(k.Only, c.name) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.test(t, b)
			})
		}
	})
	if left := k.Left(t); len(left) > 0 {
		t.Errorf("left on the machine: %q", left)
	}
}

type testCase struct {
	name string
	test func(*testing.T, *box)
}

var cases = []testCase{
	{"user_without_rights", userWithoutRights},
	{"rights_are_missed", rightsAreMissed},
	{"sealed", sealed},
	{"calls_are_refused", callsAreRefused},
	{"usual_calls_work", usualCallsWork},
	{"environment_is_ours", environmentIsOurs},
	{"nothing_of_the_host", nothingOfTheHost},
	{"loopbacks_and_interface", loopbacksAndInterface},
	{"low_ports", lowPorts},
	{"names_on_loopback", namesOnLoopback},
	{"no_way_out", noWayOut},
	{"no_way_to_another_run", noWayToAnotherRun},
	{"build_reaches_registries_only", buildReachesRegistriesOnly},
	{"build_asks_its_own_registry", buildAsksItsOwnRegistry},
	{"memory", memoryLimit},
	{"memory_of_a_child", memoryOfAChild},
	{"processes", processLimit},
	{"disk", diskLimit},
	{"output", outputLimit},
	{"cpus", cpuLimit},
	{"time", timeLimit},
	{"time_with_report", timeWithReport},
	{"whole_tree_dies", wholeTreeDies},
	{"cancel_kills_all", cancelKillsAll},
	{"cancel_ends_builds", cancelEndsBuilds},
	{"exit_codes", exitCodes},
	{"each_run_is_fresh", eachRunIsFresh},
	{"collect", collectFiles},
	{"collect_follows_no_link", collectFollowsNoLink},
	{"channel", channel},
	{"channel_is_of_the_command", channelOfTheCommand},
	{"channel_and_the_end", channelAndTheEnd},
	{"files_are_put", filesArePut},
	{"put_follows_no_link", putFollowsNoLink},
	{"paths_outside_are_refused", pathsOutside},
	{"equal_keys_are_built_once", equalKeys},
	{"caches_are_filled_by_fills_only", cachesAreFilledByFillsOnly},
	{"fill_is_apart", fillIsApart},
	{"fill_that_fails", fillThatFails},
	{"cache_names", cacheNames},
	{"caches_are_within_the_disk_limit", cachesAreWithinTheDiskLimit},
	{"nothing_of_a_build_is_left", nothingOfABuildIsLeft},
	{"failing_step", failingStep},
	{"leases", leases},
	{"removal_waits_for_runs", removalWaits},
	{"build_limits", buildLimits},
	{"discard", discardedBuild},
	{"every_layer_is_walked", everyLayerIsWalked},
	{"remove", removeLayer},
	{"toolchains", toolchains},
	{"interactive", interactive},
	{"missing_packages", systemPackages},
	{"disk_of_the_machine", diskOfTheMachine},
	{"killed_from_outside", killedFromOutside},
	{"service_is_reached", serviceIsReached},
	{"service_no_way_out", noWayOutBeside},
	{"services_do_not_meet", servicesDoNotMeet},
	{"service_is_apart", serviceIsApart},
	{"service_is_fresh", serviceIsFresh},
	{"service_ends", serviceEnds},
	{"service_limits", serviceLimits},
	{"service_dies", serviceDies},
	{"service_faults", serviceFaults},
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// context ends with the test, or before anything hangs for good.
func timeout(t *testing.T) context.Context {
	t.Helper()
	const patience = 90 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func bash(script string, args ...string) schemas.Command {
	return schemas.Command{Argv: append([]string{"/bin/bash", "-c", script, "bash"}, args...)}
}

func perl(script string, args ...string) schemas.Command {
	return schemas.Command{Argv: append([]string{"/usr/bin/perl", "-e", script}, args...)}
}

// small are limits under which a well-behaved case runs.
var small = sandbox.Limits{Memory: 256 << 20, Processes: 64, Disk: 128 << 20, Output: 4 << 20, Timeout: 60 * time.Second}

// run runs on the base, and fails the test for a fault of the machine.
func (b *box) run(t *testing.T, r sandbox.Run) sandbox.Result {
	t.Helper()
	if r.Layer.ID == "" {
		r.Layer = b.base
	}
	if r.Limits == (sandbox.Limits{}) {
		r.Limits = small
	}
	res, err := b.Run(timeout(t), r)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return res
}

// script runs bash and wants it to succeed; it gives what was printed.
func (b *box) script(t *testing.T, layer sandbox.Layer, script string, args ...string) string {
	t.Helper()
	res := b.run(t, sandbox.Run{Layer: layer, Command: bash(script, args...)})
	if res.End != sandbox.Exited || res.ExitCode != 0 {
		t.Fatalf("%s: %s, exit %d: %s", script, res.End, res.ExitCode, res.Output)
	}
	return strings.TrimSpace(string(res.Output))
}

// key is new for each call and each process, so that no case finds another's layer.
func (b *box) key(t *testing.T) schemas.Digest {
	t.Helper()
	return schemas.DigestOf([]any{t.Name(), os.Getpid(), time.Now().UnixNano(), b.sequence.Add(1)})
}

// build makes a layer, removed with the test.
func (b *box) build(t *testing.T, d sandbox.Build) (sandbox.Layer, sandbox.Result) {
	t.Helper()
	layer, res, err := b.tryBuild(t, d)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return layer, res
}

func (b *box) tryBuild(t *testing.T, d sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	t.Helper()
	if d.Key == "" {
		d.Key = b.key(t)
	}
	if d.Parent.ID == "" {
		d.Parent = b.base
	}
	if d.Limits == (sandbox.Limits{}) {
		d.Limits = small
	}
	layer, res, err := b.Build(timeout(t), d)
	if err == nil && !d.Discard {
		t.Cleanup(func() {
			if err := b.Remove(context.Background(), layer); err != nil {
				t.Errorf("Remove: %v", err)
			}
		})
	}
	return layer, res, err
}

func wantEnd(t *testing.T, res sandbox.Result, want sandbox.End) {
	t.Helper()
	if res.End != want {
		out := res.Output
		if len(out) > 500 {
			out = out[:500]
		}
		t.Errorf("end %q (exit %d), want %q; output: %s", res.End, res.ExitCode, want, out)
	}
}

// Processes finds the processes of this machine whose command line holds a marker.
func Processes(marker string) []string {
	var out []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if line := strings.ReplaceAll(string(b), "\x00", " "); err == nil && strings.Contains(line, marker) {
			out = append(out, e.Name()+" "+line)
		}
	}
	return out
}

// wantNoProcess waits a little: the engine reaps on its own time.
func wantNoProcess(t *testing.T, marker string) {
	t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
		if left = Processes(marker); len(left) == 0 {
			return
		}
	}
	t.Errorf("still alive: %q", left)
}

// marker is a number of seconds that no other process sleeps.
func (b *box) marker() string {
	return fmt.Sprintf("%d.%04d", 100000+os.Getpid(), b.sequence.Add(1)) // none is the beginning of another
}

// buildError is the *sandbox.BuildError in err, or the test ends.
func buildError(t *testing.T, err error) *sandbox.BuildError {
	t.Helper()
	var failed *sandbox.BuildError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want a *BuildError", err)
	}
	return failed
}
