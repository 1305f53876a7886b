package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
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

// TestClientsOfServices has clients judge a service: the solution resolves, and nothing and a
// service that forges its results do not.
func TestClientsOfServices(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds images")
	}
	b := &bench{kind: "docker", env: needs(t, "docker"), dir: t.TempDir()}
	history, err := os.ReadFile("../cmd/benchmint/testdata/shelf-go.txtar")
	if err != nil {
		t.Fatal(err)
	}
	b.must(t, "run", "acme/bookshelf="+gitrepotest.New(t, string(history)), "--set", "kinds=service", "--only", "books", "--sandbox", "docker", "--store", "store", "--output", "out")
	if out := b.must(t, "images", "build", "out"); !strings.Contains(out, "-judge\n") || !strings.Contains(out, "2 of 2 images") {
		t.Errorf("images build: %s", tail(out))
	}
	clients := "swebench"
	if exec.CommandContext(t.Context(), "docker", "compose", "version").Run() == nil {
		clients += ",harbor"
	}
	out := b.must(t, "export", "--verify", clients, "out")
	for _, want := range []string{"gold      1 of 1 resolved (", "nop       1 of 1 not resolved (", "forged    1 of 1 not resolved ("} {
		if got := strings.Count(out, want); got != 1+strings.Count(clients, ",") {
			t.Errorf("%s: %q is there %d times:\n%s", clients, want, got, tail(out))
		}
	}
}
