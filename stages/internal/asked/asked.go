// Package asked puts the questions of stages to models: what an answer cost is the step's,
// who gave it stands beside its result, and what a model cannot do now puts the item off.
//
// It never decides what an answer means, and a model that gives none is no verdict.
package asked

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Client asks models for one stage.
type Client struct{ *llm.Client }

// rest is how long an item waits for money: longer than a run waits, since only a person
// brings some. A run with a higher budget asks at once.
const rest = 10 * time.Minute

// By is who gave an answer.
type By struct {
	prompts.Provenance
	receipt llm.Receipt
	client  Client
}

// Judged says whether the answer was of use: gate is what refused it, "" where nothing did, and
// fault is why. Whoever asks says it of each answer; said twice, the second time does not count.
func (b *By) Judged(ctx context.Context, gate, fault string) error {
	receipt := b.receipt
	b.receipt = llm.Receipt{}
	return b.client.Judged(ctx, receipt, gate, fault)
}

// Suspicious is an answer that does not count: a text gives orders.
func (b *By) Suspicious(ctx context.Context) error {
	no := &llm.Refused{Why: "suspicious"}
	if err := b.Judged(ctx, no.Why, ""); err != nil {
		return err
	}
	return no
}

// Put puts one question. An error for which llm.NoAnswer holds means that somebody else
// has to decide; others put the item off, or are faults.
func Put[In, Out any](ctx context.Context, d Client, p prompts.Prompt[In, Out], in In) (Out, *By, error) {
	out, receipt, err := llm.Ask(ctx, d.Client, p, in)
	pipeline.Charge(ctx, receipt.Cost)
	by := &By{receipt.Provenance, receipt, d}
	if err != nil {
		return out, by, d.end(err)
	}
	pipeline.Provide(ctx, receipt.Provenance)
	return out, by, nil
}

func (d Client) end(err error) error {
	var later *llm.Later
	switch {
	case errors.As(err, &later):
		return &pipeline.Deferred{Resource: llm.Resource, Until: later.Until, Err: err}
	case errors.Is(err, llm.ErrBudget):
		// No resource is paused: what the next run may spend is known at once.
		return &pipeline.Deferred{Until: d.Now().Add(rest), Err: fmt.Errorf("%w; model.max_cost raises it", err)}
	case errors.Is(err, llm.ErrUseless):
		return &pipeline.Deferred{Until: d.Now().Add(rest), Err: fmt.Errorf("%w; model.name: another model may do better, and model.useless: rules goes on without one", err)}
	case errors.Is(err, llm.ErrQuota):
		return &pipeline.Deferred{Resource: llm.Resource, Until: d.Now().Add(rest), Err: err}
	}
	return err
}

// Later puts an item off for a question that has no answer, where nobody else can give one.
func (d Client) Later(err error) error {
	return &pipeline.Deferred{Until: d.Now().Add(rest), Err: fmt.Errorf("%w; model.name: another model may do better", err)}
}

// Books is what a store keeps of questions and money.
type Books interface {
	Intend(ctx context.Context, request schemas.Digest) (pipeline.Answer, error)
	Reserve(ctx context.Context, resource string, cost float64) (bool, error)
	Pay(ctx context.Context, p pipeline.Payment) error
	Judge(ctx context.Context, v pipeline.Verdict) error
}

// Ledger is a store as models' ledger: what is paid stands there under the step that asked.
func Ledger(b Books) llm.Ledger { return ledger{b} }

type ledger struct{ books Books }

func (l ledger) Intend(ctx context.Context, request schemas.Digest) (llm.Answer, error) {
	a, err := l.books.Intend(ctx, request)
	return llm.Answer{Answered: a.Answered, Blob: a.Blob, Model: a.Model, Input: a.Input, Output: a.Output}, err
}

func (l ledger) Reserve(ctx context.Context, resource string, cost float64) (bool, error) {
	return l.books.Reserve(ctx, resource, cost)
}

func (l ledger) Pay(ctx context.Context, p llm.Payment) error {
	out := pipeline.Payment{Request: p.Request, Resource: p.Resource, Reserved: p.Reserved}
	out.Stage, out.Key = doer(ctx)
	out.Model, out.Input, out.Cached, out.Output, out.Cost = p.Model, p.Input, p.Cached, p.Output, p.Cost
	if a := p.Answer; a != nil {
		out.Answer = &pipeline.Answer{Answered: a.Answered, Blob: a.Blob, Model: a.Model, Input: a.Input, Output: a.Output}
	}
	if p.Answer != nil || p.Usage != (llm.Usage{}) {
		out.Questions = 1
	}
	return l.books.Pay(ctx, out)
}

// doer is the step that asks; outside of one nobody but a probe does.
func doer(ctx context.Context) (stage, key string) {
	if stage, key = pipeline.Doer(ctx); stage == "" {
		stage = llm.Probing
	}
	return stage, key
}

// Judge keeps verdicts on answers under the step that asked.
func Judge(b Books) func(ctx context.Context, v llm.Verdict) error {
	return func(ctx context.Context, v llm.Verdict) error {
		stage, key := doer(ctx)
		return b.Judge(ctx, pipeline.Verdict{Request: v.Request, Resource: llm.Resource, Stage: stage, Key: key, Model: v.Model, Prompt: v.Prompt, Why: v.Why, Fault: v.Fault})
	}
}

// Cut is the beginning of a text, of at most so many bytes: whole lines, unless the first one is longer.
func Cut(s string, most int) string {
	if len(s) > most {
		s = s[:most]
		if end := strings.LastIndexByte(s, '\n'); end > 0 {
			s = s[:end]
		}
	}
	return strings.ToValidUTF8(s, "")
}
