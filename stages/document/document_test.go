package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// toy has documentation that a tool of its own builds.
type toy struct{ langtest.Toy }

func (toy) Documentation(p lang.Project, r schemas.Recipe) (lang.Documentation, bool) {
	if !p.Solution.Has("docs") {
		return lang.Documentation{}, false
	}
	strict, loose := r, r
	strict.Requirements, strict.Lock = []string{"tool==1"}, ""
	loose.Requirements, loose.Lock = []string{"tool"}, ""
	return lang.Documentation{
		Tool: "sphinx", Recipes: []schemas.Recipe{strict, loose, loose}, Run: recipe.TestRun{Command: schemas.Command{Argv: []string{"write"}}, Report: "/tmp/pages"},
	}, true
}

// machine is a sandbox in which what is named fails.
type machine struct {
	sandbox.Sandbox
	fails  map[string]error // argv → the error of its step
	result sandbox.Result   // of the tool
	fault  error            // of the tool's run
	did    []string
}

func (m *machine) Base(context.Context, sandbox.Base) (sandbox.Layer, error) {
	return sandbox.Layer{Key: "sha256:base"}, nil
}

func (m *machine) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	argv := strings.Join(b.Steps[0].Argv, " ")
	m.did = append(m.did, argv)
	if err := m.fails[argv]; err != nil {
		return sandbox.Layer{}, sandbox.Result{}, err
	}
	return sandbox.Layer{Key: b.Key}, sandbox.Result{Files: map[string][]byte{langtest.LockPath: []byte(strings.Join(b.Steps[0].Argv[1:], "+"))}}, nil
}

func (m *machine) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	m.did = append(m.did, strings.Join(r.Command.Argv, " "))
	return m.result, m.fault
}

func (m *machine) Remove(context.Context, sandbox.Layer) error {
	m.did = append(m.did, "remove")
	return nil
}

// world is one library.
type world struct{ files *tree.Tree }

func (w world) Of(context.Context, schemas.Start) (states.Trees, error) {
	return states.Trees{B: w.files, S: w.files, G: w.files}, nil
}

func (world) Describe(context.Context, string, string) (tree.Version, error) {
	return tree.Version{}, nil
}

func (world) Available(context.Context, ...string) ([]lang.ToolchainRelease, error) { return nil, nil }

func (world) Get(context.Context, string, string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{}, nil
}

func (world) Start(id string) (schemas.Start, error) {
	return schemas.Start{ChangeID: id, Language: "toy", Kind: schemas.KindLibrary, BaseDate: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)}, nil
}

func (world) Origin(string) (schemas.Origin, error) {
	return schemas.Origin{Cut: &schemas.Cut{Repo: "acme/kit", Release: schemas.Release{Tag: "v1", Version: "1"}}}, nil
}

func (world) Provisioned(string) (schemas.Provisioned, error) {
	r, err := langtest.Toy{}.Infer(lang.Project{Solution: &tree.Tree{}})
	return schemas.Provisioned{Environment: schemas.Environment{Recipe: r}}, err
}

func stage(w world, m *machine, kept blobs, least string) *Documenter {
	b := &environment.Builder{Sandbox: m, Toolchains: w, Languages: map[string]lang.Language{"toy": toy{}}, Runners: langtest.Runners()}
	p := environment.Projects{States: w, History: w, Toolchains: w, Languages: b.Languages}
	return New(b, p, Outside{Records: w, States: w, Blobs: kept}, Asked{Source: least})
}

const twoPages = `{"tool": "Sphinx 7", "pages": [{"name": "a", "html": "<p>A</p>"}, {"name": "b", "html": "<p>B</p>"}]}`

// exit is the error of a step that fails.
func exit(log string) error {
	return &sandbox.BuildError{Step: schemas.Command{Argv: []string{"step"}}, Result: sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(log)}}
}

// TestBuild: what a project's documentation does wrong is told and no verdict; the machine's
// own faults are errors, so that no dataset depends on them.
func TestBuild(t *testing.T) {
	t.Parallel()
	ok := sandbox.Result{End: sandbox.Exited, Files: map[string][]byte{"/tmp/pages": []byte(twoPages)}}
	for name, c := range map[string]struct {
		files  []string
		fails  map[string]error
		result sandbox.Result
		fault  error
		want   Built
		says   string // of the error
		ran    int    // runs of the tool
	}{
		"no_tool":          {},
		"built":            {files: []string{"docs"}, result: ok, want: Built{Tool: "sphinx", Packages: 1}, ran: 1},
		"without_versions": {files: []string{"docs"}, fails: map[string]error{"resolve tool==1": exit("no tool 1")}, result: ok, want: Built{Tool: "sphinx", Packages: 1}, ran: 1},
		"unresolved":       {files: []string{"docs"}, fails: map[string]error{"resolve tool==1": exit("no"), "resolve tool": exit("no")}, want: Built{Tool: "sphinx", NotBuilt: "what it needs cannot be resolved"}},
		"not_installed":    {files: []string{"docs"}, fails: map[string]error{"setup tool==1": exit("no"), "setup tool": exit("no")}, want: Built{Tool: "sphinx", NotBuilt: "what it needs cannot be installed"}},
		"project":          {files: []string{"docs"}, fails: map[string]error{"build": exit("no")}, want: Built{Tool: "sphinx", NotBuilt: "the release cannot be installed beside it"}},
		"fails":            {files: []string{"docs"}, result: sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte("Trace\nConfigError: bad  theme\n")}, want: Built{Tool: "sphinx", NotBuilt: "ConfigError: bad theme"}, ran: 2},
		"over_time":        {files: []string{"docs"}, result: sandbox.Result{End: sandbox.TimedOut}, want: Built{Tool: "sphinx", NotBuilt: "it is over the limit on timeout"}, ran: 2},
		"no_pages":         {files: []string{"docs"}, result: sandbox.Result{End: sandbox.Exited, Files: map[string][]byte{"/tmp/pages": []byte("{}")}}, want: Built{Tool: "sphinx", NotBuilt: `the build of "" leaves no pages`}, ran: 2},
		"registry":         {files: []string{"docs"}, fails: map[string]error{"resolve tool==1": fmt.Errorf("%w: 503", environment.ErrUnavailable)}, says: "deferred for registry"},
		"machine":          {files: []string{"docs"}, fails: map[string]error{"setup tool==1": &environment.MachineError{What: "the disk is full"}}, says: "the disk is full"},
		"sandbox":          {files: []string{"docs"}, fault: errors.New("no more processes"), says: "no more processes", ran: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a.toy": "a"}
			for _, p := range c.files {
				files[p] = "x"
			}
			m := &machine{fails: c.fails, result: c.result, fault: c.fault}
			kept := blobs{}
			got, err := stage(world{planted(t, files)}, m, kept, "readme").Build(t.Context(), schemas.Statement{StartID: "x", Release: "sha256:r"})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, new(*pipeline.Rejected)) {
					t.Fatalf("%v, want %q", err, c.says)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if c.want.Packages > 0 {
				c.want.Pages = schemas.DigestBytes([]byte(twoPages))
				if kept[got.Pages] != twoPages {
					t.Error("the pages are not kept")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			count := func(what string) int {
				return len(slices.DeleteFunc(slices.Clone(m.did), func(s string) bool { return s != what }))
			}
			if count("write") != c.ran || count("remove") != c.ran {
				t.Errorf("%d runs, not %d: %v", count("write"), c.ran, m.did)
			}
		})
	}
}

// TestRun: a folder of docs that holds nothing but what changed describes no library,
// whatever its path says; and slices of one release have one build.
func TestRun(t *testing.T) {
	t.Parallel()
	w := world{planted(t, map[string]string{"README.md": "# Kit\n\nA kit.\n", "docs/changelog.md": "# Changes\n\n- New.\n"})}
	d := stage(w, &machine{}, blobs{}, "docs")
	_, err := d.Run(t.Context(), schemas.Statement{StartID: "x"}, Built{})
	var no *pipeline.Rejected
	if !errors.As(err, &no) || no.Reason != schemas.NoSpec || !strings.Contains(no.Err.Error(), "documentation it has is readme, and docs is asked for") {
		t.Errorf("%v", err)
	}
	st, err := stage(w, &machine{}, blobs{}, "readme").Run(t.Context(), schemas.Statement{StartID: "x", Text: "Write it."}, Built{Tool: "sphinx", NotBuilt: "no theme"})
	if err != nil || !strings.HasPrefix(st.Text, "Write it.\n\nSpecification: /specification/specification.md (") || st.Specification.Reader != "files" || st.Specification.NotBuilt != "no theme" || st.Specification.Source != "readme" {
		t.Errorf("%+v, %v", st.Specification, err)
	}
	one, two := schemas.Statement{StartID: "a", Release: "sha256:r"}, schemas.Statement{StartID: "b", Release: "sha256:r"}
	if d.Key(one) != d.Key(two) || d.Key(one) == d.Key(schemas.Statement{StartID: "a", Release: "sha256:s"}) || !Wanted(one) || Wanted(schemas.Statement{StartID: "a"}) {
		t.Error("builds are not shared by release")
	}
}

func TestLastLine(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"": "it ends without a word", "a\nb  c\n\n": "b c", "x\n" + strings.Repeat("é", 300): strings.Repeat("é", 200) + "…", "ask Ann Lee <ann@lathe.io>": "ask <name> <<email>>",
	} {
		if got := lastLine([]byte(log)); got != want {
			t.Errorf("%.20q: %q", log, got)
		}
	}
}

// TestAsked: each gate on a specification refuses what has too little, by its figure, and takes what has enough.
func TestAsked(t *testing.T) {
	t.Parallel()
	has := schemas.Specification{Source: "docs", Guide: 300, Described: 4, Public: 10, Documented: 8}
	for name, c := range map[string]struct {
		asked    Asked
		language string
		change   func(*schemas.Specification)
		says     string
	}{
		"all":                  {asked: Asked{"docs", 300, true, 0.8}},
		"readme":               {asked: Asked{Source: "docs"}, change: func(s *schemas.Specification) { s.Source = "readme" }, says: "the best documentation it has is readme, and docs is asked for"},
		"guide":                {asked: Asked{GuideWords: 301}, says: "its user guide has 300 words, and 301 are asked for"},
		"reference":            {asked: Asked{Reference: true}, change: func(s *schemas.Specification) { s.Described = 0 }, says: "describes no function"},
		"reference_of_go":      {asked: Asked{Reference: true}, language: "go", change: func(s *schemas.Specification) { s.Described = 0 }},
		"no_doc_comment_in_go": {asked: Asked{Reference: true}, language: "go", change: func(s *schemas.Specification) { s.Documented = 0 }, says: "describes no function"},
		"documented":           {asked: Asked{Documented: 0.81}, says: "8 of its 10 public functions and classes are documented, and 81 % are asked for"},
		"nothing_public":       {asked: Asked{Documented: 1}, change: func(s *schemas.Specification) { s.Public, s.Documented = 0, 0 }},
	} {
		s := has
		if c.change != nil {
			c.change(&s)
		}
		err := c.asked.rejects(s, c.language)
		var no *pipeline.Rejected
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &no) || no.Reason != schemas.NoSpec || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
