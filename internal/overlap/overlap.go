// Package overlap counts how many of a solution's own phrases an answer has: a sign that a model has seen the solution (Commit0,
// Figure 5).
//
// A word is a run of letters, digits and underscores, or any other character that is no blank. A phrase is n words of a
// function's body in a row. Those that the base's function of this name has too tell nothing, and are left out: an answer that does
// nothing has none of the others, and the solution itself has all. A function with fewer than n words is one phrase.
// The paper defines neither words nor the share; these are ours. It never says where an answer has its words from.
//
//	all := overlap.Of(base, gold, answer, []string{"slug.go"}, overlap.Words)
//	all[0].Share // 1 where slug.go's function is the solution's, word by word
package overlap

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Words is the length of a phrase, as in the paper.
const Words = 10

// Most bounds the functions of one answer.
const Most = 500

var (
	grammars = map[string]syntax.Language{".py": syntax.Python, ".go": syntax.Go}
	word     = lazyregexp.New(`[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]`)
)

// Of compares the functions that a solution changes or adds in some files with those of an answer, by file and name. n is the length
// of a phrase in words. Files of other languages, and functions without a phrase of their own, are left out.
func Of(base, gold, answer *tree.Tree, files []string, n int) []schemas.Overlap {
	var out []schemas.Overlap
	for _, p := range slices.Sorted(slices.Values(files)) {
		language, ok := grammars[strings.ToLower(path.Ext(p))]
		if !ok {
			continue
		}
		before, own := bodies(base, p, language), bodies(gold, p, language)
		var given map[string]string // read where the solution has something of its own
		for _, name := range sorted(own) {
			if len(out) == Most {
				return out
			}
			words, was := wordsOf(own[name]), phrases(wordsOf(before[name]), n)
			wanted := phrases(words, n)
			for phrase := range was {
				delete(wanted, phrase)
			}
			if len(wanted) == 0 {
				continue
			}
			if given == nil {
				given = bodies(answer, p, language)
			}
			has, hits := phrases(wordsOf(given[name]), n), 0
			for phrase := range wanted {
				if has[phrase] {
					hits++
				}
			}
			out = append(out, schemas.Overlap{Path: p, Function: name, Words: len(words), Share: float64(hits) / float64(len(wanted))})
		}
	}
	return out
}

func sorted(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// bodies are the bodies of the functions of a file, by qualified name; none where it cannot be read. Of those with one name the last
// counts, as where the language runs it.
func bodies(t *tree.Tree, p string, l syntax.Language) map[string]string {
	out := map[string]string{}
	data, err := t.Read(p)
	if err != nil {
		return out
	}
	f, err := outline.Parse(l, data)
	if err != nil {
		return out
	}
	for _, d := range f.Decls {
		if (d.Kind == outline.Function || d.Kind == outline.Method) && d.Body.End > d.Body.Start {
			out[d.Qualified] = string(f.Source[d.Body.Start:d.Body.End])
		}
	}
	return out
}

func wordsOf(text string) []string { return word.FindAllString(text, -1) }

// phrases are those of n words each, or the one of fewer.
func phrases(words []string, n int) map[string]bool {
	out := map[string]bool{}
	if len(words) == 0 {
		return out
	}
	for i := 0; i == 0 || i+n <= len(words); i++ {
		out[strings.Join(words[i:min(i+n, len(words))], " ")] = true
	}
	return out
}
