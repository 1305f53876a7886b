// Package pipelinetest holds a step table in memory: the contract of
// pipeline.Store, small and fast, for tests of the runner and of stages.
//
// It never writes to disk, and forgets everything with the process.
package pipelinetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// crashLimit is how many deaths of a process make a step Failed (engine, section 10).
const crashLimit = 5

// row is one step.
type row struct {
	schemas.Step
	id       int64
	parent   *row // nil: a seed
	live     bool
	digest   schemas.Digest
	whole    schemas.Digest
	children []*row // at the last settle
	owner    string
	blocked  bool      // waits for what is above it
	owed     bool      // a settled step that is to be made again by a run that comes to its stage
	since    time.Time // first deferral
	built    *pipeline.Made
}

func (r *row) settled() bool {
	return r.State == schemas.StepDone || r.State == schemas.StepRejected || r.State == schemas.StepFailed
}

// Memory is a step table. Its zero value is not ready: see New.
type Memory struct {
	mu        sync.Mutex
	now       func() time.Time
	stages    []pipeline.StageInfo
	at        map[string]int // place of a stage
	prints    map[string]schemas.Digest
	rows      map[string]map[string]*row // by stage, by key
	byID      map[int64]*row
	ready     map[string][]*row // may hold rows that no longer are
	resources map[string]*pipeline.Resource
	answers   map[schemas.Digest]pipeline.Answer
	workers   map[string]time.Time
	settles   map[string]int
	// What has not changed is not counted again.
	tallies   []pipeline.Tally
	crashed   bool // some step may have
	until     int  // place of the last stage of the run; -1 is all of them
	postponed bool
	// Fail makes the named method answer with an error, once it gives one.
	Fail func(method string) error
}

// New makes an empty table; now is the clock of its deferral budgets and beats.
func New(now func() time.Time) *Memory {
	return &Memory{
		now: now, at: map[string]int{}, prints: map[string]schemas.Digest{}, rows: map[string]map[string]*row{}, byID: map[int64]*row{},
		until: -1, ready: map[string][]*row{}, resources: map[string]*pipeline.Resource{}, answers: map[schemas.Digest]pipeline.Answer{}, workers: map[string]time.Time{}, settles: map[string]int{},
	}
}

func (m *Memory) lock(method string) (func(), error) {
	m.mu.Lock()
	if m.Fail != nil {
		if err := m.Fail(method); err != nil {
			m.mu.Unlock()
			return nil, err
		}
	}
	switch method {
	case "Begin", "Seed", "Claim", "ClaimSuspect", "Settle", "Release", "Retry", "Beat":
		m.tallies = nil
	}
	return m.mu.Unlock, nil
}

// Begin implements pipeline.Store.
func (m *Memory) Begin(_ context.Context, o pipeline.BeginOptions) error {
	unlock, err := m.lock("Begin")
	if err != nil {
		return err
	}
	defer unlock()
	m.workers[o.Worker.ID] = m.now()
	if o.Join {
		for _, s := range o.Stages {
			if m.prints[s.Name] != s.Fingerprint {
				return fmt.Errorf("stage %s is another one here than in the run", s.Name)
			}
		}
		return nil
	}
	for _, rows := range m.rows {
		for _, r := range rows {
			m.died(r)
		}
	}
	m.stages, m.until = o.Stages, -1
	for i, s := range o.Stages {
		if m.at[s.Name] = i; s.Name == o.Until {
			m.until = i
		}
	}
	for _, s := range o.Stages {
		later, changed := m.later(s.Name), m.prints[s.Name] != s.Fingerprint
		for _, r := range m.sorted(s.Name) {
			m.again(r, changed && !later, o.RetryCrashed)
		}
		if !later {
			m.prints[s.Name] = s.Fingerprint
		}
		if s.Drain && m.rows[s.Name][""] == nil {
			m.insert(&row{Step: schemas.Step{Stage: s.Name, State: schemas.StepReady}, live: true})
		}
	}
	defer m.unblock()
	for _, s := range o.Stages { // a member whose build is to be done again waits for it
		for _, r := range m.rows[s.Name] {
			if r.live && s.Build != "" && r.State == schemas.StepReady {
				m.open(r)
			}
		}
	}
	return nil
}

// died takes a row back that a process had when it died.
func (m *Memory) died(r *row) {
	if r.State == schemas.StepRunning {
		m.crashed = true
		r.State, r.owner = schemas.StepReady, ""
		if r.Crashes++; r.Crashes >= crashLimit {
			r.State, r.Reason, r.Detail = schemas.StepFailed, schemas.Crashed, "the process died over it"
		}
		m.changed()
	}
}

// again is what the beginning of a run does to one row.
func (m *Memory) again(r *row, changed, retryCrashed bool) {
	crashed := r.Reason == schemas.Crashed
	if crashed && retryCrashed {
		r.Crashes = 0
	}
	again := r.owed || r.State == schemas.StepFailed && (!crashed || retryCrashed)
	if again && !m.later(r.Stage) || changed && r.live && (r.settled() || r.State == schemas.StepDeferred) {
		if crashed {
			r.Crashes = 0
		}
		m.open(r)
	}
	if r.live && r.State == schemas.StepReady {
		m.ready[r.Stage] = append(m.ready[r.Stage], r)
	}
}

// later: a stage behind the last one of the run.
func (m *Memory) later(stage string) bool { return m.until >= 0 && m.at[stage] > m.until }

// outdated: something above a row is to be made again; owed says whether what is left
// to a later run counts.
func (m *Memory) outdated(r *row, owed bool) bool {
	if m.info(r.Stage).Of != "" {
		return !m.hasMember(r)
	}
	for up := r.parent; up != nil; up = up.parent {
		if !up.settled() || owed && up.owed {
			return true
		}
	}
	return false
}

// hasMember: a build has a live member whose input holds. It is tried with it: what
// another was made of may be gone.
func (m *Memory) hasMember(b *row) bool {
	of := m.info(b.Stage).Of
	holds := func(r *row) bool { return r.live && r.Stage == of && r.Share == b.Key && !m.outdated(r, false) }
	if holds(b.parent) {
		return true
	}
	for _, r := range m.sorted(of) {
		if holds(r) && r.State != schemas.StepRejected && r.State != schemas.StepFailed {
			b.parent, b.Record = r, r.Record
			return true
		}
	}
	return false
}

// unblock lets go what waited for something above it that is made by now.
func (m *Memory) unblock() {
	for _, rows := range m.rows {
		for _, r := range rows {
			if r.blocked && r.live && r.State == schemas.StepWaiting && !m.outdated(r, false) {
				m.open(r)
			}
		}
	}
}

// hold makes a row wait for what is above it.
func (m *Memory) hold(r *row) { r.State, r.owner, r.blocked = schemas.StepWaiting, "", true }

// takeBelow holds what runs below a row that is opened.
func (m *Memory) takeBelow(r *row) {
	for _, rows := range m.rows {
		for _, c := range rows {
			if c.live && c.State == schemas.StepRunning && m.outdated(c, false) {
				m.hold(c)
			}
		}
	}
}

// open makes a row ready, or waiting for its build. A run in flight loses its fence.
// What a later run comes to stands until then.
func (m *Memory) open(r *row) {
	if m.later(r.Stage) && r.settled() && !m.info(r.Stage).Drain {
		r.owed = true
		return
	}
	was := r.settled()
	r.blocked, r.owed = false, false
	defer func() {
		if was {
			m.takeBelow(r)
		}
	}()
	r.State, r.owner, r.Reason, r.Detail, r.NotBefore = schemas.StepReady, "", "", "", time.Time{}
	info := m.info(r.Stage)
	if info.Build != "" && r.live {
		b := m.ensureBuild(info, r)
		if b.State != schemas.StepDone {
			r.State = schemas.StepWaiting
			if b.settled() { // tried and in vain: what it came to holds for this one too
				m.spread(b, r)
			}
			return
		}
	}
	m.ready[r.Stage] = append(m.ready[r.Stage], r)
}

func (m *Memory) info(stage string) pipeline.StageInfo {
	if i, ok := m.at[stage]; ok {
		return m.stages[i]
	}
	return pipeline.StageInfo{}
}

func (m *Memory) insert(r *row) *row {
	r.id = int64(len(m.byID) + 1)
	if m.rows[r.Stage] == nil {
		m.rows[r.Stage] = map[string]*row{}
	}
	m.rows[r.Stage][r.Key], m.byID[r.id] = r, r
	if r.State == schemas.StepReady {
		m.ready[r.Stage] = append(m.ready[r.Stage], r)
	}
	return r
}

func (m *Memory) ensureBuild(info pipeline.StageInfo, member *row) *row {
	b := m.rows[info.Build][member.Share]
	if b == nil {
		b = m.insert(&row{Step: schemas.Step{Stage: info.Build, Key: member.Share, Record: member.Record, State: schemas.StepReady}, parent: member, digest: member.digest, live: true})
	}
	if !b.live {
		b.live, b.parent, b.Record = true, member, member.Record
		if b.State == schemas.StepReady || b.settled() && b.Fingerprint != m.prints[b.Stage] {
			m.open(b)
		}
	}
	return b
}

// spread gives a build's bad end to a member.
func (m *Memory) spread(b, member *row) {
	member.State, member.Reason, member.Detail, member.Evidence, member.Fingerprint = b.State, b.Reason, b.Detail, b.Evidence, m.prints[member.Stage]
	m.changed()
}

// changed makes the drain due again.
func (m *Memory) changed() {
	for _, s := range m.stages {
		if r := m.rows[s.Name][""]; s.Drain && r != nil && r.State != schemas.StepReady {
			m.open(r)
		}
	}
}

func (m *Memory) sorted(stage string) []*row {
	out := make([]*row, 0, len(m.rows[stage]))
	for _, r := range m.rows[stage] {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *row) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Seed implements pipeline.Store.
func (m *Memory) Seed(_ context.Context, stage string, _ schemas.Digest, seeds iter.Seq2[pipeline.Made, error]) error {
	unlock, err := m.lock("Seed")
	if err != nil {
		return err
	}
	defer unlock()
	now := map[string]bool{}
	for s, err := range seeds {
		if err != nil {
			return err
		}
		if now[s.Key] {
			return fmt.Errorf("two seeds are named %s", s.Key)
		}
		now[s.Key] = true
		if _, err := m.upsert(stage, nil, s); err != nil {
			return err
		}
	}
	for key, r := range m.rows[stage] {
		if r.live && !now[key] {
			m.withdraw(r)
		}
	}
	return nil
}

// upsert puts one record into a stage.
func (m *Memory) upsert(stage string, parent *row, made pipeline.Made) (*row, error) {
	r := m.rows[stage][made.Key]
	info := m.info(stage)
	if r == nil {
		r = &row{Step: schemas.Step{Stage: stage, Key: made.Key, Record: made.Record, Share: made.Share, State: schemas.StepHeld}, parent: parent, digest: made.Digest, whole: made.Whole, live: true}
		m.insert(r)
		if m.changed(); !info.Drain {
			m.open(r)
		}
		return r, nil
	}
	if r.live && r.parent != parent && r.parent != nil && r.parent.live {
		return nil, fmt.Errorf("%s of %s is made by both %s and %s", made.Key, stage, r.parent.Key, parent.Key)
	}
	revived := !r.live
	same := r.digest == made.Digest && r.Share == made.Share
	if revived || r.whole != made.Whole {
		m.changed()
	}
	oldShare := r.Share
	r.parent, r.live, r.Record, r.whole, r.digest, r.Share = parent, true, made.Record, made.Whole, made.Digest, made.Share
	switch {
	case info.Drain:
	case !same:
		m.open(r)
		m.dropBuild(info, oldShare)
	case revived:
		m.revive(r)
	}
	return r, nil
}

// revive brings a withdrawn row back with what it had made.
func (m *Memory) revive(r *row) {
	r.live = true
	info := m.info(r.Stage)
	if info.Drain {
		return
	}
	if !r.settled() && r.State != schemas.StepDeferred || r.Fingerprint != m.prints[r.Stage] {
		if m.open(r); !r.settled() {
			return
		}
	}
	if info.Build != "" {
		m.ensureBuild(info, r)
	}
	for _, c := range r.children {
		if c.parent != r { // another made it meanwhile, perhaps otherwise
			if m.open(r); !r.settled() {
				return
			}
			break
		}
	}
	for _, c := range r.children {
		if c.parent != r {
			continue
		}
		m.revive(c)
	}
}

// withdraw takes a row out with all that came of it.
func (m *Memory) withdraw(r *row) {
	r.live = false
	if r.State == schemas.StepRunning {
		r.State, r.owner = schemas.StepReady, ""
	}
	m.changed()
	for _, c := range r.children {
		if c.parent == r && c.live {
			m.withdraw(c)
		}
	}
	m.dropBuild(m.info(r.Stage), r.Share)
}

// dropBuild: a build without a live member is not live.
func (m *Memory) dropBuild(info pipeline.StageInfo, share string) {
	b := m.rows[info.Build][share]
	if info.Build == "" || b == nil {
		return
	}
	for _, r := range m.rows[info.Name] {
		if r.live && r.Share == share {
			return
		}
	}
	b.live = false
	if b.State == schemas.StepRunning {
		b.State, b.owner = schemas.StepReady, ""
	}
}

// Claim implements pipeline.Store.
func (m *Memory) Claim(_ context.Context, owner string, wants []pipeline.Want) ([]pipeline.Claim, error) {
	unlock, err := m.lock("Claim")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []pipeline.Claim
	for _, w := range wants {
		queue := m.ready[w.Stage]
		var later []*row
		n := 0
		for n < w.N && len(queue) > 0 {
			r := queue[0]
			queue = queue[1:]
			switch {
			case !r.live || r.State != schemas.StepReady:
			case m.outdated(r, false):
				m.hold(r)
			case r.Crashes > 0:
				later = append(later, r)
			default:
				n++
				out = append(out, m.claim(r, owner))
			}
		}
		m.ready[w.Stage] = append(later, queue...)
	}
	return out, nil
}

func (m *Memory) claim(r *row, owner string) pipeline.Claim {
	r.State, r.owner = schemas.StepRunning, owner
	r.Attempts++
	return pipeline.Claim{ID: r.id, Stage: r.Stage, Key: r.Key, Record: r.Record, Digest: r.digest, Share: r.Share, Crashes: r.Crashes}
}

// ClaimSuspect implements pipeline.Store.
func (m *Memory) ClaimSuspect(_ context.Context, owner string, stages []string) (*pipeline.Claim, error) {
	unlock, err := m.lock("ClaimSuspect")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var best *row
	if !m.crashed {
		return nil, nil
	}
	for _, rows := range m.rows {
		for _, r := range rows {
			if !r.live || r.Crashes == 0 {
				continue
			}
			if r.State == schemas.StepRunning {
				return nil, nil
			}
			if r.State == schemas.StepReady && m.outdated(r, false) {
				m.hold(r)
			}
			if r.State == schemas.StepReady && slices.Contains(stages, r.Stage) && (best == nil || r.Crashes < best.Crashes || r.Crashes == best.Crashes && r.id < best.id) {
				best = r
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	c := m.claim(best, owner)
	return &c, nil
}

// Release implements pipeline.Store.
func (m *Memory) Release(_ context.Context, owner string, ids []int64) error {
	unlock, err := m.lock("Release")
	if err != nil {
		return err
	}
	defer unlock()
	for _, id := range ids {
		if r := m.byID[id]; r != nil && r.State == schemas.StepRunning && r.owner == owner {
			r.State, r.owner = schemas.StepReady, ""
			r.Attempts--
			m.ready[r.Stage] = append(m.ready[r.Stage], r)
		}
	}
	return nil
}

// Due implements pipeline.Store.
func (m *Memory) Due(_ context.Context, now time.Time) (next time.Time, err error) {
	unlock, err := m.lock("Due")
	if err != nil {
		return time.Time{}, err
	}
	defer unlock()
	if !m.postponed {
		return next, nil
	}
	m.tallies, m.postponed = nil, false
	for _, rows := range m.rows {
		for _, r := range rows {
			m.postponed = m.postponed || r.State == schemas.StepDeferred
			switch {
			case r.State != schemas.StepDeferred || !r.live:
			case !r.NotBefore.After(now):
				r.State, r.NotBefore = schemas.StepReady, time.Time{}
				m.ready[r.Stage] = append(m.ready[r.Stage], r)
			case next.IsZero() || r.NotBefore.Before(next):
				next = r.NotBefore
			}
		}
	}
	return next, nil
}

// Built implements pipeline.Store.
func (m *Memory) Built(_ context.Context, stage, key string) (json.RawMessage, error) {
	unlock, err := m.lock("Built")
	if err != nil {
		return nil, err
	}
	defer unlock()
	b := m.rows[stage][key]
	if b == nil || b.State != schemas.StepDone {
		return nil, fmt.Errorf("%s has not made %s", stage, key)
	}
	return b.built.Record, nil
}

// Tallies implements pipeline.Store.
func (m *Memory) Tallies(context.Context) ([]pipeline.Tally, error) {
	unlock, err := m.lock("Tallies")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if m.tallies != nil {
		return slices.Clone(m.tallies), nil
	}
	type key struct {
		stage  string
		state  schemas.StepState
		reason schemas.Reason
	}
	sums := map[key]*pipeline.Tally{}
	for stage, rows := range m.rows {
		for _, r := range rows {
			if !r.live {
				continue
			}
			k := key{stage, r.State, r.Reason}
			if sums[k] == nil {
				sums[k] = &pipeline.Tally{Stage: stage, State: r.State, Reason: r.Reason}
			}
			sums[k].N++
			sums[k].Cost += r.Cost
			sums[k].MS += r.MS
		}
	}
	var out []pipeline.Tally
	for _, t := range sums {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b pipeline.Tally) int {
		return cmp.Or(cmp.Compare(m.at[a.Stage], m.at[b.Stage]), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason))
	})
	m.tallies = out
	return slices.Clone(out), nil
}

// Held implements pipeline.Store.
func (m *Memory) Held(_ context.Context, stage, after string, n int) ([]pipeline.Made, error) {
	unlock, err := m.lock("Held")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []pipeline.Made
	for _, r := range m.sorted(stage) {
		if r.live && r.State == schemas.StepHeld && r.Key > after && !m.outdated(r, true) && len(out) < n {
			out = append(out, pipeline.Made{Key: r.Key, Digest: r.digest, Whole: r.whole, Record: r.Record})
		}
	}
	return out, nil
}

// Ended implements pipeline.Store.
func (m *Memory) Ended(_ context.Context, afterKey, afterStage string, n int) ([]schemas.Step, error) {
	unlock, err := m.lock("Ended")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []schemas.Step
	for _, s := range m.stages {
		for _, r := range m.rows[s.Name] {
			bad := r.State == schemas.StepRejected || r.State == schemas.StepDeferred || r.State == schemas.StepFailed
			if bad && r.live && s.Of == "" && !s.Drain && !r.owed && !m.outdated(r, true) && cmp.Or(cmp.Compare(r.Key, afterKey), cmp.Compare(s.Name, afterStage)) > 0 {
				out = append(out, m.step(r))
			}
		}
	}
	slices.SortFunc(out, func(a, b schemas.Step) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Stage, b.Stage)) })
	return out[:min(n, len(out))], nil
}

// Outdated implements pipeline.Store.
func (m *Memory) Outdated(context.Context) (int, error) {
	unlock, err := m.lock("Outdated")
	if err != nil {
		return 0, err
	}
	defer unlock()
	n := 0
	for _, s := range m.stages {
		for _, r := range m.rows[s.Name] {
			end := r.settled() && r.State != schemas.StepDone || r.State == schemas.StepDeferred || r.State == schemas.StepHeld
			if end && r.live && s.Of == "" && (r.owed || m.outdated(r, true)) {
				n++
			}
		}
	}
	return n, nil
}

func (m *Memory) step(r *row) schemas.Step {
	s := r.Step
	s.Input = r.digest
	if r.parent != nil {
		s.Parent = r.parent.Key
	}
	if r.State != schemas.StepDone {
		return s // what is to be made again is not there
	}
	for _, c := range r.children {
		if c.parent == r {
			s.Outputs = append(s.Outputs, schemas.Output{To: c.Stage, Key: c.Key, Digest: c.digest, Record: c.Record})
		}
	}
	if r.built != nil {
		s.Outputs = append(s.Outputs, schemas.Output{Key: r.Key, Digest: r.built.Digest, Record: r.built.Record})
	}
	return s
}

// Step reads one step, live or not.
func (m *Memory) Step(stage, key string) (schemas.Step, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[stage][key]
	if r == nil {
		return schemas.Step{}, false, nil
	}
	return m.step(r), true, nil
}

// Inputs is the input record of a step.
func (m *Memory) Inputs(stage, key string) (json.RawMessage, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[stage][key]
	if r == nil {
		return nil, false, nil
	}
	return r.Record, true, nil
}

// Settles is how often a step was settled.
func (m *Memory) Settles(stage, key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settles[stage+" "+key]
}

// Kill forgets who runs what, as the death of the process would: the next Begin
// finds steps that nobody runs.
func (m *Memory) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rows := range m.rows {
		for _, r := range rows {
			if r.State == schemas.StepRunning {
				r.owner = "(dead)"
			}
		}
	}
}

// Pause implements pipeline.Store.
func (m *Memory) Pause(_ context.Context, resource string, until time.Time) error {
	unlock, err := m.lock("Pause")
	if err != nil {
		return err
	}
	defer unlock()
	if r := m.resource(resource); until.After(r.PausedUntil) {
		r.PausedUntil = until
	}
	return nil
}

func (m *Memory) resource(name string) *pipeline.Resource {
	if m.resources[name] == nil {
		m.resources[name] = &pipeline.Resource{Name: name}
	}
	return m.resources[name]
}

// Resources implements pipeline.Store.
func (m *Memory) Resources(context.Context) ([]pipeline.Resource, error) {
	unlock, err := m.lock("Resources")
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []pipeline.Resource
	for _, r := range m.resources {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b pipeline.Resource) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Cap bounds what may be spent of a resource.
func (m *Memory) Cap(resource string, sum float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resource(resource).Cap = sum
}

// Reserve implements pipeline.Store.
func (m *Memory) Reserve(_ context.Context, resource string, cost float64) (bool, error) {
	unlock, err := m.lock("Reserve")
	if err != nil {
		return false, err
	}
	defer unlock()
	r := m.resource(resource)
	if r.Cap > 0 && r.Spent+cost > r.Cap {
		return false, nil
	}
	r.Spent += cost
	return true, nil
}

// Spend implements pipeline.Store.
func (m *Memory) Spend(_ context.Context, resource string, reserved, used float64) error {
	unlock, err := m.lock("Spend")
	if err != nil {
		return err
	}
	defer unlock()
	m.resource(resource).Spent += used - reserved
	return nil
}

// Beat implements pipeline.Store.
func (m *Memory) Beat(_ context.Context, worker string, silent time.Duration) (rescued int, err error) {
	unlock, err := m.lock("Beat")
	if err != nil {
		return 0, err
	}
	defer unlock()
	now := m.now()
	m.workers[worker] = now
	for _, rows := range m.rows {
		for _, r := range rows {
			if r.State == schemas.StepRunning && now.Sub(m.workers[r.owner]) > silent {
				m.died(r)
				m.again(r, false, false)
				rescued++
			}
		}
	}
	return rescued, nil
}

// Leave implements pipeline.Store.
func (m *Memory) Leave(_ context.Context, worker string) error {
	unlock, err := m.lock("Leave")
	if err != nil {
		return err
	}
	defer unlock()
	delete(m.workers, worker)
	return nil
}

// Intend implements pipeline.Store.
func (m *Memory) Intend(_ context.Context, request schemas.Digest) (pipeline.Answer, error) {
	unlock, err := m.lock("Intend")
	if err != nil {
		return pipeline.Answer{}, err
	}
	defer unlock()
	a := m.answers[request]
	if !a.Answered {
		a.Sent++
		m.answers[request] = a
	}
	return a, nil
}

// Answered implements pipeline.Store.
func (m *Memory) Answered(_ context.Context, request schemas.Digest, a pipeline.Answer) error {
	unlock, err := m.lock("Answered")
	if err != nil {
		return err
	}
	defer unlock()
	a.Answered, a.Sent = true, m.answers[request].Sent
	m.answers[request] = a
	return nil
}

// Retry implements pipeline.Store.
func (m *Memory) Retry(stage, key string) error {
	unlock, err := m.lock("Retry")
	if err != nil {
		return err
	}
	defer unlock()
	r := m.rows[stage][key]
	if r == nil {
		return errors.New("no such step")
	}
	if b := m.rows[m.info(stage).Build][r.Share]; b != nil && b.settled() && b.State != schemas.StepDone {
		m.open(b)
	}
	m.open(r)
	return nil
}
