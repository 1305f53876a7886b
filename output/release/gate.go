package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/nearest"
)

// State is how a gate ended.
type State string

// The states. A gate that failed is in no published version.
const (
	Held   State = "held"
	Failed State = "failed"
	NotRun State = "not run"
)

// GateResult is what release.json says of a gate.
type GateResult struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"` // of one that was not run
	// Removed are the new tasks that it took out, of Of new ones that it looked at.
	Removed int     `json:"removed"`
	Of      int     `json:"of"`
	Share   float64 `json:"share"` // Removed / Of, 0 where Of is 0
	// Figures are its own, by name.
	Figures map[string]float64 `json:"figures,omitempty"`
}

// Objection is one thing that a gate has against a task, or against the version where ID is "".
type Objection struct {
	Gate string `json:"gate"`
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
}

func (o Objection) String() string {
	if o.ID == "" {
		return o.Gate + ": " + o.Text
	}
	return fmt.Sprintf("%s: %s: %s", o.Gate, o.ID, o.Text)
}

// Answer is what a gate says.
type Answer struct {
	// Remove are new tasks that are left out; the version goes on without them.
	Remove []Objection
	// Refuse is what keeps the version from being published.
	Refuse  []Objection
	Figures map[string]float64
	// Skipped says why the gate was not run.
	Skipped string
}

// Gate is a condition on a version. One is added with Register and changes nothing here.
type Gate interface {
	Name() string
	// Needs gets what the gate calls, before any gate looks: a version is not made for half an hour
	// and then missing it.
	Needs(ctx context.Context, c *Candidate) error
	// Look is called before anything is written.
	Look(ctx context.Context, c *Candidate) (Answer, error)
	// Read is called when the version is written and nobody sees it yet; dir is its folder.
	Read(ctx context.Context, c *Candidate, dir string) (Answer, error)
}

// names are those of all gates in order.
var names = []string{"vanished", "identity", "window", "licence", "secrets", "leaks", "reproof", "decontamination", "hidden", "lint", "canary", "huggingface"}

var gates = map[string]Gate{}

// Register adds a gate. Its name is new, or one of those that wait for it.
func Register(g Gate) {
	if !slices.Contains(names, g.Name()) {
		names = append(names, g.Name())
	}
	gates[g.Name()] = g
}

// CheckGates says which of some names is of no gate.
func CheckGates(some []string) error {
	for _, n := range some {
		if !slices.Contains(names, n) {
			return fmt.Errorf("%q is no gate%s", n, nearest.Hint(n, names))
		}
	}
	return nil
}

// RefusedError is a version that a gate refused. Nothing was written.
type RefusedError struct {
	Version    Version
	Objections []Objection
}

func (e *RefusedError) Error() string {
	const most = 10
	text := fmt.Sprintf("%s is refused, and nothing is written", e.Version)
	for _, o := range e.Objections[:min(most, len(e.Objections))] {
		text += "\n  " + o.String()
	}
	if more := len(e.Objections) - most; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// gated is what the gates said of a candidate, by name.
type gated map[string]*GateResult

func (g gated) of(name string) *GateResult {
	if g[name] == nil {
		g[name] = &GateResult{Name: name, State: NotRun}
	}
	return g[name]
}

// onlyLooks is what a gate says that reads nothing of what is written.
const onlyLooks = "it looks before anything is written"

// add joins an answer to what a gate said before.
func (g gated) add(name string, a Answer, looked int) {
	r := g.of(name)
	if a.Skipped != "" {
		if r.State == NotRun && (r.Why == "" || a.Skipped != onlyLooks) {
			r.Why = a.Skipped
		}
		return
	}
	if r.State == NotRun {
		r.State, r.Why = Held, ""
	}
	if len(a.Refuse) > 0 {
		r.State = Failed
	}
	if r.Of == 0 {
		r.Of = looked
	}
	if r.Removed += len(a.Remove); r.Of > 0 {
		r.Share = float64(r.Removed) / float64(r.Of)
	}
	for k, v := range a.Figures {
		if r.Figures == nil {
			r.Figures = map[string]float64{}
		}
		r.Figures[k] = v
	}
}

// results are in the order of the gates.
func (g gated) results() []GateResult {
	var out []GateResult
	for _, name := range names {
		r := g.of(name)
		if r.State == NotRun && r.Why == "" {
			r.Why = "its maintainer left it out (--without)"
		}
		out = append(out, *r)
	}
	return out
}
