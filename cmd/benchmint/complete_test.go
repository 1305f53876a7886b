package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/stages"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"stages", []string{"run", "--until", ""}, stages.Order},
		{"colours", []string{"status", "--color", ""}, colours},
		{"kinds", []string{"run", "--sandbox", ""}, []string{"docker", "bwrap"}},
		{"no_store_no_words", []string{"explain", "--store", t.TempDir(), ""}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			env := &world{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard, cache: t.TempDir(), now: time.Now}
			if code := execute(t.Context(), env, newRoot(env), append([]string{"__complete"}, tc.args...)); code != exitOK {
				t.Fatalf("exit code %d: %s", code, out.String())
			}
			lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			got := slices.Clip(lines[:len(lines)-1]) // without the directive
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFitting(t *testing.T) {
	t.Parallel()
	got := fitting([]string{"acme__a-1", "acme__a-2", "other__b-1"}, []string{"acme__a-1"}, "ACME")
	if diff := cmp.Diff([]string{"acme__a-2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
