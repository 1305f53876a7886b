package predictions_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/predictions"
)

// TestHarnesses: what harnesses leave of a run, with what the answers took. Keys are as Harbor 0.26, mini-swe-agent 2 and FeatBench
// write them.
func TestHarnesses(t *testing.T) {
	t.Parallel()
	trial := func(name, task, model, more string) string {
		return fmt.Sprintf(`{"schema_version":1,"trial_name":%q,"task_name":%q,"agent_info":{"name":"openhands","version":"1","model_info":%s}%s}`, name, task, model, more)
	}
	const gpt = `{"name":"gpt-5","provider":"openai"}`
	for _, tc := range []struct {
		name   string
		files  map[string]string
		paths  []string
		want   []string // instance, model, sample, patch, tokens in and out, turns, cost
		faults []string
	}{
		{
			name: "harbor_job", paths: []string{"job"},
			files: map[string]string{
				"job/result.json":                                     `{"id":"x","stats":{"n_trials":4}}`,
				"job/a__b-1__aa/result.json":                          trial("a__b-1__aa", "org/a__b-1", gpt, `,"agent_result":{"n_input_tokens":90,"n_output_tokens":10,"cost_usd":0.5}`),
				"job/a__b-1__aa/artifacts/logs/artifacts/model.patch": "x",
				"job/a__b-1__bb/result.json":                          trial("a__b-1__bb", "a__b-1", gpt, `,"exception_info":{"exception_type":"AgentTimeoutError"}`),
				"job/a__b-2__cc/result.json":                          trial("a__b-2__cc", "a__b-2", "null", ""),
				"job/a__b-2__cc/artifacts/model.patch":                "y",
				"job/broken/result.json":                              "{",
			},
			want: []string{
				`a__b-1 gpt-5 (openhands) 0 "x" 90 10 0 0.5`,
				`a__b-1 gpt-5 (openhands) 1 "" 0 0 0 0 the trial has no model.patch among its artifacts: it is taken as empty (it ended with AgentTimeoutError)`,
				`a__b-2 openhands 0 "y" 0 0 0 0`,
			},
			faults: []string{"job/broken/result.json: unexpected end of JSON input"},
		},
		{
			name: "harbor_jobs", paths: []string{"jobs"},
			files: map[string]string{
				"jobs/one/result.json":                               `{"id":"x","stats":{"n_trials":1}}`,
				"jobs/one/a__b-1__aa/result.json":                    trial("a__b-1__aa", "org/a__b-1", gpt, ""),
				"jobs/one/a__b-1__aa/artifacts/logs/a/model.patch":   "x",
				"jobs/two/a__b-2__bb/result.json":                    trial("a__b-2__bb", "org/a__b-2", gpt, `,"exception_info":{"exception_type":"EnvironmentStartTimeoutError"}`),
				"jobs/two/a__b-2__bb/artifacts/manifest.json":        "{}",
				"jobs/three/a__b-3__cc/result.json":                  trial("a__b-3__cc", "org/a__b-3", gpt, ""),
				"jobs/three/a__b-3__cc/artifacts/logs/a/model.patch": "z",
			},
			want: []string{`a__b-1 gpt-5 (openhands) 0 "x" 0 0 0 0`, `a__b-3 gpt-5 (openhands) 0 "z" 0 0 0 0`,
				`a__b-2 gpt-5 (openhands) 0 "" 0 0 0 0 no answer: Harbor ended with EnvironmentStartTimeoutError`},
		},
		{
			name: "swe_bench_logs", paths: []string{"logs"},
			files: map[string]string{
				"logs/run_evaluation/r1/run.json":                      "{}",
				"logs/run_evaluation/r1/m__x/a__b-1/patch.diff":        "x",
				"logs/run_evaluation/r1/m__x/a__b-1/eval.sh":           "",
				"logs/run_evaluation/r1/m__x/a__b-1/report.json":       "{}",
				"logs/run_evaluation/r2/m__x/a__b-2/patch.diff":        "y",
				"logs/run_evaluation/r2/m__x/a__b-2/run_instance.log":  "",
				"logs/run_evaluation/r2/m__x/a__b-3/run_instance.log":  "",
				"logs/run_evaluation/r2/m__x/a__b-3/nothing_else.json": "{}",
			},
			want: []string{`a__b-1 m__x 0 "x" 0 0 0 0`, `a__b-2 m__x 0 "y" 0 0 0 0`, `a__b-3 m__x 0 "" 0 0 0 0 no answer: SWE-bench's folder has no patch.diff`},
		},
		{
			name: "mini_swe_agent", paths: []string{"run"},
			files: map[string]string{
				"run/preds.json":              `{"a__b-1":{"model_name_or_path":"m","instance_id":"a__b-1","model_patch":"x"}}`,
				"run/a__b-1/a__b-1.traj.json": `{"info":{"model_stats":{"instance_cost":0.25,"api_calls":7},"submission":"x"}}`,
			},
			want: []string{`a__b-1 m 0 "x" 0 0 7 0.25`},
		},
		{
			name: "mini_swe_agent_2_4_6", paths: []string{"run"},
			files: map[string]string{
				"run/minisweagent.log": "", "run/exit_statuses_1795962810.5.yaml": "instances_by_exit_status: {}",
				"run/preds.json":              fmt.Sprintf(`{"a__b-1":%s,"a__b-2":%s,"a__b-3":%s,"a__b-4":%s}`, mini("a__b-1", "x"), mini("a__b-2", ""), mini("a__b-3", ""), mini("a__b-4", "")),
				"run/a__b-1/a__b-1.traj.json": miniTraj(`"mini_version":"2.4.6","exit_status":"Submitted","submission":"x"`),
				"run/a__b-2/a__b-2.traj.json": miniTraj(`"exit_status":"LimitsExceeded","submission":""`),
				"run/a__b-3/a__b-3.traj.json": miniTraj(`"exit_status":"NotFoundError","submission":"","traceback":"Traceback (most recent call last)","exception_str":"no such model\nmore"`),
			},
			want: []string{`a__b-1 openai/m 0 "x" 1165 9 2 0.5`, `a__b-2 openai/m 0 "" 1165 9 2 0.5 there is no patch: the agent ended with LimitsExceeded`,
				`a__b-3 openai/m 0 "" 0 0 0 0 no answer: mini-swe-agent ended with NotFoundError: no such model`,
				`a__b-4 openai/m 0 "" 0 0 0 0 no answer: mini-swe-agent did not begin, as minisweagent.log says`},
		},
		{
			name: "trajectories_alone", paths: []string{"run"},
			files: map[string]string{
				"run/a__b-1/a__b-1.traj.json": `{"info":{"config":{"model":{"model_name":"m"}},"model_stats":{"api_calls":7},"submission":"x"}}`,
				"run/a__b-2/a__b-2.traj.json": `{"info":{}}`,
				"run/a__b-3/other.traj.json":  `{`,
			},
			want:   []string{`a__b-1 m 0 "x" 0 0 7 0`},
			faults: []string{"run/a__b-2/a__b-2.traj.json: a__b-2: info.submission is no patch"},
		},
		{
			name: "featbench", paths: []string{"r.json"},
			files: map[string]string{"r.json": `[{"agent":"Trae-agent","model":"m","instance_id":"a__b-1","success":true,"total_tokens":12,"patch_application":{"patch_content":"x"}},
				{"agent":"Agentless","model":"m","instance_id":"a__b-1","success":false,"error":"gone"}]`},
			want: []string{`a__b-1 m (Trae-agent) 0 "x" 0 0 0 0`, `a__b-1 m (Agentless) 0 "" 0 0 0 0 no key of the entry holds a patch: it is taken as empty`},
		},
		{
			name: "several", paths: []string{"m.jsonl", "n", "o.jsonl"},
			files: map[string]string{
				"m.jsonl":       `{"instance_id":"a__b-1","model_name_or_path":"m","setting":"8K","model_patch":"x","input_tokens":5,"output_tokens":2,"turns":3}`,
				"n/a__b-1.diff": "y",
				"o.jsonl":       `{"instance_id":"a__b-1","metadata":{"llm_config":{"model":"o"}},"test_result":{"git_patch":"z"},"metrics":{"accumulated_cost":1.5,"accumulated_token_usage":{"prompt_tokens":8,"completion_tokens":1}}}`,
			},
			want: []string{`a__b-1 m (8K) 0 "x" 5 2 3 0`, `a__b-1 n 0 "y" 0 0 0 0`, `a__b-1 o 0 "z" 8 1 0 1.5`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, tc.files)
			var paths []string
			for _, p := range tc.paths {
				paths = append(paths, filepath.Join(dir, p))
			}
			got, faults, err := predictions.Read(paths...)
			if err != nil {
				t.Fatal(err)
			}
			var read, wrong []string
			for _, p := range got {
				read = append(read, strings.TrimSpace(strings.Join(append([]string{fmt.Sprintf("%s %s %d %q %d %d %d %v", p.Instance, p.Model, p.Sample, p.Patch, p.InputTokens, p.OutputTokens, p.Turns, p.Cost)}, append(p.Said, p.Fault)...), " ")))
			}
			for _, f := range faults {
				wrong = append(wrong, strings.ReplaceAll(f.Error(), dir+"/", ""))
			}
			if diff := cmp.Diff(tc.want, read); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.faults, wrong); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// mini is an entry of the preds.json that mini-swe-agent 2.4.6 writes.
func mini(id, patch string) string {
	return fmt.Sprintf(`{"model_name_or_path":"openai/m","instance_id":%q,"model_patch":%q}`, id, patch)
}

// miniTraj is a trajectory of mini-swe-agent 2.4.6: an answer of the chat API, one of the responses API, and one that called
// no tool, of which the agent keeps the response alone.
func miniTraj(info string) string {
	return `{"info":{"model_stats":{"instance_cost":0.5,"api_calls":2},"config":{"model":{"model_name":"openai/m"}},` + info + `},"messages":[
		{"role":"system","content":"s"},{"role":"user","content":"u"},
		{"role":"assistant","content":"c","tool_calls":[],"extra":{"actions":[],"response":{"usage":{"completion_tokens":2,"prompt_tokens":1000,"total_tokens":1002}},"cost":0.25}},
		{"role":"tool","content":"o","extra":{"returncode":0}},
		{"object":"response","usage":{"input_tokens":100,"output_tokens":3},"extra":{"actions":[]}},
		{"role":"user","content":"e","extra":{"interrupt_type":"FormatError","cost":0.25,"response":{"usage":{"completion_tokens":4,"prompt_tokens":65}}}},
		{"role":"user","content":"e","extra":{"interrupt_type":"FormatError","response":"repr of it"}},
		{"role":"exit","content":"","extra":{}}],"trajectory_format":"mini-swe-agent-1.1"}`
}
