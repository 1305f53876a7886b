package spec

import (
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/plainyaml"
	"github.com/benchmint/benchmint/internal/tree"
)

// roots are folders that hold a project's documentation.
var roots = []string{"docs", "doc", "documentation"}

var (
	// project are documents about the project and not about what its code does.
	project = lazyregexp.New(`(?i)^(?:change(?:s|log)?|changes?-?\d.*|history|news|release[-_]?(?:notes|history)?s?|releasing|licen[cs]e|copying|copyright|contribut\w*|code[-_]of[-_]conduct|authors|contributors|credits|thanks|acknowledg\w*|security|sponsors?|funding|backers|support|roadmap|todo|maintain\w*|governance|development|developing|developers?|hacking|documentation|migrat\w*|upgrad\w*|whats-?new|versions|testimonials|people|management|help|about|contact|genindex|search)$`)
	// asides are folders of what no reader is meant to read.
	asides   = lazyregexp.New(`(?i)^(?:_.*|\..*|node_modules|themes?|overrides|locales?|changelog(?:\.d)?|changes|news(?:fragments)?|releases|release[-_]notes|blog|posts|whatsnew|includes?)$`)
	language = lazyregexp.New(`^[a-z]{2}(?:[-_][A-Za-z]{2,4})?$`)
)

// document is a file that becomes a part of the text.
type document struct {
	path   string
	title  string
	blocks []string
	// describes counts the objects of the code that it describes and no document before it does.
	describes int
}

// isDocument reports whether a file is documentation by its form.
func isDocument(name string) bool { return isMarkdown(name) || path.Ext(name) == ".rst" }

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// readme is the file that introduces the project, "" where there is none.
func readme(t *tree.Tree) string {
	var found []string
	for _, p := range t.Paths() {
		if !strings.Contains(p, "/") && strings.EqualFold(stem(p), "readme") && (isDocument(p) || path.Ext(p) == ".txt" || path.Ext(p) == "") {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return rank(a) - rank(b) })
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func rank(p string) int { return slices.Index([]string{".txt", "", ".md", ".rst"}, path.Ext(p)) * -1 }

// collect finds the documentation of a tree: its root, and its documents by path. What is
// left out is counted.
func (b *book) collect() []string {
	var all []string
	counts := map[string]int{}
	for _, p := range b.tree.Paths() {
		top, _, below := strings.Cut(p, "/")
		if below && slices.Contains(roots, top) && isDocument(p) {
			counts[top]++
			all = append(all, p)
		}
	}
	best := ""
	for _, r := range roots {
		if counts[r] > counts[best] {
			best = r
		}
	}
	if best == "" {
		return nil
	}
	b.root = best
	for _, dir := range []string{best, best + "/source", best + "/src", best + "/en", best + "/en/docs"} {
		if b.tree.Has(dir+"/conf.py") || b.tree.Has(dir+"/index.rst") || b.tree.Has(dir+"/index.md") {
			b.root = dir
			break
		}
	}
	english := slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, best+"/en/") })
	var out []string
	for _, p := range all {
		switch why := aside(p, english); {
		case !strings.HasPrefix(p, best+"/"):
		case why != "":
			b.left[why]++
		default:
			out = append(out, p)
		}
	}
	return out
}

// Tells are those of some paths below folders of documentation that tell what the code does, by their names: no changes, no
// licence, and no index where there are other pages.
func Tells(paths []string) []string {
	all := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return aside(p, false) != "" })
	pages := slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return slices.Contains([]string{"index", "contents", "toc", "modules"}, strings.ToLower(stem(p)))
	})
	if len(pages) == 0 {
		return all
	}
	return pages
}

// aside is why a document is left out, "" for one that is not.
func aside(p string, english bool) string {
	dirs := strings.Split(path.Dir(p), "/")[1:]
	for i, d := range dirs {
		if english && i == 0 && d != "en" && language.MatchString(d) {
			return leftLanguage
		}
		if asides.MatchString(d) {
			return leftDirs
		}
	}
	name := stem(p)
	switch {
	case strings.HasPrefix(name, "_"):
		return leftDirs
	case project.MatchString(name):
		return leftProject
	}
	return ""
}

// read makes the documents of a tree, in the order of their tables of contents; those that
// none names follow by path. The readme is the first where no document includes it.
func (b *book) read() (docs []document, source string) {
	paths := b.collect()
	known, done := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		known[p] = true
	}
	var visit func(string, int)
	visit = func(p string, depth int) {
		if done[p] || !known[p] {
			return
		}
		done[p] = true
		if len(docs) >= maxPages || !b.room() {
			b.left[leftMany]++
			return
		}
		d, toctree := b.document(p)
		at := len(docs)
		if len(d.blocks) > 0 {
			docs = append(docs, d)
		}
		if depth >= maxNesting {
			return
		}
		for _, entry := range toctree {
			for _, child := range b.named(entry, paths) {
				visit(child, depth+1)
			}
		}
		// A document that says nothing but what is below it is no part of the text.
		if len(docs) > at && len(d.blocks) == 1 && strings.HasPrefix(d.blocks[0], heading) {
			docs = slices.Delete(docs, at, at+1)
		}
	}
	for _, p := range b.nav() {
		visit(p, 0)
	}
	for _, ext := range []string{".rst", ".md"} {
		visit(b.root+"/index"+ext, 0)
		visit(b.root+"/contents"+ext, 0)
	}
	for _, p := range paths {
		if !b.included[p] {
			visit(p, 0)
		}
	}
	docs = slices.DeleteFunc(docs, func(d document) bool { return b.included[d.path] })
	return b.withReadme(docs, false)
}

// withReadme puts the readme before documents, where none of them includes it, and says what
// they come from. Of built documents nothing may say that they include it: then their text does.
func (b *book) withReadme(docs []document, built bool) ([]document, string) {
	source := FromDocs
	if name := readme(b.tree); name != "" && !b.included[name] {
		if d, _ := b.document(name); len(d.blocks) > 0 && !(built && held(d, docs)) {
			docs = append([]document{d}, docs...)
			if len(docs) == 1 {
				source = FromReadme
			}
		}
	}
	if len(docs) == 0 {
		source = FromSignatures
	}
	return docs, source
}

// document reads one file.
func (b *book) document(name string) (document, []string) {
	d := document{path: name}
	lines, ok := b.file(name)
	if !ok {
		return d, nil
	}
	b.highlight = b.api.language
	before := len(b.api.done)
	p := &page{book: b, path: name, links: map[string]string{}, subs: map[string]string{}}
	if isMarkdown(name) {
		d.blocks = p.markdown(lines)
	} else {
		p.remember(lines)
		d.blocks = p.rest(lines)
	}
	b.titled(&d, p.title)
	d.describes = len(b.api.done) - before
	return d, p.toctree
}

// titled gives a document one title of the first level, and takes out what is empty.
func (b *book) titled(d *document, title string) {
	d.blocks = slices.DeleteFunc(d.blocks, func(s string) bool { return strings.TrimSpace(s) == "" })
	d.blocks = filled(d.blocks)
	tops := 0
	for _, block := range d.blocks {
		if strings.HasPrefix(block, heading+"1") {
			tops++
		}
	}
	d.title = title
	if len(d.blocks) > 0 && (tops != 1 || !strings.HasPrefix(d.blocks[0], heading+"1")) {
		// Text before the first title, or no title or several of the whole: the file's name is it.
		if d.title = stem(d.path); d.title == "index" {
			d.title = b.name
		}
		for i, block := range d.blocks {
			if tops > 0 && strings.HasPrefix(block, heading) {
				d.blocks[i] = heading + string(rune(min(block[1]+1, '9'))) + block[2:]
			}
		}
		d.blocks = append([]string{heading + "1" + d.title}, d.blocks...)
	}
}

// filled leaves out titles that nothing stands below.
func filled(blocks []string) []string {
	var out []string
	level := byte('0') // of what follows: all below a title of this level is another's
	for _, b := range slices.Backward(blocks) {
		if !strings.HasPrefix(b, heading) {
			level = '9'
		} else if len(out) > 0 && b[1] != '1' && (level == '0' || b[1] >= level) {
			continue
		} else if len(out) == 0 && b[1] != '1' {
			continue
		} else {
			level = b[1]
		}
		out = append(out, b)
	}
	slices.Reverse(out)
	return out
}

// remember finds the targets and substitutions of a document before it is read: text may
// name what stands below it.
func (p *page) remember(lines []string) {
	for i, l := range lines {
		if !strings.HasPrefix(l, ".. ") {
			continue
		}
		if m := targetLine.FindStringSubmatch(l); m != nil && directiveLine.FindString(l) == "" {
			body, _ := indented(lines, i+1)
			if url := strings.Join(strings.Fields(m[2]+" "+strings.Join(trimmed(body), " ")), ""); url != "" && len(body) < 4 {
				p.links[reference(m[1])] = url
			}
		}
		if m := subLine.FindStringSubmatch(l); m != nil {
			body, _ := indented(lines, i+1)
			p.substitute(m, body)
		}
	}
}

// named are the documents that an entry of a table of contents means.
func (b *book) named(entry string, paths []string) []string {
	if strings.ContainsAny(entry, "*?[") {
		var out []string
		for _, p := range paths {
			if ok, err := path.Match(entry, strings.TrimSuffix(p, path.Ext(p))); err == nil && ok {
				out = append(out, p)
			}
		}
		return out
	}
	var out []string
	for _, ext := range []string{"", ".rst", ".md", ".markdown"} {
		if b.tree.Has(entry + ext) {
			out = append(out, entry+ext)
		}
	}
	return out
}

// nav are the documents that MkDocs shows, in its order.
func (b *book) nav() []string {
	var config struct {
		Docs string `yaml:"docs_dir"`
		Nav  any    `yaml:"nav"`
	}
	for _, name := range []string{"mkdocs.yml", "mkdocs.yaml"} {
		e, ok := b.tree.Entry(name)
		if !ok || len(e.Data) > maxDocument || e.Mode == tree.ModeSymlink {
			continue
		}
		if tokens := lexer.Tokenize(string(e.Data)); plainyaml.Deep(tokens) || plainyaml.Aliased(tokens) {
			continue
		}
		// Settings may have tags of Python, which nothing here reads: then the order is another.
		if err := yaml.Unmarshal(e.Data, &config); err != nil && config.Nav == nil {
			continue
		}
		if config.Docs == "" {
			config.Docs = "docs"
		}
		return navPaths(path.Clean(config.Docs), config.Nav, 0)
	}
	return nil
}

func navPaths(dir string, v any, depth int) []string {
	if depth > maxNesting {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case string:
		if isDocument(v) {
			out = append(out, path.Join(dir, v))
		}
	case []any:
		for _, x := range v {
			out = append(out, navPaths(dir, x, depth+1)...)
		}
	case map[string]any: // of one entry each
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			out = append(out, navPaths(dir, v[k], depth+1)...)
		}
	}
	return out
}
