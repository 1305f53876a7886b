// Package wordset has sets of words that are laid out at their first use, so that the
// start of a program does not pay for the words that it will not look up.
//
// It never changes a set: what is asked of it is whether a word is in it.
package wordset

import (
	"strings"
	"sync"
)

// Set is a set of words.
type Set struct {
	text string
	once sync.Once
	has  map[string]bool
}

// New takes the words with white space between them. It does so little that a variable
// made by it is laid out by the compiler: a start pays nothing.
func New(text string) *Set { return &Set{text: text} }

// Has tells whether the word is in the set.
func (s *Set) Has(word string) bool {
	s.once.Do(s.lay)
	return s.has[word]
}

func (s *Set) lay() {
	words := strings.Fields(s.text)
	s.has = make(map[string]bool, len(words))
	for _, w := range words {
		s.has[w] = true
	}
}
