package seccomp

import (
	"encoding/json"
	"fmt"
	"slices"

	profile "github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// Profile is what a Docker engine loads for a container: the default profile of the
// engines' authors without the calls that are refused here, in JSON.
func Profile() (string, error) {
	p := profile.DefaultProfile()
	for i := range p.ArchMap {
		// 32-bit programs ask for sockets by a call whose arguments lie in memory.
		p.ArchMap[i].SubArches = nil
	}
	// These have rules of their own.
	gone := []string{"socket", "socketpair", "ptrace"}
	for _, c := range slices.Concat(refused, absent) {
		gone = append(gone, c.name)
	}
	var rules []*profile.Syscall
	for _, r := range p.Syscalls {
		if r.Action == specs.ActErrno && slices.Contains(r.Names, "clone3") {
			continue // absent says the same
		}
		kept := *r
		kept.Names = slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool { return slices.Contains(gone, name) })
		if len(kept.Names) > 0 {
			rules = append(rules, &kept)
		}
	}
	for _, c := range absent {
		rules = append(rules, refusal(c.name, unix.ENOSYS))
	}
	rules = append(rules, sockets("socket", families)...)
	rules = append(rules, sockets("socketpair", pairs)...)
	for _, request := range traced {
		rules = append(rules, allowance("ptrace", request))
	}
	p.Syscalls = rules
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("writing the seccomp profile: %w", err)
	}
	return string(b), nil
}

func refusal(name string, why unix.Errno, args ...specs.LinuxSeccompArg) *profile.Syscall {
	code := uint(why)
	return &profile.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{name}, Action: specs.ActErrno, ErrnoRet: &code, Args: args}}
}

func allowance(name string, first uint32) *profile.Syscall {
	is := specs.LinuxSeccompArg{Index: 0, Value: uint64(first), Op: specs.OpEqualTo}
	return &profile.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{name}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{is}}}
}

// newest is the last family of sockets that there is (AF_MCTP), so far.
const newest = 45

// sockets allows a call for a few families, and knows no other. Rules of libseccomp
// compare all 64 bits, of which the kernel reads half: a family with high bits, or one
// that is newer than this, is met by the default, which refuses it with EPERM. One rule
// for all that are greater than the last cannot stand beside rules for single ones.
func sockets(name string, allowed []uint32) []*profile.Syscall {
	var rules []*profile.Syscall
	for family := range uint32(newest + 1) {
		rule := allowance(name, family)
		if !slices.Contains(allowed, family) {
			rule = refusal(name, unix.EAFNOSUPPORT, rule.Args...)
		}
		rules = append(rules, rule)
	}
	return rules
}
