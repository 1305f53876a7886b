package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestClients has SWE-bench itself judge a task in the image that is made for it; make
// clients asks all clients of the whole demo.
func TestClients(t *testing.T) {
	t.Parallel()
	dataset, err := filepath.Abs("../output/testdata/format2")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{kind: "docker", env: needs(t, "docker"), dir: t.TempDir()}
	if out := b.must(t, "images", "build", dataset); !strings.Contains(out, "benchmint/demo__slug-5:") || !strings.Contains(out, "1 of 1 images") {
		t.Errorf("images build: %s", tail(out))
	}
	out := b.must(t, "export", "--verify", "swebench", dataset)
	for _, want := range []string{"gold      1 of 1 resolved (", "nop       1 of 1 not resolved (", "forged    1 of 1 not resolved ("} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, tail(out))
		}
	}
}
