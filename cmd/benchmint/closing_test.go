package main

import (
	"testing"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// TestLeftOut: what the writing of a dataset rejects is in no stage of the run, and is said beside
// the dataset.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	before := output.Funnel{Stage: "describe", Rejected: map[schemas.Reason]int{schemas.ThinStatement: 3}}
	for want, f := range map[string]output.Funnel{
		"": {Stage: "export", Done: 2},
		"3 tasks: export/secret 2, " + string(schemas.LedgerFlaky) + " 1; see out/rejects.jsonl": {Stage: "export", Rejected: map[schemas.Reason]int{schemas.SecretInRow: 2, schemas.LedgerFlaky: 1}},
	} {
		if got := leftOut([]output.Funnel{before, f}, "out"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNext: check has run over what was written, so that no line asks for it.
func TestNext(t *testing.T) {
	t.Parallel()
	for refreshing, want := range map[bool]string{false: "benchmint report 'my out'", true: "benchmint prove 'my out'"} {
		s := &session{program: &program{refreshing: refreshing}, config: config.Default()}
		if got := s.next(result{Dataset: "my out", Tasks: 2}, runFlags{}, exitOK, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
