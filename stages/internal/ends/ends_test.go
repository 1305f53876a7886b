package ends_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// TestOf is the table of ends: each fault that can be met while layers are built.
func TestOf(t *testing.T) {
	t.Parallel()
	built := func(end sandbox.End) error {
		return fmt.Errorf("env: %w", &sandbox.BuildError{Step: schemas.Command{Argv: []string{"make"}}, Result: sandbox.Result{End: end, ExitCode: 2}})
	}
	for _, tc := range []struct {
		name   string
		err    error
		state  schemas.StepState
		reason schemas.Reason
		says   string
	}{
		{"build_failed", built(sandbox.Exited), schemas.StepRejected, schemas.NoBuild, "make: exit 2"},
		{"build_over_time", built(sandbox.TimedOut), schemas.StepRejected, schemas.BuildTime, "over the limit on timeout"},
		{"build_over_memory", built(sandbox.Memory), schemas.StepRejected, schemas.BuildMemory, ""},
		{"build_over_processes", built(sandbox.Processes), schemas.StepRejected, schemas.BuildProcs, ""},
		{"build_over_disk", built(sandbox.Disk), schemas.StepRejected, schemas.BuildDisk, ""},
		{"build_over_output", built(sandbox.Output), schemas.StepRejected, schemas.BuildOutput, ""},
		{"registry_is_down", fmt.Errorf("%w: 503: %w", environment.ErrUnavailable, built(sandbox.Exited)), schemas.StepDeferred, "", "503"},
		{"registry_of_toolchains_is_down", fmt.Errorf("listing toolchains: %w", &toolchain.Unreachable{Err: errors.New("dial tcp")}), schemas.StepDeferred, "", "dial tcp"},
		{"toolchain_is_gone", fmt.Errorf("getting python 3.12.1: %w", &toolchain.Missing{Name: "python", Version: "3.12.1", How: "uv python install 3.12.1"}), schemas.StepFailed, "", "uv python install"},
		{"no_go_command", &toolchain.Missing{Name: "go", How: "put it into PATH"}, schemas.StepFailed, "", "put it into PATH"},
		{"registry_refuses", &toolchain.Refused{Err: errors.New("403 Forbidden"), How: "set GOPROXY"}, schemas.StepFailed, "", "set GOPROXY"},
		{"disk_of_the_machine", &environment.MachineError{What: "the disk of this machine is full", Get: "benchmint clean", Said: "ENOSPC", Disk: true}, schemas.StepInterrupted, "", "benchmint clean"},
		{"disk_floor", fmt.Errorf("running: %w", &sandbox.ShortageError{Of: "disk", Where: "/cache", Get: "make room"}), schemas.StepInterrupted, "", "make room"},
		{"sandbox_cannot_be_kept", &sandbox.Refused{Rule: "memory", Get: "run as root"}, schemas.StepFailed, "", "run as root"},
		{"refused", &lang.Refusal{Reason: schemas.NoToolchain, Detail: "python 3.99"}, schemas.StepRejected, schemas.NoToolchain, "python 3.99"},
		{"package_cannot_be_added", fmt.Errorf("base: %w", &sandbox.PackagesError{Missing: []string{"pandoc"}}), schemas.StepRejected, schemas.HostPackages, "apt-get install pandoc"},
		{"fault_of_the_machine", errors.New("no space left on device"), schemas.StepFailed, "", ""},
		{"daemon_gone", errors.New("Cannot connect to the Docker daemon"), schemas.StepFailed, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := ends.Of(tc.err, schemas.NoBuild)
			got = ends.OfMachine(got)
			if state := pipeline.EndOf(context.Background(), got); state != tc.state {
				t.Errorf("%s, want %s", state, tc.state)
			}
			var rejected *pipeline.Rejected
			if errors.As(got, &rejected) && rejected.Reason != tc.reason {
				t.Errorf("reason %s, want %s", rejected.Reason, tc.reason)
			}
			if !strings.Contains(got.Error(), tc.says) {
				t.Errorf("%q does not say %q", got, tc.says)
			}
			var deferred *pipeline.Deferred
			if errors.As(got, &deferred) && deferred.Resource != ends.Registry {
				t.Errorf("pauses %q", deferred.Resource)
			}
			if !errors.Is(got, tc.err) && tc.name != "refused" {
				t.Error("the chain of causes is lost")
			}
		})
	}
}

// TestOfMachine is the table of faults that give no item an end, whatever else the chain
// holds, and of which of them end the run at once.
func TestOfMachine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		err       error
		halt, all bool
	}{
		{"disk_full", fmt.Errorf("writing: %w", &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}), true, true},
		{"quota", syscall.EDQUOT, true, true},
		{"read_only", &fs.PathError{Op: "open", Path: "/x", Err: syscall.EROFS}, true, true},
		{"full_in_a_reject", pipeline.Reject(schemas.NoBuild, "layer: %w", syscall.ENOSPC), true, true},
		{"floor_before", &sandbox.ShortageError{Of: "disk", Where: "/cache", Before: true}, true, true},
		{"floor_meanwhile", &sandbox.ShortageError{Of: "files", Where: "/cache"}, true, false},
		{"blob_is_not_here", fmt.Errorf("reading the recipe: %w", &blob.FaultError{Err: fs.ErrNotExist}), true, false},
		{"blob_is_corrupt", &blob.FaultError{Err: blob.ErrCorrupt}, true, false},
		{"blob_cannot_be_written", &blob.FaultError{Writes: true, Err: fs.ErrPermission}, true, true},
		{"engine_gone", fmt.Errorf("building: %w", &sandbox.GoneError{Err: syscall.ECONNREFUSED}), true, true},
		{"memory", &sandbox.ShortageError{Of: "memory"}, false, false},
		{"file_of_the_project", &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, false, false},
		{"reject", pipeline.Reject(schemas.NoF2P, "none"), false, false},
	} {
		var halted *pipeline.Halted
		got := ends.OfMachine(tc.err)
		if errors.As(got, &halted) != tc.halt || halted != nil && halted.All != tc.all {
			t.Errorf("%s: %#v", tc.name, got)
		}
		if state := pipeline.EndOf(context.Background(), got); (state == schemas.StepInterrupted) != tc.halt {
			t.Errorf("%s: %s", tc.name, state)
		}
	}
}

// TestFor: what fails for the want of a system package names the want, and what does
// not fail for that does not.
func TestFor(t *testing.T) {
	t.Parallel()
	without := schemas.Recipe{Repairs: []schemas.Repair{{Rule: environment.NotOnThisHost, Symptom: "this host lacks libpcap-dev: apt-get install libpcap-dev"}}}
	build := &sandbox.BuildError{Result: sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte("pcap.h: no such file")}}
	for _, tc := range []struct {
		name   string
		reason schemas.Reason
		recipe schemas.Recipe
		want   schemas.Reason
	}{
		{"build", schemas.NoBuild, without, schemas.HostPackages},
		{"no_test_ran", schemas.NoRunner, without, schemas.HostPackages},
		{"nothing_wanted", schemas.NoBuild, schemas.Recipe{}, schemas.NoBuild},
		{"over_time", schemas.BuildTime, without, schemas.BuildTime},
	} {
		got := ends.For(pipeline.Reject(tc.reason, "%w", build), tc.recipe)
		var rejected *pipeline.Rejected
		if !errors.As(got, &rejected) || rejected.Reason != tc.want || !strings.Contains(got.Error(), "pcap.h") {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
		if tc.want == schemas.HostPackages && !strings.Contains(got.Error(), "apt-get install libpcap-dev") {
			t.Errorf("%s: %v does not say what to install", tc.name, got)
		}
	}
	if err := errors.New("disk"); !errors.Is(ends.For(err, without), err) {
		t.Error("a fault became a reject")
	}
}
