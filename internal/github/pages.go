package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Releases gives the page of releases after a cursor of this client.
func (c *Client) Releases(ctx context.Context, name, after string) (page []Release, more string, err error) {
	err = c.either(func() error {
		var data struct {
			Repository struct{ Releases releasesNode }
		}
		query := "query($owner: String!, $name: String!, $after: String) {\n  repository(owner: $owner, name: $name) { releases(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) { ...release } }\n  rateLimit { cost remaining resetAt }\n}" + fragment("release")
		if err := c.one(ctx, name, query, after, &data); err != nil {
			return err
		}
		page, more = data.Repository.Releases.releases(), data.Repository.Releases.PageInfo.next()
		return nil
	}, func() error {
		page, more, err = c.releasesREST(ctx, name, after)
		return unheavy(err)
	})
	return page, more, err
}

// Recent gives the page of merged pull requests after a cursor of this client, those that
// were touched last first.
func (c *Client) Recent(ctx context.Context, name, after string) (page []Pull, more string, err error) {
	err = c.either(func() error {
		var data struct {
			Repository struct{ PullRequests pullsNode }
		}
		query := "query($owner: String!, $name: String!, $after: String) {\n  repository(owner: $owner, name: $name) { pullRequests(states: MERGED, first: 100, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) { ...pulls } }\n  rateLimit { cost remaining resetAt }\n}" + fragment("pull", "pulls")
		if err := c.one(ctx, name, query, after, &data); err != nil {
			return err
		}
		page, more = data.Repository.PullRequests.pulls(), data.Repository.PullRequests.PageInfo.next()
		return nil
	}, func() error {
		page, more, err = c.recentREST(ctx, name, after)
		return unheavy(err)
	})
	return page, more, err
}

// fragment gives the fragments with these names; GitHub refuses one that nobody uses.
func fragment(names ...string) string {
	var out strings.Builder
	for line := range strings.Lines(fragments) {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains(names, f[1]) {
			out.WriteString("\n" + strings.TrimSpace(line))
		}
	}
	return out.String()
}

// one asks a question of one repository.
func (c *Client) one(ctx context.Context, name, query, after string, data any) error {
	variables := map[string]any{}
	variables["owner"], variables["name"], _ = strings.Cut(name, "/")
	if after != "" {
		variables["after"] = after
	}
	errs, err := c.graph(ctx, name, query, variables, data)
	if err != nil {
		return unheavy(err)
	}
	for _, e := range errs {
		return &Gone{name, c.say(e.Message)}
	}
	return nil
}

// pullBatch is how many pull requests one question asks for: 2,000 nodes, one point.
const pullBatch = 100

// pullsQuery asks for pull requests by number.
func pullsQuery(numbers []int) string {
	var q strings.Builder
	q.WriteString("query($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n")
	for _, n := range numbers {
		fmt.Fprintf(&q, "    p%d: pullRequest(number: %d) { ...pull }\n", n, n)
	}
	q.WriteString("  }\n  rateLimit { cost remaining resetAt }\n}" + fragment("pull"))
	return q.String()
}

// Pulls reads pull requests of owner/name by number. A number that is an issue, or nothing,
// is not among the answers. What was read before an error is given with it. Errors:
// *Later, *Gone, or a fault.
func (c *Client) Pulls(ctx context.Context, name string, numbers []int) (map[int]Pull, error) {
	out := map[int]Pull{}
	err := c.either(func() error {
		for chunk := range slices.Chunk(numbers, pullBatch) {
			if err := halved(chunk, func(part []int) error { return c.pulls(ctx, name, part, out) }); err != nil {
				return err
			}
		}
		return nil
	}, func() error { return unheavy(c.pullsREST(ctx, name, numbers, out)) })
	return out, err
}

func (c *Client) pulls(ctx context.Context, name string, numbers []int, out map[int]Pull) error {
	variables := map[string]any{}
	variables["owner"], variables["name"], _ = strings.Cut(name, "/")
	var data struct{ Repository map[string]*pullNode }
	errs, err := c.graph(ctx, name, pullsQuery(numbers), variables, &data)
	if err != nil {
		return err
	}
	for _, e := range errs {
		if e.alias(1) == "" { // of the repository, not of one number
			return &Gone{name, c.say(e.Message)}
		}
	}
	if data.Repository == nil {
		return &Gone{name, errors.New("the answer has no repository")}
	}
	for _, p := range data.Repository {
		if p != nil {
			out[p.Number] = p.pull()
		}
	}
	return nil
}

// page is the number of a page of REST that a cursor stands for.
func page(after string) int {
	n, err := strconv.Atoi(after)
	if err != nil {
		return 1
	}
	return n
}

func cursor(r *github.Response) string {
	if r.NextPage == 0 {
		return ""
	}
	return strconv.Itoa(r.NextPage)
}

func (c *Client) releasesREST(ctx context.Context, name, after string) (out []Release, more string, err error) {
	owner, repo, _ := strings.Cut(name, "/")
	err = c.do(ctx, name, func(rest *github.Client) error {
		all, resp, err := rest.Repositories.ListReleases(ctx, owner, repo, &github.ListOptions{Page: page(after), PerPage: pageSize})
		if err != nil {
			return c.fault(ctx, name, err)
		}
		out = nil
		for _, r := range all {
			out = append(out, Release{
				Tag: r.GetTagName(), Title: text(r.GetName()), Body: text(r.GetBody()), Author: r.GetAuthor().GetLogin(),
				Draft: r.GetDraft(), Pre: r.GetPrerelease(), Published: r.GetPublishedAt().UTC(),
			})
		}
		more = cursor(resp)
		return nil
	})
	return out, more, err
}

// recentREST lists closed pull requests: REST has no list of merged ones.
func (c *Client) recentREST(ctx context.Context, name, after string) (out []Pull, more string, err error) {
	owner, repo, _ := strings.Cut(name, "/")
	err = c.do(ctx, name, func(rest *github.Client) error {
		all, resp, err := rest.PullRequests.List(ctx, owner, repo, &github.PullRequestListOptions{
			State: "closed", Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{Page: page(after), PerPage: pageSize},
		})
		if err != nil {
			return c.fault(ctx, name, err)
		}
		out = nil
		for _, p := range all {
			if p.GetMergedAt().IsZero() {
				continue
			}
			pull := Pull{Updated: p.GetUpdatedAt().UTC(), Merged: p.GetMergedAt().UTC()}
			pull.OpenedAt = p.GetCreatedAt().UTC()
			pull.Number, pull.Title, pull.Body, pull.Merge = p.GetNumber(), text(p.GetTitle()), text(p.GetBody()), p.GetMergeCommitSHA()
			for _, l := range p.Labels {
				pull.Labels = append(pull.Labels, text(l.GetName()))
			}
			out = append(out, pull)
		}
		more = cursor(resp)
		return nil
	})
	return out, more, err
}

// pullsREST pages through the list until it has all numbers: a hundred a request, where one
// by one would be a hundred requests.
func (c *Client) pullsREST(ctx context.Context, name string, numbers []int, out map[int]Pull) error {
	missing := map[int]bool{}
	for _, n := range numbers {
		missing[n] = true
	}
	after := ""
	for pages := 0; len(missing) > 0 && pages < mostPages; pages++ {
		all, more, err := c.recentREST(ctx, name, after)
		if err != nil {
			return err
		}
		for _, p := range all {
			if missing[p.Number] {
				out[p.Number] = p
				delete(missing, p.Number)
			}
		}
		if after = more; after == "" {
			break
		}
	}
	return nil
}

// mostPages bounds how far lists are read: a repository has had 100,000 releases.
const mostPages = 10
