package mask

import "slices"

// words turns names, and the paths that are made of them, into numbers.
type words struct {
	texts []string
	ids   map[string]int

	paths  [][]int // the first has no words
	longer map[step]int
}

// step is a path with one more word.
type step struct{ path, word int }

func newWords() words {
	return words{ids: map[string]int{}, paths: [][]int{nil}, longer: map[step]int{}}
}

// find is the number of a word, 0 and false for none.
func (w *words) find(s string) (int, bool) {
	id, ok := w.ids[s]
	return id, ok
}

// id is the number of a word, a new one where there was none.
func (w *words) id(s string) int {
	id, ok := w.ids[s]
	if !ok {
		id = len(w.texts)
		w.texts = append(w.texts, s)
		w.ids[s] = id
	}
	return id
}

// all are the numbers of words.
func (w *words) all(texts []string) []int {
	var out []int
	for _, s := range texts {
		out = append(out, w.id(s))
	}
	return out
}

// path is the number of a path of words.
func (w *words) path(parts []string) int { return w.join(w.all(parts)) }

// join is the path of all parts.
func (w *words) join(all ...[]int) int {
	path := 0
	for _, parts := range all {
		for _, word := range parts {
			path = w.with(path, word)
		}
	}
	return path
}

func (w *words) with(path, word int) int {
	next, ok := w.longer[step{path, word}]
	if !ok {
		next = len(w.paths)
		w.paths = append(w.paths, append(slices.Clip(w.paths[path]), word))
		w.longer[step{path, word}] = next
	}
	return next
}

// split are the words of a path.
func (w *words) split(path int) []int { return w.paths[path] }
