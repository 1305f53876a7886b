// Command price measures what models cost, before anybody is asked: it renders the
// questions of real changes and prices them.
//
//	go run ./bench/price -most 50 -valid 0.2 REPOSITORY…
//
// It reads the newest commits of each repository's main line that change code and tests.
// The label of one is asked where the rules find nothing explicit; the statement of each
// that is valid (-valid is their share, as a run over these repositories had it) with its
// review, and both again where the first is refused (-again). -repairs are the recipes that
// a model is asked to mend, for each valid task. Tokens are bounds, at 4.33 and 3.07 bytes each,
// which is what tokenizers made of changelogs and diffs. Prices are list prices of November
// 2026, in dollars per million tokens.
//
// It never asks a model.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/classify"
)

// models are cheap ones of three makers.
var models = []struct {
	name          string
	input, output float64
}{{"gpt-6-luna", 0.10, 0.50}, {"deepseek-flash, off-peak", 0.15, 0.60}, {"gemini-3.5-flash-lite", 0.30, 2.50}}

// Tokens of an answer, as people wrote samples of them.
const (
	labelTokens     = 80
	statementTokens = 450
	reviewTokens    = 150
	repairTokens    = 80
	repairBytes     = 18 << 10 // of a question: the end of a log, build files, a recipe
)

func main() {
	most := flag.Int("most", 50, "how many changes of each repository are read")
	valid := flag.Float64("valid", 0.2, "share of the changes that become tasks")
	again := flag.Float64("again", 0.8, "statements that are asked for again, of each valid task")
	repairs := flag.Float64("repairs", 0, "recipes that are to be mended, for each valid task")
	flag.Parse()
	var all sizes
	for _, repo := range flag.Args() {
		if err := all.read(repo, *most); err != nil {
			fmt.Fprintln(os.Stderr, "price:", err)
			os.Exit(2)
		}
	}
	all.print(*valid, *again, *repairs)
}

// sizes are the questions of all changes.
type sizes struct {
	changes, labels                    int
	labelBytes, textBytes, reviewBytes int
}

func (s *sizes) read(repo string, most int) error {
	out, err := exec.Command("git", "-C", repo, "log", "--first-parent", fmt.Sprintf("-%d", 4*most), "--name-only", "--format=%x01%H%x00%s%x00%b%x00", "HEAD").Output() //nolint:gosec // the operator's repository
	if err != nil {
		return fmt.Errorf("%s: %w", repo, err)
	}
	for _, record := range strings.Split(string(out), "\x01") {
		part := strings.SplitN(record, "\x00", 4)
		if len(part) != 4 || most == 0 {
			continue
		}
		var code []string
		tests := false
		for _, f := range strings.Fields(part[3]) {
			switch {
			case strings.Contains(f, "test"):
				tests = true
			case strings.HasSuffix(f, ".py") || strings.HasSuffix(f, ".go"):
				code = append(code, f)
			}
		}
		if !tests || len(code) == 0 {
			continue
		}
		most--
		patch, err := exec.Command("git", "-C", repo, "show", "--format=", "--first-parent", part[0], "--").Output() //nolint:gosec // likewise
		if err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		if err := s.add(schemas.Change{Repo: "owner/name", Commit: part[0], Subject: part[1], Body: part[2]}, code, string(patch)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sizes) add(c schemas.Change, code []string, patch string) error {
	s.changes++
	_, evidence, err := classify.Rules{}.Decide(context.Background(), c, schemas.Start{})
	if err != nil {
		return err
	}
	label, err := prompts.Classify.Render(prompts.ClassifyInput{Repository: c.Repo, Subject: c.Subject, Body: c.Body, Files: code})
	if err != nil {
		return err
	}
	if !classify.Explicit(evidence) {
		s.labels++
		s.labelBytes += length(label)
	}
	tests, rest := split(patch)
	text, err := prompts.Describe.Render(prompts.DescribeInput{Repository: c.Repo, Subject: c.Subject, Body: c.Body, TestChanges: tests})
	if err != nil {
		return err
	}
	s.textBytes += length(text)
	review, err := prompts.Review.Render(prompts.ReviewInput{Repository: c.Repo, Statement: strings.Repeat("x", 4*statementTokens), TestChanges: tests, Change: rest})
	s.reviewBytes += length(review)
	return err
}

// split is the diff of the tests, and of the rest, as much of each as a question holds.
func split(patch string) (tests, rest string) {
	const most = 16 << 10
	for i, file := range strings.Split("\n"+patch, "\ndiff --git ") {
		name, _, _ := strings.Cut(file, "\n")
		switch {
		case i == 0:
		case strings.Contains(name, "test"):
			tests += "diff --git " + file + "\n"
		default:
			rest += "diff --git " + file + "\n"
		}
	}
	return strings.ToValidUTF8(tests[:min(most, len(tests))], ""), strings.ToValidUTF8(rest[:min(most, len(rest))], "")
}

func length(t prompts.Text) int { return len(t.System) + len(t.Material) + len(t.Question) }

func (s *sizes) print(valid, again, repairs float64) {
	if s.changes == 0 {
		fmt.Println("no change with code and tests")
		return
	}
	fmt.Printf("changes with code and tests      %d\n", s.changes)
	fmt.Printf("labels that rules leave open     %d (%.0f %%)\n", s.labels, 100*float64(s.labels)/float64(s.changes))
	fmt.Printf("bytes of a question, mean        label %d, statement %d, review %d\n", s.labelBytes/max(1, s.labels), s.textBytes/s.changes, s.reviewBytes/s.changes)
	perTask := float64(s.labels) / float64(s.changes) / valid
	fmt.Printf("questions for each valid task    %.1f labels, %.1f statements and as many reviews, %.1f repairs\n", perTask, 1+again, repairs)
	for _, m := range models {
		low, high := s.dollars(m.input, m.output, 4.33, perTask, 1+again, repairs), s.dollars(m.input, m.output, 3.07, perTask, 1+again, repairs)
		fmt.Printf("dollars for each valid task      %.4f to %.4f  %s\n", low, high, m.name)
	}
}

// dollars is what one valid task costs, at so many bytes a token.
func (s *sizes) dollars(input, output, bytes, labels, statements, repairs float64) float64 {
	in := labels*float64(s.labelBytes)/float64(max(1, s.labels)) + statements*float64(s.textBytes+s.reviewBytes)/float64(s.changes) + repairs*repairBytes
	return (in/bytes*input + (labels*labelTokens+statements*(statementTokens+reviewTokens)+repairs*repairTokens)*output) / 1e6
}
