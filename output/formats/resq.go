package formats

import (
	"bytes"
	_ "embed" // the suite
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// RESQ is the record of RES-Q (resq/models.py): edits of Python repositories, each with a
// program that is its whole test suite. The client clones the repository, installs the
// requirements into an environment of conda, writes the program at the tree's root and
// runs it; it passes with exit code 0.
type RESQ struct{}

var _ Format = RESQ{}

// Name implements Format.
func (RESQ) Name() string { return "resq" }

const resqFile = "resq.json"

// localOwner is the owner in the names of repositories that lie on a disk.
const localOwner = "local/"

// Fits implements Format.
func (RESQ) Fits(t Task) error {
	x := t.Benchmint
	switch {
	case x.Kind != schemas.KindEdit:
		return fmt.Errorf("a task of kind %s is not an edit", x.Kind)
	case x.Language != "python":
		return fmt.Errorf("RES-Q's test bed runs Python, not %s", x.Language)
	case t.Recipe.Report != "benchmint-pytest":
		return fmt.Errorf("its suite is not pytest's: %s", t.Recipe.Report)
	case !strings.HasPrefix(t.Recipe.Toolchain.Version, "3."):
		return fmt.Errorf("its Python is %s", t.Recipe.Toolchain.Version)
	case len(t.Recipe.Test) != 1:
		return fmt.Errorf("it has %d test commands; a record has one program", len(t.Recipe.Test))
	case x.Change == nil || x.Change.Commit == "":
		return errors.New("it has no commit of the solution")
	case strings.HasPrefix(t.Repo, localOwner):
		return fmt.Errorf("%s is on no host that the client could clone it from", t.Repo)
	case len(t.Recipe.SystemPackages) > 0:
		return fmt.Errorf("it needs system packages: %s", strings.Join(t.Recipe.SystemPackages, " "))
	}
	if err := patches(t); err != nil {
		return err
	}
	if _, err := words(t.Recipe.Test[0].Argv); err != nil {
		return err
	}
	if _, err := t.testFiles(); err != nil {
		return err
	}
	_, err := t.modified()
	return err
}

// Open implements Format.
func (RESQ) Open(dir string, d *output.Dataset) (Sink, error) {
	s := &resq{dir: dir, all: []resqRecord{}}
	return s, json.Unmarshal(d.Manifest.Configuration, &s.made)
}

// configured is the part of a dataset's configuration that says where its repositories are.
type configured struct {
	Sources []struct {
		Git, GitHub, Name    string
		Search, List, Preset any // repositories that were found on GitHub
	}
}

// address is where a repository is cloned from, by what the configuration says. A path is on no host: then it is the name,
// for a clone that the client finds there.
func (c configured) address(repo string) string {
	found := repo
	for _, s := range c.Sources {
		url := strings.TrimSuffix(s.Git, ".git")
		switch {
		case s.Git != "" && (s.Name == repo || s.Name == "" && (strings.HasSuffix(url, "/"+repo) || strings.HasSuffix(url, ":"+repo))):
			return s.Git
		case s.GitHub == repo:
			return hosts.GitHub + repo
		case s.Name == repo:
			return repo
		case s.Search != nil || s.List != nil || s.Preset != nil:
			found = hosts.GitHub + repo
		}
	}
	return found
}

type resqRecord struct {
	ID                 string         `json:"id"`
	RepoURL            string         `json:"repo_url"`
	Instruction        string         `json:"instruction"`
	BaseCommit         string         `json:"base_commit"`
	SolutionCommit     string         `json:"solution_commit"`
	SolutionPatch      string         `json:"solution_patch"`
	ModifiedFiles      []modifiedFile `json:"modified_files"`
	TestScript         string         `json:"test_script"`
	TestbedEnvironment string         `json:"testbed_environment"`
	RequirementsTxt    string         `json:"requirements_txt"`
	Language           string         `json:"language"`
	// TestsWrittenBy is the model that wrote the tests; not there where the change's authors did.
	TestsWrittenBy string `json:"tests_written_by,omitempty"`
}

type modifiedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"` // before the patch
}

type resq struct {
	dir  string
	made configured
	all  []resqRecord
}

// Add implements Sink.
func (s *resq) Add(t Task) error {
	files, err := t.modified()
	if err != nil {
		return err
	}
	script, err := testScript(t)
	if err != nil {
		return err
	}
	writer := ""
	if x := t.Benchmint.Suite; x != nil {
		writer = x.Provider
	}
	s.all = append(s.all, resqRecord{
		TestsWrittenBy: writer,
		ID:             t.InstanceID, RepoURL: s.made.address(t.Repo), Instruction: t.ProblemStatement, BaseCommit: t.BaseCommit,
		SolutionCommit: t.Benchmint.Change.Commit, SolutionPatch: t.Patch, ModifiedFiles: files, TestScript: script,
		TestbedEnvironment: "python " + t.Recipe.Toolchain.Version, RequirementsTxt: t.Recipe.Lock, Language: t.Benchmint.Language,
	})
	return nil
}

// Close implements Sink.
func (s *resq) Close() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s.all); err != nil {
		return err
	}
	return write(s.dir, resqFile, b.Bytes())
}

// modified are the files of the patch that are there before it.
func (t Task) modified() ([]modifiedFile, error) {
	out := []modifiedFile{}
	for _, p := range changed(t.Start, t.Goal) {
		e, there := t.Base.Entry(p)
		if !there {
			continue
		}
		if e.Mode == tree.ModeModule || !utf8.ValidString(p) || !utf8.Valid(e.Data) {
			return nil, fmt.Errorf("a file of the patch is not text: %q", p)
		}
		out = append(out, modifiedFile{Path: p, Content: string(e.Data)})
	}
	return out, nil
}

// testFiles are the files of the tests as the suite needs them, in base64; nil is one that
// the tests take away.
func (t Task) testFiles() (map[string]*string, error) {
	out := map[string]*string{}
	for _, p := range changed(t.Base, t.Start) {
		e, there := t.Start.Entry(p)
		switch {
		case !there:
			out[p] = nil
		case e.Mode != tree.ModeFile && e.Mode != tree.ModeExec:
			return nil, fmt.Errorf("a file of the tests is a link or a submodule: %q", p)
		default:
			text := base64.StdEncoding.EncodeToString(e.Data)
			out[p] = &text
		}
	}
	return out, nil
}

// words are the options and paths that pytest is given.
func words(argv []string) ([]string, error) {
	for i, w := range argv {
		if base := path.Base(w); base == "pytest" || base == "py.test" {
			return append([]string{}, argv[i+1:]...), nil
		}
	}
	return nil, fmt.Errorf("its test command is not pytest's: %s", strings.Join(argv, " "))
}

// variables are those that say something of the project; paths of a task's image do not
// exist in the client's environment.
func variables(t Task) map[string]string {
	out := map[string]string{}
	for _, set := range []map[string]string{t.Recipe.Variables, t.Recipe.Test[0].Env} {
		for k, v := range set {
			if k != "PATH" && k != "VIRTUAL_ENV" && !strings.Contains(v, "/opt/") {
				out[k] = v
			}
		}
	}
	return out
}

//go:embed convert/suite.py
var suite string

// testScript is the program that is the suite. Its last line is the `sys.exit(0)` before
// which the client puts a line of its own, without which nothing passes.
func testScript(t Task) (string, error) {
	files, err := t.testFiles()
	if err != nil {
		return "", err
	}
	given, err := words(t.Recipe.Test[0].Argv)
	if err != nil {
		return "", err
	}
	tests := slices.Concat([]string(t.FailToPass), []string(t.PassToPass)) // a List would be text
	slices.Sort(tests)
	settings, err := json.Marshal(map[string]any{
		"files": files, "words": given, "dir": path.Clean("./" + t.Recipe.Test[0].Dir), "env": variables(t), "tests": tests,
		"install": len(t.Recipe.Build) > 0,
	})
	if err != nil {
		return "", err
	}
	return strings.Replace(suite, "@SETTINGS@", "\n"+wrapped(base64.StdEncoding.EncodeToString(settings))+"\n", 1), nil
}
