package docker

import (
	"context"
	"fmt"
	"math"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// unstarted is the exit code of a command that cannot be started, as shells have it.
const unstarted = 126

// runBeside sees a container from its start to its end, with a service in a container of
// its own. The network is the run's: the engine joins no network of a container that has
// ended, and a service may end at any time. So the run's container is the first one up, and
// its command waits until the service is started.
func (c *running) runBeside(ctx context.Context, b *sandbox.Beside) (sandbox.Result, error) {
	service := &running{s: c.s, limits: b.Limits.Filled(), space: c.space, join: c.id, unneeded: make(chan struct{}), deployed: b.Deployed}
	service.limits.Timeout = math.MaxInt64 // it ends with the run
	unfit := service.create(ctx, sandbox.Run{Layer: b.Layer, Command: b.Command, Env: b.Env, Inputs: b.Inputs})
	if unfit == nil {
		defer c.s.removeContainer(service.id)
	}
	if err := c.start(ctx); err != nil {
		return sandbox.Result{}, err
	}
	defer c.attached.Close()
	if unfit == nil {
		unfit = service.start(ctx)
	}
	// The engine has started the run: what it cannot start of an answer's image is that image, whose
	// user is not there, say.
	if unfit != nil && (!b.Deployed || ctx.Err() != nil) {
		return sandbox.Result{}, fmt.Errorf("the service: %w", unfit)
	}
	c.open()

	testing, test := context.WithCancel(ctx)
	defer test()
	var served sandbox.Served
	var failed error // of the machine, in the service's sandbox
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if unfit != nil {
			served = sandbox.Served{End: sandbox.Exited, ExitCode: unstarted, Output: []byte(unfit.Error() + "\n")}
			return
		}
		res, err := service.wait(ctx)
		served = sandbox.Served{End: res.End, Output: res.Output}
		if res.End == sandbox.Exited {
			served.ExitCode = res.ExitCode
		}
		if failed = err; err != nil {
			test() // whatever the command does now says nothing
		}
	}()
	res, err := c.wait(testing)
	close(service.unneeded)
	<-ended
	res.Beside = &served
	if failed != nil && ctx.Err() == nil {
		err = fmt.Errorf("the service: %w", failed)
	}
	return res, err
}
