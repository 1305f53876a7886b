package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/benchmint/benchmint/schemas"
)

// Search is what repositories are looked for by. The zero Search finds everything but forks
// and what is archived.
type Search struct {
	Language        string
	Stars           Range
	Pushed, Created Days
	Topics          []string // all of them
	TopicsNot       []string
	Archived, Forks bool // with those
}

// Range is a range of numbers; a Most of 0 means no limit.
type Range struct{ Least, Most int }

// Days is a range of days in UTC, both inclusive; a zero time is no bound.
type Days struct{ From, To time.Time }

// GitHub shows no more than so many results of one search, and began in this year.
const (
	shown = 1000
	born  = 2007
)

// ErrRange is the form of a range.
var errRange = errors.New("it is not a range (>=10, >10, <=10, <10, 10..20 or 10)")

// ParseRange reads a range as GitHub's search writes it: >=10, >10, <=10, <10, 10..20, 10.
func ParseRange(s string) (Range, error) {
	low, high, err := bounds(s, func(word string, step int) (int, error) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q: %w", s, errRange)
		}
		return n + step, nil
	})
	if err == nil && high != 0 && high < low {
		err = fmt.Errorf("%q is empty: no number lies in it", s)
	}
	return Range{low, high}, err
}

// ParseDays reads a range of days likewise: >=2026-01-01, 2025-01-01..2025-12-31.
func ParseDays(s string) (Days, error) {
	from, to, err := bounds(s, func(word string, step int) (time.Time, error) {
		t, err := time.Parse(time.DateOnly, word)
		if err != nil {
			return t, fmt.Errorf("%q is not a range of days (>=2026-01-31, <2026-01-31, 2025-01-31..2026-01-31)", s)
		}
		return t.AddDate(0, 0, step), nil
	})
	if err == nil && !to.IsZero() && to.Before(from) {
		err = fmt.Errorf("%q is empty: no day lies in it", s)
	}
	return Days{from, to}, err
}

// bounds reads both ends of a range; step is by how much an end lies beside its word.
func bounds[T any](s string, read func(word string, step int) (T, error)) (low, high T, err error) {
	s = strings.TrimSpace(s)
	if a, b, ok := strings.Cut(s, ".."); ok {
		if a != "*" {
			low, err = read(a, 0)
		}
		if err == nil && b != "*" {
			high, err = read(b, 0)
		}
		return low, high, err
	}
	for _, op := range []struct {
		sign string
		low  bool
		step int
	}{{">=", true, 0}, {"<=", false, 0}, {">", true, 1}, {"<", false, -1}} {
		word, ok := strings.CutPrefix(s, op.sign)
		switch {
		case ok && op.low:
			low, err = read(strings.TrimSpace(word), op.step)
			return low, high, err
		case ok:
			high, err = read(strings.TrimSpace(word), op.step)
			return low, high, err
		}
	}
	if low, err = read(s, 0); err == nil {
		high = low
	}
	return low, high, err
}

// query writes a search as GitHub reads it.
func (s Search) query() string {
	var words []string
	add := func(word, value string) {
		if value == "" {
			return
		}
		if strings.ContainsAny(value, " \t") {
			value = strconv.Quote(value)
		}
		words = append(words, word+":"+value)
	}
	add("language", s.Language)
	switch {
	case s.Stars.Most > 0:
		add("stars", fmt.Sprintf("%d..%d", s.Stars.Least, s.Stars.Most))
	default:
		add("stars", fmt.Sprintf(">=%d", s.Stars.Least))
	}
	add("pushed", s.Pushed.String())
	add("created", s.Created.String())
	for _, t := range s.Topics {
		add("topic", t)
	}
	for _, t := range s.TopicsNot {
		add("-topic", t)
	}
	if !s.Archived {
		add("archived", "false")
	}
	if s.Forks {
		add("fork", "true")
	}
	return strings.Join(words, " ")
}

func (d Days) String() string {
	from, to := d.From.Format(time.DateOnly), d.To.Format(time.DateOnly)
	switch {
	case d.From.IsZero() && d.To.IsZero():
		return ""
	case d.To.IsZero():
		return ">=" + from
	case d.From.IsZero():
		return "<=" + to
	}
	return from + ".." + to
}

// Results are those of one search so far: one that ended before its time goes on with them.
type Results struct {
	// Each, where it is set, is called after each page: so many are found, of as many as
	// there are, or as are asked for.
	Each func(found, of int)

	of    int
	found map[string]schemas.Forge // by lower name
	done  map[string]bool          // queries
	cut   map[string][2]Search     // the halves of those that were cut in two, low and high
}

// NewResults has none yet.
func NewResults() *Results {
	return &Results{found: map[string]schemas.Forge{}, done: map[string]bool{}, cut: map[string][2]Search{}}
}

// Search finds repositories, those with the most stars first; those with as many by name.
// limit 0 means all of them: where GitHub does not show all results of a question, it is cut
// in two, by stars, then by day of creation. After a *Later the same call with the same
// Results goes on where it stopped.
func (c *Client) Search(ctx context.Context, s Search, limit int, r *Results) ([]schemas.Forge, error) {
	if err := c.window(ctx, s, limit, r); err != nil {
		return nil, err
	}
	var out []schemas.Forge
	for _, f := range r.found {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b schemas.Forge) int {
		return cmp.Or(cmp.Compare(b.Stars, a.Stars), strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

func (c *Client) window(ctx context.Context, s Search, limit int, r *Results) error {
	query := s.query()
	if r.done[query] {
		return nil
	}
	if halves, ok := r.cut[query]; ok {
		return c.both(ctx, halves, limit, r)
	}
	most := shown
	if limit > 0 && limit < most {
		most = limit
	}
	read, total, err := c.results(ctx, s, 1)
	if err != nil {
		return err
	}
	if r.of == 0 { // the first question is the whole
		r.of = total
		if limit > 0 {
			r.of = min(total, limit)
		}
	}
	if total > shown && (limit == 0 || limit > shown) {
		if low, high, ok := c.halves(s, read); ok {
			r.cut[query] = [2]Search{low, high}
			return c.both(ctx, r.cut[query], limit, r)
		}
	}
	for page := 1; ; page++ {
		for _, f := range read {
			r.found[strings.ToLower(f.Name)] = f
		}
		if r.Each != nil {
			r.Each(min(len(r.found), r.of), r.of)
		}
		if len(read) < pageSize || page*pageSize >= most {
			r.done[query] = true
			return nil
		}
		if read, _, err = c.results(ctx, s, page+1); err != nil {
			return err
		}
	}
}

// both looks through the half with more stars, and then through the other.
func (c *Client) both(ctx context.Context, halves [2]Search, limit int, r *Results) error {
	if err := c.window(ctx, halves[1], limit, r); err != nil {
		return err
	}
	if limit > 0 && len(r.found) >= limit {
		return nil
	}
	return c.window(ctx, halves[0], limit, r)
}

// halves cuts a search in two: at the geometric middle of its stars, for there are far more
// repositories with few; else at the middle of its days. Days of creation never move.
func (c *Client) halves(s Search, first []schemas.Forge) (low, high Search, ok bool) {
	low, high = s, s
	top := s.Stars.Most
	if top == 0 && len(first) > 0 {
		top = first[0].Stars
	}
	if least := s.Stars.Least; top > least {
		middle := int(math.Sqrt(float64(max(least, 1)) * float64(top)))
		middle = min(max(middle, least), top-1)
		low.Stars.Most, high.Stars.Least = middle, middle+1
		return low, high, true
	}
	from, to := s.Created.From, s.Created.To
	if from.IsZero() {
		from = time.Date(born, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if to.IsZero() {
		to = c.now().UTC().Truncate(24 * time.Hour)
	}
	days := int(to.Sub(from).Hours() / 24)
	if days < 1 {
		return low, high, false // more than GitHub shows, made on one day
	}
	middle := from.AddDate(0, 0, days/2)
	low.Created, high.Created = Days{from, middle}, Days{middle.AddDate(0, 0, 1), to}
	if s.Created.To.IsZero() {
		high.Created.To = time.Time{}
	}
	return low, high, true
}

// results is one page, and how many there are. GitHub says where it did not look at all of
// its repositories: it is asked again then.
func (c *Client) results(ctx context.Context, s Search, page int) (out []schemas.Forge, total int, err error) {
	const times = 3
	for range times {
		var result *github.RepositoriesSearchResult
		err := c.doFor(ctx, "search", "repositories", func(rest *github.Client) error {
			r, _, err := rest.Search.Repositories(ctx, s.query(), &github.SearchOptions{Sort: "stars", Order: "desc", ListOptions: github.ListOptions{Page: page, PerPage: pageSize}})
			if err != nil {
				return c.fault(ctx, "search", err)
			}
			result = r
			return nil
		})
		if err != nil {
			return nil, 0, unheavy(err)
		}
		if result.GetIncompleteResults() {
			continue
		}
		for _, r := range result.Repositories {
			out = append(out, forgeOf(r))
		}
		return out, result.GetTotal(), nil
	}
	return nil, 0, &Later{Err: errors.New("the search was cut short three times")}
}
