package spec

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
)

// autodoc is what Sphinx would write by running the code, from signatures and docstrings.
func (p *page) autodoc(kind, name string, o options) []string {
	name, _, _ = strings.Cut(strings.TrimSpace(strings.ReplaceAll(name, "::", ".")), "(")
	if name == "" {
		return nil
	}
	at, class := p.module, p.class
	found, m, ok := p.api.find(name, at, class)
	switch {
	case !ok:
		p.left[leftNames]++
		return []string{code(strings.TrimSpace(kind + " " + name))}
	case m != nil:
		return p.ofModule(m, o)
	}
	out := p.entry(found, true)
	if found.decl().Kind == outline.Class {
		for _, i := range found.members(o) {
			out = append(out, p.entry(object{found.m, i}, false)...)
		}
	}
	return out
}

// ofModule is the docstring of a module, with its members where they are asked for.
func (p *page) ofModule(m *module, o options) []string {
	was := p.module
	p.module = m.name
	defer func() { p.module = was }()
	out := p.docs(docstring(string(m.file.Source)))
	if _, all := o["members"]; !all {
		return out
	}
	for _, i := range m.children[-1] {
		x := object{m, i}
		if !chosen(x, o) {
			continue
		}
		out = append(out, p.entry(x, true)...)
		if x.decl().Kind == outline.Class {
			for _, j := range x.members(options{"members": " "}) {
				out = append(out, p.entry(object{m, j}, false)...)
			}
		}
	}
	return out
}

// members are those of a class that the options of a directive choose.
func (x object) members(o options) []int {
	names, asked := o["members"]
	var out []int
	if !asked {
		return nil
	}
	for _, i := range x.m.children[x.at] {
		member := object{x.m, i}
		if strings.TrimSpace(names) == "" && chosen(member, o) || slices.Contains(list(names), member.decl().Name) {
			out = append(out, i)
		}
	}
	return out
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// chosen reports whether a member is of those that are meant by all of them.
func chosen(x object, o options) bool {
	name := x.decl().Name
	if names := list(o["members"]); len(names) > 0 {
		return slices.Contains(names, name)
	}
	if slices.Contains(list(o["exclude-members"]), name) {
		return false
	}
	_, undocumented := o["undoc-members"]
	return public(x) && (undocumented || x.doc() != "")
}

// public reports whether an object is for users: its name has no underscore before it, or is
// one that the language calls.
func public(x object) bool {
	d := x.decl()
	special := strings.HasPrefix(d.Name, "__") && strings.HasSuffix(d.Name, "__") && d.Kind == outline.Method && d.Name != "__init__"
	return special || !strings.HasPrefix(d.Name, "_")
}

// entry is one object: how it is written, and what its docstring says.
func (p *page) entry(x object, titled bool) []string {
	if p.api.done[x.key()] && !p.room() {
		return nil
	}
	p.api.done[x.key()] = true
	d := x.decl()
	head := x.head()
	doc := x.doc()
	var out []string
	name := d.Qualified
	if titled && x.m.name != "" {
		name = x.m.name + "." + d.Qualified
	}
	if d.Kind == outline.Class {
		head, doc = x.classHead(head, doc)
	}
	if p.inside {
		out = append(out, code(name))
	} else {
		level := p.level
		if titled {
			out = append(out, p.section(level+1, code(name)))
		} else {
			out = append(out, p.section(level+2, code(name)))
		}
		p.level = level
	}
	out = append(out, fence(p.api.language, head))
	was, class := p.module, p.class
	p.module = x.m.name
	out = append(out, p.docs(doc)...)
	p.module, p.class = was, class
	for _, b := range out {
		p.used(len(b))
	}
	return out
}

// classHead is a class with its fields and how it is made.
func (x object) classHead(head []string, doc string) ([]string, string) {
	const most = 40 // fields
	var below []string
	fields := 0
	for _, i := range x.m.children[x.at] {
		d := x.m.file.Decls[i]
		member := object{x.m, i}
		switch {
		case d.Kind == outline.Field && x.decl().Body.Holds(d.Span) && x.m.file.Source[max(d.NameSpan.Start-1, 0)] != '.' && !strings.HasPrefix(d.Name, "_") && fields < most:
			fields++
			below = append(below, "    "+d.Signature)
		case d.Kind == outline.Method && (d.Name == "__init__" || d.Name == "__new__"):
			for _, l := range member.head() {
				below = append(below, "    "+l)
			}
			if own := member.doc(); doc == "" {
				doc = own
			}
		}
	}
	if len(below) > 0 {
		head[len(head)-1] += ":"
	}
	return append(head, below...), doc
}

var googleLine = lazyregexp.New(`^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Attributes|Returns|Return|Yields|Yield|Raises|Raise|Warns|Examples?|Notes?|Warnings?|References|See Also|Todo|Usage):$`)
var googleItem = lazyregexp.New(`^(\*{0,2}[\w.]+)(?: *\(([^)]*)\))?: ?(.*)$`)

var fenceStart = lazyregexp.New("(?m)^ *```\\w*$")

// docs is the Markdown of a docstring.
func (p *page) docs(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	lines := linesOf(text)
	lines = append([]string{strings.TrimSpace(lines[0])}, dedent(lines[1:])...)
	inside := &page{book: p.book, path: p.path, links: p.links, subs: p.subs, module: p.module, class: p.class, inside: true, nested: p.nested, title: "-"}
	if fenceStart.MatchString(text) {
		return inside.markdown(lines)
	}
	inside.remember(lines)
	return inside.rest(google(lines))
}

// google writes the sections of docstrings in Google's style as reStructuredText.
func google(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		m := googleLine.FindStringSubmatch(lines[i])
		if m == nil || i+1 >= len(lines) || indent(lines[i+1]) == 0 {
			out = append(out, lines[i])
			continue
		}
		body, next := indented(lines, i+1)
		body = dedent(body)
		out = append(out, "", "**"+m[1]+":**", "")
		for j := 0; j < len(body); {
			item := googleItem.FindStringSubmatch(body[j])
			if item == nil || m[1][0] == 'E' || m[1][0] == 'N' {
				out = append(out, body[j])
				j++
				continue
			}
			more, after := indented(body, j+1)
			head := "- ``" + item[1] + "``"
			if item[2] != "" {
				head += " (" + item[2] + ")"
			}
			out = append(out, head+": "+item[3])
			for _, l := range dedent(more) {
				out = append(out, "  "+l)
			}
			j = after
		}
		out = append(out, "")
		i = next - 1
	}
	return out
}

// reference is what signatures and docstrings say that the documentation does not.
func (b *book) reference() (document, bool) {
	p := &page{book: b, links: map[string]string{}, subs: map[string]string{}, title: referenceTitle}
	blocks := []string{heading + "1" + referenceTitle}
	for _, m := range b.api.modules {
		var own []string
		p.module, p.level = m.name, 2
		var below []string
		if doc := docstring(string(m.file.Source)); doc != "" {
			below = p.docs(doc)
		}
		for _, i := range m.children[-1] {
			own = append(own, p.missing(object{m, i})...)
		}
		if len(own) == 0 && len(below) == 0 {
			continue
		}
		blocks = append(append(append(blocks, heading+"2"+code(m.name)), below...), own...)
		if !b.room() {
			b.left[leftLarge]++
			break
		}
	}
	return document{title: referenceTitle, blocks: blocks}, len(blocks) > 1
}

const referenceTitle = "API reference"

// missing are an object and its members as far as the documentation does not describe them.
func (p *page) missing(x object) []string {
	d := x.decl()
	if !public(x) || d.Kind == outline.Variable && x.doc() == "" || p.api.done[x.key()] && d.Kind != outline.Class {
		return nil
	}
	var out, members, bare []string // bare are without a word of documentation
	if d.Kind == outline.Class {
		for _, i := range x.m.children[x.at] {
			member := object{x.m, i}
			if !public(member) || p.api.done[member.key()] || !x.decl().Body.Holds(member.decl().Span) {
				continue
			}
			if k := member.decl().Kind; k == outline.Field && member.doc() == "" {
				continue
			}
			if member.doc() == "" {
				p.api.done[member.key()] = true
				bare = append(append(bare, member.head()...), "")
				continue
			}
			members = append(members, p.entry(member, false)...)
		}
	}
	if len(bare) > 0 {
		members = append([]string{fence(p.api.language, bare)}, members...)
	}
	switch {
	case !p.api.done[x.key()]:
		out = p.entry(x, true)
	case len(members) > 0: // the documentation describes the class
		out = []string{heading + "3" + code(x.m.name+"."+d.Qualified)}
	}
	return append(out, members...)
}
