// Command miniswe plays a model to mini-swe-agent, so that the way from a dataset to graded answers
// can be tried before a model costs money:
//
//	go run ./bench/miniswe DATASET bench/miniswe/run.sh DATASET openai/gold FOLDER
//
// While the command after the first DATASET runs, it answers OpenAI's chat API on this machine; the
// command gets the address, a key and a price by the variables that litellm reads. The name of the
// model says what is played:
//
//	gold     looks around and submits the task's own solution
//	nop      submits a file without meaning
//	endless  looks around and never submits
//	faulty   is gold with a server that fails, and one answer that calls no tool
//
// It never runs what it answers, and refuses what is not a task of the dataset.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/bench/internal/play"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/stages/grade"
)

func main() { play.Main("miniswe", run) }

func run(dataset string, argv []string) error {
	d, err := output.Read(dataset)
	if err != nil {
		return err
	}
	s, err := newScript(d)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "miniswe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	prices := filepath.Join(dir, "prices.json")
	if err := os.WriteFile(prices, price(), 0o600); err != nil {
		return err
	}
	return play.Command(s.answer, argv, "LITELLM_MODEL_REGISTRY_PATH="+prices, "LITELLM_LOCAL_MODEL_COST_MAP=True")
}

// The models that can be played.
const (
	gold    = "gold"
	nop     = "nop"
	endless = "endless"
	faulty  = "faulty"
)

// price is what litellm reads of the models' prices: dollars a token.
func price() []byte {
	out := map[string]any{}
	for _, model := range []string{gold, nop, endless, faulty} {
		out["openai/"+model] = map[string]any{"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5, "litellm_provider": "openai", "mode": "chat"}
	}
	b, _ := json.Marshal(out)
	return b
}

// script is what the models answer to the tasks of a dataset.
type script struct {
	statements map[string]string // by task
	patches    map[string][]byte // the solutions, by task

	mu    sync.Mutex
	tries map[string]int // requests for one turn of a faulty model's conversation
}

func newScript(d *output.Dataset) (*script, error) {
	s := &script{statements: map[string]string{}, patches: map[string][]byte{}, tries: map[string]int{}}
	for _, row := range d.Rows {
		patch, err := row.GoldPatch()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		s.statements[row.InstanceID], s.patches[row.InstanceID] = row.ProblemStatement, patch
	}
	return s, nil
}

// task is the one whose statement a conversation begins with; the longest, where one begins as another.
func (s *script) task(asked string) (id string) {
	for of, statement := range s.statements {
		if strings.Contains(asked, statement) && (id == "" || len(statement) > len(s.statements[id])) {
			id = of
		}
	}
	return id
}

// faults are what a faulty model answers to the first requests for its second turn. litellm asks three
// times before the agent hears of a fault, and asks again itself.
var faults = []llmtest.Reply{
	{Status: http.StatusInternalServerError, Body: `{"error":{"message":"played"}}`},
	{Status: http.StatusInternalServerError, Body: `{"error":{"message":"played"}}`},
	{Status: http.StatusInternalServerError, Body: `{"error":{"message":"played"}}`},
	{Status: http.StatusTooManyRequests, Body: `{"error":{"message":"played"}}`, Header: map[string]string{"Retry-After": "1"}},
	{Text: "I think without a tool."},
}

const (
	look   = "ls; git log --oneline; ls /sys/class/net"
	submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat /tmp/patch.txt"
)

func (s *script) answer(a llmtest.Asked) llmtest.Reply {
	task := s.task(a.User)
	patch := s.patches[task]
	switch {
	case task == "" || !slices.Contains([]string{gold, nop, endless, faulty}, a.Model):
		return play.Unknown("miniswe")
	case a.Model == endless:
		return llmtest.Reply{Text: "I look around.", Bash: look}
	case a.Model == nop:
		patch = []byte(grade.NopPatch)
	case a.Model == faulty && a.Turns == 1:
		s.mu.Lock()
		n := s.tries[task]
		s.tries[task]++
		s.mu.Unlock()
		if n < len(faults) {
			return faults[n]
		}
	}
	all := commands(patch)
	return llmtest.Reply{Text: fmt.Sprintf("Step %d.", a.Turns+1), Bash: all[min(a.Turns, len(all)-1)]}
}

// commands lead from a look around to a submission. No argument of a command is longer than Linux takes.
func commands(patch []byte) []string {
	const most = 60000 // bytes
	out := []string{look}
	for part := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(patch)), most) {
		out = append(out, "printf %s "+string(part)+" >>/tmp/answer")
	}
	return append(out,
		"base64 -d /tmp/answer | git apply --whitespace=nowarn && git add --intent-to-add .",
		"git diff --binary >/tmp/patch.txt; git status --short",
		submit)
}
