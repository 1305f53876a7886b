package verify

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

//go:embed inspect.py
var inspectScript []byte

// inspectEngine is the oldest engine that Inspect works with: with an older one it ends
// without a word.
const inspectEngine = "24.0.6"

// inspectNeeds finds compose and looks at the engine's version.
func inspectNeeds(ctx context.Context, env []string) error {
	if err := compose(ctx, env); err != nil {
		return err
	}
	const get = "install docker-ce of Docker's packages, or docker.io of Debian 13 or newer"
	// By a shell: the program is looked for in the client's own PATH.
	out, err := run(ctx, env, "/bin/sh", "-c", "docker version --format '{{.Server.Version}}'")
	if err != nil {
		return fmt.Errorf("%w: no engine of Docker answers: %w; %s", ErrNoTool, err, get)
	}
	version := strings.TrimSpace(string(out))
	if semver.Compare("v"+version, "v"+inspectEngine) < 0 { // so is one that cannot be read
		return fmt.Errorf("%w: Inspect wants Docker's engine %s or newer, and %q answers; %s", ErrNoTool, inspectEngine, version, get)
	}
	return nil
}

// inspect judges one case with Inspect: by its oracle, or by a solver that does nothing.
func inspect(ctx context.Context, bin, dir string, c Case, tasks []Task, o Options) ([]Verdict, error) {
	work, err := os.MkdirTemp("", "benchmint-verify-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	script, answers := filepath.Join(work, "inspect.py"), filepath.Join(work, "answers")
	if err := os.WriteFile(script, inspectScript, 0o600); err != nil {
		return nil, err
	}
	if err := os.Mkdir(answers, 0o755); err != nil {
		return nil, err
	}
	env := append(o.Env[:len(o.Env):len(o.Env)], "PYTHONPATH=", "XDG_DATA_HOME="+filepath.Join(work, "data"))
	stop := o.counted(ctx, string(c), len(tasks), filepath.Join(answers, "*.json"))
	said, err := inFolder(ctx, work, env, filepath.Join(bin, "python"), script, dir, string(c), fmt.Sprint(max(1, o.Jobs)), filepath.Join(work, "logs"), answers)
	stop()
	if err != nil {
		return nil, err
	}
	verdicts, err := results[inspectResult]("Inspect", filepath.Join(answers, "*.json"), c, tasks)
	if err != nil {
		return nil, fmt.Errorf("reading the verdicts of Inspect: %w: %s", err, lastOf(said))
	}
	return verdicts, nil
}

// inspectResult is what the script wrote of one task.
type inspectResult struct {
	ID     string   `json:"id"`
	Fault  string   `json:"fault"`
	Reward *float64 `json:"reward"`
}

func (r inspectResult) verdict() Verdict {
	v := Verdict{ID: r.ID}
	switch {
	case r.Fault != "":
		v.Fault = ending(r.Fault)
	case r.Reward == nil:
		v.Fault = "Inspect gives no verdict"
	default:
		v.Resolved = *r.Reward == 1
	}
	return v
}
