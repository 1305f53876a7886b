package gitrepo

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestGitErrorNamesTheVerb: not the value of an option before it.
func TestGitErrorNamesTheVerb(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"git ls-remote: ": {"-c", "protocol.version=0", "ls-remote", "--symref", "--", "url"},
		"git fetch: ":     {"-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", "-q"},
		"git cat-file: ":  {"--git-dir=/x", "--literal-pathspecs", "cat-file", "--batch-command"},
	} {
		if got := gitError(exec.Command("git", args...), errors.New("exit status 128"), nil).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
