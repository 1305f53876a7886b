package golang

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

func day(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// releases are some of the toolchains that can be had, as internal/toolchain says it.
func releases(t *testing.T) []lang.ToolchainRelease {
	t.Helper()
	var out []lang.ToolchainRelease
	for version, date := range map[string]string{
		"1.13.1": "2019-09-03", "1.17.13": "2021-08-16", "1.20.14": "2023-02-01", "1.21.6": "2023-08-08",
		"1.21.13": "2023-08-08", "1.22.12": "2024-02-06", "1.23.12": "2024-08-13", "1.24.13": "2025-02-11",
	} {
		out = append(out, lang.ToolchainRelease{Name: Name, Version: version, Released: day(t, date)})
	}
	return append(out, lang.ToolchainRelease{Name: "python", Version: "3.13.0", Released: day(t, "2024-10-07")})
}

func project(t *testing.T, date string, m memory) lang.Project {
	t.Helper()
	return lang.Project{Name: "o/n", Base: m, Solution: m, Date: day(t, date), Available: releases(t)}
}

// workflowWith is a test workflow with a body below strategy.
func workflowWith(matrix, steps string) string {
	return "on: push\njobs:\n  test:\n    strategy:\n      matrix:\n" + matrix + "    steps:\n      - uses: actions/setup-go@v5\n        with:\n          go-version: ${{ matrix.go }}\n" + steps + "      - run: go test -race ./...\n"
}

func TestToolchain(t *testing.T) {
	t.Parallel()
	const ciPath = ".github/workflows/ci.yml"
	tests := map[string]string{"a_test.go": "package a\n"}
	for _, c := range []struct {
		name, date   string
		files        map[string]string
		want, source string
	}{
		{"ci_before_date", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: workflowWith("        go: ['1.20', '1.21.x', 1.23]\n", "")}, "1.21.13", ciPath + ":6"},
		{"ci_later_than_date_only", "2023-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: workflowWith("        go: ['1.23']\n", "")}, "1.20.14", "date"},
		{"words_that_are_no_version", "2023-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: workflowWith("        go: [stable, oldstable, 1.x, tip, '1.24-rc.1']\n", "")}, "1.20.14", "date"},
		{"unquoted_1_20", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: workflowWith("        go-version: [1.13, 1.20]\n", "")}, "1.20.14", ciPath},
		{"below_go_line", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.21\n", ciPath: workflowWith("        go: ['1.17', '1.20']\n", "")}, "1.22.12", "date"},
		{"go_line_newer_than_date", "2023-03-01", map[string]string{"go.mod": "module m\n\ngo 1.21\n"}, "1.21.13", "go.mod:3"},
		{"go_line_with_patch", "2024-09-01", map[string]string{"go.mod": "module m\n\ngo 1.22.12\n", ciPath: workflowWith("        go: ['1.22']\n", "")}, "1.22.12", ciPath + ":6"},
		{"toolchain_line", "2025-03-01", map[string]string{"go.mod": "module m\n\ngo 1.21\n\ntoolchain go1.23.4\n"}, "1.23.12", "go.mod:5"},
		{"lint_job_is_not_asked", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ".github/workflows/lint.yml": workflowWith("        go: ['1.20']\n", "")}, "1.22.12", "date"},
		{"docker_is_no_doc", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ".github/workflows/docker.yml": workflowWith("        go: ['1.20']\n", "")}, "1.20.14", ".github/workflows/docker.yml:6"},
		{"place_of_the_matrix", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: "# not 1.20\n" + workflowWith("        row:\n          - {go: '1.20', os: '1.21'}\n", "")}, "1.20.14", ciPath + ":8"},
		{"number_and_script", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: "jobs:\n  test:\n    steps:\n      - uses: actions/setup-go@v5\n        with: {go-version: 1.20}\n      - run: ./ci/all.sh\n"}, "1.20.14", ciPath + ":5"},
		{"travis", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.13\n", ".travis.yml": "language: go\ngo:\n  - 1.13.x\n  - \"1.17\"\n  - tip\n"}, "1.17.13", ".travis.yml:4"},
		{"version_file", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.20\n", ciPath: "jobs:\n  test:\n    steps:\n      - uses: actions/setup-go@v5\n        with:\n          go-version-file: go.mod\n      - run: go test ./...\n"}, "1.20.14", ciPath + ":6"},
		{"include_rows", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", ciPath: workflowWith("        include:\n          - go: '1.20'\n            os: linux\n", "")}, "1.20.14", ciPath + ":7"},
		{"work_file", "2024-03-01", map[string]string{"go.mod": "module m\n\ngo 1.18\n", "go.work": "go 1.23\n\nuse .\n"}, "1.23.12", "go.work:1"},
	} {
		m := memory{}
		for _, files := range []map[string]string{tests, c.files} {
			for p, text := range files {
				m[p] = text
			}
		}
		r, err := Language{}.Infer(project(t, c.date, m))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Toolchain.Version != c.want || r.Evidence[0].Source != c.source && !strings.HasPrefix(r.Evidence[0].Source, c.source+":") {
			t.Errorf("%s: go %s by %s, want %s by %s", c.name, r.Toolchain.Version, r.Evidence[0].Source, c.want, c.source)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		files  memory
		reason schemas.Reason
		says   string
	}{
		{"no_module", memory{"a.go": "package a\n", "a_test.go": "package a\n"}, schemas.NoRecipe, "no go.mod"},
		{"no_tests", memory{"go.mod": "module m\n", "a.go": "package a\n"}, schemas.NoRecipe, "no module has _test.go"},
		{"go_line_of_the_future", memory{"go.mod": "module m\n\ngo 1.99\n", "a_test.go": "package a\n"}, schemas.NoToolchain, "1.99 (go.mod:3): the newest that can be had is 1.24.13"},
	} {
		_, err := Language{}.Infer(project(t, "2024-03-01", c.files))
		var refusal *lang.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != c.reason || !strings.Contains(refusal.Detail, c.says) {
			t.Errorf("%s: error %v, want %s with %q", c.name, err, c.reason, c.says)
		}
	}
}

func TestModulesAndEnvironment(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod": "module example.com/m\n\ngo 1.18\n", "a_test.go": "package a\n",
		"sub/go.mod": "module example.com/m/sub\n\ngo 1.18\n", "sub/b_test.go": "package b\n",
		"tools/go.mod": "module example.com/m/tools\n\ngo 1.18\n", "tools/tools.go": "package tools\n",
		"x/testdata/go.mod": "module no\n", "x/testdata/c_test.go": "package c\n",
		"_hidden/go.mod": "module no\n", "_hidden/d_test.go": "package d\n",
		".github/workflows/ci.yml": "env:\n  WIDGET_MODE: strict\n  GOFLAGS: -mod=mod\n  API_TOKEN: x\n" +
			workflowWith("        go: ['1.21']\n", "      - run: sudo apt-get update && sudo apt-get install -y libpcap-dev shellcheck\n"),
	}
	r, err := Language{}.Infer(project(t, "2024-03-01", m))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, c := range r.Test {
		dirs = append(dirs, c.Dir)
	}
	if diff := cmp.Diff([]string{"", "sub"}, dirs); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"libpcap-dev"}, r.SystemPackages); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"GOCACHE": "/opt/env/gocache", "GOENV": "off", "GOFLAGS": "-buildvcs=false", "GOMODCACHE": "/opt/env/gomod", "GOTOOLCHAIN": "local",
		"PATH": "/opt/toolchains/go-1.21.13/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "WIDGET_MODE": "strict",
	}
	if diff := cmp.Diff(want, r.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

// TestVariablesOfCI: a variable that could name a program is left out with its reason, and
// without its value.
func TestVariablesOfCI(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod": "module example.com/m\n\ngo 1.18\n", "a_test.go": "package a\n",
		".github/workflows/ci.yml": "env:\n  WIDGET_MODE: strict\n  TZ: UTC\n  CC: sh -c 'evil' cc\n  LD_PRELOAD: evil.so\n  GOCACHE: evil\n  GO_VERSION: '1.21'\n" + workflowWith("        go: ['1.21']\n", ""),
	}
	r, err := Language{}.Infer(project(t, "2024-03-01", m))
	if err != nil {
		t.Fatal(err)
	}
	if r.Variables["WIDGET_MODE"] != "strict" || r.Variables["TZ"] != "UTC" || r.Variables["GOCACHE"] != buildCachePath {
		t.Errorf("variables %v", r.Variables)
	}
	left := map[string]string{}
	for _, e := range r.Evidence {
		if e.Field == recipe.LeftOut {
			name, reason, _ := strings.Cut(e.Value, ": ")
			left[name] = reason
			if _, set := r.Variables[name]; set && name != "GOCACHE" || e.Source == "" || strings.Contains(e.Value, "evil") {
				t.Errorf("evidence %+v beside %v", e, r.Variables)
			}
		}
	}
	for _, name := range []string{"CC", "LD_PRELOAD", "GOCACHE", "GO_VERSION"} {
		if left[name] == "" {
			t.Errorf("%s is not named among what was left out: %v", name, left)
		}
	}
}

func TestVariablesByVersion(t *testing.T) {
	t.Parallel()
	for v, want := range map[string][3]string{ // GOFLAGS, GO111MODULE, has GOMODCACHE
		"1.13.1": {"", "on", ""}, "1.15.15": {"", "on", modCachePath}, "1.17.13": {"", "", modCachePath}, "1.18.10": {"-buildvcs=false", "", modCachePath},
	} {
		got := variables(schemas.Recipe{Toolchain: schemas.Toolchain{Name: Name, Version: v}})
		if [3]string{got["GOFLAGS"], got["GO111MODULE"], got["GOMODCACHE"]} != want {
			t.Errorf("variables of go %s: %v", v, got)
		}
	}
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.work": "go 1.21\n\nuse (\n\t.\n\t./in\n)\n",
		"go.mod":  "module example.com/m\n\ngo 1.21\n", "a_test.go": "package a\n",
		"in/go.mod": "module example.com/in\n\ngo 1.21\n", "in/a_test.go": "package in\n",
		"out/go.mod": "module example.com/out\n\ngo 1.21\n", "out/a_test.go": "package out\n",
	}
	r, err := Language{}.Infer(project(t, "2024-03-01", m))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Test {
		if got, want := c.Env["GOWORK"], map[bool]string{true: "off"}[c.Dir == "out"]; got != want {
			t.Errorf("GOWORK in %q is %q, want %q", c.Dir, got, want)
		}
	}
	step, err := Language{}.Setup(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range step.Files {
		if strings.HasSuffix(f.Path, "solution/go.work") && string(f.Data) != "go 1.21\nuse ./\nuse ./in\n" {
			t.Errorf("go.work of the manifests: %q", f.Data)
		}
	}
}

// TestMembers: a module that the workspace has needs no sum, what the members import is in the
// lock, and so are the targets of the workspace's replacements, wherever the go.work lies.
func TestMembers(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"", "sub/"} {
		m := memory{
			top + "go.work":  "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n\nreplace example.com/c v1.0.0 => ./third/c\n",
			top + "a/go.mod": "module example.com/a\n\ngo 1.21\n\nrequire example.net/x v1.0.0\n", top + "a/a.go": "package a\n\nimport _ \"example.net/x\"\n",
			top + "a/go.sum":       "example.net/x v1.0.0 h1:x\n",
			top + "b/go.mod":       "module example.com/b\n\ngo 1.21\n\nrequire (\n\texample.com/a v0.0.0\n\texample.com/c v1.0.0\n)\n",
			top + "b/b_test.go":    "package b\n\nimport (\n\t_ \"example.com/a\"\n\t_ \"example.com/c\"\n)\n",
			top + "third/c/go.mod": "module example.com/c\n\ngo 1.21\n", "alone/go.mod": "module example.com/alone\n\ngo 1.21\n\nreplace example.com/a => ../a\n", "alone/a_test.go": "package alone\n",
		}
		r, err := Language{}.Infer(project(t, "2024-03-01", m))
		if err != nil {
			t.Fatal(err)
		}
		if r.Lock == "" || strings.Contains(r.Variables["GOFLAGS"], "-mod=mod") {
			t.Errorf("%q: lock %q, %+v", top, r.Lock, r.Evidence)
		}
		for _, want := range []string{"use ./a\nuse ./b\nreplace example.com/c v1.0.0 => ./third/c\n", "-- solution/" + top + "a/deps.go --\n", "-- solution/" + top + "third/c/go.mod --\n"} {
			if !strings.Contains(r.Lock, want) {
				t.Errorf("%q: no %q in\n%s", top, want, r.Lock)
			}
		}
		for _, c := range r.Test {
			if got, want := c.Env["GOWORK"], map[bool]string{true: "off"}[c.Dir == "alone" && top == ""]; got != want {
				t.Errorf("GOWORK in %q is %q, want %q", c.Dir, got, want)
			}
		}
		step, err := Language{}.Setup(r)
		if err != nil {
			t.Fatal(err)
		}
		var members int
		for _, c := range step.Commands {
			if slices.Contains(c.Argv, fetchMembers) && c.Env["GOWORK"] == "" {
				members++
			}
		}
		if members != 2 {
			t.Errorf("%q: %d members are fetched, want 2: %v", top, members, step.Commands)
		}
	}
}

// TestKeysOfGo: a key that only holds the letters names no versions of Go.
func TestKeysOfGo(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"go": true, "Go": true, "go-version": true, "go_version": true, "goversion": true, "goVersions": true, "golang": true, "test-go": true, "gover": true, "version": true,
		"mongo": false, "mongo-version": false, "category": false, "django": false, "google": false, "cargo": false, "algorithm": false, "os": false,
	} {
		if got := namesGo(key); got != want {
			t.Errorf("namesGo(%q) = %t", key, got)
		}
	}
}
