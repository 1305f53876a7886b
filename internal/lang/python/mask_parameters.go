package python

import (
	"bytes"
	"slices"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// parameters are those of a function as the engine has them.
func (r *reader) parameters(def syntax.Node) []string {
	var out []string
	again := bytes.Contains(r.src[def.Start():def.End()], []byte("nonlocal"))
	for c := range def.Child("parameters").Children() {
		name := r.word(parameter(c))
		switch l := r.scope.names[name]; {
		case name == "":
		case c.Kind() == "list_splat_pattern", c.First().Kind() == "list_splat_pattern":
			out = append(out, "*")
		case c.Kind() == "dictionary_splat_pattern", c.First().Kind() == "dictionary_splat_pattern":
			out = append(out, "**")
		case l.kind == receiver:
			out = append(out, ".")
		case l.kind == given && !again:
			out = append(out, name)
		default:
			out = append(out, "!"+name)
		}
	}
	return out
}

// taken is how many arguments a function takes; that before the dot is needed by nobody.
func taken(parameters syntax.Node, member bool) int {
	needs, most, behind := 0, 0, false
	for c := range parameters.Children() {
		name := parameter(c)
		switch {
		case c.Kind() == "list_splat_pattern", c.First().Kind() == "list_splat_pattern":
			most, behind = -1, true
		case c.Kind() == "keyword_separator":
			behind = true
		case c.Kind() == "dictionary_splat_pattern", c.First().Kind() == "dictionary_splat_pattern", !name.Is():
		default:
			if !behind {
				most++
			}
			if !c.Child("value").Is() {
				needs++
			}
		}
	}
	if member {
		needs = max(0, needs-1)
	}
	return mask.Takes(needs, most)
}

// isGiven tells the name of a parameter that means nothing else.
func (r *reader) isGiven(n syntax.Node) bool {
	return n.Kind() == "identifier" && r.isGivenName(r.word(n))
}

func (r *reader) isGivenName(name string) bool {
	l, ok := r.scope.find(name)
	return ok && l.kind == given
}

// receiverWord is cls for what is called on the class.
func receiverWord(r *reader, def syntax.Node, decorators []string) string {
	switch name := r.word(def.Child("name")); {
	case slices.Contains(decorators, "classmethod"), slices.Contains(classHooks[:1], name), name == "__class_getitem__", name == "__new__":
		return "cls"
	}
	return "self"
}

// parameter is the name of one.
func parameter(n syntax.Node) syntax.Node {
	switch n.Kind() {
	case "identifier":
		return n
	case "default_parameter", "typed_default_parameter":
		return n.Child("name")
	case "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern":
		for c := range n.Children() {
			if c.Is("identifier", "list_splat_pattern", "dictionary_splat_pattern") {
				return parameter(c)
			}
		}
	}
	return syntax.Node{}
}
