package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/fleet"
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// listening are the flags of a verb whose steps other machines may do.
type listening struct {
	address   string
	cert, key string
}

func (l *listening) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.address, "listen", "", "have other machines do the steps that need a sandbox: `ADDRESS` as HOST:PORT, or nats://… of a NATS server")
	cmd.Flags().StringVar(&l.cert, "tls-cert", "", "`FILE` of the certificate that --listen shows to workers")
	cmd.Flags().StringVar(&l.key, "tls-key", "", "`FILE` of its key")
}

// check refuses flags that cannot be meant.
func (l listening) check() error {
	switch {
	case l.address == "" && (l.cert != "" || l.key != ""):
		return unmet("--tls-cert and --tls-key are for --listen")
	case (l.cert == "") != (l.key == ""):
		return unmet("--tls-cert and --tls-key go together")
	case l.cert != "" && isNATS(l.address):
		return unmet("--tls-cert: %s has its own certificate", l.address)
	case l.address == "" || isNATS(l.address):
		return nil
	}
	if _, _, err := net.SplitHostPort(l.address); err != nil {
		return unmet("--listen: %w; give HOST:PORT (0.0.0.0:4222 for all interfaces), or nats://HOST:PORT of a NATS server", err)
	}
	return nil
}

func isNATS(address string) bool {
	return strings.HasPrefix(address, "nats://") || strings.HasPrefix(address, "tls://")
}

// invitation is what a worker is told of a run.
type invitation struct {
	Version versionInfo               `json:"version"`
	Config  *config.Config            `json:"config"`
	Sandbox string                    `json:"sandbox"` // kind
	Machine string                    `json:"machine"` // the inventory of the run's machine
	Stages  map[string]schemas.Digest `json:"stages"`
	Lease   time.Duration             `json:"lease"`
	Eval    *evalInvitation           `json:"eval,omitempty"` // nil: it is a run
}

// post is where workers come to.
type post struct {
	*terminal
	server *fleet.Server
	*fleet.Coordinator
	url  string
	stop func()
}

// posted is what the steps of a plan rest on, for workers.
type posted struct {
	listening
	folder     string // of the store
	bucket     string // "": workers get blobs from the run
	store      *store.Store
	source     *packer      // nil where there are no sources
	model      llm.Provider // nil where nobody is asked
	stages     map[string]schemas.Digest
	invitation any
}

// listen opens a post.
func (t *terminal) listen(ctx context.Context, on posted) (p *post, err error) {
	dir := filepath.Join(on.folder, "fleet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	layers, err := blob.Open(filepath.Join(dir, "layers"))
	if err != nil {
		return nil, err
	}
	if on.bucket != "" {
		remote, err := t.bucket(ctx, on.bucket)
		if err != nil {
			return nil, err
		}
		on.store.Blobs.Remote, layers.Remote = remote, remote
	}
	invited, err := json.Marshal(on.invitation)
	if err != nil {
		return nil, err
	}
	options := fleet.Options{
		Stages: on.stages, Blobs: on.store.Blobs, Layers: layers, Steps: on.store, Books: on.store, Notes: on.store,
		Source: on.source.source, Invitation: invited, Now: t.now,
		Funnel: func(ctx context.Context) (json.RawMessage, error) {
			counts, err := (&shelf{Store: on.store}).funnel(ctx)
			if err != nil {
				return nil, err
			}
			return json.Marshal(counts)
		},
	}
	if on.source != nil {
		on.source.layers = layers
	}
	if on.model != nil {
		options.Complete = completer{on.model}.complete
	}
	p = &post{terminal: t, url: on.address}
	at := on.address
	token, err := t.token()
	if err != nil {
		return nil, err
	}
	connect := []nats.Option{nats.Token(token)}
	how := config.TokenVariable + "=…"
	if !isNATS(on.address) {
		if file := filepath.Join(dir, "token"); token == "" {
			if token, err = tokenIn(file); err != nil {
				return nil, err
			}
			how = config.TokenFileVariable + "=" + file
		}
		secure, err := on.tls()
		if err != nil {
			return nil, err
		}
		if p.server, err = fleet.Serve(filepath.Join(dir, "nats"), on.address, token, secure); err != nil {
			return nil, unmet("--listen: %w", err)
		}
		p.url, at, connect = p.server.URL(), fleet.Own, p.server.Options()
	}
	if p.Coordinator, err = fleet.Open(ctx, at, options, connect...); err != nil {
		if p.server != nil {
			p.server.Close()
		}
		return nil, unmet("--listen: %w", err)
	}
	t.say("listening at %s; on each machine: %s benchmint work %s", p.url, how, p.url)
	p.stop = during(5*time.Second, p.alone())
	return p, nil
}

// bucket opens the one in which blobs are exchanged.
func (e *world) bucket(ctx context.Context, location string) (*blob.S3, error) {
	s, err := blob.NewS3(ctx, location, e.lookup)
	if err != nil {
		return nil, unmet("blobs: %w", err)
	}
	return s, nil
}

func (l listening) tls() (*tls.Config, error) {
	if l.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(l.cert, l.key)
	if err != nil {
		return nil, unmet("--tls-cert: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// nobodyFor is after what time without a worker it is said.
const nobodyFor = 20 * time.Second

// alone says when no worker is there any more, once each time.
func (p *post) alone() func(context.Context) error {
	since, told := p.now(), false
	return func(context.Context) error {
		if len(p.Workers()) > 0 {
			since, told = p.now(), false
		} else if !told && p.now().Sub(since) >= nobodyFor {
			p.say("no worker is there for %s: what needs a sandbox waits; benchmint work %s adds one", nobodyFor, p.url)
			told = true
		}
		return nil
	}
}

// close ends a post; over says that workers go home.
func (p *post) close(over bool) {
	if p == nil {
		return
	}
	p.stop()
	p.Coordinator.Close(over)
	if p.server != nil {
		p.server.Close()
	}
}

// manyAtOnce bounds the steps that are out at one time. Workers bring the slots.
const manyAtOnce = 4096

// spread has a run's steps done by the workers that come.
func (p *post) spread(o *pipeline.RunOptions) {
	o.Far, o.Limits = p.Coordinator, p.Limits()
	o.Slots, o.Resources[stages.Sandbox], o.Resources[stages.Git] = manyAtOnce, 0, slots
}

// sandboxes returns how many steps of a run have a sandbox at one time: here, or at all
// workers together.
func sandboxes(o pipeline.RunOptions) func() int {
	if far, ok := o.Far.(*fleet.Coordinator); ok {
		return far.Slots
	}
	return func() int { return o.Resources[stages.Sandbox] }
}

// tokenIn is the token of a store, which is made the first time.
func tokenIn(file string) (string, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		b = []byte(rand.Text() + "\n")
		err = os.WriteFile(file, b, 0o600)
	}
	return strings.TrimSpace(string(b)), err
}

// token is that of the environment, "" where there is none.
func (e *world) token() (string, error) {
	if file := e.lookup(config.TokenFileVariable); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", unmet("%s: %w", config.TokenFileVariable, err)
		}
		return strings.TrimSpace(string(b)), nil
	}
	return e.lookup(config.TokenVariable), nil
}

// listen opens the post of a run.
func (s *session) listen(ctx context.Context, l listening) (*post, error) {
	note, err := s.store.Note(machineNote)
	if err != nil {
		return nil, err
	}
	prints := s.plan.Holding(stages.Sandbox)
	var model llm.Provider
	if client := s.models.client(s.config, s.store.Blobs); client != nil {
		model = client.Provider
	}
	return s.terminal.listen(ctx, posted{
		listening: l, folder: s.config.Store, bucket: s.config.Blobs, store: s.store, source: &packer{session: s}, model: model, stages: prints,
		invitation: invitation{readVersion(), forWorkers(s.config), s.workshop.kind, note, prints, fleet.Lease, nil},
	})
}

// forWorkers is a configuration without what is of one machine, and without the addresses of sources, which may hold
// passwords.
func forWorkers(c *config.Config) *config.Config {
	out := *c
	out.File, out.Store, out.Output, out.Releases, out.Overrides, out.Build.CABundle = "", "", "", "", "", ""
	out.Reviews, out.Sources = nil, slices.Clone(c.Sources)
	for i := range out.Sources {
		out.Sources[i].Git, out.Sources[i].List, out.Sources[i].PyPI.File = "", "", ""
	}
	return &out
}

// packer packs sources for workers, each once for as long as its refs stand.
type packer struct {
	*session
	layers *blob.Store
	mu     sync.Mutex
	packed map[string]fleet.Source
}

func (p *packer) source(ctx context.Context, name string) (out fleet.Source, err error) {
	if p == nil {
		return out, errors.New("an evaluation has no sources")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if out, ok := p.packed[name]; ok {
		return out, nil
	}
	repo, release, err := p.sources.Open(ctx, schemas.Repo{Name: name})
	if err != nil {
		return out, err
	}
	defer release()
	dir, remove, err := p.layers.Folder()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file := filepath.Join(dir, "bundle")
	if out.Shallow, err = repo.Bundle(ctx, file); err != nil {
		return out, fmt.Errorf("packing %s: %w", name, err)
	}
	if out.Bundle, err = p.layers.PutFile(file); err != nil {
		return out, err
	}
	if p.packed == nil {
		p.packed = map[string]fleet.Source{}
	}
	p.packed[name] = out
	return out, nil
}
