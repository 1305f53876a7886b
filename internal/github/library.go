package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/schemas"
)

// Library asks a Client and keeps what it said in a folder: what is there is not asked
// again, and what changed since is learnt with one question a repository.
type Library struct {
	client *Client
	dir    string
	mark   string // of the API, in names of files
	// Before is the day from which on releases and merged pull requests are not given, though
	// they are kept; zero gives all.
	Before time.Time

	mu    sync.Mutex
	known map[string]*known // by lower name
}

// known is what is known of one repository: the content of its file.
type known struct {
	Format     int           `json:"format"`
	Name       string        `json:"name"` // as it was asked for first
	Repository schemas.Forge `json:"repository"`
	Releases   []Release     `json:"releases"`
	Pulls      map[int]Pull  `json:"pulls"`
	None       map[int]bool  `json:"none"` // numbers that are no pull request
	// Every merged pull request that was touched from Back to Seen is in Pulls, as it was at
	// Seen; so is every other one that is in Pulls.
	Seen time.Time `json:"seen,omitzero"`
	Back time.Time `json:"back,omitzero"`
	// Edits counts how often something that was known was found to be said otherwise.
	Edits int `json:"edits"`

	more string // the cursor after Back, in the run that read so far
}

// format is the format of a file of known.
const format = 2

// NewLibrary keeps what client says in dir.
func NewLibrary(client *Client, dir string) *Library {
	base := ""
	if len(client.sessions) > 0 {
		base = client.sessions[0].client.BaseURL.String()
	}
	return &Library{client: client, dir: dir, mark: strings.TrimPrefix(string(schemas.DigestOf(base)), "sha256:")[:12], known: map[string]*known{}}
}

// Client is whom it asks.
func (l *Library) Client() *Client { return l.client }

func (l *Library) path(name string) string {
	return filepath.Join(l.dir, schemas.RepoSlug(strings.ToLower(name))+"-"+l.mark+".json")
}

// of is what is known of a repository; the caller holds the lock. A file that cannot be read
// is as if it were not there: all of it can be asked again.
func (l *Library) of(name string) (*known, error) {
	key := strings.ToLower(name)
	if k := l.known[key]; k != nil {
		return k, nil
	}
	k := &known{}
	b, err := os.ReadFile(l.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what GitHub said of %s: %w", name, err)
	}
	if err != nil || json.Unmarshal(b, k) != nil || k.Format != format {
		k = &known{Format: format, Name: name}
	}
	if k.Pulls == nil {
		k.Pulls = map[int]Pull{}
	}
	if k.None == nil {
		k.None = map[int]bool{}
	}
	l.known[key] = k
	return k, nil
}

func (l *Library) save(name string, k *known) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	return blob.WriteFile(l.path(name), b)
}

// Learn asks of repositories, one question for a few, and keeps what is new. gone are those
// that are not to be had. After an error, what was learnt before it is kept, and Knows tells
// of what.
func (l *Library) Learn(ctx context.Context, names []string) (gone map[string]*Gone, err error) {
	gone = map[string]*Gone{}
	for chunk := range slices.Chunk(names, AboutBatch) {
		answers, err := l.client.About(ctx, chunk)
		for _, name := range chunk {
			a, ok := answers[name]
			if !ok {
				continue
			}
			var none *Gone
			if errors.As(a.Err, &none) {
				gone[name] = none
				continue
			}
			if err := l.learn(ctx, name, a); err != nil {
				return gone, err
			}
		}
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// learn puts an answer to what is known.
func (l *Library) learn(ctx context.Context, name string, a Answer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, err := l.of(name)
	if err != nil {
		return err
	}
	k := old.copy()
	k.Repository = a.Repository
	if err := k.learnReleases(ctx, l.client, name, a); err != nil {
		return err
	}
	if err := k.learnPulls(ctx, l.client, name, a); err != nil {
		return err
	}
	if reflect.DeepEqual(k, old) {
		return nil
	}
	l.known[strings.ToLower(name)] = k
	return l.save(name, k)
}

func (k *known) copy() *known {
	c := *k
	c.Releases, c.Pulls, c.None = slices.Clone(k.Releases), maps.Clone(k.Pulls), maps.Clone(k.None)
	return &c
}

// learnReleases reads pages until one that ends with a release that is known.
func (k *known) learnReleases(ctx context.Context, c *Client, name string, a Answer) error {
	have := map[string]int{}
	for i, r := range k.Releases {
		have[r.Tag] = i
	}
	first := len(k.Releases) == 0
	page, more := a.Releases, a.MoreReleases
	var fresh []Release
	for pages := 1; ; pages++ {
		met := false
		for _, r := range page {
			i, ok := have[r.Tag]
			met = ok
			switch {
			case !ok:
				fresh = append(fresh, r)
			case !reflect.DeepEqual(k.Releases[i], r):
				k.Releases[i] = r
				k.Edits++
			}
		}
		if met || more == "" || pages == mostPages {
			break
		}
		var err error
		if page, more, err = c.Releases(ctx, name, more); err != nil {
			return err
		}
	}
	if len(fresh) > 0 && !first {
		k.Edits++
	}
	k.Releases = append(fresh, k.Releases...)
	return nil
}

// learnPulls reads pages until one that ends before what was seen. Where that is too far,
// what is known is too old to be used.
func (k *known) learnPulls(ctx context.Context, c *Client, name string, a Answer) error {
	page, more := a.Pulls, a.MorePulls
	seen, back := k.Seen, k.Back
	for pages := 1; ; pages++ {
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			k.take(p)
		}
		last := page[len(page)-1].Updated
		if pages == 1 {
			k.Seen = page[0].Updated
		}
		if more == "" {
			back = time.Time{}.Add(1) // there are no others
			break
		}
		if seen.IsZero() {
			back, k.more = last, more
			break
		}
		if !last.After(seen) {
			break
		}
		if pages == mostPages {
			k.forget(last)
			return nil
		}
		var err error
		if page, more, err = c.Recent(ctx, name, more); err != nil {
			return err
		}
	}
	k.Back = back
	return nil
}

// take keeps one pull request as it is now.
func (k *known) take(p Pull) {
	if have, ok := k.Pulls[p.Number]; ok && !reflect.DeepEqual(have.Pull, p.Pull) {
		k.Edits++
	}
	k.Pulls[p.Number] = p
}

// forget drops what was touched before a time: it may say something else by now.
func (k *known) forget(before time.Time) {
	for n, p := range k.Pulls {
		if p.Updated.Before(before) {
			delete(k.Pulls, n)
		}
	}
	k.Back = before
	k.Edits++
}

// Knows reports whether something is known of a repository, from now or from before.
func (l *Library) Knows(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	return err == nil && k.Repository.Name != ""
}

// Repository is what is known of a repository, and how often what was said of it has changed.
func (l *Library) Repository(name string) (f schemas.Forge, edits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	if err != nil {
		return f, 0
	}
	return k.Repository, k.Edits
}

// counts reports whether what happened at a time is given. What has no time is.
func (l *Library) counts(at time.Time) bool {
	return l.Before.IsZero() || at.IsZero() || at.Before(l.Before)
}

// Releases are the releases of a repository as they are announced, newest first, without
// drafts: nobody else sees those.
func (l *Library) Releases(name string) []Release {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.Releases), func(r Release) bool { return r.Draft || !l.counts(r.Published) })
}

// Pulls gives pull requests by number, and asks for those that are not known. Errors: those
// of the Client; what it said before is kept.
func (l *Library) Pulls(ctx context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	if err != nil {
		return nil, err
	}
	if missing := k.missing(numbers); len(missing) > 0 {
		got, err := l.client.Pulls(ctx, name, missing)
		maps.Copy(k.Pulls, got)
		for _, n := range missing {
			if _, ok := got[n]; !ok && err == nil {
				k.None[n] = true
			}
		}
		if err := errors.Join(err, l.save(name, k)); err != nil {
			return nil, err
		}
	}
	out := map[int]schemas.Pull{}
	for _, n := range numbers {
		if p, ok := k.Pulls[n]; ok && l.counts(p.Merged) {
			out[n] = p.Pull
		}
	}
	return out, nil
}

func (k *known) missing(numbers []int) (out []int) {
	for _, n := range numbers {
		if _, ok := k.Pulls[n]; !ok && !k.None[n] {
			out = append(out, n)
		}
	}
	return out
}

// Merged gives the merged pull requests that were touched since a time, by the commit that
// each was merged as: for changes whose number nothing in git says. At most a thousand are
// read.
func (l *Library) Merged(ctx context.Context, name string, since time.Time) (map[string]schemas.Pull, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	if err != nil {
		return nil, err
	}
	if err := k.reach(ctx, l.client, name, since); err != nil {
		return nil, errors.Join(err, l.save(name, k))
	}
	if err := l.save(name, k); err != nil {
		return nil, err
	}
	out := map[string]schemas.Pull{}
	for _, p := range k.Pulls {
		// Of several that were merged as one commit, the first one.
		if have, twice := out[p.Merge]; p.Merge != "" && l.counts(p.Merged) && (!twice || p.Number < have.Number) {
			out[p.Merge] = p.Pull
		}
	}
	return out, nil
}

// reach reads pages until what is known goes back to a time.
func (k *known) reach(ctx context.Context, c *Client, name string, since time.Time) error {
	after := k.more
	for range mostPages {
		if !k.Back.IsZero() && !k.Back.After(since) {
			return nil
		}
		page, more, err := c.Recent(ctx, name, after)
		if err != nil {
			return err
		}
		for _, p := range page {
			k.take(p)
		}
		if len(page) > 0 && (k.Back.IsZero() || page[len(page)-1].Updated.Before(k.Back)) {
			k.Back = page[len(page)-1].Updated
		}
		if more == "" {
			k.Back = time.Time{}.Add(1)
			return nil
		}
		after, k.more = more, more
	}
	return nil
}

// Bill is what questions cost that were not asked yet.
type Bill struct{ Requests, Points int }

// Add is both bills together.
func (b Bill) Add(o Bill) Bill { return Bill{b.Requests + o.Requests, b.Points + o.Points} }

// Price is what Pulls would cost for these numbers, by GitHub's formula.
func (l *Library) Price(name string, numbers []int) Bill {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.of(name)
	if err != nil {
		return Bill{}
	}
	var b Bill
	for chunk := range slices.Chunk(k.missing(numbers), pullBatch) {
		b = b.Add(Bill{1, points(len(chunk))}) // the labels of each
	}
	return b
}

// PriceOfLearning is what Learn costs for so many repositories, where nothing is paged.
func PriceOfLearning(repositories int) Bill {
	var b Bill
	for n := repositories; n > 0; n -= AboutBatch {
		b = b.Add(Bill{1, points(min(n, AboutBatch) * aboutParts)})
	}
	return b
}
