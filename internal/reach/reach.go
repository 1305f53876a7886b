// Package reach is the map from tests to the functions that they run, as a runner measured it
// (lang.Reacher): which tests are worth running first for a change, and which a function has.
//
// It never decides a verdict: code under test can make a runner say anything, functions that
// run while a module loads belong to no test, and so do those of other processes.
package reach

import (
	"slices"
	"sort"

	"github.com/benchmint/benchmint/internal/functions"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/schemas"
)

// Map has for each test that was measured the functions that it runs, as records name
// them (path::Class.method), sorted.
type Map map[string][]string

// Of names the functions at the places that tests reach. A place is of the innermost function
// around it and of those that are around that one: an inner function runs for the outer one.
// source gives the language that reads a path, nil for none; places in files that do not parse are
// left out.
func Of(t lang.Tree, reached map[string][]lang.Place, source func(path string) mask.Language) Map {
	files := map[string][]functions.Lines{}
	out := Map{}
	for test, places := range reached {
		names := map[string]bool{}
		for _, p := range places {
			lines, ok := files[p.Path]
			if !ok {
				lines = read(t, p.Path, source)
				files[p.Path] = lines
			}
			for _, f := range lines {
				if f.From <= p.Line && p.Line <= f.To {
					names[schemas.RecordPath(p.Path)+"::"+f.Name] = true
				}
			}
		}
		list := make([]string, 0, len(names))
		for n := range names {
			list = append(list, n)
		}
		sort.Strings(list)
		out[test] = list
	}
	return out
}

func read(t lang.Tree, path string, source func(string) mask.Language) []functions.Lines {
	data, err := t.Read(path)
	if err != nil {
		return nil
	}
	return functions.LinesOf(functions.Source{Path: path, Language: source(path), Data: data})
}

// Tests are those of a list that run one of the functions, in its order. A subtest or a
// parameter that was not measured itself goes where parent says that it belongs.
func (m Map) Tests(list, through []string, parent func(test string) string) []string {
	wanted := map[string]bool{}
	for _, f := range through {
		wanted[f] = true
	}
	var out []string
	for _, test := range list {
		names, ok := m[test]
		if !ok {
			names = m[parent(test)]
		}
		if slices.ContainsFunc(names, func(f string) bool { return wanted[f] }) {
			out = append(out, test)
		}
	}
	return out
}
