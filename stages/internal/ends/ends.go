// Package ends turns what the trades report into the ends of an item (design 5),
// in one place, so that every stage books the same fault the same way.
//
// It never hides a fault: what it does not know stays an error, and so Failed. A fault
// of this machine is no verdict, and keeps the advice that it carries.
package ends

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Registry is the resource that is paused where a package registry does not answer.
const Registry = "registry"

// Timeout bounds what a step does beside the commands that have limits of their own: asking registries, copying
// toolchains, making a mirror, reading a history or a change. A step over it hangs.
const Timeout = 2 * time.Hour

// limits are the reasons of builds that passed a limit of ours.
var limits = map[sandbox.End]schemas.Reason{
	sandbox.TimedOut:  schemas.BuildTime,
	sandbox.Memory:    schemas.BuildMemory,
	sandbox.Processes: schemas.BuildProcs,
	sandbox.Disk:      schemas.BuildDisk,
	sandbox.Output:    schemas.BuildOutput,
}

// rule is one row: what an error is, and the end that it gives. nil leaves it an error.
type rule struct {
	is  func(error) bool
	end func(err error, reason schemas.Reason) error
}

// rules are read from the top: what is not the item's doing comes first, because the
// same chain may hold the build that failed for it.
var rules = []rule{
	{is[*toolchain.Unreachable], deferred},
	{func(err error) bool { return errors.Is(err, environment.ErrUnavailable) }, deferred},
	{is[*environment.MachineError], nil},
	{is[*toolchain.Missing], nil},
	{is[*toolchain.Refused], nil},
	{is[*sandbox.Refused], nil},
	{is[*sandbox.ShortageError], nil},
	{is[*lang.Refusal], refused},
	{is[*sandbox.PackagesError], func(err error, _ schemas.Reason) error { return pipeline.Reject(schemas.HostPackages, "%w", err) }},
	{is[*sandbox.BuildError], failedBuild},
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// full are the errors of system calls that find a disk full, or not to be written or read.
var full = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO}

// OfMachine makes pipeline.Halted of an error of any stage that is a fault of this machine's
// disk, of its folder of blobs or of the engine of its sandbox, whatever the stage took it for.
func OfMachine(err error) error {
	var blobs *blob.FaultError
	var short *sandbox.ShortageError
	var build *environment.MachineError
	switch {
	case is[*pipeline.Halted](err):
		return err
	case slices.ContainsFunc(full, func(no error) bool { return errors.Is(err, no) }):
		return &pipeline.Halted{All: true, Err: err}
	case is[*sandbox.GoneError](err):
		return &pipeline.Halted{All: true, Err: err}
	case errors.As(err, &blobs):
		return &pipeline.Halted{All: blobs.Writes, Err: err}
	case errors.As(err, &short) && short.Where != "":
		return &pipeline.Halted{All: short.Before, Err: err}
	case errors.As(err, &build) && build.Disk:
		return &pipeline.Halted{Err: err}
	}
	return err
}

// OfTree gives the end of an error from reading a tree of a repository: one that cannot be
// read is a property of the item.
func OfTree(err error) error {
	switch {
	case is[*pipeline.Rejected](err):
		return err
	case errors.Is(err, gitrepo.ErrMissing):
		return &pipeline.Rejected{Reason: schemas.MissingBlob, Err: err}
	case errors.Is(err, tree.ErrUnsafe):
		return &pipeline.Rejected{Reason: schemas.UnsafePath, Err: err}
	case errors.Is(err, tree.ErrTooLarge):
		return &pipeline.Rejected{Reason: schemas.HugeObject, Err: err}
	}
	return err
}

// Of gives the end of an error from building layers. A build step that does not
// succeed rejects with reason.
func Of(err error, reason schemas.Reason) error {
	for _, r := range rules {
		if !r.is(err) {
			continue
		}
		if r.end == nil {
			return err
		}
		return r.end(err, reason)
	}
	return err
}

func deferred(err error, _ schemas.Reason) error {
	return &pipeline.Deferred{Resource: Registry, Err: err}
}

func refused(err error, _ schemas.Reason) error {
	var no *lang.Refusal
	errors.As(err, &no)
	return pipeline.Reject(no.Reason, "%s", no.Detail)
}

func failedBuild(err error, reason schemas.Reason) error {
	var build *sandbox.BuildError
	errors.As(err, &build)
	if over, ok := limits[build.Result.End]; ok {
		reason = over
	}
	return pipeline.Reject(reason, "%w", err)
}

// For is the end of an item whose recipe does without a system package that this host
// lacks: that it fails says nothing of how it would do with the package, so the reject
// names the want, which other machines and a later day may not have.
func For(err error, r schemas.Recipe) error {
	var rejected *pipeline.Rejected
	if !errors.As(err, &rejected) {
		return err
	}
	forWant := []schemas.Reason{schemas.NoBuild, schemas.Unresolvable, schemas.NoRunner}
	at := slices.IndexFunc(r.Repairs, func(x schemas.Repair) bool { return x.Rule == environment.NotOnThisHost })
	if at < 0 || !slices.Contains(forWant, rejected.Reason) {
		return err
	}
	end := pipeline.Reject(schemas.HostPackages, "%s; without it: %w", r.Repairs[at].Symptom, err)
	end.Evidence = rejected.Evidence
	return end
}
