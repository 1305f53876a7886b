// Package survey turns a source into groups of endpoints that service tasks are made of: it
// starts a web service by rule, has it tell its routes, and records what it answers, group by group.
//
// What a group lacks to become a task is said in its record, and rejected by the stage that
// makes its start, so that each group has its end. An expected value always comes from a
// recording, and the package never runs anything of a service outside of a sandbox.
package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/scenario"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is part of the stage's fingerprint.
const Version = "7, " + secrets.RulesVersion

// Config is the stage's settings (service in the configuration file).
type Config struct {
	Frameworks   []string `json:"frameworks"` // whose services are taken; empty is every one that is read
	Languages    []string `json:"languages"`  // of the code
	MinAnswered  float64  `json:"min_answered"`
	MinEndpoints int      `json:"min_endpoints"`
	WalkBack     int      `json:"walk_back"` // earlier commits that are tried
	// Env asks for the environment variant of each group, too.
	Env bool `json:"env,omitempty"`
	// Bare leaves the notes out of what the environment variant is asked for.
	Bare bool `json:"bare,omitempty"`
	// Allow are findings of package secrets that are known to be none.
	Allow secrets.Allow `json:"allow,omitempty"`
}

// Default is what holds where nothing is configured.
func Default() Config { return Config{MinAnswered: 0.6, MinEndpoints: 2, WalkBack: 10} }

// Timeout bounds a survey: at each commit an environment, and recordings of each group.
func (c Config) Timeout(l sandbox.Limits) time.Duration {
	return time.Duration(c.WalkBack+1) * (ends.Timeout + 2*l.Filled().Timeout)
}

// Repositories opens sources.
type Repositories interface {
	Open(ctx context.Context, r schemas.Repo) (repo *gitrepo.Repo, release func(), err error)
}

// Blobs keeps suites.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
}

// Starter starts the service of a commit, as often as its Server is asked to.
type Starter interface {
	// Start builds the service of a framework, by the recipe that it gives, and has it tell its table. Its layers are there
	// until stop, which is to be called where there is no error.
	Start(ctx context.Context, p Commit, framework string) (s Started, stop func() error, err error)
	// Variant is what the environment variant of a recipe asks for, and the files of its solution.
	Variant(r schemas.Recipe) (d schemas.Deploy, files []byte, err error)
}

// Started is a service that gets ready.
type Started struct {
	Server contract.Server // as a task has it
	Look   contract.Server // with a hook in it (package look)
	Recipe schemas.Recipe
	Table  routes.Table // as the service told it
}

// Commit is one commit that is looked at.
type Commit struct {
	Repo     schemas.Repo
	Release  schemas.Release
	Language string
	Tree     *tree.Tree
}

// Surveyor is the stage.
type Surveyor struct {
	repos   Repositories
	starter Starter
	blobs   Blobs
	config  Config
	scanned secrets.Trees
	model   *Model // asked for further requests; nil is nobody
}

var _ pipeline.Expander[schemas.Crawled, schemas.Cut] = (*Surveyor)(nil)

// New makes the stage.
func New(repos Repositories, starter Starter, blobs Blobs, c Config) *Surveyor {
	return &Surveyor{repos: repos, starter: starter, blobs: blobs, config: c}
}

// Run gives the groups of the newest commit of a source that has one to make a task of: its
// head, or one of a few before it. Where none has, it gives those of the newest commit whose
// service starts, each with what it lacks. Rejections: every reason of survey/ that is about the
// whole service.
func (s *Surveyor) Run(ctx context.Context, in schemas.Crawled) ([]schemas.Cut, error) {
	pipeline.Doing(ctx, "opening the repository, or fetching it")
	repo, release, err := s.repos.Open(ctx, in.Source.Repo)
	if errors.Is(err, gitrepo.ErrRemote) {
		return nil, &pipeline.Deferred{Resource: "git", Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	commits, wanted := s.commits(in, repo)
	var first []schemas.Cut
	var why error
	for n, r := range commits {
		pipeline.Doing(ctx, "commit %d of %d, %s, reading which framework it is written with", n+1, len(commits), r.Tag)
		cuts, err := s.commit(ctx, in.Source, repo, r, wanted)
		var rejected *pipeline.Rejected
		switch {
		case errors.As(err, &rejected):
			if why == nil {
				why = err
			}
			if !later(rejected.Reason) {
				return nil, err
			}
		case err != nil:
			return nil, err
		case slices.ContainsFunc(cuts, func(c schemas.Cut) bool { return c.Group.Refused == "" }):
			return cuts, nil
		case first == nil:
			first = cuts
		}
	}
	if first == nil && why != nil {
		return nil, why
	}
	return first, nil
}

// later reports whether an earlier commit may do better: one that starts, or that builds.
func later(r schemas.Reason) bool {
	return slices.Contains([]schemas.Reason{schemas.NotStarted, schemas.SilentGroup, schemas.NoBuild, schemas.Unresolvable, schemas.NoBoot}, r)
}

// commits are those to look at, the newest first, and the groups that are asked for; nil is all.
func (s *Surveyor) commits(in schemas.Crawled, repo *gitrepo.Repo) (commits []schemas.Release, groups []choice) {
	line := repo.Line()
	name := in.Source.Repo.Name
	tags := map[string]schemas.Release{}
	for _, r := range in.Releases {
		if _, ok := tags[r.Commit]; !ok {
			tags[r.Commit] = r
		}
	}
	for _, only := range in.Source.Only {
		if tag, group, ok := ofTask(only); ok {
			only, groups = tag, append(groups, group)
		}
		at := slices.IndexFunc(line, func(l gitrepo.Landed) bool {
			return len(only) >= shortest && strings.HasPrefix(l.Commit, strings.ToLower(only))
		})
		tagged := slices.IndexFunc(in.Releases, func(r schemas.Release) bool { return r.Tag == only })
		switch {
		case tagged >= 0:
			commits = append(commits, in.Releases[tagged])
		case at >= 0:
			commits = append(commits, released(name, line[at], tags))
		default:
			groups = append(groups, choice{group: only, any: true})
		}
	}
	if len(commits) > 0 {
		return commits, groups
	}
	for _, l := range line[:min(len(line), s.config.WalkBack+1)] {
		commits = append(commits, released(name, l, tags))
	}
	return commits, groups
}

// ofTask reads the key of a service task, TAG.GROUP.service[.env].
func ofTask(only string) (tag string, group choice, ok bool) {
	rest, variant, ok := schemas.CutService(only)
	if !ok {
		return "", group, false
	}
	at := strings.LastIndexByte(rest, '.')
	if at < 1 {
		return "", group, false
	}
	tag, group = rest[:at], choice{group: rest[at+1:], variant: variant}
	if commit, is := strings.CutPrefix(tag, "c"); is && untagged.MatchString(tag) {
		tag = commit
	}
	return tag, group, true
}

var untagged = lazyregexp.New(`^c[0-9a-f]{12}$`)

// shortest is how many digits of a commit name one.
const shortest = 7

// released is a commit as a release: by its tag, or by c and the first digits of the commit.
func released(repo string, l gitrepo.Landed, tags map[string]schemas.Release) schemas.Release {
	if r, ok := tags[l.Commit]; ok {
		return r
	}
	return schemas.Untagged(repo, l.Commit, l.At)
}

// commit surveys one commit.
func (s *Surveyor) commit(ctx context.Context, src schemas.Source, repo *gitrepo.Repo, r schemas.Release, wanted []choice) (_ []schemas.Cut, err error) {
	t, err := repo.Tree(ctx, r.Commit)
	if err != nil {
		return nil, ends.OfTree(err)
	}
	language, guess, err := s.gate(t)
	if err != nil {
		return nil, err
	}
	if found := s.config.Allow.Without(s.scanned.Scan(t, parts.Rules{}.Tests(t))); len(found) > 0 {
		return nil, pipeline.Reject(schemas.HoldsSecret, "%s", secrets.Tell("base tree", found))
	}
	c := Commit{Repo: src.Repo, Release: r, Language: language, Tree: t}
	started, stop, err := s.starter.Start(ctx, c, guess.Framework)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	table, recipe := started.Table, started.Recipe
	if err := s.fits(table.Framework); err != nil {
		return nil, err
	}
	if err := known(wanted, table); err != nil {
		return nil, err
	}
	cut := func(all []schemas.Group, deploy *schemas.Deploy) []schemas.Cut {
		return s.cuts(schemas.Cut{Repo: src.Repo.Name, RepoRoot: src.Repo.Root, Licence: src.Repo.Licence, Category: src.Category, CategoryBy: src.CategoryBy, Release: r}, all, deploy, wanted)
	}
	var variant *schemas.Deploy
	if s.config.Env {
		variant = &schemas.Deploy{}
	}
	declared := cut(s.declared(table), variant)
	if !slices.ContainsFunc(declared, func(c schemas.Cut) bool { return c.Group.Refused == "" }) {
		return declared, nil // whatever the service answers
	}
	o := scenario.Options{Look: started.Look, Login: recipe.Service.Login, Mail: recipe.Service.Needs(schemas.BrokerSMTP), Addresses: addresses(t), Probes: probes(table), Progress: func(done, of int, group string) {
		if done == of {
			return
		}
		pipeline.Doing(ctx, "%s, recording group %d of %d, %s", r.Tag, done+1, of, group)
	}}
	model := s.proposals(c, table.Framework)
	if model != nil {
		o.Proposer = model
	}
	recording, err := scenario.Record(ctx, table, started.Server, o)
	var not *contract.NotReady
	if errors.As(err, &not) {
		return nil, pipeline.Reject(schemas.NotStarted, "%s", unready(not, recipe))
	}
	var deferred *pipeline.Deferred
	if errors.As(err, &deferred) { // the model cannot be asked now
		return nil, deferred
	}
	if err != nil {
		return nil, fmt.Errorf("recording the service: %w", err)
	}
	table.Routes = recording.Routes
	found, err := s.groups(table, recording, model)
	if err != nil {
		return nil, err
	}
	kept, deploy, err := s.kept(recipe)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Recipe = kept
	}
	return cut(found, deploy), nil
}

// cuts are those of groups that are asked for. of is what all have in common; deploy is nil where no environment variant is made.
func (s *Surveyor) cuts(of schemas.Cut, all []schemas.Group, deploy *schemas.Deploy, wanted []choice) (cuts []schemas.Cut) {
	for _, g := range all {
		c := of
		c.Profile, c.Group = "strict", &g
		c.Slice = &schemas.Slice{Name: g.Name, Handlers: g.Handlers()}
		env := asks(wanted, g.Name, schemas.VariantEnv)
		if asks(wanted, g.Name, "") || env && g.Refused != "" {
			cuts = append(cuts, c)
		}
		if c.Deploy = deploy; deploy != nil && g.Refused == "" && env {
			cuts = append(cuts, c)
		}
	}
	return cuts
}

// kept keeps the recipe of a service, and makes its environment variant where one is asked for.
func (s *Surveyor) kept(r schemas.Recipe) (recipe schemas.Digest, d *schemas.Deploy, err error) {
	variant := s.config.Env && !r.Service.Needs(schemas.BrokerSMTP)
	if s.config.Env && !variant {
		r.Evidence = append(slices.Clone(r.Evidence), schemas.Evidence{Field: "service.env", Value: "no task with the solver's environment", Source: "it has no sink whose mails the cases could read"})
	}
	raw, err := schemas.Canonical(r)
	if err != nil {
		return "", nil, fmt.Errorf("writing the recipe of a service: %w", err)
	}
	if recipe, err = s.blobs.Put(raw); err != nil {
		return "", nil, fmt.Errorf("keeping the recipe of a service: %w", err)
	}
	if !variant {
		return recipe, nil, nil
	}
	deploy, files, err := s.starter.Variant(r)
	if err != nil {
		return "", nil, err
	}
	deploy.Bare = s.config.Bare
	if deploy.Files, err = s.blobs.Put(files); err != nil {
		return "", nil, fmt.Errorf("keeping the environment of a service: %w", err)
	}
	return recipe, &deploy, nil
}

// choice is one entry of Source.Only that names a group.
type choice struct {
	group string
	// variant is that of the entry where it is the key of a task; any else.
	variant string
	any     bool
}

// asks reports whether entries ask for a group's task; none ask for all.
func asks(wanted []choice, group, variant string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(c choice) bool { return c.group == group && (c.any || c.variant == variant) })
}

// Groups are the names of the groups that the code of a tree seems to declare, sorted; none where no framework of the
// configuration is imported. Nothing is started for it: the service may have others.
func Groups(t routes.Tree, c Config) ([]string, error) {
	_, guess, err := (&Surveyor{config: c}).gate(t)
	if errors.As(err, new(*pipeline.Rejected)) {
		return nil, nil
	}
	return guess.Groups, err
}

// names are the groups of a table, sorted.
func names(table routes.Table) []string {
	var out []string
	for _, r := range table.Routes {
		if g := contract.GroupName(r.Group()); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}

// known names the group that was probably meant where one is asked for that the service does
// not have.
func known(wanted []choice, table routes.Table) error {
	all := names(table)
	for _, w := range wanted {
		if !slices.Contains(all, w.group) {
			return pipeline.Reject(schemas.SmallGroup, "there is no group %s%s", w.group, nearest.Hint(w.group, all))
		}
	}
	return nil
}

// gate is the language whose code declares most routes, and its framework.
func (s *Surveyor) gate(t routes.Tree) (language string, best routes.Guess, err error) {
	for _, l := range s.config.Languages {
		g := routes.Gate(t, l)
		if language == "" || g.Hooked && !best.Hooked || g.Hooked == best.Hooked && (g.Declared > best.Declared || best.Framework == "") {
			language, best = l, g
		}
	}
	switch {
	case best.Framework == "" || best.Hooked && best.Declared == 0:
		return "", best, pipeline.Reject(schemas.NoFramework, "no web framework declares an endpoint in %s", strings.Join(s.config.Languages, " or "))
	case !best.Hooked:
		return "", best, pipeline.Reject(schemas.NoFramework, "it is written with %s, whose services do not tell their routes", best.Framework)
	}
	return language, best, s.fits(best.Framework)
}

// fits refuses a framework that is not asked for.
func (s *Surveyor) fits(framework string) error {
	if len(s.config.Frameworks) > 0 && !slices.Contains(s.config.Frameworks, framework) {
		return pipeline.Reject(schemas.NoFramework, "it is written with %s, and service.frameworks asks for %s", framework, strings.Join(s.config.Frameworks, ", "))
	}
	return nil
}
