package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// modelKey is the variable that holds the key of the endpoint.
const modelKey = "OPENAI_API_KEY"

// models are who is asked, and what was spent on them.
type models struct {
	*terminal
	spent float64 // dollars
	broke bool    // there were no more
	worth []worth // of all that was asked
	state *llm.State
}

// worth is what one model's answers came to.
type worth struct {
	Model     string         `json:"model"`
	Questions int            `json:"questions"`
	Useful    int            `json:"useful"`
	Refused   map[string]int `json:"refused,omitempty"` // by why
}

func (w worth) String() string {
	line := fmt.Sprintf("%s: %s, %d useful", w.Model, plural(w.Questions, "question"), w.Useful)
	if len(w.Refused) == 0 {
		return line
	}
	whys := slices.SortedFunc(maps.Keys(w.Refused), func(a, b string) int {
		return cmp.Or(w.Refused[b]-w.Refused[a], strings.Compare(a, b))
	})
	for i, why := range whys {
		whys[i] = fmt.Sprintf("%d %s", w.Refused[why], why)
	}
	return line + fmt.Sprintf(", %d refused (%s)", w.Questions-w.Useful, strings.Join(whys, ", "))
}

// worths are those of all models that were asked for more than a probe.
func worths(spends []pipeline.Spend, useless []pipeline.Useless) (out []worth) {
	of := func(model string) *worth {
		i := slices.IndexFunc(out, func(w worth) bool { return w.Model == model })
		if i < 0 {
			i, out = len(out), append(out, worth{Model: model, Refused: map[string]int{}})
		}
		return &out[i]
	}
	for _, x := range spends {
		if x.Questions > 0 && x.Stage != llm.Probing {
			w := of(x.Model)
			w.Questions, w.Useful = w.Questions+x.Questions, w.Useful+x.Questions
		}
	}
	for _, x := range useless {
		w := of(x.Model)
		w.Refused[x.Why] += x.N
		if w.Useful -= x.N; w.Useful < 0 { // some endpoints count no tokens of what they refuse
			w.Questions, w.Useful = w.Questions-w.Useful, 0
		}
	}
	return out
}

func worthOf(ctx context.Context, s *store.Store) ([]worth, error) {
	spends, err := s.Spending(ctx, llm.Resource)
	useless, fault := s.Useless(ctx, llm.Resource)
	return worths(spends, useless), errors.Join(err, fault)
}

// check refuses a run that could not ask.
func (m *models) check(c *config.Config) error {
	if c.Model.Name != "" && !c.Model.Local() && m.lookup(modelKey) == "" {
		return unmet("model.endpoint: %s needs a key: set %s, or leave model.name empty for rules alone (%s)", c.Model.Endpoint, modelKey, c.Origin("model.endpoint"))
	}
	return nil
}

// client is where the stages of a run ask; nil where nobody is to be asked.
func (m *models) client(c *config.Config, blobs llm.Blobs) *llm.Client {
	if c.Model.Name == "" {
		return nil
	}
	if m.state == nil {
		m.state = llm.NewState(c.Model.Open(), c.Model.Useless == config.UselessRules)
	}
	return &llm.Client{
		State:    m.state,
		Settings: llm.Settings{Models: c.Model.Names(), MaxTokens: c.Model.MaxTokens, Tries: c.Model.Tries},
		Provider: openai.New(c.Model.Endpoint, m.lookup(modelKey), c.Model.Timeout, m.now),
		Blobs:    blobs,
		Prices:   c.Model.Priced(),
		MaxItem:  c.Model.MaxCostItem,
	}
}

// money is what was spent on models, and what may be.
func money(ctx context.Context, s *store.Store) (pipeline.Resource, error) {
	all, err := s.Resources(ctx)
	if err != nil {
		return pipeline.Resource{}, err
	}
	for _, r := range all {
		if r.Name == llm.Resource {
			return r, nil
		}
	}
	return pipeline.Resource{}, nil
}

// begin sets the budget of a run up to until, and tries the model.
func (m *models) begin(ctx context.Context, c *config.Config, s *store.Store, until string) error {
	if err := m.setBudget(ctx, c, s); err != nil {
		return err
	}
	return m.probe(ctx, c, s, until)
}

// probe asks a tiny question before the work begins: a wrong name, path, key or form is said at
// once. An endpoint that does not answer now is no reason not to begin.
func (m *models) probe(ctx context.Context, c *config.Config, s *store.Store, until string) error {
	if c.Model.Name == "" || until != "" && slices.Index(stages.Order, until) < slices.Index(stages.Order, stages.Survey) {
		return nil // nobody is asked
	}
	err := stages.Deps{Models: m.client(c, s.Blobs), Books: s, Now: m.now}.Probe(ctx)
	var later *llm.Later
	var refused *llm.Refused
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &later), errors.Is(err, llm.ErrSlow), errors.Is(err, llm.ErrQuota):
		m.say("models   %s does not answer: what needs it is put off (%s)", c.Model.Name, visible(tail(err.Error(), 1)))
		return nil
	case errors.Is(err, llm.ErrItem):
		return unmet("model.max_cost_item: %w; raise it, or lower model.max_tokens (%d)", err, c.Model.MaxTokens)
	case errors.As(err, &refused):
		return unmet("model.name: %s reads too little: a question of one line is too long for it", c.Model.Name)
	}
	return &ended{exitUsage, err}
}

// uselessNote is where a store keeps that a run ended since the answers were of no use.
const uselessNote = "useless"

// setBudget sets what may be spent, says so before anything is asked, and asks at once for
// what waits for money where there is more of it than before, and for what waits for a better model.
func (m *models) setBudget(ctx context.Context, c *config.Config, s *store.Store) error {
	if c.Model.Name == "" {
		return nil
	}
	was, err := money(ctx, s)
	if err != nil {
		return err
	}
	if err := s.Cap(ctx, llm.Resource, c.Model.MaxCost); err != nil {
		return err
	}
	m.say("models   %s at %s: %s", c.Model.Name, c.Model.Endpoint, spent(was.Spent, c.Model.MaxCost))
	useless, err := s.Note(uselessNote)
	if err == nil && useless != "" {
		err = s.SetNote(ctx, uselessNote, "")
	}
	if err != nil || useless == "" && c.Model.MaxCost != 0 && c.Model.MaxCost <= was.Cap {
		return err
	}
	for _, stage := range []string{stages.Survey, stages.Classify, stages.Resolve, stages.Provision, stages.Suite, stages.Describe} {
		steps, err := s.Steps(stage)
		if err != nil {
			return err
		}
		for _, step := range steps {
			if step.State != schemas.StepDeferred {
				continue
			}
			if err := s.Retry(stage, step.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// count takes note of what was spent, for the closing lines.
func (m *models) count(ctx context.Context, s *store.Store) error {
	r, err := money(ctx, s)
	m.spent = r.Spent
	if m.stopped() {
		err = errors.Join(err, s.SetNote(ctx, uselessNote, "yes"))
	}
	var fault error
	m.worth, fault = worthOf(ctx, s)
	return errors.Join(err, fault)
}

// stopped reports whether the run asks no more, and puts off what waits.
func (m *models) stopped() bool { return m.state != nil && m.state.Stopped() && !m.state.Rules }

// maxSpent is what may be spent; 0 where nobody is asked.
func maxSpent(c *config.Config) float64 {
	if c.Model.Name == "" {
		return 0
	}
	return c.Model.MaxCost
}

// What a question and its answer come to, in tokens: means over real changes of fifteen
// Python, six Go and three TypeScript libraries. A repair is asked with the end of a log, the
// build files and the recipe: 18 KiB at 3.07 bytes a token.
const (
	tokensAsked     = 3100
	tokensLabel     = 80
	tokensStatement = 450
	tokensReview    = 150
	tokensBroken    = 6004
	tokensRepair    = 80
)

// The same of a group of endpoints, with its cases, the code of its handlers and up to twenty
// requests: between 17 and 40 KiB for groups of two to seven endpoints.
const (
	tokensGroup    = 9000
	tokensRequests = 2500
)

// The same of a suite: at most 38 KiB of the change, the code before it and the tests' style.
const (
	tokensEdit  = 6000
	tokensSuite = 1200
)

// tasksPerRepair is how many tasks there are for each recipe that a model is asked to mend, as
// it was measured: half a repair a task.
const tasksPerRepair = 2

// bill is what a run would ask a model.
type bill struct {
	Questions int     `json:"questions"`          // labels, statements and reviews: no more than these
	Repairs   int     `json:"repairs"`            // of environments, beside them: an estimate
	Requests  int     `json:"requests,omitempty"` // questions for requests of services, beside them: one for each group
	Suites    int     `json:"suites,omitempty"`   // questions for suites of edits without tests, beside them: no more than these
	Cost      float64 `json:"cost"`               // dollars, of all
}

// price estimates what a run asks: a label for each change, where notes of a release share a
// question; a statement with its review for each that is proved, twice where the first is
// refused; repairs of recipes; requests for each group of a service; and suites for each edit without tests. The dearest rates of the
// model that is asked first hold.
func price(c *config.Config, labels, statements, groups, suites int) bill {
	p := c.Model.Priced()[c.Model.Name]
	b := bill{Questions: labels + 4*statements, Repairs: (statements + tasksPerRepair - 1) / tasksPerRepair, Requests: groups, Suites: suites * c.Suite.Tries}
	for _, of := range []struct{ n, in, out int }{
		{labels, tokensAsked, tokensLabel}, {2 * statements, tokensAsked, tokensStatement}, {2 * statements, tokensAsked, tokensReview},
		{b.Repairs, tokensBroken, tokensRepair}, {groups, tokensGroup, tokensRequests}, {b.Suites, tokensEdit, tokensSuite},
	} {
		b.Cost += float64(of.n) * p.Most(llm.Usage{Input: int64(of.in), Output: int64(of.out)})
	}
	return b
}

func spent(dollars, most float64) string {
	if most == 0 {
		return fmt.Sprintf("$%.4f spent, without a limit (model.max_cost)", dollars)
	}
	return fmt.Sprintf("$%.4f of $%.2f spent (model.max_cost)", dollars, most)
}
