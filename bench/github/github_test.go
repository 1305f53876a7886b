// Package github measures what GitHub is asked for real repositories: it serves their git and what their histories tell
// of pull requests and releases from a test GitHub, and runs the program over them up to the labels.
//
//	go test ./bench/github -bench GitHub -benchtime 1x -timeout 2h -most 70 -args OWNER/NAME=CLONE…
//
// It counts requests and points for each candidate on the server's side, once, in a second run, and in a run that is
// killed so many times (-kills) and must end with the same labels.
//
// With -faults it measures nothing. Each fault of GitHub that docs/faults.md names comes in the middle of a run of its
// own; how that run ends is printed, and a run after it, with the fault gone, must end with the labels of an undisturbed
// one. -fault names some of them.
//
// It never asks GitHub itself.
package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/harvest"
)

var (
	most         = flag.Int("most", 70, "candidates of each repository")
	kills        = flag.Int("kills", 5, "how often the third run is killed")
	inject       = flag.Bool("faults", false, "inject each fault of docs/faults.md in the middle of a run instead")
	wantedFaults = flag.String("fault", "", "with -faults: those whose names hold one of these words, with commas between")
)

func BenchmarkGitHub(b *testing.B) {
	if len(flag.Args()) == 0 {
		b.Skip("no repositories are named: -args OWNER/NAME=CLONE…")
	}
	m := &bench{dir: b.TempDir(), most: *most, kills: *kills, inject: *inject, only: *wantedFaults}
	if err := m.run(b.Context(), flag.Args()); err != nil {
		b.Fatal(err)
	}
}

// errMissed is a goal that is not met.
var errMissed = errors.New("missed")

// goal is the number of requests for a candidate that a first run may cost.
const goal = 0.05

type bench struct {
	dir, program string
	most, kills  int
	inject       bool
	only         string
	all          githubtest.Repositories
	server       *githubtest.Server
}

func (b *bench) run(ctx context.Context, args []string) (err error) {
	world, names, err := b.world(ctx, args)
	if err != nil {
		return err
	}
	b.all = world
	b.server = githubtest.Start(world)
	defer b.server.Close()
	b.server.ServeGit(filepath.Join(b.dir, "git"))
	if err := os.WriteFile(filepath.Join(b.dir, "names"), []byte("all: ["+strings.Join(names, ", ")+"]\n"), 0o600); err != nil {
		return err
	}
	b.program = filepath.Join(b.dir, "benchmint")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.program, "../../cmd/benchmint").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w: %s", err, out)
	}
	if b.inject {
		return b.injectAll(ctx, names)
	}
	return b.measure(ctx, len(names))
}

// measure makes the three runs.
func (b *bench) measure(ctx context.Context, repositories int) error {
	first, err := b.once(ctx, "a", 0)
	if err != nil {
		return err
	}
	labels, candidates, err := labelsOf(ctx, filepath.Join(b.dir, "a"))
	if err != nil {
		return err
	}
	ratio := float64(first.requests) / float64(candidates)
	fmt.Printf("first    %d repositories, %d candidates: %d requests, %d points, %.4f requests a candidate (goal %.2f), %.0f s\n", repositories, candidates, first.requests, first.points, ratio, goal, first.wall.Seconds())
	second, err := b.once(ctx, "a", 0)
	if err != nil {
		return err
	}
	fmt.Printf("second   %d requests, %d points, %.2f a repository, %.0f s\n", second.requests, second.points, float64(second.requests)/float64(repositories), second.wall.Seconds())
	var killed cost
	for i := range b.kills {
		c, err := b.once(ctx, "b", first.wall*time.Duration(i+1)/time.Duration(b.kills+2))
		if err != nil {
			return err
		}
		killed = killed.add(c)
	}
	c, err := b.once(ctx, "b", 0)
	if err != nil {
		return err
	}
	killed = killed.add(c)
	again, _, err := labelsOf(ctx, filepath.Join(b.dir, "b"))
	if err != nil {
		return err
	}
	fmt.Printf("killed   %d times: %d requests, %d points; the same labels: %v\n", b.kills, killed.requests, killed.points, again == labels)
	for _, bad := range b.server.Bad() {
		fmt.Println("not as GitHub describes itself:", bad)
	}
	if again != labels || ratio > goal || len(b.server.Bad()) > 0 {
		return errMissed
	}
	return nil
}

// cost is what one run cost.
type cost struct {
	requests, points int
	wall             time.Duration
}

func (c cost) add(o cost) cost {
	return cost{c.requests + o.requests, c.points + o.points, c.wall + o.wall}
}

// once runs the program with a store and a cache of a name, and kills it after a time that
// is not 0.
func (b *bench) once(ctx context.Context, name string, after time.Duration) (c cost, err error) {
	folder := filepath.Join(b.dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return c, err
	}
	config := fmt.Sprintf("sources: [{list: %s}]\nlimits: {changes: %d}\nfilters: {modifies_only: false}\n", filepath.Join(b.dir, "names"), b.most)
	if err := os.WriteFile(filepath.Join(folder, "benchmint.yaml"), []byte(config), 0o600); err != nil {
		return c, err
	}
	if after > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, after)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, b.program, "run", "--until", stages.Classify)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GITHUB_TOKEN=ghp_bench", "GITHUB_API_URL="+b.server.URL(), "GITHUB_SERVER_URL="+b.server.URL(), "XDG_CACHE_HOME="+filepath.Join(folder, "cache"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	requests, points, begun := b.server.Requests(), b.server.Points(), time.Now()
	err = cmd.Run()
	c = cost{b.server.Requests() - requests, b.server.Points() - points, time.Since(begun)}
	if err != nil && (after == 0 || ctx.Err() == nil) {
		return c, fmt.Errorf("%w: %s", err, out.String())
	}
	return c, nil
}

// labelsOf is a digest of all labels of a store, and the number of candidates with a number.
func labelsOf(ctx context.Context, folder string) (d schemas.Digest, candidates int, err error) {
	s, err := store.Open(ctx, filepath.Join(folder, "benchmint-state"), store.Options{Now: time.Now})
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	labels := map[string]string{}
	for step, err := range s.Each(stages.Classify) {
		if err != nil {
			return "", 0, err
		}
		labels[step.Key] = string(step.State) + string(step.Reason)
		for _, o := range step.Outputs {
			labels[step.Key] += string(o.Record)
		}
	}
	for step, err := range s.Each(stages.Harvest) {
		if err != nil {
			return "", 0, err
		}
		for _, o := range step.Outputs {
			var c schemas.Change
			if err := json.Unmarshal(o.Record, &c); err != nil {
				return "", 0, err
			}
			if harvest.Candidate(c) {
				candidates++
			}
		}
	}
	return schemas.DigestOf(labels), candidates, nil
}
