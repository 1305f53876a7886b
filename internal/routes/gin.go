package routes

import (
	"path"
	"strings"
)

// Gin reads github.com/gin-gonic/gin.
var Gin = Reader{Framework: "gin", Language: "go", read: func(s *source) ([]Route, []string) { return readGo(s, ginRouting{}) }}

const ginPath = "github.com/gin-gonic/gin"

type ginRouting struct{}

func (ginRouting) framework() string { return "gin" }

func (ginRouting) isRouter(n named) bool {
	return n.external(ginPath, "Engine", "RouterGroup", "IRouter", "IRoutes")
}

func (ginRouting) makes(p, name string) bool {
	return p == ginPath && (name == "Default" || name == "New")
}

func (g ginRouting) call(c *routerCall) any {
	switch c.method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		g.add(c, c.method, c.arg(0), c.rest(1))
	case "Any":
		g.add(c, "", c.arg(0), c.rest(1))
	case "Handle":
		m, _ := c.text(0)
		g.add(c, m, c.arg(1), c.rest(2))
	case "Match":
		if l, ok := c.arg(0).(*list); ok {
			for _, m := range l.items {
				if s, ok := m.(string); ok {
					g.add(c, s, c.arg(1), c.rest(2))
				}
			}
		}
	case "Group":
		return c.child(c.arg(0), c.rest(1))
	case "Use":
		c.r.mws = append(c.r.mws[:len(c.r.mws):len(c.r.mws)], c.rest(0)...)
	case "Handler":
		return c.r
	case "Run", "RunTLS":
		return nil
	}
	return c.r
}

func (ginRouting) add(c *routerCall, method string, p any, handlers []any) {
	if len(handlers) == 0 {
		return
	}
	last := len(handlers) - 1
	if r, _ := asRouter(handlers[last]); r != nil {
		c.mount("", r, handlers[:last])
		return
	}
	c.declare(method, p, handlers[last], handlers[:last])
}

// join is what Gin does: the cleaned path, with the slash that the declaration ends in.
func (ginRouting) join(prefix, p string) string {
	if p == "" {
		return prefix
	}
	out := path.Join("/", prefix, p)
	if strings.HasSuffix(p, "/") && !strings.HasSuffix(out, "/") {
		out += "/"
	}
	return out
}
