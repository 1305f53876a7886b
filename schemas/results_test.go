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
