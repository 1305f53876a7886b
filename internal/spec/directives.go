package spec

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// options are those of a directive.
type options map[string]string

// admonitions are directives that a box is drawn around, with their titles.
var admonitions = []string{
	"note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error", "seealso", "admonition", "todo", "sidebar", "topic",
	"versionadded", "versionchanged", "versionremoved", "deprecated", "info", "example", "question", "success", "failure", "bug", "abstract", "quote", "dropdown", "details",
}

// dropped are directives that say nothing to a reader of one text.
var dropped = []string{
	"contents", "index", "meta", "raw", "testsetup", "testcleanup", "highlight", "default-role", "role", "sectnum", "tabularcolumns", "rst-class", "class",
	"title", "target-notes", "container-end", "carousel", "sectionauthor", "codeauthor", "bibliography", "graphviz", "inheritance-diagram", "digraph", "mermaid",
	"autosummary", "button-link", "button-ref", "shields", "ablog", "postlist", "program", "py:currentmodule-end", "minigallery", "plot", "video", "youtube",
}

// codes are directives whose body is code in the language that they name, or in this one.
var codes = map[string]string{
	"code-block": "", "code": "", "sourcecode": "", "code-cell": "", "parsed-literal": "text", "doctest": "pycon", "testcode": "python", "testoutput": "text", "ipython": "pycon",
	"prompt": "console", "math": "text", "productionlist": "text", "click:example": "python", "click:run": "python", "jinja": "jinja", "exec_code": "python", "pyscript": "python", "literal": "text",
}

// objects are directives that describe a name of the code.
var objects = []string{
	"function", "method", "class", "attribute", "data", "exception", "module-function", "classmethod", "staticmethod", "property", "decorator", "decoratormethod",
	"describe", "object", "option", "cmdoption", "envvar", "confval", "macro", "type", "member", "var", "enum", "enumerator", "struct", "js:function",
}

// directive is the Markdown of a directive. Of one that is not known the body is read.
func (p *page) directive(name, args string, lines []string) []string {
	o, body := optionsOf(lines)
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "py:"), "std:"), "rst:")
	if language, ok := codes[name]; ok {
		return p.codeBlock(name, language, args, o, body, lines)
	}
	switch {
	case slices.Contains(dropped, name):
		if name == "highlight" && args != "" {
			p.highlight = strings.Fields(args)[0]
		}
		return nil
	case slices.Contains(admonitions, name):
		return p.admonition(name, args, body)
	case strings.HasPrefix(name, "auto"):
		return p.autodoc(strings.TrimPrefix(name, "auto"), args, o)
	case slices.Contains(objects, name):
		return p.object(name, args, o, body)
	}
	switch name {
	case "toctree":
		p.toctree = append(p.toctree, p.entries(o, body)...)
		return nil
	case "module", "currentmodule":
		p.module, p.class = args, ""
		if args == "None" {
			p.module = ""
		}
		return p.deeper(body)
	case "currentclass":
		p.class = args
		return nil
	case "include":
		return p.include(args, o)
	case "literalinclude", "example-code":
		return p.literalInclude(args, o)
	case "image", "figure":
		return append([]string{p.picture(o["alt"], p.relative(args), args)}, p.deeper(body)...)
	case "rubric", "centered":
		return []string{bold(p.inline(args))}
	case "table":
		return captioned(p.inline(args), strings.Join(p.deeper(body), "\n\n"))
	case "list-table":
		return p.listTable(args, o, body)
	case "csv-table":
		if o["file"] != "" || o["url"] != "" {
			return []string{p.missed("csv-table", o["file"]+o["url"])}
		}
		return p.csvTable(args, o, body)
	case "tab", "tab-item", "group-tab", "code-tab":
		return append([]string{bold(p.inline(args))}, p.deeper(body)...)
	case "only", "ifconfig":
		if strings.Contains(args, "latex") || strings.Contains(args, "man") {
			return nil
		}
	case "glossary", "container", "compound", "tabs", "tab-set", "grid", "hlist", "epigraph", "pull-quote", "highlights":
	case "eval-rst":
		return p.rest(lines)
	default:
		if args != "" && len(body) == 0 {
			return nil
		}
	}
	if name == "only" || name == "eval-rst" || name == "container" {
		return p.rest(dedent(body))
	}
	return p.deeper(body)
}

// optionsOf cuts the options off the lines of a directive.
func optionsOf(lines []string) (options, []string) {
	o := options{}
	last := ""
	i := 0
	for ; i < len(lines); i++ {
		m := fieldLine.FindStringSubmatch(lines[i])
		switch {
		case m != nil:
			last = strings.ToLower(strings.TrimSpace(m[1]))
			o[last] = strings.TrimSpace(m[2])
			if m[2] == "" {
				o[last] = " "
			}
			continue
		case last != "" && indent(lines[i]) > 0:
			o[last] += " " + strings.TrimSpace(lines[i])
			continue
		}
		break
	}
	return o, lines[i:]
}

func (p *page) codeBlock(name, language, args string, o options, body, lines []string) []string {
	if first, _, _ := strings.Cut(args, " "); first != "" && language == "" {
		language = strings.Trim(first, "{}")
	}
	if language == "" {
		language = p.highlight
	}
	switch {
	case name == "parsed-literal":
		body = lines
	case name == "math" && args != "":
		body = append([]string{args}, body...)
	case name == "click:run":
		// What it prints is not there without running it.
	}
	return captioned(p.inline(o["caption"]), fence(language, body))
}

// admonition is a box: its title and its text in a quote.
func (p *page) admonition(name, args string, body []string) []string {
	title := strings.ToUpper(name[:1]) + name[1:]
	switch name {
	case "seealso":
		title = "See also"
	case "admonition", "topic", "sidebar", "dropdown", "details":
		title, args = args, ""
	case "versionadded", "versionchanged", "deprecated", "versionremoved":
		version, rest, _ := strings.Cut(args, " ")
		title = map[string]string{"versionadded": "New in version ", "versionchanged": "Changed in version ", "deprecated": "Deprecated since version ", "versionremoved": "Removed in version "}[name] + version
		args = rest
	}
	if args != "" {
		body = append([]string{args}, body...)
	}
	blocks := p.deeper(body)
	if len(blocks) == 0 {
		return []string{"> **" + strings.Trim(p.inline(title), "*") + "**"}
	}
	head := "**" + strings.Trim(p.inline(title), "*") + ":**"
	if len(blocks) > 0 && plainText(blocks[0]) {
		blocks[0] = head + " " + blocks[0]
	} else {
		blocks = append([]string{head}, blocks...)
	}
	return []string{prefixed("> ", blocks)}
}

// plainText reports whether a block is a paragraph, which text can stand before.
func plainText(block string) bool {
	return !strings.HasPrefix(block, "```") && !strings.HasPrefix(block, "- ") && !strings.HasPrefix(block, "1. ") && !strings.HasPrefix(block, "|") && !strings.HasPrefix(block, ">") && !strings.HasPrefix(block, heading)
}

// object is a name of the code that the documentation describes in its own words.
func (p *page) object(name, args string, o options, body []string) []string {
	signatures := []string{args}
	for len(body) > 0 && strings.HasSuffix(signatures[len(signatures)-1], `\`) {
		signatures[len(signatures)-1] = strings.TrimSuffix(signatures[len(signatures)-1], `\`) + strings.TrimSpace(body[0])
		body = body[1:]
	}
	word, _, _ := strings.Cut(signatures[0], "(")
	p.covered(p.module, p.class, strings.TrimSpace(word))
	was := p.class
	if name == "class" || name == "exception" {
		p.class = strings.TrimSpace(word)
	}
	defer func() { p.class = was }()
	shown := name
	if name == "describe" || name == "object" || name == "option" || name == "confval" || name == "envvar" {
		shown = ""
	}
	head := code(strings.TrimSpace(shown + " " + signatures[0]))
	if t := o["type"]; t != "" {
		head += " " + code(t)
	}
	return []string{hanging("- ", append([]string{head}, p.deeper(body)...))}
}

// entries are the documents of a toctree, as paths without their extensions.
func (p *page) entries(o options, body []string) []string {
	var out []string
	for _, l := range body {
		l = strings.TrimSpace(l)
		if m := explicitTarget.FindStringSubmatch(l); m != nil {
			l = m[2]
		}
		if l == "" || strings.HasPrefix(l, "..") && !strings.HasPrefix(l, "../") || strings.Contains(l, "://") || l == "self" {
			continue
		}
		out = append(out, p.relative(l))
	}
	if _, ok := o["reversed"]; ok {
		slices.Reverse(out)
	}
	return out
}

// relative is the path of a tree that a name in the document stands for: from the root of
// the documentation where it begins with a slash, else from the document's folder.
func (p *page) relative(name string) string {
	name = strings.TrimSpace(name)
	if strings.HasPrefix(name, "/") {
		return strings.TrimPrefix(path.Clean(path.Join(p.root, name)), "/")
	}
	return path.Clean(path.Join(path.Dir(p.path), name))
}

// include reads another file in the place of the directive.
func (p *page) include(args string, o options) []string {
	name := p.relative(args)
	lines, ok := p.file(name)
	if !ok {
		return []string{p.missed("include", args)}
	}
	lines = part(lines, o)
	if _, literal := o["literal"]; literal || o["code"] != "" {
		return []string{fence(strings.TrimSpace(o["code"]), lines)}
	}
	const most = 8
	if len(p.including) >= most || slices.Contains(p.including, name) || name == p.path {
		return []string{p.missed("include loop", args)}
	}
	p.including = append(p.including, name)
	defer func() { p.including = p.including[:len(p.including)-1] }()
	p.included[name] = true
	if isMarkdown(name) {
		return p.markdown(lines)
	}
	return p.rest(lines)
}

// part are the lines that the options of an include choose.
func part(lines []string, o options) []string {
	number := func(key string, otherwise int) int {
		n, err := strconv.Atoi(strings.TrimSpace(o[key]))
		if err != nil {
			return otherwise
		}
		if n < 0 {
			n += len(lines)
		}
		return min(max(n, 0), len(lines))
	}
	if end := number("end-line", len(lines)); end < len(lines) {
		lines = lines[:end]
	}
	lines = lines[number("start-line", 0):]
	find := func(text string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, strings.TrimSpace(text)) })
	}
	for _, key := range []string{"start-after", "start-at"} {
		if text := strings.TrimSpace(o[key]); text != "" {
			if at := find(text); at >= 0 && key == "start-after" {
				lines = lines[at+1:]
			} else if at >= 0 {
				lines = lines[at:]
			}
		}
	}
	for _, key := range []string{"end-before", "end-at"} {
		if text := strings.TrimSpace(o[key]); text != "" {
			if at := find(text); at >= 0 && key == "end-before" {
				lines = lines[:at]
			} else if at >= 0 {
				lines = lines[:at+1]
			}
		}
	}
	if spec := strings.TrimSpace(o["lines"]); spec != "" {
		lines = ranges(lines, spec)
	}
	return lines
}

// ranges are the lines of 1,3,5-10,20-.
func ranges(lines []string, spec string) []string {
	var out []string
	for piece := range strings.SplitSeq(spec, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(piece), "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			first = 1
		}
		last := first
		if ranged {
			if last, err = strconv.Atoi(to); err != nil {
				last = len(lines)
			}
		}
		for n := max(first, 1); n <= min(last, len(lines)) && len(out) <= len(lines); n++ {
			out = append(out, lines[n-1])
		}
	}
	return out
}

// literalInclude is a file as code. It is read of the starter, so that what is missing there
// is missing here.
func (p *page) literalInclude(args string, o options) []string {
	name := p.relative(args)
	lines, ok := p.file(name)
	if !ok {
		return []string{p.missed("literalinclude", args)}
	}
	if object := strings.TrimSpace(o["pyobject"]); object != "" {
		if lines, ok = p.api.source(name, object); !ok {
			return []string{p.missed("literalinclude", args+" "+object)}
		}
	}
	lines = part(lines, o)
	if _, ok := o["dedent"]; ok {
		lines = dedent(lines)
	}
	language := strings.TrimSpace(o["language"])
	if language == "" {
		language = strings.TrimPrefix(path.Ext(name), ".")
		if language == "py" {
			language = "python"
		}
	}
	p.used(len(strings.Join(lines, "\n")))
	return captioned(p.inline(strings.TrimSpace(o["caption"])), fence(language, lines))
}
