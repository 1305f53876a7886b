package stages

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// Steps reads settled steps.
type Steps interface {
	Step(stage, key string) (schemas.Step, bool, error)
	Steps(stage string) ([]schemas.Step, error)
}

// Records joins what the stages left: a result names its inputs, nothing is
// embedded. One is made for each run: a crawl is read once.
type Records struct {
	Steps
	mu      sync.Mutex
	changes map[string]map[string]schemas.Change // by crawl key, by instance ID
}

// NewRecords reads from steps.
func NewRecords(steps Steps) *Records {
	return &Records{Steps: steps, changes: map[string]map[string]schemas.Change{}}
}

// Change is the change with this instance ID, out of its crawl.
func (r *Records) Change(id string) (schemas.Change, error) {
	link, ok, err := r.Step(Link, id)
	if err != nil || !ok {
		return schemas.Change{}, missing(Link, id, err)
	}
	changes, err := r.crawled(link.Parent)
	if err != nil {
		return schemas.Change{}, err
	}
	c, ok := changes[id]
	if !ok {
		return c, missing(Crawl, id, nil)
	}
	return c, nil
}

func (r *Records) crawled(key string) (map[string]schemas.Change, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changes, ok := r.changes[key]; ok {
		return changes, nil
	}
	crawl, ok, err := r.Step(Crawl, key)
	if err != nil || !ok {
		return nil, missing(Crawl, key, err)
	}
	changes := make(map[string]schemas.Change, len(crawl.Outputs))
	for _, out := range crawl.Outputs {
		var c schemas.Change
		if err := json.Unmarshal(out.Record, &c); err != nil {
			return nil, fmt.Errorf("reading change %s: %w", out.Key, err)
		}
		changes[out.Key] = c
	}
	r.changes[key] = changes
	return changes, nil
}

// Start is the start with this instance ID.
func (r *Records) Start(id string) (schemas.Start, error) { return record[schemas.Start](r, Link, id) }

// Provisioned is the start's environment.
func (r *Records) Provisioned(id string) (schemas.Provisioned, error) {
	return record[schemas.Provisioned](r, Provision, id)
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
