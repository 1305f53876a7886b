package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// nopPatch adds a file without meaning: SWE-bench never runs an empty patch.
const nopPatch = "diff --git a/benchmint_nop b/benchmint_nop\nnew file mode 100644\n--- /dev/null\n+++ b/benchmint_nop\n@@ -0,0 +1 @@\n+nothing\n"

// swebench judges one case with SWE-bench, split by split.
func swebench(ctx context.Context, bin, dir string, c Case, all []Task, o Options) (out []Verdict, err error) {
	env := append(slices.Clone(o.Env), "HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1", "PYTHONPATH=")
	for len(all) > 0 {
		split := all[0].Split
		tasks := slices.DeleteFunc(slices.Clone(all), func(t Task) bool { return t.Split != split })
		all = slices.DeleteFunc(slices.Clone(all), func(t Task) bool { return t.Split == split })
		verdicts, err := sweSplit(ctx, env, bin, filepath.Join(dir, split+".parquet"), c, tasks, o)
		if err != nil {
			return nil, err
		}
		out = append(out, verdicts...)
	}
	return out, nil
}

func sweSplit(ctx context.Context, env []string, bin, rows string, c Case, tasks []Task, o Options) ([]Verdict, error) {
	work, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	patches, err := predictions(c, tasks)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "predictions.jsonl")
	if err := os.WriteFile(file, patches, 0o600); err != nil {
		return nil, err
	}
	argv := []string{"eval", rows, "-p", file, "--run-id", "benchmint", "-j", fmt.Sprint(max(1, o.Jobs)), "--report-dir", work}
	stop := o.counted(ctx, string(c), len(tasks), filepath.Join(work, "logs", "run_evaluation", "benchmint", string(c), "*", "report.json"))
	said, err := sweRun(ctx, work, append(env[:len(env):len(env)], "HF_HOME="+filepath.Join(work, "hf")), filepath.Join(bin, "swebench"), argv)
	stop()
	if err != nil {
		return nil, err
	}
	verdicts, err := sweVerdicts(filepath.Join(work, string(c)+".benchmint.json"), c, tasks)
	if err != nil {
		return nil, fmt.Errorf("reading the report of SWE-bench: %w: %s", err, lastOf(said))
	}
	return verdicts, nil
}

// sweRun runs the client in a folder. At its end the client lists every image of the engine
// (docker-py asks for them one by one), and fails where another program deletes one meanwhile:
// that says nothing of a task, so the client is run again. It keeps the verdicts it has.
func sweRun(ctx context.Context, work string, env []string, swebench string, argv []string) (said []byte, err error) {
	const most = 5
	for range most {
		said, err = inFolder(ctx, work, env, swebench, argv...)
		if err == nil || !bytes.Contains(said, []byte("docker.errors.ImageNotFound")) || !bytes.Contains(said, []byte("return [self.get(r[")) {
			return said, err
		}
	}
	return said, err
}

func predictions(c Case, tasks []Task) ([]byte, error) {
	var out []byte
	for _, t := range tasks {
		patch := map[Case]string{Gold: string(t.Gold), Nop: nopPatch, Forged: string(t.Forged)}[c]
		line, err := json.Marshal(map[string]string{"instance_id": t.ID, "model_name_or_path": string(c), "model_patch": patch})
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// sweVerdicts reads the report: the exit code of the client is 0 whatever happened.
func sweVerdicts(file string, c Case, tasks []Task) ([]Verdict, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r struct {
		Resolved   []string `json:"resolved_ids"`
		Unresolved []string `json:"unresolved_ids"`
		Reasons    any      `json:"failure_reasons"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	var out []Verdict
	for _, t := range tasks {
		v := Verdict{ID: t.ID, Case: c, Resolved: slices.Contains(r.Resolved, t.ID)}
		if !v.Resolved && !slices.Contains(r.Unresolved, t.ID) {
			v.Fault = fmt.Sprintf("SWE-bench gives no verdict: %.300v", r.Reasons)
		}
		out = append(out, v)
	}
	return out, nil
}
