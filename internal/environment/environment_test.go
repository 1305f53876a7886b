package environment_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// scripted is a sandbox whose build steps answer from a table: argv → failing log.
type scripted struct {
	sandbox.Sandbox
	fail   map[string]string
	lacks  []string // system packages
	builds []sandbox.Build
	broken string // what a toolchain says that does not start
}

func (s *scripted) Run(context.Context, sandbox.Run) (sandbox.Result, error) {
	if s.broken != "" {
		return sandbox.Result{End: sandbox.Exited, ExitCode: 127, Output: []byte(s.broken)}, nil
	}
	return sandbox.Result{End: sandbox.Exited}, nil
}

func (s *scripted) Base(_ context.Context, b sandbox.Base) (sandbox.Layer, error) {
	for _, p := range b.SystemPackages {
		if slices.Contains(s.lacks, p) {
			return sandbox.Layer{}, &sandbox.PackagesError{Missing: []string{p}}
		}
	}
	return sandbox.Layer{Key: schemas.DigestOf(b), ID: "base"}, nil
}

func (s *scripted) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	s.builds = append(s.builds, b)
	for _, step := range b.Steps {
		if log, ok := s.fail[strings.Join(step.Argv, " ")]; ok {
			res := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(log)}
			return sandbox.Layer{}, res, &sandbox.BuildError{Step: step, Result: res}
		}
	}
	argv := strings.Join(b.Steps[0].Argv[1:], "+")
	return sandbox.Layer{Key: b.Key, ID: "layer"}, sandbox.Result{Files: map[string][]byte{langtest.LockPath: []byte("locked:" + argv)}}, nil
}

func (s *scripted) Files(context.Context, sandbox.Layer, func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	return nil
}

type toolchains struct{}

func (toolchains) Available(context.Context, ...string) ([]lang.ToolchainRelease, error) {
	return nil, nil
}
func (toolchains) Get(_ context.Context, name, version string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{Toolchain: schemas.Toolchain{Name: name, Version: version, Digest: "sha256:x"}}, nil
}

func builder(s sandbox.Sandbox, toy langtest.Toy) *environment.Builder {
	return &environment.Builder{Sandbox: s, Toolchains: toolchains{}, Languages: map[string]lang.Language{"toy": toy}, Runners: langtest.Runners()}
}

var recipe = schemas.Recipe{Language: "toy", Toolchain: schemas.Toolchain{Name: "toy", Version: "1"}, Requirements: []string{"a"}}

// TestRunner: the report format of a recipe chooses who runs its tests, whatever its
// language, and a format or language that nobody knows is said with those that are known.
func TestRunner(t *testing.T) {
	t.Parallel()
	b := builder(&scripted{}, langtest.Toy{})
	for format, want := range langtest.Runners() {
		r := recipe
		r.Report = format
		got, err := b.Runner(r)
		if err != nil || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
			t.Errorf("%s: %T, %v, want %T", format, got, err, want)
		}
	}
	r := recipe
	r.Language, r.Report = "cobol", "tap"
	_, noRunner := b.Runner(r)
	_, noSetup := b.Setup(r)
	_, noLock := b.Lock(t.Context(), lang.Project{}, r)
	for _, tc := range []struct {
		err  error
		want string
	}{
		{noRunner, `the recipe has the report format "tap"; known are toy, toy-reversed`},
		{noSetup, `the recipe has the language "cobol"; known are toy`},
		{noLock, `the recipe has the language "cobol"; known are toy`},
	} {
		if tc.err == nil || tc.err.Error() != tc.want {
			t.Errorf("got %v, want %s", tc.err, tc.want)
		}
	}
}

// A toolchain that does not start is no fault of a project: nothing is built on it.
func TestToolchainDoesNotStart(t *testing.T) {
	t.Parallel()
	s := &scripted{broken: "error while loading shared libraries: libpython3.12.so.1.0"}
	r := recipe
	r.Toolchain = schemas.Toolchain{Name: "python", Version: "3.12.1"}
	for range 2 { // the answer is not kept
		_, err := builder(s, langtest.Toy{}).Lock(t.Context(), lang.Project{}, r)
		var build *sandbox.BuildError
		if err == nil || errors.As(err, &build) || !strings.Contains(err.Error(), "python 3.12.1 does not start") || !strings.Contains(err.Error(), "libpython3.12") {
			t.Errorf("got %v, want a fault of the machine that names python 3.12.1 and quotes the loader", err)
		}
	}
	if len(s.builds) > 0 {
		t.Errorf("%d builds ran on a toolchain that does not start", len(s.builds))
	}
}

func TestLockRepairsAndRecords(t *testing.T) {
	t.Parallel()
	s := &scripted{fail: map[string]string{"resolve a": "needs b"}}
	got, err := builder(s, langtest.Toy{Fixes: map[string]string{"needs b": "b"}}).Lock(t.Context(), lang.Project{}, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if got.Lock != "locked:a+b" || len(got.Repairs) != 1 {
		t.Errorf("lock %q, repairs %v", got.Lock, got.Repairs)
	}
	for _, b := range s.builds {
		if !b.Discard || b.Network != sandbox.Registries {
			t.Errorf("a resolve kept a layer or had no registries: %+v", b)
		}
	}
}

// cached is a sandbox whose builds fail as long as they have a cache, or always.
type cached struct {
	scripted
	log    string
	always bool
	broken error // of the machine, in a build without caches
}

func (s *cached) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	s.builds = append(s.builds, b)
	if b.Caches == nil && s.broken != nil {
		return sandbox.Layer{}, sandbox.Result{}, s.broken
	}
	if b.Caches != nil || s.always {
		res := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(s.log)}
		return sandbox.Layer{}, res, &sandbox.BuildError{Step: b.Steps[0], Result: res}
	}
	return sandbox.Layer{}, sandbox.Result{}, nil
}

// A damaged cache is a fault of the machine and no verdict on what was to be built. What
// is printed decides nothing: a build without the cache does.
func TestDamagedCacheIsNoVerdict(t *testing.T) {
	t.Parallel()
	const fault = "error: failed to create directory `" + langtest.CachePath + "/simple-v9`: Not a directory (os error 20)"
	down := errors.New("the engine is gone")
	for _, tc := range []struct {
		name   string
		s      cached
		builds int
		want   string
	}{
		{"damaged", cached{log: fault}, 2, "machine"},
		{"permission", cached{log: "error: Failed to read `" + langtest.CachePath + "/x`: Permission denied"}, 2, "machine"},
		{"project_prints_it", cached{log: fault, always: true}, 2, "project"},
		{"project_fails", cached{log: "error: no version of six"}, 1, "project"},
		{"cannot_look_again", cached{log: fault, broken: down}, 2, "down"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := recipe
			r.Lock = "L"
			_, err := builder(&tc.s, langtest.Toy{}).Env(t.Context(), r)
			var build *sandbox.BuildError
			var machine *environment.MachineError
			got := "down"
			switch {
			case errors.As(err, &build):
				got = "project"
			case errors.As(err, &machine):
				got = "machine"
			case !errors.Is(err, down):
				t.Errorf("%v", err)
			}
			if got != tc.want || len(tc.s.builds) != tc.builds {
				t.Errorf("%s after %d builds, want %s after %d: %v", got, len(tc.s.builds), tc.want, tc.builds, err)
			}
			for _, b := range tc.s.builds[1:] {
				if b.Caches != nil || b.Fill != nil || !b.Discard {
					t.Errorf("the second look has a cache, or keeps a layer: %+v", b)
				}
			}
		})
	}
}

// repairer adds one requirement, or says that it cannot answer now.
type repairer struct {
	add   string // "": it has no edit
	err   error
	asked *[]string
}

func (x repairer) Repair(_ context.Context, _ lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	*x.asked = append(*x.asked, x.add+" about "+string(log))
	if x.add == "" || x.err != nil {
		return r, false, x.err
	}
	r.Requirements = append(slices.Clone(r.Requirements), x.add)
	r.Lock, r.Repairs = "", append(slices.Clone(r.Repairs), schemas.Repair{Rule: "repairer", Edit: "requirements += " + x.add})
	return r, true, nil
}

// TestRepairers: the failure table goes first, others follow in order, and one that
// cannot answer now gives no verdict.
func TestRepairers(t *testing.T) {
	t.Parallel()
	down := errors.New("model is down")
	table := map[string]string{"needs b": "b"}
	for _, tc := range []struct {
		name  string
		fail  map[string]string
		by    []repairer
		lock  string
		asked []string
		err   error
	}{
		{"table_needs_nobody", map[string]string{"resolve a": "needs b"}, []repairer{{add: "c"}}, "locked:a+b", nil, nil},
		{"next_after_the_table", map[string]string{"resolve a": "needs c"}, []repairer{{add: "c"}, {add: "d"}}, "locked:a+c", []string{"c about needs c"}, nil},
		{"next_without_an_edit", map[string]string{"resolve a": "needs d"}, []repairer{{}, {add: "d"}}, "locked:a+d", []string{" about needs d", "d about needs d"}, nil},
		{"table_again_after_another", map[string]string{"resolve a": "needs c", "resolve a c": "needs b"}, []repairer{{add: "c"}}, "locked:a+c+b", []string{"c about needs c"}, nil},
		{"cannot_answer_now", map[string]string{"resolve a": "needs c"}, []repairer{{err: down}, {add: "c"}}, "", []string{" about needs c"}, down},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := builder(&scripted{fail: tc.fail}, langtest.Toy{Fixes: table})
			var asked []string
			for _, x := range tc.by {
				x.asked = &asked
				b.Repairers = append(b.Repairers, x)
			}
			got, err := b.Lock(t.Context(), lang.Project{}, recipe)
			var build *sandbox.BuildError
			if got.Lock != tc.lock || !slices.Equal(asked, tc.asked) || !errors.Is(err, tc.err) || errors.As(err, &build) {
				t.Errorf("lock %q, asked %q, %v; want %q, %q, %v", got.Lock, asked, err, tc.lock, tc.asked, tc.err)
			}
		})
	}
}

// A paid repairer is not asked for an edit that nobody would try.
func TestLockAsksNobodyAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	s, asked := &scripted{fail: map[string]string{}}, []string{}
	argv := "resolve a"
	for n := range 20 {
		s.fail[argv] = fmt.Sprintf("needs more, of %d", n)
		argv += " more"
	}
	b := builder(s, langtest.Toy{})
	b.Repairers = []environment.Repairer{repairer{add: "more", asked: &asked}}
	_, err := b.Lock(t.Context(), lang.Project{}, recipe)
	if err == nil || len(asked) != environment.Attempts-1 {
		t.Errorf("asked %d times for %d attempts, %v", len(asked), environment.Attempts, err)
	}
}

func TestLockIsBounded(t *testing.T) {
	t.Parallel()
	s := &scripted{fail: map[string]string{}}
	argv := "resolve a"
	for n := range 20 {
		s.fail[argv] = fmt.Sprintf("needs more, of %d", n)
		argv += " more"
	}
	_, err := builder(s, langtest.Toy{Fixes: map[string]string{"needs more": "more"}}).Lock(t.Context(), lang.Project{}, recipe)
	var build *sandbox.BuildError
	if !errors.As(err, &build) || len(s.builds) != environment.Attempts {
		t.Errorf("%d attempts, %v; want %d and a build error", len(s.builds), err, environment.Attempts)
	}
}

// TestLockEndsWithTheSameError: two repairs that leave an error as it was are enough, whatever
// moves in its log. A third is tried where the error is another one.
func TestLockEndsWithTheSameError(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		logs []string // of one attempt after another
		want int      // attempts
	}{
		{"same", []string{"needs more", "needs more", "needs more", "needs more", "needs more"}, 3},
		{
			"times_and_addresses", []string{
				"2026-11-27T10:00:01.5Z needs more <object at 0x7f0001> in 12ms\n", "2026-11-27T10:00:02Z needs more <object at 0x7f0002> in 1.20s\n",
				"2026-11-28T00:00:00Z needs more <object at 0xdead> in 3 seconds\n", "needs more",
			}, 3,
		},
		{"temporary_folders", []string{"needs more: /tmp/pip-build-env-a1b2/x.py", "needs more: /tmp/pip-build-env-c3d4/x.py", "needs more: /tmp/q", "needs more"}, 3},
		{"order_of_lines", []string{"one\nneeds more", "needs more\none", "one\n\nneeds more", "needs more"}, 3},
		{"another_in_between", []string{"needs more", "needs more: a", "needs more", "needs more: b", "needs more"}, 5},
		{"numbers_of_errors", []string{"needs more: 9 errors", "needs more: 8 errors", "needs more: 7 errors", "needs more: 6 errors", "needs more: 5 errors"}, 5},
		{"versions", []string{"needs more python3.12/a.py", "needs more python3.11/a.py", "needs more python3.10/a.py", "needs more"}, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, argv := &scripted{fail: map[string]string{}}, "resolve a"
			for n := range environment.Attempts {
				s.fail[argv] = tc.logs[min(n, len(tc.logs)-1)]
				argv += " more"
			}
			_, err := builder(s, langtest.Toy{Fixes: map[string]string{"needs more": "more"}}).Lock(t.Context(), lang.Project{}, recipe)
			told := err != nil && strings.Contains(err.Error(), "gave the same error again")
			if len(s.builds) != tc.want || told != (tc.want < environment.Attempts) || !errors.As(err, new(*sandbox.BuildError)) {
				t.Errorf("%d attempts, %v; want %d and a build error", len(s.builds), err, tc.want)
			}
		})
	}
}

// TestEnvFailsOnce: what a key stands for is not built again for each item that comes to it,
// unless what failed was no fault of it.
func TestEnvFailsOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, log string
		want      int
	}{
		{"of_the_recipe", "no compiler", 1},
		{"of_a_registry", "error: HTTP status server error (503 Service Unavailable) for url (https://index.example/a)", 2},
		{"of_the_machine", "No space left on device", 2},
	} {
		s := &scripted{fail: map[string]string{"setup l": tc.log}}
		b, r := builder(s, langtest.Toy{}), recipe
		r.Lock = "l"
		_, first := b.Env(t.Context(), r)
		_, second := b.Env(t.Context(), r)
		if first == nil || second == nil || first.Error() != second.Error() || len(s.builds) != tc.want {
			t.Errorf("%s: %d builds, %v, then %v", tc.name, len(s.builds), first, second)
		}
	}
}

// TestLockAsksOnce: a resolver is asked once for one and the same, and again for anything else.
func TestLockAsksOnce(t *testing.T) {
	t.Parallel()
	s := &scripted{fail: map[string]string{"resolve no": "no versions"}}
	b := builder(s, langtest.Toy{})
	for _, tc := range []struct {
		requires, variable, lock string
		builds                   int
	}{
		{"a", "1", "locked:a", 1}, {"b", "1", "locked:b", 2}, {"a", "1", "locked:a", 2}, {"a", "2", "locked:a", 3}, {"no", "1", "", 4}, {"no", "1", "", 4},
	} {
		r := recipe
		r.Requirements, r.Variables = []string{tc.requires}, map[string]string{"DATE": tc.variable}
		got, err := b.Lock(t.Context(), lang.Project{}, r)
		if got.Lock != tc.lock || len(s.builds) != tc.builds || errors.As(err, new(*sandbox.BuildError)) != (tc.lock == "") {
			t.Errorf("%v: %d builds, lock %q, %v", tc, len(s.builds), got.Lock, err)
		}
	}
}

// listener keeps what it is told, by item.
type listener struct {
	mu   sync.Mutex
	told []string
	hear chan struct{} // one for each word
}

type itemKey struct{}

func (l *listener) Doing(ctx context.Context, form string, args ...any) {
	l.mu.Lock()
	l.told = append(l.told, l.Doer(ctx)+": "+fmt.Sprintf(form, args...))
	l.mu.Unlock()
	l.hear <- struct{}{}
}

func (l *listener) Doer(ctx context.Context) string {
	name, _ := ctx.Value(itemKey{}).(string)
	return name
}

// gate is a sandbox whose builds wait.
type gate struct {
	*scripted
	open chan struct{}
}

func (g gate) Build(ctx context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	b.Begin(b.Steps[0])
	<-g.open
	return g.scripted.Build(ctx, b)
}

// TestEnvTells: an item says what it builds, and another one whom it waits for.
func TestEnvTells(t *testing.T) {
	t.Parallel()
	g, l, r := gate{&scripted{}, make(chan struct{})}, &listener{hear: make(chan struct{}, 20)}, recipe
	b := builder(g, langtest.Toy{})
	b.Progress, r.Lock = l, "l"
	done := make(chan error, 2)
	env := func(item string) {
		_, err := b.Env(context.WithValue(t.Context(), itemKey{}, item), r)
		done <- err
	}
	go env("acme__widget-1")
	for range 3 {
		<-l.hear
	}
	go env("acme__widget-2")
	<-l.hear
	close(g.open)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"acme__widget-1: getting toy 1", "acme__widget-1: making the base layer: toy 1", "acme__widget-1: building the environment: setup l",
		"acme__widget-2: waiting for the environment, which acme__widget-1 builds", "acme__widget-2: building the environment: setup l",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if diff := cmp.Diff(want, l.told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRegistryFaultsAreNoVerdict(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, log string
		want      bool
	}{
		{"bad_gateway", "error: Failed to fetch: https://index.example/simple/six/\n  cause: HTTP status server error (502 Bad Gateway) for url (https://index.example/simple/six/)", true},
		{"rate_limit", "go: example.com/x@v1: reading https://proxy.example/x/@v/v1.mod: 429 Too Many Requests", true},
		{"dns", "  cause: failed to lookup address information: Temporary failure in name resolution", true},
		{"time_out", `go: example.com/x@v1: Get "https://proxy.example/x/@v/v1.mod": dial tcp: i/o timeout`, true},
		{"older_uv", "  × Failed to download `six==1.0`\n  ╰─▶ connection reset by peer", true},
		{"no_version", "no version of foo<2 is available", false},
		{"compiler", "error: command 'gcc' failed: 502 errors", false},
		{"words_of_the_project", "error: Failed to build `sd @ file:///tmp/sd`\n  cause: The build backend returned an error\n\n         [stderr]\n         error: [Errno 111] Connection refused\n", false},
		{"test_of_the_project", "FAIL: dial tcp 127.0.0.1:1: connect: connection refused", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{fail: map[string]string{"setup L": tc.log}}
			r := recipe
			r.Lock = "L"
			_, err := builder(s, langtest.Toy{}).Env(t.Context(), r)
			if got := errors.Is(err, environment.ErrUnavailable); got != tc.want {
				t.Errorf("unavailable %v for %v", got, err)
			}
		})
	}
}

func TestStateKeysFollowWhatDecides(t *testing.T) {
	t.Parallel()
	s := &scripted{}
	b := builder(s, langtest.Toy{})
	base := sandbox.Layer{Key: "sha256:env"}
	r := recipe
	r.Build = []schemas.Command{{Argv: []string{"build"}}}
	key := func(parent sandbox.Layer, r schemas.Recipe, data string) schemas.Digest {
		l, err := b.State(t.Context(), parent, r, []sandbox.File{{Path: "/testbed/a", Data: []byte(data)}})
		if err != nil {
			t.Fatal(err)
		}
		return l.Key
	}
	one := key(base, r, "x")
	if diff := cmp.Diff(one, key(base, r, "x")); diff != "" {
		t.Errorf("equal states have two keys: %s", diff)
	}
	other := r
	other.Variables = map[string]string{"A": "1"}
	keys := map[schemas.Digest]bool{one: true, key(base, r, "y"): true, key(sandbox.Layer{Key: "sha256:e2"}, r, "x"): true, key(base, other, "x"): true}
	if len(keys) != 4 {
		t.Errorf("%d keys for 4 different states", len(keys))
	}
	for _, build := range s.builds {
		if build.Network != sandbox.NoNetwork {
			t.Error("a state was built with network")
		}
		if !build.Lease {
			t.Error("a state is kept for ever, or taken away from others who made it")
		}
	}
}

func TestLockLeavesOutWhatTheHostLacks(t *testing.T) {
	t.Parallel()
	r := recipe
	r.SystemPackages = []string{"less", "locales-all"}
	got, err := builder(&scripted{lacks: []string{"locales-all"}}, langtest.Toy{}).Lock(t.Context(), lang.Project{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"less"}, got.SystemPackages); diff != "" {
		t.Errorf("system packages (-want +got):\n%s", diff)
	}
	if len(got.Repairs) != 1 || len(r.SystemPackages) != 2 {
		t.Errorf("repairs %v, asked for %v", got.Repairs, r.SystemPackages)
	}
}

// TestStateTellsWhichCommandOfAServiceFailed: the script that runs them is not quoted.
func TestStateTellsWhichCommandOfAServiceFailed(t *testing.T) {
	t.Parallel()
	r := recipe
	r.Service = &schemas.Service{Database: schemas.DatabaseSQLite, Prepare: []schemas.Command{{Argv: []string{"migrate"}}}}
	r.Build = serve.Prepare(*r.Service)
	s := &scripted{fail: map[string]string{strings.Join(r.Build[0].Argv, " "): "no such table\nprepare: command 1 failed\n"}}
	_, err := builder(s, langtest.Toy{}).State(t.Context(), sandbox.Layer{}, r, nil)
	if err == nil || err.Error() != "migrate: exit 1: no such table" {
		t.Errorf("got %v", err)
	}
}
