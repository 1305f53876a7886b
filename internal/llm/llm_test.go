package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
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

// run is a client with a state of its own, and what is judged of its answers.
func run(b *books, s *script, rules bool) (*llm.Client, *[]llm.Verdict) {
	d, verdicts := client(b, s), &[]llm.Verdict{}
	d.State = llm.NewState(4, rules)
	d.Judge = func(_ context.Context, v llm.Verdict) error { *verdicts = append(*verdicts, v); return nil }
	return d, verdicts
}

func putN(t *testing.T, d *llm.Client, n int) (prompts.ClassifyAnswer, llm.Receipt, error) {
	t.Helper()
	return llm.Ask(t.Context(), d, prompts.Classify, prompts.ClassifyInput{Repository: "a/b", Subject: fmt.Sprint("Fixed ", n)})
}

// Who is slow twice gives no answer to a question: it is sent twice and booked at its bound, and
// there are fewer questions open from then on.
func TestAsk_slow(t *testing.T) {
	t.Parallel()
	slow := fmt.Errorf("%w in time", llm.ErrSlow)
	b, s := newBooks(), &script{says: []any{slow, slow, good}}
	d, verdicts := run(b, s, false)
	d.Models = []string{"small"}
	var refused *llm.Refused
	if _, _, err := putN(t, d, 1); !errors.As(err, &refused) || refused.Why != "slow" || len(s.asked) != 2 || !llm.NoAnswer(err) {
		t.Errorf("%v, sent %d times", err, len(s.asked))
	}
	if b.spent < 0.02 || math.Abs(b.spent-b.paid[0].Reserved-b.paid[1].Reserved) > 1e-12 || b.reserved > 1e-9 || b.paid[0].Output != 1000 || len(b.answers) != 0 {
		t.Errorf("spent %v, reserved %v, %+v", b.spent, b.reserved, b.paid)
	}
	if v := *verdicts; len(v) != 2 || v[0].Why != "slow" || v[1].Why != "slow" || v[0].Request == v[1].Request {
		t.Errorf("%+v", v)
	}
	if out, _, err := putN(t, d, 1); err != nil || out.Label != "fix" { // it is not kept: it may be faster another time
		t.Errorf("%+v, %v", out, err)
	}
	b, s = newBooks(), &script{says: []any{slow, good}}
	if out, receipt, err := ask(t, client(b, s)); err != nil || out.Label != "fix" || len(s.asked) != 2 || math.Abs(receipt.Cost-b.spent) > 1e-12 {
		t.Errorf("slow once: %+v, %v, %v of %v", out, err, receipt.Cost, b.spent)
	}
}

// serial answers one question after another, and takes a while.
type serial struct {
	mu, one   sync.Mutex
	open, top int
	sent      int
	patience  time.Duration
}

func (s *serial) Complete(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	s.mu.Lock()
	s.open, s.sent = s.open+1, s.sent+1
	s.top = max(s.top, s.open)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.open--; s.mu.Unlock() }()
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	turn := make(chan struct{})
	go func() {
		s.one.Lock()
		defer s.one.Unlock()
		if ctx.Err() == nil { // who hung up is not answered
			time.Sleep(60 * time.Millisecond)
			close(turn)
		}
	}()
	select {
	case <-turn:
		return llm.Reply{Text: []byte(good)}, nil
	case <-ctx.Done():
		return llm.Reply{}, llm.ErrSlow
	}
}

// A server that gives one answer at a time is found out: nobody waits for a turn that is too late.
func TestAsk_of_a_serial_server(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		open, top, sent int
	}{"four": {4, 4, 22}, "one": {1, 1, 16}} {
		s := &serial{patience: 200 * time.Millisecond}
		b := &guarded{books: newBooks()}
		d := client(b.books, &script{})
		d.Provider, d.Ledger, d.Blobs, d.State = s, b, b, llm.NewState(x.open, false)
		var wait sync.WaitGroup
		for n := range 16 {
			wait.Go(func() {
				if out, _, err := putN(t, d, n); err != nil || out.Label != "fix" {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wait.Wait()
		if s.top != x.top || s.sent > x.sent {
			t.Errorf("%s: %d open at once, sent %d times", name, s.top, s.sent)
		}
	}
}

// guarded is books for several at once.
type guarded struct {
	*books
	mu sync.Mutex
}

func (g *guarded) Intend(ctx context.Context, k schemas.Digest) (llm.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.books.Intend(ctx, k)
}

func (g *guarded) Reserve(ctx context.Context, r string, cost float64) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.books.Reserve(ctx, r, cost)
}

func (g *guarded) Pay(ctx context.Context, p llm.Payment) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.books.Pay(ctx, p)
}

func (g *guarded) Put(x []byte) (schemas.Digest, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.books.Put(x)
}

// Ten answers of no use in a row are the last that are paid for; what is kept is still given.
func TestAsk_useless(t *testing.T) {
	t.Parallel()
	for _, rules := range []bool{false, true} {
		b, s := newBooks(), &script{says: slices.Repeat([]any{"no JSON"}, 20)}
		s.says = append([]any{good}, s.says...)
		d, verdicts := run(b, s, rules)
		d.Models = []string{"small"}
		if _, receipt, err := putN(t, d, 0); err != nil || d.Judged(t.Context(), receipt, "", "") != nil {
			t.Fatal(err)
		}
		var last error
		for n := 1; n <= 8; n++ { // two tries each
			_, _, last = putN(t, d, n)
		}
		if len(s.asked) != 1+llm.Patience || len(*verdicts) != llm.Patience || (*verdicts)[0].Why != llm.WhyNotJSON || !strings.Contains((*verdicts)[0].Fault, "invalid character") {
			t.Errorf("sent %d times, %d verdicts: %+v", len(s.asked), len(*verdicts), *verdicts)
		}
		if llm.NoAnswer(last) != rules || errors.Is(last, llm.ErrUseless) == rules {
			t.Errorf("rules %t: %v", rules, last)
		}
		if out, _, err := putN(t, d, 0); err != nil || out.Label != "fix" || len(s.asked) != 1+llm.Patience {
			t.Errorf("a kept answer: %+v, %v", out, err)
		}
	}
}

// Gates judge as well. An answer of the ledger is not judged again, and a model that refuses one
// question may answer the next.
func TestJudged(t *testing.T) {
	t.Parallel()
	b, s := newBooks(), &script{}
	for n := range 38 {
		s.says = append(s.says, good)
		if n%2 == 1 {
			s.says[n] = &llm.Refused{Why: "filter"}
		}
	}
	d, verdicts := run(b, s, false)
	d.Models = []string{"small"}
	useful := func(n int) bool { return n == 18 } // between nine and nine
	for n := range 38 {
		_, receipt, err := putN(t, d, n)
		if err != nil {
			continue
		}
		why := "describe/leak"
		if useful(n) {
			why = ""
		}
		for range 2 {
			if _, receipt, err := putN(t, d, n); err != nil || d.Judged(t.Context(), receipt, why, "again") != nil {
				t.Fatal(err)
			}
		}
		if err := d.Judged(t.Context(), receipt, why, "says too much"); err != nil {
			t.Fatal(err)
		}
	}
	gates := 0
	for _, v := range *verdicts {
		if v.Why == "describe/leak" && v.Fault == "says too much" && v.Model == "small" && v.Prompt == "classify" {
			gates++
		}
	}
	if len(*verdicts) != 19+18 || gates != 18 || d.State.Stopped() {
		t.Errorf("%d verdicts, %d of gates, stopped %t", len(*verdicts), gates, d.State.Stopped())
	}
}

// A probe is paid and kept nowhere; what it says of an endpoint that answers is right.
func TestProbe(t *testing.T) {
	t.Parallel()
	busy, wrong := &llm.Later{Err: errors.New("busy")}, errors.New("no such model")
	for _, tc := range []struct {
		name string
		says any
		cap  float64
		item float64
		want error
		sent int
	}{
		{"answers", `{"here": true}`, 0, 0, nil, 1},
		{"babbles", "yes", 0, 0, nil, 1},
		{"thinks_too_long", &llm.Refused{Why: "length"}, 0, 0, nil, 1},
		{"reads_nothing", &llm.Refused{Why: "too_long"}, 0, 0, &llm.Refused{}, 1},
		{"busy", busy, 0, 0, busy, 1},
		{"slow", llm.ErrSlow, 0, 0, llm.ErrSlow, 1},
		{"wrong", wrong, 0, 0, wrong, 1},
		{"no_money", wrong, 1e-6, 0, nil, 0},
		{"too_dear", wrong, 0, 0.005, llm.ErrItem, 0},
	} {
		b, s := newBooks(), &script{says: []any{tc.says}}
		b.cap = tc.cap
		d, _ := run(b, s, false)
		d.MaxItem = tc.item
		err := d.Probe(t.Context())
		var refused *llm.Refused
		if !errors.Is(err, tc.want) && !(errors.As(tc.want, &refused) && errors.As(err, &refused)) || len(s.asked) != tc.sent || len(b.answers) > 0 || b.reserved > 1e-9 {
			t.Errorf("%s: %v, sent %d times, %d answers kept", tc.name, err, len(s.asked), len(b.answers))
		}
		if tc.name == "answers" && (b.spent != 0.002 || s.asked[0].Prompt != llm.Probing) {
			t.Errorf("%s: spent %v", tc.name, b.spent)
		}
	}
}
