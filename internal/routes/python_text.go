package routes

import (
	"slices"

	"github.com/benchmint/benchmint/internal/syntax"
)

// uniqueText is the one string that attributes of a name are given anywhere in the tree.
func (p *python) uniqueText(name string) (string, bool) {
	if p.strings == nil {
		p.strings = map[string][]string{}
		for _, m := range p.sorted() {
			if m.tree == nil {
				continue
			}
			for n := range m.tree.All() {
				if n.Is("assignment") {
					p.noteText(m, n)
				}
			}
		}
	}
	found := p.strings[name]
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

func (p *python) noteText(m *pyModule, n syntax.Node) {
	right := n.Child("right")
	if !right.Is("string", "concatenated_string") {
		return
	}
	name := lastName(n.Child("left").Text())
	if s, ok := p.eval(right, &pyFrame{scope: m.scope, module: m}).(string); ok && !slices.Contains(p.strings[name], s) {
		p.strings[name] = append(p.strings[name], s)
	}
}

// textOf is a value that is a string, or an attribute whose name has one string in the tree.
func (p *python) textOf(v pyValue) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case *pyMember:
		if _, ok := x.of.(*pyRouter); !ok {
			return p.uniqueText(x.name)
		}
	case *pyInstance:
		s, ok := x.attrs["value"].(string)
		return s, ok
	}
	return "", false
}
