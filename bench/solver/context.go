package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode"
)

// The orders in which modules are written.
const (
	topological = "topological" // what a module imports comes before it
	random      = "random"
	byPath      = "path"
)

// What a question quotes of the specification.
const (
	byBM25 = "bm25"
	byHead = "head"
	none   = "none"
)

// choices are the settings of Commit0's paper that its ablations turn (section 6).
type choices struct {
	order         string
	seed          uint64 // of the random order
	imported      bool   // a question shows the modules that the module imports
	specification string
	best          int // answers for each module in the first stage, of which the best stays
	rounds        int // of feedback on each test module
}

func (c choices) check() error {
	for _, one := range []struct {
		name, word string
		known      []string
	}{{"order", c.order, []string{topological, random, byPath}}, {"specification", c.specification, []string{byBM25, byHead, none}}} {
		if !slices.Contains(one.known, one.word) {
			return fmt.Errorf("-%s %q is not known (known: %s)", one.name, one.word, strings.Join(one.known, ", "))
		}
	}
	if c.best < 1 {
		return fmt.Errorf("-best %d: at least one answer is needed", c.best)
	}
	return nil
}

// arrange gives files in the order that is chosen. In a cycle the import that closes it does not count:
// the paper removes a random one.
func (c choices) arrange(files []string, imports map[string][]string) []string {
	files = slices.Sorted(slices.Values(files))
	if c.order == random {
		rand.New(rand.NewPCG(c.seed, 0)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] }) //nolint:gosec // a draw that can be repeated
	}
	if c.order != topological {
		return files
	}
	var out []string
	seen := map[string]bool{}
	var visit func(string)
	visit = func(file string) {
		if _, ours := slices.BinarySearch(files, file); seen[file] || !ours {
			return
		}
		seen[file] = true
		for _, to := range imports[file] {
			visit(to)
		}
		out = append(out, file)
	}
	for _, file := range files {
		visit(file)
	}
	return out
}

// Tokens are not counted: the paper's 1,000 and 10,000 are taken for so many bytes.
const (
	bytesPerToken = 4
	chunkBytes    = 1000 * bytesPerToken
	headBytes     = 10000 * bytesPerToken
	topChunks     = 10
)

// excerpt is what a question about a module quotes of a specification.
func (c choices) excerpt(specification, module string) string {
	switch c.specification {
	case byHead:
		return cut(specification, headBytes)
	case byBM25:
		return strings.Join(matching(chunks(specification), module, topChunks), "\n…\n")
	}
	return ""
}

// cut is how a text begins.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// chunks cuts a text behind lines into parts of at most chunkBytes; a longer line is cut.
func chunks(text string) []string {
	var out []string
	for text != "" {
		part := cut(text, chunkBytes)
		if end := strings.LastIndexByte(part, '\n'); end >= 0 && len(part) < len(text) {
			part = part[:end+1]
		}
		out = append(out, part)
		text = text[max(1, len(part)):]
	}
	return out
}

// Okapi BM25 with the usual constants; a word that most chunks hold counts little, and never less
// than nothing (Lucene's form).
const (
	bm25K = 1.5
	bm25B = 0.75
)

// matching are the chunks that match a query most, each word of which counts once, in the order of
// the text. One without any word of the query is left out.
func matching(all []string, query string, most int) []string {
	counts := make([]map[string]int, len(all))
	lengths, total := make([]int, len(all)), 0
	holding := map[string]int{} // chunks by words
	for i, chunk := range all {
		counts[i] = map[string]int{}
		for _, w := range words(chunk) {
			counts[i][w]++
		}
		for w, n := range counts[i] {
			holding[w]++
			lengths[i] += n
		}
		total += lengths[i]
	}
	asked := slices.Compact(slices.Sorted(slices.Values(words(query))))
	scores := make([]float64, len(all))
	var found []int
	for i := range all {
		for _, w := range asked {
			n, in := float64(counts[i][w]), float64(holding[w])
			rarity := math.Log(1 + (float64(len(all))-in+0.5)/(in+0.5))
			scores[i] += rarity * n * (bm25K + 1) / (n + bm25K*(1-bm25B+bm25B*float64(lengths[i]*len(all))/float64(max(1, total))))
		}
		if scores[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	found = found[:min(most, len(found))]
	slices.Sort(found)
	var out []string
	for _, i := range found {
		out = append(out, all[i])
	}
	return out
}

// words are names and numbers in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// material is what a question about a file shows, with the texts as they are now.
func (s *solver) material(root *os.Root, file, now string) (string, error) {
	var b strings.Builder
	b.WriteString(s.statement)
	if text := s.excerpt(s.manual, now); text != "" {
		b.WriteString("\n\nFrom the specification of the library:\n\n" + text)
	}
	if s.imported {
		for _, to := range s.imports[file] {
			text, err := root.ReadFile(to)
			if err != nil {
				return "", err
			}
			if len(text) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\n\nThe file %s, which %s imports:\n\n%s", to, file, text)
		}
	}
	fmt.Fprintf(&b, "\n\nThe file %s now:\n\n%s", file, now)
	return b.String(), nil
}
