// Command untouched measures how often the rule on untouched tests decides for Go,
// and what it says:
//
//	go run ./bench/untouched [-most 40] [-tests] PATH…
//
// Of each repository it takes the newest changes whose tests no longer compile at the
// start, which is the base with the changed tests. Of the packages that do not, it
// counts the tests that base has as well: of those the source decides. With
// -tests each one that counts as touched is printed.
//
// It never runs a project's code: whether a package compiles is asked of go/types, with
// empty packages for imports. What is an error at the start and not in the solution,
// where the tests are the same, is an error for want of the solution. Changes that
// break only the tests of other packages than the changed one are not found that way.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

func main() {
	most := flag.Int("most", 40, "changes of each repository")
	tests := flag.Bool("tests", false, "print the touched tests")
	flag.Parse()
	var all counts
	for _, source := range flag.Args() {
		n, err := measure(context.Background(), source, *most, *tests)
		if err != nil {
			fmt.Fprintf(os.Stderr, "untouched: %s: %v\n", source, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %s\n", source, n)
		all.add(n)
	}
	fmt.Printf("all: %s\n", all)
}

type counts struct{ changes, packages, decided, touched int }

func (n *counts) add(m counts) {
	n.changes, n.packages, n.decided, n.touched = n.changes+m.changes, n.packages+m.packages, n.decided+m.decided, n.touched+m.touched
}

func (n counts) String() string {
	return fmt.Sprintf("%d changes, %d packages that do not compile at the start, %d tests decided by their source, %d of them touched",
		n.changes, n.packages, n.decided, n.touched)
}

func measure(ctx context.Context, source string, most int, print bool) (counts, error) {
	var n counts
	name := ""
	if dir := path.Base(strings.TrimSuffix(filepath.ToSlash(source), "/repo")); strings.Contains(dir, "+") {
		name = strings.Replace(dir, "+", "/", 1)
	}
	repo, err := gitrepo.Open(ctx, source, name, "")
	if err != nil {
		return n, err
	}
	defer repo.Close()
	for c, err := range repo.Log(ctx, gitrepo.Query{}) {
		if err != nil {
			return n, err
		}
		if n.changes == most {
			break
		}
		if !mayBreak(c) {
			continue
		}
		s, err := statesOf(ctx, repo, c)
		if err != nil {
			return n, err
		}
		n.add(s.count(c, print))
	}
	return n, nil
}

// mayBreak tells changes of code and tests from all others, before any tree is read.
func mayBreak(c schemas.Change) bool {
	code, tests := false, false
	for _, f := range c.Files {
		if strings.HasSuffix(f.Path, "_test.go") {
			tests = true
		} else if strings.HasSuffix(f.Path, ".go") {
			code = true
		}
	}
	return code && tests && c.Base != ""
}

// states are the trees of design 8, and what the test part is.
type states struct {
	base, start, solution *tree.Tree
	changed               []string
}

func statesOf(ctx context.Context, repo *gitrepo.Repo, c schemas.Change) (states, error) {
	var s states
	var err error
	if s.base, err = repo.Tree(ctx, c.BaseTree); err != nil {
		return s, err
	}
	if s.solution, err = repo.Tree(ctx, c.Tree); err != nil {
		return s, err
	}
	rules := parts.New(golang.Language{})
	entries := map[string]tree.Entry{}
	for _, e := range s.base.Entries() {
		entries[e.Path] = e
	}
	for _, f := range c.Files {
		for _, p := range []string{f.OldPath, f.Path} {
			if p == "" || slices.Contains(s.changed, p) {
				continue
			}
			if part, _ := rules.Part(p, s.solution); part != schemas.PartTest {
				continue
			}
			s.changed = append(s.changed, p)
			delete(entries, p)
			if e, ok := s.solution.Entry(p); ok {
				entries[p] = e
			}
		}
	}
	var all []tree.Entry
	for _, e := range entries {
		all = append(all, e)
	}
	s.start, err = tree.New(all)
	return s, err
}

// count asks of the packages that do not compile at the start.
func (s states) count(c schemas.Change, print bool) counts {
	var n counts
	untouched := golang.Language{}.Untouched(s.base, s.start, s.changed)
	known := golang.Language{}.Untouched(s.base, s.base, nil) // not those of other platforms
	for _, dir := range folders(s.changed) {
		importPath := importPathOf(s.base, dir)
		if importPath == "" || !breaks(s.start, s.solution, dir) {
			continue
		}
		n.packages++
		before := testsOf(s.base, dir)
		for _, name := range testsOf(s.start, dir) {
			t := lang.Test{ID: golang.TestID(importPath, name), Unit: importPath}
			if !slices.Contains(before, name) || !known(t) {
				continue
			}
			n.decided++
			if untouched(t) {
				continue
			}
			n.touched++
			if print {
				fmt.Println(c.Commit[:10], golang.TestID(importPath, name))
			}
		}
	}
	if n.packages > 0 {
		n.changes = 1
		fmt.Printf("%s %q: %d decided, %d touched\n", c.Commit[:10], c.Subject, n.decided, n.touched)
	}
	return n
}

func folders(paths []string) []string {
	var out []string
	for _, p := range paths {
		if dir := path.Dir(p); strings.HasSuffix(p, "_test.go") && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}
