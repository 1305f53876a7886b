package output

import (
	"bytes"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// Service is the group of endpoints that a row was made from. base_commit is the commit that was
// read: the base tree is that with mask.patch of the task's folder.
type Service struct {
	Release   string             `json:"release"` // tag, or c and the first digits of the commit
	Group     string             `json:"group"`
	Framework string             `json:"framework"`
	Endpoints []schemas.Endpoint `json:"endpoints"` // by path, then method
	Database  string             `json:"database"`  // "", sqlite, postgres, mysql
	// Brokers are the caches and brokers beside the database, sorted: redis.
	Brokers []string `json:"brokers,omitempty"`
	// BaseImage is the image that the solver's Dockerfile begins with, in the environment variant;
	// "" where the environment is the task's.
	BaseImage string `json:"base_image,omitempty"`
	// Hints says whether the statement of the environment variant has notes on how to write the Dockerfile; nil where the
	// environment is the task's.
	Hints *bool `json:"hints,omitempty"`
	// Clock says how the cases were held against time: shifted (a run 400 days ahead) or later (a
	// run at another moment, where the clock of the runtime cannot be set).
	Clock string `json:"clock"`
	// Category is one of ABC-Bench's ten, by the words of the group's name and paths.
	Category string `json:"category"`
	// Cases are those of test_patch that are judged, and EndpointsAsked the endpoints of the group
	// that these ask.
	Cases          int `json:"cases"`
	EndpointsAsked int `json:"endpoints_asked"`
	Masked
	Difficulty *Difficulty `json:"difficulty"`
	// ZeroWork is the share of the cases that pass with nothing done: those of other groups, and
	// what is answered before a handler is asked.
	ZeroWork float64 `json:"zero_work"`
}

// Clocks of a service.
const (
	ClockShifted = "shifted"
	ClockLater   = "later"
)

func serviceOf(t Task) *Service {
	c, m, r := t.Origin.Cut, t.Start.Masked, t.Environment.Recipe.Service
	if c == nil || m == nil || t.Start.Group == nil || r == nil {
		return nil
	}
	clock := ClockLater
	if serve.Shifts(t.Environment.Recipe) {
		clock = ClockShifted
	}
	var hints *bool
	if d := t.Start.Deploy; d != nil {
		has := !d.Bare
		hints = &has
	}
	cases, endpoints := asked(casesIn(t.TestPatch), t.Start.Group.Name)
	return &Service{
		Category: categoryOf(t.Start.Group.Name, t.Start.Group.Endpoints), Cases: cases, EndpointsAsked: endpoints,
		Release: c.Release.Tag, Group: t.Start.Group.Name, Framework: t.Start.Group.Framework, Endpoints: t.Start.Group.Endpoints,
		Database: r.Database, Brokers: r.Brokers, BaseImage: r.Image, Hints: hints, Clock: clock, Masked: maskedOf(*m), Difficulty: difficultyOf(t), ZeroWork: t.Proof.ZeroWork(nil),
	}
}

// service: a service is named by its commit and group, and its tests are no part of what a solver
// gets.
func (l *linter) service() {
	r, x := l.row, l.row.Benchmint.Service
	if x == nil {
		l.add(RuleField, "service is null, of a %s", r.Benchmint.Kind)
		return
	}
	variant := ""
	if x.BaseImage != "" {
		variant = schemas.VariantEnv
	}
	if want := schemas.ServiceID(r.Repo, x.Release, x.Group, variant).String(); r.InstanceID != want {
		l.add(RuleID, "repo, release and group make %s", want)
	}
	if r.Benchmint.TestsVisible {
		l.add(RuleField, "tests_visible is true, of a service")
	}
	if strings.TrimSpace(r.TestPatch) == "" {
		l.add(RuleField, "test_patch is empty")
	}
	if len(x.Endpoints) == 0 {
		l.add(RuleField, "service.endpoints is empty")
	}
	for _, e := range x.Endpoints {
		if e.Method == "" || !strings.HasPrefix(e.Path, "/") {
			l.add(RuleField, "service.endpoints: %q is not an endpoint", e.String())
		}
		if !strings.Contains(r.ProblemStatement, e.String()) {
			l.add(RuleStatement, "problem_statement does not name the endpoint %s", e)
		}
	}
	if x.Clock != ClockShifted && x.Clock != ClockLater {
		l.add(RuleField, "service.clock is %q, not %s or %s", x.Clock, ClockShifted, ClockLater)
	}
	for _, p := range r.Benchmint.Parts[schemas.PartTest] {
		if !schemas.InSuite(p) {
			l.add(RuleField, "parts: %s is not of the suite", p)
		}
	}
	if cases, endpoints := asked(casesIn([]byte(r.TestPatch)), x.Group); x.Cases != cases || x.EndpointsAsked != endpoints || cases == 0 {
		l.add(RuleField, "service: %d cases ask %d endpoints, and those of test_patch are %d and %d", x.Cases, x.EndpointsAsked, cases, endpoints)
	}
	if want := categoryOf(x.Group, x.Endpoints); x.Category != want {
		l.add(RuleField, "service.category is %q, not %s", x.Category, want)
	}
	l.masked("service", x.Masked)
	if d := x.Difficulty; d == nil || d.Tests != len(r.FailToPass) {
		l.add(RuleField, "service.difficulty does not count the %d tests of FAIL_TO_PASS", len(r.FailToPass))
	}
}

// served: what the row repeats of the group, the mask and the proof is the same.
func (c *checker) served(r Located, s schemas.Start, p schemas.Proof) {
	x := r.Benchmint.Service
	if x == nil || s.Masked == nil || s.Group == nil {
		c.addRow(r, RuleFolder, "service is not that of %s", path.Join(TasksDir, r.InstanceID, StartFile))
		return
	}
	want := *serviceOf(Task{
		Origin: schemas.Origin{Cut: &schemas.Cut{Release: schemas.Release{Tag: x.Release}}}, Start: s, Proof: p, TestPatch: []byte(r.TestPatch),
		Environment: schemas.Environment{Recipe: schemas.Recipe{
			SystemPackages: []string{clock.Package}, Service: &schemas.Service{Database: x.Database, Brokers: x.Brokers, Image: x.BaseImage, Shifts: x.Clock == ClockShifted},
		}},
	})
	if !bytes.Equal(mustJSON(*x), mustJSON(want)) {
		c.addRow(r, RuleFolder, "service is not that of %s and %s", path.Join(TasksDir, r.InstanceID, StartFile), ProofFile)
	}
}
