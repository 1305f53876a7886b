package images

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// still is an engine with one image: how it starts, what is said of it from within, and
// its files.
type still struct {
	setup docker.Setup
	says  string
	files map[string]string
}

func (s *still) Image(context.Context, sandbox.Layer, docker.Image) (sandbox.Layer, error) {
	return sandbox.Layer{}, errors.New("it makes none")
}
func (s *still) Setup(context.Context, sandbox.Layer) (docker.Setup, error) { return s.setup, nil }
func (s *still) Root(context.Context, sandbox.Layer, []string) ([]byte, error) {
	return []byte(s.says), nil
}
func (s *still) Tag(context.Context, sandbox.Layer, string) error { return nil }
func (s *still) Remove(context.Context, sandbox.Layer) error      { return nil }
func (s *still) Files(_ context.Context, _ sandbox.Layer, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	for name, text := range s.files {
		err := visit(name, info{name, int64(len(text))}, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
		if err != nil {
			return err
		}
	}
	return nil
}

type info struct {
	name string
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

const (
	code  = "def colour_of_the_widget():\n    return \"cornflower, or what is nearest to it\"\n"
	check = "def test_colour_of_the_widget():\n    assert widget.colour_of_the_widget().startswith(\"cornflower\")\n"
)

func add(name, text string) []byte {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return []byte("diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1,2 @@\n+" + strings.Join(lines, "\n+") + "\n")
}

func task(t *testing.T, token string) Task {
	t.Helper()
	base, err := tree.New([]tree.Entry{{Path: "widget.py", Mode: tree.ModeFile, Data: []byte("KEY = \"" + token + "\"\n")}})
	if err != nil {
		t.Fatal(err)
	}
	patch, tests := add("colour.py", code), add("tests/test_colour.py", check)
	start, err := base.Apply(tests)
	if err != nil {
		t.Fatal(err)
	}
	goal, err := start.Apply(patch)
	if err != nil {
		t.Fatal(err)
	}
	return Task{
		ID: "acme__widget-1", Name: "benchmint/acme__widget-1:x", Start: schemas.Start{Repo: "acme/widget"},
		Trees: states.Trees{B: base, S: start, G: goal, TestPatch: tests, Patch: patch},
	}
}

// token has the form of GitHub's. It is made here, so that no file of ours holds one.
func token() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	r := rand.New(rand.NewPCG(1, 2))
	b := []byte("ghp_")
	for range 36 {
		b = append(b, letters[r.IntN(len(letters))])
	}
	return string(b)
}

// TestForeignName: a recipe gives no image a name that others have. Nothing is built before it is
// looked at.
func TestForeignName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"python:3.12", "benchmint/base", "benchmint/base:latest", "example.org/benchmint/base:0123456789ab", "benchmint/base:0123456789ab@sha256:1"} {
		x := task(t, "")
		x.Environment.Recipe.Service = &schemas.Service{Image: name}
		if _, err := (Maker{Engine: &still{}}).Make(t.Context(), x); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
}

// TestLint breaks each rule once.
func TestLint(t *testing.T) {
	t.Parallel()
	token := token()
	good := docker.Setup{User: "0:0", WorkingDir: "/testbed", StopSignal: "SIGKILL"}
	for _, tt := range []struct {
		name string
		edit func(s *still)
		want []Rule
	}{
		{"good", func(*still) {}, nil},
		{"entry_point", func(s *still) { s.setup.Entrypoint = []string{"/entry"} }, []Rule{RuleEntrypoint}},
		{"stop_signal", func(s *still) { s.setup.StopSignal = "" }, []Rule{RuleStop}},
		{"elsewhere", func(s *still) { s.setup.WorkingDir = "/" }, []Rule{RuleTree}},
		{"from_within", func(s *still) { s.says = "tools git is not there\nroot git does not work\ntree 2 commits, want 1\n" }, []Rule{RuleTools, RuleRoot, RuleTree}},
		{"solution", func(s *still) { s.files["/opt/env/cache/colour.py"] = code }, []Rule{RuleLeak}},
		{"tests", func(s *still) { s.files["/home/tester/x"] = check }, []Rule{RuleLeak}},
		{"solution_in_a_variable", func(s *still) {
			s.files["/image-config.json"] = `{"Env":["X=` + strings.ReplaceAll(strings.ReplaceAll(code, "\n", `\n`), `"`, `\"`) + `"]}`
		}, []Rule{RuleLeak}},
		{"more_history", func(s *still) { s.files["/testbed/.git/refs/tags/v2"] = "x" }, []Rule{RuleLeak}},
		{"token", func(s *still) { s.files["/home/tester/.netrc"] = "password " + token + "\n" }, []Rule{RuleSecret}},
		{"token_in_a_variable", func(s *still) { s.files["/image-config.json"] = `{"Env":["TOKEN=` + token + `"]}` }, []Rule{RuleSecret}},
		{"token_of_the_repository", func(s *still) { s.files["/testbed/widget.py"] = "KEY = \"" + token + "\"\n" }, nil},
		{"token_of_a_package", func(s *still) {
			s.files["/opt/env/venv/lib/python3/site-packages/x/y.py"] = "# of a package\nKEY = \"" + token + "\"\n"
		}, nil},
		{"own_credential", func(s *still) { s.files["/opt/env/venv/lib/python3/site-packages/x/y.so"] = "\x00horse battery\x00" }, []Rule{RuleSecret}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &still{setup: good, files: map[string]string{"/opt/env/x": "nothing\n"}}
			tt.edit(s)
			found, err := Maker{Engine: s, Secrets: []string{"horse battery"}}.Lint(t.Context(), sandbox.Layer{}, task(t, token))
			if err != nil {
				t.Fatal(err)
			}
			var got []Rule
			for _, f := range found {
				if strings.Contains(f.Detail, token) || strings.Contains(f.Detail, "battery") {
					t.Errorf("it says the secret: %s", f.Detail)
				}
				if len(got) == 0 || got[len(got)-1] != f.Rule {
					got = append(got, f.Rule)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%+v (-want +got):\n%s", found, d)
			}
		})
	}
}
