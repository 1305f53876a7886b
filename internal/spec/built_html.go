package spec

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	tables "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// rendering is one page on its way from HTML to Markdown: what a tool has its own markup for
// (signatures, boxes, lists of fields) becomes plain HTML first, which the library renders.
type rendering struct {
	*book
	pages  Pages
	known  map[string]bool // names of pages
	page   string
	level  int        // of the last heading, 1 to 6
	heads  [][]string // the identifiers of each heading, in their order
	inside int        // how many lists, boxes and cells lie around: titles are bold there
	links  []string   // targets that other headings decide
}

var atAddress = lazyregexp.New(` at 0x[0-9a-fA-F]{4,16}\b`)

// rendered is a page as a document.
func (b *book) rendered(p Page, pages Pages, known map[string]bool) (document, error) {
	d := document{path: p.Name + ".html"}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	text := strings.Map(func(r rune) rune {
		if control(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, p.HTML)
	text = atAddress.ReplaceAllString(text, "") // where an object lay in memory is another in each run
	nodes, err := html.ParseFragment(strings.NewReader(text), body)
	if err != nil {
		return d, fmt.Errorf("reading page %s: %w", p.Name, err)
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	before := len(b.api.done)
	r := &rendering{book: b, pages: pages, known: known, page: p.Name}
	r.below(body)
	markdown, err := converted(body)
	if err != nil {
		return d, fmt.Errorf("rendering page %s: %w", p.Name, err)
	}
	d.blocks, d.describes = r.blocks(markdown), len(b.api.done)-before
	for _, block := range d.blocks {
		b.used(len(block))
	}
	b.titled(&d, p.Title)
	return d, nil
}

// converted is plain HTML as Markdown. The library panics at some trees that no browser
// would show either.
func converted(body *html.Node) (markdown string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("rendering: %v", fault)
		}
	}()
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), tables.NewTablePlugin(
		tables.WithHeaderPromotion(true), tables.WithCellPaddingBehavior(tables.CellPaddingBehaviorMinimal), tables.WithSpanCellBehavior(tables.SpanBehaviorMirror),
	)))
	out, err := conv.ConvertNode(body)
	return string(out), err
}

// place is what stands for the target of a link until the whole is joined.
const place = "benchmint-link-"

// mailbox is an address behind a name, which is masked together with it later.
var mailbox = lazyregexp.New(`&lt;([\w.+-]+@[\w.-]+)&gt;`)

var placed = lazyregexp.New(`\(` + place + `(\d+)\)`)

// blocks are the text between headings, and those with their marks. Identifiers of headings
// become labels.
func (r *rendering) blocks(markdown string) []string {
	var out, text []string
	flush := func() {
		if s := strings.Trim(strings.Join(text, "\n"), "\n"); s != "" {
			s = mailbox.ReplaceAllString(s, "<$1>")
			out = append(out, placed.ReplaceAllStringFunc(s, func(m string) string {
				i, err := strconv.Atoi(placed.FindStringSubmatch(m)[1])
				if err != nil || i >= len(r.links) {
					return "()"
				}
				return "(" + opens + r.links[i] + closes + ")"
			}))
		}
		text = nil
	}
	fenced, at := "", 0
	for l := range strings.SplitSeq(markdown, "\n") {
		trimmed := strings.TrimLeft(l, " >")
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, "`")); n >= 3 {
			if mark := trimmed[:n]; fenced == "" {
				fenced = mark
			} else if n >= len(fenced) && strings.TrimSpace(trimmed) == mark {
				fenced = ""
			}
		}
		m := atxLine.FindStringSubmatch(l)
		if fenced != "" || m == nil || !strings.HasPrefix(l, "#") || m[2] == "" {
			if fenced == "" && strings.Trim(l, " >") == "" {
				l = strings.TrimRight(l, " ")
			}
			text = append(text, l)
			continue
		}
		flush()
		title := linkless(m[2])
		if at < len(r.heads) {
			for _, id := range r.heads[at] {
				r.labels[r.page+"#"+id] = title
			}
		}
		at++
		out = append(out, heading+strconv.Itoa(len(m[1]))+title)
	}
	flush()
	return out
}

func (r *rendering) below(n *html.Node) {
	for _, c := range children(n) {
		r.node(c)
	}
}

// asideClasses are those of what is no text: marks of links, lists of pages, faults of the
// build, and source code.
var asideClasses = []string{"headerlink", "viewcode-link", "viewcode-back", "toctree-wrapper", "system-message", "mkdocstrings-source", "doc-labels", "linenos", "contents", "md-source", "toc"}

// shows reports whether an element is text of a page.
func shows(n *html.Node) bool {
	if slices.ContainsFunc(asideClasses, func(c string) bool { return has(n, c) }) {
		return false
	}
	switch n.Data {
	case "script", "style", "nav", "button", "input", "form", "iframe", "noscript", "template":
		return false
	case "details": // mkdocstrings of older releases shows the source in one without a name
		s := find(n, func(x *html.Node) bool { return x.Data == "summary" })
		return s == nil || !strings.HasPrefix(words(s), "Source code")
	}
	return true
}

// node makes one node plain.
func (r *rendering) node(n *html.Node) {
	switch {
	case n.Type == html.CommentNode, n.Type == html.ElementNode && !shows(n):
		n.Parent.RemoveChild(n)
		return
	case n.Type != html.ElementNode:
		return
	}
	switch {
	case n.Data == "pre":
		r.code(n)
	case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
		r.heading(n)
	case n.Data == "dl" && isObject(n):
		r.object(n, "", min(r.level+1, 6))
	case n.Data == "dl":
		r.terms(n)
	case n.Data == "div" && has(n, "admonition"), n.Data == "details":
		r.box(n)
	case n.Data == "div" && has(n, "math"):
		replace(n, element("pre", element("code", textNode(words(n)))))
	case n.Data == "span" && has(n, "math"), n.Data == "tt", n.Data == "kbd", n.Data == "samp":
		replace(n, element("code", textNode(strings.Trim(words(n), `\()`))))
	case n.Data == "img", n.Data == "object":
		r.picture(n)
	case n.Data == "a":
		r.below(n)
		r.link(n)
	case n.Data == "table":
		r.cells(n)
	case n.Data == "ul", n.Data == "ol", n.Data == "blockquote":
		r.nested(n)
	default:
		r.below(n)
	}
}

func (r *rendering) nested(n *html.Node) {
	r.inside++
	r.below(n)
	r.inside--
}

// heading notes the identifiers of a title: its own, and those of what it begins.
func (r *rendering) heading(n *html.Node) {
	r.below(n)
	if words(n) == "" {
		n.Parent.RemoveChild(n)
		return
	}
	if r.inside > 0 {
		replace(n, element("p", element("strong", children(n)...)))
		return
	}
	r.level = int(n.Data[1] - '0')
	ids := []string{attr(n, "id")}
	for s := n.PrevSibling; s != nil; s = s.PrevSibling {
		if s.Type == html.ElementNode && (s.Data != "span" || attr(s, "id") == "") || s.Type == html.TextNode && !blank(s.Data) {
			break
		}
		ids = append(ids, attr(s, "id"))
	}
	if p := n.Parent; p.Data == "section" || has(p, "section") {
		ids = append(ids, attr(p, "id"))
	}
	if has(n, "doc-heading") {
		r.covered("", "", attr(n, "id"))
	}
	r.heads = append(r.heads, slices.DeleteFunc(ids, func(s string) bool { return s == "" }))
}

// languages are those of code blocks, by the words of highlighters.
var languages = map[string]string{"default": "python", "python3": "python", "py": "python", "py3": "python", "ipython": "python", "ipython3": "python", "none": "", "text": "", "notranslate": ""}

var languageClass = lazyregexp.New(`(?:^|\s)(?:highlight|language)-([\w+#.-]+)`)

// code is a block of code without its colours.
func (r *rendering) code(n *html.Node) {
	language := ""
	for p, i := n, 0; p != nil && i < 5 && language == ""; p, i = p.Parent, i+1 {
		if m := languageClass.FindStringSubmatch(attr(p, "class")); m != nil {
			language = m[1]
		}
	}
	if c := n.FirstChild; language == "" && c != nil {
		if m := languageClass.FindStringSubmatch(attr(c, "class")); m != nil {
			language = m[1]
		}
	}
	if known, ok := languages[language]; ok {
		language = known
	}
	for _, x := range all(n, func(x *html.Node) bool { return !shows(x) }) {
		x.Parent.RemoveChild(x)
	}
	block := element("code", textNode(strings.Trim(content(n), "\n")))
	if language != "" {
		block.Attr = []html.Attribute{{Key: "class", Val: "language-" + language}}
	}
	replace(n, element("pre", block))
}

// isName reports whether an element is the name in a signature.
func isName(n *html.Node) bool { return has(n, "descname") || has(n, "sig-name") }

// isObject reports whether a list describes objects of code: a term of its own is a
// signature.
func isObject(n *html.Node) bool {
	for _, c := range children(n) {
		if c.Data == "dt" {
			return has(c, "sig") || find(c, isName) != nil
		}
	}
	return false
}

// object is what an autodoc directive wrote, or somebody by hand in its place: a title, the
// signature as code, and the text. parent is the object around it.
func (r *rendering) object(n *html.Node, parent string, level int) {
	was := r.level
	id := ""
	var signature []string
	flush := func() {
		if len(signature) > 0 {
			block := element("code", textNode(strings.Join(signature, "\n")))
			block.Attr = []html.Attribute{{Key: "class", Val: "language-" + r.api.language}}
			n.Parent.InsertBefore(element("pre", block), n)
		}
		signature = nil
	}
	for _, c := range children(n) {
		switch c.Data {
		case "dt":
			for _, x := range all(c, func(x *html.Node) bool { return !shows(x) }) {
				x.Parent.RemoveChild(x)
			}
			if len(signature) == 0 {
				id = r.objectTitle(n, c, parent, level)
			}
			if has(n, "py") {
				r.covered("", "", attr(c, "id"))
			}
			signature = append(signature, strings.ReplaceAll(words(c), "→", "->"))
		case "dd":
			flush()
			for _, x := range children(c) {
				c.RemoveChild(x)
				n.Parent.InsertBefore(x, n)
				r.level = level
				if x.Data == "dl" && isObject(x) {
					r.object(x, id, min(level+1, 6))
				} else {
					r.node(x)
				}
			}
		}
	}
	flush()
	n.Parent.RemoveChild(n)
	r.level = was
}

// objectTitle is the heading of an object, and gives its whole name.
func (r *rendering) objectTitle(n, dt *html.Node, parent string, level int) string {
	id := attr(dt, "id")
	shown := id
	if name := find(dt, isName); name != nil && !strings.HasSuffix(id, strings.Trim(words(name), ".")) {
		shown = words(name) // an identifier that is no name
	}
	if parent != "" && strings.HasPrefix(shown, parent+".") {
		shown = parent[strings.LastIndexByte(parent, '.')+1:] + shown[len(parent):]
	}
	title := element("code", textNode(shown))
	if r.inside > 0 || shown == "" {
		n.Parent.InsertBefore(element("p", element("strong", title)), n)
		return id
	}
	n.Parent.InsertBefore(element("h"+strconv.Itoa(level), title), n)
	r.heads = append(r.heads, []string{id})
	return id
}

// terms is a list of terms, or of fields with the names of parameters.
func (r *rendering) terms(n *html.Node) {
	r.inside++
	defer func() { r.inside-- }()
	list := element("ul")
	var item *html.Node
	for _, c := range children(n) {
		if c.Type != html.ElementNode {
			continue
		}
		r.below(c)
		parts := children(c)
		for _, x := range parts {
			c.RemoveChild(x)
		}
		switch {
		case c.Data == "dt":
			item = element("li", element("p", element("strong", parts...)))
			list.AppendChild(item)
		case item != nil:
			for _, x := range parts {
				item.AppendChild(x)
			}
		}
	}
	replace(n, list)
}

// box is a note, a warning and the like.
func (r *rendering) box(n *html.Node) {
	r.nested(n)
	for _, c := range children(n) {
		if c.Data == "summary" || has(c, "admonition-title") {
			parts := children(c)
			for _, x := range parts {
				c.RemoveChild(x)
			}
			replace(c, element("p", element("strong", parts...)))
			break
		}
	}
	quote := element("blockquote", take(n)...)
	replace(n, quote)
}

func (r *rendering) picture(n *html.Node) {
	src := attr(n, "src") + attr(n, "data")
	name := ""
	if !strings.Contains(src, ":") && !strings.HasPrefix(src, "//") {
		name = r.kept(r.pages, r.page, src)
	}
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	if name == "" {
		r.left[leftPicture]++
		if alt != "" {
			n.Parent.InsertBefore(textNode(alt), n)
		}
		n.Parent.RemoveChild(n)
		return
	}
	img := element("img")
	img.Attr = []html.Attribute{{Key: "src", Val: name}, {Key: "alt", Val: alt}}
	replace(n, img)
}

// link leads to another host, or to a heading of this text; else its words stay.
func (r *rendering) link(n *html.Node) {
	href := attr(n, "href")
	shown := words(n)
	to := ""
	switch {
	case strings.HasPrefix(href, "http://"), strings.HasPrefix(href, "https://"):
		to = href
	case href != "" && !strings.Contains(href, ":") && !strings.ContainsAny(shown, "[]") && shown != "":
		file, id, _ := strings.Cut(href, "#")
		name := r.page
		if file != "" {
			name = strings.TrimPrefix(path.Join("/", path.Dir(r.page), strings.TrimSuffix(file, ".html")), "/")
		}
		if !r.known[name] || strings.ContainsAny(id, opens+closes) {
			break
		}
		to = place + strconv.Itoa(len(r.links))
		if id == "" {
			r.links = append(r.links, "doc:"+name+".html")
		} else {
			r.links = append(r.links, "ref:"+name+"#"+id)
		}
	}
	if to == "" || find(n, func(x *html.Node) bool { return x.Data == "img" }) != nil {
		for _, x := range take(n) {
			n.Parent.InsertBefore(x, n)
		}
		n.Parent.RemoveChild(n)
		return
	}
	n.Attr = []html.Attribute{{Key: "href", Val: to}}
}

// cells are those of a table, each in one line.
func (r *rendering) cells(n *html.Node) {
	if x := find(n, func(x *html.Node) bool { return has(x, "code") && x.Data == "td" }); x != nil && has(n, "highlighttable") {
		parts := take(x)
		for _, c := range parts {
			n.Parent.InsertBefore(c, n)
			r.node(c)
		}
		n.Parent.RemoveChild(n)
		return
	}
	r.nested(n)
	for _, cell := range all(n, func(x *html.Node) bool { return x.Data == "td" || x.Data == "th" }) {
		for x := find(cell, isBlock); x != nil; x = find(cell, isBlock) {
			if x.Data == "pre" {
				replace(x, element("code", textNode(words(x))))
				continue
			}
			x.Parent.InsertBefore(textNode(" "), x)
			for _, c := range take(x) {
				x.Parent.InsertBefore(c, x)
			}
			replace(x, textNode(" "))
		}
	}
}

// isBlock reports whether an element cannot stand in a line.
func isBlock(n *html.Node) bool {
	return slices.Contains([]string{"p", "div", "ul", "ol", "li", "pre", "br", "blockquote", "section", "table", "tbody", "thead", "tr", "colgroup", "hr"}, n.Data)
}
