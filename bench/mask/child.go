package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
	grammar "github.com/smacker/go-tree-sitter/python"

	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/mask"
)

// child is one measurement in a process of its own, so that the system counts its CPU.
func (b *bench) child(ctx context.Context, what string, args []string) error {
	switch {
	case what == "start" && len(args) == 0:
		return nil
	case what == "run" && len(args) == 5:
		mask.LeaveRoom()
		_, err := mask.Run(ctx, mask.Options{
			Source: args[0], Output: args[1], Src: args[2], Tests: args[3], Profile: mask.Profile(args[4]),
			Languages: []mask.Language{python.Masker{}},
		})
		return err
	case what == "baseline" && len(args) == 4:
		lines, err := baseline(args[0], args[1], args[2], args[3])
		fmt.Println(lines)
		return err
	case what == "each" && len(args) > 0:
		return b.each(ctx, os.Stdout, args[0], args[1:])
	case what == "libtest" && len(args) > 0:
		return b.libtest(ctx, os.Stdout, args[0], args[1:])
	}
	return errors.New("-child is start, run, baseline, each or libtest, with their arguments")
}

// functions is the least that a masker asks of a tree.
const functions = `(function_definition name: (identifier) @name body: (block) @body) @function`

// baseline is what no masker can do without: every file that is rewritten is parsed,
// asked for its functions, and what it became is parsed again. It gives the lines.
func baseline(root, starter, src, tests string) (lines int, err error) {
	var paths []string
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, at)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return 0, err
	}
	parser := sitter.NewParser()
	defer parser.Close()
	parser.SetLanguage(grammar.GetLanguage())
	query, err := sitter.NewQuery([]byte(functions), grammar.GetLanguage())
	if err != nil {
		return 0, err
	}
	defer query.Close()
	why := python.Masker{}.Commit0Files(paths, src, tests)
	for _, p := range paths {
		if why(p) != "" {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return 0, err
		}
		lines += strings.Count(string(source), "\n")
		made, err := os.ReadFile(filepath.Join(starter, filepath.FromSlash(p)))
		if err != nil {
			return 0, err
		}
		if err := errors.Join(parse(parser, source, query), parse(parser, made, nil)); err != nil {
			return 0, fmt.Errorf("%s: %w", p, err)
		}
	}
	return lines, nil
}

// parse parses, and asks where there is a query.
func parse(parser *sitter.Parser, source []byte, query *sitter.Query) error {
	tree, err := parser.ParseCtx(context.Background(), nil, source)
	if err != nil {
		return err
	}
	defer tree.Close()
	if query == nil {
		return nil
	}
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(query, tree.RootNode())
	for {
		match, ok := cursor.NextMatch()
		if !ok {
			return nil
		}
		for _, c := range match.Captures {
			_, _ = c.Node.StartByte(), c.Node.EndByte()
		}
	}
}
