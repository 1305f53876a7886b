package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// The variables that say how GitHub is asked; those of GitHub's own programs.
const (
	githubToken  = "GITHUB_TOKEN"
	githubAPI    = "GITHUB_API_URL"
	githubServer = "GITHUB_SERVER_URL"
)

// needsGitHub makes the client of a run whose sources name repositories on GitHub or look
// for some, or says what it lacks. A list needs none: its repositories are fetched by git.
func (p *program) needsGitHub(c *config.Config) error {
	asks := func(s config.Source) bool { return s.GitHub != "" || s.Finds() && s.List == "" }
	i := slices.IndexFunc(c.Sources, asks)
	tokens := strings.FieldsFunc(p.lookup(githubToken), func(r rune) bool { return strings.ContainsRune(", \n", r) })
	lists := slices.ContainsFunc(c.Sources, func(s config.Source) bool { return s.List != "" })
	if i < 0 && (!lists || len(tokens) == 0) {
		return nil
	}
	if len(tokens) == 0 {
		key, instead := "github", ", or name the repository by git alone"
		if c.Sources[i].GitHub == "" {
			key, instead = "search", ", or name repositories by git (--repositories FILE, list)"
			if c.Sources[i].Preset != "" {
				key = "preset"
			}
		}
		return unmet("sources[%d].%s: GitHub answers with a token only: set %s%s (%s)", i, key, githubToken, instead, c.Origin(fmt.Sprintf("sources[%d].%s", i, key)))
	}
	client, err := github.New(cmp.Or(p.lookup(githubAPI), hosts.GitHubAPI), tokens, c.MaxRequests, p.now)
	if err != nil {
		return unmet("%s: %w", githubAPI, err)
	}
	p.github = github.NewLibrary(client, filepath.Join(p.cache, "github"))
	p.meter = p.newMeter()
	return nil
}

// onGitHub is the beginning of the addresses of repositories on GitHub.
func (p *program) onGitHub() string {
	if server := p.lookup(githubServer); server != "" {
		return strings.TrimRight(server, "/") + "/"
	}
	return hosts.GitHub
}

// counting asks GitHub of pull requests, and counts those that it was asked of.
type counting struct {
	*program
	*github.Library
}

// forge is who is asked; nil is nobody.
func (p *program) forge() stages.Forge {
	if p.github == nil {
		return nil
	}
	return counting{p, p.github}
}

// Pulls implements harvest.Pulls.
func (c counting) Pulls(ctx context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	before := c.Client().Spent()
	pulls, err := c.Library.Pulls(ctx, name, numbers)
	c.tell(name, fmt.Sprintf("%s of %s", plural(len(pulls), "pull request"), plural(len(numbers), "number")), len(numbers), before)
	return pulls, err
}

// Merged implements harvest.Pulls.
func (c counting) Merged(ctx context.Context, name string, since time.Time) (map[string]schemas.Pull, error) {
	before := c.Client().Spent()
	pulls, err := c.Library.Merged(ctx, name, since)
	c.tell(name, plural(len(pulls), "merged pull request"), 0, before)
	return pulls, err
}

// tell counts candidates, and says with -v what a repository cost.
func (c counting) tell(name, what string, candidates int, before github.Spent) {
	c.candidates.Add(int64(candidates))
	c.meter.hour()
	if after := c.Client().Spent(); c.verbose {
		c.say("  %s  %s: %s", name, what, plural(after.Requests-before.Requests, "request"))
	}
}

// planned answers from what is known alone, and adds up what the rest would cost.
type planned struct {
	*github.Library
	bill *github.Bill
}

// Pulls implements harvest.Pulls.
func (d planned) Pulls(_ context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	*d.bill = d.bill.Add(d.Price(name, numbers))
	return nil, nil
}

// Merged implements harvest.Pulls.
func (d planned) Merged(context.Context, string, time.Time) (map[string]schemas.Pull, error) {
	return nil, nil
}

// asked is what GitHub was asked, for the closing lines; "" for nothing.
func (p *program) asked() string {
	if p.github == nil {
		return ""
	}
	s := p.github.Client().Spent()
	if s.Requests == 0 {
		return ""
	}
	line := fmt.Sprintf("%s, %s", plural(s.Requests, "request"), plural(s.Points, "point"))
	if n := p.candidates.Load(); n > 0 {
		line += fmt.Sprintf("; %.3f requests a candidate", float64(s.Requests)/float64(n))
	}
	if s.Left >= 0 {
		line += fmt.Sprintf("; %d points left this hour", s.Left)
	}
	return line
}
