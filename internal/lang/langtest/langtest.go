// Package langtest is a small real language for tests of what stands above lang:
// its trees hold one requirement and one test a line, its reports are the lines
// of the output. It has two runners, by the report format of a recipe.
//
// It never pretends to be Python or Go; those have tests of their own.
package langtest

import (
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// LockPath is the file that the resolve step collects.
const LockPath = "/tmp/lock"

// CachePath is where the set-up has its cache.
const CachePath = "/home/tester/.cache/toy"

// The report formats: of Toy itself, which Infer takes, and of Reversed.
const (
	Format         = "toy"
	ReversedFormat = "toy-reversed"
)

// Runners are both, by format.
func Runners() map[string]lang.Runner {
	return map[string]lang.Runner{Format: Toy{}, ReversedFormat: Reversed{}}
}

// Toy is the language; the zero value works. Fields replace single answers.
type Toy struct {
	Fixes   map[string]string // log substring → requirement to add
	Refuses *lang.Refusal
}

var (
	_ lang.Language = Toy{}
	_ lang.Runner   = Toy{}
)

// Name is toy.
func (Toy) Name() string { return "toy" }

// Toolchains is one.
func (Toy) Toolchains() []string { return []string{"toy"} }

// Needs is nothing: a toy runs anywhere.
func (Toy) Needs() []lang.Need { return nil }

// Masker is none.
func (Toy) Masker() mask.Language { return nil }

// Source recognises *.toy files.
func (Toy) Source(path string) bool { return strings.HasSuffix(path, ".toy") }

// Part says that test_*.toy are tests and other *.toy files code.
func (Toy) Part(path string, _ lang.Tree) (schemas.Part, string, bool) {
	switch {
	case strings.HasPrefix(path, "test_"):
		return schemas.PartTest, "name:test_", true
	case strings.HasSuffix(path, ".toy"):
		return schemas.PartCode, "name:.toy", true
	}
	return "", "", false
}

// Manifest never splits.
func (Toy) Manifest(string, []byte, []byte, []lang.Hunk) ([]bool, bool, bool) {
	return nil, false, false
}

// Infer reads the file requirements of the solution.
func (t Toy) Infer(p lang.Project) (schemas.Recipe, error) {
	if t.Refuses != nil {
		return schemas.Recipe{}, t.Refuses
	}
	var reqs []string
	if b, err := p.Solution.Read("requirements"); err == nil {
		reqs = strings.Fields(string(b))
	}
	return schemas.Recipe{
		Language: "toy", Toolchain: schemas.Toolchain{Name: "toy", Version: "1"}, Requirements: reqs,
		Build: []schemas.Command{{Argv: []string{"build"}}}, Test: []schemas.Command{{Argv: []string{"test"}}}, Report: Format,
	}, nil
}

// Resolve runs "resolve <requirements>".
func (Toy) Resolve(_ lang.Project, r schemas.Recipe) (*recipe.Step, error) {
	argv := append([]string{"resolve"}, r.Requirements...)
	return &recipe.Step{Commands: []schemas.Command{{Argv: argv}}, Collect: []string{LockPath}}, nil
}

// Locked takes the collected file.
func (Toy) Locked(r schemas.Recipe, files map[string][]byte) (schemas.Recipe, error) {
	r.Lock = string(files[LockPath])
	return r, nil
}

// Setup runs "setup <lock>".
func (Toy) Setup(r schemas.Recipe) (recipe.Step, error) {
	return recipe.Step{
		Commands: []schemas.Command{{Argv: []string{"setup", r.Lock}}},
		Caches:   map[string]string{"toy": CachePath}, Fill: &sandbox.Fill{Steps: []schemas.Command{{Argv: []string{"fill"}}}},
	}, nil
}

// Repair adds the requirement that a log asks for.
func (t Toy) Repair(_ lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	for symptom, add := range t.Fixes {
		if strings.Contains(string(log), symptom) {
			r.Requirements = append(append([]string{}, r.Requirements...), add)
			r.Lock = ""
			r.Repairs = append(append([]schemas.Repair{}, r.Repairs...), schemas.Repair{Rule: "add " + add, Symptom: symptom})
			return r, true
		}
	}
	return r, false
}

// Runs is one process.
func (Toy) Runs(r schemas.Recipe, _ lang.Tree, sel lang.Select) []recipe.TestRun {
	argv := append(append([]string{}, r.Test[0].Argv...), sel.Paths...)
	return []recipe.TestRun{{Command: schemas.Command{Argv: argv}}}
}

// Parse reads "name status" lines; a line "end" is the session's end.
func (Toy) Parse(_ schemas.Recipe, outs []lang.Output) testlog.Report {
	return read(outs, func(first, second string) (name, status string) { return first, second })
}

// Reversed is a second runner of the same suites.
type Reversed struct{}

// Runs is Toy's process with the word reversed before its paths.
func (Reversed) Runs(r schemas.Recipe, t lang.Tree, sel lang.Select) []recipe.TestRun {
	r.Test = []schemas.Command{{Argv: append(append([]string{}, r.Test[0].Argv...), "reversed")}}
	return Toy{}.Runs(r, t, sel)
}

// Parse reads "status name" lines; a line "end" is the session's end.
func (Reversed) Parse(_ schemas.Recipe, outs []lang.Output) testlog.Report {
	return read(outs, func(first, second string) (name, status string) { return second, first })
}

func read(outs []lang.Output, order func(first, second string) (name, status string)) testlog.Report {
	rep := testlog.Report{Started: true, Units: []testlog.Unit{{Name: "all", State: testlog.Finished}}}
	for _, o := range outs {
		for line := range strings.Lines(string(o.Result.Output)) {
			first, second, ok := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case ok:
				name, status := order(first, second)
				rep.Tests = append(rep.Tests, testlog.Test{ID: name, Unit: "all", Status: schemas.Status(status)})
			case first == "end":
				rep.Ended = true
			}
		}
	}
	return rep
}

// Untouched compares whole files.
func (Toy) Untouched(base, start lang.Tree, changed []string) func(lang.Test) bool {
	same := true
	for _, p := range changed {
		a, errA := base.Read(p)
		b, errB := start.Read(p)
		same = same && errA == nil && errB == nil && string(a) == string(b)
	}
	return func(lang.Test) bool { return same }
}

// NewNames finds none.
func (Toy) NewNames(_, _ lang.Tree, _, _ []string) []schemas.Name { return nil }
