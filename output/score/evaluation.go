package score

import (
	"slices"

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
	Program string          // the version of benchmint that computes the figures
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
	// Program is the version of benchmint that wrote the file; "" of files before it was written.
	Program string `json:"program,omitempty"`
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
	out := Figures{Program: e.Program, Dataset: e.Dataset, Tasks: len(e.Tasks), Over: OverAll, Models: []Model{}, Comparisons: []Comparison{}}
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
