package schemas

import (
	"encoding/json"
	"time"
)

// StepState is where a step stands; the words on disk (engine, section 2).
type StepState string

// The states.
const (
	StepDone        StepState = "done"
	StepRejected    StepState = "rejected"
	StepDeferred    StepState = "deferred"
	StepFailed      StepState = "failed"
	StepInterrupted StepState = "interrupted" // an end of a run, never stored
)

// The states of a step that no stage gives: where it stands between its ends.
const (
	StepReady   StepState = "ready"
	StepRunning StepState = "running"
	StepWaiting StepState = "waiting" // for a shared build
	StepHeld    StepState = "held"    // input of the drain
)

// Step is one record at one stage, as it is stored.
type Step struct {
	Stage       string    `json:"stage"`
	Key         string    `json:"key"` // ID of the input
	State       StepState `json:"state"`
	Fingerprint Digest    `json:"fingerprint"` // of the stage that settled it
	Input       Digest    `json:"input"`       // of the input record
	Outputs     []Output  `json:"outputs,omitempty"`
	Reason      Reason    `json:"reason,omitempty"`
	Detail      string    `json:"detail,omitempty"` // the chain of causes
	// Evidence is the blob of what a reject rests on: a proof as far as it came.
	Evidence Digest `json:"evidence,omitempty"`
	Parent   string `json:"parent,omitempty"` // key of the step that made the input
	// Record is the input; Share is the build that the step needs.
	Record json.RawMessage `json:"record,omitempty"`
	Share  string          `json:"share,omitempty"`
	// Attempts counts claims, Deferrals how often it was put off, Crashes how often a
	// process died over it.
	Attempts  int       `json:"attempts,omitempty"`
	Deferrals int       `json:"deferrals,omitempty"`
	Crashes   int       `json:"crashes,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Cost      float64   `json:"cost,omitempty"`
	// Provenance stands beside the result: who made it, with what; never digested.
	Provenance json.RawMessage `json:"provenance,omitempty"`
	// MS is the measured time in milliseconds. It is never part of a digest.
	MS int64 `json:"ms"`
	// Again asks for one more try, whatever the state (retry).
	Again bool `json:"again,omitempty"`
}

// Output is the one record that a step made, whatever the stages that took it; false
// where it made none, or several.
func (s Step) Output() (Output, bool) {
	for _, o := range s.Outputs {
		if o.Key != s.Outputs[0].Key {
			return Output{}, false
		}
	}
	if len(s.Outputs) == 0 {
		return Output{}, false
	}
	return s.Outputs[0], true
}

// Output is one record that a step made.
type Output struct {
	// To is the stage that took it: what several stages took is there once for each.
	To     string          `json:"to,omitempty"`
	Key    string          `json:"key"`
	Digest Digest          `json:"digest"`
	Record json.RawMessage `json:"record"`
}
