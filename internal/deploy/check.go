package deploy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Refused is a Dockerfile that is not built, and why.
type Refused struct {
	Line int
	Why  string
}

func (e *Refused) Error() string { return fmt.Sprintf("%s:%d: %s", Dockerfile, e.Line, e.Why) }

var ownSyntax = lazyregexp.New(`^(docker\.io/)?docker/dockerfile(:[\w.-]+)?$`)

// Pin gives a Dockerfile that begins with the image of id where it names image. One that begins
// with another image, copies from one, or adds what lies on the internet is a *Refused: the
// engine itself would fetch it, past the way that builds have to the package indexes.
//
// The text is written anew, one instruction a line, without comments: so the engine, whose parser
// is older than this one and splits lines otherwise, sees the instructions that were judged.
func Pin(text []byte, image, id string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Refused{Line: 1, Why: "there is no such file in the root of the project, or nothing in it"}
	}
	// Docker's own is what this parser reads; the line is not written again.
	if syntax, _, at, ok := parser.DetectSyntax(text); ok && !ownSyntax.MatchString(syntax) {
		return nil, &Refused{Line: at[0].Start.Line, Why: fmt.Sprintf("# syntax=%s: no other builder is fetched", syntax)}
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, &Refused{Line: 1, Why: err.Error()}
	}
	if parsed.EscapeToken != parser.DefaultEscapeToken {
		return nil, &Refused{Line: 1, Why: fmt.Sprintf("# escape=%c: lines are continued with %c alone", parsed.EscapeToken, parser.DefaultEscapeToken)}
	}
	p := &pinning{image: image, id: id, stages: map[string]bool{}}
	for _, n := range parsed.AST.Children {
		if why := p.instruction(n, words(n)); why != "" {
			return nil, &Refused{Line: n.StartLine, Why: why}
		}
	}
	return p.out.Bytes(), nil
}

// pinning is a Dockerfile whose image is given by its ID.
type pinning struct {
	image, id string
	out       bytes.Buffer
	stages    map[string]bool // by name, so far
}

// instruction writes the next instruction, or says why it is refused; "" where it is not.
func (p *pinning) instruction(n *parser.Node, words []string) (why string) {
	line, name := strings.TrimSpace(n.Original), strings.ToUpper(n.Value)
	switch {
	case len(n.Heredocs) > 0:
		return fmt.Sprintf("%s <<%s: the engine's builder knows no heredocs", name, n.Heredocs[0].Name)
	case !letters.MatchString(n.Value): // a byte order mark, say, which the engine's parser drops at the start
		return fmt.Sprintf("%q is not an instruction", n.Value)
	case strings.HasSuffix(line, string(parser.DefaultEscapeToken)):
		return "the line ends with a backslash, and is not continued"
	}
	switch name {
	case "FROM":
		if why := p.from(words); why != "" {
			return why
		}
		line = strings.Join(slices.Concat([]string{name}, words), " ") // one platform is here: --platform says nothing
	case "COPY":
		for _, f := range n.Flags {
			if from, ok := strings.CutPrefix(f, "--from="); ok && !p.stage(from) {
				return fmt.Sprintf("COPY --from=%s: no stage has this name", from)
			}
		}
	case "ADD":
		if i := slices.IndexFunc(words[:max(len(words)-1, 0)], func(w string) bool { return !plainPath.MatchString(w) }); i >= 0 {
			return fmt.Sprintf("ADD %s: it adds nothing but files of the project, by plain names; what is fetched comes by commands from the package indexes", words[i])
		}
	case "RUN":
		if len(n.Flags) > 0 {
			return fmt.Sprintf("RUN %s: the engine's builder knows no options of RUN", n.Flags[0])
		}
	case "ONBUILD":
		return "ONBUILD has no use in the image of a service"
	}
	p.out.WriteString(line + "\n")
	return ""
}

var letters = lazyregexp.New(`^[A-Za-z]+$`)

// plainPath are words that no quote, escape or variable turns into others, and that are not URLs.
var plainPath = lazyregexp.New(`^[\pL\pN_./*?@+~,=%-]+$`)

// from judges the words of a FROM, and names the image by its ID.
func (p *pinning) from(words []string) (why string) {
	if len(words) == 0 {
		return "FROM names no image"
	}
	switch from := words[0]; {
	case from == p.image:
		words[0] = p.id
	case !p.stages[strings.ToLower(from)] && from != "scratch":
		return fmt.Sprintf("FROM %s: there is no image but %s", from, p.image)
	}
	if len(words) == 3 && strings.EqualFold(words[1], "as") {
		p.stages[strings.ToLower(words[2])] = true
	}
	return ""
}

// stage reports whether a word names a stage, by its name or place.
func (p *pinning) stage(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil || p.stages[strings.ToLower(word)]
}

func words(n *parser.Node) []string {
	var out []string
	for next := n.Next; next != nil; next = next.Next {
		out = append(out, next.Value)
	}
	return out
}
