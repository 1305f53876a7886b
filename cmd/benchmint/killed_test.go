package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
)

// The changes of the history, each of which is asked of twice: the first answer is not what
// the schema allows.
const killedChanges = 6

// killedOpen is how many questions are open at one time.
const killedOpen = 4

// killedHistory has changes that say nothing explicit.
func killedHistory() string {
	var b bytes.Buffer
	b.WriteString("-- commit: First widget --\ndate: 2024-01-10T10:00:00Z\n-- widget.py --\ndef area(width):\n    return width\n-- tests/test_widget.py --\ndef test_area():\n    assert True\n")
	for n := 1; n <= killedChanges; n++ {
		fmt.Fprintf(&b, "-- commit: Areas of side %d (#%d) --\ndate: 2024-02-%02dT10:00:00Z\n-- widget.py --\ndef area(width):\n    return width * %d\n-- tests/test_widget.py --\ndef test_area():\n    assert %d\n", n, n, n, n+1, n)
	}
	return b.String()
}

// killer is a model endpoint that ends the process that asks it. It gives one answer at a time,
// and the next one when the store has the last, so that what a killed process was told is known.
type killer struct {
	*llmtest.Server
	store string

	mu      sync.Mutex
	process *os.Process
	run     string          // key that the process sends
	ended   chan struct{}   // closed when the process is gone
	left    int             // questions until it kills
	after   bool            // it kills when the store has the answer, and not while it holds it
	dies    bool            // the kill is on its way: nobody is answered any more
	told    map[string]bool // questions that were answered
	counts  map[string]int
	lost    map[string]int // questions that a killed process sent and had no answer to
	cost    float64        // of the answers, at a dollar and two a million tokens
}

func (k *killer) answer(a llmtest.Asked) llmtest.Reply {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.Probe() {
		const here = `{"here": true}`
		k.cost += float64((len(a.System)+len(a.User))/4+2*(len(here)/4+1)) / 1e6
		return llmtest.Reply{Text: here}
	}
	text := a.User
	k.counts[text]++
	reply := llmtest.Reply{Text: `{"label": "bug", "quote": "Areas", "suspicious": false}`}
	if strings.Contains(a.User, "Your answer before was refused") {
		reply.Text = `{"label": "improvement", "quote": "Areas", "suspicious": false}`
	}
	if a.Key != k.run || k.dies {
		k.lost[text]++
		if a.Key == k.run {
			<-k.ended
		}
		return llmtest.Reply{Status: http.StatusServiceUnavailable} // to nobody
	}
	k.kept(len(k.told))
	k.left--
	if k.left == 0 && !k.after {
		k.dies = true
		k.lost[text]++
		k.kill()
		return llmtest.Reply{Status: http.StatusServiceUnavailable}
	}
	k.told[text] = true
	k.cost += float64((len(a.System)+len(a.User))/4+2*(len(reply.Text)/4+1)) / 1e6
	if k.left == 0 {
		k.dies = true
		go func(told int) {
			k.kept(told)
			k.kill()
		}(len(k.told))
	}
	return reply
}

// kill ends the process and waits until it is gone: nothing that is said later is heard.
func (k *killer) kill() {
	if err := k.process.Kill(); err != nil {
		panic(err) // the test would wait for a process that lives
	}
	<-k.ended
}

// kept waits until the store has so many answers.
func (k *killer) kept(n int) {
	const patience = time.Minute // machines are shared
	for start := time.Now(); n > 0; {
		answered, _, err := k.ledger()
		switch {
		case err == nil && answered >= n:
			return
		case err != nil || time.Since(start) > patience:
			panic(fmt.Sprintf("%d answers were given, the store has %d: %v", n, answered, err))
		}
	}
}

// ledger is how many answers the store has, and how many questions it says were sent.
func (k *killer) ledger() (answered, sent int, err error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(k.store, "steps.db")+"?mode=ro&_busy_timeout=10000")
	if err != nil {
		return 0, 0, err
	}
	err = db.QueryRow("SELECT count(*) FILTER (WHERE answered), coalesce(sum(sent), 0) FROM answer").Scan(&answered, &sent)
	return answered, sent, errors.Join(err, db.Close())
}

// A process is killed between an answer and the end of its step, five times: while a later
// question of the same step is open, and as soon as the answer is in the store. Each question
// is asked once, but for those that were open at a kill, whose answers never came: once more for
// each. The ledger has the money of each answer that came.
func TestKilled(t *testing.T) {
	t.Parallel()
	repo, dir := gitrepotest.New(t, killedHistory()), t.TempDir()
	k := &killer{store: filepath.Join(dir, "benchmint-state"), told: map[string]bool{}, counts: map[string]int{}, lost: map[string]int{}}
	k.Server = llmtest.Start(k.answer)
	defer k.Close()
	env := append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "BENCHMINT_FILTERS_MODIFIES_ONLY=false",
		"BENCHMINT_MODEL_NAME=small", "BENCHMINT_MODEL_ENDPOINT="+k.Base(), "BENCHMINT_MODEL_PRICES={small: {input: 1, output: 2}}", fmt.Sprint("BENCHMINT_MODEL_PARALLEL=", killedOpen))
	runs := 0
	run := func(left int, after bool, args ...string) (killed bool, stdout, stderr string) {
		t.Helper()
		runs++
		cmd := exec.CommandContext(t.Context(), "benchmint", args...)
		var out, said bytes.Buffer
		k.mu.Lock()
		k.run, k.left, k.after, k.dies, k.ended = fmt.Sprint("run-", runs), left, after, false, make(chan struct{})
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(env, modelKey+"="+k.run), &out, &said
		err := cmd.Start()
		k.process = cmd.Process
		ended := k.ended
		k.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
		}
		close(ended)
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() && !cmd.ProcessState.Success() {
			t.Fatalf("benchmint %v: %s\n%s", args, cmd.ProcessState, &said)
		}
		return status.Signaled(), out.String(), said.String()
	}
	all := []string{"run", repo, "--until", "classify", "--wait", "0s"}
	kills := []struct {
		left  int
		after bool
	}{{2, false}, {1, true}, {2, true}, {3, false}, {1, true}}
	for i, kill := range kills {
		if killed, _, said := run(kill.left, kill.after, all...); !killed {
			t.Fatalf("run %d came to its end:\n%s", i, said)
		}
	}
	if _, out, said := run(0, false, all...); !strings.Contains(out, "6 linked, 6 wanted") {
		t.Errorf("the last run:\n%s%s", out, said)
	}
	k.check(t, len(kills))
	_, out, _ := run(0, false, "status", "--json")
	var funnel []tally
	if err := json.Unmarshal([]byte(out), &funnel); err != nil {
		t.Fatal(err)
	}
	questions, cost := 0, 0.0
	for _, stage := range funnel {
		for _, x := range stage.Spent {
			questions, cost = questions+x.Questions, cost+x.Cost
		}
	}
	if came := 2*killedChanges + len(kills) + 1; questions != came || math.Abs(cost-k.cost) > 1e-9 {
		t.Errorf("status says %d questions for $%.6f; %d answers came, those to probes included, for $%.6f", questions, cost, came, k.cost)
	}
	if _, out, _ := run(0, false, "status"); !strings.Contains(out, fmt.Sprintf("\nmodels   $%.4f of $5.00 spent", k.cost)) {
		t.Errorf("the ledger's sum is not $%.4f:\n%s", k.cost, out)
	}
}

// check compares what was asked with what the store has.
func (k *killer) check(t *testing.T, kills int) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	asked, lost := 0, 0
	for text, n := range k.counts {
		if asked, lost = asked+n, lost+k.lost[text]; n != 1+k.lost[text] {
			t.Errorf("asked %d times, and %d times without an answer: …%s", n, k.lost[text], text[len(text)-300:])
		}
	}
	answered, sent, err := k.ledger()
	if err != nil || len(k.counts) != 2*killedChanges || answered != 2*killedChanges || lost < 2 {
		t.Errorf("%v: %d questions, %d of them lost; the store has %d answers", err, len(k.counts), lost, answered)
	}
	// An intent may be written and the process be gone before it sends: at each kill those that
	// are open at one time.
	if asked != len(slices.DeleteFunc(k.Asked(), llmtest.Asked.Probe)) || sent < asked || sent > asked+kills*killedOpen {
		t.Errorf("the store says that %d were sent, the endpoint counted %d", sent, asked)
	}
}
