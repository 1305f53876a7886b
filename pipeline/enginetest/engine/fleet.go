package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// spread are the flags of a coordinator and of a worker.
type spread struct {
	listen string // address, or URL of a server
	join   string // URL
	away   string // stages
	token  string
	lease  time.Duration
}

// begin makes this process a coordinator.
func (f spread) begin(ctx context.Context, dir string, plan *pipeline.Plan, s *store.Store, o *pipeline.RunOptions) (end func(), err error) {
	url, stop := f.listen, func() {}
	options := fleet.Options{Stages: map[string]schemas.Digest{}, Lease: f.lease, Blobs: s.Blobs, Steps: s, Books: s, Notes: s, Now: time.Now}
	for _, info := range plan.Infos() {
		if strings.Contains(","+f.away+",", ","+info.Name+",") {
			options.Stages[info.Name] = info.Fingerprint
		}
	}
	if options.Layers, err = blob.Open(filepath.Join(dir, "layers")); err != nil {
		return nil, err
	}
	var c *fleet.Coordinator
	if strings.HasPrefix(url, "nats://") {
		c, err = fleet.Open(ctx, url, options, nats.Token(f.token))
	} else {
		var server *fleet.Server
		for range 50 { // of a coordinator that was killed: its port is free in a moment
			if server, err = fleet.Serve(filepath.Join(dir, "nats"), url, f.token, nil); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			return nil, err
		}
		stop = server.Close
		c, err = fleet.Open(ctx, server.URL(), options, server.Options()...)
	}
	if err != nil {
		stop()
		return nil, err
	}
	o.Far, o.Limits, o.Resources = c, c.Limits(), map[string]int{fleet.Slots: 0}
	return func() { c.Close(true); stop() }, nil
}

// work makes this process a worker, until the run is done.
func (f spread) work(ctx context.Context, dir string, slots int, plan *pipeline.Plan) error {
	client, err := fleet.Dial(f.join, f.token)
	for try := 0; err != nil && try < 100; try++ {
		time.Sleep(100 * time.Millisecond)
		client, err = fleet.Dial(f.join, f.token)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		return err
	}
	blobs.Remote = client.Depot(false)
	client.Keep(blobs)
	return client.Work(ctx, fleet.Work{
		Name: "w" + strconv.Itoa(os.Getpid()), Host: "h", Slots: slots, Lease: f.lease, Plan: plan, Now: time.Now,
	})
}
