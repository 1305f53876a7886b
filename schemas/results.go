package schemas

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Part is the one part that every path or hunk of a change belongs to (design 6.3).
type Part string

// The parts. TestPatch is the test part; Patch is the rest.
const (
	PartTest Part = "test"
	PartCode Part = "code"
	PartDocs Part = "docs"
	PartCI   Part = "ci"
)

// PartFile is one file of a change and the part it was given, with the rule that decided.
type PartFile struct {
	ChangedFile
	Part Part   `json:"part"`
	Rule string `json:"rule"` // e.g. "path:tests/", "name:_test.go", "imported only by tests"
	// TestHunks are the indexes of the hunks that belong to the test part where a
	// file is split (a manifest changed for both, an inline Rust test module).
	TestHunks []int `json:"test_hunks,omitempty"`
	Hunks     int   `json:"hunks"` // counted without context lines
}

// Sizes counts the code part only (design 6.3).
type Sizes struct {
	SourceFiles   int `json:"source_files"`
	SourceHunks   int `json:"source_hunks"`
	SourceAdded   int `json:"source_added"`
	SourceRemoved int `json:"source_removed"`
	TestFiles     int `json:"test_files"`
}

// Start is a task's two states and the parts between them: SourceTree ⊕ Derive = B,
// B ⊕ TestPatch = S, S ⊕ Patch = G. internal/states makes the trees.
type Start struct {
	ChangeID string    `json:"change_id"`
	Repo     string    `json:"repo"`
	Kind     Kind      `json:"kind"`
	Language string    `json:"language"` // of the code part: python, go
	Base     string    `json:"base"`     // commit
	Commit   string    `json:"commit"`
	BaseDate time.Time `json:"base_date"`
	// SourceTree is the tree of the repository that B is made from, and Derive the
	// blob of the patch that makes it. Both are empty where B is a tree of the
	// repository itself, as for a feature.
	SourceTree   string     `json:"source_tree,omitempty"`
	Derive       Digest     `json:"derive,omitempty"`
	BaseTree     string     `json:"base_tree"`     // B
	StartTree    string     `json:"start_tree"`    // S = B + test part
	SolutionTree string     `json:"solution_tree"` // G = S + the rest
	Patch        Digest     `json:"patch"`         // blob; S ⊕ Patch = G
	TestPatch    Digest     `json:"test_patch"`    // blob; B ⊕ TestPatch = S; empty where the tests are in B
	Files        []PartFile `json:"files"`
	Sizes        Sizes      `json:"sizes"`
	// Identity is the digest of (root commit, base tree, landed tree).
	Identity Digest `json:"identity"`
	// Functions are the functions that the code part touches; of a library those that a slice
	// lost the bodies of, and none of a whole one, where Masked counts them.
	Functions FunctionEdits `json:"functions"`
	// Masked says what was taken out of a library or service; nil for other kinds.
	Masked *Masked `json:"masked,omitempty"`
	// Group are the endpoints that a service task is about; nil for other kinds.
	Group *Group `json:"group,omitempty"`
	// Deploy is set for the environment variant of a service task.
	Deploy *Deploy `json:"deploy,omitempty"`
	// Suite says who wrote the test part of an edit; nil where its authors did.
	Suite *Suite `json:"suite,omitempty"`
}

// Suite is a test part that a model wrote, and what it was judged by.
type Suite struct {
	Provider string `json:"provider"` // the model's name
	Prompt   string `json:"prompt"`   // name and hash of the prompt that was asked
	Tries    int    `json:"tries"`    // answers until this one, itself included
	Tests    int    `json:"tests"`    // of the suite; Failing of them fail at the base, and all pass at the solution
	Failing  int    `json:"failing"`
	Hunks    int    `json:"hunks"`   // of the code part that were taken back one by one
	Noticed  int    `json:"noticed"` // of Hunks
}

// WantsSuite reports whether an edit has no test part, and a model is to write one.
func (s Start) WantsSuite() bool { return s.Kind == KindEdit && s.TestPatch == "" }

// TestsVisible reports whether the tests are in the base: a solver has them.
func (s Start) TestsVisible() bool { return s.Kind == KindLibrary }

// FunctionEdits are the qualified names (path::Class.method) of the functions and
// classes of the code part, by what a change does to them. A function that only
// moved, with its file or within the tree, is in none of them.
type FunctionEdits struct {
	Added    []string `json:"added,omitempty"`
	Removed  []string `json:"removed,omitempty"`
	Modified []string `json:"modified,omitempty"`
	// Unread are source files that could not be parsed, and so say nothing.
	Unread []string `json:"unread,omitempty"`
}

// ID is the instance ID.
func (s Start) ID() string { return s.ChangeID }

// Paths are the paths of one part, after the change (before, for deletions), in order.
func (s Start) Paths(p Part) []string {
	var out []string
	for _, f := range s.Files {
		if f.Part == p {
			out = append(out, f.Path)
		}
	}
	return out
}

// TestPaths are the changed files of the test part that exist in the start state.
func (s Start) TestPaths() []string {
	var out []string
	for _, f := range s.Files {
		if (f.Part == PartTest || len(f.TestHunks) > 0) && f.Status != "D" {
			out = append(out, f.Path)
		}
	}
	return out
}

// Toolchain is one interpreter or compiler, as it was copied in.
type Toolchain struct {
	Name    string `json:"name"`    // python, go
	Version string `json:"version"` // full: 3.12.1, 1.21.13
	Digest  Digest `json:"digest"`  // of the copied tree
}

// Evidence says where a line of a recipe came from.
type Evidence struct {
	Field  string `json:"field"`  // recipe key: toolchain, dependencies, test, …
	Value  string `json:"value"`  // what was taken
	Source string `json:"source"` // path:line in the tree, "convention", "date", "tags"
}

// Repair is one bounded attempt by the failure table (design 7).
type Repair struct {
	Rule    string `json:"rule"`    // name of the row
	Symptom string `json:"symptom"` // the log line that matched
	Edit    string `json:"edit"`    // what was changed in the recipe
}

// Pinning says how dependency versions were held to the base's date.
type Pinning string

// The ways, best first.
const (
	PinDate    Pinning = "date"
	PinLock    Pinning = "lock_file"
	PinNearest Pinning = "nearest_date"
	PinNone    Pinning = "undated"
)

// Command is one process: argv, never a shell line.
type Command struct {
	Argv []string          `json:"argv"`
	Dir  string            `json:"dir,omitempty"` // relative to the tree
	Env  map[string]string `json:"env,omitempty"`
}

// Recipe is an environment as data (design 7). It holds no path of a host.
type Recipe struct {
	Language  string    `json:"language"`
	Toolchain Toolchain `json:"toolchain"`
	// Tools are what the language installs with (uv); they are no part of what is installed.
	Tools          []Toolchain       `json:"tools,omitempty"`
	SystemPackages []string          `json:"system_packages,omitempty"`
	Variables      map[string]string `json:"variables,omitempty"` // set in builds and runs
	// Requirements are the resolver's input; Lock is its answer (names, versions, hashes).
	Requirements []string `json:"requirements,omitempty"`
	Lock         string   `json:"lock,omitempty"`
	Pinning      Pinning  `json:"pinning"`
	PinDate      string   `json:"pin_date,omitempty"` // YYYY-MM-DD
	DepsFrom     string   `json:"deps_from"`          // "solution": design 7
	// Setup runs once, with registries, and makes the env layer. It never sees the project.
	Setup []Command `json:"setup,omitempty"`
	// Build runs in the tree after every patch, without network, in proof and in grading.
	Build []Command `json:"build,omitempty"`
	// Test is one command a module; the language adds the flags of its runner table.
	Test []Command `json:"test"`
	// Apart runs each test in a process of its own, where the language's tests share one that
	// a failure can end.
	Apart    bool       `json:"apart,omitempty"`
	Report   string     `json:"report"` // report format, which chooses the runner: benchmint-pytest, go-test-json
	Evidence []Evidence `json:"evidence,omitempty"`
	Repairs  []Repair   `json:"repairs,omitempty"`
	// Rivals are the other test commands that were found, best first. They decide no
	// layer: a proof whose suite does not hold the changed tests goes on with the next.
	Rivals []Rival `json:"rivals,omitempty"`
	// Service says how a service is started; nil where the tests run in the tree itself.
	Service *Service `json:"service,omitempty"`
}

// Rival is a test command that a recipe could have had.
type Rival struct {
	Test   []Command `json:"test"`
	Source string    `json:"source"`
	// Other says why the command is not the test suite's: such a one is never tried.
	Other string `json:"other,omitempty"`
}

// Resolved is a start with the recipe that its environment will be built from.
type Resolved struct {
	StartID string `json:"start_id"`
	Start   Digest `json:"start"` // input digest
	Key     Digest `json:"key"`   // environment key: equal keys are built once
	Recipe  Recipe `json:"recipe"`
}

// ID is the instance ID.
func (r Resolved) ID() string { return r.StartID }

// Settled is the recipe with the test command that a proof came to; the one that it
// replaces is kept among the rivals.
func (r Recipe) Settled(p Proof) Recipe {
	at := slices.IndexFunc(r.Rivals, func(x Rival) bool { return len(p.Test) > 0 && DigestOf(x.Test) == DigestOf(p.Test) })
	if at < 0 {
		return r
	}
	chosen := r.Rivals[at]
	first := Rival{Test: r.Test, Other: "it does not run what the change tests"}
	r.Evidence = slices.Clone(r.Evidence)
	for i, e := range r.Evidence {
		if e.Field == "test" {
			first.Source = e.Source
			r.Evidence[i] = Evidence{Field: "test", Value: chosen.Line(), Source: chosen.Source}
		}
	}
	r.Test, r.Rivals = chosen.Test, slices.Concat([]Rival{first}, r.Rivals[:at], r.Rivals[at+1:])
	return r
}

// Line is the command as one line, for readers.
func (r Rival) Line() string { return CommandLine(r.Test) }

// CommandLine is commands as one line, for readers.
func CommandLine(commands []Command) string {
	var lines []string
	for _, c := range commands {
		lines = append(lines, strings.Join(c.Argv, " "))
	}
	return strings.Join(lines, " && ")
}

// Environment is one built env layer.
type Environment struct {
	Key     Digest `json:"key"`
	Recipe  Recipe `json:"recipe"` // as built, repairs included
	Sandbox string `json:"sandbox"`
	Host    bool   `json:"host,omitempty"` // toolchains of the host: bwrap
}

// ID is the environment's key.
func (e Environment) ID() string { return string(e.Key) }

// Provisioned joins a start to its environment.
type Provisioned struct {
	StartID     string      `json:"start_id"`
	Start       Digest      `json:"start"` // input digest: one environment serves many starts
	Environment Environment `json:"environment"`
	// WantsSuite is of a start without a test part; Tested is that start with the suite that a model
	// wrote, once it did.
	WantsSuite bool   `json:"wants_suite,omitempty"`
	Tested     *Start `json:"tested,omitempty"`
}

// ID is the instance ID.
func (p Provisioned) ID() string { return p.StartID }

// Label is what a change is, told apart from what it does to the code.
type Label string

// The labels (FeatBench's four lists).
const (
	LabelFeature     Label = "feature"     // something new that a user can do
	LabelImprovement Label = "improvement" // something that was there does better
	LabelFix         Label = "fix"
	LabelOther       Label = "other" // upkeep, documentation, or nothing says what it is
)

// Labels is all of them, in order.
var Labels = []Label{LabelFeature, LabelImprovement, LabelFix, LabelOther}

// LabelEvidence is one reason for one label.
type LabelEvidence struct {
	Label  Label  `json:"label"`
	Rule   string `json:"rule"`   // heading, fragment_type, conventional_commit, template, words, paths, …
	Quote  string `json:"quote"`  // the words that the rule rests on
	Weight int    `json:"weight"` // larger decides
}

// Labelled is a start with its label.
type Labelled struct {
	StartID  string          `json:"start_id"`
	Start    Digest          `json:"start"`
	Label    Label           `json:"label"`
	Evidence []LabelEvidence `json:"evidence"` // strongest first; empty: nothing says what it is
	// Provider says who decided: "rules", or a model's name.
	Provider string `json:"provider"`
}

// ID is the instance ID.
func (l Labelled) ID() string { return l.StartID }

// HunkNotice is one hunk of the code part, reverted alone in the solution, and
// which of the FAIL_TO_PASS tests no longer passed.
type HunkNotice struct {
	Path string `json:"path"`
	Hunk int    `json:"hunk"` // index in the file's diff without context lines
	// End is noticed, unnoticed, or unbuilt: without the hunk the tests do not load,
	// which notices it too.
	End   string   `json:"end"`
	Tests []string `json:"tests,omitempty"` // the first few that noticed, sorted
	// Limit is what ended the build or the run without the hunk, where a limit did:
	// no test had its say, and the hunk counts as noticed.
	Limit Reason `json:"limit,omitempty"`
}

// Adequacy says how much of the gold patch the FAIL_TO_PASS tests notice (design 8).
type Adequacy struct {
	StartID string       `json:"start_id"`
	Proof   Digest       `json:"proof"` // of the stable proof
	Hunks   []HunkNotice `json:"hunks"`
	Noticed int          `json:"noticed"` // of Hunks
	// Skipped are the hunks that were not tried, SkippedFor the same by reason.
	Skipped    int              `json:"skipped,omitempty"`
	SkippedFor map[HunkSkip]int `json:"skipped_for,omitempty"`
	// Coverage is of a library; nil where it is not known.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Near are the PASS_TO_PASS tests that run a function which the change adds or modifies;
	// none where that is not known.
	Near []string `json:"near,omitempty"`
	// Counted are the tests that the score of a slice counts; nil where all count.
	Counted *Counted `json:"counted,omitempty"`
}

// CountRule says which tests of PASS_TO_PASS count for a slice.
type CountRule string

// The rules, the better first.
const (
	CountReach CountRule = "reach" // those that run a masked function
	CountUnits CountRule = "units" // those beside a FAIL_TO_PASS test: what the tests run is not known
)

// CountRules lists them.
var CountRules = []CountRule{CountReach, CountUnits}

// Counted are the tests that the score of a slice counts: FAIL_TO_PASS, and these. Most of
// the suite of a release has nothing to do with one slice of it.
type Counted struct {
	Rule CountRule `json:"rule"`
	P2P  []string  `json:"pass_to_pass"` // sorted
}

// Want is how many tests of PASS_TO_PASS, which has all, count.
func (c *Counted) Want(all []string) int {
	if c == nil {
		return len(all)
	}
	return len(c.P2P)
}

// ZeroWork is the share of the tests that count which pass with nothing done, 0 to 1.
func (c *Counted) ZeroWork(failToPass, passToPass []string) float64 {
	n := c.Want(passToPass)
	return part(n, n+len(failToPass))
}

// HunkSkip is why a hunk was not tried.
type HunkSkip string

// The reasons. With Hunks they are all hunks of the code part.
const (
	SkipLimit     HunkSkip = "limit"    // more than are tried of one task
	SkipNoControl HunkSkip = "control"  // no FAIL_TO_PASS test passes today in what would be run
	SkipManifest  HunkSkip = "manifest" // what it asks for was installed before, once for all states
	SkipBinary    HunkSkip = "binary"
	SkipLink      HunkSkip = "link"   // a symbolic link
	SkipMode      HunkSkip = "mode"   // only the file's mode changes
	SkipSyntax    HunkSkip = "syntax" // without it the file does not parse, which any test notices
	SkipMasked    HunkSkip = "masked" // of a library: the base is the solution without all of them
)

// Coverage is how much of a code part the suite of its release runs.
type Coverage struct {
	Lines int `json:"lines"` // that can run
	Ran   int `json:"ran"`   // of them
}

// Share is the part of the lines that ran, 0 to 1.
func (c Coverage) Share() float64 { return part(c.Ran, c.Lines) }

// HunkFinding is what the hunks that were tried come to.
type HunkFinding string

// The findings.
const (
	AllNoticed  HunkFinding = "all"
	SomeNoticed HunkFinding = "some"
	NoneNoticed HunkFinding = "none" // whatever the tests check, no hunk of the code part by itself
	NoneTried   HunkFinding = "untried"
)

// Finding sums up.
func (a Adequacy) Finding() HunkFinding {
	switch {
	case len(a.Hunks) == 0:
		return NoneTried
	case a.Noticed == 0:
		return NoneNoticed
	case a.Noticed < len(a.Hunks):
		return SomeNoticed
	}
	return AllNoticed
}

// ID is the instance ID.
func (a Adequacy) ID() string { return a.StartID }

// Share is the part of the hunks that were tried which is noticed; 0 where there are none,
// since nothing is known to be noticed.
func (a Adequacy) Share() float64 {
	if len(a.Hunks) == 0 {
		return 0
	}
	return float64(a.Noticed) / float64(len(a.Hunks))
}

// Statement is what a solver is told.
type Statement struct {
	StartID string `json:"start_id"`
	Text    string `json:"text"`
	// Interface are the names that the tests need and that only the solution defines.
	Interface []Name `json:"interface,omitempty"`
	Hints     string `json:"hints,omitempty"` // what else the change's own text says, leaks taken out
	// Thin says that there was too little to go on.
	Thin bool `json:"thin,omitempty"`
	// From are the texts that it was made of: "note", "subject", "body", "docs", "readme", "signatures".
	From []string `json:"from"`
	// Required are the solution's own identifiers, literals and paths that the tests
	// use; Dropped are those that the sources named and that had to be left out.
	Required []string `json:"required,omitempty"`
	Dropped  []string `json:"dropped,omitempty"`
	// Provider says who wrote it: "rules", a model's name, or "hand".
	Provider string `json:"provider"`
	// WrittenBy is "hand" where somebody wrote the text or the interface by hand.
	WrittenBy string `json:"written_by,omitempty"`
	// Review is what a model says of the statement; nil where none was asked, or had an answer.
	Review *Review `json:"review,omitempty"`
	// Release is what the documentation of a library is built from, the same for all slices
	// of a release in one environment; "" for other kinds.
	Release Digest `json:"release,omitempty"`
	// Specification is that of a library.
	Specification *Specification `json:"specification,omitempty"`
}

// Review is a judgement of a statement, in codes.
type Review struct {
	Provider string   `json:"provider"`
	Verdict  string   `json:"verdict"`          // good, repair, reject
	Label    string   `json:"label"`            // S0 well specified, S1 gaps, S2 vague, S3 cannot be solved from it
	Unfair   []Unfair `json:"unfair,omitempty"` // tests that somebody could fail who does what it says
	Leaks    []string `json:"leaks,omitempty"`  // passages that tell how it is done
	Vague    []string `json:"vague,omitempty"`
	Extra    []string `json:"extra,omitempty"` // passages that neither the tests nor the change bear out
}

// Unfair is one test, and why.
type Unfair struct {
	Test string `json:"test"`
	Code string `json:"code"` // missing, name, wording, wrong
}

// Fault is what is to be mended, in words; "" where nothing is.
func (r Review) Fault() string {
	if r.Verdict == "good" {
		return ""
	}
	var parts []string
	why := map[string]string{"missing": "its behaviour is not said", "name": "a name or value cannot be guessed", "wording": "an exact text is not said", "wrong": "the statement says otherwise"}
	for _, u := range r.Unfair {
		parts = append(parts, fmt.Sprintf("the test %s can fail: %s", u.Test, why[u.Code]))
	}
	for _, p := range []struct {
		what string
		all  []string
	}{{"tells how it is done", r.Leaks}, {"is vague", r.Vague}, {"is borne out by nothing", r.Extra}} {
		for _, passage := range p.all {
			parts = append(parts, fmt.Sprintf("%q %s", passage, p.what))
		}
	}
	return strings.Join(parts, "; ")
}

// Hand is the provider of what somebody wrote by hand.
const Hand = "hand"

// ID is the instance ID.
func (s Statement) ID() string { return s.StartID }
