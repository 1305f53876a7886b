package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// harbor judges one case with Harbor: by its oracle, by an agent that does nothing, and by
// one that writes the reward, and goes on writing it.
func harbor(ctx context.Context, bin, dir string, c Case, tasks []Task, o Options) ([]Verdict, error) {
	work, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return nil, err
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
			return nil, err
		}
		dir = from
	}
	argv := []string{"run", "-p", dir, "-a", agent, "-o", work, "--job-name", "job", "-n", fmt.Sprint(max(1, o.Jobs)), "-q", "-y"}
	stop := o.counted(ctx, string(c), len(tasks), filepath.Join(work, "job", "*", "result.json"))
	said, err := inFolder(ctx, work, env, filepath.Join(bin, "harbor"), argv...)
	stop()
	if err != nil {
		return nil, err
	}
	verdicts, err := results[harborResult]("Harbor", filepath.Join(work, "job", "*", "result.json"), c, tasks) // its exit code says nothing
	if err != nil {
		return nil, fmt.Errorf("reading the results of Harbor: %w: %s", err, lastOf(said))
	}
	return verdicts, nil
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

// harborResult is what a job says of one task.
type harborResult struct {
	Name      string `json:"task_name"`
	Exception *struct {
		Type    string `json:"exception_type"`
		Message string `json:"exception_message"`
	} `json:"exception_info"`
	Verifier *struct {
		Rewards map[string]float64 `json:"rewards"`
	} `json:"verifier_result"`
}

func (r harborResult) verdict() Verdict {
	v := Verdict{ID: r.Name}
	switch {
	case r.Exception != nil:
		v.Fault = r.Exception.Type + ": " + ending(r.Exception.Message) // which ends with what a program said
	case r.Verifier == nil:
		v.Fault = "Harbor gives no verdict"
	default:
		v.Resolved = r.Verifier.Rewards["reward"] == 1
	}
	return v
}
