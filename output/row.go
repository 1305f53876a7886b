// Package output is what a dataset is on disk: rows, task folders, blobs,
// rejects, manifest and card; how they are written, read and linted.
//
// It never runs anything, never asks a network, and writes no measured time,
// host or order of completion into what is digested.
package output

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Row is one line of data/<split>.jsonl and one row of data/<split>.parquet: the
// twelve columns of SWE-bench in its order, then ours. Every column is a string in
// every row: readers that infer column types from the first rows (Hugging Face
// datasets) else fail on the first empty list, and SWE-bench's own readers before
// version 5 decode the two lists with a JSON parser and take nothing else.
type Row struct {
	InstanceID             string `json:"instance_id"`
	Repo                   string `json:"repo"`
	BaseCommit             string `json:"base_commit"`
	Patch                  string `json:"patch"`
	TestPatch              string `json:"test_patch"`
	ProblemStatement       string `json:"problem_statement"`
	HintsText              string `json:"hints_text"`
	CreatedAt              string `json:"created_at"`
	Version                string `json:"version"`
	FailToPass             List   `json:"FAIL_TO_PASS"`
	PassToPass             List   `json:"PASS_TO_PASS"`
	EnvironmentSetupCommit string `json:"environment_setup_commit"`
	Benchmint              Extra  `json:"benchmint"`
}

// List is a list of test IDs, written as JSON text in a string.
type List []string

// MarshalJSON writes the list as a string.
func (l List) MarshalJSON() ([]byte, error) {
	if l == nil {
		l = List{}
	}
	return quoted([]string(l))
}

// UnmarshalJSON reads a string of JSON; a plain list is taken too, as some
// published datasets have it.
func (l *List) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		b = []byte(s)
	}
	var out []string
	if err := json.Unmarshal(b, &out); err != nil {
		return fmt.Errorf("no list of test IDs: %w", err)
	}
	*l = out
	return nil
}

func quoted(v any) ([]byte, error) {
	text, err := schemas.Canonical(v)
	if err != nil {
		return nil, err
	}
	return schemas.Canonical(string(text))
}

// Encodings of a patch in a row: JSON holds UTF-8 only, and would silently
// replace every other byte.
const (
	EncodingText   = ""
	EncodingBase64 = "base64"
)

// Trees are the object IDs of the three states.
type Trees struct {
	Base     string `json:"base"`     // B
	Start    string `json:"start"`    // S = B ⊕ test_patch
	Solution string `json:"solution"` // G = S ⊕ patch
}

// Provenance is one step that made the row.
type Provenance struct {
	Stage       string         `json:"stage"`
	Fingerprint schemas.Digest `json:"fingerprint"` // of the stage: version, configuration, deciding tools
	Output      schemas.Digest `json:"output"`      // of the record it made
}

// extra is the JSON form of Extra, without its methods.
type extra Extra

// Extra is everything that is ours, under one key, as JSON text in a string. What only
// one kind of task has is in an object of that kind, null in rows of the others.
type Extra struct {
	Language          string                 `json:"language"`
	Kind              schemas.Kind           `json:"kind"`
	Licence           string                 `json:"licence"`
	Category          string                 `json:"category,omitempty"`    // of the list that the repository came from, else its domain by rule
	CategoryBy        string                 `json:"category_by,omitempty"` // what spoke for the domain
	Test              []schemas.Command      `json:"test"`
	Report            string                 `json:"report"`
	Environment       schemas.Digest         `json:"environment"` // key
	ImageKey          schemas.Digest         `json:"image_key"`   // ImageKey
	Toolchain         schemas.Toolchain      `json:"toolchain"`
	Pinning           schemas.Pinning        `json:"pinning"`
	PinDate           string                 `json:"pin_date"`
	DepsFrom          string                 `json:"deps_from"`
	Sandbox           string                 `json:"sandbox"`
	Host              bool                   `json:"host"`         // toolchains of the host
	BaseRelease       string                 `json:"base_release"` // the tag that the base stands after, "" where there is none
	Identity          schemas.Digest         `json:"identity"`
	Trees             Trees                  `json:"trees"`
	BaseArchive       schemas.Digest         `json:"base_archive"` // blobs/<hex>.tar.gz
	PatchEncoding     string                 `json:"patch_encoding"`
	TestPatchEncoding string                 `json:"test_patch_encoding"`
	Parts             map[schemas.Part]Paths `json:"parts"` // a file split by hunks stands in two
	Sizes             schemas.Sizes          `json:"sizes"`
	Functions         Functions              `json:"functions"`
	Statistics        Statistics             `json:"statistics"`
	Interface         []schemas.Name         `json:"interface"`
	// Unlisted is of a statement without the list of the interface (statement.interface); not there where it has the list.
	Unlisted    *Unlisted                `json:"unlisted,omitempty"`
	Causes      map[string]schemas.Cause `json:"causes"` // of each FAIL_TO_PASS
	BaselineB   []string                 `json:"baseline_b"`
	SkipToPass  []string                 `json:"skip_to_pass"`
	Quarantined []string                 `json:"quarantined"`
	// QuarantinedIn names, for each test that agreed with itself here and was left
	// out nevertheless, the changes of the repository in which it did not.
	QuarantinedIn map[string][]string `json:"quarantined_in"`
	Vanished      []string            `json:"vanished"`
	UnstableIDs   []string            `json:"unstable_ids"`
	// SolutionFile and SolutionName are tests that no right answer in other words can pass.
	SolutionFile []string `json:"solution_file,omitempty"`
	SolutionName []string `json:"solution_name,omitempty"`
	Clock        *Clock   `json:"clock,omitempty"` // not of services
	// P2PFast are the PASS_TO_PASS tests that run a function which the change adds or modifies;
	// not there where none does or that is not known.
	P2PFast  []string `json:"p2p_fast,omitempty"`
	Adequacy Adequacy `json:"adequacy"`
	// Suite says that a model wrote the tests; not there where the change's authors did.
	Suite             *Suite `json:"suite,omitempty"`
	TestsVisible      bool   `json:"tests_visible"`
	StatementFrom     string `json:"statement_from"`       // the texts that it was made of, by +: note+body
	StatementProvider string `json:"statement_provider"`   // "rules", a model's name, or "hand"
	WrittenBy         string `json:"written_by,omitempty"` // "hand": somebody wrote the statement or its interface
	Thin              bool   `json:"thin"`                 // too little text to go on
	// Review is what a model says of the statement; not there where none was asked.
	Review *schemas.Review `json:"review,omitempty"`
	// Reviews are what people say of the task, by who; not there where nobody reviewed it.
	Reviews    []schemas.PeerReview `json:"reviews,omitempty"`
	Leaks      schemas.Scan         `json:"leaks"`
	Provenance []Provenance         `json:"provenance"`
	Change     *Change              `json:"change"`            // of kinds feature and edit
	Library    *Library             `json:"library,omitempty"` // of kind library
	Service    *Service             `json:"service,omitempty"` // of kind service
	Release    *Published           `json:"release,omitempty"` // of a row of a release
}

// Clock says how the tests were held against time: those that would be listed and do not pass
// in the solution when the clock is ahead, with what they are then. The name of one that is absent
// then is without its digits and days.
type Clock struct {
	schemas.Clock
	Tests map[string]schemas.Status `json:"tests"`
}

// Suite is a test part that a model wrote, of an edit whose authors wrote none.
type Suite struct {
	Generated bool `json:"generated"` // true
	schemas.Suite
}

func suiteOf(s schemas.Start) *Suite {
	if s.Suite == nil {
		return nil
	}
	return &Suite{true, *s.Suite}
}

// Change is the landed change that a row was made from.
type Change struct {
	Commit     string               `json:"commit"`
	Number     int                  `json:"number"` // pull request; 0 = none
	NumberFrom schemas.NumberSource `json:"number_from"`
	Alias      string               `json:"alias,omitempty"` // the ID by a number that the forge alone knows
	Subject    string               `json:"subject"`
	Release    string               `json:"release"` // the tag of the first release with it, "" where there is none
	// ReleasedAt is the commit date of that tag, and OpenedAt when the pull request was opened; not there where it is not known.
	ReleasedAt time.Time      `json:"released_at,omitzero"`
	OpenedAt   time.Time      `json:"opened_at,omitzero"`
	Notes      []schemas.Note `json:"notes"` // of the change, best first
	Label      schemas.Label  `json:"label"`
	// LabelEvidence is what the label rests on, strongest first; LabelProvider is who
	// decided: "rules", or a model's name.
	LabelEvidence []schemas.LabelEvidence `json:"label_evidence"`
	LabelProvider string                  `json:"label_provider"`
	// Class is what an edit does by its subject: fix, feature, removal, refactor, change or
	// other; not there for a feature.
	Class string `json:"class,omitempty"`
	// Range are the commits of an edit, oldest first; not there for a feature.
	Range []schemas.RangeCommit `json:"range,omitempty"`
}

// Library is the masked release that a row was made from. base_commit is the commit of the
// release itself: the base tree is that with mask.patch of the task's folder.
type Library struct {
	Release string `json:"release"` // tag
	Profile string `json:"profile"` // how bodies were masked
	// Slice is the part of the library that all figures are about; not there for a whole one.
	Slice *schemas.Slice `json:"slice,omitempty"`
	Masked
	// Difficulty is that of the bodies that are gone; not there in rows of older versions.
	Difficulty *Difficulty `json:"difficulty,omitempty"`
	// ZeroWork is the share of the tests that count which pass with nothing done: those of
	// PASS_TO_PASS, or of Counted.
	ZeroWork float64 `json:"zero_work"`
	// Counted are the tests of PASS_TO_PASS that count for a slice, beside FAIL_TO_PASS; not there
	// for a whole library, for which all count.
	Counted *schemas.Counted `json:"counted,omitempty"`
	// Passing is the share of the suite's tests that pass in the release; Failing do not.
	Passing float64  `json:"passing"`
	Failing []string `json:"failing"`
	// Coverage is how much of the code part the suite of the release runs; null where that is
	// not known.
	Coverage *Coverage `json:"coverage"`
	// Specification lies beside the statement. Where it was masked redactions.jsonl says.
	Specification *schemas.Specification `json:"specification"`
}

// Masked says how much was taken out of the solution.
type Masked struct {
	// Functions are those of the code part, or of its slice; Taken of them lost their bodies or
	// are gone, and Kept stay, by construct ("loaded": it runs when the code is loaded).
	Functions int            `json:"functions"`
	Taken     int            `json:"taken"`
	Kept      map[string]int `json:"kept"`
	Lines     int            `json:"body_lines"` // without blank ones and comments
	Left      int            `json:"body_lines_left"`
	ShareLeft float64        `json:"share_left"` // of body lines, 0 to 1
	// Copies are files beside the code that hold lines of bodies; not there where none does.
	Copies []schemas.BodyCopy `json:"copies,omitempty"`
}

func maskedOf(m schemas.Masked) Masked {
	kept := map[string]int{}
	maps.Copy(kept, m.Kept)
	return Masked{Functions: m.Functions, Taken: m.Taken, Kept: kept, Lines: m.Lines, Left: m.Left, ShareLeft: m.Share(), Copies: m.Copies}
}

// Difficulty are facts about the bodies that a solver writes.
type Difficulty struct {
	schemas.Difficulty
	Tests int `json:"tests"` // of FAIL_TO_PASS: they tell whether it is done
}

// Coverage is a share of the lines that can run, 0 to 1.
type Coverage struct {
	Share float64 `json:"share"`
	schemas.Coverage
}

// Functions are the qualified names (path::Class.method) of what the code part
// does to functions and classes.
type Functions struct {
	Added    []string `json:"added"`
	Removed  []string `json:"removed"`
	Modified []string `json:"modified"`
	Unread   []string `json:"unread"` // source files that could not be parsed
}

// Adequacy says how much of the code part the FAIL_TO_PASS tests notice when it is
// taken back, hunk by hunk.
type Adequacy struct {
	Share      float64                  `json:"share"`   // noticed of tried; 0 where none was tried
	Finding    schemas.HunkFinding      `json:"finding"` // the same in a word
	Tried      int                      `json:"tried"`
	Noticed    int                      `json:"noticed"`
	Skipped    int                      `json:"skipped"` // the other hunks of the code part
	SkippedFor map[schemas.HunkSkip]int `json:"skipped_for"`
	Unnoticed  []Hunk                   `json:"unnoticed"`
}

// Hunk is one hunk of the code part; Hunk counts in its file, from 0.
type Hunk struct {
	Path string `json:"path"`
	Hunk int    `json:"hunk"`
}

// Paths are paths of the tree.
type Paths []string

// MarshalJSON writes the object as a string.
func (e Extra) MarshalJSON() ([]byte, error) { return quoted(extra(e)) }

// UnmarshalJSON reads the string; unknown keys are an error.
func (e *Extra) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("benchmint: not JSON text in a string: %w", err)
	}
	if err := strict([]byte(s), (*extra)(e)); err != nil {
		return fmt.Errorf("benchmint: %w", err)
	}
	return nil
}

// Task is a proved task with all that its row and folder are made of.
type Task struct {
	// Bare leaves the list of the interface out of the statement.
	Bare        bool
	Origin      schemas.Origin
	Start       schemas.Start
	Label       schemas.Labelled
	Environment schemas.Environment
	// Proof is without the tests that disagreed with themselves in another change of
	// the repository (ledger.Strip); QuarantinedIn names these.
	Proof         schemas.Proof
	QuarantinedIn map[string][]string
	Adequacy      schemas.Adequacy
	Statement     schemas.Statement
	Patch         []byte
	TestPatch     []byte
	Specification map[string][]byte // the files of Statement.Specification, by their paths
	Derive        []byte            // from the tree of base_commit to the base tree; nil where that is it
	Version       string            // nearest release at base; "" where there is none
	// Base loads the base tree; it is called once a task, so that a large dataset
	// needs the memory of one tree.
	Base func() (*tree.Tree, error)
	// Setup and Runs are the language's answers for the recipe, for the renderings.
	Setup      recipe.Step
	Runs       []recipe.TestRun
	Serve      *schemas.Command // starts the service of a service task, instead of Runs
	Provenance []Provenance
	Timings    []Timing
	Reviews    []schemas.PeerReview // by who
}

// ID is the instance ID.
func (t Task) ID() string { return t.Start.ID() }

// createdAt is RFC 3339 with milliseconds, always: Arrow's JSON reader takes a time
// without a fraction for a timestamp, whatever type is declared, and gives it back
// in another form; one with a fraction stays the text that it is.
const createdAt = "2006-01-02T15:04:05.000Z07:00"

// Created is the row's created_at; the zero time where it cannot be read.
func (r Row) Created() time.Time {
	at, err := time.Parse(createdAt, r.CreatedAt)
	if err != nil {
		return time.Time{}
	}
	return at
}

// RowOf joins the records to a row.
func RowOf(t Task, base Base) Row {
	r := t.Environment.Recipe
	patch, patchEncoding := text(t.Patch)
	testPatch, testEncoding := text(t.TestPatch)
	category, categoryBy := t.Origin.Category()
	row := Row{
		InstanceID: t.ID(), Repo: t.Origin.Repo(), BaseCommit: t.Start.Base, Patch: patch, TestPatch: testPatch,
		ProblemStatement: t.problem(), HintsText: t.Statement.Hints,
		CreatedAt: t.Origin.CreatedAt().UTC().Format(createdAt), Version: version(t.Version),
		FailToPass: sorted(t.Proof.List(schemas.F2P)), PassToPass: sorted(t.Proof.List(schemas.P2P)), EnvironmentSetupCommit: t.Start.Base,
		Benchmint: Extra{
			Language: t.Start.Language, Kind: t.Start.Kind, Licence: t.Origin.Licence(), Category: category, CategoryBy: categoryBy, Test: r.Test, Report: r.Report,
			Environment: t.Environment.Key, ImageKey: ImageKey(t.Environment, t.Start), Toolchain: r.Toolchain, Pinning: r.Pinning, PinDate: r.PinDate, DepsFrom: r.DepsFrom,
			Sandbox: t.Environment.Sandbox, Host: t.Environment.Host,
			BaseRelease: t.Version, Identity: t.Start.Identity, Change: changeOf(t), Library: libraryOf(t), Service: serviceOf(t), TestsVisible: t.Start.TestsVisible(),
			Trees:       Trees{Base: t.Start.BaseTree, Start: t.Start.StartTree, Solution: t.Start.SolutionTree},
			BaseArchive: base.Archive, PatchEncoding: patchEncoding, TestPatchEncoding: testEncoding,
			Parts: parts(t.Start), Sizes: t.Start.Sizes, Functions: functions(t.Start.Functions), Interface: some(t.Statement.Interface), Unlisted: unlistedOf(t.Bare, t.Statement.Text, t.Statement.Interface),
			Causes: causes(t.Proof), BaselineB: baselineB(t.Proof), SkipToPass: sorted(t.Proof.List(schemas.SkipToPass)),
			Quarantined: sorted(t.Proof.List(schemas.Quarantined)), QuarantinedIn: quarantinedIn(t.QuarantinedIn), Vanished: sorted(t.Proof.List(schemas.Vanished)),
			UnstableIDs: sorted(t.Proof.List(schemas.UnstableID)), SolutionFile: sorted(t.Proof.List(schemas.SolutionFile)), SolutionName: sorted(t.Proof.List(schemas.SolutionName)),
			Clock: clockOf(t.Proof), P2PFast: fast(t.Adequacy, t.Proof.List(schemas.P2P)), Adequacy: adequacy(t.Adequacy), Suite: suiteOf(t.Start),
			StatementFrom: strings.Join(t.Statement.From, "+"), StatementProvider: t.Statement.Provider, WrittenBy: t.Statement.WrittenBy, Thin: t.Statement.Thin, Review: t.Statement.Review, Reviews: t.Reviews,
			Leaks: t.Proof.Leaks, Provenance: some(t.Provenance),
		},
	}
	row.Benchmint.Statistics = statistics(row, base)
	return row
}

func changeOf(t Task) *Change {
	c := t.Origin.Change
	if c == nil {
		return nil
	}
	var opened time.Time
	if c.Pull != nil {
		opened = c.Pull.OpenedAt
	}
	return &Change{
		ReleasedAt: c.ReleasedAt, OpenedAt: opened, Commit: c.Commit, Number: c.Number, NumberFrom: c.NumberFrom, Alias: c.Alias(), Subject: c.Subject, Release: c.Release, Notes: some(c.Notes),
		Label: t.Label.Label, LabelEvidence: some(t.Label.Evidence), LabelProvider: t.Label.Provider, Range: c.Range, Class: c.Class,
	}
}

func libraryOf(t Task) *Library {
	c, m := t.Origin.Cut, t.Start.Masked
	if c == nil || m == nil || t.Start.Kind != schemas.KindLibrary {
		return nil
	}
	return &Library{
		Release: c.Release.Tag, Profile: m.Profile, Slice: m.Slice, Masked: maskedOf(*m),
		Difficulty: difficultyOf(t), Counted: t.Adequacy.Counted,
		ZeroWork: t.Proof.ZeroWork(t.Adequacy.Counted), Passing: t.Proof.Passing(), Failing: sorted(t.Proof.List(schemas.Failing)), Coverage: coverageOf(t.Adequacy),
		Specification: withoutPlaces(t.Statement.Specification),
	}
}

func difficultyOf(t Task) *Difficulty {
	d := t.Start.Masked.Difficulty
	if d == nil {
		return nil
	}
	return &Difficulty{*d, len(t.Proof.List(schemas.F2P))}
}

func coverageOf(a schemas.Adequacy) *Coverage {
	if a.Coverage == nil {
		return nil
	}
	return &Coverage{a.Coverage.Share(), *a.Coverage}
}

// withoutPlaces is a specification without the places that were masked in it.
func withoutPlaces(s *schemas.Specification) *schemas.Specification {
	if s == nil {
		return nil
	}
	out := *s
	out.Masked = nil
	return &out
}

// ImageKey names the image that a task is worked on in, as FeatBench's image_key
// does: two rows with one key need one image. It is the SHA-256 of the canonical
// JSON of what the image is made from: the environment's key, the recipe as it was
// built (toolchain, tools, system packages, lock, set-up: recipe.Key without a base),
// the variables, the build commands that run in the tree, the base tree, and the
// date of the one neutral commit that seals it. The tests of the change are not in
// it: a solver never has them.
func ImageKey(e schemas.Environment, s schemas.Start) schemas.Digest {
	return schemas.DigestOf(struct {
		Format      string            `json:"format"`
		Environment schemas.Digest    `json:"environment"`
		Recipe      schemas.Digest    `json:"recipe"`
		Variables   map[string]string `json:"variables"`
		Build       []schemas.Command `json:"build"`
		Tree        string            `json:"tree"`
		Date        string            `json:"date"`
	}{"benchmint-image/1", e.Key, recipe.Key(e.Recipe, ""), e.Recipe.Variables, e.Recipe.Build, s.BaseTree, sealed(s)})
}

// sealed is the date of the neutral commit.
func sealed(s schemas.Start) string { return s.BaseDate.UTC().Format("2006-01-02T15:04:05Z") }

func functions(f schemas.FunctionEdits) Functions {
	return Functions{Added: some(f.Added), Removed: some(f.Removed), Modified: some(f.Modified), Unread: some(f.Unread)}
}

// fast are the tests of a list that run what the change changes.
func fast(a schemas.Adequacy, passToPass []string) []string {
	var out []string
	for _, id := range a.Near {
		if slices.Contains(passToPass, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

func adequacy(a schemas.Adequacy) Adequacy {
	out := Adequacy{
		Share: a.Share(), Finding: a.Finding(), Tried: len(a.Hunks), Noticed: a.Noticed,
		Skipped: a.Skipped, SkippedFor: map[schemas.HunkSkip]int{}, Unnoticed: []Hunk{},
	}
	maps.Copy(out.SkippedFor, a.SkippedFor)
	for _, h := range a.Hunks {
		if h.End == unnoticed {
			out.Unnoticed = append(out.Unnoticed, Hunk{Path: h.Path, Hunk: h.Hunk})
		}
	}
	return out
}

const unnoticed = "unnoticed" // schemas.HunkNotice.End

func quarantinedIn(in map[string][]string) map[string][]string {
	if in == nil {
		return map[string][]string{}
	}
	return in
}

const noVersion = "1"

// dated is a tag that readers of JSON would take for a time.
var dated = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// version is never empty: clients look up by it, and SWE-bench's take any word.
func version(tag string) string {
	switch {
	case tag == "":
		return noVersion
	case dated.MatchString(tag):
		return "v" + tag
	}
	return tag
}

// Release is the tag that the base stands after, "" where there is none.
func (r Row) Release() string { return r.Benchmint.BaseRelease }

func text(b []byte) (string, string) {
	if utf8.Valid(b) {
		return string(b), EncodingText
	}
	return base64.StdEncoding.EncodeToString(b), EncodingBase64
}

// GoldPatch is the patch field as bytes.
func (r Row) GoldPatch() ([]byte, error) { return untext(r.Patch, r.Benchmint.PatchEncoding) }

// Tests is the test_patch field as bytes.
func (r Row) Tests() ([]byte, error) { return untext(r.TestPatch, r.Benchmint.TestPatchEncoding) }

func untext(s, encoding string) ([]byte, error) {
	switch encoding {
	case EncodingText:
		return []byte(s), nil
	case EncodingBase64:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return nil, fmt.Errorf("patch in base64: %w", err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("unknown patch encoding %q", encoding)
}

func parts(s schemas.Start) map[schemas.Part]Paths {
	out := map[schemas.Part]Paths{}
	for _, f := range s.Files {
		out[f.Part] = append(out[f.Part], f.Path)
		if f.Part != schemas.PartTest && len(f.TestHunks) > 0 {
			out[schemas.PartTest] = append(out[schemas.PartTest], f.Path)
		}
	}
	for _, p := range out {
		slices.Sort(p)
	}
	return out
}

func causes(p schemas.Proof) map[string]schemas.Cause {
	out := map[string]schemas.Cause{}
	for _, t := range p.Tests {
		if t.Class == schemas.F2P {
			out[t.ID] = t.Cause
		}
	}
	return out
}

func clockOf(p schemas.Proof) *Clock {
	if p.Clock == nil {
		return nil
	}
	return &Clock{*p.Clock, p.TimeBound()}
}

func baselineB(p schemas.Proof) []string {
	out := []string{}
	for _, t := range p.Tests {
		if t.Class == schemas.P2P && t.Baseline == schemas.StateB {
			out = append(out, t.ID)
		}
	}
	return sorted(out)
}

func sorted(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return some(out)
}

// some never gives nil: a null in one row and a list in the next are two types
// to readers that infer.
func some[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
