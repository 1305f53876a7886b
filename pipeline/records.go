package pipeline

import (
	"encoding/json"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// StageInfo is what a store has to know of one stage of a plan.
type StageInfo struct {
	Name        string
	Fingerprint schemas.Digest // of version, configuration, prompts, models, deciding tools
	// Next are the stages that take its outputs; none for the drain. Behind several the
	// plan forks, and where several name one stage, their branches meet.
	Next  Takers
	Build string // of a stage that shares: the name of its build stage
	Of    string // of a build stage: the stage that shares it
	Drain bool
	// Reads are earlier stages of whose output under the same key this stage makes
	// use beside its input: when such an output changes, the step is done again.
	Reads []string
	// Budget bounds deferrals; past it the step is Failed.
	Budget Budget
}

// Takers are names of stages.
type Takers []string

// UnmarshalJSON reads a list, or the one name that a store has which was made when a
// plan could not fork: no stage of it has another taker now.
func (t *Takers) UnmarshalJSON(text []byte) error {
	*t = nil
	var name string
	if json.Unmarshal(text, &name) != nil {
		return json.Unmarshal(text, (*[]string)(t))
	}
	if name != "" {
		*t = Takers{name}
	}
	return nil
}

// Budget bounds how often and how long a step may be put off; zero is no bound. A wait
// whose end a resource says (an hourly limit) does not count as long: only as often.
type Budget struct {
	Tries int
	Wait  time.Duration
}

// Made is one record on its way to the next stage.
type Made struct {
	Key string
	// To is the stage that takes it, one of StageInfo.Next; "" for a seed and for what a
	// build makes. A record that several stages take is there once for each.
	To string
	// Digest is of the fields that the next stage depends on.
	Digest schemas.Digest
	// Whole is of the whole record: what other stages read of it (StageInfo.Reads).
	Whole  schemas.Digest
	Record json.RawMessage
	// Share names the build that the next stage needs for it; "" for none.
	Share string
}

// Claim is a step that may run now.
type Claim struct {
	ID      int64
	Stage   string
	Key     string
	Record  json.RawMessage
	Digest  schemas.Digest
	Share   string
	Crashes int
	Attempt int // which claim of the step it is
	// Lost is why the record cannot be read; nil for most.
	Lost error
}

// Want is how many steps of a stage there is room for.
type Want struct {
	Stage string
	N     int
}

// Settlement ends one claimed step.
type Settlement struct {
	ID         int64
	Owner      string
	Attempt    int               // of the claim: an owner may have a step a second time before its first run ends
	State      schemas.StepState // done, rejected, deferred, failed
	Outputs    []Made            // of done
	Reason     schemas.Reason
	Detail     string
	Evidence   schemas.Digest
	NotBefore  time.Time
	Said       bool // the resource named NotBefore itself: the wait is not of the budget, the try is
	MS         int64
	Cost       float64 // of models and the like, in the currency of the configuration
	Provenance json.RawMessage
}

// Settled says what became of a settlement.
type Settled struct {
	// Lost says that the step was no longer the owner's: its result was dropped.
	Lost bool
	// Err is a fault of this settlement alone (two living parents made one key): the
	// step was booked as Failed with it.
	Err error
}

// Tally is how many steps of a stage stand in a state, for a reason.
type Tally struct {
	Stage  string            `json:"stage"`
	State  schemas.StepState `json:"state"`
	Reason schemas.Reason    `json:"reason,omitempty"`
	N      int               `json:"n"`
	Cost   float64           `json:"cost,omitempty"`
	MS     int64             `json:"ms,omitempty"`
}

// Resource is one limit that all steps share.
type Resource struct {
	Name        string    `json:"name"`
	PausedUntil time.Time `json:"paused_until,omitzero"`
	Spent       float64   `json:"spent"`
	Cap         float64   `json:"cap,omitempty"` // 0 means no limit
}

// BeginOptions begin a run.
type BeginOptions struct {
	Worker string // owns what it claims
	Stages []StageInfo
	// RetryCrashed tries steps again that ended the process five times.
	RetryCrashed bool
	// Until is the last stage of the run; "" is all of them. What stages have settled
	// that neither are it nor lead to it stands: it is neither compared with their
	// fingerprints nor tried again, and where its input changes it is kept until a run
	// comes to its stage.
	Until string
	// Away are stages whose steps are done on other machines: those that ran when the process
	// died are given out again as if they had not been, and no crash is booked.
	Away []string
}

// Answer is what a paid request came to. The intent is written before it is sent.
type Answer struct {
	Answered bool           `json:"answered"`
	Sent     int            `json:"sent"` // intents: more than one where a process died between
	Blob     schemas.Digest `json:"blob,omitempty"`
	Model    string         `json:"model,omitempty"`
	Input    int64          `json:"input_tokens,omitempty"`
	Output   int64          `json:"output_tokens,omitempty"`
}

// Spend is what a step spent on a resource by one model, or several steps together.
type Spend struct {
	Stage     string  `json:"stage"`
	Key       string  `json:"key,omitempty"`
	Model     string  `json:"model"`
	Questions int     `json:"questions"` // that came to an answer, or were paid for without one
	Input     int64   `json:"input_tokens"`
	Cached    int64   `json:"cached_tokens"` // of Input
	Output    int64   `json:"output_tokens"`
	Cost      float64 `json:"cost"`
}

// Verdict is an answer that was paid for and was of no use.
type Verdict struct {
	Request  schemas.Digest `json:"request"`
	Resource string         `json:"-"`
	Stage    string         `json:"stage"`
	Key      string         `json:"key"`
	Model    string         `json:"model"`
	Prompt   string         `json:"prompt"`
	Why      string         `json:"why"`   // in a word, to be counted
	Fault    string         `json:"fault"` // in full
	Blob     schemas.Digest `json:"blob"`  // of the answer, as the ledger has it; "" where none came
}

// Useless is how many answers of a model were of no use for one reason.
type Useless struct {
	Model string `json:"model"`
	Why   string `json:"why"`
	N     int    `json:"n"`
}

// Payment is the end of one paid request.
type Payment struct {
	Request  schemas.Digest
	Answer   *Answer // nil where none came
	Resource string
	Reserved float64
	Spend
}
