package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
)

func newLint(p *program) *cobra.Command {
	var dataset string
	var standard bool
	cmd := &cobra.Command{
		Use: "lint ID [FOLDER] | ID=FOLDER…", Short: "lint the folder that you work in",
		Long: "Lints the code of a folder (default: this one), without its tests, in a task's environment and sandbox:\nruff and pyrefly for Python, go vet and staticcheck for Go. Their settings in the folder apply. With --standard\nours do, the same for each task of the language, and findings that a comment suppresses are listed too. The\nfolder is as for benchmint test; ID=FOLDER, once or more, are several tasks. What linters say counts for no grade.\n\n" +
			"Exit codes: 0 no finding; 1 findings, or a limit ended a linter; 2 nothing was run; 3 try again later.",
		Example: "  benchmint lint acme__widget-v1.0.library ./widget\n  benchmint lint -j 2 acme__widget-v1.0.library=./widget acme__gear-v2.library=./gear --json",
		Args:    argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			works, rest, err := worksOf(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return &usageError{fmt.Errorf("lint: %q is not a folder", rest[0])}
			}
			return p.machine(c).lint(cmd.Context(), cmp.Or(dataset, c.Output), works, standard)
		},
	}
	cmd.Flags().StringVar(&dataset, "dataset", "", "`FOLDER` of the dataset (default: the output of the configuration)")
	cmd.Flags().BoolVar(&standard, "standard", false, "lint by settings that are the same for each task of the language, and by none of the folder")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to run in: docker or bwrap (default: as the row says)")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of each linter")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` tasks at one time")
	return cmd
}

// linted is the result for scripts.
type linted struct {
	ID       string         `json:"instance_id"`
	Folder   string         `json:"folder"`
	Clean    bool           `json:"clean"`
	Files    int            `json:"files"`
	Tools    []string       `json:"tools"` // with their versions where they are ours
	Findings []lang.Finding `json:"findings"`
	// Standard are the settings where they are not the folder's; Suppressed are how many findings a comment suppresses then.
	Standard   *grade.Settings `json:"standard,omitempty"`
	Suppressed int             `json:"suppressed,omitempty"`
	// Tampered are the paths that were put back: they are the task's.
	Tampered []string       `json:"tampered,omitempty"`
	Limit    schemas.Reason `json:"limit,omitempty"`
	Detail   string         `json:"detail,omitempty"`
}

func (m machine) lint(ctx context.Context, dataset string, works []work, standard bool) (err error) {
	t, err := m.openTrial(dataset, works)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	tools, err := t.linters(ctx)
	if err != nil {
		return err
	}
	if err := t.begin(ctx); err != nil {
		return err
	}
	results, err := each(ctx, t, works, func(ctx context.Context, w work) (linted, error) {
		got, err := t.grader.Lint(ctx, w.id, w.read(ctx), grade.Linting{Programs: tools.programs, Standard: standard})
		out := linted{ID: w.id, Folder: filepath.Clean(w.folder), Clean: len(got.Findings) == 0 && got.Limit == "", Files: got.Files, Tools: []string{},
			Findings: got.Findings, Standard: got.Settings, Tampered: got.Tampered, Limit: got.Limit, Detail: got.Detail}
		for _, f := range got.Findings {
			if f.Suppressed {
				out.Suppressed++
			}
		}
		for _, name := range got.Tools {
			out.Tools = append(out.Tools, strings.TrimSpace(name+" "+tools.versions[name]))
		}
		return out, err
	})
	if err != nil {
		return err
	}
	clean := true
	for _, r := range results {
		clean = clean && r.Clean
	}
	return printEach(m.terminal, works, results, clean, showLinted)
}

// linters are the programs that lint, by their toolchains' names.
type linters struct {
	programs map[string][]byte
	versions map[string]string
}

// linters brings what the tasks' languages are linted with, or says at once all that cannot be
// had.
func (t *trial) linters(ctx context.Context) (linters, error) {
	out := linters{map[string][]byte{}, map[string]string{}}
	if err := t.useCache(ctx); err != nil {
		return out, &ended{exitUsage, err}
	}
	needs := map[string]lang.Need{}
	for _, r := range t.rows {
		linter, ok := plugins.Languages()[r.Benchmint.Language].(lang.Linter)
		if !ok {
			return out, unmet("%s: there is no linter for %s", r.InstanceID, r.Benchmint.Language)
		}
		for _, n := range linter.LintTools() {
			needs[n.Name] = n
		}
	}
	store := t.toolchains()
	var found []finding
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		b, ok := store.Brought(name)
		if !ok {
			return out, fmt.Errorf("no version of %s is known", name)
		}
		tool, err := store.Get(ctx, name, b.Version)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			found = append(found, finding{Name: name, State: stateMissing, Needed: true, Detail: err.Error(), Why: b.Why, Get: b.Get})
			continue
		}
		if out.programs[name], err = os.ReadFile(filepath.Join(tool.Dir, "bin", name)); err != nil {
			return out, err
		}
		out.versions[name] = b.Version
	}
	if problems := lacking(found); len(problems) > 0 {
		return out, &ended{exitUsage, problems}
	}
	return out, nil
}

func showLinted(t *printer, r linted) {
	for _, f := range r.Findings {
		suppressed := ""
		if f.Suppressed {
			suppressed = " (suppressed)"
		}
		t.line("%s:%d:%d: %s %s: %s%s", visible(f.Path), f.Line, f.Column, f.Tool, f.Rule, visible(f.Message), suppressed)
	}
	if len(r.Tampered) > 0 {
		t.line("put back   %s", visible(strings.Join(r.Tampered, ", ")))
	}
	if r.Limit != "" {
		t.line("%s  %s", t.in(red, string(r.Limit)), visible(r.Detail))
	}
	t.line("%s in %s (%s)", plural(len(r.Findings), "finding"), plural(r.Files, "file"), strings.Join(r.Tools, ", "))
	if r.Standard != nil {
		t.line("%d of them suppressed by comments; standard settings for %s, %s", r.Suppressed, r.Standard.Language, r.Standard.Digest)
	}
}
