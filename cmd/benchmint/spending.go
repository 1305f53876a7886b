package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/pipeline"
)

// withSpending puts what was spent on models to its stages; a stage that has no items any more,
// and "" of what a store spent before it kept stages, comes at the end.
func withSpending(funnel []tally, spends []pipeline.Spend) []tally {
	for _, x := range spends {
		i := slices.IndexFunc(funnel, func(t tally) bool { return t.Stage == x.Stage })
		if i < 0 {
			i, funnel = len(funnel), append(funnel, tally{Stage: x.Stage})
		}
		funnel[i].Spent = append(funnel[i].Spent, x)
	}
	return funnel
}

// printSpending is what models cost so far, where somebody is asked or something was spent.
func (s statusPage) printSpending(ctx context.Context, spends []pipeline.Spend) error {
	if s.config.Model.Name == "" && len(spends) == 0 {
		return nil
	}
	r, err := money(ctx, s.Store)
	if err != nil {
		return err
	}
	t := s.out()
	t.line("")
	t.showSpending(spends)
	all := spent(r.Spent, s.config.Model.MaxCost)
	if s.config.Model.Name == "" { // nothing bounds what nobody spends
		all = fmt.Sprintf("$%.4f spent", r.Spent)
	}
	t.line("models   %s", all)
	answers, err := worthOf(ctx, s.Store)
	for _, w := range answers {
		t.line("models   %s", visible(w.String()))
	}
	return errors.Join(err, t.err)
}

// showSpending is a line for each stage and model.
func (t *printer) showSpending(spends []pipeline.Spend) {
	if len(spends) == 0 {
		return
	}
	const form = "%-16s %-20s %9s %11s %11s %11s %9s"
	t.line(form, "stage", "model", "questions", "tokens in", "cached", "tokens out", "dollars")
	for _, x := range spends {
		t.line(form, cmp.Or(x.Stage, "earlier"), visible(cmp.Or(x.Model, "not kept")), fmt.Sprint(x.Questions), fmt.Sprint(x.Input), fmt.Sprint(x.Cached), fmt.Sprint(x.Output), fmt.Sprintf("%.4f", x.Cost))
	}
}

// spentOn reads what the steps of an item spent on models, with the build that it shares, and
// which of the answers were of no use.
func (s *shelf) spentOn(ctx context.Context, i *item) error {
	for _, step := range i.Steps {
		spends, err := s.SpendingOf(ctx, llm.Resource, step.Stage, step.Key)
		refused, fault := s.VerdictsOf(ctx, llm.Resource, step.Stage, step.Key)
		if err = errors.Join(err, fault); err != nil {
			return err
		}
		i.Spent, i.Refused = append(i.Spent, spends...), append(i.Refused, refused...)
	}
	return nil
}

// showSpent is what an item cost. What another item asked first was paid there.
func (t *printer) showSpent(s *shelf, i *item) {
	if len(i.Spent) == 0 {
		return
	}
	sum := 0.0
	for _, x := range i.Spent {
		sum += x.Cost
	}
	t.line("\n%s  $%.4f", t.in(bold, "models"), sum)
	t.showSpending(i.Spent)
	useless := make([]pipeline.Useless, len(i.Refused))
	for n, v := range i.Refused {
		useless[n] = pipeline.Useless{Model: v.Model, Why: v.Why, N: 1}
	}
	for _, w := range worths(i.Spent, useless) {
		t.line("%s", visible(w.String()))
	}
	for _, v := range i.Refused {
		t.line("refused  %s: %s", v.Why, visible(strings.Join(strings.Fields(v.Fault), " ")))
		if v.Blob != "" {
			t.block(cutShort(llm.TextOf([]byte(text(s.Blobs, v.Blob)))))
		}
	}
}

// mostDraft bounds what is shown of an answer that was refused, in bytes.
const mostDraft = 2000

func cutShort(s string) string {
	if len(s) > mostDraft {
		s = strings.ToValidUTF8(s[:mostDraft], "") + " …"
	}
	return s
}
