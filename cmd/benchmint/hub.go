package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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

// hub asks GitHub, and counts what it asked.
type hub struct {
	*terminal
	library *github.Library // nil where a run asks nothing
	// candidates counts the pull requests that it was asked of.
	candidates atomic.Int64
	// meter says during a run what is left of GitHub's hour.
	meter *meter
}

// open makes the client of a run whose sources name repositories on GitHub or look
// for some, or says what it lacks. A list and projects of PyPI need none: their repositories are fetched by git.
func (h *hub) open(c *config.Config) error {
	asks := func(s config.Source) bool { return s.GitHub != "" || s.Searches() }
	i := slices.IndexFunc(c.Sources, asks)
	tokens := strings.FieldsFunc(h.lookup(githubToken), func(r rune) bool { return strings.ContainsRune(", \n", r) })
	lists := slices.ContainsFunc(c.Sources, func(s config.Source) bool { return s.Finds() })
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
	client, err := github.New(cmp.Or(h.lookup(githubAPI), hosts.GitHubAPI), tokens, c.MaxRequests, h.now)
	if err != nil {
		return unmet("%s: %w", githubAPI, err)
	}
	h.library = github.NewLibrary(client, filepath.Join(h.cache, "github"))
	h.library.Before = c.AsOf.Time
	h.meter = newMeter(h)
	return nil
}

// server is the beginning of the addresses of repositories on GitHub.
func (h *hub) server() string {
	if server := h.lookup(githubServer); server != "" {
		return strings.TrimRight(server, "/") + "/"
	}
	return hosts.GitHub
}

// counting asks GitHub of pull requests, and counts those that it was asked of.
type counting struct {
	*hub
	*github.Library
}

// forge is who is asked; nil is nobody.
func (h *hub) forge() stages.Forge {
	if h.library == nil {
		return nil
	}
	return counting{h, h.library}
}

// Pulls implements pulls.Forge.
func (c counting) Pulls(ctx context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	before := c.Client().Spent()
	pulls, err := c.Library.Pulls(ctx, name, numbers)
	c.note(name, fmt.Sprintf("%s of %s", plural(len(pulls), "pull request"), plural(len(numbers), "number")), len(numbers), before)
	return pulls, err
}

// Merged implements pulls.Forge.
func (c counting) Merged(ctx context.Context, name string, since time.Time) (map[string]schemas.Pull, error) {
	before := c.Client().Spent()
	pulls, err := c.Library.Merged(ctx, name, since)
	c.note(name, plural(len(pulls), "merged pull request"), 0, before)
	return pulls, err
}

// note counts candidates, and says with -v what a repository cost.
func (c counting) note(name, what string, candidates int, before github.Spent) {
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

// Pulls implements pulls.Forge.
func (d planned) Pulls(_ context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	*d.bill = d.bill.Add(d.Price(name, numbers))
	return nil, nil
}

// Merged implements pulls.Forge.
func (d planned) Merged(context.Context, string, time.Time) (map[string]schemas.Pull, error) {
	return nil, nil
}

// spent is what GitHub was asked, for the closing lines; "" for nothing.
func (h *hub) spent() string {
	if h.library == nil {
		return ""
	}
	s := h.library.Client().Spent()
	if s.Requests == 0 {
		return ""
	}
	line := fmt.Sprintf("%s, %s", plural(s.Requests, "request"), plural(s.Points, "point"))
	if n := h.candidates.Load(); n > 0 {
		line += fmt.Sprintf("; %.3f requests a candidate", float64(s.Requests)/float64(n))
	}
	if s.Left >= 0 {
		line += fmt.Sprintf("; %d points left this hour", s.Left)
	}
	return line
}
