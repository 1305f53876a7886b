package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const stream = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: no engine here\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
plain words of go
{"ImportPath":"q","Action":"build-output","Output":"q.go:1: broken\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
{"Action":"skip","Package":"r"}
{"Action":"output","Package":"s","Output":"panic: too late\n"}
{"Action":"output","Package":"s","Output":"FAIL\ts\t0.1s\n"}
{"Action":"fail","Package":"s"}
`

func TestLive(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	tl := newTally()
	if err := tl.read(strings.NewReader(stream), &out, true); err != nil {
		t.Fatal(err)
	}
	want := "FAILED p TestC\n    c_test.go:1: wrong\nFAIL\tp\t0.1s\nplain words of go\nq.go:1: broken\nFAIL\tq [build failed]\nFAILED q\nFAIL\ts\t0.1s\nFAILED s\npanic: too late\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	var printed, out strings.Builder
	tl := newTally()
	if err := tl.read(strings.NewReader(stream), &printed, false); err != nil {
		t.Fatal(err)
	}
	tl.sum(&out)
	want := "SKIPPED p TestB: b_test.go:1: no engine here\n1 passed, 3 failed, 1 skipped\n"
	if diff := cmp.Diff(want, out.String()); diff != "" || printed.Len() > 0 {
		t.Errorf("printed %q, summed (-want +got):\n%s", printed.String(), diff)
	}
}
