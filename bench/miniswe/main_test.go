package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/output"
)

// TestScript asks each model as mini-swe-agent 2.4.6 does, up to its submission.
func TestScript(t *testing.T) {
	t.Parallel()
	d, err := output.Read("../../output/testdata/format2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		model, task string
		statuses    []int // of the first requests
		last        string
	}{
		{gold, d.Rows[0].ProblemStatement, []int{200, 200, 200, 200, 200}, submit},
		{nop, d.Rows[0].ProblemStatement, []int{200, 200, 200, 200, 200}, submit},
		{endless, d.Rows[0].ProblemStatement, []int{200, 200, 200, 200, 200, 200, 200}, look},
		{faulty, d.Rows[0].ProblemStatement, []int{200, 500, 500, 500, 429, 200, 200, 200, 200, 200}, submit},
		{"other", d.Rows[0].ProblemStatement, []int{404}, ""},
		{gold, "another task", []int{404}, ""},
	} {
		t.Run(tc.model, func(t *testing.T) {
			t.Parallel()
			s, err := newScript(d)
			if err != nil {
				t.Fatal(err)
			}
			server := llmtest.Start(s.answer)
			defer server.Close()
			talk := []any{map[string]string{"role": "system", "content": "s"}, map[string]string{"role": "user", "content": "<pr_description>\n" + tc.task + "\n</pr_description>"}}
			var statuses []int
			last := ""
			for range tc.statuses {
				status, said := ask(t, server.Base(), tc.model, talk)
				statuses = append(statuses, status)
				if len(said.ToolCalls) == 0 {
					continue // the agent asks again
				}
				var arguments struct{ Command string }
				if err := json.Unmarshal([]byte(said.ToolCalls[0].Function.Arguments), &arguments); err != nil || said.ToolCalls[0].Function.Name != "bash" {
					t.Fatalf("%+v: %v", said, err)
				}
				last = arguments.Command
				talk = append(talk, said, map[string]string{"role": "tool", "tool_call_id": said.ToolCalls[0].ID, "content": "<returncode>0</returncode>"})
			}
			if diff := cmp.Diff(tc.statuses, statuses); diff != "" || last != tc.last {
				t.Errorf("last %q; %s", last, diff)
			}
		})
	}
}

type message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func ask(t *testing.T, base, model string, talk []any) (int, message) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": model, "messages": talk, "tools": []any{map[string]string{"type": "function"}}, "parallel_tool_calls": true})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var in struct{ Choices []struct{ Message message } }
	if err := json.NewDecoder(resp.Body).Decode(&in); err != nil {
		t.Fatal(err)
	}
	if len(in.Choices) == 0 {
		return resp.StatusCode, message{}
	}
	return resp.StatusCode, in.Choices[0].Message
}

// TestCommands runs the commands of an answer in a repository: they submit the very patch, whatever its length.
func TestCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("a line of a long file\n", 10000)
	patch := "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,10000 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(long, "\n"), "\n", "\n+") + "\n"
	said := ""
	for i, command := range append([]string{"git init -q tree"}, commands([]byte(patch))...) {
		cmd := exec.Command("bash", "-c", strings.ReplaceAll(command, "/tmp/", dir+"/"))
		if cmd.Dir = dir; i > 0 {
			cmd.Dir = filepath.Join(dir, "tree")
		}
		out, err := cmd.Output()
		if err != nil && command != look { // nothing is committed there
			t.Fatalf("%.80s: %v", command, err)
		}
		said = string(out)
	}
	body, ok := strings.CutPrefix(said, "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n")
	if !ok || !strings.HasSuffix(body, patch[strings.Index(patch, "--- "):]) {
		t.Errorf("submitted %.300q", said)
	}
	if written, err := os.ReadFile(filepath.Join(dir, "tree", "new")); err != nil || string(written) != long {
		t.Errorf("%d bytes, %v", len(written), err)
	}
}
