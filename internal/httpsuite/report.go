package httpsuite

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

const (
	maxMessage = 4 << 10
	maxLog     = 2 << 10 // of a service, in a message
	// notReady is the status of a session that met no service (conftest.py).
	notReady = 7
	// notReadyText begins what it says then.
	notReadyText = "the service does not get ready: "
)

// junit is what pytest writes with --junitxml.
type junit struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Cases []junitCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitResult `xml:"failure"`
	Error   *junitResult `xml:"error"`
	Skipped *junitResult `xml:"skipped"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Parse reads the JUnit file of each process. A service that gives no answer is not loaded; one
// that fails later has failed the tests that asked it. A tester that ended without its whole
// report has not ended.
func (Runner) Parse(_ schemas.Recipe, out []lang.Output) testlog.Report {
	report := testlog.Report{Started: true, Ended: true}
	for _, o := range out {
		p := parsed(o)
		report.Started = report.Started && p.started
		report.Ended = report.Ended && p.unit.State != testlog.Aborted
		report.Units = append(report.Units, p.unit)
		report.Tests = append(report.Tests, p.tests...)
	}
	return report
}

type process struct {
	started bool
	unit    testlog.Unit
	tests   []testlog.Test
}

func parsed(o lang.Output) process {
	p := process{started: true, unit: testlog.Unit{Name: unitOf(o.Run), State: testlog.Finished}}
	p.unit.Listed = listed(p.unit.Name, o.Run.Inputs)
	exited := o.Result.End == sandbox.Exited
	if exited && o.Result.ExitCode == notReady {
		said := withLog(reason(o.Result.Output), o.Result)
		p.unit.State, p.unit.Message, p.unit.Trace = testlog.NotLoaded, cut(said), testlog.Trace(said)
		return p
	}
	var x junit
	if err := xml.NewDecoder(bytes.NewReader(o.Report)).Decode(&x); err != nil {
		p.started = len(o.Report) > 0
		p.unit.State, p.unit.Message = testlog.Aborted, cut("the tester left no whole report: "+lastLine(o.Result.Output))
		return p
	}
	known := map[string]bool{}
	for _, id := range p.unit.Listed {
		known[id] = true
	}
	seen := map[string]bool{}
	for _, s := range x.Suites {
		for _, c := range s.Cases {
			t := c.test(p.unit.Name, o.Result)
			if !known[t.ID] {
				continue // the file or the session itself: none of the cases
			}
			seen[t.ID] = true
			p.tests = append(p.tests, t)
		}
	}
	if !exited || o.Result.ExitCode > 1 || o.Result.ExitCode < 0 || len(seen) < len(known) {
		p.unit.State = testlog.Aborted
		p.unit.Message = cut(fmt.Sprintf("the tester ended with status %d after %d of %d tests: %s", o.Result.ExitCode, len(seen), len(known), lastLine(o.Result.Output)))
	}
	return p
}

// Ended says why no later process of a run meets the service, after the one that asks whether it answers: it ended by itself before it
// answered. "" where they may meet it. Without it each of them would wait as long as a service may take.
func Ended(o lang.Output) string {
	asks := o.Run.Serves != nil && o.Run.Command.Env[groupVariable] == ""
	if r := o.Result; asks && r.ExitCode != 0 && r.Beside != nil && r.Beside.End == sandbox.Exited {
		return fmt.Sprintf("it ended with status %d", r.Beside.ExitCode)
	}
	return ""
}

// NotServed is the output of a process that was not started, because there is no service to ask.
func NotServed(run recipe.TestRun, t lang.Tree, why string) lang.Output {
	return lang.Output{Run: run, Tree: t, Result: sandbox.Result{End: sandbox.Exited, ExitCode: notReady, Output: []byte(notReadyText + why + "\n")}}
}

// listed are the tests of a unit.
func listed(unit string, inputs []sandbox.File) []string {
	if unit == Connect {
		return []string{ConnectID}
	}
	var files []File
	for _, f := range inputs {
		files = append(files, File{f.Path, f.Data})
	}
	out := []string{}
	for _, g := range suiteOf(files).Groups {
		for _, c := range g.Cases {
			if g.Name == unit && c.Expect != nil {
				out = append(out, c.TestID(g.Name))
			}
		}
	}
	return out
}

func (c junitCase) test(unit string, r sandbox.Result) testlog.Test {
	file := path.Join(schemas.SuiteFolder, c.Class[strings.LastIndexByte(c.Class, '.')+1:]+".py")
	t := testlog.Test{ID: file + "::" + c.Name, Unit: unit, Status: schemas.Passed}
	said := ""
	switch {
	case c.Failure != nil:
		t.Status, said = schemas.Failed, c.Failure.text()
	case c.Error != nil:
		t.Status, said = schemas.Errored, c.Error.text()
	case c.Skipped != nil:
		t.Status, said = schemas.Skipped, c.Skipped.text()
	}
	if unit == Connect && t.Status != schemas.Passed {
		said = withLog(said, r)
	}
	t.Message, t.Trace = cut(said), testlog.Trace(said)
	return t
}

func (r *junitResult) text() string {
	if text := strings.TrimSpace(r.Text); text != "" {
		return text
	}
	return r.Message
}

// reason is what the tester said of a service that gave no answer.
func reason(output []byte) string {
	_, after, found := bytes.Cut(output, []byte(notReadyText))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	if !found {
		return strings.TrimSuffix(notReadyText, ": ")
	}
	return notReadyText + strings.TrimRight(string(line), " !")
}

// withLog adds the last lines of the service's log to a message.
func withLog(message string, r sandbox.Result) string {
	if r.Beside == nil {
		return message
	}
	if r.Beside.End == sandbox.Exited {
		message += fmt.Sprintf("\nthe service ended with status %d", r.Beside.ExitCode)
	} else if r.Beside.End != "" {
		message += fmt.Sprintf("\nthe service was ended for its %s", r.Beside.End)
	}
	log := bytes.TrimSpace(r.Beside.Output)
	log = log[max(0, len(log)-maxLog):]
	if len(log) > 0 {
		message += "\n" + string(log)
	}
	return message
}

func lastLine(output []byte) string {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(lines[len(lines)-1])
}

// cut bounds a message without breaking a character.
func cut(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxMessage)], "")
}
