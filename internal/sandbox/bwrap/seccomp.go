package bwrap

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// The words of classic BPF over struct seccomp_data that the filter needs.
const (
	loadWord   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpAnyBit = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	jumpAbove  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	answer     = unix.BPF_RET | unix.BPF_K

	offsetCall = 0  // seccomp_data.nr
	offsetArch = 4  // seccomp_data.arch
	offsetArg0 = 16 // low half of seccomp_data.args[0], little endian
	offsetArg1 = 24

	allow  = unix.SECCOMP_RET_ALLOW
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

	x32Bit = 0x40000000
)

// refused are calls that a process without capabilities has no right to in a
// container either; here a new user namespace would give it capabilities over
// mounts of its own, which no limit counts.
var refused = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_QUOTACTL, unix.SYS_ACCT, unix.SYS_SYSLOG,
}

// auditArch is AUDIT_ARCH_* of linux/audit.h for the machines that we know.
func auditArch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// seccompFilter is the program that bwrap loads for the command.
func seccompFilter() []byte {
	f := []unix.SockFilter{
		{Code: loadWord, K: offsetArch},
		{Code: jumpEqual, K: auditArch(), Jt: 1},
		{Code: answer, K: absent}, // another instruction set has other call numbers
		{Code: loadWord, K: offsetCall},
	}
	if runtime.GOARCH == "amd64" {
		f = append(f, unix.SockFilter{Code: jumpAbove, K: x32Bit, Jf: 1}, unix.SockFilter{Code: answer, K: absent})
	}
	for _, call := range refused {
		f = append(f, unix.SockFilter{Code: jumpEqual, K: call, Jf: 1}, unix.SockFilter{Code: answer, K: refuse})
	}
	f = append(f,
		// The flags of clone3 lie in memory, out of the filter's sight; libraries
		// fall back to clone.
		unix.SockFilter{Code: jumpEqual, K: unix.SYS_CLONE3, Jf: 1},
		unix.SockFilter{Code: answer, K: absent},
		unix.SockFilter{Code: jumpEqual, K: unix.SYS_CLONE, Jf: 3},
		unix.SockFilter{Code: loadWord, K: offsetArg0},
		unix.SockFilter{Code: jumpAnyBit, K: newNamespaces, Jf: 4},
		unix.SockFilter{Code: answer, K: refuse},
		// Typing into the terminal of whoever started us (env shell).
		unix.SockFilter{Code: jumpEqual, K: unix.SYS_IOCTL, Jf: 2},
		unix.SockFilter{Code: loadWord, K: offsetArg1},
		unix.SockFilter{Code: jumpEqual, K: unix.TIOCSTI, Jt: 1},
		unix.SockFilter{Code: answer, K: allow},
		unix.SockFilter{Code: answer, K: refuse},
	)
	out := make([]byte, 0, 8*len(f))
	for _, s := range f {
		out = binary.NativeEndian.AppendUint16(out, s.Code)
		out = append(out, s.Jt, s.Jf)
		out = binary.NativeEndian.AppendUint32(out, s.K)
	}
	return out
}
