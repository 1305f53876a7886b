package output

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/benchmint/benchmint/internal/prose"
)

// editTally is what the card says of edits: the table and the figures of RES-Q's paper.
type editTally struct {
	figures [][]float64 // by editMetrics
	tokens  []float64   // of instructions
	repos   map[string]int
	classes map[string]int
	verbs   map[string]map[string]int // with their nouns
	suites  map[string]int            // that a model wrote, by model
}

func newEditTally() *editTally {
	return &editTally{figures: make([][]float64, len(editMetrics)), repos: map[string]int{}, classes: map[string]int{}, verbs: map[string]map[string]int{}, suites: map[string]int{}}
}

// bytesAToken is the estimate of tokens: text in bytes, by four.
const bytesAToken = 4

// editMetrics are the rows of the paper's Table 1 that have quartiles.
var editMetrics = []struct {
	title string
	of    func(Row) float64
}{
	{"Repository: source lines at base", func(r Row) float64 { return float64(r.Benchmint.Statistics.RepositoryLines) }},
	{"Repository: source files at base", func(r Row) float64 { return float64(r.Benchmint.Statistics.RepositoryFiles) }},
	{"Gold patch: Levenshtein distance of its hunks", func(r Row) float64 { return float64(distance(r.Patch)) }},
	{"Gold patch: lines added and removed", func(r Row) float64 { return float64(changedLines(r.Patch)) }},
	{"Gold patch: files", func(r Row) float64 { return float64(strings.Count("\n"+r.Patch, "\ndiff --git ")) }},
	{"Gold patch: tokens (bytes / 4)", func(r Row) float64 { return float64(len(r.Patch)) / bytesAToken }},
}

func (t *editTally) add(r Row) {
	for i, m := range editMetrics {
		t.figures[i] = append(t.figures[i], m.of(r))
	}
	text, _ := prose.Split(r.ProblemStatement)
	order, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	t.tokens = append(t.tokens, float64(len(order))/bytesAToken)
	t.repos[r.Repo]++
	if s := r.Benchmint.Suite; s != nil {
		t.suites[s.Provider]++
	}
	if c := r.Benchmint.Change; c != nil {
		t.classes[cmp.Or(c.Class, "other")]++
	}
	verb, noun := verbAndNoun(order)
	if t.verbs[verb] == nil {
		t.verbs[verb] = map[string]int{}
	}
	t.verbs[verb][noun]++
}

// mostOfFile bounds the bytes of one file that are compared.
const mostOfFile = 200_000

// distance is the Levenshtein distance between what a patch takes out and puts in, hunk by
// hunk: that of whole files is the same or less. Of one file at most mostOfFile bytes count.
func distance(patch string) int {
	total, left := 0, mostOfFile
	var out, in strings.Builder
	flush := func() {
		a, b := trimmed(out.String(), in.String())
		if room := max(left, 0); len(a)+len(b) > room {
			a, b = a[:min(len(a), room/2)], b[:min(len(b), room/2)]
		}
		left -= len(a) + len(b)
		total += levenshtein.ComputeDistance(strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, ""))
		out.Reset()
		in.Reset()
	}
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			flush()
			left = mostOfFile
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			out.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			in.WriteString(line[1:])
		default:
			flush()
		}
	}
	flush()
	return total
}

// trimmed are two texts without what they begin and end with alike.
func trimmed(a, b string) (string, string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	n = 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return a[:len(a)-n], b[:len(b)-n]
}

func changedLines(patch string) (n int) {
	for line := range strings.Lines(patch) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			n++
		}
	}
	return n
}

// small are words between an order's verb and its noun.
var small = strings.Fields("a an the to for of in on with and or by from any all every each more new its this that is be not no when if")

// verbAndNoun are the word that an order begins with, and the first that it is about.
func verbAndNoun(order string) (verb, noun string) {
	words := strings.FieldsFunc(strings.ToLower(order), func(r rune) bool { return strings.ContainsRune(" \t.,:;!?()\"", r) })
	if len(words) == 0 {
		return "", ""
	}
	for _, w := range words[1:] {
		if !slices.Contains(small, w) {
			return words[0], strings.Trim(w, "`'")
		}
	}
	return words[0], ""
}

// quartile is one of sorted values, linear between two of them (as numpy has it).
func quartile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// print writes the section of a card; nothing where there are no edits.
func (t *editTally) print(b *bytes.Buffer) {
	if len(t.tokens) == 0 {
		return
	}
	const first, middle, third = 0.25, 0.5, 0.75
	fmt.Fprintf(b, "\n## Edits\n\nQuartiles as in Table 1 of RES-Q's paper.\n\n| | Q1 | median | Q3 |\n| --- | ---: | ---: | ---: |\n")
	for i, m := range editMetrics {
		v := slices.Sorted(slices.Values(t.figures[i]))
		fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f |\n", m.title, quartile(v, first), quartile(v, middle), quartile(v, third))
	}
	mean, deviation := meanAndDeviation(t.tokens)
	fmt.Fprintf(b, "\nTokens of an instruction (bytes / 4): mean %.2f, deviation %.2f.\n", mean, deviation)
	for _, k := range often(t.suites) {
		fmt.Fprintf(b, "\nThe tests of %d of the %d edits were written by a model (%s), and judged by rules; `benchmint.suite` marks their rows.\n", t.suites[k], len(t.tokens), k)
	}
	fmt.Fprintf(b, "\n| Repository | Edits |\n| --- | ---: |\n")
	for _, k := range often(t.repos) {
		fmt.Fprintf(b, "| %s | %d |\n", k, t.repos[k])
	}
	fmt.Fprintf(b, "\n| Class | Edits |\n| --- | ---: |\n")
	for _, k := range often(t.classes) {
		fmt.Fprintf(b, "| %s | %d |\n", k, t.classes[k])
	}
	verbs := map[string]int{}
	for verb, nouns := range t.verbs {
		for _, n := range nouns {
			verbs[verb] += n
		}
	}
	const mostVerbs, mostNouns = 8, 4
	fmt.Fprintf(b, "\n| Verb | Edits | with |\n| --- | ---: | --- |\n")
	for i, verb := range often(verbs) {
		if i == mostVerbs {
			break
		}
		nouns := often(t.verbs[verb])
		fmt.Fprintf(b, "| %s | %d | %s |\n", verb, verbs[verb], strings.ReplaceAll(strings.Join(nouns[:min(mostNouns, len(nouns))], ", "), "|", `\|`))
	}
}

// often are the keys by their counts, the largest first.
func often(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
}
