package bwrap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/seccomp"
)

const pod = "BENCHMINT_TEST_POD"

// inPod is this program inside a pod: it prints why no sandbox is to be had.
func inPod(dir string) int {
	_, err := bwrap.New(context.Background(), bwrap.Options{Dir: dir})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		fmt.Printf("%s\n%s\n", refused.Why, refused.Get)
		return 0
	}
	fmt.Println(err)
	if err != nil {
		return 1
	}
	return 0
}

// TestClosed opens the sandbox in pods that lack one setting each: bubblewrap itself makes
// them, with the limits that a container runtime sets.
func TestClosed(t *testing.T) {
	t.Parallel()
	open(t, bwrap.Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	filter := filepath.Join(t.TempDir(), "filter")
	if err := os.WriteFile(filter, seccomp.Filter(), 0o600); err != nil {
		t.Fatal(err)
	}
	ordinary := "exec bwrap --bind / / --dev /dev --proc /proc --unshare-user --uid 1000 --gid 1000 --cap-drop ALL "
	for _, tt := range []struct {
		name, start, why, get string
	}{
		{"seccomp", `exec 9<"` + filter + `"; ` + ordinary + "--seccomp 9", "a seccomp filter is in force", "seccompProfile"},
		{"no_user_namespaces", ordinary + "--disable-userns", "user.max_user_namespaces is ", "sysctl user.max_user_namespaces="},
		{"masked_proc", ordinary + "--ro-bind /dev/null /proc/version", "of this one are masked", "procMount: Unmasked"},
		{"root_without_capabilities", "exec setpriv --bounding-set=-all --inh-caps=-all", "lacks CAP_SYS_ADMIN and CAP_SETFCAP", "run as an ordinary user"},
		// A pod's default: it makes namespaces as an ordinary user does.
		{"root_without_sys_admin", "exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin", "<nil>", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() != 0 && strings.HasPrefix(tt.name, "root") {
				t.Skip("NOT ROOT")
			}
			dir, err := os.MkdirTemp("/tmp", "pod")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.start+` "$0"`, self)
			cmd.Env = append(os.Environ(), pod+"="+dir)
			out, err := cmd.CombinedOutput()
			why, get, _ := strings.Cut(string(out), "\n")
			if err != nil || !strings.Contains(why, tt.why) || !strings.Contains(get, tt.get) {
				t.Errorf("%v: %s\nwant %q, %q", err, out, tt.why, tt.get)
			}
		})
	}
}
