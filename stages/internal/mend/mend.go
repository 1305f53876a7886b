// Package mend repairs recipes by asking a model, where the failure table has no edit. The
// answer is edits of a closed set (package recipe), each of which is applied or refused.
//
// It never runs what a model says, and an answer whose reason does not stand in the log is
// none.
package mend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// Model asks a model.
type Model struct{ Client asked.Client }

var _ environment.Repairer = Model{}

// Rule is the name of a model's edits in a recipe's repairs.
const Rule = "model"

// What a question holds at most, in bytes.
const (
	maxLog   = 6 << 10
	maxFile  = 4 << 10
	maxFiles = 16 << 10
)

// Repair implements environment.Repairer. A model that has no answer has no edit.
func (m Model) Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	text := plain(log)
	in, err := question(p, r, text)
	if err != nil {
		return r, false, err
	}
	out, by, err := asked.Put(ctx, m.Client, prompts.Repair, in)
	if llm.NoAnswer(err) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	quote, why := strings.Join(strings.Fields(out.Quote), " "), ""
	switch {
	case out.Suspicious:
		why = "suspicious"
	case quote == "" || !strings.Contains(strings.Join(strings.Fields(text), " "), quote):
		why = "repair/quote"
	}
	if err := by.Judged(ctx, why, fmt.Sprintf("%s by %q", out.Cause, out.Quote)); err != nil || why != "" {
		return r, false, err
	}
	edited, changed := r, false
	for _, e := range out.Edits {
		next, said, err := recipe.Apply(edited, recipe.Edit{Op: recipe.Op(e.Op), Name: e.Name, Value: e.Value}, in.Toolchains)
		if err != nil || slices.ContainsFunc(r.Repairs, func(x schemas.Repair) bool { return x.Edit == said }) {
			continue
		}
		edited, changed = next, true
		edited.Repairs = append(slices.Clone(edited.Repairs), schemas.Repair{Rule: Rule, Symptom: out.Quote, Edit: said})
	}
	return edited, changed, nil
}

var ansi = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

// plain is the end of a log, without colours.
func plain(log []byte) string {
	text := ansi.ReplaceAllString(string(log), "")
	if len(text) > maxLog {
		text = text[len(text)-maxLog:]
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.ToValidUTF8(text, "")
}

func question(p lang.Project, r schemas.Recipe, log string) (prompts.RepairInput, error) {
	in := prompts.RepairInput{
		Repository: p.Name, Language: r.Language, Date: p.Date.UTC().Format(time.DateOnly), Toolchain: r.Toolchain.Version,
		SystemPackages: r.SystemPackages, Requirements: r.Requirements, Variables: r.Variables, Test: []string{schemas.CommandLine(r.Test)}, Log: log,
	}
	for _, x := range r.Rivals {
		if x.Other == "" {
			in.Commands = append(in.Commands, x.Line())
		}
	}
	for _, t := range p.Available {
		if t.Name == r.Toolchain.Name && !t.Released.After(p.Date) {
			in.Toolchains = append(in.Toolchains, t.Version)
		}
	}
	for _, x := range r.Repairs {
		in.Tried = append(in.Tried, x.Edit)
	}
	left := maxFiles
	for _, path := range p.Solution.Paths() {
		if !buildFile.MatchString(path) || left <= 0 {
			continue
		}
		b, err := p.Solution.Read(path)
		if err != nil {
			return in, err
		}
		text := strings.ToValidUTF8(string(b[:min(len(b), maxFile, left)]), "")
		left -= len(text)
		in.Files = append(in.Files, prompts.File{Path: path, Text: text})
	}
	return in, nil
}

// buildFile matches the files that say how a project is built and tested.
var buildFile = lazyregexp.New(`^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|(?:requirements/)?[\w-]*requirements[\w-]*\.(?:txt|in)|Pipfile|environment\.ya?ml|go\.mod|Makefile|Dockerfile|\.github/workflows/[\w.-]*(?:test|ci|build|main|check|python|go)[\w.-]*\.ya?ml|\.travis\.yml)$`)
