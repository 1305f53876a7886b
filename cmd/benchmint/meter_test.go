package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
)

// asksMany is a program that asks a GitHub of many repositories; each look at its clock takes
// so long.
func asksMany(t *testing.T, look time.Duration) (*program, []string, *bytes.Buffer) {
	t.Helper()
	there := githubtest.Repositories{}
	var all []string
	for i := range 250 {
		name := fmt.Sprintf("acme/kit%03d", i)
		there[name] = &githubtest.Repository{Forge: schemas.Forge{Stars: i + 1}}
		there.Add(name, map[int]schemas.Pull{1: {Title: "One"}})
		all = append(all, name)
	}
	s := githubtest.Start(there)
	t.Cleanup(s.Close)
	var looks atomic.Int64
	out := &bytes.Buffer{}
	p := newProgram(&world{
		stderr: out, now: func() time.Time { return time.Unix(0, 0).Add(time.Duration(looks.Add(1)) * look) },
	})
	client, err := github.New(s.URL(), []string{"token"}, 0, p.now)
	if err != nil {
		t.Fatal(err)
	}
	p.github.library = github.NewLibrary(client, t.TempDir())
	p.github.meter = newMeter(p.github)
	return p, all, out
}

// Finding and asking of many repositories says n of m now and then, where it takes long, and
// what is left of GitHub's hour is said while a run goes on.
func TestMeter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		look time.Duration
		do   func(*program, []string) error
		want string // the form of each line; "" is no line
	}{
		{"asks_of_many", 11 * time.Second, asksOfEach, `^GitHub: asked of \d+ of 250 sources; 4\d\d\d points left of GitHub's hour$`},
		{"asks_quickly", 0, asksOfEach, ""},
		{"finds_many", 40 * time.Second, func(p *program, all []string) error {
			progress := p.finder(config.Default()).Progress
			for n := 100; n <= len(all); n += 50 {
				progress("found", n, len(all))
			}
			return nil
		}, `^GitHub: found [12]\d\d of 250 sources$`},
		{"finds_quickly", 0, func(p *program, all []string) error {
			p.finder(config.Default()).Progress("found", 100, len(all))
			return nil
		}, ""},
		{"reads_pull_requests", 11 * time.Second, pullsOfEach, `^GitHub: \d+ requests so far; 49\d\d points left of GitHub's hour$`},
		{"where_a_view_shows_it", 11 * time.Second, func(p *program, all []string) error {
			p.viewed = true
			return pullsOfEach(p, all)
		}, ""},
	} {
		p, all, out := asksMany(t, tc.look)
		if err := tc.do(p, all); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		said := strings.Split(strings.TrimSpace(out.String()), "\n")
		if tc.want == "" {
			if out.Len() > 0 {
				t.Errorf("%s: says %q", tc.name, said)
			}
			continue
		}
		form := regexp.MustCompile(tc.want)
		for i, line := range said {
			if !form.MatchString(line) || i > 0 && line == said[i-1] {
				t.Errorf("%s: line %d is %q", tc.name, i, line)
			}
		}
		if len(said) < 2 || len(said) > 40 {
			t.Errorf("%s: %d lines", tc.name, len(said))
		}
	}
}

func pullsOfEach(p *program, all []string) error {
	asked := p.github.forge()
	for _, name := range all[:20] {
		if _, err := asked.Pulls(context.Background(), name, []int{1}); err != nil {
			return err
		}
	}
	return nil
}

// asksOfEach asks of some at a time, as a finder does.
func asksOfEach(p *program, all []string) error {
	progress := p.finder(config.Default()).Progress
	for n := 0; n < len(all); n += github.AboutBatch {
		end := min(n+github.AboutBatch, len(all))
		if _, err := p.github.library.Learn(context.Background(), all[n:end]); err != nil {
			return err
		}
		progress("asked of", end, len(all))
	}
	return nil
}
