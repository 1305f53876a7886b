package python

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

const clockTests = `import asyncio, datetime, os, queue, threading, time
import pytest

YEAR = datetime.date.today().year

def test_until():
    assert time.time() < %d

@pytest.mark.parametrize("year", [YEAR])
def test_year(year):
    assert year > 2000

def test_file(tmp_path):
    (tmp_path / "f").write_text("")
    assert abs(time.time() - os.stat(tmp_path / "f").st_mtime) < 60

def test_waits():
    began = time.monotonic()
    time.sleep(0.05)
    threading.Event().wait(0.05)
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.05)
    asyncio.new_event_loop().run_until_complete(asyncio.sleep(0.05))
    assert 0.19 < time.monotonic() - began < 20
`

// TestShift runs tests that pass until a day, are named after a year or compare times of files with
// now in a real sandbox: before Python 3.11, which waits otherwise, and after it.
func TestShift(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds environments")
	}
	now := time.Now()
	year := fmt.Sprintf("test_year[%d]", now.Year())
	for _, version := range []string{"3.10", "3.12"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tr := environmenttest.Tree(t, map[string]string{
				"pyproject.toml":      "[project]\nname = \"box\"\nversion = \"1\"\nrequires-python = \"==" + version + ".*\"\n[dependency-groups]\ntest = [\"pytest==8.2.1\"]\n",
				"tests/test_clock.py": fmt.Sprintf(clockTests, now.AddDate(0, 0, 20).Unix()),
			})
			w := environmenttest.New(t, environmenttest.Bubblewrap(t), Language{}, ReportFormat)
			r := w.Recipe(t, tr, tr)
			r.Build = nil
			env, err := w.Env(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			layer, err := w.State(t.Context(), env, r, tr.Files(time.Unix(0, 0)))
			if err != nil {
				t.Fatal(err)
			}
			for _, files := range []bool{false, true} {
				run, _, err := Language{}.Shift(r, Language{}.Runs(r, tr, lang.Select{Number: 1})[0], clock.Shift{Ahead: clock.Ahead, Files: files})
				if err != nil {
					t.Fatal(err)
				}
				res, err := w.Test(t.Context(), layer, r, run, sandbox.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				said, _ := run.Said(res)
				report := Language{}.Parse(r, []lang.Output{{Run: run, Tree: tr, Report: said, Result: res}})
				want := map[string]schemas.Status{"test_until": schemas.Failed, year: schemas.Absent, "test_file": schemas.Failed, "test_waits": schemas.Passed}
				if files {
					want["test_file"] = schemas.Passed
				}
				got := map[string]schemas.Status{}
				for name := range want {
					got[name] = report.Index().Status("tests/test_clock.py::"+name, "tests/test_clock.py")
				}
				if diff := cmp.Diff(want, got); diff != "" || report.Tampered != "" || !report.Ended {
					t.Errorf("files %t: tampered %q (-want +got):\n%s\n%s", files, report.Tampered, diff, res.Output)
				}
			}
		})
	}
}
