package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/github"
)

const (
	requestsAnHour = 5000
	searchesShown  = 1000
)

// rest answers one question of the REST API.
func (s *Server) rest(w http.ResponseWriter, req *http.Request) {
	if version := req.Header.Get("X-GitHub-Api-Version"); version != "2022-11-28" {
		http.Error(w, `{"message": "unknown API version"}`, http.StatusBadRequest)
		return
	}
	s.limits(w, "core", requestsAnHour, s.requests)
	if req.URL.Path == "/search/repositories" {
		s.search(w, req)
		return
	}
	parts := strings.Split(strings.TrimPrefix(req.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[0] != "repos" {
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
		return
	}
	name, rest := parts[1]+"/"+parts[2], strings.Join(parts[3:], "/")
	if to, ok := s.renamed[name]; ok {
		http.Redirect(w, req, strings.Replace(req.URL.RequestURI(), name, to, 1), http.StatusMovedPermanently)
		return
	}
	r := s.of(name)
	if r == nil {
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
		return
	}
	switch rest {
	case "":
		s.say(w, req, s.repositoryREST(r, s.spec.example("/repos/{owner}/{repo}")))
	case "releases":
		s.list(w, req, len(r.Releases), func(i int) any {
			x := r.Releases[i]
			return patched(s.spec.example("/repos/{owner}/{repo}/releases").([]any)[0], map[string]any{
				"id": i + 1, "tag_name": x.Tag, "name": x.Title, "body": x.Body, "draft": x.Draft, "prerelease": x.Pre, "published_at": moment(x.Published),
			})
		})
	case "pulls":
		all := r.touched()
		s.list(w, req, len(all), func(i int) any {
			p := all[i]
			labels := []any{}
			for j, l := range p.Labels {
				labels = append(labels, map[string]any{"id": j, "node_id": "x", "url": "https://api.github.com/labels/x", "name": l, "description": "", "color": "ffffff", "default": false})
			}
			return patched(s.spec.example("/repos/{owner}/{repo}/pulls").([]any)[0], map[string]any{
				"number": p.Number, "title": p.Title, "body": p.Body, "merge_commit_sha": p.Merge, "merged_at": cmp.Or(p.Merged, p.Updated), "updated_at": p.Updated, "created_at": p.OpenedAt,
				"state": "closed", "labels": labels, "requested_teams": []any{},
			})
		})
	default:
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
	}
}

// patched is an example of GitHub's with other values.
func patched(example any, values map[string]any) map[string]any {
	out := example.(map[string]any)
	for k, v := range values {
		out[k] = v
	}
	return out
}

func (s *Server) repositoryREST(r *Repository, example any) map[string]any {
	licence := any(nil)
	if r.Licence != "" {
		licence = map[string]any{"key": strings.ToLower(r.Licence), "name": r.Licence, "spdx_id": r.Licence, "url": nil, "node_id": "x"}
	}
	owner, name, _ := strings.Cut(r.Name, "/")
	out := patched(example, map[string]any{
		"full_name": r.Name, "name": name, "stargazers_count": r.Stars, "size": r.Size >> 10, "archived": r.Archived, "fork": r.Fork, "is_template": r.Template,
		"topics": append([]string{}, r.Topics...), "license": licence, "pushed_at": cmp.Or(r.Pushed, started), "language": nil,
	})
	for _, other := range []string{"parent", "source", "template_repository"} {
		delete(out, other)
	}
	out["owner"].(map[string]any)["login"] = owner
	return out
}

// list answers with one page of a list, and links to the others.
func (s *Server) list(w http.ResponseWriter, req *http.Request, n int, at func(int) any) {
	from, to := s.paged(w, req, n)
	out := []any{}
	for i := from; i < to; i++ {
		out = append(out, at(i))
	}
	s.say(w, req, out)
}

func (s *Server) paged(w http.ResponseWriter, req *http.Request, n int) (from, to int) {
	q := req.URL.Query()
	per, _ := strconv.Atoi(q.Get("per_page"))
	per = min(cmp.Or(per, 30), 100)
	at, _ := strconv.Atoi(q.Get("page"))
	at = max(at, 1)
	if at*per < n {
		next := *req.URL
		q.Set("page", strconv.Itoa(at+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, s.http.URL, next.RequestURI()))
	}
	return min((at-1)*per, n), min(at*per, n)
}

// say sends an answer that fits GitHub's description.
func (s *Server) say(w http.ResponseWriter, req *http.Request, body any) {
	b, err := json.Marshal(body)
	if err == nil {
		err = s.spec.check(req, http.StatusOK, b)
	}
	if err != nil {
		s.wrong(w, req.URL.RequestURI(), err)
		return
	}
	_, _ = w.Write(b)
}

// search answers as GitHub does: the first thousand results, those with the most stars
// first.
func (s *Server) search(w http.ResponseWriter, req *http.Request) {
	fits, err := fitting(req.URL.Query().Get("q"))
	if err != nil {
		s.wrong(w, "search", err)
		return
	}
	var found []*Repository
	for _, r := range s.all {
		if fits(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *Repository) int {
		return cmp.Or(cmp.Compare(b.Stars, a.Stars), strings.Compare(a.Name, b.Name))
	})
	total := len(found)
	if page, _ := strconv.Atoi(req.URL.Query().Get("page")); page > searchesShown/100 {
		http.Error(w, `{"message": "Only the first 1000 search results are available"}`, http.StatusUnprocessableEntity)
		return
	}
	found = found[:min(total, searchesShown)]
	from, to := s.paged(w, req, len(found))
	items := []any{}
	for _, r := range found[from:to] {
		example := s.spec.example("/search/repositories").(map[string]any)["items"].([]any)[0]
		items = append(items, s.repositoryREST(r, example))
	}
	s.say(w, req, map[string]any{"total_count": total, "incomplete_results": false, "items": items})
}

// fitting reads a question of the search.
func fitting(q string) (func(*Repository) bool, error) {
	var all []func(*Repository) bool
	archived, forks := true, false
	for _, word := range strings.Fields(q) {
		key, value, ok := strings.Cut(word, ":")
		value, _ = url.QueryUnescape(value)
		if !ok {
			return nil, fmt.Errorf("the test GitHub does not search for words: %q", word)
		}
		switch key {
		case "language":
			all = append(all, func(r *Repository) bool { return len(r.Languages) > 0 && strings.EqualFold(r.Languages[0], value) })
		case "stars":
			stars, err := github.ParseRange(value)
			if err != nil {
				return nil, err
			}
			all = append(all, func(r *Repository) bool {
				return r.Stars >= stars.Least && (stars.Most == 0 || r.Stars <= stars.Most)
			})
		case "created", "pushed":
			days, err := github.ParseDays(value)
			if err != nil {
				return nil, err
			}
			all = append(all, func(r *Repository) bool {
				at := r.Created
				if key == "pushed" {
					at = r.Pushed
				}
				day := at.UTC().Truncate(24 * time.Hour)
				return !day.Before(days.From) && (days.To.IsZero() || !day.After(days.To))
			})
		case "topic", "-topic":
			all = append(all, func(r *Repository) bool { return slices.Contains(r.Topics, value) == (key == "topic") })
		case "archived":
			archived = value == "true"
		case "fork":
			forks = value == "true"
		default:
			return nil, fmt.Errorf("the test GitHub does not know %q", key)
		}
	}
	return func(r *Repository) bool {
		for _, f := range all {
			if !f(r) {
				return false
			}
		}
		return (archived || !r.Archived) && (forks || !r.Fork)
	}, nil
}
