//go:build ignore

// The drain of tasks is given changes.
package main

import (
	"context"
	"iter"

	"github.com/benchmint/benchmint/pipeline"
)

type repo struct{}

func (repo) ID() string { return "repo" }

type change struct{}

func (change) ID() string { return "change" }

type task struct{}

func (task) ID() string { return "task" }

type crawl struct{}

func (crawl) Run(context.Context, repo) ([]change, error) { return nil, nil }

type mask struct{}

func (mask) Run(context.Context, repo) (change, error) { return change{}, nil }

type prove struct{}

func (prove) Key(change) string                             { return "" }
func (prove) Build(context.Context, change) (string, error) { return "", nil }
func (prove) Run(context.Context, change, string) (task, error) {
	return task{}, nil
}

type export struct{}

func (export) Run(context.Context, iter.Seq2[task, error], pipeline.Ended) error { return nil }

func main() {
	repos := pipeline.New[repo]()
	changes := pipeline.Expand[repo, change](repos, "crawl", crawl{}, pipeline.Options{})
	_ = pipeline.Share[change, string, task](changes, "prove", prove{}, pipeline.Options{})
	_ = pipeline.Drain(changes, "export", export{}, pipeline.Options{})
	_ = mask{}
}
