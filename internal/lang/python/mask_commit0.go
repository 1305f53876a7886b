package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Commit0Files are the published tool's rules about files: what is below src and ends
// in .py, less the tests below the folder of tests, less whatever has __init__,
// __main__ or conftest.py in its path. The tool walks folders in the order of the file
// system; here it is that of names.
func (Masker) Commit0Files(paths []string, src, tests string) func(string) mask.Whole {
	testFolders := commit0Tests(paths, tests)
	unchosen := func(why string) mask.Whole { return mask.Whole{Kind: mask.Unchosen, Reason: "commit0", Detail: why} }
	return func(p string) mask.Whole {
		switch {
		case !strings.HasSuffix(p, ".py"):
			return unchosen("no module")
		case !inFolder(p, src):
			return unchosen("outside of the source folder")
		case testFolders[path.Dir(p)]:
			return unchosen("in a folder of tests")
		}
		for _, word := range []string{"__init__", "__main__", "conftest.py"} {
			if strings.Contains(p, word) {
				return unchosen("its path has " + word)
			}
		}
		return mask.Whole{}
	}
}

func inFolder(p, folder string) bool {
	folder = path.Clean(folder)
	return folder == "." || p == folder || strings.HasPrefix(p, folder+"/")
}

// commit0Tests are the folders below tests whose modules count as tests: those whose
// own name has "test" in it, and those named like a folder seen below one.
func commit0Tests(paths []string, tests string) map[string]bool {
	tests = path.Clean(tests) // "" is the root, as it is for the tool
	children := map[string][]string{}
	known := map[string]bool{".": true}
	for _, p := range paths {
		for d := path.Dir(p); !known[d]; d = path.Dir(d) {
			known[d] = true
			children[path.Dir(d)] = append(children[path.Dir(d)], d)
		}
	}
	out, named := map[string]bool{}, map[string]bool{}
	var visit func(folder string)
	visit = func(folder string) {
		inside := children[folder]
		slices.Sort(inside)
		base := path.Base(folder)
		if strings.Contains(strings.ToLower(base), "test") || named[base] {
			out[folder] = true
			for _, d := range inside {
				named[path.Base(d)] = true
			}
		}
		for _, d := range inside {
			visit(d)
		}
	}
	if known[tests] {
		visit(tests)
	}
	return out
}

// Commit0 does what the published tool does with one file: facts in the order of
// ../facts, each checked against its own parser and unparser.
func (Masker) Commit0(_ string, tree *syntax.Tree, profile mask.Profile) mask.Choice {
	c := commit0{profile: profile, src: tree.Source}
	c.block(tree.Root(), frame{parent: -1})
	c.choice.Faults = faults(tree)
	return c.choice
}

type commit0 struct {
	profile mask.Profile
	src     []byte
	choice  mask.Choice
	last    int // index of the function that was looked at last, nested ones left out
}

// frame is what is around a definition.
type frame struct {
	prefix string // of qualified names, with its dot
	parent int    // index of the function around, -1
	member bool   // of a class, directly
}

// left is what remains of a block.
type left struct {
	statements int
	passes     []syntax.Node
	removed    []removed
}

// removed is a function that was taken out.
type removed struct {
	edit  int // its index
	whole mask.Range
}

// block visits the statements of a block of the module or of a class.
func (c *commit0) block(n syntax.Node, f frame) left {
	var l left
	for s := range n.Children() {
		if !s.Named() {
			continue
		}
		def := s
		if s.Kind() == "decorated_definition" {
			def = s.Child("definition")
		}
		switch def.Kind() {
		case "comment", "line_continuation":
			continue
		case "function_definition":
			if c.function(s, def, f) {
				last := c.choice.Functions[c.last]
				l.removed = append(l.removed, removed{len(c.choice.Edits) - 1, last.Body})
				continue
			}
		case "class_definition":
			c.class(def, f)
		case "pass_statement":
			l.passes = append(l.passes, s)
		default:
			c.compound(def, f)
		}
		l.statements++
	}
	return l
}

// class: a body that is empty or all pass is one pass.
func (c *commit0) class(def syntax.Node, f frame) {
	body := def.Child("body")
	l := c.block(body, frame{prefix: f.prefix + def.Child("name").Text() + ".", parent: f.parent, member: true})
	switch {
	case l.statements == 0:
		c.refill(l)
	case l.statements == len(l.passes):
		for i, p := range l.passes[1:] {
			e := c.without(l.passes[i].End(), p)
			for _, gone := range c.choice.Edits { // what lay between them
				if gone.Start < e.End && e.Start < gone.End {
					e.Start = gone.End
				}
			}
			c.choice.Edits = append(c.choice.Edits, e)
		}
	}
}

// without takes out a pass that comes after another.
func (c *commit0) without(before int, pass syntax.Node) mask.Edit {
	from := lineStart(c.src, pass.Start())
	end := lineEnd(c.src, pass.End())
	if len(bytes.TrimSpace(c.src[from:pass.Start()])) > 0 || len(bytes.Trim(c.src[pass.End():end], " \t\f;")) > 0 {
		return mask.Edit{Range: mask.Range{Start: before, End: pass.End()}} // pass; pass
	}
	return mask.Edit{Range: mask.Range{Start: from, End: nextLine(c.src, end)}}
}

// refill puts pass where the first of the functions was that are gone. The published
// tool does so in classes only; elsewhere it leaves what is no Python.
func (c *commit0) refill(l left) {
	if len(l.removed) > 0 {
		first := l.removed[0]
		c.choice.Edits[first.edit] = mask.Edit{Range: first.whole, Text: "pass"}
	}
}

// compound visits the blocks of if, for, while, with, try and match.
func (c *commit0) compound(n syntax.Node, f frame) {
	for part := range n.Children() {
		switch part.Kind() {
		case "block":
			if n.Kind() == "match_statement" {
				c.compound(part, f)
				continue
			}
			if l := c.block(part, f); l.statements == 0 {
				c.refill(l)
			}
		case "elif_clause", "except_clause", "except_group_clause", "case_clause":
			c.compound(part, f)
		case "else_clause", "finally_clause":
			c.optional(n, part, f)
		}
	}
}

// optional is a clause that goes with its last statement: an empty list of statements
// is none to the unparser. A finally that is all a try has stays.
func (c *commit0) optional(n, clause syntax.Node, f frame) {
	before := len(c.choice.Edits)
	l := c.block(clause.First("block"), f)
	if l.statements > 0 || len(l.removed) == 0 {
		return
	}
	if clause.Kind() == "finally_clause" && !n.Has("except_clause", "except_group_clause") {
		c.refill(l)
		return
	}
	last := c.choice.Edits[l.removed[len(l.removed)-1].edit]
	whole := mask.Edit{Range: mask.Range{Start: lineStart(c.src, clause.Start()), End: last.End}}
	c.choice.Edits = append(c.choice.Edits[:before], whole)
}

// function decides about one definition that no function is around; whole has its
// decorators. It reports whether the definition was taken out.
func (c *commit0) function(whole, def syntax.Node, f frame) bool {
	name := def.Child("name").Text()
	i := len(c.choice.Functions)
	c.last = i
	l, ok := lay(def)
	c.choice.Functions = append(c.choice.Functions, mask.Function{
		Name: f.prefix + name, Construct: commit0Construct(def, name, f), Public: isPublic(f.prefix + name), Doc: l.doc.Is(),
		Parent: f.parent, Class: -1, Line: lineOf(def), Span: mask.Range{Start: whole.Start(), End: whole.End()},
		Body: l.cut, Broken: !ok || isUnread(whole), Shape: mask.Shape{Lines: codeLines(c.src[l.cut.Start:l.cut.End])},
	})
	fate := c.fate(c.choice.Functions[i], name)
	c.choice.Fates = append(c.choice.Fates, fate)
	switch fate.Done {
	case mask.Masked:
		c.choice.Edits = append(c.choice.Edits, mask.Edit{Range: l.cut, Text: l.text("pass")})
	case mask.Removed:
		e := c.removal(whole, l)
		c.choice.Functions[i].Body = mask.Range{Start: whole.Start(), End: l.cut.End}
		c.choice.Edits = append(c.choice.Edits, e)
	}
	c.nested(def, i, f.prefix+name+".")
	return fate.Done == mask.Removed
}

func commit0Construct(def syntax.Node, name string, f frame) mask.Construct {
	switch {
	case isDunder(name):
		return mask.Special
	case def.Has("async"):
		return mask.Async
	case f.member:
		return mask.Method
	}
	return mask.Plain
}

func (c *commit0) fate(f mask.Function, name string) mask.Fate {
	switch {
	case f.Broken:
		return mask.Fate{Done: mask.Kept, Reason: "a syntax error lies inside"}
	case isDunder(name):
		return mask.Fate{Done: mask.Kept, Reason: "commit0: a dunder stays"}
	case f.Doc, c.profile == mask.Commit0All:
		return mask.Fate{Done: mask.Masked}
	case c.profile == mask.Commit0Docstring:
		return mask.Fate{Done: mask.Kept, Reason: "commit0: no docstring"}
	}
	return mask.Fate{Done: mask.Removed}
}

// removal takes out whole lines.
func (c *commit0) removal(whole syntax.Node, l layout) mask.Edit {
	from := lineStart(c.src, whole.Start())
	if len(bytes.Trim(c.src[from:whole.Start()], " \t\f")) > 0 { // never in what CPython reads
		from = whole.Start()
	}
	end := l.cut.End
	if l.inline { // on one line, with what may be behind it
		end = lineEnd(c.src, end)
	}
	return mask.Edit{Range: mask.Range{Start: from, End: nextLine(c.src, end)}}
}

// nested lists what is inside of a function: it shares the function's fate.
func (c *commit0) nested(n syntax.Node, parent int, prefix string) {
	fate := mask.Fate{Done: mask.Gone}
	if c.choice.Fates[parent].Done == mask.Kept {
		fate = c.choice.Fates[parent]
		fate.Reason = "inside of one that stays: " + strings.TrimPrefix(fate.Reason, "inside of one that stays: ")
	}
	var visit func(n syntax.Node, f frame)
	visit = func(n syntax.Node, f frame) {
		inner := func(at syntax.Node) bool { return at == n || !at.Is("function_definition", "class_definition") }
		for def := range n.Walk(inner) {
			if def == n {
				continue
			}
			switch def.Kind() {
			case "class_definition":
				visit(def, frame{prefix: f.prefix + def.Child("name").Text() + ".", parent: f.parent, member: true})
			case "function_definition":
				name := def.Child("name").Text()
				l, ok := lay(def)
				c.choice.Functions = append(c.choice.Functions, mask.Function{
					Name: f.prefix + name, Construct: commit0Construct(def, name, f), Doc: l.doc.Is(), Parent: f.parent, Class: -1,
					Line: lineOf(def), Span: mask.Range{Start: def.Start(), End: def.End()}, Body: l.cut, Broken: !ok || isUnread(def),
				})
				c.choice.Fates = append(c.choice.Fates, fate)
				visit(def, frame{prefix: f.prefix + name + ".", parent: len(c.choice.Functions) - 1})
			}
		}
	}
	visit(n, frame{prefix: prefix, parent: parent})
}
