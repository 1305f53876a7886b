package environment

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Guess is the recipe of a project, without lock: that of its tests, or where framework is not
// "" that of its service, with the environment of those who ask it. A *lang.Refusal says why
// there is none.
func (b *Builder) Guess(ctx context.Context, p lang.Project, language, framework string) (schemas.Recipe, error) {
	l, ok := b.Languages[language]
	if !ok {
		return schemas.Recipe{}, unknown("language", language, b.Languages)
	}
	if framework == "" {
		return l.Infer(p)
	}
	server, ok := l.(lang.Server)
	if !ok {
		return schemas.Recipe{}, &lang.Refusal{Reason: schemas.NoBoot, Detail: "services in " + language + " are not started"}
	}
	r, err := server.Serve(p, framework)
	if err != nil {
		return r, err
	}
	tester, err := b.tester(ctx)
	if err != nil {
		return r, err
	}
	service := *r.Service
	service.Tester = &tester
	r.Service, r.Report = &service, httpsuite.ReportFormat
	r.Build = slices.Concat(r.Build, serve.Prepare(service))
	return r, nil
}

// tester is the recipe of the environment that suites of services run in.
func (b *Builder) tester(ctx context.Context) (schemas.Recipe, error) {
	available, err := b.Toolchains.Available(ctx, b.Languages[httpsuite.Language].Toolchains()...)
	if err != nil {
		return schemas.Recipe{}, fmt.Errorf("listing toolchains: %w", err)
	}
	r, err := httpsuite.Tester(available)
	if err != nil {
		return r, err
	}
	setup, err := b.Setup(r)
	if err != nil {
		return r, fmt.Errorf("planning the environment of the tester: %w", err)
	}
	r.Setup = setup.Commands
	return b.identified(ctx, r)
}

// Visible is the part of a tree that the processes of its state see: of a service not the suite,
// which runs beside it. It is taken before the tree is sealed, or the suite would be in the objects
// of the repository.
func Visible(r schemas.Recipe, t *tree.Tree) (*tree.Tree, error) {
	if r.Service == nil {
		return t, nil
	}
	return tree.New(slices.DeleteFunc(t.Entries(), func(e tree.Entry) bool { return e.Path == schemas.SuiteFolder || schemas.InSuite(e.Path) }))
}
