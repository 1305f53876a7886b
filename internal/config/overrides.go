package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// The keys of a file of overrides.
var (
	overrideKeys = []string{"statement", "interface"}
	nameKeys     = []string{"name", "kind", "path", "signature"}
	nameKinds    = []string{"function", "method", "class", "type", "constant", "variable", "parameter", "field", "module", "import"}
)

// ReadOverrides reads a file of statements and interfaces that somebody wrote by hand, by
// instance ID. An error is a Problems with all that is wrong, or the fault of reading the
// file. "" is no file.
func ReadOverrides(file string) (map[string]schemas.Override, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading overrides: %w", err)
	}
	parsed, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(file, err)}
	}
	out := map[string]schemas.Override{}
	r := &overrideReader{reader: reader{file: file}}
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType {
			continue
		}
		pairs, ok := pairsOf(doc.Body)
		if !ok {
			r.problem(doc.Body, "overrides must hold instance IDs (ID: with statement or interface below it)")
		}
		for _, pair := range pairs {
			id := pair.Key.GetToken().Value
			if _, err := schemas.ParseInstanceID(id); err != nil {
				r.problem(pair.Key, "%q is not an instance ID (owner__name-12)", id)
				continue
			}
			if _, twice := out[id]; twice {
				r.problem(pair.Key, "%s stands here twice", id)
			}
			out[id] = r.override(id, pair)
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return out, nil
}

type overrideReader struct{ reader }

func (r *overrideReader) override(id string, pair *ast.MappingValueNode) schemas.Override {
	var o schemas.Override
	pairs, ok := pairsOf(pair.Value)
	if !ok {
		r.problem(pair.Key, "%s must hold statement, interface or both", id)
		return o
	}
	for _, p := range pairs {
		switch key := p.Key.GetToken().Value; key {
		case "statement":
			text, ok := textOf(p.Value)
			o.Statement = strings.TrimSpace(text)
			if !ok || !prose.Begins(o.Statement) {
				r.problem(p.Key, "%s: the statement must be a text that begins with \"I want to\"", id)
			}
		case "interface":
			list, ok := p.Value.(*ast.SequenceNode)
			if !ok {
				r.problem(p.Key, "%s: the interface must be a list, each entry with - name: and kind:", id)
				continue
			}
			for _, entry := range list.Values {
				o.Interface = append(o.Interface, r.name(id, entry))
			}
		default:
			r.problem(p.Key, "unknown key %q of %s%s", key, id, hintOr(key, overrideKeys))
		}
	}
	return o
}

func (r *overrideReader) name(id string, entry ast.Node) schemas.Name {
	var n schemas.Name
	pairs, _ := pairsOf(entry)
	into := map[string]*string{"name": &n.Name, "kind": &n.Kind, "path": &n.Path, "signature": &n.Signature}
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		text, ok := textOf(p.Value)
		switch {
		case into[key] == nil:
			r.problem(p.Key, "unknown key %q in the interface of %s%s", key, id, hintOr(key, nameKeys))
		case !ok || strings.TrimSpace(text) == "" || strings.Contains(strings.TrimSpace(text), "\n"):
			r.problem(p.Key, "%s: %s must be a text on one line", id, key)
		default:
			*into[key] = strings.TrimSpace(text)
		}
	}
	switch {
	case n.Name == "" || n.Kind == "":
		r.problem(entry, "%s: a name of the interface needs name and kind", id)
	case !slices.Contains(nameKinds, n.Kind):
		r.problem(entry, "%s: kind %q is not one of %s%s", id, n.Kind, strings.Join(nameKinds, ", "), nearest.Hint(n.Kind, nameKinds))
	}
	return n
}

func hintOr(word string, known []string) string {
	if hint := nearest.Hint(word, known); hint != "" {
		return hint
	}
	return " (known: " + strings.Join(known, ", ") + ")"
}

// textOf is a scalar, blocks of several lines included.
func textOf(n ast.Node) (string, bool) {
	if l, ok := n.(*ast.LiteralNode); ok {
		return l.Value.Value, true
	}
	return scalarOf(n)
}
