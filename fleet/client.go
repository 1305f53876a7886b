package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Client is a worker's side. Its questions wait for a coordinator that is away for a while; ErrSilent after that.
type Client struct {
	nc *nats.Conn
	// Patience is how long a coordinator may be away. 0 means for ever.
	Patience time.Duration
	blobs    Blobs // of this machine, with the depot behind it
}

// Dial connects to a server at url, nats://HOST:PORT or tls://HOST:PORT, with the token of the run. A server that
// does not answer within 10 s is an error.
func Dial(url, token string, options ...nats.Option) (*Client, error) {
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.Name("benchmint work"), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.Timeout(10 * time.Second),
		nats.UserInfo(workerName, token), nats.Token(token), nats.CustomInboxPrefix(inboxes), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	}
	return &Client{nc: nc}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.nc.Close() }

// Keep has messages that are too large for one go through the blobs of this machine, whose Remote is the depot.
func (c *Client) Keep(blobs Blobs) { c.blobs = blobs }

// refusedError is an answer that says no: asking again does not help.
type refusedError struct{ text string }

func (r *refusedError) Error() string { return r.text }

// request puts one question, again and again while nobody answers.
func (c *Client) request(ctx context.Context, m *nats.Msg, wait time.Duration) (*nats.Msg, error) {
	patient, cancel := within(ctx, c.Patience)
	defer cancel()
	for {
		trying, cancel := context.WithTimeout(patient, wait)
		r, err := c.nc.RequestMsgWithContext(trying, m)
		cancel()
		switch {
		case err == nil && r.Header.Get(errorHeader) == missing:
			return nil, fs.ErrNotExist
		case err == nil && r.Header.Get(errorHeader) != "":
			return nil, &refusedError{r.Header.Get(errorHeader)}
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case c.nc.IsClosed():
			return nil, err
		case patient.Err() != nil:
			return nil, fmt.Errorf("%w for %s: %w", ErrSilent, c.Patience, err)
		}
		select {
		case <-patient.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// within is ctx for so long; 0 means no limit.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// short is how long most answers take at most; a source is packed for one.
const short = 20 * time.Second

func (c *Client) ask(ctx context.Context, what string, q question) (a answer, err error) {
	m := nats.NewMsg(askSubject + what)
	if m.Data, err = json.Marshal(q); err != nil {
		return a, err
	}
	wait := short
	if what == askSource || what == askComplete {
		wait = answering
	}
	r, err := c.request(ctx, m, wait)
	if err == nil {
		err = unpack(r.Data, &a, c.blobs)
	}
	if err != nil { // it says nothing of the item that it was asked for
		err = &pipeline.Halted{All: errors.Is(err, ErrSilent), Err: fmt.Errorf("asking the run for %s: %w", what, err)}
	}
	return a, err
}

// Invitation is what the run is.
func (c *Client) Invitation(ctx context.Context) (json.RawMessage, error) {
	a, err := c.ask(ctx, askInvitation, question{})
	return a.Raw, err
}

// Workers are those of the run that live, and how its steps stand.
func (c *Client) Workers(ctx context.Context) ([]Beat, json.RawMessage, error) {
	a, err := c.ask(ctx, askWorkers, question{})
	return a.Fleet, a.Raw, err
}

// Source is a source of the run.
func (c *Client) Source(ctx context.Context, name string) (Source, error) {
	a, err := c.ask(ctx, askSource, question{Key: name})
	return a.Source, err
}

// Complete has the run ask its model.
func (c *Client) Complete(ctx context.Context, asked json.RawMessage) (json.RawMessage, error) {
	a, err := c.ask(ctx, askComplete, question{Raw: asked})
	return a.Raw, err
}

// begin asks whether a worker may do a task.
func (c *Client) begin(ctx context.Context, task, worker string) (bool, error) {
	a, err := c.ask(ctx, askBegin, question{Key: task, Stage: worker})
	return a.OK, err
}

// Step implements Steps.
func (c *Client) Step(stage, key string) (schemas.Step, bool, error) {
	a, err := c.ask(context.Background(), askStep, question{Stage: stage, Key: key})
	return a.Step, a.OK, err
}

// Inputs implements Steps.
func (c *Client) Inputs(stage, key string) (json.RawMessage, bool, error) {
	a, err := c.ask(context.Background(), askInputs, question{Stage: stage, Key: key})
	return a.Raw, a.OK, err
}

// Each is for the dataset, which no worker writes.
func (c *Client) Each(string) iter.Seq2[schemas.Step, error] {
	return func(yield func(schemas.Step, error) bool) {
		yield(schemas.Step{}, errors.New("a worker lists no steps"))
	}
}

// Intend implements Books.
func (c *Client) Intend(ctx context.Context, request schemas.Digest) (pipeline.Answer, error) {
	a, err := c.ask(ctx, askIntend, question{Digest: request})
	return a.Answer, err
}

// Reserve implements Books.
func (c *Client) Reserve(ctx context.Context, resource string, cost float64) (bool, error) {
	a, err := c.ask(ctx, askReserve, question{Key: resource, Cost: cost})
	return a.OK, err
}

// Pay implements Books.
func (c *Client) Pay(ctx context.Context, p pipeline.Payment) error {
	_, err := c.ask(ctx, askPay, question{Payment: p})
	return err
}

// Judge implements Books.
func (c *Client) Judge(ctx context.Context, v pipeline.Verdict) error {
	_, err := c.ask(ctx, askJudge, question{Verdict: v})
	return err
}

// Layer is the content of an environment, "" where nobody has brought it.
func (c *Client) Layer(ctx context.Context, key string) (schemas.Digest, error) {
	a, err := c.ask(ctx, askLayer, question{Key: key})
	return a.Digest, err
}

// Made says that an environment was made and its content brought. What it gives is the content that the fleet
// uses, which another worker may have brought before.
func (c *Client) Made(ctx context.Context, key string, content schemas.Digest) (schemas.Digest, error) {
	a, err := c.ask(ctx, askMade, question{Key: key, Digest: content})
	return a.Digest, err
}

// Depot is the coordinator's, as a worker reaches it. It implements blob.Remote.
type Depot struct {
	client *Client
	layers bool
}

var _ blob.Remote = Depot{}

// Depot is where blobs of the run are; of layers, where environments and sources are.
func (c *Client) Depot(layers bool) Depot { return Depot{c, layers} }

// Put implements blob.Remote.
func (d Depot) Put(ctx context.Context, digest schemas.Digest, r io.Reader, size int64) error {
	m := nats.NewMsg(askSubject + askBring)
	m.Header.Set(uploadHeader, nuid.Next())
	m.Header.Set(digestHeader, string(digest))
	m.Header.Set(sizeHeader, strconv.FormatInt(size, 10))
	if d.layers {
		m.Header.Set(layerHeader, "true")
	}
	for at := int64(0); at == 0 || at < size; at += int64(len(m.Data)) {
		m.Header.Set(offsetHeader, strconv.FormatInt(at, 10))
		m.Data = make([]byte, min(chunk, size-at))
		if _, err := io.ReadFull(r, m.Data); err != nil {
			return err
		}
		if _, err := d.client.request(ctx, m, short); err != nil {
			return fmt.Errorf("bringing %s to the run: %w", digest.Short(), err)
		}
		if size == 0 {
			break
		}
	}
	return nil
}

// Get implements blob.Remote.
func (d Depot) Get(ctx context.Context, digest schemas.Digest, w io.Writer) error {
	m := nats.NewMsg(askSubject + askChunk)
	m.Header.Set(digestHeader, string(digest))
	for at := int64(0); ; {
		m.Header.Set(offsetHeader, strconv.FormatInt(at, 10))
		r, err := d.client.request(ctx, m, short)
		if err != nil {
			return fmt.Errorf("getting %s from the run: %w", digest.Short(), err)
		}
		size, err := strconv.ParseInt(r.Header.Get(sizeHeader), 10, 64)
		if err != nil {
			return err
		}
		if _, err := w.Write(r.Data); err != nil {
			return err
		}
		if at += int64(len(r.Data)); at >= size {
			return nil
		}
		if len(r.Data) == 0 {
			return fmt.Errorf("getting %s from the run: %w", digest.Short(), io.ErrUnexpectedEOF)
		}
	}
}
