// Package lazyregexp has regular expressions that are compiled at their first use,
// so that the start of a program does not pay for the tables of words that it will
// not read.
//
// It never compiles an expression twice, and never hides a wrong one: a test of the
// project's policy compiles each one that is written anywhere in it.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression with the methods of the standard library's.
type Regexp struct {
	expression string
	once       sync.Once
	compiled   *regexp.Regexp
}

// New takes a constant expression; a wrong one panics at its first use. It does so
// little that a variable made by it is laid out by the compiler: a start pays nothing.
func New(expression string) *Regexp { return &Regexp{expression: expression} }

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.expression) })
	return r.compiled
}

// Find is as in the standard library.
func (r *Regexp) Find(b []byte) []byte { return r.get().Find(b) }

// FindAllIndex is as in the standard library.
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.get().FindAllIndex(b, n) }

// FindAllString is as in the standard library.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex is as in the standard library.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllStringSubmatch is as in the standard library.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is as in the standard library.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// FindAllSubmatch is as in the standard library.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

// FindAllSubmatchIndex is as in the standard library.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.get().FindAllSubmatchIndex(b, n)
}

// FindIndex is as in the standard library.
func (r *Regexp) FindIndex(b []byte) []int { return r.get().FindIndex(b) }

// FindString is as in the standard library.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex is as in the standard library.
func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

// FindStringSubmatch is as in the standard library.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindStringSubmatchIndex is as in the standard library.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

// FindSubmatch is as in the standard library.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// Match is as in the standard library.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// MatchString is as in the standard library.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// ReplaceAllString is as in the standard library.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.get().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is as in the standard library.
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(src, repl)
}

// ReplaceAllFunc is as in the standard library.
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.get().ReplaceAllFunc(src, repl)
}

// Split is as in the standard library.
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
