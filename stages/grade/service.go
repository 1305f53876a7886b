package grade

import (
	"fmt"

	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// served says how far the service of an answer came, and what went wrong.
func (g *Grader) served(grade schemas.Grade, o *testrun.Outcome) (*schemas.Served, schemas.ErrorClass, error) {
	connect := lang.Test{ID: httpsuite.ConnectID, Unit: httpsuite.Connect}
	out := &schemas.Served{Starts: o.Status(connect) == schemas.Passed}
	out.Functional = out.Starts && grade.Verdict == schemas.VerdictPass
	switch {
	case out.Functional:
		return out, "", nil
	case out.Starts:
		return out, schemas.ClassLogic, nil
	}
	said := o.Why(connect)
	for _, r := range grade.Runs {
		if r.Scope != testrun.ScopeBuild {
			continue
		}
		log, err := g.patches.Get(r.Log)
		if err != nil {
			return nil, "", fmt.Errorf("reading the log of a build: %w", err)
		}
		said = string(log) + "\n" + said
	}
	return out, classOf(said), nil
}
