package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewLines(t *testing.T) {
	t.Parallel()
	before := []string{"a.ts(3,1): no x", "b.ts(9,1): no y", ""}
	after := []string{"a.ts(2,14): no x", "a.ts(5,1): no x", "c.ts(1,1): no z", ""}
	if d := cmp.Diff([]string{"a.ts(5,1): no x", "c.ts(1,1): no z"}, newLines(before, after)); d != "" {
		t.Error(d)
	}
}
