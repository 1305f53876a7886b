package main

import (
	"context"
	"fmt"

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

// questionsAtOnce bounds how many questions are open at one time.
const questionsAtOnce = 4

// models are who is asked, and what was spent on them.
type models struct {
	*terminal
	spent float64 // dollars
	broke bool    // there were no more
}

// check refuses a run that could not ask.
func (m *models) check(c *config.Config) error {
	if c.Model.Name != "" && !c.Model.Local() && m.lookup(modelKey) == "" {
		return unmet("model.endpoint: %s needs a key: set %s, or leave model.name empty for rules alone (%s)", c.Model.Endpoint, modelKey, c.Origin("model.endpoint"))
	}
	return nil
}

// client is where the stages of a run ask; nil where nobody is to be asked.
func (m *models) client(c *config.Config, s *store.Store) *llm.Client {
	if c.Model.Name == "" {
		return nil
	}
	return &llm.Client{
		Settings: llm.Settings{Models: c.Model.Names(), MaxTokens: c.Model.MaxTokens, Tries: c.Model.Tries},
		Provider: openai.New(c.Model.Endpoint, m.lookup(modelKey), c.Model.Timeout, m.now),
		Blobs:    s.Blobs,
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

// setBudget sets what may be spent, says so before anything is asked, and asks at once for
// what waits for money where there is more of it than before.
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
	if c.Model.MaxCost != 0 && c.Model.MaxCost <= was.Cap {
		return nil
	}
	for _, stage := range []string{stages.Survey, stages.Classify, stages.Resolve, stages.Provision, stages.Describe} {
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
	return err
}

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

// tasksPerRepair is how many tasks there are for each recipe that a model is asked to mend, as
// it was measured: half a repair a task.
const tasksPerRepair = 2

// bill is what a run would ask a model.
type bill struct {
	Questions int     `json:"questions"`          // labels, statements and reviews: no more than these
	Repairs   int     `json:"repairs"`            // of environments, beside them: an estimate
	Requests  int     `json:"requests,omitempty"` // questions for requests of services, beside them: one for each group
	Cost      float64 `json:"cost"`               // dollars, of all
}

// price estimates what a run asks: a label for each change, where notes of a release share a
// question; a statement with its review for each that is proved, twice where the first is
// refused; repairs of recipes; and requests for each group of a service. The dearest rates of the
// model that is asked first hold.
func price(c *config.Config, labels, statements, groups int) bill {
	p := c.Model.Priced()[c.Model.Name]
	b := bill{Questions: labels + 4*statements, Repairs: (statements + tasksPerRepair - 1) / tasksPerRepair, Requests: groups}
	for _, of := range []struct{ n, in, out int }{
		{labels, tokensAsked, tokensLabel}, {2 * statements, tokensAsked, tokensStatement}, {2 * statements, tokensAsked, tokensReview},
		{b.Repairs, tokensBroken, tokensRepair}, {groups, tokensGroup, tokensRequests},
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
