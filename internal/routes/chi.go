package routes

import (
	"strings"
)

// Chi reads github.com/go-chi/chi, of every major version.
var Chi = Reader{Framework: "chi", Language: "go", read: func(s *source) ([]Route, []string) { return readGo(s, chiRouting{}) }}

const chiPath = "github.com/go-chi/chi"

type chiRouting struct{}

func (chiRouting) framework() string { return "chi" }

func (chiRouting) isRouter(n named) bool { return n.external(chiPath, "Router", "Mux") }

func (chiRouting) makes(p, name string) bool {
	return versioned(p) == chiPath && (name == "NewRouter" || name == "NewMux")
}

func (g chiRouting) call(c *routerCall) any {
	switch c.method {
	case "Get", "Post", "Put", "Patch", "Delete", "Head", "Options":
		c.declare(strings.ToUpper(c.method), c.arg(0), c.arg(1), nil)
	case "Method", "MethodFunc":
		m, _ := c.text(0)
		c.declare(strings.ToUpper(m), c.arg(1), c.arg(2), nil)
	case "Handle", "HandleFunc":
		if r, mws := asRouter(c.arg(1)); r != nil {
			c.mount(stripOf(r), r, mws)
			return nil
		}
		m, p := cutMethod(c.arg(0))
		c.declare(m, p, c.arg(1), nil)
	case "Route":
		sub := c.child(c.arg(0), nil)
		c.in.applyRouter(c.arg(1), sub, c.pos)
		return sub
	case "Group":
		sub := c.child("", nil)
		c.in.applyRouter(c.arg(0), sub, c.pos)
		return sub
	case "With":
		return c.child("", c.rest(0))
	case "Use":
		c.r.mws = append(c.r.mws[:len(c.r.mws):len(c.r.mws)], c.rest(0)...)
	case "Mount":
		g.mount(c)
	}
	return nil
}

// mount is chi's: a router of chi sees what is left of the path, others the whole.
func (g chiRouting) mount(c *routerCall) {
	sub, mws := asRouter(c.arg(1))
	if sub == nil {
		return
	}
	p, ok := c.text(0)
	if !ok || c.r.unknown {
		c.in.unreadable(g, c.in.place(c), "the path is not a constant")
		return
	}
	prefix := stripOf(sub)
	if sub.kind.framework() == g.framework() && sub.strip == nil {
		prefix = g.join(c.r.prefix, p)
	}
	c.mount(prefix, sub, mws)
}

// join is the path of a router in a router. Below a prefix, / answers the prefix itself.
func (chiRouting) join(prefix, p string) string {
	switch {
	case p == "" || p == "/" && prefix != "":
		return prefix
	case !strings.HasPrefix(p, "/"):
		p = "/" + p
	}
	return strings.TrimSuffix(prefix, "/") + p
}

// stripOf is what is taken off in front of a router that would see the whole path else.
func stripOf(r *router) string {
	if r.strip == nil {
		return ""
	}
	return *r.strip
}
