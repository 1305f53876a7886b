package seal

import (
	"bytes"
	"path"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const (
	minWord     = 5
	enoughWords = 2 // of a module's own new words in its own compiled form
)

// compiled is what the compiled form of one changed module holds that no form of
// the base does. Elsewhere such words are anybody's; in a file that has the name
// of the module, in a directory that has the name of its package, they are not.
type compiled struct {
	words []string
	kind  string
}

// addTwin keeps the words that the change brings into a Python module.
func (s *Set) addTwin(base *tree.Tree, f *gitdiff.File, kind string) {
	key, ok := twinKey(f.NewName)
	if !ok || path.Ext(f.NewName) != ".py" {
		return
	}
	var fresh []string
	seen := map[string]bool{}
	for _, frag := range f.TextFragments {
		for _, l := range frag.Lines {
			if l.Op != gitdiff.OpAdd || strings.HasPrefix(strings.TrimSpace(l.Line), "#") {
				continue
			}
			for _, w := range word.FindAllString(l.Line, -1) {
				if len(w) >= minWord && !seen[w] {
					seen[w] = true
					fresh = append(fresh, w)
				}
			}
		}
	}
	if fresh = unknown(base, fresh); len(fresh) > 0 {
		s.twins[key] = compiled{words: fresh, kind: kind}
	}
}

// unknown leaves the words that stand nowhere in the base.
func unknown(base *tree.Tree, words []string) []string {
	for _, e := range base.Entries() {
		var left []string
		for _, w := range words {
			if !bytes.Contains(e.Data, []byte(w)) {
				left = append(left, w)
			}
		}
		words = left
	}
	return words
}

// twinKey is package/module for a Python file, compiled or not.
func twinKey(name string) (string, bool) {
	name = name[strings.LastIndexByte(name, '!')+1:]
	dir := strings.TrimSuffix(path.Dir(name), "/__pycache__")
	stem, _, _ := strings.Cut(path.Base(name), ".") // module.cpython-312.opt-1.pyc
	switch path.Ext(name) {
	case ".py", ".pyc", ".pyo":
		return path.Base(dir) + "/" + stem, true
	}
	return "", false
}

// hasTwin reports whether name may be a compiled form of a changed module.
func (s *Set) hasTwin(name string) bool {
	key, ok := twinKey(name)
	_, changed := s.twins[key]
	return ok && changed && path.Ext(name) != ".py"
}

// twin looks for the new words of a module in its compiled form.
func (sc *scan) twin(name string, b []byte) {
	if !sc.set.hasTwin(name) {
		return
	}
	key, _ := twinKey(name)
	c := sc.set.twins[key]
	var found []string
	for _, w := range c.words {
		if bytes.Contains(b, []byte(w)) {
			found = append(found, w)
		}
	}
	if len(found) >= min(enoughWords, len(c.words)) {
		sc.direct = append(sc.direct, schemas.Hit{Needle: strings.Join(found[:min(len(found), 5)], " "), Place: name, Kind: c.kind})
	}
}
