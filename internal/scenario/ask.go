package scenario

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/routes"
)

// maxTold bounds how often one endpoint is asked again because of what its handler was seen to read.
const maxTold = 3

// Ask asks each route of a table once for nothing: an object that says nothing, without credentials. What the handlers then read (package
// look) becomes the body of the route, its query and its parameters; 401 and 403 say that it needs credentials. A route of any
// method becomes one for each method that it does not refuse. server starts the service with its hook. unready are the paths
// without parameters that GET did not get a good answer of.
func Ask(ctx context.Context, server contract.Server, t routes.Table) (out routes.Table, unready []string, err error) {
	out.Framework = t.Framework
	err = fresh(ctx, server, false, func(c contract.Client) error {
		all := slices.Clone(t.Routes)
		slices.SortStableFunc(all, func(a, b routes.Route) int {
			return slices.Index(askOrder, a.Method) - slices.Index(askOrder, b.Method)
		})
		silent := 0
		for _, r := range all {
			if silent > 2 || unsent(newRoute(r)) != "" && r.Method != "" {
				out.Routes = append(out.Routes, r) // as it is
				continue
			}
			methods := []string{r.Method}
			if r.Method == "" {
				methods = askOrder
			}
			asked, none, bad, err := askAll(ctx, c, r, methods)
			if err != nil {
				return err
			}
			if silent++; !none {
				silent = 0
			}
			if bad && r.Method != http.MethodPost {
				unready = append(unready, r.Path)
			}
			out.Routes = append(out.Routes, asked...)
		}
		return nil
	})
	out.Routes = routes.Sort(out.Routes)
	return out, unready, err
}

// askOrder is the order in which methods are asked: nothing is removed before it is read.
var askOrder = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// asked is what one request of askAll came to.
type asked struct {
	route  routes.Route
	answer contract.Answer
	told   bool // the handler read something
}

// askAll asks one route with each of several methods. bad: one had no answer, or one of a server's fault.
func askAll(ctx context.Context, c contract.Client, r routes.Route, methods []string) (out []routes.Route, silent, bad bool, err error) {
	if len(methods) == 1 && methods[0] == http.MethodDelete {
		return []routes.Route{r}, false, false, nil // nothing is removed for it
	}
	var all []asked
	for _, m := range methods {
		one, err := askOne(ctx, c, r, m)
		if err != nil {
			return nil, false, false, err
		}
		silent = silent || one.answer.Failed != ""
		bad = bad || one.answer.Failed != "" || one.answer.Status >= 500
		all = append(all, one)
	}
	if len(methods) == 1 {
		return []routes.Route{all[0].route}, silent, bad, nil
	}
	for _, one := range all {
		if s := one.answer.Status; s != http.StatusMethodNotAllowed && s != http.StatusNotImplemented && s != http.StatusNotFound {
			out = append(out, one.route)
		}
	}
	differs := slices.ContainsFunc(all[1:], func(one asked) bool {
		return one.told || one.answer.Status != all[0].answer.Status || string(one.answer.Body) != string(all[0].answer.Body)
	})
	if len(out) == 0 || !differs { // it refuses all, or does not look at the method
		r.Method = http.MethodGet
		out = []routes.Route{r}
	}
	return out, silent, bad, nil
}

// askOne asks a route for nothing.
func askOne(ctx context.Context, c contract.Client, r routes.Route, method string) (asked, error) {
	one := asked{route: clone(r)}
	one.route.Method = method
	w := contract.Wire{Method: method, Target: target(one.route), Headers: map[string]string{"Accept": "application/json"}}
	if method != http.MethodGet && method != http.MethodDelete {
		w.Headers["Content-Type"], w.Body = "application/json", []byte(`{"benchmint":""}`)
	}
	var err error
	if one.answer, err = c.Do(ctx, w); err != nil {
		return one, err
	}
	if s := one.answer.Status; s == http.StatusUnauthorized || s == http.StatusForbidden {
		one.route.Auth = "required"
	}
	one.told, err = heard(ctx, c, &one.route, w.Target)
	return one, err
}

// clone is a route whose lists are its own.
func clone(r routes.Route) routes.Route {
	r.Params, r.Query = slices.Clone(r.Params), slices.Clone(r.Query)
	if r.Body != nil {
		b := *r.Body
		b.Fields = slices.Clone(b.Fields)
		r.Body = &b
	}
	return r
}

// target is the path of a route with samples for its parameters.
func target(r routes.Route) string {
	return braces.ReplaceAllStringFunc(r.Path, func(m string) string {
		f := routes.Field{Name: strings.Trim(m, "{}"), Type: "integer"}
		for _, p := range r.Params {
			if p.Name == f.Name && p.Type != "" {
				f = p
			}
		}
		return url.PathEscape(contract.Text(sample(f, false)))
	})
}

// heard takes what the service told since a request of a route, and reports whether it is news.
func heard(ctx context.Context, c contract.Client, r *routes.Route, target string) (bool, error) {
	teller, ok := c.(look.Teller)
	if !ok {
		return false, nil
	}
	report, err := teller.Told(ctx)
	if err != nil {
		return false, err
	}
	path, _, _ := strings.Cut(target, "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	for _, f := range report.Answers {
		if f.Method == r.Method && f.Path == path && r.Stack == nil {
			r.Stack = f.Stack
		}
	}
	news := false
	for _, f := range report.Reads {
		if f.Method == r.Method && f.Path == path {
			news = look.Take(r, f) || news
		}
	}
	return news, nil
}

// listen is heard of the last request of a session.
func (s *session) listen(r *route) bool {
	news, err := heard(s.ctx, s.client, &r.Route, s.asked)
	if err != nil && s.err == nil {
		s.err = err
	}
	return news
}
