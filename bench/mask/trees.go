package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/treesitter/treetest"
)

// trees compares the tree of each file, and of so many damaged ones made of it, with that
// of tree-sitter's own runtime.
func (b *bench) trees(ctx context.Context) error {
	var lock sync.Mutex
	files, trees, others := map[string]int{}, map[string]int{}, map[string]int{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range b.projects {
		err := filepath.WalkDir(p.root, func(name string, d fs.DirEntry, err error) error {
			language := treetest.LanguageOf(name)
			if err != nil || !d.Type().IsRegular() || language == "" {
				return err
			}
			source, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			lock.Lock()
			files[language]++
			lock.Unlock()
			group.Go(func() error {
				for i, s := range append([][]byte{source}, treetest.Damaged(source, b.damage, 1)...) {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					err := treetest.Compare(language, s)
					lock.Lock()
					trees[language]++
					if err != nil {
						others[language]++
						fmt.Fprintf(os.Stderr, "%s, damaged %d: %v\n", name, i, err)
					}
					lock.Unlock()
				}
				return nil
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, l := range treetest.Languages() {
		if files[l] == 0 {
			continue
		}
		b.table.Row(fmt.Sprintf("%s: files / trees", l), fmt.Sprintf("%d / %d", files[l], trees[l]))
		b.table.AtMost(fmt.Sprintf("%s: other trees", l), float64(others[l]), 0)
	}
	return b.table.Print(os.Stdout)
}
