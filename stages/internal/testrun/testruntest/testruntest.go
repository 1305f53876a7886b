// Package testruntest writes runs down for tests.
//
// It never runs one.
package testruntest

import (
	"strings"

	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// Parse reads the form that reports of tests are written in: one unit a line, with its
// state, the test it ended in after ">", and its tests; "end" is the session's
// end, "dead" a session that never began, "tampered" one whose canaries speak against it. A part of a name before "/" is the parent.
//
//	a finished t1=passed t2=failed
//	b aborted>t4 t3=passed
//	end
func Parse(text string) testlog.Report {
	r := testlog.Report{Started: true}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "end":
			r.Ended = true
			continue
		case words[0] == "tampered":
			r.Tampered = "a canary passed"
			continue
		case words[0] == "dead":
			r.Started = false
			continue
		}
		u := testlog.Unit{Name: words[0]}
		state, running, _ := strings.Cut(words[1], ">")
		u.State = testlog.UnitState(state)
		if running != "" {
			u.Running = u.Name + "::" + running
		}
		if u.State != testlog.Finished {
			u.Message, u.Trace = "unit "+u.Name+" says why", "trace of "+u.Name
		}
		for _, w := range words[2:] {
			name, status, _ := strings.Cut(w, "=")
			t := testlog.Test{ID: u.Name + "::" + name, Unit: u.Name, Status: schemas.Status(status)}
			if i := strings.LastIndex(name, "/"); i > 0 {
				t.Parent = u.Name + "::" + name[:i]
			}
			if t.Status == schemas.Failed || t.Status == schemas.Errored {
				t.Message, t.Trace = "assertion of "+name, "trace of "+name
			}
			r.Tests = append(r.Tests, t)
			u.Listed = append(u.Listed, t.ID)
		}
		if u.State != testlog.Aborted {
			u.Listed = nil
		}
		r.Units = append(r.Units, u)
	}
	return r
}
