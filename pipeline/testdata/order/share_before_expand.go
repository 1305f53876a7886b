//go:build ignore

// A stage that needs changes is given repositories.
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
	_ = pipeline.Expand[repo, change](repos, "crawl", crawl{}, pipeline.Options{})
	tasks := pipeline.Share(repos, "prove", pipeline.Sharer[change, string, task](prove{}), pipeline.Options{})
	_ = pipeline.Drain[task](tasks, "export", export{}, pipeline.Options{})
	_ = mask{}
}
