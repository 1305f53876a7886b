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
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Row is one line of data/<split>.jsonl: the twelve columns of SWE-bench in its
// order, then ours. Every column is a string in every row: readers that infer
// column types from the first rows (Hugging Face datasets) else fail on the first
// empty list, and SWE-bench's own readers before version 5 decode the two lists
// with a JSON parser and take nothing else.
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

// Extra is everything that is ours, under one key, as JSON text in a string.
type Extra struct {
	Language          string                   `json:"language"`
	Kind              schemas.Kind             `json:"kind"`
	Licence           string                   `json:"licence"`
	Test              []schemas.Command        `json:"test"`
	Report            string                   `json:"report"`
	Environment       schemas.Digest           `json:"environment"` // key
	Toolchain         schemas.Toolchain        `json:"toolchain"`
	Pinning           schemas.Pinning          `json:"pinning"`
	PinDate           string                   `json:"pin_date"`
	DepsFrom          string                   `json:"deps_from"`
	Sandbox           string                   `json:"sandbox"`
	Host              bool                     `json:"host"` // toolchains of the host
	Commit            string                   `json:"commit"`
	Number            int                      `json:"number"` // pull request; 0 = none
	NumberFrom        schemas.NumberSource     `json:"number_from"`
	Subject           string                   `json:"subject"`
	Identity          schemas.Digest           `json:"identity"`
	Trees             Trees                    `json:"trees"`
	BaseArchive       schemas.Digest           `json:"base_archive"` // blobs/<hex>.tar.gz
	PatchEncoding     string                   `json:"patch_encoding"`
	TestPatchEncoding string                   `json:"test_patch_encoding"`
	Parts             map[schemas.Part]Paths   `json:"parts"` // a file split by hunks stands in two
	Sizes             schemas.Sizes            `json:"sizes"`
	Interface         []schemas.Name           `json:"interface"`
	Causes            map[string]schemas.Cause `json:"causes"` // of each FAIL_TO_PASS
	BaselineB         []string                 `json:"baseline_b"`
	SkipToPass        []string                 `json:"skip_to_pass"`
	Quarantined       []string                 `json:"quarantined"`
	Vanished          []string                 `json:"vanished"`
	UnstableIDs       []string                 `json:"unstable_ids"`
	TestsVisible      bool                     `json:"tests_visible"`
	StatementFrom     string                   `json:"statement_from"` // commit
	Thin              bool                     `json:"thin"`           // too little text to go on
	Leaks             schemas.Scan             `json:"leaks"`
	Provenance        []Provenance             `json:"provenance"`
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
	Repo        schemas.Repo
	Change      schemas.Change
	Start       schemas.Start
	Environment schemas.Environment
	Proof       schemas.Proof
	Patch       []byte
	TestPatch   []byte
	Version     string // nearest release at base; "" where there is none
	// Base loads the base tree; it is called once a task, so that a large dataset
	// needs the memory of one tree.
	Base func() (*tree.Tree, error)
	// Setup and Runs are the language's answers for the recipe, for the renderings.
	Setup      lang.Step
	Runs       []lang.TestRun
	Provenance []Provenance
}

// ID is the instance ID.
func (t Task) ID() string { return t.Start.ID() }

// RowOf joins the records to a row. archive names the base tree's blob.
func RowOf(t Task, archive schemas.Digest) Row {
	r := t.Environment.Recipe
	patch, patchEncoding := text(t.Patch)
	testPatch, testEncoding := text(t.TestPatch)
	statement := Statement(t.Change)
	return Row{
		InstanceID: t.ID(), Repo: t.Change.Repo, BaseCommit: t.Start.Base, Patch: patch, TestPatch: testPatch,
		ProblemStatement: statement, CreatedAt: t.Change.CommittedAt.UTC().Format(time.RFC3339), Version: version(t.Version),
		FailToPass: sorted(t.Proof.List(schemas.F2P)), PassToPass: sorted(t.Proof.List(schemas.P2P)), EnvironmentSetupCommit: t.Start.Base,
		Benchmint: Extra{
			Language: t.Start.Language, Kind: t.Start.Kind, Licence: t.Repo.Licence, Test: r.Test, Report: r.Report,
			Environment: t.Environment.Key, Toolchain: r.Toolchain, Pinning: r.Pinning, PinDate: r.PinDate, DepsFrom: r.DepsFrom,
			Sandbox: t.Environment.Sandbox, Host: t.Environment.Host,
			Commit: t.Change.Commit, Number: t.Change.Number, NumberFrom: t.Change.NumberFrom, Subject: t.Change.Subject, Identity: t.Start.Identity,
			Trees:       Trees{Base: t.Start.BaseTree, Start: t.Start.StartTree, Solution: t.Start.SolutionTree},
			BaseArchive: archive, PatchEncoding: patchEncoding, TestPatchEncoding: testEncoding,
			Parts: parts(t.Start), Sizes: t.Start.Sizes, Interface: some(t.Proof.Interface),
			Causes: causes(t.Proof), BaselineB: baselineB(t.Proof), SkipToPass: sorted(t.Proof.List(schemas.SkipToPass)),
			Quarantined: sorted(t.Proof.List(schemas.Quarantined)), Vanished: sorted(t.Proof.List(schemas.Vanished)),
			UnstableIDs: sorted(t.Proof.List(schemas.UnstableID)), StatementFrom: "commit", Thin: thin(statement),
			Leaks: t.Proof.Leaks, Provenance: some(t.Provenance),
		},
	}
}

// noVersion stands for "no release yet".
const noVersion = "1"

// version is never empty: clients look up by it, and SWE-bench's take any word.
func version(v string) string {
	if v == "" {
		return noVersion
	}
	return v
}

// Release is the tag that the base stands after, "" where there is none.
func (r Row) Release() string {
	if r.Version == noVersion {
		return ""
	}
	return r.Version
}

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

var (
	trailer = regexp.MustCompile(`(?mi)^(signed-off|co-authored|reviewed|acked|tested|reported|suggested|committed)-by:.*\n?`)
	email   = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
)

// Statement is the commit's own text, without the trailers and addresses that
// name people.
func Statement(c schemas.Change) string {
	s := strings.TrimSpace(c.Subject + "\n\n" + trailer.ReplaceAllString(strings.ReplaceAll(c.Body, "\r\n", "\n"), ""))
	s = email.ReplaceAllStringFunc(s, func(found string) string {
		if strings.HasPrefix(found, "git@") { // the user of SSH remotes is no person
			return found
		}
		return "<address>"
	})
	return strings.ToValidUTF8(s, "\uFFFD") + "\n"
}

// thin: fewer words than a sentence that says what is wanted and where.
func thin(statement string) bool {
	const fewWords = 8
	return len(strings.Fields(statement)) < fewWords
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
