package stages

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/benchmint/benchmint/schemas"
)

// Steps reads settled steps, and what they were given.
type Steps interface {
	Step(stage, key string) (schemas.Step, bool, error)
	Inputs(stage, key string) (json.RawMessage, bool, error)
	Each(stage string) iter.Seq2[schemas.Step, error]
}

// Records joins what the stages left: a result names its inputs, nothing is
// embedded.
type Records struct{ Steps }

// NewRecords reads from steps.
func NewRecords(steps Steps) *Records { return &Records{Steps: steps} }

// Change is the change with this instance ID: what link was given, whatever it
// made of it.
func (r *Records) Change(id string) (schemas.Change, error) {
	var c schemas.Change
	raw, ok, err := r.Inputs(Link, id)
	if err != nil || !ok {
		return c, missing(Link, id, err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("reading change %s: %w", id, err)
	}
	return c, nil
}

// Start is the start with this instance ID.
func (r *Records) Start(id string) (schemas.Start, error) { return record[schemas.Start](r, Link, id) }

// Provisioned is the start's environment.
func (r *Records) Provisioned(id string) (schemas.Provisioned, error) {
	return record[schemas.Provisioned](r, Provision, id)
}

// Proof is the start's proof.
func (r *Records) Proof(id string) (schemas.Proof, error) {
	return record[schemas.Proof](r, Validate, id)
}

// Releases counts the releases of all sources.
func (r *Records) Releases() (int, error) {
	n := 0
	for step, err := range r.Each(Crawl) {
		if err != nil {
			return 0, err
		}
		for _, out := range step.Outputs {
			var crawled schemas.Crawled
			if err := json.Unmarshal(out.Record, &crawled); err != nil {
				return 0, fmt.Errorf("reading what crawl made of %s: %w", step.Key, err)
			}
			n += len(crawled.Releases)
		}
	}
	return n, nil
}

func record[T any](r *Records, stage, id string) (T, error) {
	var v T
	step, ok, err := r.Step(stage, id)
	if err != nil || !ok || len(step.Outputs) != 1 {
		return v, missing(stage, id, err)
	}
	if err := json.Unmarshal(step.Outputs[0].Record, &v); err != nil {
		return v, fmt.Errorf("reading %s of %s: %w", stage, id, err)
	}
	return v, nil
}

func missing(stage, id string, err error) error {
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", stage, id, err)
	}
	return fmt.Errorf("the store has no result of %s for %s", stage, id)
}
