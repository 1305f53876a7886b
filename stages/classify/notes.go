package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// ReleaseNotes gives what release notes tell of all changes of a repository in one release, in the
// notes' own order.
type ReleaseNotes interface {
	ReleaseNotes(repo, release string) ([]schemas.Note, error)
}

// Notes asks a model of release notes: of many entries at a time, so that the changes of a
// release share their questions. It decides by what is written of a change in notes, and
// leaves to others what no note mentions.
type Notes struct {
	Client  asked.Client
	Records ReleaseNotes
}

var _ Decider = Notes{}

// Provider implements Decider.
func (m Notes) Provider() string { return m.Client.Models[0] }

// What one question holds at most: entries, and bytes of each.
const (
	chunk    = 40
	maxEntry = 1 << 10
)

// Decide implements Decider. Each number has to be answered: what is missing is asked for
// once more. A label whose words the entry does not have is none.
func (m Notes) Decide(ctx context.Context, c schemas.Change, _ schemas.Start) (schemas.Label, []schemas.LabelEvidence, error) {
	i := slices.IndexFunc(c.Notes, func(n schemas.Note) bool { return n.Form != schemas.NoteSubject })
	if i < 0 {
		return "", nil, ErrUndecided
	}
	own := c.Notes[i]
	all, err := m.Records.ReleaseNotes(c.Repo, c.Release)
	if err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(all, func(n schemas.Note) bool { return n.Text == own.Text && n.Heading == own.Heading })
	if at < 0 {
		all, at = []schemas.Note{own}, 0
	}
	from := at - at%chunk
	answer, by, err := m.ask(ctx, c.Repo, all[from:min(from+chunk, len(all))], at-from+1)
	switch {
	case llm.NoAnswer(err):
		return "", nil, errors.Join(ErrUndecided, err)
	case err != nil:
		return "", nil, err
	}
	other := answer.Label == string(schemas.LabelOther)
	why := ""
	if !other && !quoted(answer.Quote, own) {
		why = whyQuote
	}
	if err := by.Judged(ctx, why, fmt.Sprintf("%s by %q", answer.Label, answer.Quote)); err != nil || other || why != "" {
		return "", nil, cmp.Or(err, ErrUndecided)
	}
	label := schemas.Label(answer.Label)
	return label, []schemas.LabelEvidence{{Label: label, Rule: "model_notes", Quote: answer.Quote, Weight: weightModel}}, nil
}

// ask puts numbered entries, and gives the answer of one number.
func (m Notes) ask(ctx context.Context, repo string, notes []schemas.Note, n int) (prompts.LineLabel, *asked.By, error) {
	in := prompts.NotesInput{Repository: repo}
	for i, note := range notes {
		in.Lines = append(in.Lines, prompts.Line{N: i + 1, Heading: note.Heading, Text: strings.ToValidUTF8(note.Text[:min(maxEntry, len(note.Text))], "")})
	}
	const times = 2
	for range times {
		out, by, err := asked.Put(ctx, m.Client, prompts.Notes, in)
		if err != nil {
			return prompts.LineLabel{}, by, err
		}
		if out.Suspicious {
			return prompts.LineLabel{}, by, by.Suspicious(ctx)
		}
		var missing []string
		in.Lines = slices.DeleteFunc(in.Lines, func(l prompts.Line) bool {
			if slices.ContainsFunc(out.Lines, func(a prompts.LineLabel) bool { return a.N == l.N }) {
				return true
			}
			missing = append(missing, fmt.Sprint(l.N))
			return false
		})
		if i := slices.IndexFunc(out.Lines, func(a prompts.LineLabel) bool { return a.N == n }); i >= 0 {
			return out.Lines[i], by, nil // who needs what is missing asks for it
		}
		in.Fault = "these numbers had no answer: " + strings.Join(missing, ", ")
		if err := by.Judged(ctx, "classify/missing", in.Fault); err != nil {
			return prompts.LineLabel{}, by, err
		}
	}
	return prompts.LineLabel{}, nil, &llm.Unusable{Prompt: prompts.Notes.Name(), Err: errors.New(in.Fault)}
}

// quoted reports whether an entry or its heading has these words.
func quoted(quote string, n schemas.Note) bool {
	quote = strings.Join(strings.Fields(quote), " ")
	return quote != "" && (said(n.Text, quote) || said(n.Heading, quote))
}
