package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// ErrUndecided means that a decider has no answer to this change and never will: who was
// asked before it has the say.
var ErrUndecided = errors.New("no decision")

// Model asks a model.
type Model struct{ Client asked.Client }

var _ Decider = Model{}

// Provider implements Decider.
func (m Model) Provider() string { return m.Client.Models[0] }

// What a question holds at most: the end of a long message is about details.
const (
	maxNotes = 5
	maxBody  = 8 << 10 // bytes
	maxFiles = 50
)

// weightModel is below what somebody wrote down as a label, and above words.
const weightModel = 90

// Decide implements Decider. The words that decided have to stand in what was asked: an
// answer that rests on others is none.
func (m Model) Decide(ctx context.Context, change schemas.Change, s schemas.Start) (schemas.Label, []schemas.LabelEvidence, error) {
	title, body := change.Written()
	in := prompts.ClassifyInput{Repository: change.Repo, Subject: title, Body: strings.ToValidUTF8(body[:min(maxBody, len(body))], "")}
	for _, n := range change.Notes[:min(maxNotes, len(change.Notes))] {
		in.Notes = append(in.Notes, prompts.Note{Heading: n.Heading, Text: n.Text})
	}
	for _, f := range s.Files {
		if f.Part == schemas.PartCode && len(in.Files) < maxFiles {
			in.Files = append(in.Files, f.Path)
		}
	}
	out, by, err := asked.Put(ctx, m.Client, prompts.Classify, in)
	switch {
	case llm.NoAnswer(err):
		return "", nil, errors.Join(ErrUndecided, err)
	case err != nil:
		return "", nil, err
	}
	why := judged(out, in)
	if err := by.Judged(ctx, why, fmt.Sprintf("%s by %q", out.Label, out.Quote)); err != nil || why != "" {
		return "", nil, cmp.Or(err, ErrUndecided)
	}
	label := schemas.Label(out.Label)
	return label, []schemas.LabelEvidence{{Label: label, Rule: "model", Quote: out.Quote, Weight: weightModel}}, nil
}

// Why an answer is none.
const (
	whySuspicious = "suspicious"
	whyQuote      = "classify/quote" // it rests on words that nobody wrote
)

// judged is why an answer decides nothing; "" where it does.
func judged(out prompts.ClassifyAnswer, in prompts.ClassifyInput) string {
	switch {
	case out.Suspicious:
		return whySuspicious
	case !stands(out.Quote, in) && (out.Quote != "" || out.Label != string(schemas.LabelOther)):
		return whyQuote
	}
	return ""
}

// ordering matches sentences that speak to whoever decides, and not of the change.
var ordering = lazyregexp.New(`(?i)\b(?:(?:ignore|disregard|forget) (?:all |any |the |these |previous |prior |above |earlier )*(?:rules?|instructions?|prompts?)|you (?:are|must) (?:an? |now |answer|label)|answer (?:with|only|feature|improvement|fix|other)|label (?:it|this) (?:as )?\W*(?:feature|improvement|fix|other)|language model|suspicious\W+(?:to )?false)`)

// said reports whether a text has these words, in a sentence that does not give orders.
func said(text, quote string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' }) {
		if strings.Contains(sentence, quote) && ordering.MatchString(sentence) {
			return false
		}
	}
	return strings.Contains(strings.Join(strings.Fields(text), " "), quote)
}

// stands reports whether the input has these words.
func stands(quote string, in prompts.ClassifyInput) bool {
	all := []string{in.Subject, in.Body}
	for _, n := range in.Notes {
		all = append(all, n.Heading, n.Text)
	}
	all = append(all, in.Files...)
	quote = strings.Join(strings.Fields(quote), " ")
	for _, text := range all {
		if quote != "" && said(text, quote) {
			return true
		}
	}
	return false
}
