package spec

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// has reports whether an element is of a class.
func has(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), class)
}

// children are those of a node now: the node can be changed while one goes through them.
func children(n *html.Node) []*html.Node {
	var out []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = append(out, c)
	}
	return out
}

// take removes the children of a node and gives them.
func take(n *html.Node) []*html.Node {
	out := children(n)
	for _, c := range out {
		n.RemoveChild(c)
	}
	return out
}

// find is the first element below a node that is so, nil where there is none.
func find(n *html.Node, so func(*html.Node) bool) *html.Node {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && so(c) {
			return c
		}
	}
	return nil
}

// all are the elements below a node that are so, without those that lie in another of them.
func all(n *html.Node, so func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for _, c := range children(n) {
		switch {
		case c.Type != html.ElementNode:
		case so(c):
			out = append(out, c)
		default:
			out = append(out, all(c, so)...)
		}
	}
	return out
}

// content is the text below a node as it is.
func content(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// words is the text below a node in one line.
func words(n *html.Node) string { return strings.Join(strings.Fields(content(n)), " ") }

// element is a new one. Children are taken from where they are.
func element(name string, below ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	for _, c := range below {
		if c.Parent != nil {
			c.Parent.RemoveChild(c)
		}
		n.AppendChild(c)
	}
	return n
}

// textNode is a new text, which the library needs one letter of.
func textNode(s string) *html.Node {
	if s == "" {
		s = " "
	}
	return &html.Node{Type: html.TextNode, Data: s}
}

func replace(n, by *html.Node) {
	n.Parent.InsertBefore(by, n)
	n.Parent.RemoveChild(n)
}
