package deploy

import (
	"bytes"
	"fmt"
	"net/url"
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
	lines := strings.SplitAfter(string(text), "\n")
	stages := map[string]bool{}
	for _, n := range parsed.AST.Children {
		words := words(n)
		refuse := func(form string, args ...any) error {
			return &Refused{Line: n.StartLine, Why: fmt.Sprintf(form, args...)}
		}
		switch strings.ToLower(n.Value) {
		case "from":
			if len(words) == 0 {
				return nil, refuse("FROM names no image")
			}
			from := words[0]
			switch {
			case from == image:
				lines[n.StartLine-1] = strings.Replace(lines[n.StartLine-1], image, id, 1)
				if n.EndLine > n.StartLine || !strings.Contains(lines[n.StartLine-1], id) {
					return nil, refuse("FROM %s is not on one line", image)
				}
			case !stages[strings.ToLower(from)] && from != "scratch":
				return nil, refuse("FROM %s: there is no image but %s", from, image)
			}
			if len(words) == 3 && strings.EqualFold(words[1], "as") {
				stages[strings.ToLower(words[2])] = true
			}
		case "copy":
			if from := flag(n, "from"); from != "" && !stages[strings.ToLower(from)] && !number(from) {
				return nil, refuse("COPY --from=%s: no stage has this name", from)
			}
		case "add":
			for _, w := range words {
				if remote(w) {
					return nil, refuse("ADD %s: nothing is fetched but by commands from the package indexes", w)
				}
			}
		case "onbuild":
			return nil, refuse("ONBUILD has no use in the image of a service")
		}
	}
	return []byte(strings.Join(lines, "")), nil
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
