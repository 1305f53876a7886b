package score

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/schemas"
)

// Fault is a prediction without a verdict.
type Fault struct {
	Prediction schemas.Prediction
	Deferred   bool // it can be graded later; else something failed
	Why        string
}

// Evaluation is all that there is to say of the predictions for one dataset.
type Evaluation struct {
	Dataset string          // its name
	Tasks   map[string]Task // of the whole dataset, by instance ID
	Answers []Answer
	Faults  []Fault
	// Answered has the figures of each model over the tasks that it answers, not over all.
	Answered bool
	Reviews  Reviews          // of people
	Known    modelfile.Models // what is known of models; nil for nothing
}

// Figures are what metrics.json holds.
type Figures struct {
	Dataset string `json:"dataset"`
	Tasks   int    `json:"tasks"` // in the dataset
	// Over says which tasks the figures of a model are over: OverAll or OverAnswered.
	Over        string       `json:"over"`
	Models      []Model      `json:"models"`      // by name
	Comparisons []Comparison `json:"comparisons"` // of each pair of models, over the tasks that both are over
	Relations   []Relation   `json:"relations"`   // over models, from three on
}

// Tasks that figures are over. Those of which a model has predictions, but none that could be graded for a fault of the machine, are
// left out in any case.
const (
	OverAll      = "all"
	OverAnswered = "answered"
)

// Model is what is said of one model.
type Model struct {
	Model      string      `json:"model"`
	Metrics    Metrics     `json:"metrics"`
	Breakdowns []Breakdown `json:"breakdowns"`
	Faults     int         `json:"faults"` // predictions without a verdict, for no fault of theirs
	// LeftOut counts the tasks that the figures are not over because none of the model's predictions for them has a verdict.
	LeftOut int     `json:"left_out,omitempty"`
	CutOff  *CutOff `json:"cutoff,omitempty"` // nil where none is known
	// Relations are over the model's answers.
	Relations []Relation `json:"relations,omitempty"`
}

// Figures are the figures of each model, by name, and of each pair of them.
func (e Evaluation) Figures() Figures {
	out := Figures{Dataset: e.Dataset, Tasks: len(e.Tasks), Over: OverAll, Models: []Model{}, Comparisons: []Comparison{}}
	if e.Answered {
		out.Over = OverAnswered
	}
	all, over := map[string][]Answer{}, map[string]map[string]bool{}
	models := e.models()
	for _, m := range models {
		answers, tasks, faults, left := e.of(m)
		all[m], over[m] = answers, map[string]bool{}
		for _, t := range tasks {
			over[m][t.Instance] = true
		}
		out.Models = append(out.Models, Model{Model: m, Metrics: Of(tasks, answers), Breakdowns: Breakdowns(tasks, answers), Faults: faults, LeftOut: left, CutOff: cutOff(e.Known, m, tasks, answers), Relations: relationsOf(answers)})
	}
	out.Relations = modelRelations(out.Models, e.Known)
	for i, a := range models {
		for _, b := range models[i+1:] {
			var both []Task
			for _, id := range sortedKeys(e.Tasks) {
				if over[a][id] && over[b][id] {
					both = append(both, e.Tasks[id])
				}
			}
			c := compare(both, all[a], all[b])
			c.Model, c.With = a, b
			out.Comparisons = append(out.Comparisons, c)
		}
	}
	return out
}

// models are those of the predictions, by name.
func (e Evaluation) models() []string {
	names := map[string]bool{}
	for _, a := range e.Answers {
		names[a.Grade.Prediction.Model] = true
	}
	for _, f := range e.Faults {
		names[f.Prediction.Model] = true
	}
	return sortedKeys(names)
}

// of are the answers of a model, the tasks that its figures are over, the predictions without a verdict, and the tasks that
// are left out for these.
func (e Evaluation) of(model string) (answers []Answer, tasks []Task, faults, left int) {
	has, faulty := map[string]bool{}, map[string]bool{}
	for _, a := range e.Answers {
		if a.Grade.Prediction.Model == model {
			a.Review = e.Reviews[a.Grade.ID()]
			answers = append(answers, a)
			has[a.Task.Instance] = true
		}
	}
	for _, f := range e.Faults {
		if f.Prediction.Model == model {
			faults++
			faulty[f.Prediction.Instance] = true
		}
	}
	for _, id := range sortedKeys(e.Tasks) {
		switch {
		case has[id]:
			tasks = append(tasks, e.Tasks[id])
		case faulty[id]:
			left++
		case !e.Answered:
			tasks = append(tasks, e.Tasks[id])
		}
	}
	return answers, tasks, faults, left
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// SWEBench is the report of SWE-bench's harness, schema version 2, for one model. An
// instance with several samples is resolved where one of them is.
type SWEBench struct {
	Total         int      `json:"total_instances"`
	Submitted     int      `json:"submitted_instances"`
	Completed     int      `json:"completed_instances"`
	Resolved      int      `json:"resolved_instances"`
	Unresolved    int      `json:"unresolved_instances"`
	Empty         int      `json:"empty_patch_instances"`
	Errors        int      `json:"error_instances"`
	CompletedIDs  []string `json:"completed_ids"`
	IncompleteIDs []string `json:"incomplete_ids"`
	EmptyIDs      []string `json:"empty_patch_ids"`
	SubmittedIDs  []string `json:"submitted_ids"`
	ResolvedIDs   []string `json:"resolved_ids"`
	UnresolvedIDs []string `json:"unresolved_ids"`
	ErrorIDs      []string `json:"error_ids"`
	SchemaVersion int      `json:"schema_version"`
	Library       *Library `json:"library,omitempty"` // ours: what the predictions for libraries score
}

// better orders what is known of an instance from its samples.
var better = []string{"error", "empty", "unresolved", "resolved"}

// SWEBenchOf is the report of one model. As in that harness a patch that does not apply is an
// error, and so is a prediction that could not be graded; instances are those of the dataset.
func (e Evaluation) SWEBenchOf(m Model) SWEBench {
	model, instances := m.Model, sortedKeys(e.Tasks)
	state := map[string]string{}
	note := func(id, s string) {
		if slices.Index(better, s) >= slices.Index(better, state[id]) {
			state[id] = s
		}
	}
	for _, a := range e.Answers {
		if a.Grade.Prediction.Model != model {
			continue
		}
		s := "unresolved"
		switch a.Grade.Verdict {
		case schemas.VerdictPass:
			s = "resolved"
		case schemas.VerdictEmpty:
			s = "empty"
		case schemas.VerdictPatch, schemas.VerdictTimeout:
			s = "error"
		}
		note(a.Grade.Prediction.Instance, s)
	}
	for _, f := range e.Faults {
		if f.Prediction.Model == model {
			note(f.Prediction.Instance, "error")
		}
	}
	r := SWEBench{
		SchemaVersion: 2, Total: len(instances), CompletedIDs: []string{}, IncompleteIDs: []string{}, EmptyIDs: []string{}, SubmittedIDs: []string{},
		ResolvedIDs: []string{}, UnresolvedIDs: []string{}, ErrorIDs: []string{},
		Library: m.Metrics.Library,
	}
	for _, id := range sortedKeys(state) {
		r.SubmittedIDs = append(r.SubmittedIDs, id)
		switch state[id] {
		case "resolved":
			r.ResolvedIDs, r.CompletedIDs = append(r.ResolvedIDs, id), append(r.CompletedIDs, id)
		case "unresolved":
			r.UnresolvedIDs, r.CompletedIDs = append(r.UnresolvedIDs, id), append(r.CompletedIDs, id)
		case "empty":
			r.EmptyIDs = append(r.EmptyIDs, id)
		default:
			r.ErrorIDs = append(r.ErrorIDs, id)
		}
	}
	for _, id := range instances {
		if state[id] == "" {
			r.IncompleteIDs = append(r.IncompleteIDs, id)
		}
	}
	slices.Sort(r.IncompleteIDs)
	r.Submitted, r.Completed, r.Resolved, r.Unresolved = len(r.SubmittedIDs), len(r.CompletedIDs), len(r.ResolvedIDs), len(r.UnresolvedIDs)
	r.Empty, r.Errors = len(r.EmptyIDs), len(r.ErrorIDs)
	return r
}

// RESQ is one of RES-Q's results. Its states are PASS, FAIL, PATCH FAILED and TIMED OUT; an
// empty patch is PATCH FAILED there.
type RESQ struct {
	ID       string `json:"id"`
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Feedback string `json:"test_suite_feedback"`
}

// RESQOf are the results of one model, by instance and sample. The feedback names the tests
// that do not pass, each with what the run says of it; it is empty on PASS and TIMED OUT, as in RES-Q.
func (e Evaluation) RESQOf(model string) []RESQ {
	out := []RESQ{}
	for _, a := range e.Answers {
		g := a.Grade
		if g.Prediction.Model != model {
			continue
		}
		r := RESQ{ID: g.Prediction.Instance, Success: g.Verdict == schemas.VerdictPass, Message: string(g.Verdict)}
		switch g.Verdict {
		case schemas.VerdictEmpty:
			r.Message = string(schemas.VerdictPatch)
		case schemas.VerdictPatch:
			r.Feedback = g.Detail
		case schemas.VerdictFail:
			r.Feedback = strings.Join(missed(g), "\n")
		}
		out = append(out, r)
	}
	return out
}

// missed are the tests that do not pass, a line or more each.
func missed(g schemas.Grade) []string {
	var out []string
	for _, s := range []*schemas.Score{g.F2P, g.P2P} {
		if s == nil {
			continue
		}
		for _, id := range s.Missed {
			if why := g.Why[id]; why != "" {
				id += ": " + why
			}
			out = append(out, id)
		}
	}
	return out
}

// Line is one prediction in results.jsonl.
type Line struct {
	Instance string          `json:"instance_id"`
	Model    string          `json:"model_name_or_path"`
	Sample   int             `json:"sample"`
	Patch    schemas.Digest  `json:"patch,omitempty"` // blob of the evaluation's store
	Resolved bool            `json:"resolved"`
	Verdict  schemas.Verdict `json:"verdict"` // "" where there is none: fault says why
	Limit    schemas.Reason  `json:"limit,omitempty"`
	Applied  string          `json:"applied,omitempty"`
	Detail   string          `json:"detail,omitempty"`
	// Read is what there is to say of how the prediction was read, Mended what its patch was graded without, and Left
	// the files that it names without their content.
	Read   []string          `json:"read,omitempty"`
	Mended []string          `json:"mended,omitempty"`
	Left   []string          `json:"left_out,omitempty"`
	F2P    *schemas.Score    `json:"FAIL_TO_PASS,omitempty"`
	P2P    *schemas.Score    `json:"PASS_TO_PASS,omitempty"`
	Why    map[string]string `json:"why,omitempty"` // as Grade.Why
	// Class is what went wrong, and Cause what that means for the lists; "" where the prediction is resolved.
	Class    schemas.ErrorClass `json:"class,omitempty"`
	Cause    Cause              `json:"cause,omitempty"`
	Review   *Review            `json:"review,omitempty"` // of a person
	Tampered []string           `json:"tampered,omitempty"`
	Files    []string           `json:"files,omitempty"`
	Overlaps []schemas.Overlap  `json:"overlaps,omitempty"`
	Uses     []schemas.Use      `json:"uses,omitempty"`
	Tokens   int64              `json:"total_tokens,omitempty"`
	Input    int64              `json:"input_tokens,omitempty"`
	Output   int64              `json:"output_tokens,omitempty"`
	Turns    int64              `json:"turns,omitempty"`
	Cost     float64            `json:"cost,omitempty"`
	// LibraryScore is that of a library, nil for other kinds.
	LibraryScore *float64 `json:"library_score,omitempty"`
	// Service is how far a service came, nil for other kinds and where nothing was run.
	Service  *schemas.Served `json:"service,omitempty"`
	Fault    string          `json:"fault,omitempty"` // of the harness; not a verdict
	Deferred bool            `json:"deferred,omitempty"`
}

// Lines are all predictions, by instance, model and sample.
func (e Evaluation) Lines() []Line {
	out := []Line{}
	for _, a := range e.Answers {
		g := a.Grade
		l := Line{
			Instance: g.Prediction.Instance, Model: g.Prediction.Model, Sample: g.Prediction.Sample, Patch: g.Prediction.Patch, Resolved: g.Verdict == schemas.VerdictPass,
			Verdict: g.Verdict, Limit: g.Limit, Applied: g.Applied, Detail: g.Detail, F2P: g.F2P, P2P: g.P2P, Why: g.Why, Class: g.Class, Cause: CauseOf(g), Tampered: g.Tampered, Files: g.Files,
			Read: g.Prediction.Read, Mended: g.Mended, Left: g.Left, Tokens: g.Prediction.Tokens, Input: g.Prediction.InputTokens, Output: g.Prediction.OutputTokens, Turns: g.Prediction.Turns, Cost: g.Prediction.Cost, Service: g.Service, Overlaps: g.Overlaps, Uses: g.Uses,
		}
		if r, ok := e.Reviews[g.ID()]; ok && !l.Resolved {
			l.Review, l.Cause = &r, Answer{Grade: g, Review: r}.cause()
		}
		if a.Task.Kind == schemas.KindLibrary {
			s := a.Task.LibraryScore(g)
			l.LibraryScore = &s
		}
		out = append(out, l)
	}
	for _, f := range e.Faults {
		out = append(out, Line{Instance: f.Prediction.Instance, Model: f.Prediction.Model, Sample: f.Prediction.Sample, Read: f.Prediction.Read, Fault: f.Why, Deferred: f.Deferred})
	}
	slices.SortFunc(out, func(a, b Line) int {
		return slices.Compare([]string{a.Instance, a.Model, fmt.Sprintf("%09d", a.Sample)}, []string{b.Instance, b.Model, fmt.Sprintf("%09d", b.Sample)})
	})
	return out
}

// The files of an evaluation.
const (
	ReportFile  = "report.json"   // of SWE-bench's harness; report.MODEL.json where there are several models
	ResultsFile = "results.jsonl" // a Line each
	RESQFile    = "resq.json"     // RES-Q's results; resq.MODEL.json
	MetricsFile = "metrics.json"  // Figures
)

// Write writes the files into a folder that is there. Each is replaced whole.
func (e Evaluation) Write(dir string) error {
	figures := e.Figures()
	files := map[string]any{MetricsFile: figures}
	for _, m := range figures.Models {
		name := func(file string) string {
			if len(figures.Models) == 1 {
				return file
			}
			stem, ext, _ := strings.Cut(file, ".")
			return stem + "." + schemas.ModelSlug(m.Model) + "." + ext
		}
		files[name(ReportFile)] = e.SWEBenchOf(m)
		files[name(RESQFile)] = e.RESQOf(m.Model)
	}
	for _, name := range sortedKeys(files) {
		b, err := schemas.Canonical(files[name])
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := replace(filepath.Join(dir, name), append(b, '\n')); err != nil {
			return err
		}
	}
	var lines []byte
	for _, l := range e.Lines() {
		b, err := schemas.Canonical(l)
		if err != nil {
			return fmt.Errorf("writing %s: %w", ResultsFile, err)
		}
		lines = append(append(lines, b...), '\n')
	}
	if err := replace(filepath.Join(dir, ResultsFile), lines); err != nil {
		return err
	}
	review, err := e.review()
	if err != nil {
		return fmt.Errorf("writing %s: %w", ReviewFile, err)
	}
	return replace(filepath.Join(dir, ReviewFile), review)
}

// replace writes a file beside the old one, and puts it in its place.
func replace(name string, b []byte) error {
	tmp := name + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
