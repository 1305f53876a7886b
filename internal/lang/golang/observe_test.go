package golang

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
)

// TestObserved reads what go test says of programs that do not start, and what was covered.
func TestObserved(t *testing.T) {
	t.Parallel()
	report := "ok  \texample.com/w\t0.005s\tcoverage: 4.0% of statements in ./...\n" +
		"?   \texample.com/w/none\t[no test files]\n" +
		"panic: masked: New [recovered]\n\ngoroutine 1 [running]:\nexample.com/w/in.New(...)\n\t/testbed/in/in.go:5\nmain.main()\n\t/testbed/main.go:9 +0x1d\nFAIL\texample.com/w/in\t0.006s\n" +
		"panic: test timed out after 2m0s\nFAIL\texample.com/w/slow\t120.0s\n" +
		"FAIL\texample.com/w/bad [build failed]\nFAIL\n" +
		"\n\x00\nexample.com/w/in/in.go:4.20,6.2 1 1\nexample.com/other/x.go:1.2,3.4 1 1\nexample.com/w/in/in.go:9.20,9.30 1 0\n"
	tree := memory{"go.mod": "module example.com/w\n\ngo 1.21\n", "in/in.go": "package in\n"}
	got := Language{}.Observed([]lang.Output{{Report: []byte(report), Tree: tree}})
	want := mask.Load{
		Units: 4, Ran: []mask.Seen{{Path: "in/in.go", Line: 4}},
		Failed: []mask.NotLoaded{
			{Unit: "example.com/w/in", Message: "masked: New", Path: "in/in.go"},
			{Unit: "example.com/w/slow", Message: "test timed out after 2m0s", Late: true},
			{Unit: "example.com/w/bad", Message: "it does not compile"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
