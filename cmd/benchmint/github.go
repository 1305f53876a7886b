package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/stages/harvest"
)

// The variables that say how GitHub is asked; those of GitHub's own programs.
const (
	githubToken = "GITHUB_TOKEN"
	githubAPI   = "GITHUB_API_URL"
)

// needsGitHub makes the client of a run whose sources name repositories on GitHub, or says
// what it lacks.
func (p *program) needsGitHub(c *config.Config) error {
	i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.GitHub != "" })
	if i < 0 {
		return nil
	}
	token := p.lookup(githubToken)
	if token == "" {
		return unmet("sources[%d].github: GitHub answers with a token only: set %s, or name the repository by git alone (%s)", i, githubToken, c.Origin(fmt.Sprintf("sources[%d].github", i)))
	}
	client, err := github.New(cmp.Or(p.lookup(githubAPI), hosts.GitHubAPI), token, p.now)
	if err != nil {
		return unmet("%s: %w", githubAPI, err)
	}
	p.github = client
	return nil
}

// pulls is who is asked; nil is nobody.
func (p *program) pulls() harvest.Pulls {
	if p.github == nil {
		return nil
	}
	return p.github
}

// asked is what GitHub was asked, for the closing lines; "" for nothing.
func (p *program) asked() string {
	if p.github == nil {
		return ""
	}
	s := p.github.Spent()
	if s.Requests == 0 {
		return ""
	}
	line := fmt.Sprintf("%s, %s", plural(s.Requests, "request"), plural(s.Points, "point"))
	if s.Left >= 0 {
		line += fmt.Sprintf("; %d left this hour", s.Left)
	}
	return line
}
