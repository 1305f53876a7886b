package validate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// program runs the tests of a script as a runner would: "a::t=crash" ends the
// process (session) or the unit (packages) unless it is left out.
type program struct {
	tests    []string
	packages bool // units end by themselves, as with go test
}

func (p program) run(sel lang.Select) testlog.Report {
	r := testlog.Report{Started: true, Ended: true}
	units := map[string]int{}
	dead := map[string]bool{}
	for _, line := range p.tests {
		id, status, _ := strings.Cut(line, "=")
		name, _, _ := strings.Cut(id, "::")
		if p.packages && sel.Units != nil && !slices.Contains(sel.Units, name) {
			continue
		}
		if _, ok := units[name]; !ok {
			units[name] = len(r.Units)
			r.Units = append(r.Units, testlog.Unit{Name: name, State: testlog.Finished})
		}
		u := &r.Units[units[name]]
		if !p.packages {
			u.Listed = append(u.Listed, id) // pytest collects before it runs
		}
		switch {
		case dead[name]:
			u.State = testlog.Aborted
		case slices.Contains(sel.Skip, id):
		case status == "crash":
			u.State, u.Running, u.Message = testlog.Aborted, id, "crashed in "+id
			for _, other := range p.tests {
				if o, _, _ := strings.Cut(other, "::"); o == name || !p.packages {
					dead[o] = true
				}
			}
			r.Ended = p.packages
		default:
			r.Tests = append(r.Tests, testlog.Test{ID: id, Unit: name, Status: schemas.Status(status)})
		}
	}
	return r
}

// A report that was written beside the runner ends the item, in whatever state it is.
func TestTampered(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"S", "G"} {
		b := newBench(t, func(s string, _ lang.Select) (testlog.Report, sandbox.End) {
			switch {
			case s == state:
				r := parse("a tampered u=passed\nend")
				r.Tampered = "unit a says why"
				return r, sandbox.Exited
			case s == "S":
				return parse("a finished u=failed\nend"), sandbox.Exited
			}
			return parse("a finished u=passed\nend"), sandbox.Exited
		})
		if _, err := b.prove(t); reason(err) != schemas.Tampered || !strings.Contains(err.Error(), "state "+state) || !strings.Contains(err.Error(), "unit a says why") {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// TestWrites: the proof names the test data that runs write, and no run may write what else judges it.
func TestWrites(t *testing.T) {
	t.Parallel()
	said := func(s string, _ lang.Select) (testlog.Report, sandbox.End) {
		if s == "S" {
			return parse("a finished t=failed\nend"), sandbox.Exited
		}
		return parse("a finished t=passed\nend"), sandbox.Exited
	}
	for _, tc := range []struct {
		state, writes string
		want          []string
		reason        schemas.Reason
	}{
		{state: "G", writes: "/testbed/nothing/of/it", want: []string{}},
		{state: "G", writes: "/testbed/a", want: []string{"a"}},
		{state: "S", writes: "/testbed/a", want: []string{"a"}},
		{state: "G", writes: "/testbed/code.toy", want: []string{}},
		{state: "G", writes: "/testbed/test_a.toy", want: []string{}, reason: schemas.Tampered},
	} {
		b := newBench(t, said)
		b.box.writes = map[string][]string{tc.state: {tc.writes}}
		proof, err := b.prove(t)
		if diff := cmp.Diff(tc.want, proof.Writes); diff != "" || (tc.reason != "" || err != nil) && reason(err) != tc.reason {
			t.Errorf("%s writes %s: %v, %v, want %v: %s", tc.state, tc.writes, proof.Writes, err, tc.reason, diff)
		}
	}
}

func TestAborts(t *testing.T) {
	t.Parallel()
	// Crashing tests fail, what comes after the fourth is not run.
	tests := func(crashes int) (out []string) {
		for i := range 6 {
			status := "passed"
			if i < crashes {
				status = "crash"
			}
			out = append(out, fmt.Sprintf("a::t%d=%s", i, status))
		}
		return append(out, "b::u=passed")
	}
	skips := []string{"", " -a::t0", " -a::t0 -a::t1", " -a::t0 -a::t1 -a::t2"}
	for name, tc := range map[string]struct {
		crashes  int
		packages bool
		attempts int
		notRun   []string
	}{
		"none":             {crashes: 0, attempts: 1},
		"one":              {crashes: 1, attempts: 2},
		"two":              {crashes: 2, attempts: 3},
		"three":            {crashes: 3, attempts: 4},
		"four":             {crashes: 4, attempts: 4, notRun: []string{"a::t4", "a::t5", "b::u"}},
		"five":             {crashes: 5, attempts: 4, notRun: []string{"a::t4", "a::t5", "b::u"}},
		"four_in_packages": {crashes: 4, packages: true, attempts: 4, notRun: []string{"a::t4", "a::t5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crash, good := program{tests(tc.crashes), tc.packages}, program{tests(0), tc.packages}
			b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
				if state == "S" {
					return crash.run(sel), sandbox.Exited
				}
				return good.run(sel), sandbox.Exited
			})
			b.lang.whole, b.cfg.Runs = true, 1
			proof, err := b.prove(t)
			if want := map[bool]schemas.Reason{true: schemas.NoF2P, false: "valid"}[tc.crashes == 0]; reason(err) != want {
				t.Fatalf("end is %s, want %s", reason(err), want)
			}
			var want []string
			for i := range tc.attempts {
				want = append(want, fmt.Sprintf("S %s 1%s", map[bool]string{true: "suite", false: "rest"}[i == 0], skips[i]))
			}
			got := slices.DeleteFunc(slices.Clone(b.box.runs), func(r string) bool { return r[0] != 'S' })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if tc.crashes == 0 {
				return
			}
			for _, v := range proof.Tests {
				var n int
				want := schemas.Passed
				if _, err := fmt.Sscanf(v.ID, "a::t%d", &n); err == nil && n < tc.crashes {
					want = schemas.Failed
				}
				if slices.Contains(tc.notRun, v.ID) {
					want = schemas.NotRun
				}
				if v.S[0] != want {
					t.Errorf("%s is %s at the start, want %s", v.ID, v.S[0], want)
				}
			}
		})
	}
}

// TestRestOfPackages: packages that ended are not run again.
func TestRestOfPackages(t *testing.T) {
	t.Parallel()
	var units [][]string
	start := program{[]string{"a::t=crash", "a::u=passed", "b::v=passed", "c::w=crash", "c::x=failed"}, true}
	good := program{[]string{"a::t=passed", "a::u=passed", "b::v=passed", "c::w=passed", "c::x=passed"}, true}
	b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		if state != "S" {
			return good.run(sel), sandbox.Exited
		}
		units = append(units, sel.Units)
		return start.run(sel), sandbox.Exited
	})
	b.lang.whole, b.cfg.Runs = true, 1
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{nil, {"a", "c"}}, units); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a::t", "c::w", "c::x"}, proof.List(schemas.F2P)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a::u", "b::v"}, proof.List(schemas.P2P)); diff != "" {
		t.Error(diff)
	}
	var ends []string
	for _, r := range proof.Runs {
		ends = append(ends, fmt.Sprintf("%s %s %s", r.State, r.Scope, r.End))
	}
	if diff := cmp.Diff([]string{"G suite exited", "S suite aborted", "S rest exited"}, ends); diff != "" {
		t.Error(diff)
	}
}

// TestCrashFailsTheParents: without the child that crashed they would pass.
func TestCrashFailsTheParents(t *testing.T) {
	t.Parallel()
	good := "a finished T=passed T/x=passed T/x/1=passed U=passed\nend"
	b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		switch {
		case state == "G":
			return parse(good), sandbox.Exited
		case len(sel.Skip) == 0:
			return parse("a aborted>T/x/1\nend"), sandbox.Exited
		}
		return parse("a finished T=passed T/x=passed U=passed\nend"), sandbox.Exited
	})
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a::T parent", "a::T/x parent", "a::T/x/1 fail_to_pass fails", "a::U pass_to_pass"}
	if diff := cmp.Diff(want, verdicts(proof.Tests)); diff != "" {
		t.Error(diff)
	}
	for _, v := range proof.Tests[:3] {
		if v.S[0] != schemas.Failed {
			t.Errorf("%s is %s at the start, want failed", v.ID, v.S[0])
		}
	}
}

// TestFileThatEndsTheRunWhileLoading: a language names the file itself as running.
func TestFileThatEndsTheRunWhileLoading(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		switch {
		case state == "G":
			return parse("a finished t=passed\nb finished u=passed\nc finished v=passed\nend"), sandbox.Exited
		case state == "B":
			return parse("a finished t=passed\nb finished u=passed\nend"), sandbox.Exited
		case sel.Units != nil:
			t.Errorf("only %v are run again, though files can be left that nobody met", sel.Units)
		case len(sel.Skip) == 0:
			r := parse("a aborted\nc not_loaded")
			r.Units[1].Running = "c"
			return r, sandbox.Exited
		}
		return parse("a finished t=passed\nb finished u=passed\nend"), sandbox.Exited
	})
	b.lang.whole, b.cfg.Runs = true, 1
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a::t pass_to_pass", "b::u pass_to_pass", "c::v fail_to_pass load_new"}, verdicts(proof.Tests)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"G suite 1", "S suite 1", "S rest 1 -c", "B suite 1"}, b.box.runs); diff != "" {
		t.Error(diff)
	}
}

// TestAbortInTheSolution: the running test failed, the others are what they are.
func TestAbortInTheSolution(t *testing.T) {
	t.Parallel()
	start := program{tests: []string{"a::t=failed", "a::u=failed", "a::v=passed"}}
	gold := program{tests: []string{"a::t=passed", "a::u=crash", "a::v=passed"}}
	b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
		return map[string]program{"S": start, "G": gold}[state].run(sel), sandbox.Exited
	})
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a::t fail_to_pass fails", "a::u failing", "a::v pass_to_pass"}, verdicts(proof.Tests)); diff != "" {
		t.Error(diff)
	}
}

// TestAbortWithoutTest: nobody to leave out, so nothing is run again.
func TestAbortWithoutTest(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": "a aborted t=failed", "G": passes, "B": passes}.script)
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(b.box.runs, func(r string) bool { return strings.Contains(r, "rest") }) {
		t.Errorf("ran again: %v", b.box.runs)
	}
	if proof.Runs[1].End != testrun.EndAborted {
		t.Errorf("end is %s, want aborted", proof.Runs[1].End)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for end, want := range map[sandbox.End]schemas.Reason{
		sandbox.TimedOut: schemas.OverTime, sandbox.Memory: schemas.OverMemory, sandbox.Processes: schemas.OverProcs,
		sandbox.Disk: schemas.OverDisk, sandbox.Output: schemas.OverOutput,
		"eclipse": `fault: state S, changed, run 1: the sandbox knows an end "eclipse" that the proof does not`,
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(state string, sel lang.Select) (testlog.Report, sandbox.End) {
				if state == "S" {
					return parse("a finished t=failed"), end
				}
				return parse("a finished t=passed\nend"), sandbox.Exited
			})
			b.lang.modules = 3
			proof, err := b.prove(t)
			if got := reason(err); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if last := proof.Runs[len(proof.Runs)-1]; last.End != string(end) || last.Log == "" {
				t.Errorf("the run is recorded as %+v, want its end and its log", last)
			}
			if n := len(b.box.runs); n != 3+1 {
				t.Errorf("%d processes were started, want those of G and one of S", n)
			}
			if diff := cmp.Diff([]string{"S", "G", "B"}, b.box.removed); diff != "" {
				t.Errorf("layers left behind (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitNamesTheTest(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(string, lang.Select) (testlog.Report, sandbox.End) {
		return parse("a aborted>forks t=passed"), sandbox.Processes
	})
	if _, err := b.prove(t); err == nil || !strings.Contains(err.Error(), "state G, changed, run 1, in a::forks") {
		t.Errorf("got %v", err)
	}
}

// TestCutReport: what was cut off could have been anything.
func TestCutReport(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": fails, "G": passes}.script)
	b.c.Lang, b.c.Runner = b.lang, b.lang
	v, err := New(Outside{Builder: &environment.Builder{Sandbox: cutting{b.box}}, Blobs: b.blobs}, b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.proveCase(t.Context(), b.c); reason(err) != schemas.OverOutput {
		t.Errorf("got %v", err)
	}
}
