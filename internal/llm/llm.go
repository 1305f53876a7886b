// Package llm asks models: one question of package prompts at a time. Each is paid once,
// and its answer is kept for ever under all that shaped it.
//
// It never decides what an answer means, never lets one pass that its prompt's schema does
// not allow, and knows no endpoint: a Provider does.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Request is all that shapes an answer; its digest is the key of the ledger.
type Request struct {
	Model     string       `json:"model"`
	Prompt    string       `json:"prompt"` // name
	Hash      string       `json:"hash"`   // of the prompt's folder
	Text      prompts.Text `json:"text"`   // rendered
	MaxTokens int          `json:"max_tokens"`
	Try       int          `json:"try"`   // of an answer that was not usable, from 0
	Fault     string       `json:"fault"` // what was wrong with the try before
}

// Reply is what came back. Tokens are counted by the endpoint; 0 where it does not say.
type Reply struct {
	Text   []byte
	Model  string // as the endpoint names it
	Input  int64  // tokens
	Output int64
}

// Provider sends one request. Its errors are *Later, *Refused, ErrQuota or a fault; a Reply
// beside an error has the tokens that were used.
type Provider interface {
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Answer is what a ledger keeps of a request.
type Answer struct {
	Answered bool
	Blob     schemas.Digest // of the answer's bytes
	Model    string
	Input    int64
	Output   int64
}

// Ledger stands around every paid call.
type Ledger interface {
	// Intend says that a request is about to be sent, and gives its answer where there is
	// one already.
	Intend(ctx context.Context, request schemas.Digest) (Answer, error)
	// Answered keeps an answer. The first one stays.
	Answered(ctx context.Context, request schemas.Digest, a Answer) error
	// Reserve sets dollars aside; false where that would pass the cap.
	Reserve(ctx context.Context, resource string, cost float64) (bool, error)
	// Spend books what was used of a reservation.
	Spend(ctx context.Context, resource string, reserved, used float64) error
}

// Blobs keeps the answers' bytes.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
	Get(d schemas.Digest) ([]byte, error)
}

// Later is "not now": a rate limit, an overloaded endpoint, a network that fails.
type Later struct {
	Until time.Time // zero: not said
	Err   error
}

func (l *Later) Error() string { return "the model does not answer now: " + l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// Refused is an answer that no further asking mends: the model or a filter refuses, the
// request is longer than the model reads, the answer longer than it may be.
type Refused struct {
	Why string // refusal, filter, too_long, length, empty
}

func (r *Refused) Error() string { return "the model gives no answer: " + r.Why }

// ErrQuota means that the account at the endpoint has no money left.
var ErrQuota = errors.New("the account at the endpoint has no quota left")

// ErrBudget means that what may be spent is spent.
var ErrBudget = errors.New("the budget for models is spent")

// ErrItem means that one question could cost more than one item may.
var ErrItem = errors.New("the question could cost more than one item may")

// Unusable is a model whose answers are not what the prompt's schema allows, however often
// it is asked.
type Unusable struct {
	Prompt string
	Err    error
}

func (u *Unusable) Error() string { return fmt.Sprintf("no usable answer to %s: %v", u.Prompt, u.Err) }
func (u *Unusable) Unwrap() error { return u.Err }

// NoAnswer reports whether an error means that this question will never have an answer, so
// that somebody else has to decide.
func NoAnswer(err error) bool {
	var unusable *Unusable
	var refused *Refused
	return errors.As(err, &unusable) || errors.As(err, &refused) || errors.Is(err, ErrItem)
}

// Settings are what a stage's fingerprint holds of a model: no endpoint, no key, no price.
type Settings struct {
	Models    []string `json:"models"` // the first one is asked; the next where it has no quota or refuses
	MaxTokens int      `json:"max_tokens"`
	Tries     int      `json:"tries"`
}

// Price is in dollars per million tokens.
type Price struct{ Input, Output float64 }

// Resource is the ledger's name of the money for models.
const Resource = "model"

// Desk is where stages ask. A nil Desk asks nobody: there are the rules only.
type Desk struct {
	Settings
	Provider Provider
	Ledger   Ledger
	Blobs    Blobs
	Price    Price
	MaxItem  float64 // dollars that one question may cost at most; 0 is no bound
}

// Receipt is what one question cost, and who answered.
type Receipt struct {
	Provenance    prompts.Provenance
	Asked         int // requests that were sent now
	Input, Output int64
	Cost          float64 // dollars, of this time: 0 where the ledger had the answer
}

// kept is what the ledger's blob holds.
type kept struct {
	Text    string `json:"text"`
	Refused string `json:"refused,omitempty"`
}

// Ask puts one question. An answer that the schema does not allow is asked for again with
// what was wrong, Tries times in all. Errors: those of Provider, ErrBudget, ErrItem,
// *Unusable, and faults of the ledger.
func Ask[In, Out any](ctx context.Context, d *Desk, p prompts.Prompt[In, Out], in In) (Out, Receipt, error) {
	var none Out
	var receipt Receipt
	text, err := p.Render(in)
	if err != nil {
		return none, receipt, err
	}
	var last error
	for _, model := range d.Models {
		receipt.Provenance = prompts.Provenance{Provider: model, Prompt: p.Name(), Hash: p.Hash()}
		out, err := ask(ctx, d, p, Request{Model: model, Prompt: p.Name(), Hash: p.Hash(), Text: text, MaxTokens: d.MaxTokens}, &receipt)
		var refused *Refused
		if err == nil || !errors.Is(err, ErrQuota) && !errors.As(err, &refused) {
			return out, receipt, err
		}
		last = err
	}
	return none, receipt, last
}

func ask[In, Out any](ctx context.Context, d *Desk, p prompts.Prompt[In, Out], r Request, receipt *Receipt) (Out, error) {
	var none Out
	for ; ; r.Try++ {
		raw, err := d.answer(ctx, r, receipt)
		if err != nil {
			return none, err
		}
		out, err := p.Parse(raw)
		if err == nil {
			return out, nil
		}
		if r.Try+1 >= d.Tries {
			return none, &Unusable{p.Name(), err}
		}
		r.Fault = err.Error()
	}
}

// answer is that of the ledger, else of the provider.
func (d *Desk) answer(ctx context.Context, r Request, receipt *Receipt) ([]byte, error) {
	key := schemas.DigestOf(r)
	known, err := d.Ledger.Intend(ctx, key)
	if err != nil {
		return nil, err
	}
	if known.Answered {
		return d.known(known)
	}
	most := d.most(r)
	if d.MaxItem > 0 && receipt.Cost+most > d.MaxItem {
		return nil, fmt.Errorf("%w: up to $%.4f", ErrItem, receipt.Cost+most)
	}
	ok, err := d.Ledger.Reserve(ctx, Resource, most)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrBudget
	}
	reply, err := d.Provider.Complete(ctx, r)
	cost := d.cost(reply.Input, reply.Output)
	receipt.Asked++
	receipt.Input, receipt.Output, receipt.Cost = receipt.Input+reply.Input, receipt.Output+reply.Output, receipt.Cost+cost
	// What was paid is kept whatever ends the run; the answer before the money, so that a
	// death in between asks nobody twice.
	durable := context.WithoutCancel(ctx)
	var refused *Refused
	if err == nil || errors.As(err, &refused) {
		k := kept{Text: string(reply.Text)}
		if refused != nil {
			k.Refused = refused.Why
		}
		if fault := d.keep(durable, key, k, reply); fault != nil {
			err = errors.Join(err, fault)
		}
	}
	return reply.Text, errors.Join(err, d.Ledger.Spend(durable, Resource, most, cost))
}

func (d *Desk) keep(ctx context.Context, key schemas.Digest, k kept, reply Reply) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	blob, err := d.Blobs.Put(b)
	if err != nil {
		return err
	}
	return d.Ledger.Answered(ctx, key, Answer{Answered: true, Blob: blob, Model: reply.Model, Input: reply.Input, Output: reply.Output})
}

func (d *Desk) known(a Answer) ([]byte, error) {
	b, err := d.Blobs.Get(a.Blob)
	if err != nil {
		return nil, fmt.Errorf("reading a kept answer: %w", err)
	}
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return nil, fmt.Errorf("reading a kept answer: %w", err)
	}
	if k.Refused != "" {
		return nil, &Refused{k.Refused}
	}
	return []byte(k.Text), nil
}

// bytesPerToken is below what any tokenizer makes of changelogs and diffs (measured: 3.07
// to 4.33 bytes), so that a bound by it holds.
const bytesPerToken = 3

// most is what a request can cost at most.
func (d *Desk) most(r Request) float64 {
	n := len(r.Text.System) + len(r.Text.Material) + len(r.Text.Question) + len(r.Fault)
	return d.cost(int64(n/bytesPerToken)+1, int64(r.MaxTokens))
}

func (d *Desk) cost(in, out int64) float64 {
	return (float64(in)*d.Price.Input + float64(out)*d.Price.Output) / 1e6
}
