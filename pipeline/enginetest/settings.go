package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// SettingStages are the stages of the plan whose settings change: its stages join what
// earlier ones left, by ID, as those of a kind do.
var SettingStages = []string{"list", "find", "part", "mend", "patch", "label", "plan", "ready", "prove", "tell", "write"}

// Setting is what one stage does: it keeps two of three items where it is strict, and
// marks its output by Tag. Version alone changes nothing but the fingerprint.
type Setting struct {
	Strict  int // 0 keeps all, else the lot by which it keeps
	Tag     int
	Version int
}

// Settings are a whole configuration: which seeds there are, and what stages do.
type Settings struct {
	Seeds  []string
	Stages map[string]Setting
}

// Views is what stages read of the store beside their input, as stages.Steps.
type Views interface {
	Step(stage, key string) (schemas.Step, bool, error)
	Inputs(stage, key string) (json.RawMessage, bool, error)
}

// Piece is what goes through: Trail is all that was done to it, Seen what its maker
// found of others. Note is read by label and tell only, as what release notes tell.
type Piece struct {
	Name, Trail string
	Note        string   `json:",omitempty"`
	Seen        []string `json:",omitempty"`
}

// ID is its name.
func (p Piece) ID() string { return p.Name }

// Ends is what a drain was given: what got through, and every other end.
type Ends struct {
	mu  sync.Mutex
	got []string
}

// Lines are one for each row and reject, as they were written last.
func (e *Ends) Lines() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

// settingPlan runs one configuration.
type settingPlan struct {
	Settings
	views Views
	ends  *Ends
	slow  func(stage, key string) error // may put a step off, or wait
}

// Beside reports whether a run until a stage does not come to another.
func Beside(stage, until string) bool {
	at, last := slices.Index(SettingStages, stage), slices.Index(SettingStages, until)
	return at > last || stage == "mend" && until == "patch"
}

// SettingPlan is list → find (many) → part → mend or patch or neither → label → plan →
// ready (shared builds) → prove → tell → write. From plan on each joins what part made; write joins all.
func SettingPlan(s Settings, views Views, ends *Ends, slow func(stage, key string) error) *pipeline.Plan {
	p := &settingPlan{s, views, ends, slow}
	o := func(stage string, reads ...string) pipeline.Options {
		return pipeline.Options{
			Version: fmt.Sprint(s.Stages[stage].Version), Config: s.Stages[stage], Reads: reads,
			// What is put off to a time that has passed when it is booked waits a moment.
			Budget: pipeline.Budget{Tries: 1000, Wait: 100 * time.Second},
		}
	}
	then := func(f pipeline.Flow[Piece], stage string, joins []string, reads ...string) pipeline.Flow[Piece] {
		return pipeline.Then(f, stage, pipeline.Stage[Piece, Piece](joining{p, stage, joins}), o(stage, reads...))
	}
	listed := then(pipeline.New[Piece](), "list", nil)
	found := pipeline.Expand(listed, "find", pipeline.Expander[Piece, Piece](finding{p}), o("find"))
	parted := then(found, "part", nil)
	way := func(n int) pipeline.Flow[Piece] { // by what was made of it: another setting may send it another way
		return pipeline.Where(parted, func(p Piece) bool { return Config{}.fate("way", p.Name+p.Trail, 3) == n })
	}
	ways := pipeline.Merge(then(way(0), "mend", []string{"part"}), then(way(1), "patch", []string{"part"}), way(2))
	labelled := then(ways, "label", []string{"note"}, "find")
	planned := then(labelled, "plan", []string{"part"})
	ready := pipeline.Share(planned, "ready", pipeline.Sharer[Piece, Piece, Piece](sharing{joining{p, "ready", []string{"part", "plan"}}}), o("ready"))
	proved := then(ready, "prove", []string{"part", "ready", "note"}, "find")
	told := then(proved, "tell", []string{"part", "prove", "note"}, "find")
	return pipeline.Drain(told, "write", pipeline.Drainer[Piece](writing{p}), o("write"))
}

func (p *settingPlan) lot(stage, name string, n int) int {
	return Config{}.fate(fmt.Sprint(stage, p.Stages[stage].Strict), name, n)
}

// join reads what a stage made of an item; "note" is what find wrote of it.
func (p *settingPlan) join(stage, name string) (string, error) {
	var raw json.RawMessage
	ok := false
	if stage == "note" {
		var err error
		if raw, ok, err = p.views.Inputs("part", name); err != nil {
			return "", err
		}
	} else {
		step, there, err := p.views.Step(stage, name)
		if err != nil {
			return "", err
		}
		if ok = there && len(step.Outputs) == 1; ok {
			raw = step.Outputs[0].Record
		}
	}
	if !ok {
		return "", fmt.Errorf("the store has no result of %s for %s", stage, name)
	}
	var out Piece
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", err
	}
	if stage == "note" {
		return out.Note, nil
	}
	return stage + ":" + out.Trail, nil
}

func (p *settingPlan) work(stage string, in Piece, joins []string) (Piece, error) {
	if err := p.slow(stage, in.Name); err != nil {
		return Piece{}, err
	}
	s := p.Stages[stage]
	out := Piece{Name: in.Name, Trail: fmt.Sprintf("%s>%s%d", in.Trail, stage, s.Tag)}
	for _, j := range joins {
		seen, err := p.join(j, in.Name)
		if err != nil {
			return Piece{}, err
		}
		out.Seen = append(out.Seen, seen)
	}
	if s.Strict > 0 && p.lot(stage, in.Name, 3) == 0 {
		return Piece{}, pipeline.Reject(schemas.NoCode, "%s by lot %d after %s, having seen %q", stage, s.Strict, in.Trail, out.Seen)
	}
	return out, nil
}

type joining struct {
	*settingPlan
	stage string
	joins []string
}

func (s joining) Run(_ context.Context, in Piece) (Piece, error) { return s.work(s.stage, in, s.joins) }

// Depends leaves out the note, which only those that read find want.
func (s joining) Depends(in Piece) any { return []any{in.Name, in.Trail, in.Seen} }

type finding struct{ *settingPlan }

func (s finding) Run(_ context.Context, in Piece) ([]Piece, error) {
	if err := s.slow("find", in.Name); err != nil {
		return nil, err
	}
	set := s.Stages["find"]
	var out []Piece
	for n := range 4 {
		p := Piece{Name: fmt.Sprintf("%s-%d", in.Name, n), Trail: in.Trail + ">find"}
		if set.Strict > 0 && s.lot("find", p.Name, 3) == 0 {
			continue
		}
		if n%2 == 0 {
			p.Trail += fmt.Sprint(set.Tag)
		} else {
			p.Note = fmt.Sprint("note ", set.Tag)
		}
		out = append(out, p)
	}
	return out, nil
}

type sharing struct{ joining }

// Key depends on what is built with, so that a change may move an item to another.
func (s sharing) Key(in Piece) string {
	return fmt.Sprintf("k%d", Config{}.fate("key", in.Name+in.Trail, 3))
}

func (s sharing) Build(_ context.Context, in Piece) (Piece, error) {
	if err := s.slow("ready.build", s.Key(in)); err != nil {
		return Piece{}, err
	}
	if _, err := s.join("part", in.Name); err != nil { // as a build reads the tree of its member's start
		return Piece{}, err
	}
	return Piece{Name: s.Key(in), Trail: fmt.Sprintf("built%d", s.Stages["ready"].Tag)}, nil
}

func (s sharing) Run(_ context.Context, in, built Piece) (Piece, error) {
	in.Trail += "+" + built.Trail
	return s.work("ready", in, s.joins)
}

type writing struct{ *settingPlan }

func (s writing) Run(_ context.Context, done iter.Seq2[Piece, error], ended pipeline.Ended) error {
	var lines []string
	for p, err := range done {
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %q", p.Name, p.Trail, p.Seen)
		for _, stage := range []string{"part", "label", "plan", "ready", "prove", "tell"} {
			seen, err := s.join(stage, p.Name)
			if err != nil {
				return fmt.Errorf("joining %s: %w", p.Name, err)
			}
			line += " " + seen
			if (stage == "part" || stage == "prove") && !slices.Contains(p.Seen, seen) {
				return fmt.Errorf("%s was told of %q, and %s has made %q since", p.Name, p.Seen, stage, seen)
			}
		}
		lines = append(lines, line)
	}
	for step, err := range ended.Steps {
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %s %s %s", step.Key, step.Stage, step.State, step.Reason, step.Detail)
		if at := slices.Index(SettingStages, step.Stage); at > slices.Index(SettingStages, "prove") {
			seen, err := s.join("prove", step.Key)
			if err != nil {
				return fmt.Errorf("reading how far %s came: %w", step.Key, err)
			}
			line += " " + seen
		}
		lines = append(lines, line)
	}
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	s.ends.got = lines
	return nil
}

// PutOff is the error of a step that is put off for a moment.
func PutOff(now time.Time, d time.Duration) error {
	return &pipeline.Deferred{Until: now.Add(d), Err: errors.New("not now")}
}
