package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/benchmint/benchmint/fleet"
)

// farStatus is what status prints of a run on another machine.
type farStatus struct {
	*terminal
	url string
}

// fleetStatus is the same for scripts.
type fleetStatus struct {
	Stages  []tally      `json:"stages"`
	Workers []fleet.Beat `json:"workers"`
}

func (s farStatus) print(ctx context.Context, watch bool) error {
	if !isNATS(s.url) {
		return unmet("%s is not nats://HOST:PORT or tls://HOST:PORT, where a run listens (benchmint run --listen)", s.url)
	}
	client, err := s.dial(s.url, "")
	if err != nil {
		return err
	}
	defer client.Close()
	client.Patience = 30 * time.Second
	for {
		if err := s.once(ctx, client); err != nil || !watch {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

func (s farStatus) once(ctx context.Context, client *fleet.Client) error {
	workers, counts, err := client.Workers(ctx)
	if err != nil {
		return unmet("%w", err)
	}
	now := fleetStatus{Workers: workers}
	if err := json.Unmarshal(counts, &now.Stages); err != nil {
		return err
	}
	if s.json {
		return s.writeJSON(now)
	}
	t := s.out()
	t.funnel(now.Stages)
	if len(workers) == 0 {
		t.line("workers  none: what needs a sandbox waits; benchmint work %s adds one", s.url)
	}
	t.beats(workers, s.now())
	return t.err
}

// beats prints what workers said last.
func (t *printer) beats(workers []fleet.Beat, now time.Time) {
	for _, w := range workers {
		state := ""
		if w.Leaves {
			state = ", leaves"
		}
		t.line("worker   %s, %s%s", w.Worker, plural(w.Slots, "slot"), state)
		for _, d := range w.Doing {
			t.line("  %-16s %s  %s  %s", d.Stage, visible(name(d.Key)), now.Sub(d.Since).Round(time.Second), clip(visible(d.Text), mostDoing))
		}
	}
}
