package sandbox

import (
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// BuildError is a build step that did not exit 0, or passed a limit.
type BuildError struct {
	Step   schemas.Command
	Result Result
	// Denied are the hosts (with their ports) that it asked for and that builds may not
	// reach; Unreached those that they may, with what the way to them said.
	Denied, Unreached []string
}

func (e *BuildError) Error() string {
	if e.Result.End != Exited {
		return fmt.Sprintf("%s: over the limit on %s", strings.Join(e.Step.Argv, " "), e.Result.End)
	}
	asked := ""
	if len(e.Denied) > 0 {
		asked = "it asked for " + strings.Join(e.Denied, ", ") + ", which builds may not reach (build.hosts): "
	}
	return fmt.Sprintf("%s: exit %d: %s%s", strings.Join(e.Step.Argv, " "), e.Result.ExitCode, asked, lastLines(e.Result.Output, 5))
}

// lastLines is the tail of a log that fits in a message.
func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// PackagesError is a base that asks for Debian packages that this kind of sandbox
// cannot add: bwrap shows the host's own.
type PackagesError struct{ Missing []string }

func (e *PackagesError) Error() string {
	return fmt.Sprintf("this host lacks %s: apt-get install %[1]s", strings.Join(e.Missing, " "))
}

// MoreDisk is what helps where the disk of the cache is full.
const MoreDisk = "make room there (benchmint clean), or set XDG_CACHE_HOME to a folder on a larger disk, and run again"

// ShortageError is a machine that ran out of something while a build or a run was under
// way, or was about to: whatever the command did then says nothing of it.
type ShortageError struct {
	Of    string // disk, memory
	Where string // the folder whose file system is short; "" for memory
	Why   string
	Get   string // what helps
	// Before says that nothing was started: whoever comes next finds the same.
	Before bool
}

func (e *ShortageError) Error() string {
	where := ""
	if e.Where != "" {
		where = " at " + e.Where
	}
	return fmt.Sprintf("this machine is short of %s%s: %s; %s", e.Of, where, e.Why, e.Get)
}

// GoneError is a sandbox whose engine no longer answers: whatever came back of a build or a run
// says nothing of it.
type GoneError struct{ Err error }

func (e *GoneError) Error() string {
	return "the engine of the sandbox no longer answers: " + e.Err.Error()
}

func (e *GoneError) Unwrap() error { return e.Err }

// Refused is a machine that cannot keep a rule of the sandbox: nothing is run
// there rather than run with less.
type Refused struct {
	Rule string // what cannot be kept: network, memory, …
	Why  string
	Get  string // the command that helps, or ""
}

func (e *Refused) Error() string {
	msg := fmt.Sprintf("this machine cannot keep the sandbox's rule on %s: %s", e.Rule, e.Why)
	if e.Get != "" {
		msg += " (" + e.Get + ")"
	}
	return msg
}
