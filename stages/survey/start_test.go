package survey_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/survey"
)

// server is a toy whose services are prepared by one command. A hook of one step is built into its programs, where it has one.
type server struct {
	langtest.Toy
	prepare []schemas.Command
	step    recipe.Step
}

func (s server) Serve(p lang.Project, _ string) (schemas.Recipe, error) {
	r, err := s.Infer(p)
	r.Service = &schemas.Service{Port: 80, Start: schemas.Command{Argv: []string{"serve"}}, Prepare: s.prepare}
	return r, err
}

func (server) DatabaseURL(schemas.Recipe) string { return "" }

func (s server) Look(r schemas.Recipe) lang.Hooked { return lang.Hooked{Recipe: r, Step: s.step} }

func (server) Answering(lang.Tree, lang.Hooked) func(look.Fact) look.Answering {
	return func(look.Fact) look.Answering { return look.Answering{} }
}

// host makes layers of nothing. A build step fails with a log until the recipe was repaired, and
// so does what is run.
type host struct {
	sandbox.Sandbox
	step, run string // what they print; "" works
	told      string // by the service, beside its route
	err       error  // of a build that fails, in the place of its own
	repaired  bool
	hooked    sandbox.Layer // of the files of a hook, above which nothing builds where step is hookFails
	live      []string      // layers that are there, each as often as it is leased
	built     []string      // commands of layers that were not there
}

func (h *host) Base(context.Context, sandbox.Base) (sandbox.Layer, error) {
	return sandbox.Layer{ID: "base"}, nil
}

func (h *host) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	l := sandbox.Layer{ID: string(b.Key), Key: b.Key}
	if b.Lease && slices.Contains(h.live, l.ID) {
		h.live = append(h.live, l.ID)
		return l, sandbox.Result{}, nil
	}
	for _, s := range b.Steps {
		h.built = append(h.built, s.Argv[0])
		h.repaired = h.repaired || s.Argv[0] == "resolve" && slices.Contains(s.Argv, "help")
		if fails := h.step != hookFails || b.Parent.ID == h.hooked.ID; s.Argv[0] == "build" && h.step != "" && !h.repaired && fails {
			res := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(h.step)}
			return sandbox.Layer{}, res, &sandbox.BuildError{Step: s, Result: res}
		}
	}
	if b.Lease {
		h.live = append(h.live, l.ID)
	}
	if slices.ContainsFunc(b.Files, func(f sandbox.File) bool { return f.Path == "/hook" }) {
		h.hooked = l
	}
	return l, sandbox.Result{Files: map[string][]byte{langtest.LockPath: []byte("locked")}}, h.err
}

func (h *host) Remove(_ context.Context, l sandbox.Layer) error {
	if i := slices.Index(h.live, l.ID); i >= 0 {
		h.live = slices.Delete(h.live, i, i+1)
	}
	return nil
}

func (h *host) Files(context.Context, sandbox.Layer, func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	return nil
}

// Run is the program that asks a service: it says that it began, and answers what it is asked.
func (h *host) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	if r.Interactive == nil {
		return sandbox.Result{End: sandbox.Exited}, nil
	}
	fmt.Fprintln(r.Interactive.Out, "ready")
	in := bufio.NewReader(r.Interactive.In)
	asks, state := 1, "up"
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return sandbox.Result{End: sandbox.Exited}, nil
		}
		if strings.HasPrefix(line, "look ") {
			told := h.told + `{"fact":"route","framework":"toy","method":"GET","path":"/a"}` + "\n"
			fmt.Fprintf(r.Interactive.Out, "ok %s 0 0 - %d\n%s", state, len(told)*asks, told[:len(told)*asks])
			asks = 0
			continue
		}
		_, length, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(length)
		if err != nil {
			return sandbox.Result{}, err
		}
		if _, err := io.CopyN(io.Discard, in, int64(n)); err != nil {
			return sandbox.Result{}, err
		}
		word, data := "ok up 0 0 -", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		if h.run != "" && !h.repaired {
			word, data, state = "refused 1 0 0 -", "", "1"
			fmt.Fprintln(r.Interactive.Err, h.run)
		}
		fmt.Fprintf(r.Interactive.Out, "%s %d\n%s", word, len(data), data)
	}
}

const hookFails = "undefined: hook"

type releases struct{}

func (releases) Available(context.Context, ...string) ([]lang.ToolchainRelease, error) {
	return []lang.ToolchainRelease{{Name: "python", Version: "3.12.1"}, {Name: "uv", Version: "0.5.0"}}, nil
}

func (releases) Get(_ context.Context, name, version string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{Toolchain: schemas.Toolchain{Name: name, Version: version}}, nil
}

type undescribed struct{}

func (undescribed) Describe(context.Context, string, string) (tree.Version, error) {
	return tree.Version{}, nil
}

// start starts the toy in it.
func (h *host) start(t *testing.T, toy server) (survey.Started, func() error, error) {
	t.Helper()
	languages := map[string]lang.Language{"toy": toy, "python": toy}
	w := survey.Workshop{
		Builder:  &environment.Builder{Sandbox: h, Toolchains: releases{}, Languages: languages, Runners: langtest.Runners()},
		Projects: environment.Projects{History: undescribed{}, Toolchains: releases{}, Languages: languages},
	}
	empty, err := tree.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	commit := survey.Commit{Repo: schemas.Repo{Name: "o/n"}, Release: schemas.Release{Date: time.Unix(1700000000, 0)}, Language: "toy", Tree: empty}
	return w.Start(t.Context(), commit, "toy")
}

// TestStartBuildsOnce: the second start has a secret that the first one lacked, and so has what prepares the service. The
// program with the hook is built once for both, and once without.
func TestStartBuildsOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare []schemas.Command
		step    recipe.Step
		want    map[string]int
	}{
		{name: "hook_in_the_program", prepare: []schemas.Command{{Argv: []string{"migrate"}}}, step: recipe.Step{Files: []sandbox.File{{Path: "/hook"}}}, want: map[string]int{"build": 2, "bash": 3}},
		{name: "hook_beside_it", want: map[string]int{"build": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &host{told: `{"fact":"env","name":"SECRET_KEY","at":"/testbed/app.py:1"}` + "\n"}
			s, stop, err := h.start(t, server{prepare: c.prepare, step: c.step})
			if err != nil {
				t.Fatal(err)
			}
			if s.Recipe.Service.Start.Env["SECRET_KEY"] == "" {
				t.Errorf("the start has no secret: %v", s.Recipe.Evidence)
			}
			got := map[string]int{}
			for _, argv0 := range h.built {
				if c.want[argv0] > 0 {
					got[argv0]++
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("commands run:\n%s", diff)
			}
			if err := stop(); err != nil || len(h.live) > 0 {
				t.Errorf("%v, left: %v", err, h.live)
			}
		})
	}
}

// TestStartWithoutHook: a program that builds, but not with its hook, is no program that does not build.
func TestStartWithoutHook(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]schemas.Reason{hookFails: schemas.NotStarted, "undefined: x": schemas.NoBuild} {
		h := &host{step: step}
		_, _, err := h.start(t, server{step: recipe.Step{Files: []sandbox.File{{Path: "/hook"}}}})
		var rejected *pipeline.Rejected
		if !errors.As(err, &rejected) || rejected.Reason != want || !strings.Contains(err.Error(), step) || len(h.live) > 0 {
			t.Errorf("%s: %v, left: %v", step, err, h.live)
		}
	}
}

// TestStartRepairs: what a command that prepares the service printed, and what the service did,
// is held against the failure table. What says nothing of the service is not.
func TestStartRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		step, run string
		err       error
		starts    bool
		want      string // of the error
	}{
		{name: "it_starts", starts: true},
		{name: "a_step_is_repaired", step: "no helper", starts: true},
		{name: "a_start_is_repaired", run: "no helper", starts: true},
		{name: "a_step_stays", step: "no luck", want: "build: exit 1: no luck"},
		{name: "a_start_stays", run: "no luck", want: "exit code 1"},
		{name: "the_machine", step: "", err: errors.New("no sandbox"), want: "no sandbox"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &host{step: c.step, run: c.run, err: c.err}
			s, stop, err := h.start(t, server{Toy: langtest.Toy{Fixes: map[string]string{"no helper": "help"}}})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if (s.Server != nil) != c.starts || !strings.Contains(said, c.want) || c.want == "" && said != "" {
				t.Errorf("started %t, error %q", s.Server != nil, said)
			}
			if want := strings.Contains(c.step+c.run, "helper"); h.repaired != want {
				t.Errorf("repaired %t, want %t", h.repaired, want)
			}
			if rejected := errors.As(err, new(*pipeline.Rejected)); rejected != (c.name == "a_step_stays" || c.name == "a_start_stays") {
				t.Errorf("rejected %t: %v", rejected, err)
			}
			if s.Server != nil {
				if diff := cmp.Diff(2, len(h.live)); diff != "" {
					t.Errorf("layers beside that of the service: %v", h.live)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			}
			if len(h.live) > 0 {
				t.Errorf("left: %v", h.live)
			}
		})
	}
}
