package harvest_test

import (
	"context"
	"flag"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/harvest"
)

var (
	repository   = flag.String("repository", "", "a repository whose notes BenchmarkRealNotes shows")
	realName     = flag.String("name", "", "its owner/name; empty: of the folder owner+name, else as git has it")
	realSince    = flag.String("since", "", "YYYY-MM-DD")
	onlyCounts   = flag.Bool("quiet", false, "only the counts")
	realUnlinked = flag.Bool("unlinked", false, "entries at the head that no change has, one a line")
	realEntries  = flag.Bool("entries", false, "entries at the head with the changes that have them")
	realLabels   = flag.Bool("labels", false, "labels with the headings hidden against the headings")
)

// BenchmarkRealNotes shows what release notes of a repository come to: each change with its release and its notes, and how
// each was tied to it; then, for the changelogs as they stand at the head, how many entries were given to a change, and
// how many of the numbers written in them were read. With -labels, what the classifier says of changes without their
// headings is held against the headings; -quiet leaves out where they differ.
//
//	go test ./stages/harvest -run - -bench RealNotes -benchtime 1x -repository FOLDER
func BenchmarkRealNotes(b *testing.B) {
	if *repository == "" {
		b.Skip("no -repository is given")
	}
	o := options{source: *repository, name: *realName, since: *realSince, quiet: *onlyCounts, unlinked: *realUnlinked, entries: *realEntries}
	if *realLabels {
		o.labels = labels{}
	}
	if err := o.run(b.Context()); err != nil {
		b.Fatal(err)
	}
	if *realLabels {
		o.labels.print()
	}
}

type options struct {
	source, name, since string
	quiet, unlinked     bool
	entries             bool
	labels              labels // nil: not asked for
}

// only is a world of one repository.
type only struct{ *gitrepo.Repo }

func (o only) Open(context.Context, schemas.Repo) (*gitrepo.Repo, func(), error) {
	return o.Repo, func() {}, nil
}

func (o options) run(ctx context.Context) error {
	name := o.name
	if dir := path.Base(strings.TrimSuffix(filepath.ToSlash(o.source), "/repo")); name == "" && strings.Contains(dir, "+") {
		name = strings.Replace(dir, "+", "/", 1)
	}
	repo, err := gitrepo.Open(ctx, o.source, name, "")
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	releases, err := repo.Releases(ctx)
	if err != nil {
		return err
	}
	source := schemas.Source{Git: o.source, Repo: repo.Info(), Since: o.since}
	changes, err := harvest.New(only{repo}, nil).Run(ctx, schemas.Crawled{Source: source, Releases: releases})
	if err != nil {
		return err
	}
	if !o.quiet && o.labels == nil {
		for _, c := range changes {
			showChange(c)
		}
	}
	if o.labels != nil {
		told, same, err := o.labels.add(ctx, changes, o.quiet)
		fmt.Printf("%s: %d told by a heading, %d the same\n", repo.Info().Name, told, same)
		return err
	}
	return o.count(ctx, repo, releases, changes)
}

func showChange(c schemas.Change) {
	fmt.Printf("%.12s #%d %s [%s] %s\n", c.Commit, c.Number, c.CommittedAt.Format("2006-01-02"), c.Release, c.Subject)
	if c.Twin != "" {
		fmt.Printf("  twin of %s\n", c.Twin)
	}
	for _, n := range c.Notes {
		var refs []string
		for _, r := range n.References {
			refs = append(refs, r.Text)
		}
		fmt.Printf("  %s/%s %s:%d [%s] [%s] %q %s\n", n.Form, n.Link, n.Path, n.Line, n.Version, n.Heading, n.Text, strings.Join(refs, " "))
	}
}
