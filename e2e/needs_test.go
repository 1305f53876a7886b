package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
)

// needs gives the environment in which a sandbox kind works here, or skips with
// what would be needed.
func needs(t *testing.T, kind string) []string {
	t.Helper()
	env := os.Environ()
	if kind == "bwrap" {
		if _, err := exec.LookPath("bwrap"); err != nil {
			t.Skip("NO BUBBLEWRAP: apt-get install bubblewrap")
		}
		return env
	}
	if host := dockertest.Host(t); host != "" {
		return append(withoutKey(env, "DOCKER_HOST"), "DOCKER_HOST="+host)
	}
	return env
}

func withoutKey(env []string, key string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, key+"=") {
			out = append(out, e)
		}
	}
	return out
}
