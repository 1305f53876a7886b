package mask

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
)

// words turns names, and the paths that are made of them, into numbers. There are as many
// as a tree has names: each stands here once, and is found by a table of numbers alone.
type words struct {
	sync.Mutex
	texts []string
	room  strings.Builder // a piece of memory that several texts lie in
	seed  maphash.Seed
	ids   numbers

	parts []int32 // of all paths, one behind the other
	from  []int32 // where each begins
	paths numbers
}

// roomOf is the size of a piece of memory for texts.
const roomOf = 16 << 10

func newWords() words { return words{seed: maphash.MakeSeed()} }

// find is the number of a word, 0 and false for none.
func (w *words) find(s string) (int32, bool) {
	return w.ids.find(maphash.String(w.seed, s), func(id int32) bool { return w.texts[id] == s })
}

// known is the number of a word, 0 for none.
func (w *words) known(s string) int32 {
	id, _ := w.find(s)
	return id
}

// id is the number of a word; the lock is held.
func (w *words) id(s string) int32 {
	if id, ok := w.find(s); ok {
		return id
	}
	id := int32(len(w.texts))
	w.texts = append(w.texts, w.keep(s))
	w.ids.add(id, func(id int32) uint64 { return maphash.String(w.seed, w.texts[id]) })
	return id
}

// keep copies a text: it may be a part of a whole source.
func (w *words) keep(s string) string {
	if w.room.Cap()-w.room.Len() < len(s) {
		w.room = strings.Builder{}
		w.room.Grow(max(roomOf, len(s)))
	}
	at := w.room.Len()
	w.room.WriteString(s)
	return w.room.String()[at:]
}

// path is the number of a path of words.
func (w *words) path(parts []string) int32 {
	all := make([]int32, 0, 8)
	for _, p := range parts {
		all = append(all, w.id(p))
	}
	return w.join(all)
}

// join is the path of all parts.
func (w *words) join(all ...[]int32) int32 {
	of := all[0]
	if len(all) > 1 {
		of = slices.Concat(all...)
	}
	if id, ok := w.paths.find(hashOf(of), func(id int32) bool { return slices.Equal(w.split(id), of) }); ok {
		return id
	}
	id := int32(len(w.from))
	w.from = append(w.from, int32(len(w.parts)))
	w.parts = append(w.parts, of...)
	w.paths.add(id, func(id int32) uint64 { return hashOf(w.split(id)) })
	return id
}

// split are the words of a path.
func (w *words) split(path int32) []int32 {
	from, to := w.from[path], int32(len(w.parts))
	if next := path + 1; int(next) < len(w.from) {
		to = w.from[next]
	}
	return w.parts[from:to:to]
}

func hashOf(parts []int32) uint64 {
	h := uint64(len(parts))
	for _, p := range parts {
		h = (h ^ uint64(p)) * 0x9e3779b97f4a7c15 // 2^64 by the golden ratio: near numbers come to lie far apart
		h ^= h >> 32
	}
	return h
}

// numbers is a table of the numbers of things that are kept elsewhere, in their order. A
// map with the things for keys takes ten times the memory.
type numbers struct {
	slots []int32 // one more than the number, 0 where none is
	used  int
}

func (n *numbers) find(hash uint64, is func(int32) bool) (int32, bool) {
	if len(n.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(n.slots) - 1)
	for at := hash & mask; n.slots[at] > 0; at = (at + 1) & mask {
		if is(n.slots[at] - 1) {
			return n.slots[at] - 1, true
		}
	}
	return 0, false
}

// add puts in the next number, which is not there.
func (n *numbers) add(id int32, hash func(int32) uint64) {
	if n.used*4 >= len(n.slots)*3 {
		n.slots = make([]int32, max(1024, 2*len(n.slots)))
		for old := range id {
			n.put(old, hash(old))
		}
	}
	n.put(id, hash(id))
	n.used++
}

func (n *numbers) put(id int32, hash uint64) {
	mask := uint64(len(n.slots) - 1)
	at := hash & mask
	for n.slots[at] > 0 {
		at = (at + 1) & mask
	}
	n.slots[at] = id + 1
}
