package mask

import "testing"

func TestBeside(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"examples/a.js": true, "a/Samples/b.cs": true, "bench.ts": true, "bench/a.cs": true, "a/x.benchmarks/b.cs": true, "perf-testing/a.mjs": true,
		"__performance_tests__/a.mjs": true, "src/a/ParseBenchmark.java": true, "__fixtures__/a.js": true, "demo.js": true,
		"src/benchmint.js": false, "src/workbench/a.js": false, "src/document.js": false, "src/example_reader.js": false, "src/perfect.js": false,
		"a.js": false, "lib/sampler/a.rb": false, "src/Benchmarker.java": false,
	} {
		if got := beside(p); got != want {
			t.Errorf("beside(%q) = %t", p, got)
		}
	}
}
