package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// fault is one row of the table of docs/faults.md, as it comes in the middle of a run.
type fault struct {
	name   string
	said   []githubtest.Fault
	before bool     // an undisturbed run comes first
	args   []string // of the run
	env    []string
	search bool // the repositories are searched for, among many others
	// strike changes the world in the middle of the run, mend changes it back after it.
	strike, mend func() error
	code         int    // the exit code that the run ends with
	says         string // that a line of it says
}

// always is more often than a run asks.
const always = 1 << 20

// The waits that a fault names, in seconds.
const (
	soon = "1"
	late = "40"
)

// faults are all rows, each in the middle of a run that asks so many questions; one of a
// repository is of name.
func (b *bench) faults(half int, name string, elsewhere string) []fault {
	said := func(f githubtest.Fault) []githubtest.Fault {
		if f.After == 0 && f.Of == "" {
			f.After = half
		}
		if f.Times == 0 {
			f.Times = always
		}
		return []githubtest.Fault{f}
	}
	wait := func(seconds string) map[string]string { return map[string]string{"Retry-After": seconds} }
	spent := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(time.Now().Add(time.Minute).Unix())}
	const limit, second = `{"message": "API rate limit exceeded"}`, `{"message": "You have exceeded a secondary rate limit"}`
	const unknown = `{"message": "Bad credentials"}`
	many := `{"total_count": 9, "incomplete_results": true, "items": []}`
	return []fault{
		{name: "no token", env: []string{"GITHUB_TOKEN="}, code: 2, says: "GitHub answers with a token only"},
		{name: "the token is not accepted any more", said: said(githubtest.Fault{Status: 401, Body: unknown}), code: 1, says: "is not accepted"},
		{name: "one of two tokens is not accepted", said: said(githubtest.Fault{Status: 401, Body: unknown, Token: "ghp_other"}), env: []string{"GITHUB_TOKEN=ghp_other,ghp_bench"}},
		{name: "hourly limit, by 403", said: said(githubtest.Fault{Status: 403, Header: spent, Body: limit}), code: 3, says: "answers again at|tried next at"},
		{name: "hourly limit, in a 200", said: said(githubtest.Fault{Body: `{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}`}), code: 3, says: "tried next at"},
		{name: "hourly limit of one of two tokens", said: said(githubtest.Fault{Status: 403, Header: spent, Body: limit, Token: "ghp_other"}), env: []string{"GITHUB_TOKEN=ghp_other,ghp_bench"}},
		{name: "secondary limit, 403", said: said(githubtest.Fault{Status: 403, Header: wait(late), Body: second}), code: 3, says: "tried next at"},
		{name: "secondary limit, 429, a second", said: said(githubtest.Fault{Status: 429, Header: wait(soon), Body: "{}", Times: 2}), args: []string{"--wait", "1m"}},
		{name: "github.max_requests", args: []string{"--set", fmt.Sprintf("github.max_requests=%d", half)}, code: 3, says: "--set github.max_requests=N raises it"},
		{name: "it does not answer (503)", said: said(githubtest.Fault{Status: 503, Body: "{}"}), code: 3, says: "GitHub answers 503"},
		{name: "it does not answer, and did before", before: true, said: said(githubtest.Fault{Status: 503, Body: "{}", After: -1}), code: 3, says: "GitHub answers 503"},
		{name: "a limit in the middle of a search", search: true, said: said(githubtest.Fault{Path: "/search/", Status: 429, Header: wait(soon), Body: "{}", After: 9, Times: 1}), args: []string{"--wait", "1m"}, says: "waiting"},
		{name: "a search that is cut short", search: true, said: said(githubtest.Fault{Path: "/search/", Body: many, After: 9}), code: 3, says: "cut short three times"},
		{name: "no GraphQL any more", said: said(githubtest.Fault{Path: "/graphql", Status: 404, Body: "{}"})},
		{name: "100,000 releases", strike: b.change(name, func(r *githubtest.Repository) { r.Releases = append(slices.Clone(r.Releases), nightly()...) }), mend: b.restore(name)},
		{name: "too heavy (502)", said: said(githubtest.Fault{Most: 2, Status: 502, Body: "{}"})},
		{name: "an empty answer", said: said(githubtest.Fault{Times: 1}), code: 3, says: "the answer is empty"},
		{name: "a cut answer", said: said(githubtest.Fault{Times: 1, Body: `{"data": {"repository": {"p0": {"num`}), code: 3, says: "the answer is not JSON"},
		{name: "a strange answer", said: said(githubtest.Fault{Times: 1, Body: `{"data": [7]}`}), code: 3, says: "the answer is not what was asked for"},
		{name: "renamed", strike: b.rename(name, name+"-new"), mend: b.rename(name+"-new", name)},
		{name: "deleted", strike: b.change(name, nil), mend: b.restore(name), code: 3, says: "GitHub has no " + name},
		{name: "blocked (451) from the start", said: said(githubtest.Fault{Of: name, Status: 451, Body: "{}"}), says: "using the code at"},
		{name: "blocked (451) in the middle", said: said(githubtest.Fault{Of: name, Status: 451, Body: "{}", After: 1}), code: 3, says: "GitHub has no " + name},
		{name: "force-pushed", strike: b.push(name, true), mend: b.push(name, false)},
		{name: "a redirect to another host", said: said(githubtest.Fault{Status: 302, Header: map[string]string{"Location": elsewhere}, Body: "{}"}), code: 3, says: "GitHub does not answer now"},
	}
}

// nightly are 100,000 releases that are older than every other.
func nightly() []github.Release {
	out := make([]github.Release, 100_000)
	for i := range out {
		out[i] = github.Release{Tag: fmt.Sprintf("nightly-%d", len(out)-i), Published: time.Unix(int64(len(out)-i), 0).UTC()}
	}
	return out
}

// change changes a repository while it is asked of, or takes it away where do is nil.
func (b *bench) change(name string, do func(*githubtest.Repository)) func() error {
	return func() error {
		b.server.Change(func(all githubtest.Repositories) {
			if do == nil {
				delete(all, name)
				return
			}
			changed := *all[name]
			do(&changed)
			all[name] = &changed
		})
		return nil
	}
}

// restore gives a repository as it was when the server began.
func (b *bench) restore(name string) func() error {
	was := b.all[name]
	return func() error {
		b.server.Change(func(all githubtest.Repositories) { all[name] = was })
		return nil
	}
}

func (b *bench) rename(from, to string) func() error {
	return func() error { b.server.Rename(from, to); return nil }
}

// push replaces the newest commit of a repository by another one, or puts it back.
func (b *bench) push(name string, away bool) func() error {
	dir := filepath.Join(b.dir, "git", name+".git")
	return func() error {
		ctx := context.Background()
		if !away {
			_, err := git(ctx, dir, "update-ref", "HEAD", "refs/bench/was")
			return err
		}
		if _, err := git(ctx, dir, "update-ref", "refs/bench/was", "HEAD"); err != nil {
			return err
		}
		made, err := git(ctx, dir, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit-tree", "HEAD^{tree}", "-p", "HEAD~2", "-m", "Pushed over two commits")
		if err == nil {
			_, err = git(ctx, dir, "update-ref", "HEAD", strings.TrimSpace(made))
		}
		return err
	}
}

// injectAll runs the program once for each fault, says how it ended, and runs it again without
// the fault, which must end with the labels of an undisturbed run: it waits for what the fault
// put off.
func (b *bench) injectAll(ctx context.Context, names []string) error {
	var tokens atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			tokens.Add(1)
		}
		w.WriteHeader(http.StatusOK)
	}))
	defer other.Close()
	if err := b.own(ctx, names[len(names)/2]); err != nil {
		return err
	}
	b.discuss()
	b.addMany()
	first, err := b.end(ctx, "undisturbed", names, fault{}, 0)
	if err != nil {
		return err
	}
	want, candidates, err := labelsOf(ctx, filepath.Join(b.dir, "undisturbed"))
	if err != nil {
		return err
	}
	fmt.Printf("%d repositories, %d candidates, %d requests; a fault comes after %d\n", len(names), candidates, first.requests, first.requests/2)
	missed := false
	for i, f := range b.faults(first.requests/2, names[len(names)/2], other.URL) {
		if !slices.ContainsFunc(strings.Split(b.only, ","), func(word string) bool { return strings.Contains(f.name, word) }) {
			continue
		}
		ok, err := b.suffer(ctx, fmt.Sprintf("fault-%d", i), names, f, first.requests/2, want)
		if err != nil {
			return err
		}
		missed = missed || !ok
	}
	for _, bad := range b.server.Bad() {
		fmt.Println("not as GitHub describes itself:", bad)
	}
	fmt.Printf("the other host was sent a token %d times\n", tokens.Load())
	if missed || tokens.Load() > 0 || len(b.server.Bad()) > 0 {
		return errMissed
	}
	return nil
}

// suffer is one fault: the run with it, and the run after it.
func (b *bench) suffer(ctx context.Context, folder string, names []string, f fault, half int, want schemas.Digest) (bool, error) {
	if f.before {
		if _, err := b.end(ctx, folder, names, fault{}, 0); err != nil {
			return false, err
		}
	}
	during, err := b.end(ctx, folder, names, f, half)
	if err != nil {
		return false, err
	}
	after, err := b.end(ctx, folder, names, fault{search: f.search, args: []string{"--wait", "3m"}}, 0)
	if err != nil {
		return false, err
	}
	labels, _, err := labelsOf(ctx, filepath.Join(b.dir, folder))
	if err != nil {
		return false, err
	}
	line := during.line(f.says)
	ok := during.code == f.code && (f.says == "" || line != "") && after.code == 0 && labels == want
	word := map[bool]string{true: "ok", false: "MISSED"}[ok]
	fmt.Printf("%-6s %-36s exit %d, %3d requests, %3.0f s; then exit %d, %3d requests, the same labels: %v\n       %s\n", word, f.name, during.code, during.requests, during.wall.Seconds(), after.code, after.requests, labels == want, line)
	if !ok {
		fmt.Println(during.out, after.out)
	}
	return ok, nil
}

// ended is a run that came to its end.
type ended struct {
	cost
	code int
	out  string
}

// line is the first line that holds one of the words, else the first of all; "" where none
// does.
func (e ended) line(words string) string {
	for line := range strings.SplitSeq(e.out, "\n") {
		for word := range strings.SplitSeq(words, "|") {
			if strings.Contains(line, word) && line != "" {
				return line
			}
		}
	}
	return ""
}

// end runs the program with a fault that comes after so many questions.
func (b *bench) end(ctx context.Context, name string, names []string, f fault, half int) (e ended, err error) {
	folder := filepath.Join(b.dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return e, err
	}
	config := fmt.Sprintf("sources: [{github: %s}]\nlimits: {changes: %d}\nfilters: {modifies_only: false, archived: false}\n", strings.Join(names, "}, {github: "), b.most)
	if f.search {
		config = strings.Replace(config, config[:strings.Index(config, "\n")], `sources: [{search: {stars: ">=1", archived: true}}]`, 1)
	}
	if err := os.WriteFile(filepath.Join(folder, "benchmint.yaml"), []byte(config), 0o600); err != nil {
		return e, err
	}
	b.server.Replace(b.all, f.said...)
	args := append([]string{"run", "--until", stages.Classify}, f.args...)
	if !slices.Contains(args, "--wait") {
		args = append(args, "--wait", "0s")
	}
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "GITHUB_TOKEN=ghp_bench", "GITHUB_API_URL="+b.server.URL(), "GITHUB_SERVER_URL="+b.server.URL(), "XDG_CACHE_HOME="+filepath.Join(folder, "cache")), f.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	requests, begun := b.server.Requests(), time.Now()
	if err := cmd.Start(); err != nil {
		return e, err
	}
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	err = b.strikes(f, requests+half, done)
	e = ended{cost{requests: b.server.Requests() - requests, wall: time.Since(begun)}, cmd.ProcessState.ExitCode(), out.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	if f.mend != nil {
		err = errors.Join(err, f.mend())
	}
	return e, err
}

// strikes waits for the end of a run, and changes the world once it has asked so often.
func (b *bench) strikes(f fault, at int, done <-chan error) error {
	const look = 2 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	var struck error
	for strike := f.strike; ; {
		select {
		case err := <-done:
			return errors.Join(struck, err)
		case <-tick.C:
			if strike != nil && b.server.Requests() >= at {
				struck, strike = strike(), nil
			}
		}
	}
}

// own gives a repository a clone of its own, which may be pushed to.
func (b *bench) own(ctx context.Context, name string) error {
	dir := filepath.Join(b.dir, "git", name+".git")
	from, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = os.Remove(dir)
	}
	if err == nil {
		_, err = git(ctx, from, "clone", "--quiet", "--mirror", from, dir)
	}
	return err
}

// discuss has old pull requests be touched last, so that those of candidates are asked for in
// questions of their own.
func (b *bench) discuss() {
	for _, r := range b.all {
		for n, p := range r.Pulls {
			p.Updated = p.Updated.AddDate(50-n%50, 0, -n)
			r.Pulls[n] = p
		}
	}
}

// addMany are repositories that a search finds beside the others, more than it shows.
func (b *bench) addMany() {
	const more = 1200
	for i := range more {
		name := fmt.Sprintf("many/kit%04d", i)
		b.all[name] = &githubtest.Repository{Forge: schemas.Forge{Name: name, Stars: i + 1, Archived: true}}
	}
}
