package link_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/link"
)

// TestModifiesOnly holds each end with the filter, and what a start says without it.
func TestModifiesOnly(t *testing.T) {
	t.Parallel()
	const before = "-- app.py --\ndef f():\n    return 1\n\nclass C:\n    x = 1\n    def m(self):\n        return 2\n-- app.go --\npackage p\n\nfunc g() int { return 1 }\n"
	const check = "-- a_check.py --\ndef test_new(): pass\n" // of the test part: its functions do not count
	type edits = schemas.FunctionEdits
	for name, c := range map[string]struct {
		after  string
		edits  edits
		reason schemas.Reason
		detail string
	}{
		"modifies":           {"-- app.py --\ndef f():\n    return 3\n\nclass C:\n    x = 1\n    def m(self):\n        return 4\n", edits{Modified: []string{"app.py::C.m", "app.py::f"}}, "", ""},
		"no_function_at_all": {"-- app.py --\ndef f():\n    return 1\n\nclass C:\n    x = 2\n    def m(self):\n        return 2\n", edits{}, "", ""},
		"adds": {"-- new.py --\ndef a(): pass\ndef b(): pass\ndef c(): pass\nclass D: pass\n-- app.go --\npackage p\n\nfunc g() int { return 2 }\n",
			edits{Added: []string{"new.py::D", "new.py::a", "new.py::b", "new.py::c"}, Modified: []string{"app.go::g"}}, schemas.AddsFunctions, "4: new.py::D, new.py::a, new.py::b, …"},
		"removes": {"-- app.py --\nclass C:\n    x = 1\n    def m(self):\n        return 2\n", edits{Removed: []string{"app.py::f"}}, schemas.DropsFunctions, "1: app.py::f"},
		"renames": {"-- app.py --\ndef h():\n    return 1\n\nclass C:\n    x = 1\n    def m(self):\n        return 2\n",
			edits{Added: []string{"app.py::h"}, Removed: []string{"app.py::f"}}, schemas.AddsFunctions, "1: app.py::h"},
		"renames_a_file":        {"-- rename: app.py -> lib.py --\ndef f():\n    return 1\n\nclass C:\n    x = 1\n    def m(self):\n        return 3\n", edits{Modified: []string{"lib.py::C.m"}}, "", ""},
		"moves":                 {"-- app.py --\nclass C:\n    x = 1\n    def m(self):\n        return 2\n-- lib.py --\ndef f():\n    return 1\n", edits{}, "", ""},
		"out_of_the_tests":      {"-- delete: old_check.py --\n-- helpers.py --\ndef helps():\n    a = 1\n    b = 2\n    return a + b\n", edits{Added: []string{"helpers.py::helps"}}, schemas.AddsFunctions, "1: helpers.py::helps"},
		"into_the_docs":         {"-- app.py --\nclass C:\n    x = 1\n    def m(self):\n        return 2\n-- docs/f.py --\ndef f():\n    return 1\n", edits{Removed: []string{"app.py::f"}}, schemas.DropsFunctions, "1: app.py::f"},
		"unread":                {"-- app.py --\ndef (:\n-- new.go --\npackage p\n\nfunc h() {}\n", edits{Added: []string{"new.go::h"}, Unread: []string{"app.py"}}, schemas.UnreadSource, "1: app.py"},
		"deleted_and_symlinked": {"-- delete: app.go --\n-- symlink: app.py --\nelse where.py\n", edits{Removed: []string{"app.go::g", "app.py::C", "app.py::C.m", "app.py::f"}}, schemas.DropsFunctions, "4: app.go::g, app.py::C, app.py::C.m, …"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gitrepotest.New(t, "-- commit: Start --\n"+before+"-- old_check.py --\ndef helps():\n    a = 1\n    b = 2\n    return a + b\n-- commit: Change --\n"+check+c.after)
			w := newWorld(t, dir, anyShape())
			start, err := w.link.Run(t.Context(), w.changes(t)[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.edits, start.Functions); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
			w = newWorld(t, dir, link.Default())
			filtered, err := w.link.Run(t.Context(), w.changes(t)[0])
			var rejected *pipeline.Rejected
			switch {
			case c.reason == "":
				if diff := cmp.Diff(start, filtered); err != nil || diff != "" {
					t.Errorf("with the filter: %v (-without +with):\n%s", err, diff)
				}
			case !errors.As(err, &rejected) || rejected.Reason != c.reason || rejected.Detail() != c.detail:
				t.Errorf("with the filter: %v, want %s: %s", err, c.reason, c.detail)
			}
		})
	}
}

// TestSideBySide links the changes of a history all at once, as often as one by one.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	var history strings.Builder
	for i := range 8 {
		fmt.Fprintf(&history, "-- commit: C%d --\n-- app.py --\ndef f():\n    return %d\n-- a_check.py --\ncheck %d\n", i, i, i)
	}
	w := newWorld(t, gitrepotest.New(t, history.String()), link.Default())
	changes := w.changes(t)[:7]
	want, got := make([]schemas.Start, len(changes)), make([]schemas.Start, 3*len(changes))
	for i, c := range changes {
		var err error
		if want[i], err = w.link.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = w.link.Run(t.Context(), changes[i%len(changes)]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range got {
		if diff := cmp.Diff(want[i%len(changes)], got[i]); diff != "" {
			t.Errorf("change %d (-alone +beside others):\n%s", i%len(changes), diff)
		}
	}
}

// TestFunctionsComeLast: what is cheaper to find is the reason that is given.
func TestFunctionsComeLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gitrepotest.New(t, "-- commit: Start --\n-- app.py --\nx = 1\n-- commit: C --\n-- a_check.py --\nx\n-- app.py --\n"+strings.Repeat("def f(): pass\n", 2000)), link.Default())
	_, err := w.link.Run(t.Context(), w.changes(t)[0])
	var rejected *pipeline.Rejected
	if !errors.As(err, &rejected) || rejected.Reason != schemas.TooLarge {
		t.Errorf("end %v, want %s", err, schemas.TooLarge)
	}
}
