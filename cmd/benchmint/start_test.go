package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// Every start pays for what packages lay out before main, used or not: a package of ours
// may take this much memory for it. What is measured is memory, for it is the same each time.
const mostAtStart = 12 << 10

var ownInit = regexp.MustCompile(`(?m)^init github\.com/benchmint/benchmint/(\S+) @.* (\d+) bytes, (\d+) allocs$`)

func TestStart(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.list=^$") // has all that the program has
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &trace)
	}
	packages := ownInit.FindAllStringSubmatch(trace.String(), -1)
	if len(packages) < 10 {
		t.Fatalf("only %d packages of ours in the trace:\n%s", len(packages), &trace)
	}
	for _, p := range packages {
		if p[1] == "internal/hugepage" {
			continue // what it lays out is passed over, never touched
		}
		if size, err := strconv.Atoi(p[2]); err != nil || size > mostAtStart {
			t.Errorf("%s lays out %s bytes before main, more than %d: wordset, lazyregexp and sync.OnceValue wait for the first use", p[1], p[2], mostAtStart)
		}
	}
}
