package sandbox

import (
	"context"
	"errors"
)

// Again is a sandbox that runs a command once more which was ended by SIGKILL and passed
// no limit of ours. Somebody on this machine may have killed it, and then its end says
// nothing of the command; one that does it to itself does it again. It is a Deployer where s is.
func Again(s Sandbox) Sandbox {
	if d, ok := s.(Deployer); ok {
		return againWithImages{again{s}, d}
	}
	if p, ok := s.(Porter); ok {
		return againPorted{again{s}, p}
	}
	return again{s}
}

type again struct{ Sandbox }

type againWithImages struct {
	again
	Deployer
}

type againPorted struct {
	again
	Porter
}

func (a again) Run(ctx context.Context, r Run) (Result, error) {
	res, err := a.Sandbox.Run(ctx, r)
	if err == nil && killed(res) && r.Interactive == nil {
		return a.Sandbox.Run(ctx, r)
	}
	return res, err
}

func (a again) Build(ctx context.Context, b Build) (Layer, Result, error) {
	layer, res, err := a.Sandbox.Build(ctx, b)
	var failed *BuildError
	if errors.As(err, &failed) && killed(failed.Result) {
		return a.Sandbox.Build(ctx, b)
	}
	return layer, res, err
}

// killed recognises SIGKILL as shells and both sandboxes do: 128 and the signal's number.
func killed(res Result) bool {
	const code = 128 + 9
	return res.End == Exited && res.ExitCode == code
}
