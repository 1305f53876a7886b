package schemas

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rerun is one run by which a published task is proved again.
type Rerun struct {
	// Answer is what is run; its Model is the state.
	Answer Prediction `json:"answer"`
	State  Answered   `json:"state"`
	Clock  WallClock  `json:"clock"`
	Date   string     `json:"date"`   // of the system's clock, YYYY-MM-DD in UTC
	Number int        `json:"number"` // from 1, of those of its task, state, clock and date
	// Alone says that nothing else may run meanwhile: tests of its repository disagree with themselves.
	Alone bool `json:"alone,omitempty"`
}

// ID names a run among all of a dataset.
func (r Rerun) ID() string {
	return fmt.Sprintf("%s@%s.%s.%s.%d", r.Answer.Instance, r.Date, r.State, r.Clock, r.Number)
}

// Answered is what a task is run with when it is proved again.
type Answered string

// The answers: the task's own patch, one that does nothing, and one that does nothing but forge results.
const (
	AnsweredGold   Answered = "gold"
	AnsweredNop    Answered = "nop"
	AnsweredForged Answered = "forged"
)

// WallClock is the clock of a run: the system's own, or one that is so many days ahead ("+400d").
type WallClock string

// OwnClock is the system's.
const OwnClock WallClock = "own"

// mostDays bounds a shift: what counts seconds in 32 bits ends in 2038.
const mostDays = 3650

// Days are how many days the clock is ahead, 0 for the system's own.
func (c WallClock) Days() (int, error) {
	if c == OwnClock {
		return 0, nil
	}
	text, plus := strings.CutPrefix(string(c), "+")
	text, days := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(text)
	if !plus || !days || err != nil || n < 1 || n > mostDays {
		return 0, fmt.Errorf("%q is no clock: %s, or days ahead as in +400d (1 to %d)", string(c), OwnClock, mostDays)
	}
	return n, nil
}

// Reproof is what such a run came to: a line of reproof.jsonl. It holds measured time, and so lies
// outside of every digest.
type Reproof struct {
	Task string `json:"instance_id"`
	// Ground is the task without its lists and Lists its lists: a run counts for a row that has both.
	Ground Digest    `json:"ground"`
	Lists  Digest    `json:"lists"`
	Date   string    `json:"date"`
	Clock  WallClock `json:"clock"`
	By     string    `json:"by,omitempty"` // how the clock was set ahead
	State  Answered  `json:"state"`
	Number int       `json:"number"`
	End    RerunEnd  `json:"outcome"`
	// FailToPass and PassToPass are tests that did otherwise than the row says: with gold those that did not
	// pass; with nop the FAIL_TO_PASS tests that passed.
	FailToPass []string `json:"fail_to_pass,omitempty"`
	PassToPass []string `json:"pass_to_pass,omitempty"`
	Detail     string   `json:"detail,omitempty"` // of an end that no test explains
	Log        Digest   `json:"log,omitempty"`    // of the last run; the log is in the store
	Machine    string   `json:"machine"`          // system, processors, memory, sandbox
	Program    string   `json:"program"`          // benchmint's version
	Seconds    float64  `json:"seconds"`          // inside of the tests' commands
}

// ID names the run, as Rerun's.
func (r Reproof) ID() string {
	return Rerun{Answer: Prediction{Instance: r.Task}, State: r.State, Clock: r.Clock, Date: r.Date, Number: r.Number}.ID()
}

// Validate names what no line can be.
func (r Reproof) Validate() error {
	if r.Task == "" || r.Ground == "" || r.Lists == "" || r.Number < 1 {
		return fmt.Errorf("run %d of %q: instance_id, ground, lists and number are needed", r.Number, r.Task)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return fmt.Errorf("date %q is not YYYY-MM-DD", r.Date)
	}
	if _, err := r.Clock.Days(); err != nil {
		return err
	}
	switch r.State {
	case AnsweredGold, AnsweredNop, AnsweredForged:
	default:
		return fmt.Errorf("state %q is none of gold, nop, forged", r.State)
	}
	switch r.End {
	case RerunPasses, RerunFails, RerunNoEnvironment, RerunNotShifted, RerunNoForgery:
		return nil
	}
	return fmt.Errorf("outcome %q is none of passes, fails, no_environment, not_shifted, no_forgery", r.End)
}

// RerunEnd is how a run ended. A fault of the machine is none: it has no line.
type RerunEnd string

// The ends.
const (
	RerunPasses        RerunEnd = "passes" // every listed test passes
	RerunFails         RerunEnd = "fails"
	RerunNoEnvironment RerunEnd = "no_environment" // it can no longer be built
	RerunNotShifted    RerunEnd = "not_shifted"    // the clock could not be set ahead: nothing is seen
	RerunNoForgery     RerunEnd = "no_forgery"     // no code is known that could forge its results: nothing is run
)
