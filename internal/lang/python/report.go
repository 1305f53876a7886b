package python

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// record is one line of the plugin's report.
type record struct {
	Number  int      `json:"i"` // from 0
	Type    string   `json:"t"`
	Unit    string   `json:"unit"`
	ID      string   `json:"id"`
	IDs     []string `json:"ids"`
	When    string   `json:"when"`
	Outcome string   `json:"outcome"`
	XFail   bool     `json:"xfail"`
	Sub     bool     `json:"sub"`
	Why     string   `json:"why"`
	Trace   string   `json:"trace"`
	Status  int      `json:"status"`
	Ran     int      `json:"ran"` // of a canary: its body did
}

const (
	maxMessage = 4 << 10
	maxLine    = 16 << 20 // a record is far below; a longer line is not ours
)

// Parse reads the plugin's records. A run counts as ended only where each of
// its processes wrote its end, with a status that says that it went through.
func (l Language) Parse(_ schemas.Recipe, out []lang.Output) testlog.Report {
	report := testlog.Report{Started: true, Ended: true}
	for _, o := range out {
		c := configOf(o.Run)
		p := newParser(o.Tree)
		p.read(o.Report, c.Nonce)
		p.settle(o.Result)
		one := p.report()
		if one.Tampered == "" {
			one.Tampered = p.watched(c.Canaries)
		}
		report.Fault = cmp.Or(report.Fault, one.Fault)
		report.Tampered = cmp.Or(report.Tampered, one.Tampered)
		report.Unwatched = cmp.Or(report.Unwatched, one.Unwatched)
		report.Started = report.Started && one.Started
		report.Ended = report.Ended && one.Ended
		report.Units = append(report.Units, one.Units...)
		report.Tests = append(report.Tests, one.Tests...)
	}
	return report
}

// parser follows the records of one process.
type parser struct {
	loads          string // what Loads tells
	booted         bool   // our code ran, before any of the tree's
	started, ended bool
	fault          string
	tampered       string
	records        int       // so far
	tree           lang.Tree // nil: every file is taken to be there
	units          map[string]*unit
	listed         map[string]bool
	unwatched      string
	canaries       map[string]record
	order          []string
	tests          []*test
	open           map[string]*test // begun, not ended, by ID
	last           string           // ID of the test that began last
	lastWords      string           // of the process
	loading        string           // unit that was being loaded last
}

type unit struct {
	failed, skipped, loaded bool
	why                     string
	listed                  []string
	pending                 map[string]bool // listed and not ended
}

type test struct {
	id, unit string
	status   schemas.Status
	why      string
	trace    string
	ended    bool
}

func newParser(t lang.Tree) *parser {
	return &parser{tree: t, units: map[string]*unit{}, listed: map[string]bool{}, open: map[string]*test{}, canaries: map[string]record{}}
}

// read takes a record of each line that begins as the plugin's do. Nothing else is
// looked into: one look at each byte, whatever a test wrote.
func (p *parser) read(data []byte, nonce string) {
	if nonce == "" {
		return
	}
	head := []byte(`{"n":"` + nonce + `",`)
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(make([]byte, 0, 64<<10), maxLine)
	for scan.Scan() {
		line := scan.Bytes()
		var r record
		if !bytes.HasPrefix(line, head) || json.Unmarshal(line, &r) != nil {
			continue
		}
		if r.Number != p.records && p.tampered == "" {
			p.tampered = fmt.Sprintf("record %d of the report is where %d should be", r.Number, p.records)
		}
		p.records++
		p.take(r)
	}
	if scan.Err() != nil {
		p.ended = false // a line without end: what follows it is unknown
	}
}

// there reports whether a file is one of the tree's. What lies outside of the tree
// (installed packages) is not judged.
func (p *parser) there(unit string) bool {
	return p.tree == nil || path.IsAbs(unit) || strings.HasPrefix(unit, "..") || unit == wholeTree || p.tree.Has(unit)
}

func (p *parser) take(r record) {
	if p.ended {
		return // nothing of the session comes after its end
	}
	if r.Unit != "" && !p.there(r.Unit) {
		return
	}
	switch r.Type {
	case "start":
		p.started = true
	case "loading":
		p.unit(r.Unit)
		p.loading = r.Unit
	case "loaded":
		p.unit(r.Unit).loaded = true
		p.loading = ""
	case "unit":
		u := p.unit(r.Unit)
		u.loaded, u.why = true, r.Why
		u.failed = u.failed || r.Outcome == "failed"
		u.skipped = r.Outcome == "skipped"
		p.loading = ""
	case "listed":
		u := p.unit(r.Unit)
		u.listed = append(u.listed, r.IDs...)
		for _, id := range r.IDs {
			u.pending[id], p.listed[id] = true, true
		}
	case "unwatched":
		p.unwatched = cut(r.Why)
	case "canary":
		p.canaries[r.ID] = r
	case "begin":
		if !p.listed[r.ID] {
			return // not a name that collection gave
		}
		t := &test{id: r.ID, unit: r.Unit}
		p.tests = append(p.tests, t)
		p.open[r.ID], p.last = t, r.ID
	case "phase":
		p.phase(r)
	case "end":
		if t := p.open[r.ID]; t != nil {
			t.ended = true
			delete(p.open, r.ID)
			delete(p.unit(r.Unit).pending, r.ID)
		}
	case "loads":
		p.loads = r.Why
	case "boot":
		p.booted = true
	case "dead": // pytest gave up before it met a file: nothing of the tree loaded
		p.dead(r.Why)
	case "fault":
		p.started, p.fault = false, cut(r.Why)
	case "finish":
		// 0 passed, 1 failed, 5 nothing collected; others stopped early.
		p.ended = p.started && (r.Status == 0 || r.Status == 1 || r.Status == 5)
	}
}

// wholeTree is the unit of a session that met no file: what no other unit is named for
// lies in it.
const wholeTree = "."

// dead is a session that ended in order before it collected anything.
func (p *parser) dead(why string) {
	p.started, p.ended = true, true
	if len(p.order) == 0 {
		u := p.unit(wholeTree)
		u.loaded, u.failed, u.why = true, true, why
	}
}

// settle judges a process that wrote nothing more after its beginning and ended by
// itself: the code that pytest loads first left the program (os._exit) or crashed it.
// One that was killed from outside, or that never began, says nothing.
func (p *parser) settle(r sandbox.Result) {
	p.lastWords = string(r.Output[max(0, len(r.Output)-testlog.MaxTrace):])
	for _, u := range p.units {
		if strings.HasSuffix(u.why, nothingCollected) {
			u.why += ": " + toldWhy(r.Output) // some versions tell nobody but the terminal
		}
	}
	if !p.booted || p.ended || p.fault != "" || len(p.order) > 0 || r.End != sandbox.Exited {
		return
	}
	if killed(r.ExitCode) {
		p.started = false
		return
	}
	p.dead(fmt.Sprintf("the process ended with status %d %s: %s", r.ExitCode, nothingCollected, lastLine(r.Output)))
}

// nothingCollected ends what the plugin says of a session that ended before it met a file, where no hook told it why.
const nothingCollected = "before it collected anything"

// toldWhy is the last line with an error, else the last line.
func toldWhy(output []byte) string {
	for _, line := range slices.Backward(strings.Split(string(output), "\n")) {
		if strings.Contains(line, "rror: ") {
			return strings.TrimSpace(line)
		}
	}
	return lastLine(output)
}

// killed reports whether an exit status is that of a signal that others send: KILL, TERM.
func killed(status int) bool { return status == 128+9 || status == 128+15 || status < 0 }

func lastLine(output []byte) string {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(lines[len(lines)-1])
}

func (p *parser) unit(name string) *unit {
	u := p.units[name]
	if u == nil {
		u = &unit{pending: map[string]bool{}}
		p.units[name] = u
		p.order = append(p.order, name)
	}
	return u
}

// phase folds one phase into its test: the worst counts, except that a rerun
// forgets what was before it.
func (p *parser) phase(r record) {
	if !p.listed[r.ID] {
		return
	}
	t := p.open[r.ID]
	if t == nil { // plugins that report without beginning
		t = &test{id: r.ID, unit: r.Unit, ended: true}
		p.tests = append(p.tests, t)
	}
	if r.Outcome == "rerun" {
		t.status, t.why, t.trace = "", "", ""
		return
	}
	s := statusOf(r)
	if s == "" || worse(t.status) >= worse(s) {
		return
	}
	t.status, t.why, t.trace = s, r.Why, r.Trace
}

// statusOf is what one phase says; "" where it says nothing of the test.
func statusOf(r record) schemas.Status {
	switch {
	case r.Sub && r.Outcome != "failed":
		return "" // subtests speak only through the test that holds them
	case r.Outcome == "failed" && r.When != "call":
		return schemas.Errored
	case r.Outcome == "failed":
		return schemas.Failed
	case r.Outcome == "skipped" && r.XFail:
		return schemas.XFailed
	case r.Outcome == "skipped":
		return schemas.Skipped
	case r.Outcome == "passed" && r.When == "call" && r.XFail:
		return schemas.XPassed
	case r.Outcome == "passed" && r.When == "call":
		return schemas.Passed
	}
	return ""
}

// worse orders statuses within one test; Failed hides an error of its teardown.
func worse(s schemas.Status) int {
	return map[schemas.Status]int{
		"": 0, schemas.Passed: 1, schemas.XPassed: 2, schemas.Skipped: 3, schemas.XFailed: 4, schemas.Errored: 5, schemas.Failed: 6,
	}[s]
}

// watched says what speaks against a session by its canaries, "" where nothing does. One
// that was set up in vain (a hook wants other tests) or that was expected to fail says
// nothing. Canaries are missed where the session ran all its tests.
func (p *parser) watched(given []canary) string {
	whole := p.ended && len(p.listed) > 0
	for _, u := range p.units {
		whole = whole && len(u.pending) == 0
	}
	for _, c := range given {
		r, ok := p.canaries[c.Name]
		must := schemas.Failed
		if c.Left == c.Right {
			must = schemas.Passed
		}
		said := schemas.Status(r.Outcome)
		switch {
		case !ok && whole && p.unwatched == "":
			return fmt.Sprintf("the canary %s was not run", c.Name)
		case ok && said == schemas.Passed && (must == schemas.Failed || r.Ran == 0):
			return fmt.Sprintf("a canary that must have %s is said to have passed (its body ran: %t)", must, r.Ran != 0)
		case ok && said == schemas.Failed && must == schemas.Passed && r.Ran != 0:
			return "a canary that passed is said to have failed"
		}
	}
	return ""
}

// report draws the conclusions, in the order of the run.
func (p *parser) report() testlog.Report {
	r := testlog.Report{Started: p.started, Ended: p.ended, Fault: p.fault, Tampered: p.tampered, Unwatched: p.unwatched}
	running := ""
	if !p.ended && p.open[p.last] != nil {
		running = p.last
	}
	for _, t := range p.tests {
		if t.status == "" || (!t.ended && !p.ended) {
			continue // began, and nobody knows how it went
		}
		r.Tests = append(r.Tests, testlog.Test{ID: t.id, Unit: t.unit, Status: t.status, Message: message(t), Trace: testlog.Trace(t.trace)})
	}
	for _, name := range p.order {
		r.Units = append(r.Units, p.conclude(name, running))
	}
	return r
}

func message(t *test) string {
	if t.status == schemas.Passed {
		return ""
	}
	return cut(t.why)
}

func (p *parser) conclude(name, running string) testlog.Unit {
	u := p.units[name]
	out := testlog.Unit{Name: name, State: testlog.Finished, Message: cut(errorLines(u.why)), Trace: testlog.Trace(u.why), Listed: u.listed}
	switch {
	case u.failed:
		out.State = testlog.NotLoaded
	case u.skipped:
		out.State = testlog.SkippedUnit
	case !p.ended && p.loading == name:
		// The process ended while it loaded this file: Running names the file itself,
		// which Select.Skip understands.
		out.State, out.Running = testlog.NotLoaded, name
		out.Message, out.Trace = "the process ended while this file was loading", testlog.Trace(p.lastWords)
	case !p.ended && (u.listed == nil || len(u.pending) > 0):
		out.State = testlog.Aborted
		if t := p.open[running]; t != nil && t.unit == name {
			out.Running = running
			out.Message, out.Trace = "the process ended in this test", testlog.Trace(p.lastWords)
		}
	}
	return out
}

// errorLines are those that pytest marks as the error itself ("E   ImportError: …"),
// without the way there; a text without marks stays as it is.
func errorLines(why string) string {
	var out []string
	for line := range strings.Lines(why) {
		if text, ok := strings.CutPrefix(line, "E  "); ok {
			out = append(out, strings.TrimSpace(text))
		}
	}
	if len(out) == 0 {
		return why
	}
	return strings.Join(out, "\n")
}

// cut bounds a message without breaking a character.
func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "")
}
