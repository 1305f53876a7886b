package describe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/deploy"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// service writes the instruction of a service, by the rules alone: the endpoints that are
// missing, what they are sent, and what their cases demand of an answer. Values that a case chains
// from earlier answers are told by their types; an answer in full is shown of other groups only.
func (d *Describer) service(ctx context.Context, f facts) (schemas.Statement, error) {
	st := schemas.Statement{StartID: f.start.ID(), Provider: prompts.Rules, From: []string{"routes", "cases"}}
	if hand := d.overrides[st.StartID]; hand.Statement != "" {
		st.Text, st.Provider, st.WrittenBy, st.From = hand.Statement, schemas.Hand, schemas.Hand, []string{schemas.Hand}
		pipeline.Provide(ctx, prompts.Provenance{Provider: st.Provider})
		return st, nil
	}
	raw, err := f.solution.Read(httpsuite.CasesPath)
	if err != nil {
		return st, fmt.Errorf("reading the cases of %s: %w", f.start.ID(), err)
	}
	suite, err := contract.Decode(raw)
	if err != nil {
		return st, fmt.Errorf("reading the cases of %s: %w", f.start.ID(), err)
	}
	provisioned, err := d.records.Provisioned(f.start.ID())
	if err != nil {
		return st, err
	}
	r := provisioned.Environment.Recipe
	i := instruction{start: f.start, suite: suite, service: r.Service, f2p: judged(f.proof), toolchain: r.Toolchain, tools: r.Tools}
	st.Text = i.text()
	pipeline.Provide(ctx, prompts.Provenance{Provider: st.Provider})
	return st, nil
}

// judged are the IDs of the tests that a task is scored by.
func judged(p schemas.Proof) map[string]bool {
	out := map[string]bool{}
	for _, id := range slices.Concat(p.List(schemas.F2P), p.List(schemas.P2P)) {
		out[id] = true
	}
	return out
}

// instruction is what the text is made of.
type instruction struct {
	start   schemas.Start
	suite   contract.Suite
	service *schemas.Service
	f2p     map[string]bool
	// toolchain and tools are those of the recipe.
	toolchain schemas.Toolchain
	tools     []schemas.Toolchain
}

func (i instruction) text() string {
	var b strings.Builder
	g := i.start.Group
	fmt.Fprintf(&b, "Implement the %s of the group `%s` of %s, a web service written with %s.\n\n", count(len(g.Endpoints), "endpoint"), g.Name, i.start.Repo, frameworkName(g.Framework))
	b.WriteString("Their routes are declared, but the bodies of the functions that answer them were taken out, and each of these fails where it is called. Everything else of the service is there:\n\n")
	for _, h := range g.Handlers() {
		file, name, _ := strings.Cut(h, schemas.FunctionDivider)
		fmt.Fprintf(&b, "- `%s` in `%s`", name, file)
		if strings.Contains(name, schemas.LineDivider) {
			fmt.Fprintf(&b, ", a function without a name: there `masked: %s` stands", name)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThe endpoints, and what is expected of them:\n")
	for _, e := range g.Endpoints {
		i.endpoint(&b, e)
	}
	i.example(&b)
	b.WriteString("\nThe work is judged by requests over HTTP. Each begins with the fresh state of the service, and later requests use what earlier ones answered: identifiers, slugs and tokens differ from run to run. Answers have the keys that are shown, and no others. The other endpoints of the service are asked, too, and must answer as they do now.\n")
	if d := i.start.Deploy; d != nil {
		i.environment(&b, *d)
	} else if s := i.service; s != nil {
		fmt.Fprintf(&b, "\nThe service is started with `%s` and asked on port %d.\n", strings.Join(s.Start.Argv, " "), s.Port)
	}
	return strings.TrimRight(b.String(), "\n")
}

// environment asks for the environment, too: the second template of ABC-Bench.
func (i instruction) environment(b *strings.Builder, d schemas.Deploy) {
	fmt.Fprintf(b, "\nThe service has no environment yet: no Dockerfile, no compose file, no start script. Write `%s` in the root of the project. It is built with the project as its context, and the container that starts from it must serve on port %d, on all addresses, within a minute.\n\n", deploy.Dockerfile, d.Port)
	fmt.Fprintf(b, "- The image begins with `FROM %s`, which is Debian with %s; no other image can be had.\n", d.Image, i.toolchains())
	if d.Bare {
		return
	}
	b.WriteString("- The engine's classic builder builds it: without `# syntax` lines, heredocs, and options of `RUN` such as `--mount`.\n")
	b.WriteString("- Everything that the service needs is installed while the image is built. Commands reach the package indexes then, and nothing else; the container has no network but the one that it is asked over.\n")
	if s := i.service; s != nil {
		for _, title := range serve.Titles(*s) {
			fmt.Fprintf(b, "- The service needs a %s server, which starts in the same container. Its programs are in the image.\n", title)
		}
	}
	b.WriteString("- Migrations and first data are the image's or its command's business: each container begins with the same state.\n")
}

// toolchains names those of the base image.
func (i instruction) toolchains() string {
	var out []string
	for _, t := range append([]schemas.Toolchain{i.toolchain}, i.tools...) {
		out = append(out, fmt.Sprintf("%s %s in `%s/%s-%s/bin`", t.Name, t.Version, sandbox.ToolchainPath, t.Name, t.Version))
	}
	return strings.Join(out, " and ")
}

// endpoint describes one endpoint: who may ask, what is sent, what is answered.
func (i instruction) endpoint(b *strings.Builder, e schemas.Endpoint) {
	fmt.Fprintf(b, "\n%s\n", e)
	r := routes.Of(e)
	switch r.Auth {
	case "required":
		b.WriteString("- It asks for the credentials of a user.\n")
	case "optional":
		b.WriteString("- Credentials of a user are optional.\n")
	}
	if len(r.Query) > 0 {
		fmt.Fprintf(b, "- Query parameters: %s.\n", fieldsText(r.Query))
	}
	if r.Body != nil && len(r.Body.Fields) > 0 {
		fmt.Fprintf(b, "- The body (%s) has: %s.\n", encodingName(r.Body.Encoding), fieldsText(r.Body.Fields))
	}
	told := map[string]bool{}
	for _, g := range i.suite.Groups {
		if g.Name != i.start.Group.Name {
			continue
		}
		sent := sentIn(g.Cases)
		for _, c := range g.Cases {
			if c.Endpoint.Method != e.Method || c.Endpoint.Path != e.Path || c.Expect == nil {
				continue
			}
			if line := answerText(c, sent); !told[line] {
				told[line] = true
				b.WriteString(line)
			}
		}
	}
}

// sentIn are the texts that the cases of a group send.
func sentIn(cases []contract.Case) map[string]bool {
	out := map[string]bool{}
	for _, c := range cases {
		maps.Copy(out, sentStrings(c.Request.Body))
	}
	return out
}

// answerText is what one case demands, as a line of a list.
func answerText(c contract.Case, sent map[string]bool) string {
	status := fmt.Sprintf("%d %s", c.Expect.Status, http.StatusText(c.Expect.Status))
	shape := ""
	if c.Expect.Body != nil {
		shape = ": `" + shapeOf(c.Expect.Body, sent) + "`"
	}
	if c.Expect.Location != nil {
		shape += ", with a Location header"
	}
	return fmt.Sprintf("- %s answers %s%s.\n", askedAs(c), strings.TrimSpace(status), shape)
}

// askedAs says how a case asks, as the subject of a sentence.
func askedAs(c contract.Case) string {
	switch c.Kind {
	case contract.Anonymous:
		return "Without credentials it"
	case contract.Empty:
		return "Sent an empty body, it"
	case contract.Missing:
		return "Asked for what is not there, it"
	case contract.Malformed:
		return "Asked with a malformed identifier, it"
	case contract.Deleted:
		return "Asked for what was deleted, it"
	case contract.Duplicate:
		return "Asked the same once more, it"
	case contract.Other:
		return "Asked by another user, it"
	case contract.Happy:
		return "It"
	case contract.Extra:
		return sentText(c.Request) + " it"
	}
	return "In the case " + strings.ReplaceAll(c.ID, "_", " ") + " it"
}

// sentStrings are the texts of a request's body.
func sentStrings(v any) map[string]bool {
	out := map[string]bool{}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if depth > shapeDepth {
			return
		}
		switch x := v.(type) {
		case string:
			out[x] = true
		case []any:
			for _, e := range x {
				walk(e, depth+1)
			}
		case map[string]any:
			for _, e := range x {
				walk(e, depth+1)
			}
		}
	}
	walk(v, 0)
	return out
}

// Bounds of what is told of one answer.
const (
	shapeDepth  = 8
	shapeLength = 600 // bytes
	shapeText   = 120 // bytes of a text that is told as it is
)

// shapeOf is an answer as a solver must make it: keys, and types for values. A text that was not
// sent is a constant of the service, which nobody could guess: it is told as it is.
func shapeOf(m *contract.Matcher, sent map[string]bool) string {
	out := shape(m, sent, 0)
	if len(out) > shapeLength {
		out = strings.ToValidUTF8(out[:shapeLength], "") + "…"
	}
	return out
}

func shape(m *contract.Matcher, sent map[string]bool, depth int) string {
	switch {
	case m == nil || depth > shapeDepth:
		return "…"
	case m.Object != nil:
		var keys []string
		for k := range m.Object {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for n, k := range keys {
			keys[n] = quote(k) + ": " + shape(m.Object[k], sent, depth+1)
		}
		return "{" + strings.Join(keys, ", ") + "}"
	case m.List != nil:
		return listShape(m.List, sent, depth)
	case m.Set != nil:
		return listShape(m.Set, sent, depth)
	case m.Ref != "":
		return "string or number"
	case m.Form != "":
		return m.Form
	case m.Type != "":
		return m.Type
	case m.Equal != nil:
		return valueShape(*m.Equal, sent, depth)
	}
	return "…"
}

func listShape(all []*contract.Matcher, sent map[string]bool, depth int) string {
	var parts []string
	for _, m := range all {
		if p := shape(m, sent, depth+1); !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func valueShape(v any, sent map[string]bool, depth int) string {
	if depth > shapeDepth {
		return "…"
	}
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		if sent[x] || x == "" || len(x) > shapeText {
			return "string"
		}
		return quote(x)
	case []any:
		var parts []string
		for _, e := range x {
			if p := valueShape(e, sent, depth+1); !slices.Contains(parts, p) {
				parts = append(parts, p)
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var keys []string
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for n, k := range keys {
			keys[n] = quote(k) + ": " + valueShape(x[k], sent, depth+1)
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return "number"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `"…"`
	}
	return strings.ReplaceAll(string(b), "`", "'")
}

// example shows one answer of another group in full, so that a solver sees the style of the
// service.
func (i instruction) example(b *strings.Builder) {
	const most = 1000
	for _, g := range i.suite.Groups {
		if g.Name == i.start.Group.Name {
			continue
		}
		for _, c := range g.Cases {
			if c.Kind != contract.Happy || c.Expect == nil || c.Expect.Status >= 300 || c.Expect.Body == nil || contract.GroupName(c.Group) == i.start.Group.Name {
				continue
			}
			text := shapeOf(c.Expect.Body, sentIn(g.Cases))
			if len(text) < 10 || len(text) > most {
				continue
			}
			fmt.Fprintf(b, "\nFor example, %s of another group answers %d: `%s`.\n", c.Endpoint, c.Expect.Status, text)
			return
		}
	}
}

func fieldsText(fields []routes.Field) string {
	const most = 30
	var out []string
	for n, f := range fields {
		if n == most {
			out = append(out, "…")
			break
		}
		text := "`" + strings.ReplaceAll(f.Name, "`", "'") + "`"
		var notes []string
		if f.Type != "" && f.Type != "object" {
			notes = append(notes, f.Type)
		}
		if f.Format != "" {
			notes = append(notes, f.Format)
		}
		if f.Required {
			notes = append(notes, "required")
		}
		if len(f.Enum) > 0 {
			notes = append(notes, "one of "+strings.Join(f.Enum, ", "))
		}
		if len(notes) > 0 {
			text += " (" + strings.Join(notes, ", ") + ")"
		}
		if len(f.Fields) > 0 {
			text += " with " + fieldsText(f.Fields)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func encodingName(e string) string {
	if e == "form" {
		return "a form"
	}
	return "JSON"
}

func frameworkName(word string) string {
	for _, name := range []string{"Flask", "FastAPI", "Gin", "Chi"} {
		if strings.EqualFold(name, word) {
			return name
		}
	}
	return word
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
