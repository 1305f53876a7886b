package csharp

import (
	"bytes"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// replacement gives what is replaced of a body, and the text for it; false where a
// directive within the body belongs to one outside of it.
func (r *reader) replacement(body syntax.Node, name string) (mask.Range, string, bool) {
	source := r.source
	fault := `throw new System.NotImplementedException("masked: ` + name + `")`
	if body.Is("arrow_expression_clause") {
		at := mask.Range{Start: body.Start() + len("=>"), End: body.End()}
		text := source[at.Start:max(at.Start, at.End)]
		inner := bytes.TrimLeft(text, " \t\r\n\f\v")
		at.Start += len(text) - len(inner)
		return at, fault, balanced(source, at)
	}
	block := mask.Range{Start: body.Start(), End: body.End()}
	if block.Len() < 2 || source[block.Start] != '{' || source[block.End-1] != '}' {
		return block, fault + ";", false
	}
	at, strict := mask.Braced(source, block, fault+";")
	// Directives may stand at the very margin, where code does not.
	if bytes.HasPrefix(source[at.Start:], []byte("#")) && source[at.Start-1] == '\n' {
		strict = r.margin(block.End-1) + strict
	}
	return at, strict, balanced(source, at)
}

// margin is the indentation of a block, by that of its end.
func (r *reader) margin(end int) string {
	line := r.source[bytes.LastIndexByte(r.source[:end], '\n')+1 : end]
	before := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if bytes.HasPrefix(before, []byte("\t")) {
		return string(before) + "\t"
	}
	return string(before) + "    "
}
