package gitrepo_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
)

// BenchmarkMining reads a whole first-parent line and reports commits per second
// and the time against git's own log of the same rows, measured in the same run.
// BENCHMINT_BENCH_REPO names a repository; without it one of 200 commits is made.
func BenchmarkMining(b *testing.B) {
	source := os.Getenv("BENCHMINT_BENCH_REPO")
	if source == "" {
		source = gitrepotest.New(b, longHistory(200))
	}
	var plain, ours time.Duration
	commits := 0
	for b.Loop() {
		began := time.Now()
		cmd := exec.CommandContext(b.Context(), "git", "log", "-z", "--first-parent", "--diff-merges=first-parent", "--raw", "--numstat", "-M", "HEAD")
		cmd.Dir = source
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(began)
		began = time.Now()
		r, err := gitrepo.Open(b.Context(), source, "", "")
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Log(b.Context(), gitrepo.Query{}) {
			if err != nil {
				b.Fatal(err)
			}
			commits++
		}
		ours += time.Since(began)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(commits)/ours.Seconds(), "commits/s")
	b.ReportMetric(ours.Seconds()/plain.Seconds(), "x_git_log")
}

// longHistory touches two files of a few hundred lines in each commit.
func longHistory(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "-- commit: Change number %d (#%d) --\n", i, i+1)
		for _, name := range []string{fmt.Sprintf("src/pkg/module%d.py", i%40), fmt.Sprintf("tests/test_module%d.py", i%40)} {
			fmt.Fprintf(&s, "-- %s --\n", name)
			for line := range 200 {
				fmt.Fprintf(&s, "line %d of version %d\n", line, i/(line+1))
			}
		}
	}
	return s.String()
}
