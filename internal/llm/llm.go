// Package llm asks models: one question of package prompts at a time. Each is paid once,
// and its answer is kept for ever under all that shaped it.
//
// It never decides what an answer means, never lets one pass that its prompt's schema does
// not allow, and knows no endpoint: a Provider does.
package llm

import (
	"cmp"
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
	// Varied: the model's own temperature holds instead of 0, so that the same question has several answers.
	Varied bool `json:"varied,omitempty"`
}

// Reply is what came back. Tokens are counted by the endpoint; 0 where it does not say.
type Reply struct {
	Text  []byte
	Model string // as the endpoint names it
	Usage
}

// Provider sends one request. Its errors are *Later, *Refused, ErrSlow, ErrQuota or a fault; a Reply
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
	// Reserve sets dollars aside; false where that would pass the cap.
	Reserve(ctx context.Context, resource string, cost float64) (bool, error)
	// Pay keeps an answer and books what it cost, all or nothing. The first answer of a
	// request stays.
	Pay(ctx context.Context, p Payment) error
}

// Payment is the end of one request that was sent.
type Payment struct {
	Request  schemas.Digest
	Answer   *Answer // nil where none came
	Resource string
	Reserved float64 // dollars, which are given back
	Cost     float64 // dollars
	Model    string  // that was asked
	Usage
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
	Why string // refusal, filter, too_long, length, empty, slow, useless; of an answer that was read: suspicious
}

func (r *Refused) Error() string { return "the model gives no answer: " + r.Why }

// ErrSlow means that a request was sent, and its answer did not come in time.
var ErrSlow = errors.New("the model gives no answer")

// ErrQuota means that the account at the endpoint has no money left.
var ErrQuota = errors.New("the account at the endpoint has no quota left")

// ErrBudget means that what may be spent is spent.
var ErrBudget = errors.New("the budget for models is spent")

// ErrUseless means that the answers were of no use, so many in a row that no more are paid for.
var ErrUseless = fmt.Errorf("%d answers of the model in a row were of no use", Patience)

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

// Resource is the ledger's name of the money for models.
const Resource = "model"

// Client asks models for the stages. A nil Client asks nobody: there are the rules only.
type Client struct {
	Settings
	Provider Provider
	Ledger   Ledger
	Blobs    Blobs
	Prices   map[string]Price                           // by model; one that is not there costs nothing
	MaxItem  float64                                    // dollars that one question may cost at most; 0 means no limit
	Now      func() time.Time                           // prices depend on the time of day
	State    *State                                     // nil bounds nothing, and judges nothing
	Judge    func(ctx context.Context, v Verdict) error // keeps what is said of answers; nil keeps nothing
}

// Verdict is an answer that was of no use.
type Verdict struct {
	Request schemas.Digest
	Model   string
	Prompt  string
	Why     string // "not JSON", "not the schema", why a *Refused is one, or the gate that refused it
	Fault   string // in full
}

// What a Verdict says of an answer that the schema does not allow.
const (
	WhyNotJSON = "not JSON"
	WhySchema  = "not the schema"
)

// Receipt is what one question cost, and who answered.
type Receipt struct {
	Provenance prompts.Provenance
	Cost       float64 // dollars, of this time: 0 where the ledger had the answer
	paid       Request // the one that was answered; zero where the ledger had the answer
}

// Judged says of an answer of this time whether it was of use: why is "" where it was, else the
// gate that refused it. An answer is judged once.
func (d *Client) Judged(ctx context.Context, r Receipt, why, fault string) error {
	if r.paid.Prompt == "" {
		return nil
	}
	if d.State != nil {
		d.State.worth(r.paid.Prompt, why)
	}
	if why == "" || d.Judge == nil {
		return nil
	}
	return d.Judge(context.WithoutCancel(ctx), Verdict{Request: schemas.DigestOf(r.paid), Model: r.paid.Model, Prompt: r.paid.Prompt, Why: why, Fault: fault})
}

// kept is what the ledger's blob holds.
type kept struct {
	Text    string `json:"text"`
	Refused string `json:"refused,omitempty"`
}

// Ask puts one question. An answer that the schema does not allow is asked for again with
// what was wrong, Tries times in all. Errors: those of Provider, ErrBudget, ErrItem,
// *Unusable, and faults of the ledger.
func Ask[In, Out any](ctx context.Context, d *Client, p prompts.Prompt[In, Out], in In) (Out, Receipt, error) {
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

func ask[In, Out any](ctx context.Context, d *Client, p prompts.Prompt[In, Out], r Request, receipt *Receipt) (Out, error) {
	var none Out
	for ; ; r.Try++ {
		raw, err := d.answer(ctx, r, receipt)
		var refused *Refused
		if errors.As(err, &refused) {
			return none, cmp.Or(d.Judged(ctx, *receipt, refused.Why, err.Error()), err)
		}
		if err != nil {
			return none, err
		}
		out, err := p.Parse(raw)
		if err == nil {
			return out, nil
		}
		why := WhySchema
		if errors.Is(err, prompts.ErrNotJSON) {
			why = WhyNotJSON
		}
		if fault := d.Judged(ctx, *receipt, why, err.Error()); fault != nil {
			return none, fault
		}
		if r.Try+1 >= d.Tries {
			return none, &Unusable{p.Name(), err}
		}
		r.Fault = err.Error()
	}
}

// answer is that of the ledger, else of the provider.
func (d *Client) answer(ctx context.Context, r Request, receipt *Receipt) ([]byte, error) {
	receipt.paid = Request{}
	key := schemas.DigestOf(r)
	known, err := d.Ledger.Intend(ctx, key)
	if err != nil {
		return nil, err
	}
	if known.Answered {
		return d.known(known)
	}
	raw, err := d.send(ctx, key, r, receipt)
	if !errors.Is(err, ErrSlow) {
		return raw, err
	}
	// Once more, with fewer questions beside it. Who is slow twice gives no answer to this question:
	// dozens of tries would each be paid for.
	receipt.paid.Fault += " (slow)" // it is another one to whom judges
	if err := d.Judged(ctx, *receipt, "slow", err.Error()); err != nil {
		return nil, err
	}
	if raw, err = d.send(ctx, key, r, receipt); errors.Is(err, ErrSlow) {
		return nil, &Refused{Why: "slow"}
	}
	return raw, err
}

// send sends a request and books it. What is sent and has no answer in time is booked at what it
// can cost at most.
func (d *Client) send(ctx context.Context, key schemas.Digest, r Request, receipt *Receipt) ([]byte, error) {
	bound := r.bound()
	most := d.Prices[r.Model].Most(bound)
	if d.MaxItem > 0 && receipt.Cost+most > d.MaxItem {
		return nil, fmt.Errorf("%w: up to $%.4f", ErrItem, receipt.Cost+most)
	}
	if d.State != nil {
		if err := d.State.enter(ctx); err != nil {
			return nil, err
		}
	}
	slow := false
	defer func() {
		if d.State != nil {
			d.State.leave(slow)
		}
	}()
	if d.State != nil { // of those that were open before this one
		if err := d.State.ended(); err != nil {
			return nil, err
		}
	}
	ok, err := d.Ledger.Reserve(ctx, Resource, most)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrBudget
	}
	reply, err := d.Provider.Complete(ctx, r)
	paid := Payment{Request: key, Resource: Resource, Reserved: most, Model: r.Model, Usage: reply.Usage}
	if slow = errors.Is(err, ErrSlow); slow {
		paid.Usage, paid.Cost = bound, most
	} else if reply.Usage != (Usage{}) {
		paid.Cost = d.Prices[r.Model].Cost(reply.Usage, d.Now())
	}
	receipt.Cost += paid.Cost
	var refused *Refused
	if r.Prompt != Probing && (err == nil || errors.As(err, &refused)) {
		k := kept{Text: string(reply.Text)}
		if refused != nil {
			k.Refused = refused.Why
		}
		var fault error
		if paid.Answer, fault = d.keep(k, reply); fault != nil {
			err = errors.Join(err, fault)
		}
	}
	if paid.Answer != nil || slow {
		receipt.paid = r
	}
	// What was paid is kept whatever ends the run; the answer and its money at once, so that
	// a death asks nobody twice and books nothing without the other.
	return reply.Text, errors.Join(err, d.Ledger.Pay(context.WithoutCancel(ctx), paid))
}

func (d *Client) keep(k kept, reply Reply) (*Answer, error) {
	b, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	blob, err := d.Blobs.Put(b)
	if err != nil {
		return nil, err
	}
	return &Answer{Answered: true, Blob: blob, Model: reply.Model, Input: reply.Input, Output: reply.Output}, nil
}

func (d *Client) known(a Answer) ([]byte, error) {
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

// TextOf is what a model said, of the bytes that a ledger keeps of its answer.
func TextOf(b []byte) string {
	var k kept
	_ = json.Unmarshal(b, &k) // what cannot be read is not shown
	return k.Text
}

// bytesPerToken is below what any tokenizer makes of changelogs and diffs (measured: 3.07
// to 4.33 bytes), so that a bound by it holds.
const bytesPerToken = 3

// bound is what a request can use at most.
func (r Request) bound() Usage {
	n := len(r.Text.System) + len(r.Text.Material) + len(r.Text.Question) + len(r.Fault)
	return Usage{Input: int64(n/bytesPerToken) + 1, Output: int64(r.MaxTokens)}
}

// Probing is the stage under which Probe books.
const Probing = "probe"

// probe is a tiny question: whether the endpoint answers at all.
var probe = prompts.Text{
	System: "You answer with one JSON object and nothing else.", Material: "<data>{}</data>", Question: `Are you there? Answer {"here": true}.`,
	Schema: `{"type":"object","required":["here"],"additionalProperties":false,"properties":{"here":{"type":"boolean"}}}`,
}

// ProbeTokens bounds the answer to a probe: some models think before they say yes.
const ProbeTokens = 200

// Probe asks the first model a tiny question before the work begins. Whatever it answers is right.
// Errors: *Later, ErrSlow and ErrQuota for a model that does not answer now, ErrItem where no
// question could be asked, *Refused where none is short enough, others for what somebody has to
// mend. Nothing is asked where there is no money.
func (d *Client) Probe(ctx context.Context) error {
	r := Request{Model: d.Models[0], Prompt: Probing, Text: probe, MaxTokens: d.MaxTokens}
	if most := d.Prices[r.Model].Most(r.bound()); d.MaxItem > 0 && most > d.MaxItem {
		return fmt.Errorf("%w: up to $%.4f", ErrItem, most)
	}
	r.MaxTokens, r.Fault = min(ProbeTokens, d.MaxTokens), ""
	_, err := d.send(ctx, schemas.DigestOf(struct {
		Request
		At time.Time // each run asks
	}{r, d.Now()}), r, &Receipt{})
	var refused *Refused
	switch {
	case errors.Is(err, ErrBudget), errors.As(err, &refused) && refused.Why != "too_long":
		return nil
	}
	return err
}
