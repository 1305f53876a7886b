package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// Of a Makefile only this is read: variables with a literal value, targets, and the lines of
// their recipes. It is own reasoning in place of make, which is not here and would run them.
// A line with anything else in it keeps its $, and words with one are no flags.
var (
	makeVariable = lazyregexp.New(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*(\?=|:=|::=|\+=|=)\s*(.*)$`)
	makeRule     = lazyregexp.New(`^([^\s:=#][^:=#]*)::?([^=:].*)?$`)
	makeUse      = lazyregexp.New(`\$[({]([A-Za-z_][A-Za-z0-9_]*)[)}]`)
)

const maxMakefile = 1 << 18 // bytes, also of one line with its variables put in

// numbered are the lines of a file, continued ones joined, comments left out.
func numbered(p, text string) []workflow.Word {
	var out []workflow.Word
	open := false
	for i, line := range strings.Split(text, "\n") {
		line, continued := strings.CutSuffix(strings.TrimRight(line, "\r"), "\\")
		switch {
		case open:
			out[len(out)-1].Value += " " + strings.TrimSpace(line)
		case !strings.HasPrefix(strings.TrimSpace(line), "#"):
			out = append(out, workflow.Word{Value: line, Source: fmt.Sprintf("%s:%d", p, i+1)})
		default:
			continued = false
		}
		open = continued
	}
	return out
}

// makeLines are the lines that make runs for targets, those of their prerequisites first.
func makeLines(t lang.Tree, words []string) []workflow.Word {
	names := []string{"GNUmakefile", "makefile", "Makefile"}
	at := slices.IndexFunc(names, t.Has)
	if at < 0 {
		return nil
	}
	data, err := t.Read(names[at])
	if err != nil || len(data) > maxMakefile {
		return nil
	}
	m := readMake(names[at], string(data))
	var targets []string
	for i := 0; i < len(words); i++ {
		name, value, set := strings.Cut(words[i], "=")
		switch {
		case words[i] == "-C" || words[i] == "-f":
			return nil // another folder, another file
		case set:
			m.variables[name] = value
		case !strings.HasPrefix(words[i], "-"):
			targets = append(targets, words[i])
		}
	}
	if len(targets) == 0 && len(m.order) > 0 {
		targets = m.order[:1]
	}
	var out []workflow.Word
	seen := map[string]bool{}
	var add func(target string)
	add = func(target string) {
		if seen[target] {
			return
		}
		seen[target] = true
		for _, needed := range strings.Fields(m.expand(m.needs[target], mostCalls)) {
			add(needed)
		}
		for _, l := range m.lines[target] {
			out = append(out, workflow.Word{Value: m.expand(strings.TrimLeft(strings.TrimSpace(l.Value), "@-+ "), mostCalls), Source: l.Source})
		}
	}
	for _, target := range targets {
		add(target)
	}
	return out
}

// makefile is what is read of one.
type makefile struct {
	variables map[string]string
	order     []string // targets
	needs     map[string]string
	lines     map[string][]workflow.Word
}

func readMake(p, text string) makefile {
	m := makefile{variables: map[string]string{"MAKE": "make", "GO": "go"}, needs: map[string]string{}, lines: map[string][]workflow.Word{}}
	var current []string
	given := map[string]bool{}
	for _, l := range numbered(p, text) {
		if strings.HasPrefix(l.Value, "\t") {
			for _, target := range current {
				m.lines[target] = append(m.lines[target], l)
			}
			continue
		}
		if v := makeVariable.FindStringSubmatch(l.Value); v != nil {
			value, _, _ := strings.Cut(v[3], " #")
			switch {
			case v[2] == "+=" && given[v[1]]:
				value = m.variables[v[1]] + " " + value
			case v[2] == "?=" && given[v[1]]:
				continue
			}
			m.variables[v[1]], given[v[1]] = strings.TrimSpace(value), true
			continue
		}
		if rule := makeRule.FindStringSubmatch(l.Value); rule != nil {
			current = strings.Fields(rule[1])
			needs, inline, _ := strings.Cut(rule[2], ";")
			needs, _, _ = strings.Cut(needs, "|")
			for _, target := range current {
				m.needs[target] += " " + needs
				if inline != "" {
					m.lines[target] = append(m.lines[target], workflow.Word{Value: inline, Source: l.Source})
				}
				if !strings.HasPrefix(target, ".") && !slices.Contains(m.order, target) {
					m.order = append(m.order, target)
				}
			}
		}
	}
	return m
}

// expand puts the values of variables in their places, those that are not set as they stand.
func (m makefile) expand(text string, depth int) string {
	if depth == 0 || !strings.Contains(text, "$") {
		return text
	}
	out := makeUse.ReplaceAllStringFunc(text, func(use string) string {
		if value, ok := m.variables[use[2:len(use)-1]]; ok {
			return value
		}
		return use
	})
	if len(out) > maxMakefile {
		return text
	}
	if out == text {
		return strings.ReplaceAll(out, "$$", "$")
	}
	return m.expand(out, depth-1)
}
