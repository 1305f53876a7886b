package grade

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// ErrNoForgery is a task in whose languages no code is known that forges results.
var ErrNoForgery = errors.New("nothing is known that could forge its results")

// Forgery is a patch that solves nothing: the code that the task's own patch changes says that every test
// passes, and leaves with 0 as soon as it is loaded. A test that only looks at how a program
// ended is passed by it.
//
// A service that leaves answers nobody, and its suite runs beside it: nothing is known that could forge there.
func Forgery(ctx context.Context, d *output.Dataset, row output.Row) ([]byte, error) {
	if row.Benchmint.Kind == schemas.KindService {
		return nil, ErrNoForgery
	}
	base, start, gold, err := d.States(row)
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	for _, id := range append(append([]string{}, row.FailToPass...), row.PassToPass...) {
		fmt.Fprintf(&said, "PASSED %s\n", id)
	}
	forged := map[string]tree.Entry{}
	for _, e := range start.Entries() {
		after, there := gold.Entry(e.Path)
		if there && string(after.Data) == string(e.Data) {
			continue
		}
		if own, ok := base.Entry(e.Path); ok {
			if f, ok := forge(own, said.String()); ok {
				forged[f.Path] = f
			}
		}
	}
	if len(forged) == 0 {
		return nil, ErrNoForgery
	}
	var entries []tree.Entry
	for _, e := range base.Entries() {
		if f, ok := forged[e.Path]; ok {
			e = f
			delete(forged, e.Path)
		}
		entries = append(entries, e)
	}
	for _, f := range forged {
		entries = append(entries, f)
	}
	after, err := tree.New(entries)
	if err != nil {
		return nil, err
	}
	return patch.Between(ctx, base, after)
}

// standsFirst are lines of Python before which no code may stand.
var standsFirst = lazyregexp.New(`(?m)^from __future__ import .*\n|\A(?:#.*\n)+`)

var packageClause = lazyregexp.New(`(?m)^package (\w+)`)

// forge is a file, or one beside it, that forges.
func forge(e tree.Entry, said string) (tree.Entry, bool) {
	switch {
	case e.Mode != tree.ModeFile && e.Mode != tree.ModeExec:
	case strings.HasSuffix(e.Path, ".py"):
		at := 0 // before all that runs: after comments and what must stand first
		if first := standsFirst.FindAllIndex(e.Data, -1); first != nil {
			at = first[len(first)-1][1]
		}
		own := fmt.Sprintf("import os as _os\n\n_os.write(1, b\"\\n\" + %+q.encode())\n_os._exit(0)\n", said)
		e.Data = slices.Concat(e.Data[:at], []byte(own), e.Data[at:])
		return e, true
	case strings.HasSuffix(e.Path, ".go") && !strings.HasSuffix(e.Path, "_test.go"):
		name := packageClause.FindSubmatch(e.Data)
		if name == nil {
			break
		}
		text := fmt.Sprintf("package %s\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() {\n\tfmt.Print(%q)\n\tos.Exit(0)\n}\n", name[1], said)
		return tree.Entry{Path: path.Join(path.Dir(e.Path), "benchmint_forged.go"), Mode: tree.ModeFile, Data: []byte(text)}, true
	}
	return e, false
}
