package schemas

import "slices"

// Status is what one run says of one test (design 8).
type Status string

// The statuses. Only Passed is a pass; NotRun is evidence of nothing.
const (
	Passed    Status = "passed"
	Failed    Status = "failed"
	Errored   Status = "error"
	Skipped   Status = "skipped"
	XFailed   Status = "xfailed"
	XPassed   Status = "xpassed"
	NotLoaded Status = "not_loaded" // its file or package did not compile or import
	Absent    Status = "absent"     // its file loaded; it is not there
	NotRun    Status = "not_run"    // the run ended first
)

// Class is what a test's statuses in all runs make of it.
type Class string

// The classes; the first two are the lists of a row.
const (
	F2P         Class = "fail_to_pass"
	P2P         Class = "pass_to_pass"
	SkipToPass  Class = "skip_to_pass"
	Quarantined Class = "quarantined"
	Regression  Class = "regression"
	Vanished    Class = "vanished"
	UnstableID  Class = "unstable_id"
	Unproved    Class = "unproved" // passes in G; S and B say nothing that counts
	Failing     Class = "failing"  // does not pass in G, and is neither a regression nor vanished
	Parent      Class = "parent"   // stands for its children
	// What no right answer in other words can pass (design 10).
	SolutionFile Class = "solution_file" // collected from a file of the solution, or in need of one
	SolutionName Class = "solution_name" // its name is decided by the solution, and no text gives it
	TimeBound    Class = "clock"         // would be listed, and does not pass when the clock is ahead
)

// Cause says why a test is FAIL_TO_PASS.
type Cause string

// The causes of the table in design 8.
const (
	CauseFails       Cause = "fails"
	CauseNew         Cause = "new"
	CauseLoad        Cause = "load"
	CauseLoadNew     Cause = "load_new"
	CauseLoadChanged Cause = "load_changed"
)

// State is one of the three states of a task.
type State string

// The states: base with its own tests, base + test part, solution.
const (
	StateB State = "B"
	StateS State = "S"
	StateG State = "G"
)

// TestVerdict is one test, its statuses in every run, and what they make of it.
type TestVerdict struct {
	ID       string   `json:"id"`
	Unit     string   `json:"unit"` // file (pytest) or package (Go)
	Class    Class    `json:"class"`
	Cause    Cause    `json:"cause,omitempty"`
	Baseline State    `json:"baseline,omitempty"` // B where the pass was seen at base only
	S        []Status `json:"s"`
	G        []Status `json:"g"`
	B        Status   `json:"b,omitempty"`
	// Clock is what the runs of G with the clock ahead say of a test of class clock. Where it is
	// absent there, ID is without its digits and days (clock.Undated).
	Clock Status `json:"clock,omitempty"`
	// Why is the failing assertion at start, of class clock that with the clock ahead, cut short;
	// a note, never compared.
	Why string `json:"why,omitempty"`
}

// RunRecord is one run of one state, in the order of work.
type RunRecord struct {
	State    State  `json:"state"`
	Scope    string `json:"scope"` // changed, suite, rest (after an abort), build (one that failed), clock
	Number   int    `json:"number"`
	End      string `json:"end"` // exited, aborted, timeout, memory, processes, disk, output
	ExitCode int    `json:"exit_code"`
	Report   Digest `json:"report"` // blob: the parsed report
	Log      Digest `json:"log"`    // blob: what it printed, capped
	// MS is how long its commands took, in milliseconds of wall time; 0 where nobody measured.
	MS int64 `json:"ms,omitempty"`
	// Clock is how the clock was ahead in a run of scope clock: preload or overlay, and
	// "+files" where the times of files were as well.
	Clock string `json:"clock,omitempty"`
}

// Clock says how a proof was held against time: by runs of the suite in G with the clock ahead.
type Clock struct {
	Ahead int64  `json:"ahead,omitempty"` // seconds; 0 where there was no such run
	By    string `json:"by,omitempty"`    // preload, overlay
	// Not is why there was none, or why it counts for nothing.
	Not string `json:"not_shifted,omitempty"`
}

// Proof is the verdict on a start in an environment, with what it rests on.
type Proof struct {
	StartID     string        `json:"start_id"`
	Start       Digest        `json:"start,omitempty"` // input digest; "" in proofs of older versions
	Environment Digest        `json:"environment"`
	Runs        []RunRecord   `json:"runs"`
	Tests       []TestVerdict `json:"tests"`
	// Interface lists the names that the tests use and that exist only in the solution.
	Interface []Name `json:"interface,omitempty"`
	// StatedWords are words of the names of FAIL_TO_PASS tests that only the solution has and that the
	// change's own text gives. The statement gives them too.
	StatedWords []string `json:"told,omitempty"`
	Leaks       Scan     `json:"leaks"`
	// Test is the recipe's rival that the suite was run by, because the recipe's own
	// command does not run what the change tests; nil where that one holds.
	Test []Command `json:"test,omitempty"`
	// Clock is nil in proofs of older versions and of services, one of whose runs is shifted.
	Clock *Clock `json:"clock,omitempty"`
	// Writes are the data files of the test part that the tests themselves write, sorted; nil in proofs of older
	// versions, which did not look. A grader leaves them to the tests, and all else that judges is read-only.
	Writes []string `json:"writes,omitzero"`
}

// ID is the instance ID.
func (p Proof) ID() string { return p.StartID }

// List is the sorted IDs of one class.
func (p Proof) List(c Class) []string {
	out := []string{}
	for _, t := range p.Tests {
		if t.Class == c {
			out = append(out, t.ID)
		}
	}
	return out
}

// TimeBound maps the tests of class clock to what they are when the clock is ahead.
func (p Proof) TimeBound() map[string]Status {
	out := map[string]Status{}
	for _, t := range p.Tests {
		if t.Class == TimeBound {
			out[t.ID] = t.Clock
		}
	}
	return out
}

// ZeroWork is the share of the tests that count which pass in the start, 0 to 1: what doing
// nothing scores. counted is nil where all listed tests count.
func (p Proof) ZeroWork(counted *Counted) float64 {
	return counted.ZeroWork(p.List(F2P), p.List(P2P))
}

// Passing is the share of the suite's tests that pass in every run of the solution, 0 to 1.
// Those that are skipped or expected to fail there are left out, as parents of others are.
func (p Proof) Passing() float64 {
	pass, all := 0, 0
	for _, t := range p.Tests {
		switch {
		case t.Class == Parent || slices.ContainsFunc(t.G, func(s Status) bool { return s == Skipped || s == XFailed || s == XPassed }):
		case slices.ContainsFunc(t.G, func(s Status) bool { return s != Passed }):
			all++
		default:
			pass, all = pass+1, all+1
		}
	}
	return part(pass, all)
}

func part(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// SuiteMS is the median of how long one run of the suite took in the solution, in
// milliseconds: what grading takes at least. 0 where nobody measured.
func (p Proof) SuiteMS() int64 {
	var all []int64
	for _, r := range p.Runs {
		if r.State == StateG && r.Scope == "suite" && r.MS > 0 {
			all = append(all, r.MS)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ClockMS is how long the runs with the clock ahead took, in milliseconds. 0 where nobody measured.
func (p Proof) ClockMS() int64 {
	var ms int64
	for _, r := range p.Runs {
		if r.Scope == "clock" {
			ms += r.MS
		}
	}
	return ms
}

// Stable is the proof without what differs between runs that agree: logs, reports
// and messages hold times and addresses. It is what a dataset carries.
func (p Proof) Stable() Proof {
	p.Runs, p.Tests = slices.Clone(p.Runs), slices.Clone(p.Tests)
	for i := range p.Runs {
		p.Runs[i].Report, p.Runs[i].Log, p.Runs[i].MS = "", "", 0
	}
	for i := range p.Tests {
		p.Tests[i].Why = ""
	}
	return p
}

// Name is one identifier that tests need and that only the solution defines.
type Name struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"` // function, method, class, type, constant, variable, parameter, field, module, import
	Signature string `json:"signature,omitempty"`
	Path      string `json:"path,omitempty"` // where it is defined, in the solution
}

// Override is what somebody wrote by hand for one task: a statement, names of its
// interface, or both.
type Override struct {
	Statement string `json:"statement,omitempty"`
	Interface []Name `json:"interface,omitempty"`
}

// Scan is the leak scan of what a solver gets (design 8, Sealing).
type Scan struct {
	Scanner string `json:"scanner"` // version of the scanner
	Needles Digest `json:"needles"` // digest of what was searched for
	Count   int    `json:"count"`   // how many needles
	Bytes   int64  `json:"-"`       // bytes searched: measured, outside the digest
	Hits    []Hit  `json:"hits,omitempty"`
	// Unread are places that look packed and could not be unpacked (broken archives
	// among a package's test data); their bytes were searched as they are.
	Unread []string `json:"unread,omitempty"`
}

// Hit is one leak: a needle and the place it was found in.
type Hit struct {
	Needle string `json:"needle"` // the line, cut to 120 characters
	Place  string `json:"place"`  // path, with the members of archives after "!"
	Kind   string `json:"kind"`   // solution_line, test_line, later_release, second_copy
}
