package output

import (
	"maps"

	"github.com/benchmint/benchmint/schemas"
)

// Encoded is the row as a line of the JSONL, with its end.
func (r Row) Encoded() ([]byte, error) { return line(r) }

// EncodeRecord is a record of a task's folder as it stands there.
func EncodeRecord(v any) ([]byte, error) { return indented(v) }

// Narrowed is the row with the lists of a proof that lost tests to the flake ledger; removed names
// the changes in which each of them disagreed with itself (ledger.Strip). It is for features, edits
// and libraries.
func (d *Dataset) Narrowed(r Row, p schemas.Proof, removed map[string][]string) (Row, error) {
	a, err := d.Adequacy(r.InstanceID)
	if err != nil {
		return r, err
	}
	s, err := d.Start(r.InstanceID)
	if err != nil {
		return r, err
	}
	r.FailToPass, r.PassToPass = sorted(p.List(schemas.F2P)), sorted(p.List(schemas.P2P))
	e := &r.Benchmint
	e.Causes, e.BaselineB, e.Quarantined, e.P2PFast = causes(p), baselineB(p), sorted(p.List(schemas.Quarantined)), fast(a, r.PassToPass)
	e.QuarantinedIn = maps.Clone(quarantinedIn(e.QuarantinedIn))
	maps.Copy(e.QuarantinedIn, removed)
	e.Statistics.FailToPass, e.Statistics.PassToPass = len(r.FailToPass), len(r.PassToPass)
	if x := e.Library; x != nil {
		e.Library = libraryAgain(*x, s, p, a)
	}
	return r, nil
}

// libraryAgain is what a row says of its library, made again of the records of its folder.
func libraryAgain(x Library, s schemas.Start, p schemas.Proof, a schemas.Adequacy) *Library {
	return libraryOf(Task{
		Origin: schemas.Origin{Cut: &schemas.Cut{Release: schemas.Release{Tag: x.Release}}}, Start: s, Proof: p, Adequacy: a,
		Statement: schemas.Statement{Specification: x.Specification},
	})
}

// Told is what a row says to a solver, and who wrote it: all that a revision by hand may change.
type Told struct {
	Statement, Hints, From, Provider, WrittenBy string
	Interface                                   []schemas.Name
	Thin                                        bool
	Review                                      *schemas.Review
	Words                                       int
}

// Told is that of a row.
func (r Row) Told() Told {
	e := r.Benchmint
	return Told{r.ProblemStatement, r.HintsText, e.StatementFrom, e.StatementProvider, e.WrittenBy, e.Interface, e.Thin, e.Review, e.Statistics.StatementWords}
}

// Telling is the row that says something else to a solver.
func (r Row) Telling(t Told) Row {
	r.ProblemStatement, r.HintsText = t.Statement, t.Hints
	e := &r.Benchmint
	e.StatementFrom, e.StatementProvider, e.WrittenBy, e.Interface, e.Thin, e.Review = t.From, t.Provider, t.WrittenBy, t.Interface, t.Thin, t.Review
	e.Statistics.StatementWords = t.Words
	return r
}
