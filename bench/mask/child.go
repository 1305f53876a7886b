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
	"github.com/benchmint/benchmint/internal/syntax"
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
		parser, err := newReference()
		if err != nil {
			return err
		}
		defer parser.close()
		lines, err := baseline(args[0], args[1], args[2], args[3], parser)
		fmt.Println(lines)
		return err
	case what == "own" && len(args) == 4:
		lines, err := baseline(args[0], args[1], args[2], args[3], own{})
		fmt.Println(lines)
		return err
	case what == "each" && len(args) > 0:
		return b.each(ctx, os.Stdout, args[0], args[1:])
	case what == "libtest" && len(args) > 0:
		return b.libtest(ctx, os.Stdout, args[0], args[1:])
	}
	return errors.New("-child is start, run, baseline, own, each or libtest, with their arguments")
}

// functions is the least that a masker asks of a tree.
const functions = `(function_definition name: (identifier) @name body: (block) @body) @function`

// parser is what baseline measures: how a source is parsed and asked for its functions, and
// how what it became is parsed.
type parser interface {
	functions(source []byte) error
	sound(source []byte) error
}

// baseline is what no masker can do without: every file that is rewritten is parsed,
// asked for its functions, and what it became is parsed again. It gives the lines.
func baseline(root, starter, src, tests string, by parser) (lines int, err error) {
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
	why := python.Masker{}.Commit0Files(paths, src, tests)
	for _, p := range paths {
		if why(p).Kind != "" {
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
		if err := errors.Join(by.functions(source), by.sound(made)); err != nil {
			return 0, fmt.Errorf("%s: %w", p, err)
		}
	}
	return lines, nil
}

// reference is tree-sitter's own runtime, with the memory of the C library.
type reference struct {
	parser *sitter.Parser
	query  *sitter.Query
}

func newReference() (*reference, error) {
	r := &reference{parser: sitter.NewParser()}
	r.parser.SetLanguage(grammar.GetLanguage())
	var err error
	r.query, err = sitter.NewQuery([]byte(functions), grammar.GetLanguage())
	return r, err
}

func (r *reference) close() {
	r.query.Close()
	r.parser.Close()
}

func (r *reference) functions(source []byte) error {
	tree, err := r.parser.ParseCtx(context.Background(), nil, source)
	if err != nil {
		return err
	}
	defer tree.Close()
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(r.query, tree.RootNode())
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

func (r *reference) sound(source []byte) error {
	tree, err := r.parser.ParseCtx(context.Background(), nil, source)
	if err == nil {
		tree.Close()
	}
	return err
}

// own is the engine's parser.
type own struct{}

func (own) functions(source []byte) error {
	tree, err := syntax.ParseTree(syntax.Python, source)
	if err != nil {
		return err
	}
	for n := range tree.All() {
		if n.Is("function_definition") {
			_, _ = n.Child("name").End(), n.Child("body").Start()
		}
	}
	return nil
}

func (own) sound(source []byte) error {
	_, err := syntax.Sound(syntax.Python, source)
	return err
}
