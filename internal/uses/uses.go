// Package uses lists what an answer adds to the code of a task that can reach the tests' own
// process, or read what they expect. What shares a process with its tests cannot be kept from
// them, so a person should look at an answer that passes and uses such things.
//
// It is a note and never a verdict: code can hide from it, and honest code may need what it lists.
// It never runs anything.
package uses

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Added lists what the files of an answer use and the same files of the task do not: one entry for
// each rule, or path of the tests, and file. isTest reports whether a file is of the tests; those
// are the task's in both trees. The list is sorted by path and line.
func Added(task, answer *tree.Tree, isTest func(path string) bool) []schemas.Use {
	var out []schemas.Use
	var tests expected
	for _, e := range answer.Entries() {
		was, ok := task.Entry(e.Path)
		if ok && was.Mode == e.Mode && string(was.Data) == string(e.Data) || isTest(e.Path) {
			continue
		}
		if tests.paths == nil {
			tests = expectedOf(task, isTest)
		}
		before := map[string]bool{}
		if ok {
			for _, u := range tests.in(was) {
				before[u.What] = true
			}
		}
		for _, u := range tests.in(e) {
			if !before[u.What] {
				before[u.What] = true
				out = append(out, u)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b schemas.Use) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.What, b.What))
	})
	return out
}

// grammars are the languages of which files are read, by extension.
var grammars = map[string]syntax.Language{".py": syntax.Python, ".pyw": syntax.Python, ".go": syntax.Go}

// in are the uses of one file, in source order within each rule.
func (x expected) in(e tree.Entry) []schemas.Use {
	f := found{path: e.Path}
	ext := strings.ToLower(path.Ext(e.Path))
	for _, r := range rules {
		if slices.Contains(r.Extensions, ext) {
			f.add(r.What, r.Why, 1)
		}
	}
	if e.Mode == tree.ModeSymlink {
		target := string(e.Data)
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(e.Path), target)
		}
		x.literal(&f, target, 1)
		return f.uses
	}
	language, ok := grammars[ext]
	if !ok {
		return f.uses
	}
	o, err := outline.Parse(language, e.Data)
	if err != nil {
		f.add("a file that cannot be read", err.Error(), 1)
		return f.uses
	}
	n := namesOf(o)
	for _, r := range rules {
		if r.Language == "" || r.Language == string(language) {
			r.find(&f, o, n)
		}
	}
	for _, i := range o.Imports {
		if language == syntax.Python {
			x.module(&f, i.Module, i.Span.StartLine)
		}
	}
	for _, u := range o.Uses {
		if u.Kind == outline.String {
			x.literal(&f, u.Name, u.Span.StartLine)
		}
	}
	for _, at := range embeds.FindAllSubmatchIndex(e.Data, -1) {
		for pattern := range strings.FieldsSeq(string(e.Data[at[2]:at[3]])) {
			x.literal(&f, path.Join(path.Dir(e.Path), strings.Trim(strings.TrimPrefix(pattern, "all:"), "\"`")), lineAt(e.Data, at[2]))
		}
	}
	return f.uses
}

// found collects the uses of one file.
type found struct {
	path string
	uses []schemas.Use
}

func (f *found) add(what, why string, line int) {
	f.uses = append(f.uses, schemas.Use{Path: f.path, Line: line, What: what, Why: why})
}

// names are what the names of a file stand for.
type names struct {
	modules map[string]string // by the name in the file
	stars   []string          // modules whose names are all in the file
}

func namesOf(o *outline.File) names {
	n := names{modules: map[string]string{}}
	for _, i := range o.Imports {
		switch {
		case i.Name == "*", i.As == ".":
			n.stars = append(n.stars, i.Module)
		case o.Language == syntax.Go:
			n.modules[cmp.Or(i.As, path.Base(i.Module))] = i.Module
		case i.Name != "":
			n.modules[cmp.Or(i.As, i.Name)] = i.Module + "." + i.Name
		case i.As != "":
			n.modules[i.As] = i.Module
		}
	}
	return n
}

// of are the qualified names that a dotted name may be.
func (n names) of(dotted string) []string {
	first, rest, more := strings.Cut(dotted, ".")
	full, ok := n.modules[first]
	switch {
	case ok && more:
		return []string{full + "." + rest}
	case ok:
		return []string{full}
	case more:
		return []string{dotted}
	}
	var out []string
	for _, star := range n.stars {
		out = append(out, star+"."+dotted)
	}
	return out
}

// find adds the first place of a file that a rule speaks of.
func (r rule) find(f *found, o *outline.File, n names) {
	line := 0
	first := func(at int) {
		if line == 0 || at < line {
			line = at
		}
	}
	for _, i := range o.Imports {
		if r.imports(i) {
			first(i.Span.StartLine)
		}
	}
	for _, u := range o.Uses {
		if r.uses(u, n) {
			first(u.Span.StartLine)
			break
		}
	}
	if r.Text != nil {
		if at := r.Text.FindStringIndex(string(o.Source)); at != nil {
			first(lineAt(o.Source, at[0]))
		}
	}
	if line > 0 {
		f.add(r.What, r.Why, line)
	}
}

func (r rule) imports(i outline.Import) bool {
	whole := i.Module
	if i.Name != "" {
		whole += "." + i.Name
	}
	return r.qualified(whole) || slices.Contains(r.Attributes, i.Name) || slices.ContainsFunc(r.Imports, func(module string) bool {
		rest, ok := strings.CutPrefix(whole, module)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
	})
}

func (r rule) uses(u outline.Use, n names) bool {
	switch u.Kind {
	case outline.Attribute:
		return slices.Contains(r.Attributes, u.Name) || u.Of != "" && slices.ContainsFunc(n.of(u.Of+"."+u.Name), r.qualified)
	case outline.Identifier:
		return slices.Contains(r.Builtins, u.Name) || slices.ContainsFunc(n.of(u.Name), r.qualified)
	case outline.String:
		return slices.Contains(r.Attributes, u.Name)
	}
	return false
}

func (r rule) qualified(name string) bool {
	return slices.ContainsFunc(r.Names, func(want string) bool {
		begin, any := strings.CutSuffix(want, "*")
		return name == want || any && strings.HasPrefix(name, begin)
	})
}

func lineAt(source []byte, at int) int { return 1 + strings.Count(string(source[:at]), "\n") }
