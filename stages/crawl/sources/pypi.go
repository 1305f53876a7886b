package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/toolchain"
)

// Index says what addresses projects of PyPI give. Errors: those of toolchain.Store.Links.
type Index interface {
	Links(ctx context.Context, name string) ([]toolchain.Link, error)
}

var _ Index = (*toolchain.Store)(nil)

// project is what is known of one project of PyPI: its repository and which of its addresses says
// so, or why it has none.
type project struct {
	Repository string `json:"repository,omitempty"` // owner/name on GitHub
	From       string `json:"from,omitempty"`
	None       string `json:"none,omitempty"`
}

const pypiKey = "pypi"

// foundOnPyPI are the repositories of an entry's projects, each once, in the order of the projects. A
// project is asked for once; a refresh asks again for those without a repository.
func (f *Finder) foundOnPyPI(ctx context.Context, src config.Source, known findings) ([]config.Listed, error) {
	names, err := config.ReadProjects(src.PyPI, src.Most)
	if err != nil {
		return nil, &RefusedError{Err: err}
	}
	have := known[pypiKey]
	if have.Projects == nil {
		have.Projects = map[string]project{}
	}
	var missing []string
	for i, name := range names {
		names[i] = normalName(name)
		if p, ok := have.Projects[names[i]]; (!ok || f.Again && p.Repository == "") && !slices.Contains(missing, names[i]) {
			missing = append(missing, names[i])
		}
	}
	if len(missing) > 0 {
		have.Asked = f.Now().UTC().Format(time.DateOnly)
		known[pypiKey] = have
		err := f.askIndex(ctx, missing, have.Projects)
		for _, name := range missing {
			if p := have.Projects[name]; p.None != "" {
				f.Say("pypi  %s left out: %s%s", name, p.None, f.meant(name, p, names))
			}
		}
		if err != nil { // what was learnt is there for the next run
			return nil, errors.Join(err, known.write(f.Folder))
		}
	}
	var found []config.Listed
	seen := map[string]bool{}
	for _, name := range names {
		at := have.Projects[name].Repository
		if at != "" && !seen[strings.ToLower(at)] {
			seen[strings.ToLower(at)] = true
			found = append(found, config.Listed{Name: at})
		}
	}
	if len(missing) > 0 {
		f.Say("pypi  %s, %s", plural(len(names), "project"), plural(len(found), "source"))
	}
	if len(found) == 0 {
		return nil, refuse("pypi: none of %s names a repository on GitHub", plural(len(names), "project"))
	}
	return found, nil
}

// askIndex asks for projects, a few at a time, until one is not answered.
func (f *Finder) askIndex(ctx context.Context, names []string, into map[string]project) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(looksAtOnce)
	var mu sync.Mutex
	done := 0
	for _, name := range names {
		g.Go(func() error {
			links, err := f.Index.Links(within, name)
			p := project{None: unknownProject}
			switch {
			case within.Err() != nil:
				return within.Err()
			case err == nil:
				p = f.repositoryOf(links)
			case !errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("pypi: %s: %w", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			into[name] = p
			done++
			f.Progress("asked of", done, len(names))
			return nil
		})
	}
	err := g.Wait()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return &RefusedError{Err: err, Later: errors.As(err, new(*toolchain.Unreachable))}
}

const unknownProject = "no index has a project of this name"

// meant is the name that was probably meant; "" where none is near.
func (f *Finder) meant(name string, p project, names []string) string {
	if p.None != unknownProject {
		return ""
	}
	if dist := f.Distribution(name); dist != name {
		return "; did you mean " + dist + "?"
	}
	return nearest.Hint(name, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name }))
}

// separators between the words of a project's name are all the same (PEP 503).
var separators = lazyregexp.New(`[-_.]+`)

func normalName(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// labels are what projects call the addresses that lead to their own repository, the surest
// first, without case and punctuation (PyPI's well-known labels and their aliases). An address of
// another label, such as documentation or funding, may be of another repository.
var labels = []string{
	"source", "repository", "sourcecode", "github", "code", "sources", "githubrepository", "githubrepo", "repo", "git", "development", "homepage", "home",
	"downloadurl", "download", "issues", "bugs", "issue", "tracker", "issuetracker", "bugtracker", "bugreports", "changelog", "changes", "releasenotes", "whatsnew", "history",
}

var punctuation = lazyregexp.New(`[^a-z0-9]+`)

func rank(label string) int {
	return slices.Index(labels, punctuation.ReplaceAllString(strings.ToLower(label), ""))
}

// repositoryOf chooses the address that says where the code of a project is.
func (f *Finder) repositoryOf(links []toolchain.Link) project {
	links = slices.DeleteFunc(slices.Clone(links), func(l toolchain.Link) bool { return rank(l.Label) < 0 })
	slices.SortStableFunc(links, func(a, b toolchain.Link) int { return cmp.Compare(rank(a.Label), rank(b.Label)) })
	for _, l := range links {
		if name := f.repositoryAt(l.URL); name != "" {
			return project{Repository: name, From: l.Label + " " + l.URL}
		}
	}
	if len(links) == 0 {
		return project{None: "its metadata gives no address of its code"}
	}
	return project{None: fmt.Sprintf("no address of its metadata is a repository on GitHub (%s %s); where its code is in git, name it by git", links[0].Label, links[0].URL)}
}

// notOwners are the first segments of GitHub's own pages.
var notOwners = []string{"about", "apps", "collections", "contact", "customer-stories", "enterprise", "explore", "features", "login", "marketplace", "orgs", "pricing", "search", "settings", "sponsors", "topics", "trending", "users"}

// repositoryAt is the owner/name that an address on GitHub lies in, such as
// https://github.com/acme/widget/tree/main/sub; "" where it lies in none.
func (f *Finder) repositoryAt(address string) string {
	address = strings.TrimPrefix(strings.TrimSpace(address), "git+")
	if rest, ok := strings.CutPrefix(address, "git@"); ok {
		address = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	at, err := url.Parse(address)
	if err != nil || !f.isGitHub(at.Hostname()) {
		return ""
	}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	if len(parts) < 2 || slices.Contains(notOwners, strings.ToLower(parts[0])) {
		return ""
	}
	name := parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
	if !OwnerName.MatchString(name) || strings.Trim(name[len(parts[0])+1:], ".") == "" {
		return ""
	}
	return name
}

// isGitHub reports whether a host is GitHub's, or the one that this run has for it.
func (f *Finder) isGitHub(host string) bool {
	for _, server := range []string{hosts.GitHub, f.Server} {
		if at, err := url.Parse(server); err == nil && host != "" && strings.EqualFold(strings.TrimPrefix(host, "www."), at.Hostname()) {
			return true
		}
	}
	return false
}
