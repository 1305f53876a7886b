package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/benchmint/benchmint/internal/github"
)

// object is what a question finds: values by field, and functions of arguments.
type object map[string]any

type arguments map[string]any

// resolver gives a field by its arguments; an error is one of NOT_FOUND.
type resolver func(arguments) (any, error)

// graph answers one question of GraphQL.
func (s *Server) graph(w http.ResponseWriter, req *http.Request, token string) {
	var in struct {
		Query     string
		Variables map[string]any
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		s.wrong(w, "graphql", err)
		return
	}
	s.paths[len(s.paths)-1] = in.Query
	doc, errs := gqlparser.LoadQueryWithRules(s.spec.schema, in.Query, nil)
	if errs != nil {
		s.wrong(w, "graphql", errs)
		return
	}
	if s.failed(w, req, question{token, aliases(doc.Operations[0].SelectionSet), namesIn(in.Variables)}) {
		return
	}
	_, cost := price(doc)
	s.points += cost
	s.limits(w, "graphql", pointsAnHour, s.points)
	e := &execution{variables: in.Variables}
	data := e.project(doc.Operations[0].SelectionSet, object{
		"rateLimit":  object{"cost": cost, "remaining": max(pointsAnHour-s.points, 1), "resetAt": reset, "limit": pointsAnHour},
		"repository": resolver(s.repository),
	}, nil)
	out := map[string]any{"data": data}
	if e.errors != nil {
		out["errors"] = e.errors
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		s.bad = append(s.bad, err.Error())
	}
}

// namesIn are the repositories of a question's variables: owner and name, o0 and n0, o1 and n1.
func namesIn(variables map[string]any) (out []string) {
	for key, owner := range variables {
		if rest, ok := strings.CutPrefix(key, "o"); ok {
			name := variables["n"+strings.Replace(rest, "wner", "ame", 1)]
			out = append(out, strings.ToLower(fmt.Sprintf("%v/%v", owner, name)))
		}
	}
	return out
}

const pointsAnHour = 5000

// aliases counts the pull requests or repositories that are asked for by name.
func aliases(set ast.SelectionSet) int {
	n := 0
	for _, x := range set {
		f, ok := x.(*ast.Field)
		if !ok || f.Name == "rateLimit" {
			continue
		}
		if f.Name == "repository" {
			n += max(1, aliases(f.SelectionSet))
		}
		if f.Name == "pullRequest" {
			n++
		}
	}
	return n
}

// first is how many nodes of a connection are asked for.
func first(f *ast.Field) int {
	for _, a := range f.Arguments {
		if a.Name == "first" || a.Name == "last" {
			n, err := strconv.Atoi(a.Value.Raw)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// execution is one question and what it met.
type execution struct {
	variables map[string]any
	errors    []any
}

// project is what a question asks for of a value.
func (e *execution) project(set ast.SelectionSet, v any, path []any) any {
	switch x := v.(type) {
	case []object:
		out := []any{}
		for i, o := range x {
			out = append(out, e.project(set, o, append(slices.Clone(path), i)))
		}
		return out
	case object:
		if x == nil {
			return nil
		}
		out := map[string]any{}
		for _, s := range set {
			e.take(s, x, path, out)
		}
		return out
	}
	return v
}

func (e *execution) take(s ast.Selection, x object, path []any, out map[string]any) {
	switch f := s.(type) {
	case *ast.InlineFragment:
		maps.Copy(out, e.project(f.SelectionSet, x, path).(map[string]any))
	case *ast.FragmentSpread:
		maps.Copy(out, e.project(f.Definition.SelectionSet, x, path).(map[string]any))
	case *ast.Field:
		at := append(slices.Clone(path), f.Alias)
		v, known := x[f.Name]
		if !known {
			panic("the test GitHub does not know " + f.ObjectDefinition.Name + "." + f.Name)
		}
		if r, ok := v.(resolver); ok {
			var err error
			if v, err = r(f.ArgumentMap(e.variables)); err != nil {
				e.errors = append(e.errors, map[string]any{"type": "NOT_FOUND", "path": at, "message": err.Error()})
				out[f.Alias] = nil
				return
			}
		}
		if len(f.SelectionSet) > 0 {
			v = e.project(f.SelectionSet, v, at)
		}
		out[f.Alias] = v
	}
}

func (s *Server) repository(args arguments) (any, error) {
	name := fmt.Sprintf("%v/%v", args["owner"], args["name"])
	r := s.of(name)
	if r == nil {
		return nil, fmt.Errorf("Could not resolve to a Repository with the name '%s'.", name) //nolint:staticcheck // GitHub's words
	}
	var languages, topics, root []object
	for _, l := range r.Languages {
		languages = append(languages, object{"name": l})
	}
	for _, t := range r.Topics {
		topics = append(topics, object{"topic": object{"name": t}})
	}
	for _, n := range r.Root {
		kind := "blob"
		if n[len(n)-1] == '/' {
			n, kind = n[:len(n)-1], "tree"
		}
		root = append(root, object{"name": n, "type": kind})
	}
	licence := object(nil)
	if r.Licence != "" {
		licence = object{"spdxId": r.Licence}
	}
	return object{
		"nameWithOwner": r.Name, "isArchived": r.Archived, "isDisabled": r.Disabled, "isEmpty": false, "isFork": r.Fork, "isTemplate": r.Template, "isPrivate": false,
		"stargazerCount": r.Stars, "diskUsage": r.Size >> 10, "pushedAt": moment(r.Pushed), "licenseInfo": licence,
		"languages": object{"nodes": languages}, "repositoryTopics": object{"nodes": topics},
		"object":   object{"entries": root},
		"releases": resolver(r.releases), "pullRequests": resolver(r.merged), "pullRequest": resolver(r.pull),
	}, nil
}

// moment is a time, or nothing.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// page cuts a connection.
func page[T any](all []T, args arguments, node func(T) object) object {
	from := 0
	if after, ok := args["after"].(string); ok {
		n, err := strconv.Atoi(after)
		if err != nil {
			panic(err)
		}
		from = n
	}
	n, _ := args["first"].(int64)
	to := min(from+int(n), len(all))
	nodes := []object{}
	for _, x := range all[from:to] {
		nodes = append(nodes, node(x))
	}
	return object{"totalCount": len(all), "nodes": nodes, "pageInfo": object{"hasNextPage": to < len(all), "endCursor": strconv.Itoa(to)}}
}

func (r *Repository) releases(args arguments) (any, error) {
	return page(r.Releases, args, func(x github.Release) object {
		author := object(nil)
		if x.Author != "" {
			author = object{"login": x.Author}
		}
		return object{"tagName": x.Tag, "name": x.Title, "isDraft": x.Draft, "isPrerelease": x.Pre, "publishedAt": moment(x.Published), "description": x.Body, "author": author}
	}), nil
}

// touched are the pull requests, those that were touched last first.
func (r *Repository) touched() []github.Pull {
	return slices.SortedFunc(maps.Values(r.Pulls), func(a, b github.Pull) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.Number, a.Number))
	})
}

func (r *Repository) merged(args arguments) (any, error) {
	return page(r.touched(), args, pullNode), nil
}

func (r *Repository) pull(args arguments) (any, error) {
	n, _ := args["number"].(int64)
	p, ok := r.Pulls[int(n)]
	if !ok {
		return nil, fmt.Errorf("Could not resolve to a PullRequest with the number of %d.", n) //nolint:staticcheck // GitHub's words
	}
	return pullNode(p), nil
}

func pullNode(p github.Pull) object {
	labels := []object{}
	for _, l := range p.Labels {
		labels = append(labels, object{"name": l})
	}
	merge := object(nil)
	if p.Merge != "" {
		merge = object{"oid": p.Merge}
	}
	return object{"number": p.Number, "title": p.Title, "body": p.Body, "createdAt": p.OpenedAt, "updatedAt": p.Updated, "mergedAt": cmp.Or(p.Merged, p.Updated), "mergeCommit": merge, "labels": object{"nodes": labels}}
}
