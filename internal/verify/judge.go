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

// judge is a client that judges tasks.
type judge struct {
	name   string
	format string // that it reads
	cases  []Case
	// needs finds what it calls beside its own programs: ErrNoTool.
	needs func(ctx context.Context, env []string) error
	// judge gives the verdicts of one case. bin is the folder of its programs.
	judge func(ctx context.Context, bin, dir string, c Case, tasks []Task, o Options) ([]Verdict, error)
}

func judges() []judge {
	nothing := func(context.Context, []string) error { return nil }
	return []judge{
		{SWEBenchName, SWEBenchName, Cases, nothing, swebench},
		{HarborName, HarborName, Cases, compose, harbor},
		// Its tests run where the agent was, as root: nothing there stops one that forges.
		{InspectName, HarborName, []Case{Gold, Nop}, inspectNeeds, inspect},
	}
}

func judgeOf(name string) judge {
	all := judges()
	return all[slices.IndexFunc(all, func(j judge) bool { return j.name == name })]
}

// Judges are the names of the clients that judge tasks.
var Judges = []string{SWEBenchName, HarborName, InspectName}

// FormatOf is the format that a client reads: its own name, but for Inspect, which reads
// Harbor's tasks.
func FormatOf(name string) string {
	if slices.Contains(Judges, name) {
		return judgeOf(name).format
	}
	return name
}

// CasesOf are those that a client, one of Judges, is given, in order.
func CasesOf(name string) []Case { return judgeOf(name).cases }

// Ready gets a client and looks for what it calls, before anything dear is done for it.
// ErrNoClient, ErrNoTool.
func Ready(ctx context.Context, name string, o Options) error {
	if slices.Contains(Judges, name) {
		if err := judgeOf(name).needs(ctx, o.Env); err != nil {
			return err
		}
	}
	_, err := clients()[name].get(ctx, o)
	return err
}

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
	by := judgeOf(name)
	for _, c := range by.cases {
		verdicts, err := by.judge(ctx, bin, dir, c, tasks, o)
		if err != nil {
			return out, err
		}
		out.Verdicts = append(out.Verdicts, verdicts...)
	}
	return out, nil
}

// results reads what a client wrote of each task, a file of JSON each, and gives the verdicts
// in the order of the tasks. A client may leave out what it cannot read, without a word.
func results[R interface{ verdict() Verdict }](client, pattern string, c Case, tasks []Task) ([]Verdict, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	seen := map[string]Verdict{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r R
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		v := r.verdict()
		v.Case, v.ID = c, v.ID[strings.LastIndexByte(v.ID, '/')+1:]
		seen[v.ID] = v
	}
	var out []Verdict
	for _, t := range tasks {
		v, ok := seen[t.ID]
		if !ok {
			v = Verdict{ID: t.ID, Case: c, Fault: client + " did not run it"}
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
