package output

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

var tokyo = time.FixedZone("JST", 9*3600)

// synthetic is n tasks of one repository whose numbers sort as their IDs do.
func synthetic(t testing.TB, n int) iter.Seq2[Task, error] {
	t.Helper()
	one := task(t, 12, goldPatch)
	one.QuarantinedIn = nil
	var tests []schemas.TestVerdict
	for _, x := range one.Proof.Tests {
		if x.Class != schemas.Quarantined {
			tests = append(tests, x)
		}
	}
	one.Proof.Tests = tests
	base, err := one.Base()
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(Task, error) bool) {
		for i := range n {
			x := one
			c := *one.Origin.Change
			c.Number = 1_000_000 + i
			x.Origin.Change = &c
			id := c.ID()
			x.Start.ChangeID, x.Start.Identity = id, schemas.DigestBytes([]byte(id))
			x.Proof.StartID, x.Label.StartID, x.Statement.StartID, x.Adequacy.StartID = id, id, id, id
			x.Base = func() (*tree.Tree, error) { return base, nil }
			if !yield(x, nil) {
				return
			}
		}
	}
}

// realistic gives each task the size of FeatBench's: 1,692 PASS_TO_PASS tests, a
// patch of some kilobytes.
func realistic(t testing.TB, n int) iter.Seq2[Task, error] {
	var tests []schemas.TestVerdict
	for i := range 1692 {
		tests = append(tests, schemas.TestVerdict{
			ID: fmt.Sprintf("tests/unit/test_module_%02d.py::TestWidget::test_case_number_%04d[param-%d]", i%40, i, i%7), Unit: fmt.Sprintf("tests/unit/test_module_%02d.py", i%40),
			Class: schemas.P2P, S: []schemas.Status{schemas.Passed, schemas.Passed, schemas.Passed}, G: []schemas.Status{schemas.Passed, schemas.Passed, schemas.Passed},
		})
	}
	more := strings.Repeat("# a line of the patch that nobody reads again\n", 150)
	return func(yield func(Task, error) bool) {
		for x, err := range synthetic(t, n) {
			x.Proof.Tests = append(append([]schemas.TestVerdict{}, x.Proof.Tests...), tests...)
			x.Patch = append(append([]byte{}, x.Patch...), more...)
			if !yield(x, err) {
				return
			}
		}
	}
}

// BenchmarkWrite: go test ./output -bench Write -benchtime 1x -run '^$'. The largest
// live heap is measured after each twentieth of the tasks; cpu-s tells of a machine
// that others use as well.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		tasks func(testing.TB, int) iter.Seq2[Task, error]
	}{{"small", 1_000, synthetic}, {"small", 10_000, synthetic}, {"realistic", 100, realistic}, {"realistic", 1_000, realistic}} {
		b.Run(fmt.Sprintf("%s/%d", c.name, c.n), func(b *testing.B) {
			for range b.N {
				write(b, c.n, c.tasks(b, c.n))
			}
		})
	}
}

func write(b *testing.B, n int, tasks iter.Seq2[Task, error]) {
	b.Helper()
	var peak uint64
	before := cpu(b)
	dir := filepath.Join(b.TempDir(), "out")
	in := Input{Name: "bench", Funnel: []Funnel{{Stage: "link", Done: n}}, Splits: []SplitInput{{Tasks: func(yield func(Task, error) bool) {
		i := 0
		for x, err := range tasks {
			if i++; i%(n/20) == 0 {
				b.StopTimer()
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				peak = max(peak, s.HeapAlloc)
				b.StartTimer()
			}
			if !yield(x, err) {
				return
			}
		}
	}}}}
	if _, err := Write(dir, in); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB-live")
	for name, file := range map[string]string{"jsonl-MB": dataPath(DefaultSplit), "parquet-MB": parquetPath(DefaultSplit)} {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
			b.ReportMetric(float64(info.Size())/1e6, name)
		}
	}
	b.ReportMetric(cpu(b)-before, "cpu-s")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tasks/s")
}

// cpu is the processor's time of this process so far, in seconds.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
