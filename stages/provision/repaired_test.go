package provision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// Members of one key differ in what the env layer does not hold; a repair of the
// shared build must reach them all, and must not make them all the first one.
func TestRepairedKeepsWhatIsEachMembersOwn(t *testing.T) {
	t.Parallel()
	asked := schemas.Recipe{
		Lock: "a", PinDate: "2025-01-01", Variables: map[string]string{"VERSION": "1.0", "TZ": "UTC", "GONE": "1"},
		Build: []schemas.Command{{Argv: []string{"build"}}}, Test: []schemas.Command{{Argv: []string{"test", "one"}}},
	}
	own := schemas.Recipe{
		Lock: "a", PinDate: "2025-02-02", Variables: map[string]string{"VERSION": "2.0", "TZ": "UTC", "GONE": "1"},
		Build: []schemas.Command{{Argv: []string{"build"}}}, Test: []schemas.Command{{Argv: []string{"test", "two"}}},
	}
	if diff := cmp.Diff(own, repaired(own, asked, asked)); diff != "" {
		t.Errorf("no repair, and the member changed (-want +got):\n%s", diff)
	}
	got := asked
	got.Lock, got.Repairs = "a b", []schemas.Repair{{Rule: "add b"}}
	got.Variables = map[string]string{"VERSION": "1.0", "TZ": "Europe/Berlin", "NEW": "1"}
	want := own
	want.Lock, want.Repairs, want.PinDate = "a b", got.Repairs, "2025-01-01"
	want.Variables = map[string]string{"VERSION": "2.0", "TZ": "Europe/Berlin", "NEW": "1"}
	if diff := cmp.Diff(want, repaired(own, asked, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if own.Variables["TZ"] != "UTC" {
		t.Error("the member's own record was changed in place")
	}
}
