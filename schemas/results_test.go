package schemas_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// TestStoredStart: a start that was stored before bases could be derived reads as it was
// written, and its digest stays, so that nothing that rests on it is proved again.
func TestStoredStart(t *testing.T) {
	t.Parallel()
	stored, err := os.ReadFile("testdata/start-0.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schemas.Start
	if err := json.Unmarshal(stored, &s); err != nil {
		t.Fatal(err)
	}
	if s.BaseTree == "" || s.SourceTree != "" || s.Derive != "" {
		t.Errorf("base %q, source %q, derived by %q", s.BaseTree, s.SourceTree, s.Derive)
	}
	again, err := schemas.Canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(stored), string(again)); diff != "" {
		t.Errorf("(-stored +written):\n%s", diff)
	}
	const digest = "sha256:011c56ead359e787fc1572fc1b7ad0b350874225ab183fbc52578124748e802c"
	if got := schemas.DigestOf(s); got != digest {
		t.Errorf("digest %s, want %s", got, digest)
	}

	s.SourceTree, s.Derive = strings.Repeat("1", 40), schemas.DigestBytes(nil)
	if again, err = schemas.Canonical(s); err != nil {
		t.Fatal(err)
	}
	var derived schemas.Start
	if err := json.Unmarshal(again, &derived); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, derived); diff != "" || schemas.DigestOf(s) == digest {
		t.Errorf("a derived base is not in the record (-want +got):\n%s", diff)
	}
}

// TestSuiteMS takes the median of whole runs of the solution, and no measure is in what a
// dataset carries.
func TestSuiteMS(t *testing.T) {
	t.Parallel()
	run := func(s schemas.State, scope string, ms int64) schemas.RunRecord {
		return schemas.RunRecord{State: s, Scope: scope, MS: ms}
	}
	p := schemas.Proof{Runs: []schemas.RunRecord{
		run("S", "suite", 9000), run("G", "changed", 1), run("G", "suite", 300), run("G", "suite", 100), run("G", "suite", 200), run("G", "suite", 0),
	}}
	if got := p.SuiteMS(); got != 200 {
		t.Errorf("%d ms, want 200", got)
	}
	if got := p.Stable().SuiteMS(); got != 0 {
		t.Errorf("%d ms in what a dataset carries", got)
	}
}
