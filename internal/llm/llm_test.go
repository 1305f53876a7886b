package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// books is a ledger and a shelf of blobs in memory.
type books struct {
	answers  map[schemas.Digest]llm.Answer
	blobs    map[schemas.Digest][]byte
	cap      float64
	reserved float64
	spent    float64
	paid     []llm.Payment
	dies     bool // before the answer and its money are kept
}

func newBooks() *books {
	return &books{answers: map[schemas.Digest]llm.Answer{}, blobs: map[schemas.Digest][]byte{}}
}

func (b *books) Intend(_ context.Context, k schemas.Digest) (llm.Answer, error) {
	return b.answers[k], nil
}

func (b *books) Reserve(_ context.Context, _ string, cost float64) (bool, error) {
	if b.cap > 0 && b.spent+b.reserved+cost > b.cap {
		return false, nil
	}
	b.reserved += cost
	return true, nil
}

func (b *books) Pay(_ context.Context, p llm.Payment) error {
	if b.dies {
		return errors.New("killed")
	}
	if p.Answer != nil && !b.answers[p.Request].Answered {
		b.answers[p.Request] = *p.Answer
	}
	b.reserved, b.spent = b.reserved-p.Reserved, b.spent+p.Cost
	b.paid = append(b.paid, p)
	return nil
}

func (b *books) Put(x []byte) (schemas.Digest, error) {
	d := schemas.DigestOf(string(x))
	b.blobs[d] = x
	return d, nil
}

func (b *books) Get(d schemas.Digest) ([]byte, error) {
	if x, ok := b.blobs[d]; ok {
		return x, nil
	}
	return nil, errors.New("no blob")
}

// script answers one request after another.
type script struct {
	says  []any // a text, or an error
	uses  llm.Usage
	asked []llm.Request
}

func (s *script) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	s.asked = append(s.asked, r)
	if len(s.says) == 0 {
		return llm.Reply{}, errors.New("asked once more than was wanted")
	}
	next := s.says[0]
	s.says = s.says[1:]
	reply := llm.Reply{Model: r.Model, Usage: s.uses}
	if err, ok := next.(error); ok {
		return reply, err
	}
	reply.Text = []byte(fmt.Sprint(next))
	return reply, nil
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func client(b *books, s *script) *llm.Client {
	if s.uses == (llm.Usage{}) {
		s.uses = llm.Usage{Input: 1000, Output: 100}
	}
	return &llm.Client{
		Settings: llm.Settings{Models: []string{"small", "large"}, MaxTokens: 1000, Tries: 2},
		Provider: s, Ledger: b, Blobs: b, Now: func() time.Time { return noon },
		Prices: map[string]llm.Price{
			"small": {Rates: llm.Rates{Input: 1, Cached: 1, Output: 10}},
			"large": {Rates: llm.Rates{Input: 4, Cached: 2, Output: 40}, Tiers: []llm.Tier{{Hours: []llm.Hours{{From: 720, Until: 780}}, Rates: llm.Rates{Input: 8, Cached: 4, Output: 80}}}},
		},
	}
}

const good = `{"label":"fix","quote":"Fixed","suspicious":false}`

func ask(t *testing.T, d *llm.Client) (prompts.ClassifyAnswer, llm.Receipt, error) {
	t.Helper()
	return llm.Ask(t.Context(), d, prompts.Classify, prompts.ClassifyInput{Repository: "a/b", Subject: "Fixed it"})
}

func TestAsk_pays_once(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{says: []any{good}}
	for i := range 3 {
		out, receipt, err := ask(t, client(b, s))
		if err != nil || out.Label != "fix" || receipt.Provenance.Provider != "small" || receipt.Provenance.Hash != prompts.Classify.Hash() {
			t.Fatalf("%+v, %+v, %v", out, receipt, err)
		}
		if want := map[bool]float64{true: 0.002}[i == 0]; receipt.Cost != want {
			t.Errorf("time %d costs %v, want %v", i, receipt.Cost, want)
		}
	}
	if len(s.asked) != 1 || b.spent != 0.002 || b.reserved > 1e-9 {
		t.Errorf("asked %d times, spent %v, reserved %v", len(s.asked), b.spent, b.reserved)
	}
}

// The answer and its money are kept together: a death before leaves neither, and the question
// is asked once more; none comes after.
func TestAsk_keeps_the_answer_with_the_money(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{says: []any{good, good}}
	b.dies = true
	if _, _, err := ask(t, client(b, s)); err == nil || len(b.answers) > 0 || b.spent > 0 {
		t.Errorf("a ledger that fails: %v, %d answers, spent %v", err, len(b.answers), b.spent)
	}
	b.dies = false
	for range 2 {
		if out, _, err := ask(t, client(b, s)); err != nil || out.Label != "fix" || len(s.asked) != 2 || b.spent != 0.002 {
			t.Errorf("%+v, %v, asked %d times, spent %v", out, err, len(s.asked), b.spent)
		}
	}
}

// Each model has its own price, at the time when the answer came; what is set aside is the
// dearest that may come.
func TestAsk_books_each_model_at_its_price(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{says: []any{&llm.Refused{Why: "refusal"}, good}, uses: llm.Usage{Input: 1000, Cached: 500, Output: 100}}
	_, receipt, err := ask(t, client(b, s))
	if err != nil || len(b.paid) != 2 {
		t.Fatalf("%v, %d payments", err, len(b.paid))
	}
	for i, want := range []struct {
		model string
		cost  float64
		aside float64 // for the answer alone
	}{{"small", 0.002, 0.01}, {"large", 0.004 + 0.002 + 0.008, 0.08}} {
		if p := b.paid[i]; p.Model != want.model || math.Abs(p.Cost-want.cost) > 1e-12 || p.Usage != s.uses || p.Answer == nil || p.Reserved < want.aside || p.Reserved > 2*want.aside {
			t.Errorf("payment %d: %+v, want %+v", i, p, want)
		}
	}
	if math.Abs(receipt.Cost-0.016) > 1e-12 || math.Abs(b.spent-0.016) > 1e-12 {
		t.Errorf("the receipt says %v, the ledger %v", receipt.Cost, b.spent)
	}
	d := client(newBooks(), &script{says: []any{good}})
	d.Models, d.Now = []string{"large"}, func() time.Time { return noon.Add(-time.Hour) } // the cheap hours
	kept := d.Ledger.(*books)
	if _, _, err := ask(t, d); err != nil || math.Abs(kept.spent-0.008) > 1e-12 || kept.paid[0].Reserved < 0.08 {
		t.Errorf("%v, spent %v, set aside %v; the answer alone may cost 0.08 at noon", err, kept.spent, kept.paid[0].Reserved)
	}
}

func TestAsk_says_what_was_wrong(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{says: []any{`{"label":"bug","quote":"","suspicious":false}`, good}}
	if out, _, err := ask(t, client(b, s)); err != nil || out.Label != "fix" {
		t.Fatalf("%+v, %v", out, err)
	}
	if s.asked[1].Try != 1 || !strings.Contains(s.asked[1].Fault, "label") {
		t.Errorf("the second request: try %d, fault %q", s.asked[1].Try, s.asked[1].Fault)
	}
	b, s = newBooks(), &script{says: []any{"no JSON", "no JSON"}}
	var unusable *llm.Unusable
	for range 2 { // the second time from the ledger
		if _, _, err := ask(t, client(b, s)); !errors.As(err, &unusable) || !llm.NoAnswer(err) {
			t.Errorf("%v", err)
		}
	}
}

func TestAsk_falls_back(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]error{"quota": llm.ErrQuota, "refusal": &llm.Refused{Why: "refusal"}} {
		b, s := newBooks(), &script{says: []any{first, good}}
		if out, receipt, err := ask(t, client(b, s)); err != nil || out.Label != "fix" || receipt.Provenance.Provider != "large" {
			t.Errorf("%s: %+v, %+v, %v", name, out, receipt, err)
		}
	}
	b, s := newBooks(), &script{says: []any{&llm.Refused{Why: "length"}, &llm.Refused{Why: "filter"}}}
	for range 2 { // a refusal is an answer: nobody is asked again
		var refused *llm.Refused
		if _, _, err := ask(t, client(b, s)); !errors.As(err, &refused) || refused.Why != "filter" || !llm.NoAnswer(err) {
			t.Errorf("%v", err)
		}
	}
	s = &script{says: []any{&llm.Later{Err: errors.New("busy")}}}
	var later *llm.Later
	if _, _, err := ask(t, client(newBooks(), s)); !errors.As(err, &later) || llm.NoAnswer(err) || len(s.asked) != 1 {
		t.Errorf("a model that is busy: %v, asked %d times", err, len(s.asked))
	}
}

func TestAsk_keeps_to_the_budget(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{}
	b.cap = 0.001
	if _, _, err := ask(t, client(b, s)); !errors.Is(err, llm.ErrBudget) || llm.NoAnswer(err) {
		t.Errorf("%v", err)
	}
	d := client(newBooks(), s)
	d.MaxItem = 0.001
	if _, _, err := ask(t, d); !errors.Is(err, llm.ErrItem) || !llm.NoAnswer(err) {
		t.Errorf("%v", err)
	}
	if len(s.asked) > 0 {
		t.Error("something was sent")
	}
}
