package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
)

// askingRun is a repository of six changes that a model is asked about, and a store.
type askingRun struct {
	repo, dir string
	server    *llmtest.Server
}

func newAskingRun(t *testing.T, answer func(llmtest.Asked) llmtest.Reply) *askingRun {
	t.Helper()
	r := &askingRun{gitrepotest.New(t, killedHistory()), t.TempDir(), llmtest.Start(answer)}
	t.Cleanup(r.server.Close)
	return r
}

// run runs a verb, and gives its code with what it says.
func (r *askingRun) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "benchmint", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(r.dir, "cache"), "BENCHMINT_FILTERS_MODIFIES_ONLY=false",
		"BENCHMINT_MODEL_NAME=small", "BENCHMINT_MODEL_ENDPOINT="+r.server.Base(), "BENCHMINT_MODEL_PRICES={small: {input: 1, output: 2}}")
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

func (r *askingRun) classify(t *testing.T, args ...string) (int, string) {
	t.Helper()
	return r.run(t, append([]string{"run", r.repo, "--until", "classify", "--wait", "0s"}, args...)...)
}

// questions are those to the endpoint, but for probes.
func (r *askingRun) questions() (n int) {
	for _, a := range r.server.Asked() {
		if !a.Probe() {
			n++
		}
	}
	return n
}

// What is wrong with an endpoint is said before the work begins, by one question; what it cannot
// do now is no reason not to begin.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	const label = `{"quote": "Areas", "label": "improvement", "suspicious": false}`
	said := func(status int, text string) llmtest.Reply {
		return llmtest.Reply{Status: status, Body: `{"error":{"message":"` + text + `"}}`}
	}
	for _, tc := range []struct {
		name   string
		says   llmtest.Reply
		code   int
		words  string
		probes int // with the ladder
		asked  int
	}{
		{"good", llmtest.Reply{Text: label}, exitOK, "models   small: 6 questions, 6 useful\n", 1, 6},
		{"fenced", llmtest.Reply{Text: "<think>{</think>```json\n" + label + "\n```"}, exitOK, "models   small: 6 questions, 6 useful\n", 1, 6},
		{"quotes_nothing", llmtest.Reply{Text: strings.Replace(label, "Areas", "Volumes", 1)}, exitOK, "models   small: 6 questions, 0 useful, 6 refused (6 classify/quote)\n", 1, 6},
		{"no_json", llmtest.Reply{Text: "An improvement."}, exitDeferred, "10 answers of the model in a row were of no use; model.name: another model may do better, and model.useless: rules", 1, llm.Patience},
		{"cut", llmtest.Reply{Text: `{"quote": "Are`, Finish: "length"}, exitOK, "models   small: 6 questions, 0 useful, 6 refused (6 length)\n", 1, 6},
		{"empty", llmtest.Reply{Text: " "}, exitOK, "6 refused (6 empty)\n", 1, 6},
		{"reads_too_little", said(400, "This model's maximum context length is 8 tokens"), exitUsage, "model.name: small reads too little", 1, 0},
		{"no_model", said(404, "The model `small` does not exist"), exitUsage, "model.name: ", 1, 0},
		{"no_path", llmtest.Reply{Status: 404, Body: "404 page not found"}, exitUsage, "model.endpoint: ", 1, 0},
		{"page", llmtest.Reply{Body: "<html>Welcome</html>"}, exitUsage, "model.endpoint: ", 1, 0},
		{"key", said(401, "who are you?"), exitUsage, "OPENAI_API_KEY", 1, 0},
		{"template", said(400, "the chat template fails"), exitUsage, "model.name: ", 13, 0},
		{"loading", said(503, "Loading model"), exitDeferred, "models   small does not answer: what needs it is put off (", 1, 1},
		{"no_quota", said(402, "pay"), exitDeferred, "models   small does not answer: what needs it is put off (", 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newAskingRun(t, func(llmtest.Asked) llmtest.Reply { return tc.says })
			code, out := r.classify(t)
			if code != tc.code || !strings.Contains(out, tc.words) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, tc.code, tc.words, out)
			}
			if probes := len(r.server.Asked()) - r.questions(); probes != tc.probes || r.questions() != tc.asked {
				t.Errorf("%d probes and %d questions, want %d and %d", probes, r.questions(), tc.probes, tc.asked)
			}
			before := len(r.server.Asked())
			if code, out := r.run(t, "run", r.repo, "--until", "link"); code != exitOK || len(r.server.Asked()) != before {
				t.Errorf("a run that asks nobody: exit code %d, %d questions:\n%s", code, len(r.server.Asked())-before, out)
			}
		})
	}
}

// Ten answers of no use in a row end the asking, with most of the money left; status and show say
// so. The same command asks at once for what waits; with model.useless: rules the rules go on.
func TestUseless(t *testing.T) {
	t.Parallel()
	r := newAskingRun(t, func(a llmtest.Asked) llmtest.Reply {
		if a.Probe() {
			return llmtest.Reply{Text: `{"here": true}`}
		}
		return llmtest.Reply{Text: "I think that it is an <improvement>."}
	})
	code, out := r.classify(t)
	if code != exitDeferred || r.questions() != llm.Patience || !strings.Contains(out, "models   small: 10 questions, 0 useful, 10 refused (10 not JSON)\n") ||
		!strings.Contains(out, "next     another model (--set model.name=NAME), or --set model.useless=rules") {
		t.Errorf("exit code %d after %d questions:\n%s", code, r.questions(), out)
	}
	if _, out := r.run(t, "status"); !strings.Contains(out, "models   small: 10 questions, 0 useful, 10 refused (10 not JSON)\n") || !strings.Contains(out, "probe            small                        1 ") {
		t.Errorf("status:\n%s", out)
	}
	if _, out := r.run(t, "show", "6"); !strings.Contains(out, "small: 2 questions, 0 useful, 2 refused (2 not JSON)\n") || strings.Count(out, "refused  not JSON: not JSON: answer to ") != 2 ||
		!strings.Contains(out, "I think that it is an <improvement>.") {
		t.Errorf("show:\n%s", out)
	}
	if code, out = r.classify(t); code != exitOK || r.questions() != llm.Patience+2 {
		t.Errorf("the same again: exit code %d after %d questions:\n%s", code, r.questions(), out)
	}
	code, out = r.classify(t, "--set", "model.useless=rules", "--store", "other")
	if code != exitOK || !strings.Contains(out, "10 refused (10 not JSON)") || !strings.Contains(out, "7 rejected, 0 deferred") || r.questions() != 2*llm.Patience+2 {
		t.Errorf("with the rules: exit code %d after %d questions:\n%s", code, r.questions(), out)
	}
}

// A server that gives one answer after another is asked one question at a time once one was late;
// of one that is always late each question is sent twice, and booked.
func TestSlow(t *testing.T) {
	t.Parallel()
	t.Run("serial", func(t *testing.T) {
		t.Parallel()
		var one sync.Mutex
		r := newAskingRun(t, func(llmtest.Asked) llmtest.Reply {
			one.Lock()
			defer one.Unlock()
			time.Sleep(time.Second)
			return llmtest.Reply{Text: `{"quote": "Areas", "label": "improvement", "suspicious": false}`}
		})
		code, out := r.classify(t, "--set", "model.timeout=3500ms", "--set", "model.parallel=4")
		if code != exitOK || !strings.Contains(out, "6 wanted") || r.questions() > 12 {
			t.Errorf("exit code %d after %d questions:\n%s", code, r.questions(), out)
		}
	})
	t.Run("always", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		r := newAskingRun(t, func(llmtest.Asked) llmtest.Reply { <-hold; return llmtest.Reply{} })
		t.Cleanup(func() { close(hold) })
		code, out := r.classify(t, "--set", "model.timeout=1s")
		if code != exitDeferred || r.questions() != llm.Patience || !strings.Contains(out, "models   small: 10 questions, 0 useful, 10 refused (10 slow)\n") {
			t.Errorf("exit code %d after %d questions:\n%s", code, r.questions(), out)
		}
	})
}
