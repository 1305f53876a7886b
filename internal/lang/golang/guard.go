package golang

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// guard judges what one package's test program says: whether its canaries said what
// they must, and whether its framing can be that of package testing. A program may run
// all its tests more than once (a TestMain that calls m.Run for each of two
// databases): each round has to hold.
type guard struct {
	canary
	said  map[string]string // of each canary, in this round: run, pass, fail, skip
	round int               // complete ones
	begun bool              // a test began in this round
	why   string            // the first contradiction
	known map[string]bool
}

// guardsOf reads what a run was given; nil for one without canaries.
func guardsOf(secret []byte) map[string]*guard {
	var all map[string]canary
	if json.Unmarshal(secret, &all) != nil {
		return nil
	}
	out := map[string]*guard{}
	for pkg, c := range all {
		out[pkg] = newGuard(c)
	}
	return out
}

func newGuard(c canary) *guard {
	g := &guard{canary: c, said: map[string]string{}, known: map[string]bool{}}
	for _, name := range c.Known {
		g.known[name] = true
	}
	return g
}

func (g *guard) contradiction(format string, args ...any) {
	if g.why == "" {
		g.why = fmt.Sprintf(format, args...)
	}
}

// hides takes the events of canaries, which are in no report, and those of names that
// no source has.
func (g *guard) hides(e event) bool {
	switch e.Test {
	case g.Test, g.Fails, g.Passes, g.Ends:
		g.canaryEvent(e)
		return true
	}
	top, _, _ := strings.Cut(e.Test, "/")
	return !g.known[top]
}

func (g *guard) canaryEvent(e event) {
	switch e.Action {
	case "run", "pass", "fail", "skip":
	default:
		return
	}
	before, want := g.said[e.Test], ""
	if e.Action != "run" {
		want = "run"
	}
	if before != want {
		g.contradiction("a canary said %s after %q", e.Action, before)
	}
	g.said[e.Test] = e.Action
	if e.Test == g.Ends && e.Action != "run" {
		g.endRound()
	}
}

// endRound is where the last thing of a program ended.
func (g *guard) endRound() {
	want := map[string]string{g.Test: "pass", g.Fails: "fail", g.Passes: "pass", g.Ends: "pass"}
	for name, action := range want {
		if g.said[name] != action {
			g.contradiction("a canary that must %s said %q", action, g.said[name])
		}
	}
	g.said = map[string]string{}
	g.begun = false
	g.round++
}

// complete reports whether every test that began was in a round that came to its end.
func (g *guard) complete() bool { return g.round > 0 && !g.begun && len(g.said) == 0 }

// begins is the begin of a test; t is nil at its first one.
func (g *guard) begins(k *packageState, name string, t *testState) {
	g.begun = true
	nested := strings.Contains(name, "/")
	if nested && !k.runsAbove(name, g.round) {
		g.contradiction("%s begins and no test above it runs", name)
	}
	if t != nil && !nested && t.round == g.round {
		g.contradiction("%s begins twice", name)
	}
}

// endsEarly ends a round whose process ended before its canaries did, if it was in one.
func (g *guard) endsEarly() bool {
	early := g.begun || len(g.said) > 0
	if early {
		g.said, g.begun = map[string]string{}, false
		g.round++
	}
	return early
}

// startedFor reports whether the n-th process, from 0, of the list of tests is that of a test:
// the list has the known tests in order.
func (g *guard) startedFor(name string, n int) bool {
	top, _, _ := strings.Cut(name, "/")
	return n < len(g.Known) && g.Known[n] == top
}

// runsAbove reports whether some test that a name is below has begun and not ended.
func (k *packageState) runsAbove(name string, round int) bool {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if t, ok := k.tests[name[:i]]; ok && t.status == "" && t.round == round {
			return true
		}
	}
	return false
}

// speaks is an event of a test that began before.
func (g *guard) speaks(t *testState, action string) {
	switch action {
	case "run":
		t.round, t.earlier, t.status = g.round, worse(t.earlier, t.status), ""
	case "pass", "fail", "skip":
		if t.status != "" {
			g.contradiction("%s ends twice", t.name)
		}
		if t.round != g.round {
			g.contradiction("%s ends after the last test of its program", t.name)
		}
	}
}

// worst is the worst of what was said of a test so far: of two outcomes it counts.
func (t *testState) worst() schemas.Status { return worse(t.earlier, t.status) }

func (k *packageState) rounds() int {
	if k.guard == nil {
		return 0
	}
	return k.guard.round
}

// worse is the worse of two outcomes, "" being none.
func worse(a, b schemas.Status) schemas.Status {
	order := []schemas.Status{"", schemas.Passed, schemas.Skipped, schemas.Failed}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

// endInOrder looks at a program that seems to have ended in order: one with canaries
// must have said so by them, and its last word must fit what its tests said.
func (k *packageState) endInOrder(unit *testlog.Unit) {
	is := func(want schemas.Status) func(*testState) bool {
		return func(t *testState) bool { return t.status == want }
	}
	passed := slices.ContainsFunc(k.order, is(schemas.Passed))
	switch {
	case !passed:
	case k.unplanned:
		unit.State, unit.Message = testlog.Aborted, "tests ran in a package that has none for this platform"
	case k.guard == nil:
	case !k.guard.complete():
		unit.State, unit.Message = testlog.Tampered, "the program says that it came to its end, and the last test that every program was given did not run"
	case k.verdict == "FAIL" && !slices.ContainsFunc(k.order, is(schemas.Failed)):
		unit.State, unit.Message = testlog.Tampered, "the program failed and none of its tests did"
	case (k.end == "fail" || k.unclean) && k.verdict == "PASS":
		unit.State, unit.Message = testlog.Aborted, "the program said PASS and ended with another code than 0"
	}
}
