package describe

import (
	"context"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// Model drafts and reviews by asking a model. Its drafts meet the same gates as the rules'.
type Model struct{ Client asked.Client }

var (
	_ Drafter  = Model{}
	_ Reviewer = Model{}
)

// What a question holds at most.
const (
	maxBody  = 12 << 10 // bytes of the author's message
	maxPatch = 16 << 10 // bytes of a diff
	maxBase  = 4 << 10  // bytes of code of the base
	maxWhy   = 300      // bytes of how a test fails
	maxTests = 30
)

// Draft implements Drafter.
func (m Model) Draft(ctx context.Context, material Material) (Draft, error) {
	in, from, err := m.question(material)
	if err != nil {
		return Draft{}, err
	}
	if material.Change.Kind == schemas.KindEdit {
		return m.lazy(ctx, in, from)
	}
	out, by, err := asked.Put(ctx, m.Client, prompts.Describe, in)
	if err != nil {
		return Draft{}, err
	}
	if out.Suspicious {
		return Draft{}, by.Suspicious(ctx)
	}
	return Draft{Provider: by.Provider, Judged: by.Judged, Text: out.Text(), From: from, Thin: out.Thin, Gaps: out.Uncovered(in.Tests)}, nil
}

// lazy asks for the instruction of an edit.
func (m Model) lazy(ctx context.Context, in prompts.DescribeInput, from []string) (Draft, error) {
	out, by, err := asked.Put(ctx, m.Client, prompts.Lazy, in)
	if err != nil {
		return Draft{}, err
	}
	if out.Suspicious {
		return Draft{}, by.Suspicious(ctx)
	}
	return Draft{Provider: by.Provider, Judged: by.Judged, Text: strings.Join(strings.Fields(out.Instruction), " "), From: from}, nil
}

// question is what a drafter is told, and the texts that it is of.
func (m Model) question(material Material) (in prompts.DescribeInput, from []string, err error) {
	c := material.Change
	title, body := c.Written()
	in = prompts.DescribeInput{
		Repository: c.Repo, Subject: title, Body: asked.Cut(body, maxBody),
		Forbidden: material.Forbidden, Fault: material.Fault, BaseCode: material.Base, Readme: material.Readme,
		Tests: testsOf(material.Tests), Interface: signaturesOf(material.Interface),
	}
	in.Required, in.Messages = messagesOf(material)
	if in.TestChanges, err = m.testDiff(material); err != nil {
		return in, nil, err
	}
	for _, n := range notesOf(c) {
		in.Notes = append(in.Notes, prompts.Note{Heading: n.Heading, Text: n.Text})
		from = []string{fromNote}
	}
	for _, r := range c.Range {
		in.Notes = append(in.Notes, prompts.Note{Heading: "Commit", Text: r.Subject})
	}
	if title != "" {
		from = append(from, fromSubject)
	}
	if strings.TrimSpace(body) != "" {
		from = append(from, fromBody)
	}
	if len(in.Tests) > 0 {
		from = append(from, fromRuns)
	}
	return in, from, nil
}

// Review implements Reviewer. Passages that do not stand in the statement, and tests that
// there are not, do not count.
func (m Model) Review(ctx context.Context, material Material, st schemas.Statement) (schemas.Review, error) {
	in := prompts.ReviewInput{Repository: material.Change.Repo, Statement: st.Text}
	in.Interface = signaturesOf(st.Interface)
	for _, t := range testsOf(material.Tests) {
		in.Tests = append(in.Tests, t.Name)
	}
	var err error
	if in.TestChanges, err = m.testDiff(material); err != nil {
		return schemas.Review{}, err
	}
	if in.Change, err = m.diff(material.Patch); err != nil {
		return schemas.Review{}, err
	}
	out, by, err := asked.Put(ctx, m.Client, prompts.Review, in)
	if err != nil {
		return schemas.Review{}, err
	}
	if out.Suspicious {
		return schemas.Review{}, by.Suspicious(ctx)
	}
	if err := by.Judged(ctx, "", ""); err != nil {
		return schemas.Review{}, err
	}
	r := schemas.Review{Provider: by.Provider, Verdict: out.Verdict, Label: out.Label}
	for _, u := range out.Unfair {
		if slices.Contains(in.Tests, u.Test) {
			r.Unfair = append(r.Unfair, schemas.Unfair{Test: u.Test, Code: u.Code})
		}
	}
	r.Leaks, r.Vague, r.Extra = standing(st.Text, out.Leaks), standing(st.Text, out.Vague), standing(st.Text, out.Extra)
	return r, nil
}

// standing are the passages that a text has.
func standing(text string, passages []string) (out []string) {
	for _, p := range passages {
		if p = strings.TrimSpace(p); p != "" && strings.Contains(text, p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// diff reads a patch, as much of it as a question holds.
func (m Model) diff(d schemas.Digest) (string, error) {
	if d == "" {
		return "", nil
	}
	b, err := m.Client.Blobs.Get(d)
	if err != nil {
		return "", err
	}
	return asked.Cut(string(b), maxPatch), nil
}

// testDiff reads the patch of the tests, the hunks of most worth first.
func (m Model) testDiff(material Material) (string, error) {
	if material.TestPatch == "" {
		return "", nil
	}
	b, err := m.Client.Blobs.Get(material.TestPatch)
	if err != nil {
		return "", err
	}
	return asked.Cut(byWorth(string(b), material.Tests), maxPatch), nil
}

// testsOf are the tests without the cases of each.
func testsOf(all []schemas.TestVerdict) (out []prompts.Test) {
	for _, v := range all {
		name := v.ID
		if base, _, ok := strings.Cut(name, "["); ok {
			name = base
		}
		if slices.ContainsFunc(out, func(t prompts.Test) bool { return t.Name == name }) || len(out) == maxTests {
			continue
		}
		out = append(out, prompts.Test{Name: name, Fails: asked.Cut(v.Why, maxWhy)})
	}
	return out
}
