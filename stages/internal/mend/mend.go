// Package mend repairs recipes by asking a model, where the failure table has no edit. The
// answer is edits of a closed set (package recipe), each of which is applied or refused.
//
// It never runs what a model says, and an answer whose reason does not stand in the log is
// none.
package mend

import (
	"cmp"
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
type Model struct {
	Client    asked.Client
	Languages map[string]lang.Language // by Recipe.Language
}

var _ environment.Repairer = Model{}

// Rule is the name of a model's edits in a recipe's repairs.
const Rule = "model"

// What a question holds at most, in bytes.
const (
	maxLog     = 6 << 10
	maxTelling = 2 << 10
	maxLine    = 400 // of those
	maxFile    = 4 << 10
	maxFiles   = 16 << 10
)

// Repair implements environment.Repairer. A model that has no answer has no edit. It is asked
// again, with what was wrong, where no edit of an answer can be made.
func (m Model) Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	text := excerpt(log)
	in, err := m.question(p, r, text)
	if err != nil {
		return r, false, err
	}
	for range m.Client.Settings.Tries {
		out, by, err := asked.Put(ctx, m.Client, prompts.Repair, in)
		if llm.NoAnswer(err) {
			return r, false, nil
		}
		if err != nil {
			return r, false, err
		}
		edited, why, fault := m.judged(r, text, out, in.Toolchains)
		if err := by.Judged(ctx, why, cmp.Or(fault, fmt.Sprintf("%s by %q", out.Cause, out.Quote))); err != nil {
			return r, false, err
		}
		if why == "" || why == "suspicious" {
			return edited, why == "" && len(edited.Repairs) > len(r.Repairs), nil
		}
		in.Fault = fault
	}
	return r, false, nil
}

// judged is the recipe with the edits of an answer that can be made; else why there are none,
// and the fault in words.
func (m Model) judged(r schemas.Recipe, log string, out prompts.RepairAnswer, available []string) (edited schemas.Recipe, why, fault string) {
	quote := strings.Join(strings.Fields(out.Quote), " ")
	switch {
	case out.Suspicious:
		return r, "suspicious", ""
	case quote == "" || !strings.Contains(strings.Join(strings.Fields(log), " "), quote):
		return r, "repair/quote", fmt.Sprintf("the quote %q does not stand in the log", out.Quote)
	}
	edited = r
	var faults []string
	for _, e := range out.Edits {
		next, said, err := recipe.Apply(edited, recipe.Edit{Op: recipe.Op(e.Op), Name: e.Name, Value: e.Value}, available)
		if err == nil && slices.ContainsFunc(r.Repairs, func(x schemas.Repair) bool { return x.Edit == said }) {
			err = fmt.Errorf("%q was tried", said)
		}
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		if l, ok := m.Languages[r.Language].(lang.Chooser); ok && recipe.Op(e.Op) == recipe.SetToolchain {
			next = l.Move(edited, e.Value)
			next.Lock, next.Setup = "", nil
		}
		edited = next
		edited.Repairs = append(slices.Clone(edited.Repairs), schemas.Repair{Rule: Rule, Symptom: out.Quote, Edit: said})
	}
	if len(faults) > 0 && len(edited.Repairs) == len(r.Repairs) {
		return r, "repair/edit", strings.Join(faults, "; ")
	}
	return edited, "", ""
}

var ansi = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

// telling are lines that say what went wrong, in the words of compilers, linkers and resolvers.
var telling = lazyregexp.New(`(?i)\berror\b|error:|not found|no such file|cannot |could not|undefined (?:reference|symbol)|no module named|unsatisfiable|because `)

// excerpt is the end of a log, without colours and lines that stand there twice. What tells
// the cause of a failed build often stands far above its end: lines of the rest that do come first.
func excerpt(log []byte) string {
	seen := map[string]bool{}
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(ansi.ReplaceAllString(string(log), ""), "")) {
		if !seen[line] || strings.TrimSpace(line) == "" {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	at, size := len(lines), 0
	for at > 0 && size+len(lines[at-1]) <= maxLog {
		at--
		size += len(lines[at])
	}
	var head strings.Builder
	for _, line := range lines[:at] {
		line = line[:min(len(line), maxLine)]
		if telling.MatchString(line) && !strings.HasPrefix(line, "__") && head.Len()+len(line) <= maxTelling {
			head.WriteString(strings.ToValidUTF8(strings.TrimSuffix(line, "\n"), "") + "\n")
		}
	}
	if head.Len() > 0 {
		head.WriteString("…\n")
	}
	return head.String() + strings.Join(lines[at:], "")
}

func (m Model) question(p lang.Project, r schemas.Recipe, log string) (prompts.RepairInput, error) {
	in := prompts.RepairInput{
		Repository: p.Name, Language: r.Language, Date: p.Date.UTC().Format(time.DateOnly), Toolchain: r.Toolchain.Version,
		SystemPackages: r.SystemPackages, Requirements: r.Requirements, Variables: r.Variables, Test: []string{schemas.CommandLine(r.Test)}, Log: log,
	}
	for _, x := range r.Rivals {
		if x.Other == "" {
			in.Commands = append(in.Commands, x.Line())
		}
	}
	available := p.Available
	if l, ok := m.Languages[r.Language].(lang.Chooser); ok {
		available = l.Usable(p, r)
	}
	for _, t := range available {
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
var buildFile = lazyregexp.New(`^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|requirements/[\w.-]+\.(?:txt|in|pip)|[\w-]*requirements[\w-]*\.(?:txt|in|pip)|Pipfile|environment\.ya?ml|go\.mod|Makefile|Dockerfile|\.github/workflows/[\w.-]*(?:test|ci|build|main|check|python|go)[\w.-]*\.ya?ml|\.travis\.yml)$`)
