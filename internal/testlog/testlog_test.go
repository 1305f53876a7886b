package testlog_test

import (
	"testing"

	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

func TestIndexStatus(t *testing.T) {
	t.Parallel()
	r := &testlog.Report{
		Started: true, Ended: true,
		Units: []testlog.Unit{
			{Name: "done.py", State: testlog.Finished},
			{Name: "broken.py", State: testlog.NotLoaded},
			{Name: "crashed.py", State: testlog.Aborted, Listed: []string{"crashed.py::late"}},
			{Name: "pkg", State: testlog.Aborted},
		},
		Tests: []testlog.Test{
			{ID: "done.py::ok", Unit: "done.py", Status: schemas.Passed},
			{ID: "done.py::twice", Unit: "done.py", Status: schemas.Failed},
			{ID: "done.py::twice", Unit: "done.py", Status: schemas.Passed},
			{ID: "done.py::teardown", Unit: "done.py", Status: schemas.Passed},
			{ID: "done.py::teardown", Unit: "done.py", Status: schemas.Errored},
		},
	}
	aborted := &testlog.Report{Started: true}
	for _, tc := range []struct {
		name     string
		report   *testlog.Report
		id, unit string
		want     schemas.Status
	}{
		{"seen", r, "done.py::ok", "done.py", schemas.Passed},
		{"worst_of_two", r, "done.py::twice", "done.py", schemas.Failed},
		{"error_in_teardown", r, "done.py::teardown", "done.py", schemas.Errored},
		{"not_in_a_finished_file", r, "done.py::new", "done.py", schemas.Absent},
		{"file_not_loaded", r, "broken.py::x", "broken.py", schemas.NotLoaded},
		{"listed_and_not_reached", r, "crashed.py::late", "crashed.py", schemas.NotRun},
		{"not_listed_in_a_crashed_file", r, "crashed.py::new", "crashed.py", schemas.Absent},
		{"crashed_without_a_list", r, "pkg::TestX", "pkg", schemas.NotRun},
		{"unit_never_met_in_a_whole_run", r, "gone.py::x", "gone.py", schemas.Absent},
		{"unit_never_met_in_an_aborted_run", aborted, "later.py::x", "later.py", schemas.NotRun},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.report.Index().Status(tc.id, tc.unit); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
