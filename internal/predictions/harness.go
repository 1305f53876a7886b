package predictions

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// trial reads a folder of a Harbor job that is one trial: result.json says what it was of, and artifacts hold model.patch, which our
// export has agents leave. It reports whether the folder is one.
func (r *reader) trial(dir string) bool {
	result := filepath.Join(dir, "result.json")
	b, err := open(result)
	if err != nil {
		return false
	}
	e, err := rowOf(plain(b))
	if err != nil {
		r.fault(result, err)
		return false
	}
	if e.word("trial_name") == "" || e.word("task_name") == "" {
		return false // that of the job
	}
	p := Prediction{Instance: path.Base(e.word("task_name")), Model: e.word("agent_info.model_info.name"), Agent: e.word("agent_info.name"), Where: result}
	if p.Model == "" {
		p.Model, p.Agent = p.Agent, ""
	}
	p.InputTokens, p.OutputTokens = e.count([]string{"agent_result.n_input_tokens"}), e.count([]string{"agent_result.n_output_tokens"})
	p.Tokens = p.InputTokens + p.OutputTokens
	p.Cost = e.dollars([]string{"agent_result.cost_usd"})
	where, err := patchIn(filepath.Join(dir, "artifacts"))
	switch {
	case err != nil:
		r.fault(result, fmt.Errorf("%s: %w", p.Instance, err))
		return true
	case where == "":
		p.Said = []string{"the trial has no model.patch among its artifacts: it is taken as empty" + ended(e.word("exception_info.exception_type"))}
	default:
		p.Where = where
		if p.Patch, err = os.ReadFile(where); err != nil {
			r.fault(where, err)
			return true
		}
	}
	r.take(p, nil, p.Model != "")
	return true
}

func ended(exception string) string {
	if exception == "" {
		return ""
	}
	return " (it ended with " + exception + ")"
}

// patchIn is the model.patch below a folder of artifacts; "" where there is none.
func patchIn(dir string) (found string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == "model.patch" && d.Type().IsRegular():
			found = p
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}

// trajectories are files of mini-swe-agent and SWE-agent beside the predictions of a run: ID/ID.traj.json says what each answer
// took. Where the run has no file of its predictions, the answers are taken from them.
func (r *reader) trajectories(dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.traj*"))
	if err != nil {
		return
	}
	have := map[string]int{}
	for i, t := range r.out {
		have[t.Instance] = i
	}
	for _, name := range names {
		id := filepath.Base(filepath.Dir(name))
		if file := filepath.Base(name); file != id+".traj.json" && file != id+".traj" {
			continue
		}
		b, err := open(name)
		if err != nil {
			r.fault(name, err)
			continue
		}
		e, err := rowOf(plain(b))
		if err != nil {
			r.fault(name, err)
			continue
		}
		took := Effort{
			InputTokens: e.count([]string{"info.model_stats.tokens_sent"}), OutputTokens: e.count([]string{"info.model_stats.tokens_received"}),
			Turns: e.count([]string{"info.model_stats.api_calls"}), Cost: e.dollars([]string{"info.model_stats.instance_cost"}),
		}
		took.Tokens = took.InputTokens + took.OutputTokens
		i, ok := have[id]
		if !ok {
			patch, replaced, text := text(e.at("info.submission"))
			if !text {
				r.fault(name, fmt.Errorf("%s: info.submission is no patch", id))
				continue
			}
			model := e.word("info.config.model.model_name")
			r.take(Prediction{Instance: id, Model: first(model, filepath.Base(dir)), Patch: patch, Effort: took, Where: name, Said: saidOf(replaced)}, nil, true)
			continue
		}
		if r.out[i].Effort == (Effort{}) {
			r.out[i].Effort = took
		}
	}
}

// job reports whether a folder holds trials of Harbor, and reads them, in the order of their names.
func (r *reader) job(dir string) bool {
	faults := r.faults
	found := r.trial(dir)
	results, err := filepath.Glob(filepath.Join(dir, "*", "result.json"))
	if err != nil {
		return false
	}
	slices.Sort(results)
	for _, name := range results {
		found = r.trial(filepath.Dir(name)) || found
	}
	if !found {
		r.faults = faults // these files are of something else
	}
	return found
}

// called is the model of an answer with its agent and setting, which tell answers of one model apart.
func called(model, agent, setting string) string {
	with := strings.Join(slices.DeleteFunc([]string{agent, setting}, func(s string) bool { return s == "" }), ", ")
	if with == "" {
		return model
	}
	return model + " (" + with + ")"
}
