package golang

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// event is one line of go test -json (go doc test2json, and go help buildjson
// for the build events of Go 1.24 on).
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	ImportPath  string
	FailedBuild string
}

// testState is one test while its events come in. Only Action is trusted: output
// can hold anything.
type testState struct {
	name   string
	paused bool
	status schemas.Status // "" until its end
	said   bool           // "--- PASS: name" came
	output printed
	round  int // of its last begin (guard)
	// process is that of its last begin, where each test has its own.
	process int
	// earlier is the worst of what was said of it in earlier rounds.
	earlier schemas.Status
	// within is the subtest whose failure went on to this one in the same breath: a
	// panic ends a test and all that are above it.
	within *testState
}

// packageState is one package while its events come in.
type packageState struct {
	name             string
	tests            map[string]*testState
	order            []*testState
	end              string // pass, fail, skip; "" until its end
	unclean          bool   // go test said so of its exit code; the end of Go before 1.14 is that of its last word
	verdict          string // the last line PASS or FAIL of the test program itself, "" if a test spoke after it
	broken           bool   // did not build or set up
	build            string // import path of the failed build
	message          bytes.Buffer
	text             strings.Builder // of a program that does not mark its lines, until it is read
	listed           map[string]bool // of "running tests:" after a time-out
	crashed          *testState      // in whose output the program's last words begin
	last             *testState      // of the last event
	failed           *testState      // the last one that failed, at event number failedAt
	failedAt, events int
	// guard is nil in a run without canaries. A package is unplanned if it has tests
	// in a run with canaries and none of them is its own.
	guard     *guard
	unplanned bool
	// apart: each test has a process of its own, of which process ended before the one that
	// runs; listEnded says that all of them ran.
	apart, listEnded bool
	process          int
}

// stream reads the output of one process.
type stream struct {
	packages map[string]*packageState
	order    []*packageState
	builds   map[string]*bytes.Buffer // compiler messages by "# header"
	current  *bytes.Buffer            // of the header that plain lines belong to
	loose    bytes.Buffer             // everything that is no event
	events   int
	guards   map[string]*guard
	apart    bool // each test has a process of its own
	// unmarked programs do not mark the lines of package testing; swallows is Go that loses
	// the beginning of a test where another one holds standard output.
	unmarked, swallows bool
}

const (
	maxMessage = 4 << 10 // testlog's bound
	maxKept    = 16 << 10
)

// Parse reads what the processes of one run left. Bytes that are no events are
// compiler messages of older Go, or noise.
func (Language) Parse(r schemas.Recipe, out []lang.Output) testlog.Report {
	report := testlog.Report{Started: true, Ended: true}
	for _, o := range out {
		p := &stream{packages: map[string]*packageState{}, builds: map[string]*bytes.Buffer{}, guards: guardsOf(o.Run.Secret), apart: isApart(o.Run), unmarked: unmarked(r), swallows: !atLeast(r, "1.14")}
		data := o.Result.Output
		if o.Report != nil {
			data = o.Report
		}
		for len(data) > 0 {
			line, rest, _ := bytes.Cut(data, []byte("\n"))
			p.line(line)
			data = rest
		}
		ended := o.Result.End == sandbox.Exited
		if p.events == 0 && len(p.order) == 0 && (!ended || o.Result.ExitCode != 0) {
			p.nothing(o, ended)
		}
		for _, pkg := range p.order {
			p.readText(pkg)
			unit, tests := pkg.finish(p)
			if unit.State == testlog.Tampered && report.Tampered == "" {
				report.Tampered = unit.Name + ": " + unit.Message
			}
			report.Units = append(report.Units, unit)
			report.Tests = append(report.Tests, tests...)
			ended = ended && (pkg.broken || pkg.end != "")
		}
		report.Ended = report.Ended && ended
	}
	return report
}

// nothing is a process that said nothing of any package. One that ended by
// itself could not load the module: none of its packages did.
func (p *stream) nothing(o lang.Output, ended bool) {
	if !ended {
		return
	}
	for _, in := range o.Run.Inputs {
		if in.Path != planPath {
			continue
		}
		for _, name := range strings.Fields(string(in.Data)) {
			pkg := p.pkg(name)
			pkg.broken = true
			keep(&pkg.message, p.loose.String())
		}
	}
}

// starts are how an event line begins, for lines that something was printed before.
var starts = [][]byte{[]byte(`{"Time":"`), []byte(`{"ImportPath":"`), []byte(`{"Action":"`)}

func (p *stream) line(line []byte) {
	at := -1
	for _, s := range starts {
		if i := bytes.Index(line, s); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	var e event
	if at < 0 || json.Unmarshal(line[at:], &e) != nil || e.Action == "" {
		p.plain(string(line))
		return
	}
	if at > 0 {
		p.plain(string(line[:at]))
	}
	p.events++
	p.event(e)
}

// plain is a line outside of events.
func (p *stream) plain(line string) {
	line = strings.TrimRight(line, "\r")
	keep(&p.loose, line+"\n")
	if pkg, ok := failedToLoad(line); ok {
		p.pkg(pkg).broken = true
		p.current = nil
		return
	}
	if header, ok := strings.CutPrefix(line, "# "); ok {
		p.current = p.buildText(header)
		return
	}
	if p.current != nil {
		keep(p.current, line+"\n")
	}
}

// failedToLoad reads "FAIL\tpkg [build failed]".
func failedToLoad(line string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "FAIL\t")
	if !ok {
		return "", false
	}
	for _, why := range []string{" [build failed]", " [setup failed]"} {
		if pkg, ok := strings.CutSuffix(rest, why); ok && pkg != "" && !strings.ContainsAny(pkg, " \t") {
			return pkg, true
		}
	}
	return "", false
}

func (p *stream) buildText(header string) *bytes.Buffer {
	b, ok := p.builds[header]
	if !ok {
		b = &bytes.Buffer{}
		p.builds[header] = b
	}
	return b
}

func (p *stream) pkg(name string) *packageState {
	pkg, ok := p.packages[name]
	if !ok {
		pkg = &packageState{name: name, tests: map[string]*testState{}, listed: map[string]bool{}, guard: p.guards[name]}
		pkg.unplanned = p.guards != nil && pkg.guard == nil
		p.packages[name] = pkg
		p.order = append(p.order, pkg)
	}
	return pkg
}

func (p *stream) event(e event) {
	switch {
	case e.Action == "build-output":
		keep(p.buildText(e.ImportPath), e.Output)
		return
	case e.Action == "build-fail" || e.Package == "":
		return
	}
	pkg := p.pkg(e.Package)
	if e.FailedBuild != "" {
		pkg.broken, pkg.build = true, e.FailedBuild
	}
	switch {
	case p.unmarked && e.Action == "output":
		pkg.text.WriteString(e.Output)
	case p.unmarked && e.Test != "": // told by the text
	default:
		p.readText(pkg) // before its end
		p.packageEvent(pkg, e)
	}
}

// readText reads what a package's program printed so far, where that was put aside.
func (p *stream) readText(pkg *packageState) {
	text := pkg.text.String()
	pkg.text.Reset()
	readText(text, p.swallows, func(e event) { p.packageEvent(pkg, e) })
}

func (p *stream) packageEvent(pkg *packageState, e event) {
	if p.apart && pkg.boundary(e) {
		return
	}
	if e.Test != "" {
		pkg.testEvent(e)
		return
	}
	switch e.Action {
	case "pass", "fail", "skip":
		pkg.end = e.Action
	case "output":
		pkg.output(e.Output)
	}
}

// output is a line of the package itself.
func (k *packageState) output(text string) {
	if _, ok := failedToLoad(text); ok {
		k.broken = true
		return
	}
	switch line := strings.TrimRight(text, "\r\n"); {
	case k.listEnded: // it is the script that speaks
	case line == "PASS" || line == "FAIL":
		k.verdict = line
	case strings.HasPrefix(line, "FAIL\t"+k.name+"\t"):
		k.unclean = true
	default:
		k.notice(line, nil)
		keep(&k.message, text)
	}
}

var (
	listedTest = lazyregexp.New(`^\t((?:Test|Example|Fuzz|Benchmark)\S*) \([0-9hms.µn]+\)$`)
	lastWords  = lazyregexp.New(`^(panic: |fatal error: |SIG[A-Z]+: )`)
)

// notice looks at output for what ends a test program. It only decides which
// tests were running, never that one passed. t is nil for the package's own output.
func (k *packageState) notice(line string, t *testState) {
	if m := listedTest.FindStringSubmatch(line); m != nil {
		k.listed[m[1]] = true
	}
	if k.crashed == nil && t != nil && lastWords.MatchString(line) {
		k.crashed = t
	}
	if t != nil && strings.HasPrefix(strings.TrimLeft(line, " "), "--- FAIL: "+t.name+" (") {
		t.within = nil
		if k.failed != nil && k.failedAt == k.events-1 && strings.HasPrefix(k.failed.name, t.name+"/") {
			t.within = k.failed
		}
	}
}

func (k *packageState) testEvent(e event) {
	k.verdict = ""
	k.events++
	if k.guard != nil && k.guard.hides(e) {
		return
	}
	t, known := k.tests[e.Test]
	if e.Action == "run" && k.guard != nil {
		k.guard.begins(k, e.Test, t)
	}
	if !known {
		if e.Action == "run" {
			t = &testState{name: e.Test, round: k.rounds(), process: k.process}
			k.tests[e.Test] = t
			k.order, k.last = append(k.order, t), t
		}
		return // an end without a beginning is a line that a test printed
	}
	k.last = t
	if e.Action == "run" {
		t.process = k.process
	}
	if k.guard != nil {
		k.guard.speaks(t, e.Action)
	}
	switch e.Action {
	case "pause":
		t.paused = true
	case "cont":
		t.paused = false
	case "output":
		t.output.add(e.Output)
		k.notice(strings.TrimRight(e.Output, "\r\n"), t)
		t.said = t.said || strings.Contains(e.Output, "--- PASS: "+t.name+" (")
	case "pass":
		t.status = worse(t.worst(), schemas.Passed)
	case "fail":
		t.status, k.failed, k.failedAt = schemas.Failed, t, k.events
	case "skip":
		t.status = worse(t.worst(), schemas.Skipped)
	}
}

// finish turns a package's events into its unit and tests.
func (k *packageState) finish(p *stream) (testlog.Unit, []testlog.Test) {
	unit := testlog.Unit{Name: k.name, State: testlog.Finished}
	if k.listEnded {
		k.processEnds() // of one that said so itself, and ended the script
	}
	switch {
	case k.broken:
		said := p.compilerSays(k)
		unit.State, unit.Message, unit.Trace = testlog.NotLoaded, cut(said), testlog.Trace(said)
		return unit, nil
	case k.end == "fail" && k.verdict == "" && len(k.order) == 0:
		// The program ended before its first test: its initialisation or its TestMain
		// gave up, which is Go's way of failing to import.
		said := k.message.String()
		unit.State, unit.Message, unit.Trace = testlog.NotLoaded, cut(said), testlog.Trace(said)
		return unit, nil
	case k.guard != nil && k.guard.why != "":
		k.settle()
		unit.State, unit.Message = testlog.Tampered, k.guard.why
	case k.listEnded: // each process was judged by itself
		k.settle()
	case k.exited():
		k.last.status = ""
		unit.State = testlog.Aborted
		k.settleAbort(&unit)
	case k.end == "" || k.apart || k.end == "fail" && k.verdict == "" || k.end == "pass" && k.verdict == "" && k.unended():
		unit.State = testlog.Aborted
		k.settleAbort(&unit)
	default:
		k.settle()
		k.endInOrder(&unit)
	}
	unit.Unproved = (k.guard != nil || k.unplanned) && unit.State != testlog.Finished
	return unit, k.rows()
}

// exited recognises a program that left with 0 in the middle of a test, past the guard
// of package testing (syscall.Exit): test2json then passes the test that was
// running, which the program never announced, and the program has no verdict.
func (k *packageState) exited() bool {
	return k.end != "fail" && k.verdict == "" && k.last != nil && k.last.status == schemas.Passed && !k.last.said
}

func (k *packageState) unended() bool {
	for _, t := range k.order {
		if t.status == "" {
			return true
		}
	}
	return false
}

// settle ends tests without an end in a program that ended in order.
func (k *packageState) settle() {
	for _, t := range k.order {
		if t.status != "" {
			continue
		}
		t.status = schemas.Failed
		if k.end == "pass" {
			t.status = schemas.Passed
		}
	}
}

// settleAbort decides which tests the abort ended. With a panic in a test it is
// that test, with a time-out those that the runtime lists, else every test that
// had begun and not paused. Tests that merely ran beside have no outcome.
func (k *packageState) settleAbort(unit *testlog.Unit) {
	culprit := k.culprit()
	running := culprit
	for _, t := range k.order {
		if t.status != "" || k.bystander(t, culprit) {
			continue
		}
		t.status = schemas.Failed
		if culprit == nil {
			running = t // the last one: a subtest comes after its parent
		}
	}
	if running == nil && k.guard != nil && k.crashed == nil && len(k.listed) == 0 && k.last != nil && !k.guard.complete() {
		running = k.last // nobody seems to run: the last one that spoke wrote its own end
		running.status = schemas.Failed
	}
	words := k.message.String()
	switch {
	case k.crashed != nil:
		words = k.crashed.output.String()
	case running != nil && assertion(running.output.String()) != "":
		words = running.output.String()
	}
	unit.Message, unit.Trace = short(assertion(words)), testlog.Trace(withoutStarts(words))
	if running != nil {
		unit.Running = TestID(k.name, running.name)
	}
}

// culprit is the test that failed with the program's last words; nil where they
// came from elsewhere (another goroutine, a time-out).
func (k *packageState) culprit() *testState {
	if k.crashed == nil || k.crashed.status != schemas.Failed || len(k.listed) > 0 {
		return nil
	}
	t := k.crashed
	for t.within != nil {
		t = t.within
	}
	return t
}

func (k *packageState) bystander(t, culprit *testState) bool {
	switch {
	case len(k.listed) > 0:
		return !k.listed[t.name] && !k.parentOfListed(t.name)
	case culprit != nil:
		return !strings.HasPrefix(culprit.name, t.name+"/")
	}
	return t.paused
}

func (k *packageState) parentOfListed(name string) bool {
	for l := range k.listed {
		if strings.HasPrefix(l, name+"/") {
			return true
		}
	}
	return false
}

// address is a pointer in a test's name, as %v and %#v print it. Such a name means
// nothing outside of its process, and it is a trap: the heap is laid out the same
// in every run of one state, and otherwise in the next state, so that comparing
// runs does not show it. Constants in hexadecimal are left alone.
var address = lazyregexp.New(`(?:^|[^0-9A-Za-z])0xc0[0-9a-f]{8}(?:[^0-9a-f]|$)|\)\(0x[0-9a-f]+\)`)

// rows are the outcomes in order of execution. A failure below a test that
// passed, or in a program that passed, is a test's own material (a test of
// failing tests), and no outcome.
func (k *packageState) rows() []testlog.Test {
	var out []testlog.Test
	for _, t := range k.order {
		if t.status == "" {
			continue
		}
		top, _, nested := strings.Cut(t.name, "/")
		if nested && address.MatchString(t.name) {
			continue
		}
		if t.status == schemas.Failed && k.end == "pass" && k.verdict == "PASS" {
			continue
		}
		if above, ok := k.tests[top]; nested && ok && t.status == schemas.Failed && (above.status == schemas.Passed || above.status == schemas.Skipped) {
			continue
		}
		row := testlog.Test{ID: TestID(k.name, t.name), Unit: k.name, Status: t.status}
		if parent := k.parent(t.name); parent != "" {
			row.Parent = TestID(k.name, parent)
		}
		if t.status != schemas.Passed {
			said := t.output.String()
			row.Message, row.Trace = short(assertion(said)), testlog.Trace(withoutStarts(said))
		}
		out = append(out, row)
	}
	return out
}

// parent is the longest test that a name is below; a name may itself hold slashes.
func (k *packageState) parent(name string) string {
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if _, ok := k.tests[name[:i]]; ok {
			return name[:i]
		}
	}
	return ""
}

// compilerSays finds the message of a package that did not build. Its header
// names the package, its test variant, or the one it depends on.
func (p *stream) compilerSays(k *packageState) string {
	var own, other strings.Builder
	for _, header := range slices.Sorted(maps.Keys(p.builds)) {
		text := p.builds[header].String()
		name, variant, _ := strings.Cut(header, " ")
		switch {
		case header == k.build || variant == "["+k.name+".test]" || name == k.name || name == k.name+"_test":
			own.WriteString("# " + header + "\n" + text)
		case k.build == "":
			other.WriteString("# " + header + "\n" + text)
		}
	}
	for _, s := range []string{own.String(), k.message.String(), other.String(), p.loose.String()} {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
