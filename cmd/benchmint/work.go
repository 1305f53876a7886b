package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/inventory"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
	"github.com/benchmint/benchmint/stages/grade"
)

// workFlags are the flags of work.
type workFlags struct {
	slots int
	stay  bool
	wait  time.Duration
	ca    string
}

func newWork(p *program) *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use: "work URL", Short: "do steps of a run that listens on another machine", Args: argsOf(cobra.ExactArgs(1)),
		Long:    "Does the steps of a run that need a sandbox, until the run is done. A worker needs no configuration, no\nsource and no folder in common with the run: it asks the run for what it needs. Its benchmint, its sandbox\nand its toolchains must be those of the run's machine.\n\nThe token of the run is in " + config.TokenFileVariable + " (a file) or " + config.TokenVariable + ".",
		Example: "  benchmint run --listen 0.0.0.0:4222 ./clone    # on one machine\n  BENCHMINT_TOKEN_FILE=token benchmint work nats://HOST:4222",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.slots < 0 {
				return unmet("--jobs: %d is below 0", f.slots)
			}
			if !isNATS(args[0]) {
				return unmet("%s is not nats://HOST:PORT or tls://HOST:PORT, where a run listens (benchmint run --listen)", args[0])
			}
			return p.work(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().IntVarP(&f.slots, "jobs", "j", 0, "`N` steps at one time; 0: as the run's proof.parallel says")
	cmd.Flags().BoolVar(&f.stay, "stay", false, "stay when the run is done, for the next one at the same address")
	cmd.Flags().DurationVar(&f.wait, "wait", 10*time.Minute, "`DURATION` that the run may be silent; 0 means no limit")
	cmd.Flags().StringVar(&f.ca, "tls-ca", "", "`FILE` of certificates that the run's is signed by; empty: the host's")
	return cmd
}

// dial connects to a run.
func (e *world) dial(url, ca string) (*fleet.Client, error) {
	token, err := e.token()
	if err != nil {
		return nil, err
	}
	var options []nats.Option
	if ca != "" {
		options = append(options, nats.RootCAs(ca))
	}
	client, err := fleet.Dial(url, token, options...)
	switch {
	case errors.Is(err, nats.ErrAuthorization) && token == "":
		return nil, unmet("%s asks for a token: set %s to the file that the run names, or %s", url, config.TokenFileVariable, config.TokenVariable)
	case errors.Is(err, nats.ErrAuthorization):
		return nil, unmet("%s refuses this token (%s, %s)", url, config.TokenFileVariable, config.TokenVariable)
	case err != nil:
		return nil, unmet("%w", err)
	}
	return client, nil
}

// work is a worker's part in runs.
func (p *program) work(ctx context.Context, url string, f workFlags) error {
	for {
		client, err := p.comeTo(ctx, url, f)
		if err != nil {
			return err
		}
		err = p.workFor(ctx, client, url, f)
		client.Close()
		// Another run at the same address may have other settings: it is asked anew.
		next := err == nil || errors.Is(err, fleet.ErrSilent) || errors.Is(err, pipeline.ErrOther) && !errors.As(err, new(*ended))
		if !f.stay || !next {
			return err
		}
		if ctx.Err() != nil { // also right after the end of a run: who stays ends by an interrupt only
			return cmp.Or(err, ctx.Err())
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// comeTo connects to a run, and waits for one that does not listen yet.
func (p *program) comeTo(ctx context.Context, url string, f workFlags) (*fleet.Client, error) {
	waiting := ctx
	if f.wait > 0 && !f.stay {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, f.wait)
		defer cancel()
	}
	for said := false; ; said = true {
		client, err := p.dial(url, f.ca)
		if err == nil || !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, syscall.ECONNREFUSED) {
			return client, err
		}
		if !said {
			p.say("nobody listens at %s yet: waiting", url)
		}
		select {
		case <-waiting.Done():
			return nil, cmp.Or(ctx.Err(), err)
		case <-time.After(time.Second):
		}
	}
}

// workFor is a worker's part in one run.
func (p *program) workFor(ctx context.Context, client *fleet.Client, url string, f workFlags) (err error) {
	client.Patience = f.wait
	tmp, err := os.MkdirTemp("", "benchmint-work-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	s := &serving{program: p, client: client, folder: tmp, flags: f}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.serve(ctx, url)
}

// serving is all that a worker has open.
type serving struct {
	*program
	client   *fleet.Client
	folder   string
	flags    workFlags
	config   *config.Config
	lease    time.Duration
	workshop *workshop
	sources  *sources.Set
	plan     *pipeline.Plan
	grader   *grade.Grader // of an evaluation
	done     atomic.Int64
}

// prepare asks what the run is, and makes this machine ready for it, or says why it is not.
func (s *serving) prepare(ctx context.Context) error {
	raw, err := s.client.Invitation(ctx)
	if err != nil {
		return unmet("%w", err)
	}
	var in invitation
	if err := json.Unmarshal(raw, &in); err != nil {
		return unmet("the run says something that this version does not know (%w): install the run's benchmint", err)
	}
	if own := readVersion(); own.Version != in.Version.Version || own.Commit != in.Version.Commit || own.Grammars != in.Version.Grammars {
		return unmet("this is benchmint %s (%s), and the run is of %s (%s): install the same", own.Version, own.Commit, in.Version.Version, in.Version.Commit)
	}
	s.config, s.lease = in.Config, in.Lease
	m := s.machine(s.config)
	if s.workshop, err = m.require(ctx, job{builds: true, kind: in.Sandbox, asks: asksFor("the run has sources", s.config.Filters.Languages...)}); err != nil {
		return err
	}
	if in.Machine != "" {
		if err := s.sameMachine(ctx, in); err != nil {
			return err
		}
	}
	if err := s.openDepot(ctx, in); err != nil {
		return err
	}
	for stage, print := range in.Stages {
		if own := s.plan.Holding(stages.Sandbox)[stage]; own != print {
			return unmet("stage %s is not that of the run: %w", stage, pipeline.ErrOther)
		}
	}
	return nil
}

// sameMachine compares what this machine has with what the run's has.
func (s *serving) sameMachine(ctx context.Context, in invitation) error {
	there, err := inventory.Parse(in.Machine)
	if err != nil {
		return err
	}
	names := toolchainNames(s.config)
	here, err := inventory.Take(ctx, s.workshop.tools, inventory.Inventory{}, s.workshop.kind, names)
	if err != nil {
		return err
	}
	if differ := inventory.Differences(there, here, names); len(differ) > 0 {
		return unmet("this machine is not like the run's, so that tasks would differ: %s", strings.Join(differ, "; "))
	}
	return nil
}

// openDepot opens what the steps read: blobs, sources, records.
func (s *serving) openDepot(ctx context.Context, in invitation) error {
	blobs, err := blob.Open(filepath.Join(s.folder, "blobs"))
	if err != nil {
		return err
	}
	layers, err := blob.Open(filepath.Join(s.folder, "layers"))
	if err != nil {
		return err
	}
	blobs.Remote, layers.Remote = s.client.Depot(false), s.client.Depot(true)
	if s.config.Blobs != "" {
		remote, err := s.bucket(ctx, s.config.Blobs)
		if err != nil {
			return err
		}
		// What was there before the bucket is with the run.
		blobs.Remote, layers.Remote = blob.First{remote, blobs.Remote}, blob.First{remote, layers.Remote}
	}
	s.client.Keep(blobs)
	s.workshop.builder.Shared = s.client.Layers(layers)
	if in.Eval != nil {
		s.plan, err = s.grading(in.Eval, blobs)
		return err
	}
	s.sources = sources.New(s.config, makers{s.config})
	s.sources.Bring = func(ctx context.Context, name string) (*gitrepo.Origin, error) { return s.bring(ctx, layers, name) }
	d := withPrinter(ctx, s.deps(s.config, s.sources, s.workshop), s.config)
	d.Steps, d.Blobs, d.Books, d.Now, d.Far = s.client, blobs, s.client, s.now, true
	if d.Models = s.models.client(s.config, blobs); d.Models != nil {
		d.Models.Provider = farModel{s.client}
	}
	s.plan, err = stages.New(d)
	return err
}

// bring gets a source from the run.
func (s *serving) bring(ctx context.Context, layers *blob.Store, name string) (*gitrepo.Origin, error) {
	src, err := s.client.Source(ctx, name)
	if err != nil {
		return nil, err
	}
	bundle, err := layers.Open(src.Bundle)
	if err != nil {
		return nil, err
	}
	defer bundle.Close()
	dir := filepath.Join(s.folder, "sources", schemas.RepoSlug(name)+".git")
	if err := gitrepo.Unbundle(ctx, bundle.Name(), src.Shallow, dir); err != nil {
		return nil, err
	}
	if err := os.Remove(bundle.Name()); err != nil { // it is unpacked
		return nil, err
	}
	o, err := gitrepo.Look(ctx, dir, name, filepath.Join(s.folder, "mirrors"))
	if day := s.config.AsOf; err == nil && !day.IsZero() {
		err = o.Before(ctx, day.Time)
	}
	return o, err
}

func (s *serving) close() error {
	var errs []error
	if s.grader != nil {
		errs = append(errs, s.grader.Close(context.Background()))
	}
	if s.workshop != nil {
		errs = append(errs, s.workshop.close())
	}
	if s.sources != nil {
		errs = append(errs, s.sources.Close())
	}
	return errors.Join(errs...)
}

// serve takes tasks until there is a reason not to.
func (s *serving) serve(ctx context.Context, url string) error {
	host, _ := os.Hostname() // a name for people; the rest tells workers apart
	slots := cmp.Or(s.flags.slots, s.config.Proof.Parallel, 1)
	s.say("working for %s with %s (%s)", url, plural(slots, "slot"), s.workshop.kind)
	err := s.client.Work(ctx, fleet.Work{
		Name: fmt.Sprintf("%s-%d-%d", host, os.Getpid(), s.now().UnixNano()), Host: host, Slots: slots, Lease: s.lease, Plan: s.plan, Now: s.now,
		Ended: s.ended,
	})
	t := s.out()
	t.line("worked   %s ended here", plural(int(s.done.Load()), "step"))
	switch {
	case err == nil:
		t.line("ended    the run is done")
		return t.err
	case ctx.Err() != nil:
		t.line("ended    interrupted; what it had begun is given back")
		return errors.Join(ctx.Err(), t.err)
	case errors.Is(err, fleet.ErrSilent):
		return &ended{exitFailed, err}
	}
	return errors.Join(err, t.err)
}

// ended prints what became of a step.
func (s *serving) ended(stage, key string, r pipeline.Report) {
	s.done.Add(1)
	line := string(r.State)
	if r.Reason != "" {
		line += " " + string(r.Reason)
	}
	if r.State != schemas.StepDone {
		line += ": " + visible(tail(r.Detail, 1))
	}
	if s.verbose || !slices.Contains([]schemas.StepState{schemas.StepDone, schemas.StepRejected}, r.State) {
		s.say("%s  %s  %s", key, stage, line)
	}
}
