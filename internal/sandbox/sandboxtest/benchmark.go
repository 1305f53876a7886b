package sandboxtest

import (
	"slices"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// Benchmark measures what a run costs beside its command, as the design's goals do
// (median: bwrap 0.3 s, docker 1.0 s): all of the time between call and return, less
// what the command itself says that it took.
func Benchmark(b *testing.B, s sandbox.Sandbox) {
	base, err := s.Base(b.Context(), sandbox.Base{})
	if err != nil {
		b.Fatal(err)
	}
	var outside []time.Duration
	for b.Loop() {
		const command = 200 * time.Millisecond
		began := time.Now()
		res, err := s.Run(b.Context(), sandbox.Run{Layer: base, Command: perl("select undef, undef, undef, 0.2")})
		if err != nil || res.End != sandbox.Exited || res.ExitCode != 0 {
			b.Fatalf("%s, exit %d: %s, %v", res.End, res.ExitCode, res.Output, err)
		}
		outside = append(outside, time.Since(began)-command)
	}
	slices.Sort(outside)
	median := outside[len(outside)/2]
	b.ReportMetric(median.Seconds(), "s-outside/run")
	b.ReportMetric(median.Seconds()/0.2, "outside/command")
}

// BenchmarkBeside measures what a service beside a run costs: the time outside of the
// commands, of runs with a service against those alone, in turns.
func BenchmarkBeside(b *testing.B, s sandbox.Sandbox) {
	base, err := s.Base(b.Context(), sandbox.Base{})
	if err != nil {
		b.Fatal(err)
	}
	command := perl("select undef, undef, undef, 0.2")
	service := &sandbox.Beside{Layer: base, Command: perl("sleep 100")}
	outside := func(service *sandbox.Beside) time.Duration {
		began := time.Now()
		res, err := s.Run(b.Context(), sandbox.Run{Layer: base, Command: command, Beside: service})
		if err != nil || res.End != sandbox.Exited || res.ExitCode != 0 {
			b.Fatalf("%s, exit %d: %s, %v", res.End, res.ExitCode, res.Output, err)
		}
		return time.Since(began) - 200*time.Millisecond
	}
	var alone, beside []time.Duration
	for b.Loop() {
		alone, beside = append(alone, outside(nil)), append(beside, outside(service))
	}
	slices.Sort(alone)
	slices.Sort(beside)
	one, two := alone[len(alone)/2], beside[len(beside)/2]
	b.ReportMetric(two.Seconds(), "s-outside/run")
	b.ReportMetric(two.Seconds()/one.Seconds(), "beside/alone")
}
