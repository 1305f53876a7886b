package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Case is what a client is given to judge.
type Case string

// The cases. A client has to resolve the first for every task, and the others for none.
const (
	Gold   Case = "gold"   // the task's own patch
	Nop    Case = "nop"    // nothing, or a file without meaning
	Forged Case = "forged" // a patch, or an agent, that writes results itself
)

// Cases are all of them, in order.
var Cases = []Case{Gold, Nop, Forged}

// Task is one task of a folder that a client reads.
type Task struct {
	ID     string
	Split  string
	Gold   []byte
	Forged []byte // a patch whose code prints results and leaves
}

// Verdict is what a client said of one task in one case.
type Verdict struct {
	ID       string `json:"instance_id"`
	Case     Case   `json:"case"`
	Resolved bool   `json:"resolved"`
	Fault    string `json:"fault,omitempty"` // why there is no verdict
}

// Holds reports whether a verdict is the one that a sound task gets.
func (v Verdict) Holds() bool { return v.Fault == "" && v.Resolved == (v.Case == Gold) }

// Judged is what a client said of all tasks.
type Judged struct {
	Client   string    `json:"client"`
	Verdicts []Verdict `json:"verdicts"`
}

// Count gives how many verdicts of a case hold, and how many tasks have no verdict.
func (j Judged) Count(c Case) (hold, faults int) {
	for _, v := range j.Verdicts {
		switch {
		case v.Case != c:
		case v.Fault != "":
			faults++
		case v.Holds():
			hold++
		}
	}
	return hold, faults
}

// nopPatch adds a file without meaning: SWE-bench never runs an empty patch.
const nopPatch = "diff --git a/benchmint_nop b/benchmint_nop\nnew file mode 100644\n--- /dev/null\n+++ b/benchmint_nop\n@@ -0,0 +1 @@\n+nothing\n"

// Ready gets a client and looks for what it calls, before anything dear is done for it.
// ErrNoClient, ErrNoTool.
func Ready(ctx context.Context, name string, o Options) error {
	if name == HarborName {
		if err := compose(ctx, o.Env); err != nil {
			return err
		}
	}
	_, err := clients()[name].get(ctx, o)
	return err
}

// Judges are the names of the clients that judge tasks.
var Judges = []string{SWEBenchName, HarborName}

// Judge has the tasks of a folder judged by the client of that name, one of Judges, which
// is ready. Their images are there. A task without a verdict has a fault.
func Judge(ctx context.Context, name, dir string, tasks []Task, o Options) (Judged, error) {
	out := Judged{Client: clients()[name].versions()}
	bin, err := clients()[name].get(ctx, o)
	if err != nil {
		return out, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return out, err
	}
	for _, c := range Cases {
		if name == HarborName {
			err = out.harbor(ctx, bin, dir, c, tasks, o)
		} else {
			err = out.swebench(ctx, bin, dir, c, tasks, o)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// swebench judges one case with SWE-bench, split by split.
func (j *Judged) swebench(ctx context.Context, bin, dir string, c Case, all []Task, o Options) error {
	env := append(slices.Clone(o.Env), "HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1", "PYTHONPATH=")
	for len(all) > 0 {
		split := all[0].Split
		tasks := slices.DeleteFunc(slices.Clone(all), func(t Task) bool { return t.Split != split })
		all = slices.DeleteFunc(slices.Clone(all), func(t Task) bool { return t.Split == split })
		if err := j.sweSplit(ctx, env, bin, filepath.Join(dir, split+".parquet"), c, tasks, o); err != nil {
			return err
		}
	}
	return nil
}

func (j *Judged) sweSplit(ctx context.Context, env []string, bin, rows string, c Case, tasks []Task, o Options) error {
	work, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	patches, err := predictions(c, tasks)
	if err != nil {
		return err
	}
	file := filepath.Join(work, "predictions.jsonl")
	if err := os.WriteFile(file, patches, 0o600); err != nil {
		return err
	}
	argv := []string{"eval", rows, "-p", file, "--run-id", "benchmint", "-j", fmt.Sprint(max(1, o.Jobs)), "--report-dir", work}
	stop := o.counted(ctx, string(c), len(tasks), filepath.Join(work, "logs", "run_evaluation", "benchmint", string(c), "*", "report.json"))
	said, err := inFolder(ctx, work, append(env[:len(env):len(env)], "HF_HOME="+filepath.Join(work, "hf")), filepath.Join(bin, "swebench"), argv...)
	stop()
	if err != nil {
		return err
	}
	verdicts, err := sweVerdicts(filepath.Join(work, string(c)+".benchmint.json"), c, tasks)
	if err != nil {
		return fmt.Errorf("reading the report of SWE-bench: %w: %s", err, lastOf(said))
	}
	j.Verdicts = append(j.Verdicts, verdicts...)
	return nil
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

// harbor judges one case with Harbor: by its oracle, by an agent that does nothing, and by
// one that writes the reward, and goes on writing it.
func (j *Judged) harbor(ctx context.Context, bin, dir string, c Case, tasks []Task, o Options) error {
	work, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	// It would ask for prices of models, and for a while.
	env := append(slices.Clone(o.Env), "LITELLM_LOCAL_MODEL_COST_MAP=True", "HARBOR_TELEMETRY=off", "PYTHONPATH=")
	agent := "oracle"
	switch c {
	case Gold:
	case Nop:
		agent = "nop"
	case Forged:
		from := filepath.Join(work, "tasks")
		if err := forgers(dir, from, tasks); err != nil {
			return err
		}
		dir = from
	}
	argv := []string{"run", "-p", dir, "-a", agent, "-o", work, "--job-name", "job", "-n", fmt.Sprint(max(1, o.Jobs)), "-q", "-y"}
	stop := o.counted(ctx, string(c), len(tasks), filepath.Join(work, "job", "*", "result.json"))
	said, err := inFolder(ctx, work, env, filepath.Join(bin, "harbor"), argv...)
	stop()
	if err != nil {
		return err
	}
	verdicts, err := harborVerdicts(filepath.Join(work, "job"), c, tasks)
	if err != nil {
		return fmt.Errorf("reading the results of Harbor: %w: %s", err, lastOf(said))
	}
	j.Verdicts = append(j.Verdicts, verdicts...)
	return nil
}

// ErrNoTool is a program beside the client that this machine does not have.
var ErrNoTool = errors.New("a tool of the client is missing")

// compose finds the second generation of compose, which Harbor calls.
func compose(ctx context.Context, env []string) error {
	const get = "apt-get install docker-compose-plugin (of Docker's packages), or docker-compose of Debian 13 or newer"
	// By a shell: the program is looked for in the client's own PATH.
	if _, err := run(ctx, env, "/bin/sh", "-c", "docker compose version"); err != nil {
		return fmt.Errorf("%w: Harbor starts containers with docker compose: %w; %s", ErrNoTool, err, get)
	}
	return nil
}

// forges is the oracle's script of the agent that writes the reward. Who reads the reward
// in its container, or waits for it there, finds it.
const forges = `#!/bin/bash
cd /testbed && git apply --whitespace=nowarn /solution/forged.patch
mkdir -p /logs/verifier
write() { echo '{"reward": 1}' >/logs/verifier/reward.json; echo 1 >/logs/verifier/reward.txt; }
write
(while sleep 0.2; do write; done) </dev/null >/dev/null 2>&1 &
`

// forgers copies the tasks with another solution.
func forgers(dir, to string, tasks []Task) error {
	for _, t := range tasks {
		solution := filepath.Join(to, t.ID, "solution")
		err := errors.Join(
			os.CopyFS(filepath.Join(to, t.ID), os.DirFS(filepath.Join(dir, t.ID))),
			os.WriteFile(filepath.Join(solution, "solve.sh"), []byte(forges), 0o755),
			os.WriteFile(filepath.Join(solution, "forged.patch"), t.Forged, 0o644),
			os.Remove(filepath.Join(solution, "gold.patch")),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// harborVerdicts reads the results of a job: the exit code of the client says nothing.
func harborVerdicts(job string, c Case, tasks []Task) ([]Verdict, error) {
	files, err := filepath.Glob(filepath.Join(job, "*", "result.json"))
	if err != nil {
		return nil, err
	}
	seen := map[string]Verdict{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r struct {
			Name      string `json:"task_name"`
			Exception *struct {
				Type    string `json:"exception_type"`
				Message string `json:"exception_message"`
			} `json:"exception_info"`
			Verifier *struct {
				Rewards map[string]float64 `json:"rewards"`
			} `json:"verifier_result"`
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		v := Verdict{Case: c, ID: r.Name[strings.LastIndexByte(r.Name, '/')+1:]}
		switch {
		case r.Exception != nil:
			v.Fault = r.Exception.Type + ": " + ending(r.Exception.Message) // which ends with what a program said
		case r.Verifier == nil:
			v.Fault = "Harbor gives no verdict"
		default:
			v.Resolved = r.Verifier.Rewards["reward"] == 1
		}
		seen[v.ID] = v
	}
	var out []Verdict
	for _, t := range tasks {
		v, ok := seen[t.ID]
		if !ok { // it leaves out what it cannot read without a word
			v = Verdict{ID: t.ID, Case: c, Fault: "Harbor did not run it"}
		}
		out = append(out, v)
	}
	return out, nil
}

// counted says every half minute how many results there are, until stop.
func (o Options) counted(ctx context.Context, what string, of int, pattern string) (stop func()) {
	const often = 30 * time.Second
	o.say("%s: %d tasks", what, of)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(often)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				done, _ := filepath.Glob(pattern) // a folder that is not there yet has none
				o.say("%s: %d of %d", what, len(done), of)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// inFolder runs a client, which writes its logs where it is started. A client that is ended
// takes what it has started with it.
func inFolder(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	const patience = time.Minute
	cmd.WaitDelay = patience
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return out, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, lastOf(out))
	}
	return out, nil
}

func lastOf(b []byte) string {
	const most = 2000
	return cut(string(b), most)
}

func ending(s string) string {
	const most = 400
	return cut(s, most)
}

// cut is the end of a text, of so many bytes.
func cut(s string, most int) string {
	s = strings.TrimSpace(s)
	return strings.ToValidUTF8(s[max(0, len(s)-most):], "")
}
