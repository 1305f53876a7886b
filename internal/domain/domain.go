// Package domain says by rule what a repository is about: one of the domains of FeatBench's Figure 2,
// by its topics on a forge and the words at the head of its README, with what spoke for it.
//
// It never asks a model, and never gives a domain where two speak alike: most repositories have none.
package domain

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

//go:embed domains.txt
var table string

// Domain is what a repository is about. The zero Domain is that of one of which nothing speaks clearly.
type Domain struct {
	Name     string
	Evidence string // the topics and words that spoke for it
}

// evidence is what may speak for one domain.
type evidence struct {
	name          string
	topics, words []string
}

var domains = sync.OnceValue(func() (out []evidence) {
	for line := range strings.Lines(table) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		name, what, _ := strings.Cut(head, " ")
		i := slices.IndexFunc(out, func(e evidence) bool { return e.name == name })
		if i < 0 {
			out, i = append(out, evidence{name: name}), len(out)
		}
		if what == "topics" {
			out[i].topics = strings.Split(list, ", ")
		} else {
			out[i].words = strings.Split(list, ", ")
		}
	}
	return out
})

// Names are the domains, as FeatBench orders them.
func Names() (names []string) {
	for _, e := range domains() {
		names = append(names, e.name)
	}
	return names
}

const (
	topicWeight = 2    // of a topic, where a word counts 1: one topic alone is not clear
	clear       = 3    // points that a domain needs, and twice those of any other
	headLength  = 1500 // bytes of a README's words that are read
)

// Of gives the domain of a repository by its topics and its README; either may be empty.
func Of(topics []string, readme string) Domain {
	text := head(readme)
	var best Domain
	first, second := 0, 0
	for _, e := range domains() {
		var by []string
		points := 0
		for _, t := range e.topics {
			if slices.ContainsFunc(topics, func(own string) bool { return strings.EqualFold(own, t) }) {
				by, points = append(by, "topic "+t), points+topicWeight
			}
		}
		for _, w := range e.words { // one and several are one word
			if strings.Contains(text, " "+w+" ") || strings.Contains(text, " "+w+"s ") {
				by, points = append(by, fmt.Sprintf("word %q", w)), points+1
			}
		}
		if points > first {
			best, first, second = Domain{e.name, strings.Join(by, ", ")}, points, first
		} else {
			second = max(second, points)
		}
	}
	if first < clear || first < 2*second {
		return Domain{}
	}
	return best
}

var (
	markup = lazyregexp.New("(?s)```.*?```|<!--.*?-->|<[^<>]*>|!\\[[^\\]]*\\]\\([^)]*\\)|\\]\\([^)]*\\)|(?m:^ *\\.\\. [^\n]*$)|https?://\\S+|\\|[\\w-]+\\|")
	mark   = lazyregexp.New(`[^\pL\pN-]+`)
)

// head is the words that a README begins with, in lower case, each between spaces: without markup, code and addresses.
func head(readme string) string {
	text := mark.ReplaceAllString(strings.ToLower(markup.ReplaceAllString(readme, " ")), " ")
	if len(text) > headLength {
		text = text[:headLength]
	}
	return " " + strings.TrimSpace(text) + " "
}
