package policytest

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/uudashr/gocognit"
)

const (
	// maxComplexity is the cognitive complexity that a function may have.
	maxComplexity = 25
	// mostComplex is how many functions may be over it, each with a line in complex.txt. It is
	// only ever lowered.
	mostComplex = 17
)

// complexFunctions are the lines of complex.txt: functions, and how complex each may be.
func complexFunctions(t *testing.T) map[string]int {
	t.Helper()
	b, err := os.ReadFile("complex.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(line[at+1:])
		if at < 0 || err != nil || out[line[:at]] != 0 {
			t.Fatalf("complex.txt: %q is not FUNCTION COMPLEXITY, or is there twice", line)
		}
		out[line[:at]] = n
	}
	return out
}

// complexity is that of each function, as complex.txt names it: init may be there more than
// once, and the highest counts.
func complexity(all []Source) map[string]int {
	out := map[string]int{}
	for _, s := range all {
		if s.IsTest() {
			continue
		}
		for _, f := range gocognit.ComplexityStats(s.File, s.Set, nil) {
			name := s.Dir() + " " + f.FuncName
			out[name] = max(out[name], f.Complexity)
		}
	}
	return out
}

// A function that is hard to follow is split. What is over the bound stands in complex.txt,
// which only gets shorter, and its numbers lower.
func TestComplexity(t *testing.T) {
	t.Parallel()
	listed, is := complexFunctions(t), complexity(sources(t))
	for name, n := range is {
		if most, ok := listed[name]; n > maxComplexity && n > most {
			bound := maxComplexity
			if ok {
				bound = most
			}
			t.Errorf("%s has a cognitive complexity of %d, over %d: split it", name, n, bound)
		}
	}
	for name, most := range listed {
		switch n := is[name]; {
		case n <= maxComplexity:
			t.Errorf("complex.txt: %s is not over %d any more: remove its line, and lower mostComplex", name, maxComplexity)
		case n < most:
			t.Errorf("complex.txt: %s is at %d: lower its number", name, n)
		}
	}
	if len(listed) != mostComplex {
		t.Errorf("complex.txt has %d functions, want %d (mostComplex, which is only lowered)", len(listed), mostComplex)
	}
}

// The measure itself is tried: a rule that finds nothing would hold for everything.
func TestComplexityIsMeasured(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range maxComplexity + 1 {
		fmt.Fprintf(&body, "if x == %d { x++ }\n", i)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p/p.go", "package p\nfunc f(x int) {\n"+body.String()+"}\nfunc (t *T) g() {}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := complexity([]Source{{Path: "p/p.go", File: file, Set: set}})
	if got["p f"] != maxComplexity+1 || len(got) != 2 {
		t.Errorf("complexity: %v", got)
	}
}
