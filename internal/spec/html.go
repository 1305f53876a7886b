package spec

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// styles are those of the page when it is printed. It names no font of a machine but kinds
// of fonts.
const styles = `@page{size:A4;margin:18mm 16mm}body{font:10pt/1.45 sans-serif;color:#111}pre,code{font:8.5pt/1.35 monospace}
pre{background:#f4f4f4;padding:6pt;white-space:pre-wrap;overflow-wrap:anywhere}h1,h2{break-after:avoid}h2{break-before:page}h2:first-of-type{break-before:auto}
h3,h4,h5,h6{break-after:avoid}img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:2pt 5pt;vertical-align:top}
blockquote{border-left:3px solid #bbb;margin-left:0;padding-left:9pt}a{color:#0645ad;text-decoration:none}`

// mediaTypes are those of pictures, by the extension that they are kept with.
var mediaTypes = map[string]string{"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml"}

// HTML is the text as one page that asks for nothing: pictures are in it, and markup of the
// documentation's own is not. The policy in it forbids scripts and every address.
func (s Spec) HTML() ([]byte, error) {
	shown := renderer.WithNodeRenderers(util.Prioritized(tags{}, 1))
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(shown))
	var body bytes.Buffer
	if err := md.Convert([]byte(s.Markdown), &body, parser.WithContext(parser.NewContext(parser.WithIDs(anchors{slugger{}})))); err != nil {
		return nil, fmt.Errorf("rendering the specification: %w", err)
	}
	rendered := body.String()
	for _, p := range s.Pictures {
		form := p.Name[strings.LastIndexByte(p.Name, '.')+1:]
		data := "data:" + mediaTypes[form] + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
		rendered = strings.ReplaceAll(rendered, `src="`+p.Name+`"`, `src="`+data+`"`)
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(s.Markdown, "# "), "\n")
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>%s</title><style>%s</style></head><body>
%s</body></html>
`, html.EscapeString(title), styles, rendered), nil
}

// tags shows markup of the documentation's own as it is written.
type tags struct{}

// RegisterFuncs takes the place of what leaves markup out.
func (tags) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	show := func(w util.BufWriter, source []byte, segments *text.Segments) (ast.WalkStatus, error) {
		for i := range segments.Len() {
			at := segments.At(i)
			if _, err := w.WriteString(html.EscapeString(string(at.Value(source)))); err != nil {
				return ast.WalkStop, err
			}
		}
		return ast.WalkSkipChildren, nil
	}
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if x, ok := n.(*ast.RawHTML); ok && entering {
			return show(w, source, x.Segments)
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return show(w, source, n.Lines())
		}
		return ast.WalkContinue, nil
	})
}

// anchors are those that the table of contents leads to.
type anchors struct{ slugger }

// Generate is the anchor of a heading.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte { return []byte(a.of(string(value))) }

// Put is for anchors that a text sets by itself, which none does.
func (a anchors) Put([]byte) {}
