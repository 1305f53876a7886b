package stages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

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

// Origin is the fact that an item comes from: what the stage that makes its start was
// given, whatever it made of it.
func (r *Records) Origin(id string) (schemas.Origin, error) {
	for _, stage := range StartStages {
		record, ok, err := r.Inputs(stage, id)
		if err != nil {
			return schemas.Origin{}, missing(stage, id, err)
		}
		if ok {
			return OriginOf(stage, record)
		}
	}
	return schemas.Origin{}, fmt.Errorf("the store has nothing that %s comes from", id)
}

// OriginOf reads what a stage of StartStages is given: link and range a change, mask and strip a cut.
func OriginOf(stage string, record json.RawMessage) (o schemas.Origin, err error) {
	if stage == Mask || stage == Strip {
		o.Cut = new(schemas.Cut)
		err = json.Unmarshal(record, o.Cut)
	} else {
		o.Change = new(schemas.Change)
		err = json.Unmarshal(record, o.Change)
	}
	if err != nil {
		return schemas.Origin{}, fmt.Errorf("reading what %s was given: %w", stage, err)
	}
	return o, nil
}

// Change is the change that an item comes from.
func (r *Records) Change(id string) (schemas.Change, error) {
	o, err := r.Origin(id)
	if err != nil {
		return schemas.Change{}, err
	}
	if o.Change == nil {
		return schemas.Change{}, fmt.Errorf("%s does not come from a change", id)
	}
	return *o.Change, nil
}

// ReleaseNotes is what release notes tell of the changes of a repository in one release, each entry
// once, by file and line.
func (r *Records) ReleaseNotes(repo, release string) ([]schemas.Note, error) {
	step, ok, err := r.Step(Harvest, schemas.RepoSlug(repo))
	if err != nil || !ok {
		return nil, missing(Harvest, repo, err)
	}
	var out []schemas.Note
	seen := map[string]bool{}
	for _, o := range step.Outputs {
		var c schemas.Change
		if err := json.Unmarshal(o.Record, &c); err != nil {
			return nil, fmt.Errorf("reading change %s: %w", o.Key, err)
		}
		for _, n := range c.Notes {
			if key := n.Heading + "\x00" + n.Text; c.Release == release && n.Form != schemas.NoteSubject && !seen[key] {
				seen[key] = true
				out = append(out, n)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b schemas.Note) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return out, nil
}

// Start is the start with this instance ID, of whatever kind, with the suite that was written for it.
func (r *Records) Start(id string) (schemas.Start, error) {
	s, err := r.Made().Start(id)
	if err != nil || !s.WantsSuite() {
		return s, err
	}
	p, err := record[schemas.Provisioned](r, Suite, id)
	if err == nil && p.Tested == nil {
		err = missing(Suite, id, nil)
	}
	if err != nil {
		return s, err
	}
	return *p.Tested, nil
}

// Made are the records as the stages up to Suite see them: a start is as it was made.
func (r *Records) Made() Made { return Made{r} }

// Made gives starts as they were made.
type Made struct{ *Records }

// Start is what the first stage of all kinds was given.
func (m Made) Start(id string) (schemas.Start, error) {
	r := m.Records
	var s schemas.Start
	raw, ok, err := r.Inputs(FirstCommon, id)
	if err != nil || !ok {
		return s, missing(FirstCommon, id, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("reading start %s: %w", id, err)
	}
	return s, nil
}

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
		out, ok := step.Output()
		if !ok {
			continue
		}
		var crawled schemas.Crawled
		if err := json.Unmarshal(out.Record, &crawled); err != nil {
			return 0, fmt.Errorf("reading what crawl made of %s: %w", step.Key, err)
		}
		n += len(crawled.Releases)
	}
	return n, nil
}

func record[T any](r *Records, stage, id string) (T, error) {
	var v T
	step, ok, err := r.Step(stage, id)
	if err != nil || !ok {
		return v, missing(stage, id, err)
	}
	out, ok := step.Output()
	if !ok {
		return v, missing(stage, id, nil)
	}
	if err := json.Unmarshal(out.Record, &v); err != nil {
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
