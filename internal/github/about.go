package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/schemas"
)

// Answer is what GitHub says of one repository.
type Answer struct {
	Repository schemas.Forge
	// Releases are the newest, drafts included; MoreReleases says that there are older ones.
	Releases     []Release
	MoreReleases string
	// Pulls are the merged pull requests that were touched last, newest first; MorePulls
	// says that there are others.
	Pulls     []Pull
	MorePulls string
	Err       error // *Gone: the others are not harmed
}

// Release is one release, as it is announced.
type Release struct {
	Tag       string    `json:"tag"`
	Title     string    `json:"title,omitempty"`
	Body      string    `json:"body,omitempty"`
	Author    string    `json:"author,omitempty"`
	Draft     bool      `json:"draft,omitempty"`
	Pre       bool      `json:"pre,omitempty"`
	Published time.Time `json:"published,omitzero"`
}

// ByBot reports whether a program published the release: GitHub calls it so, or it is one of those that most repositories use.
func (r Release) ByBot() bool {
	name, bot := strings.CutSuffix(strings.ToLower(r.Author), "[bot]")
	return bot || slices.Contains([]string{"dependabot", "github-actions", "pre-commit-ci", "renovate"}, name)
}

// Pull is one pull request, and when it was touched last (by a comment as well).
type Pull struct {
	schemas.Pull
	Updated time.Time `json:"updated,omitzero"`
	Merged  time.Time `json:"merged,omitzero"` // zero: it was not
}

const (
	// AboutBatch is how many repositories one question asks of: 11,150 nodes, 5 points, and
	// what GitHub reads within its ten seconds.
	AboutBatch = 5
	pageSize   = 100
	// aboutParts are the connections that GitHub reads for one repository: languages, topics,
	// releases, pull requests, and the labels of each of these.
	aboutParts = 4 + pageSize
)

// points is GitHub's price of a question: a hundredth of the connections that are read, and
// at least one (docs.github.com, "Rate limits for the GraphQL API").
func points(connections int) int {
	const each, half = 100, 50
	return max(1, (connections+half)/each)
}

const fragments = `
fragment release on ReleaseConnection { pageInfo { hasNextPage endCursor } nodes { tagName name isDraft isPrerelease publishedAt description author { login } } }
fragment pull on PullRequest { number title body createdAt updatedAt mergedAt mergeCommit { oid } labels(first: 20) { nodes { name } } }
fragment pulls on PullRequestConnection { pageInfo { hasNextPage endCursor } nodes { ...pull } }
`

// aboutQuery asks of n repositories, each by variables of its own.
func aboutQuery(n int) string {
	var head, q strings.Builder
	for i := range n {
		fmt.Fprintf(&head, "$o%d: String!, $n%d: String!, ", i, i)
		fmt.Fprintf(&q, "  r%d: repository(owner: $o%d, name: $n%d) { ...about }\n", i, i, i)
	}
	return "query(" + strings.TrimSuffix(head.String(), ", ") + ") {\n" + q.String() + `  rateLimit { cost remaining resetAt }
}
fragment about on Repository {
  nameWithOwner isArchived isDisabled isEmpty isFork isTemplate isPrivate stargazerCount diskUsage pushedAt
  licenseInfo { spdxId }
  languages(first: 10, orderBy: {field: SIZE, direction: DESC}) { nodes { name } }
  repositoryTopics(first: 20) { nodes { topic { name } } }
  root: object(expression: "HEAD:") { ... on Tree { entries { name type } } }
  releases(first: 100, orderBy: {field: CREATED_AT, direction: DESC}) { ...release }
  pullRequests(states: MERGED, first: 100, orderBy: {field: UPDATED_AT, direction: DESC}) { ...pulls }
}
` + fragments
}

// The shapes of answers.
type (
	pageInfo struct {
		HasNextPage bool
		EndCursor   string
	}
	releasesNode struct {
		PageInfo pageInfo
		Nodes    []struct {
			TagName, Name, Description string
			IsDraft, IsPrerelease      bool
			PublishedAt                *time.Time
			Author                     *struct{ Login string }
		}
	}
	pullNode struct {
		Number      int
		Title, Body string
		CreatedAt   time.Time
		UpdatedAt   time.Time
		MergedAt    *time.Time
		MergeCommit *struct{ OID string }
		Labels      struct{ Nodes []struct{ Name string } }
	}
	pullsNode struct {
		PageInfo pageInfo
		Nodes    []pullNode
	}
	aboutNode struct {
		NameWithOwner                                                  string
		IsArchived, IsDisabled, IsEmpty, IsFork, IsTemplate, IsPrivate bool
		StargazerCount                                                 int
		DiskUsage                                                      *int64
		PushedAt                                                       *time.Time
		LicenseInfo                                                    *struct{ SpdxID string }
		Languages                                                      struct{ Nodes []struct{ Name string } }
		RepositoryTopics                                               struct {
			Nodes []struct{ Topic struct{ Name string } }
		}
		Root         *struct{ Entries []struct{ Name, Type string } }
		Releases     releasesNode
		PullRequests pullsNode
	}
)

func (p pageInfo) next() string {
	if p.HasNextPage {
		return p.EndCursor
	}
	return ""
}

func (r releasesNode) releases() []Release {
	var out []Release
	for _, n := range r.Nodes {
		r := Release{Tag: n.TagName, Title: text(n.Name), Body: text(n.Description), Draft: n.IsDraft, Pre: n.IsPrerelease}
		if n.PublishedAt != nil {
			r.Published = n.PublishedAt.UTC()
		}
		if n.Author != nil {
			r.Author = n.Author.Login
		}
		out = append(out, r)
	}
	return out
}

func (n pullNode) pull() Pull {
	p := Pull{Pull: schemas.Pull{Number: n.Number, Title: text(n.Title), Body: text(n.Body), OpenedAt: n.CreatedAt.UTC()}, Updated: n.UpdatedAt.UTC()}
	if n.MergedAt != nil {
		p.Merged = n.MergedAt.UTC()
	}
	if n.MergeCommit != nil {
		p.Merge = n.MergeCommit.OID
	}
	for _, l := range n.Labels.Nodes {
		p.Labels = append(p.Labels, text(l.Name))
	}
	return p
}

func (n pullsNode) pulls() []Pull {
	var out []Pull
	for _, p := range n.Nodes {
		out = append(out, p.pull())
	}
	return out
}

// text has lines end as git's do, since forms of a browser send CR LF, and holds no
// credential.
func text(s string) string { return secrets.Scrub(strings.ReplaceAll(s, "\r\n", "\n")) }

func (n aboutNode) answer() Answer {
	f := schemas.Forge{
		Name: n.NameWithOwner, Stars: n.StargazerCount, Archived: n.IsArchived, Fork: n.IsFork, Template: n.IsTemplate, Topics: []string{},
	}
	if n.DiskUsage != nil {
		f.Size = *n.DiskUsage << 10 // kilobytes there
	}
	if n.PushedAt != nil {
		f.Pushed = n.PushedAt.UTC()
	}
	if n.LicenseInfo != nil {
		f.Licence = n.LicenseInfo.SpdxID
	}
	for _, l := range n.Languages.Nodes {
		f.Languages = append(f.Languages, l.Name)
	}
	for _, t := range n.RepositoryTopics.Nodes {
		f.Topics = append(f.Topics, t.Topic.Name)
	}
	if n.Root != nil {
		f.Root = []string{}
		for _, e := range n.Root.Entries {
			name := e.Name
			if e.Type == "tree" {
				name += "/"
			}
			f.Root = append(f.Root, name)
		}
	}
	a := Answer{
		Repository: f, Releases: n.Releases.releases(), MoreReleases: n.Releases.PageInfo.next(),
		Pulls: n.PullRequests.pulls(), MorePulls: n.PullRequests.PageInfo.next(),
	}
	if n.IsDisabled || n.IsEmpty {
		a.Err = &Gone{f.Name, errors.New("it is disabled or empty")}
	}
	return a
}

// About asks of repositories by name, a few at a time. A name that leads nowhere has an
// Answer with its error. Errors of the whole: *Later, or a fault.
func (c *Client) About(ctx context.Context, names []string) (map[string]Answer, error) {
	out := map[string]Answer{}
	for chunk := range slices.Chunk(names, AboutBatch) {
		err := c.either(func() error {
			return halved(chunk, func(part []string) error { return c.oneGone(ctx, part, out) })
		}, func() error { return c.aboutREST(ctx, chunk, out) })
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// either asks by GraphQL, and by REST where GraphQL is not served.
func (c *Client) either(graph, rest func() error) error {
	c.mu.Lock()
	alone := c.rest
	c.mu.Unlock()
	if !alone {
		if err := graph(); !errors.Is(err, errNoGraphQL) {
			return err
		}
		c.mu.Lock()
		c.rest = true
		c.mu.Unlock()
	}
	return rest()
}

// oneGone asks of repositories where the whole question may be refused for one of them
// (blocked, forbidden): then each is asked for alone.
func (c *Client) oneGone(ctx context.Context, names []string, out map[string]Answer) error {
	err := c.about(ctx, names, out)
	var gone *Gone
	if !errors.As(err, &gone) {
		return err
	}
	if len(names) == 1 {
		out[names[0]] = Answer{Err: &Gone{names[0], gone.Err}}
		return nil
	}
	for _, name := range names {
		if err := c.oneGone(ctx, []string{name}, out); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) about(ctx context.Context, names []string, out map[string]Answer) error {
	variables := map[string]any{}
	for i, name := range names {
		variables[fmt.Sprintf("o%d", i)], variables[fmt.Sprintf("n%d", i)], _ = strings.Cut(name, "/")
	}
	var data map[string]json.RawMessage
	errs, err := c.graph(ctx, strings.Join(names, ", "), aboutQuery(len(names)), variables, &data)
	if err != nil {
		return err
	}
	for i, name := range names {
		alias := fmt.Sprintf("r%d", i)
		var n *aboutNode
		if raw, ok := data[alias]; ok && json.Unmarshal(raw, &n) != nil {
			return &Later{Err: errors.New("the answer is not what was asked for")}
		}
		if n != nil {
			out[name] = n.answer()
			continue
		}
		why := errors.New("the answer has no repository")
		for _, e := range errs {
			if e.alias(0) == alias {
				why = c.say(e.Message)
			}
		}
		out[name] = Answer{Err: &Gone{name, why}}
	}
	return nil
}

// aboutREST asks three times of each repository: of itself, its releases, its pull requests.
func (c *Client) aboutREST(ctx context.Context, names []string, out map[string]Answer) error {
	for _, name := range names {
		owner, repo, _ := strings.Cut(name, "/")
		var a Answer
		err := c.do(ctx, name, func(rest *github.Client) error {
			r, _, err := rest.Repositories.Get(ctx, owner, repo)
			if err != nil {
				return c.fault(ctx, name, err)
			}
			a.Repository = forgeOf(r)
			return nil
		})
		var gone *Gone
		if errors.As(err, &gone) {
			out[name] = Answer{Err: gone}
			continue
		}
		if err == nil {
			a.Releases, a.MoreReleases, err = c.releasesREST(ctx, name, "")
		}
		if err == nil {
			a.Pulls, a.MorePulls, err = c.recentREST(ctx, name, "")
		}
		if err != nil {
			return unheavy(err)
		}
		out[name] = a
	}
	return nil
}

// unheavy is what a question is that was too heavy, and cannot be halved.
func unheavy(err error) error {
	var heavy *heavyError
	if errors.As(err, &heavy) {
		return &Later{Err: heavy.err}
	}
	return err
}

func forgeOf(r *github.Repository) schemas.Forge {
	f := schemas.Forge{
		Name: r.GetFullName(), Stars: r.GetStargazersCount(), Size: int64(r.GetSize()) << 10, Archived: r.GetArchived(), Fork: r.GetFork(), Template: r.GetIsTemplate(),
		Topics: append([]string{}, r.Topics...), Licence: r.GetLicense().GetSPDXID(), Pushed: r.GetPushedAt().UTC(),
	}
	return f
}
