package routes

import (
	"strings"
)

// NetHTTP reads http.ServeMux of the standard library.
var NetHTTP = Reader{Framework: "net/http", Language: "go", read: func(s *source) ([]Route, []string) { return readGo(s, muxRouting{}) }}

type muxRouting struct{}

func (muxRouting) framework() string { return "net/http" }

func (muxRouting) isRouter(n named) bool { return n.path == "net/http" && n.name == "ServeMux" }

func (muxRouting) makes(p, name string) bool { return p == "net/http" && name == "NewServeMux" }

func (muxRouting) call(c *routerCall) any {
	if c.method != "Handle" && c.method != "HandleFunc" {
		return nil
	}
	if r, mws := asRouter(c.arg(1)); r != nil {
		c.mount(stripOf(r), r, mws)
		return nil
	}
	m, p := cutMethod(c.arg(0))
	s, ok := p.(string)
	if ok {
		p = muxPath(s)
	}
	if c.declare(m, p, c.arg(1), nil) {
		all := c.r.bucket.routes
		all[len(all)-1].subtree = strings.HasSuffix(s, "/")
	}
	return nil
}

func (muxRouting) join(prefix, p string) string {
	if p == "" {
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + p
}

// cutMethod is the method and path of a pattern "GET /x".
func cutMethod(pattern any) (method string, p any) {
	s, ok := pattern.(string)
	if !ok {
		return "", pattern
	}
	before, after, found := strings.Cut(strings.TrimSpace(s), " ")
	if !found {
		return "", s
	}
	return before, strings.TrimSpace(after)
}

// muxPath is the path of a pattern without a host, and without {$}.
func muxPath(s string) string {
	if i := strings.IndexByte(s, '/'); i > 0 {
		s = s[i:]
	}
	return strings.TrimSuffix(s, "{$}")
}
