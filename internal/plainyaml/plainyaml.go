// Package plainyaml distinguishes YAML that people write from YAML that is made to cost a parser
// more than its size: nesting, and aliases that multiply.
//
// It never parses, and never says what a text means.
package plainyaml

import "github.com/goccy/go-yaml/token"

const maxDepth = 64

// Deep reports nesting that only a hostile file has: of brackets, or of entries, keys,
// tags and anchors on one line. Nesting by indentation is bounded by the size of a file.
func Deep(tokens token.Tokens) bool {
	flow, line, onLine := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, onLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			onLine++
		}
		if flow > maxDepth || onLine > maxDepth {
			return true
		}
	}
	return false
}

// Aliased reports whether anything is named to stand in other places too: what is
// decoded can then be larger than any machine.
func Aliased(tokens token.Tokens) bool {
	for _, t := range tokens {
		if t.Type == token.AliasType {
			return true
		}
	}
	return false
}
