// Package document makes the specification of a library: its documentation as one text and
// the same printed. Where the project has a tool that builds its documentation, the release
// is built with it in the sandbox, once for all slices; else, or where that fails, the files
// of the documentation are read.
//
// What the tool needs is installed in an environment of its own, and never in that of a task.
// The build runs on the release without network, and what it says is held to the same gates
// as every text: no body of a function gets into a specification. A build that fails is never
// a verdict on a task; a fault of the machine is no reason to read files either.
package document

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/spec"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Version is the version of this stage's rules.
const Version = "2, " + secrets.RulesVersion

// Settings are what a specification depends on beside its input.
type Settings struct {
	Sandbox   string
	Limits    sandbox.Limits
	Pin       bool
	PrintedBy string
	Asked     Asked
}

// Asked is what a specification must have; a library with less is rejected.
type Asked struct {
	Source     string  // docs, readme or signatures
	GuideWords int     // of a user guide
	Reference  bool    // documents describe functions, or (Go) doc comments do
	Documented float64 // share of the public functions and classes that are described, 0 to 1
}

// rejects says what a specification lacks.
func (a Asked) rejects(s schemas.Specification, language string) error {
	described := s.Described
	if language == "go" { // whose documentation is its doc comments
		described = s.Documented
	}
	switch {
	case schemas.Documented(s.Source) < schemas.Documented(a.Source): // a folder of docs may have nothing to read
		return pipeline.Reject(schemas.NoSpec, "the best documentation it has is %s, and %s is asked for", s.Source, a.Source)
	case s.Guide < a.GuideWords:
		return pipeline.Reject(schemas.NoSpec, "its user guide has %d words, and %d are asked for", s.Guide, a.GuideWords)
	case a.Reference && described == 0:
		return pipeline.Reject(schemas.NoSpec, "its documentation describes no function, and a reference is asked for")
	case float64(s.Documented) < a.Documented*float64(s.Public):
		return pipeline.Reject(schemas.NoSpec, "%d of its %d public functions and classes are documented, and %.0f %% are asked for", s.Documented, s.Public, 100*a.Documented)
	}
	return nil
}

// Records joins what earlier stages left.
type Records interface {
	Origin(id string) (schemas.Origin, error)
	Start(id string) (schemas.Start, error)
	Provisioned(id string) (schemas.Provisioned, error)
}

// States makes the trees of starts; states.Maker does.
type States interface {
	Of(ctx context.Context, s schemas.Start) (states.Trees, error)
}

// Blobs keeps what records name by digest.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
	Get(d schemas.Digest) ([]byte, error)
}

// Printer makes a PDF of a page of HTML, dated as is said, and counts its pages;
// pdf.Printer does. pdf.ErrFailed is about the page.
type Printer interface {
	Print(ctx context.Context, page []byte, date time.Time) (pdf []byte, pages int, err error)
}

// Outside is what specifications are made with.
type Outside struct {
	Records   Records
	States    States
	Blobs     Blobs
	Printer   Printer // nil prints nothing
	PrintedBy string  // its name and version
}

// Documenter is the stage.
type Documenter struct {
	builder  *environment.Builder
	projects environment.Projects
	outside  Outside
	asked    Asked
}

var _ pipeline.Sharer[schemas.Statement, Built, schemas.Statement] = (*Documenter)(nil)

// New makes the stage.
func New(b *environment.Builder, p environment.Projects, o Outside, asked Asked) *Documenter {
	// No model is asked to repair what a specification can do without: files are read then.
	own := &environment.Builder{Sandbox: b.Sandbox, Toolchains: b.Toolchains, Languages: b.Languages, Runners: b.Runners, Limits: b.Limits}
	return &Documenter{builder: own, projects: p, outside: o, asked: asked}
}

// Wanted reports whether a statement is of a library.
func Wanted(s schemas.Statement) bool { return s.Release != "" }

// Key names the release.
func (d *Documenter) Key(s schemas.Statement) string { return string(s.Release) }

// Built is documentation as its own tool has built it, for all slices of a release.
type Built struct {
	Tool     string         `json:"tool,omitempty"`  // sphinx, mkdocs; "" where the release has none
	Pages    schemas.Digest `json:"pages,omitempty"` // blob of what spec.ReadPages reads; "" where nothing was built
	Packages int            `json:"packages,omitempty"`
	// NotBuilt is why a release with a tool has no pages, in a line.
	NotBuilt string `json:"not_built,omitempty"`
}

// Build builds the documentation of a release with its own tool, if it has one. An error is
// a fault of the machine, or a registry that does not answer.
func (d *Documenter) Build(ctx context.Context, s schemas.Statement) (Built, error) {
	start, err := d.outside.Records.Start(s.StartID)
	if err != nil {
		return Built{}, err
	}
	documenter, ok := d.builder.Languages[start.Language].(lang.Documenter)
	if !ok {
		return Built{}, nil
	}
	provisioned, err := d.outside.Records.Provisioned(s.StartID)
	if err != nil {
		return Built{}, err
	}
	project, err := d.projects.Of(ctx, start)
	if err != nil {
		return Built{}, fmt.Errorf("reading the release: %w", err)
	}
	docs, ok := documenter.Documentation(project, provisioned.Environment.Recipe)
	if !ok {
		return Built{}, nil
	}
	out := Built{Tool: docs.Tool}
	tried := map[string]bool{}
	for _, recipe := range docs.Recipes {
		asked := strings.Join(recipe.Requirements, "\n")
		if tried[asked] {
			continue
		}
		tried[asked] = true
		pages, packages, err := d.try(ctx, project, start, docs, recipe)
		var failed *failure
		if errors.As(err, &failed) {
			out.NotBuilt = failed.why
			continue
		}
		if err != nil {
			return Built{}, err
		}
		out.Pages, err = d.outside.Blobs.Put(pages)
		out.Packages, out.NotBuilt = packages, ""
		return out, err
	}
	return out, nil
}

// failure is a build that fails for what the project is.
type failure struct{ why string }

func (f *failure) Error() string { return f.why }

// judged is a failure where an error is a property of the project, and says why.
func judged(err error, why string) error {
	var rejected *pipeline.Rejected
	if end := ends.Of(err, schemas.NoBuild); !errors.As(end, &rejected) {
		return end
	}
	return &failure{why}
}

// try builds the documentation in the environment of one recipe. It gives what the tool
// left, and how many packages the environment has.
func (d *Documenter) try(ctx context.Context, project lang.Project, start schemas.Start, docs lang.Documentation, recipe schemas.Recipe) (pages []byte, packages int, err error) {
	pipeline.Doing(ctx, "installing %s", docs.Tool)
	recipe, err = d.builder.Lock(ctx, project, recipe)
	if err != nil {
		return nil, 0, judged(err, "what it needs cannot be resolved")
	}
	env, err := d.builder.Env(ctx, recipe)
	if err != nil {
		return nil, 0, judged(err, "what it needs cannot be installed")
	}
	release, ok := project.Solution.(*tree.Tree)
	if !ok {
		return nil, 0, fmt.Errorf("the release of %s is a %T", start.ID(), project.Solution)
	}
	files, err := seal.Files(release, start.BaseDate)
	if err != nil {
		return nil, 0, fmt.Errorf("sealing the release: %w", err)
	}
	layer, err := d.builder.State(ctx, env, recipe, files)
	if err != nil {
		return nil, 0, judged(err, "the release cannot be installed beside it")
	}
	defer func() { _ = d.builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }()
	pipeline.Doing(ctx, "building the documentation with %s", docs.Tool)
	run := sandbox.Run{Layer: layer, Command: docs.Run.Command, Env: recipe.Variables, Inputs: docs.Run.Inputs, Limits: d.builder.Limits}
	res, err := d.builder.Sandbox.Run(ctx, docs.Run.Asking(run))
	if err != nil {
		return nil, 0, fmt.Errorf("building the documentation: %w", err)
	}
	said, cut := docs.Run.Said(res)
	switch {
	case res.End != sandbox.Exited:
		return nil, 0, &failure{"it is over the limit on " + string(res.End)}
	case res.ExitCode != 0 || said == nil:
		return nil, 0, &failure{lastLine(res.Output)}
	case cut:
		return nil, 0, &failure{"its pages are too large"}
	}
	if _, err := spec.ReadPages(said); err != nil {
		return nil, 0, &failure{lastLine([]byte(err.Error()))}
	}
	return said, packagesOf(recipe.Lock), nil
}

// packagesOf counts the entries of a lock.
func packagesOf(lock string) int {
	n := 0
	for line := range strings.SplitSeq(lock, "\n") {
		if line != "" && !strings.ContainsAny(line[:1], " \t#") {
			n++
		}
	}
	return n
}

// lastLine is the last line of a log, as a row may hold it.
func lastLine(log []byte) string {
	const most = 200 // letters
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	line, _ := masked(strings.Join(strings.Fields(strings.ToValidUTF8(lines[len(lines)-1], "")), " "), "")
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most]) + "…"
	}
	if line == "" {
		return "it ends without a word"
	}
	return line
}

// named is what the statement says of a specification: where it lies, for whoever solves the task.
func named(s schemas.Specification) string {
	text := fmt.Sprintf("Specification: %s (%d words", path.Join(schemas.SpecificationPath, schemas.SpecificationText), s.Words)
	if s.Pages > 0 {
		text += fmt.Sprintf("; printed on %d pages: %s", s.Pages, path.Join(schemas.SpecificationPath, schemas.SpecificationPDF))
	}
	return text + ")."
}

// Run adds its specification to the statement of a library. Rejections: describe/leak and
// describe/specification.
func (d *Documenter) Run(ctx context.Context, s schemas.Statement, b Built) (schemas.Statement, error) {
	start, err := d.outside.Records.Start(s.StartID)
	if err != nil {
		return s, err
	}
	origin, err := d.outside.Records.Origin(s.StartID)
	if err != nil {
		return s, err
	}
	if origin.Cut == nil {
		return s, fmt.Errorf("%s does not come from a release", s.StartID)
	}
	trees, err := d.outside.States.Of(ctx, start)
	if err != nil {
		return s, err
	}
	s.Specification, err = d.specify(ctx, facts{start: start, release: origin.Cut.Release, starter: trees.B, patch: trees.Patch, built: b})
	if err != nil {
		return s, err
	}
	if err := d.asked.rejects(*s.Specification, start.Language); err != nil {
		return s, err
	}
	s.Text = strings.TrimRight(s.Text, "\n") + "\n\n" + named(*s.Specification)
	return s, nil
}
