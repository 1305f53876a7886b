package scenario

import (
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// TestChanged: what a write does shows in a read of the same before and after it; a clock that
// goes on, or another caller's view, shows nothing.
func TestChanged(t *testing.T) {
	t.Parallel()
	read := func(target, caller, body string) contract.Exchanged {
		return contract.Exchanged{Wire: contract.Wire{Target: target, Headers: map[string]string{"Authorization": caller}}, Answer: contract.Answer{Status: 200, Headers: map[string]string{"content-type": "application/json"}, Body: []byte(body)}}
	}
	for name, tc := range map[string]struct {
		before, after contract.Exchanged
		want          bool
	}{
		"followed":       {read("/p/1", "a", `{"following":false}`), read("/p/1", "a", `{"following":true}`), true},
		"the_same":       {read("/p/1", "a", `{"following":false}`), read("/p/1", "a", `{"following":false}`), false},
		"a_clock":        {read("/p/1", "a", `{"at":"2024-05-10T10:00:00Z"}`), read("/p/1", "a", `{"at":"2024-05-10T10:00:01Z"}`), false},
		"another_caller": {read("/p/1", "a", `{"following":false}`), read("/p/1", "b", `{"following":true}`), false},
		"another_path":   {read("/p/1", "a", `{"following":false}`), read("/p/2", "a", `{"following":true}`), false},
	} {
		get := contract.Case{Group: "p", Endpoint: schemas.Endpoint{Method: "GET", Path: "/p/{id}"}}
		g := &Group{Name: "p", Cases: []contract.Case{get, {Group: "p", Endpoint: schemas.Endpoint{Method: "POST", Path: "/p/{id}/follow"}}, get},
			Replays: [][]contract.Exchanged{{tc.before, {}, tc.after}}}
		if got := changed(g, 1); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
