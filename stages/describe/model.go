package describe

import (
	"context"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// Model drafts by asking a model. Its drafts meet the same gates as the rules'.
type Model struct{ Desk asked.Desk }

var _ Drafter = Model{}

// maxBody bounds the author's message in a question, in bytes.
const maxBody = 12 << 10

// Draft implements Drafter.
func (m Model) Draft(ctx context.Context, material Material) (Draft, error) {
	c := material.Change
	title, body := c.Written()
	in := prompts.DescribeInput{
		Repository: c.Repo, Subject: title, Body: strings.ToValidUTF8(body[:min(maxBody, len(body))], ""),
		Required: material.Required, Forbidden: material.Forbidden, Fault: material.Fault,
	}
	var from []string
	for _, n := range notesOf(c) {
		in.Notes = append(in.Notes, prompts.Note{Heading: n.Heading, Text: n.Text})
		from = []string{fromNote}
	}
	if title != "" {
		from = append(from, fromSubject)
	}
	if strings.TrimSpace(body) != "" {
		from = append(from, fromBody)
	}
	for _, n := range material.Interface {
		in.Interface = append(in.Interface, n.Name)
	}
	slices.Sort(in.Interface)
	out, by, err := asked.Put(ctx, m.Desk, prompts.Describe, in)
	if err != nil {
		return Draft{}, err
	}
	return Draft{Provider: by.Provider, Text: strings.TrimSpace(out.Statement), From: from, Thin: out.Thin}, nil
}
