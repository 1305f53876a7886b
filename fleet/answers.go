package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Steps is what a worker reads of the step table.
type Steps interface {
	Step(stage, key string) (schemas.Step, bool, error)
	Inputs(stage, key string) (json.RawMessage, bool, error)
}

// Books are where workers' questions to models are paid.
type Books interface {
	Intend(ctx context.Context, request schemas.Digest) (pipeline.Answer, error)
	Reserve(ctx context.Context, resource string, cost float64) (bool, error)
	Pay(ctx context.Context, p pipeline.Payment) error
	Judge(ctx context.Context, v pipeline.Verdict) error
}

// Notes keeps words for ever: which environment is which content.
type Notes interface {
	Note(key string) (string, error)
	SetNote(ctx context.Context, key, value string) error
}

// Source is a source as a worker gets it.
type Source struct {
	Bundle  schemas.Digest `json:"bundle"`            // in the depot: a git bundle of all that the coordinator has
	Shallow string         `json:"shallow,omitempty"` // the commits without parents of a shallow clone, one on a line
}

// question is one of a worker's, and answer what it gets.
type question struct {
	Stage   string           `json:"stage,omitempty"`
	Key     string           `json:"key,omitempty"`
	Digest  schemas.Digest   `json:"digest,omitempty"`
	Cost    float64          `json:"cost,omitempty"`
	Payment pipeline.Payment `json:"payment,omitzero"`
	Verdict pipeline.Verdict `json:"verdict,omitzero"`
	Raw     json.RawMessage  `json:"raw,omitempty"`
}

type answer struct {
	OK     bool            `json:"ok,omitempty"`
	Step   schemas.Step    `json:"step,omitzero"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Answer pipeline.Answer `json:"answer,omitzero"`
	Source Source          `json:"source,omitzero"`
	Digest schemas.Digest  `json:"digest,omitempty"`
	Fleet  []Beat          `json:"fleet,omitempty"`
}

// The questions.
const (
	askInvitation = "invitation"
	askBegin      = "begin" // whether a worker may do a task
	askStep       = "step"
	askInputs     = "inputs"
	askIntend     = "intend"
	askReserve    = "reserve"
	askPay        = "pay"
	askJudge      = "judge"
	askSource     = "source"
	askLayer      = "layer"    // the content of an environment
	askMade       = "made"     // an environment was made, and its content brought
	askChunk      = "chunk"    // a part of a blob
	askBring      = "bring"    // likewise, to the depot
	askComplete   = "complete" // what a model says
	askWorkers    = "workers"  // who lives, and what each does
)

// answering bounds one answer: a source may have to be packed for it.
const answering = 10 * time.Minute

// asked answers one question.
func (c *Coordinator) asked(m *nats.Msg) {
	go func() {
		out, err := c.reply(m)
		if err != nil {
			out = nats.NewMsg(m.Reply)
			out.Header.Set(errorHeader, err.Error())
		}
		_ = m.RespondMsg(out) // whoever has not heard asks again
	}()
}

func (c *Coordinator) reply(m *nats.Msg) (*nats.Msg, error) {
	what := strings.TrimPrefix(m.Subject, askSubject)
	switch what {
	case askChunk:
		return c.chunk(m)
	case askBring:
		return c.receive(m)
	}
	var q question
	if err := json.Unmarshal(m.Data, &q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answering)
	defer cancel()
	a, err := c.answer(ctx, what, q)
	if err != nil {
		return nil, err
	}
	out := nats.NewMsg(m.Reply)
	out.Data, err = pack(a, c.Blobs)
	return out, err
}

func (c *Coordinator) answer(ctx context.Context, what string, q question) (a answer, err error) {
	switch what {
	case askInvitation:
		a.Raw = c.Invitation
	case askWorkers:
		a.Fleet = c.Workers()
		a.Raw, err = c.Funnel(ctx)
	case askBegin:
		a.OK = c.begins(q.Key, q.Stage)
	case askComplete:
		if c.Complete == nil {
			return a, errors.New("the run asks no model")
		}
		a.Raw, err = c.Complete(ctx, q.Raw)
	case askStep:
		a.Step, a.OK, err = c.Steps.Step(q.Stage, q.Key)
	case askInputs:
		a.Raw, a.OK, err = c.Steps.Inputs(q.Stage, q.Key)
	case askSource:
		a.Source, err = c.Source(ctx, q.Key)
	case askLayer, askMade:
		a.Digest, err = c.layer(ctx, what == askMade, q)
	default:
		err = c.pay(ctx, what, q, &a)
	}
	return a, err
}

// pay answers what is about money.
func (c *Coordinator) pay(ctx context.Context, what string, q question, a *answer) (err error) {
	switch what {
	case askIntend:
		a.Answer, err = c.Books.Intend(ctx, q.Digest)
	case askReserve:
		a.OK, err = c.Books.Reserve(ctx, q.Key, q.Cost)
	case askPay:
		err = c.Books.Pay(ctx, q.Payment)
	case askJudge:
		err = c.Books.Judge(ctx, q.Verdict)
	default:
		err = fmt.Errorf("%q is no question", what)
	}
	return err
}

// layer is the content of an environment, "" where nobody has brought it. The first that is brought stays.
func (c *Coordinator) layer(ctx context.Context, made bool, q question) (schemas.Digest, error) {
	note := "layer " + q.Key
	have, err := c.Notes.Note(note)
	if err != nil {
		return "", err
	}
	// One that was deleted is made again.
	if d := schemas.Digest(have); have != "" && c.hasLayer(d) {
		return d, nil
	}
	if !made {
		return "", nil
	}
	if !c.hasLayer(q.Digest) {
		return "", errors.New("the content of the environment was not brought")
	}
	return q.Digest, c.Notes.SetNote(ctx, note, string(q.Digest))
}

func (c *Coordinator) hasLayer(d schemas.Digest) bool {
	f, err := c.Layers.Open(d)
	return err == nil && f.Close() == nil
}
