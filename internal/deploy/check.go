package deploy

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// Refused is a Dockerfile that is not built, and why.
type Refused struct {
	Line int
	Why  string
}

func (e *Refused) Error() string { return fmt.Sprintf("%s:%d: %s", Dockerfile, e.Line, e.Why) }

// Pin gives a Dockerfile that begins with the image of id where it names image. One that begins
// with another image, copies from one, or adds what lies on the internet is a *Refused: the
// engine itself would fetch it, past the way that builds have to the package indexes.
func Pin(text []byte, image, id string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Refused{Line: 1, Why: "there is no such file in the root of the project, or nothing in it"}
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, &Refused{Line: 1, Why: err.Error()}
	}
	p := &pinning{image: image, id: id, lines: strings.SplitAfter(string(text), "\n"), stages: map[string]bool{}}
	for _, n := range parsed.AST.Children {
		if why := p.instruction(n, words(n)); why != "" {
			return nil, &Refused{Line: n.StartLine, Why: why}
		}
	}
	return []byte(strings.Join(p.lines, "")), nil
}

// pinning is a Dockerfile whose image is given by its ID.
type pinning struct {
	image, id string
	lines     []string
	stages    map[string]bool // by name, so far
}

// instruction reads the next instruction, and says why it is refused; "" where it is not.
func (p *pinning) instruction(n *parser.Node, words []string) (why string) {
	switch strings.ToLower(n.Value) {
	case "from":
		return p.from(n, words)
	case "copy":
		if from := flag(n, "from"); from != "" && !p.stages[strings.ToLower(from)] && !number(from) {
			return fmt.Sprintf("COPY --from=%s: no stage has this name", from)
		}
	case "add":
		if i := slices.IndexFunc(words, remote); i >= 0 {
			return fmt.Sprintf("ADD %s: nothing is fetched but by commands from the package indexes", words[i])
		}
	case "onbuild":
		return "ONBUILD has no use in the image of a service"
	}
	return ""
}

func (p *pinning) from(n *parser.Node, words []string) (why string) {
	if len(words) == 0 {
		return "FROM names no image"
	}
	switch from := words[0]; {
	case from == p.image:
		line := strings.Replace(p.lines[n.StartLine-1], p.image, p.id, 1)
		if n.EndLine > n.StartLine || !strings.Contains(line, p.id) {
			return fmt.Sprintf("FROM %s is not on one line", p.image)
		}
		p.lines[n.StartLine-1] = line
	case !p.stages[strings.ToLower(from)] && from != "scratch":
		return fmt.Sprintf("FROM %s: there is no image but %s", from, p.image)
	}
	if len(words) == 3 && strings.EqualFold(words[1], "as") {
		p.stages[strings.ToLower(words[2])] = true
	}
	return ""
}

func words(n *parser.Node) []string {
	var out []string
	for next := n.Next; next != nil; next = next.Next {
		out = append(out, next.Value)
	}
	return out
}

func flag(n *parser.Node, name string) string {
	for _, f := range n.Flags {
		if value, ok := strings.CutPrefix(f, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// number reports whether a stage is named by its place.
func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// remote reports whether the engine would fetch what a word of ADD names.
func remote(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" || strings.HasPrefix(s, "git@") || strings.Contains(s, "$")
}
