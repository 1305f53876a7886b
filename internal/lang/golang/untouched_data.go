package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

// dataFiles are what tests read: the changed files that are no source.
type dataFiles struct {
	changed []string
	all     []string // every path of start
}

func changedData(base, start lang.Tree, changed []string) dataFiles {
	out := dataFiles{all: start.Paths()}
	for _, p := range changed {
		if isGo(p) || manifests[path.Base(p)] {
			continue
		}
		was, err := base.Read(p)
		is, errAfter := start.Read(p)
		if err != nil || errAfter != nil || string(was) != string(is) {
			out.changed = append(out.changed, p)
		}
	}
	return out
}

// touches reports whether a test reads a changed data file, by what the strings in the
// code that it runs say. It does where
//   - a string ends in the file's name, or, below the package's own folder, in its
//     name without extension (golden files);
//   - the path has an element named like the test (seeds of a fuzz test, golden
//     files by test): then it is that test's file, and no other's;
//   - a string names a folder of it below the package's own, and none names a file
//     there: the test reads what it finds. Of subtests that are named like
//     files of that folder only those are touched whose own file changed.
func (f dataFiles) touches(dir string, levels []string, literals map[string]bool) bool {
	return slices.ContainsFunc(f.changed, func(p string) bool {
		rel, below := p, dir == ""
		if dir != "" {
			rel, below = strings.CutPrefix(p, dir+"/")
		}
		if below {
			if owner, rest, ok := ownerOf(rel); ok {
				return owner == levels[0] && (len(levels) == 1 || rest == "" || rest == strings.Join(levels[1:], "/"))
			}
		}
		if named(p, below, literals) {
			return true
		}
		return below && f.listed(dir, rel, levels, literals)
	})
}

// ownerOf finds the test that a path is named after, and what follows without extension.
func ownerOf(rel string) (test, rest string, ok bool) {
	elements := strings.Split(stem(rel), "/")
	for i, e := range elements {
		if testName.MatchString(e) && e != "Test" && i > 0 {
			return e, strings.Join(elements[i+1:], "/"), true
		}
	}
	return "", "", false
}

func stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// minStem is the shortest name without extension that is told from other words.
const minStem = 4

func named(p string, below bool, literals map[string]bool) bool {
	base := path.Base(p)
	short := stem(base)
	for l := range literals {
		last := path.Base(l)
		if last == base || below && last == short && len(short) >= minStem {
			return true
		}
	}
	return false
}

// listed reports whether a test goes through a folder that holds the file.
func (f dataFiles) listed(dir, rel string, levels []string, literals map[string]bool) bool {
	for folder := path.Dir(rel); folder != "."; folder = path.Dir(folder) {
		if !mentions(literals, folder) {
			continue
		}
		var siblings []string
		prefix := path.Join(dir, folder) + "/"
		for _, p := range f.all {
			if strings.HasPrefix(p, prefix) {
				siblings = append(siblings, p)
			}
		}
		if slices.ContainsFunc(siblings, func(p string) bool { return named(p, true, literals) }) {
			continue
		}
		if len(levels) > 1 && slices.ContainsFunc(siblings, func(p string) bool { return forSubtest(p, levels) }) {
			return forSubtest(rel, levels)
		}
		return true
	}
	return false
}

// mentions recognises a string that is a folder, or a pattern or format for paths below it.
func mentions(literals map[string]bool, folder string) bool {
	for l := range literals {
		if i := strings.IndexAny(l, "*?[%"); i >= 0 {
			l = path.Dir(l[:i] + "x")
		}
		if path.Clean(l) == folder {
			return true
		}
	}
	return false
}

// forSubtest recognises a file whose name a subtest has, as the testing package writes it.
func forSubtest(p string, levels []string) bool {
	base := strings.ReplaceAll(path.Base(p), " ", "_")
	last := path.Base(levels[len(levels)-1])
	return last == base || last == stem(base)
}
