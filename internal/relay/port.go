package relay

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/schemas"
)

const (
	// elsewhere is how long the port of a service is waited for after another one of it is listened on: a program may begin
	// with its metrics.
	elsewhere = 2 * time.Second
	// mostAsked is how many of its routes each port is asked.
	mostAsked = 6
)

// Port implements look.Teller.
func (c *client) Port() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.port
}

// answers asks the port of a service, and where a hook tells of others, takes the one that has the service's routes. failed says
// why none answers.
func (c *client) answers(ctx context.Context, s *Server) (failed string, err error) {
	a, err := c.at(ctx, s.Service.Port, "/")
	if err != nil || s.Told == "" {
		return a.Failed, err
	}
	report, err := c.Told(ctx)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(report.Ports(), func(port int) bool {
		return port == s.Service.Port || s.Service.Database != schemas.DatabaseNone && port == s.Service.DBPort
	})
	if len(others) == 0 || a.Failed != "" && c.wait() {
		return a.Failed, nil
	}
	return c.choose(ctx, a, others, paths(report))
}

// choose takes the port that answers most of the paths, in doubt the one that is asked now, and then the first. Where the one that is
// asked is silent, another one has to know a path, if there are any.
func (c *client) choose(ctx context.Context, asked contract.Answer, others []int, paths []string) (failed string, err error) {
	best, most := 0, -1
	if asked.Failed == "" {
		if most, err = c.knows(ctx, c.Port(), paths); err != nil {
			return "", err
		}
		best = c.Port()
	}
	for _, port := range others {
		a, err := c.at(ctx, port, "/")
		if err != nil {
			return "", err
		}
		if a.Failed != "" { // it speaks something else
			continue
		}
		n, err := c.knows(ctx, port, paths)
		if err != nil {
			return "", err
		}
		if n > most && (n > 0 || len(paths) == 0 || asked.Failed == "") {
			best, most = port, n
		}
	}
	if best == 0 {
		return asked.Failed, nil
	}
	c.mu.Lock()
	c.port = best
	c.mu.Unlock()
	return "", nil
}

// wait reports whether the port of the service is still waited for, though it listens on another one.
func (c *client) wait() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.other == 0 {
		c.other = c.since
	}
	return c.since-c.other < elsewhere
}

// at asks for a path at a port. Whatever it finds, the port of the service stays.
func (c *client) at(ctx context.Context, port int, path string) (contract.Answer, error) {
	return c.do(ctx, port, contract.Wire{Method: http.MethodGet, Target: path, Headers: map[string]string{"Accept": "application/json"}})
}

// knows counts the paths that a port answers with anything but 404.
func (c *client) knows(ctx context.Context, port int, paths []string) (int, error) {
	known := 0
	for _, p := range paths {
		a, err := c.at(ctx, port, p)
		if err != nil {
			return 0, err
		}
		if a.Failed == "" && a.Status != http.StatusNotFound {
			known++
		}
	}
	return known, nil
}

// paths are those of routes without parameters, of the framework that tells most routes.
func paths(r look.Report) []string {
	count := map[string]int{}
	most := ""
	for _, f := range r.Routes {
		if count[f.Framework]++; count[f.Framework] > count[most] {
			most = f.Framework
		}
	}
	var out []string
	for _, f := range r.Routes {
		plain := !f.Doc && strings.HasPrefix(f.Path, "/") && !strings.ContainsAny(f.Path, "{}<>:*()\\ ")
		if f.Framework == most && (f.Method == "" || strings.EqualFold(f.Method, http.MethodGet)) && plain && len(out) < mostAsked && !slices.Contains(out, f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

func host(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
