package clock_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// waits prints how far the clock and the times of files are ahead, and each wait that takes
// longer or less long than it says.
const waits = `
import asyncio, concurrent.futures, multiprocessing, os, queue, select, signal, subprocess, tempfile, threading, time

def took(name, wait):
    began = time.monotonic()
    try:
        wait()
    except (queue.Empty, subprocess.TimeoutExpired):
        pass
    took = time.monotonic() - began
    if not 0.19 < took < 20:
        print("%s took %.3f s" % (name, took))

def alarm():
    signal.signal(signal.SIGALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.pause()

def locked(lock):
    lock.acquire()
    lock.acquire(timeout=0.2)

def condition(c):
    with c:
        c.wait(0.2)

took("sleep", lambda: time.sleep(0.2))
took("Event", lambda: threading.Event().wait(0.2))
took("Lock", lambda: locked(threading.Lock()))
took("Condition", lambda: condition(threading.Condition()))
took("queue", lambda: queue.Queue().get(timeout=0.2))
took("asyncio", lambda: asyncio.new_event_loop().run_until_complete(asyncio.sleep(0.2)))
took("select", lambda: select.select([], [], [], 0.2))
took("future", lambda: concurrent.futures.wait([concurrent.futures.Future()], timeout=0.2))
took("subprocess", lambda: subprocess.run(["sleep", "60"], timeout=0.2))
took("multiprocessing.Event", lambda: multiprocessing.Event().wait(0.2))
took("multiprocessing.Lock", lambda: locked(multiprocessing.Lock()))
took("multiprocessing.Queue", lambda: multiprocessing.Queue().get(timeout=0.2))
took("alarm", alarm)
print("clock", round((time.time() - int(os.environ["NOW"])) / 600))
with tempfile.NamedTemporaryFile() as f:
    print("file", round((time.time() - os.stat(f.name).st_mtime) / 600), round((time.time() - os.fstat(f.fileno()).st_ctime) / 600))
    os.utime(f.name, (1000, 2000))
    print("set", os.stat(f.name).st_mtime)
print("child", subprocess.check_output(["date", "+%s"]).decode()[:5] == str(int(time.time()))[:5])
os.remove(os.environ["LD_PRELOAD"])
os.rmdir(os.path.dirname(os.environ["LD_PRELOAD"]))
`

// TestPreload holds every Python of this machine to its waits under the clock.
func TestPreload(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("SKIP: no C compiler here")
	}
	pythons := []string{}
	if p, err := exec.LookPath("python3"); err == nil {
		pythons = append(pythons, p)
	}
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
		pythons = append(pythons, more...)
	}
	if len(pythons) == 0 {
		t.Skip("SKIP: no Python here")
	}
	for _, python := range pythons {
		for _, files := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", strings.ReplaceAll(python, "/", "_"), files), func(t *testing.T) {
				t.Parallel()
				c := clock.Preload(schemas.Command{Argv: []string{python, "-c", waits}}, python, clock.Shift{Ahead: clock.Ahead, Files: files})
				ahead := int64(clock.Ahead.Seconds() / 600)
				file := ahead
				if files {
					file = 0
				}
				out, err := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `NOW=$(date +%s) exec "$@"`, "sh"}, c.Argv...)...).CombinedOutput()
				want := fmt.Sprintf("clock %d\nfile %d %d\nset 2000.0\nchild True\n", ahead, file, file)
				if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// TestTried: an interpreter that does not see the clock, or waits too long, ends the command
// before it begins, and so does a compiler that does not do its work.
func TestTried(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		python, library string
		fault           bool
	}{
		"sees_it":      {python: "python3"},
		"blind":        {python: "env -u LD_PRELOAD python3", fault: true},
		"no_such":      {python: "false", fault: true},
		"not_compiled": {python: "python3", library: "#error", fault: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			python := filepath.Join(t.TempDir(), "python")
			if err := os.WriteFile(python, []byte("#!/bin/sh\nexec "+tc.python+` "$@"`), 0o755); err != nil {
				t.Fatal(err)
			}
			c := clock.Preload(schemas.Command{Argv: []string{"sh", "-c", `rm -r "${LD_PRELOAD%/*}"; exit 5`}}, python, clock.Shift{Ahead: clock.Ahead})
			if tc.library != "" {
				c.Argv[4] = tc.library
			}
			cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
			out, err := cmd.CombinedOutput()
			if fault := clock.Fault(cmd.ProcessState.ExitCode()); (fault != "") != tc.fault || !tc.fault && cmd.ProcessState.ExitCode() != 5 {
				t.Errorf("%v, %q: %s", err, fault, out)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	own := sandbox.File{Path: "/run/own.json", Data: []byte(`{"Replace":{"/testbed/z_test.go":"/run/1"}}`)}
	for name, tc := range map[string]struct {
		argv    []string
		inputs  []sandbox.File
		files   bool
		command []string // behind what prepares it
		replace map[string]string
		err     bool
	}{
		"own_overlay": {
			argv: []string{"go", "test", "-overlay=/run/own.json", "./..."}, inputs: []sandbox.File{own},
			command: []string{"go", "test", "-overlay=/run/benchmint/clock.json", "-toolexec=/tmp/.benchmint-clock/link", "./..."},
			replace: map[string]string{"/testbed/z_test.go": "/run/1", "/go/src/time/time.go": "/tmp/.benchmint-clock/time.go"},
		},
		"none_and_files": {
			argv: []string{"sh", "-c", "x", "go", "test", "./..."}, files: true,
			command: []string{"sh", "-c", "x", "go", "test", "-overlay=/run/benchmint/clock.json", "-toolexec=/tmp/.benchmint-clock/link", "./..."},
			replace: map[string]string{
				"/go/src/time/time.go": "/tmp/.benchmint-clock/time.go", "/go/src/os/stat_linux.go": "/tmp/.benchmint-clock/stat_linux.go",
				"/go/src/os/file_posix.go": "/tmp/.benchmint-clock/file_posix.go",
			},
		},
		"unknown_overlay": {argv: []string{"go", "test", "-overlay=/testbed/mine.json"}, err: true},
		"no_test":         {argv: []string{"make"}, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := recipe.TestRun{Command: schemas.Command{Argv: tc.argv}, Inputs: tc.inputs}
			got, err := clock.Overlay(before, "/go", clock.Shift{Ahead: clock.Ahead, Files: tc.files})
			if tc.err {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.command, got.Command.Argv[len(got.Command.Argv)-len(tc.command):]); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			var whole struct{ Replace map[string]string }
			if err := json.Unmarshal(got.Inputs[len(tc.inputs)].Data, &whole); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.replace, whole.Replace); diff != "" {
				t.Errorf("overlay (-want +got):\n%s", diff)
			}
		})
	}
}
