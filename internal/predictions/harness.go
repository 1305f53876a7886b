package predictions

import (
	"encoding/json"
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
	case where == "" && !slices.Contains([]string{"", "AgentTimeoutError"}, e.word("exception_info.exception_type")):
		p.Fault = NoAnswer + "Harbor ended with " + e.word("exception_info.exception_type")
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
// took. Where the run has no file of its predictions, the answers are taken from them. What mini-swe-agent leaves of a task
// that it could not go through, because the model's server failed or no container started, is an empty patch: that is a
// fault, and not an answer.
func (r *reader) trajectories(dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.traj*"))
	if err != nil {
		return
	}
	have, seen := map[string]int{}, map[string]bool{}
	for i, t := range r.out {
		have[t.Instance] = i
	}
	for _, name := range names {
		id := filepath.Base(filepath.Dir(name))
		if file := filepath.Base(name); file != id+".traj.json" && file != id+".traj" {
			continue
		}
		seen[id] = true
		e, err := trajectory(name)
		i, ok := have[id]
		switch {
		case err != nil:
			r.fault(name, err)
		case e.word("info.traceback") != "" && (!ok || len(r.out[i].Patch) == 0):
			why, _, _ := strings.Cut(e.word("info.exception_str"), "\n")
			if !ok {
				i = len(r.out)
				r.take(Prediction{Instance: id, Model: modelIn(name, e)}, nil, true)
			}
			r.out[i].Where, r.out[i].Fault = name, NoAnswer+fmt.Sprintf("mini-swe-agent ended with %s: %s", e.word("info.exit_status"), why)
		case !ok:
			r.submitted(id, name, e)
		default:
			r.out[i].annotate(e)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "minisweagent.log")); err == nil {
		for i, t := range r.out {
			if !seen[t.Instance] && len(t.Patch) == 0 {
				r.out[i].Fault = NoAnswer + "mini-swe-agent did not begin, as minisweagent.log says"
			}
		}
	}
}

// annotate adds what a trajectory says of an answer.
func (t *taken) annotate(e row) {
	if t.Effort == (Effort{}) {
		t.Effort = e.took()
	}
	if end := e.word("info.exit_status"); len(t.Patch) == 0 && end != "" && !strings.EqualFold(end, "submitted") {
		t.Said = append(t.Said, "there is no patch: the agent ended with "+end)
	}
}

// trajectory reads one file.
func trajectory(name string) (row, error) {
	b, err := open(name)
	if err != nil {
		return nil, err
	}
	return rowOf(plain(b))
}

// submitted takes the answer of a trajectory that no file of predictions names.
func (r *reader) submitted(id, name string, e row) {
	patch, replaced, ok := text(e.at("info.submission"))
	if !ok {
		r.fault(name, fmt.Errorf("%s: info.submission is no patch", id))
		return
	}
	r.take(Prediction{Instance: id, Model: modelIn(name, e), Patch: patch, Effort: e.took(), Where: name, Said: saidOf(replaced)}, nil, true)
}

// modelIn is the model of a trajectory, or the name of its run's folder.
func modelIn(name string, e row) string {
	return first(e.word("info.config.model.model_name"), filepath.Base(filepath.Dir(filepath.Dir(name))))
}

// took is what a trajectory says of the effort. mini-swe-agent has the tokens in each answer of the model alone.
func (r row) took() Effort {
	out := Effort{
		InputTokens: r.count([]string{"info.model_stats.tokens_sent"}), OutputTokens: r.count([]string{"info.model_stats.tokens_received"}),
		Turns: r.count([]string{"info.model_stats.api_calls"}), Cost: r.dollars([]string{"info.model_stats.instance_cost"}),
	}
	if out.InputTokens+out.OutputTokens > 0 {
		out.Tokens = out.InputTokens + out.OutputTokens
		return out
	}
	var messages []row
	_ = json.Unmarshal(r.at("messages"), &messages) // there may be none
	for _, m := range messages {
		out.InputTokens += m.count([]string{"extra.response.usage.prompt_tokens", "extra.response.usage.input_tokens", "usage.input_tokens"})
		out.OutputTokens += m.count([]string{"extra.response.usage.completion_tokens", "extra.response.usage.output_tokens", "usage.output_tokens"})
	}
	out.Tokens = out.InputTokens + out.OutputTokens
	return out
}

// job reports whether a folder holds trials of Harbor, and reads them, in the order of their names.
func (r *reader) job(dir string) bool {
	faults := len(r.faults)
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
		r.faults = r.faults[:faults] // these files are of something else
	}
	return found
}

// jobs reports whether a folder holds jobs of Harbor, and reads all of them.
func (r *reader) jobs(dir string) (found bool) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*", "result.json"))
	if err != nil {
		return false
	}
	for i, name := range names {
		names[i] = filepath.Dir(filepath.Dir(name))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		found = r.job(name) || found
	}
	return found
}

// runsIn are the runs of SWE-bench below its folder of logs (logs, logs/run_evaluation); none where it is another folder.
func runsIn(dir string) (runs []string) {
	const name = "run_evaluation"
	if filepath.Base(filepath.Clean(dir)) != name {
		dir = filepath.Join(dir, name)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			runs = append(runs, filepath.Join(dir, e.Name()))
		}
	}
	return runs
}

// called is the model of an answer with its agent and setting, which tell answers of one model apart.
func called(model, agent, setting string) string {
	with := strings.Join(slices.DeleteFunc([]string{agent, setting}, func(s string) bool { return s == "" }), ", ")
	if with == "" {
		return model
	}
	return model + " (" + with + ")"
}
