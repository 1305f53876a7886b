package seccomp

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	profile "github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

var update = flag.Bool("update", false, "write deploy/seccomp.json")

// nested are the calls with which bubblewrap makes its namespaces inside a container. The engines' default gives them
// to CAP_SYS_ADMIN alone; a user without any capability has a right to them in a user namespace of its own only.
// clone3 stays absent.
var nested = []string{
	"clone", "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "sethostname", "setdomainname",
	"fsopen", "fsconfig", "fsmount", "fspick", "move_mount", "open_tree", "mount_setattr",
}

// machines are those that the profile is for; 32-bit calls are filtered as in the default.
var machines = []specs.Arch{specs.ArchX86_64, specs.ArchX86, specs.ArchX32, specs.ArchAARCH64, specs.ArchARM}

// worker is the profile in the form of OCI. containerd knows no other for a Localhost profile of Kubernetes: it would
// read over the conditions of Docker's form, and allow what they allow to capabilities only.
func worker() specs.LinuxSeccomp {
	p := profile.DefaultProfile()
	out := specs.LinuxSeccomp{DefaultAction: p.DefaultAction, DefaultErrnoRet: p.DefaultErrnoRet, Architectures: machines}
	for _, r := range p.Syscalls {
		if in := r.Includes; in != nil && (len(in.Caps) > 0 || len(in.Arches) > 0 && !slices.Contains(in.Arches, "amd64") && !slices.Contains(in.Arches, "arm64")) {
			continue
		}
		r.Names = slices.DeleteFunc(r.Names, func(name string) bool { return slices.Contains(nested, name) })
		if len(r.Names) > 0 {
			out.Syscalls = append(out.Syscalls, r.LinuxSyscall)
		}
	}
	out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: nested, Action: specs.ActAllow})
	return out
}

// TestWorkerProfile: the profile for a worker in a container is the engines' default for no capability, and the nested
// calls.
func TestWorkerProfile(t *testing.T) {
	t.Parallel()
	const file = "../../../deploy/seccomp.json"
	want, err := json.MarshalIndent(worker(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what github.com/moby/profiles/seccomp and %v make; go test ./internal/sandbox/seccomp -update", file, nested)
	}
}
