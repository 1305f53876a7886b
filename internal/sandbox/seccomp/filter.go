package seccomp

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

	allow    = unix.SECCOMP_RET_ALLOW
	notOurs  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	notThere = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	noFamily = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)

	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

	x32Bit = 0x40000000
)

// auditArch is AUDIT_ARCH_* of linux/audit.h for the machines that we know.
func auditArch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// Filter is the program that bubblewrap loads for a command, on this architecture.
func Filter() []byte {
	f := []unix.SockFilter{
		{Code: loadWord, K: offsetArch},
		{Code: jumpEqual, K: auditArch(), Jt: 1},
		{Code: answer, K: notThere}, // another instruction set has other call numbers
		{Code: loadWord, K: offsetCall},
	}
	if runtime.GOARCH == "amd64" {
		f = append(f, unix.SockFilter{Code: jumpAbove, K: x32Bit, Jf: 1}, unix.SockFilter{Code: answer, K: notThere})
	}
	for _, c := range refused {
		f = append(f, unix.SockFilter{Code: jumpEqual, K: c.number, Jf: 1}, unix.SockFilter{Code: answer, K: notOurs})
	}
	for _, c := range absent {
		f = append(f, unix.SockFilter{Code: jumpEqual, K: c.number, Jf: 1}, unix.SockFilter{Code: answer, K: notThere})
	}
	f = append(f, among(unix.SYS_SOCKET, families, noFamily)...)
	f = append(f, among(unix.SYS_SOCKETPAIR, pairs, noFamily)...)
	f = append(f, among(unix.SYS_PTRACE, traced, notOurs)...)
	f = append(f,
		unix.SockFilter{Code: jumpEqual, K: unix.SYS_CLONE, Jf: 3},
		unix.SockFilter{Code: loadWord, K: offsetArg0},
		unix.SockFilter{Code: jumpAnyBit, K: newNamespaces, Jf: 4},
		unix.SockFilter{Code: answer, K: notOurs},
		// Typing into the terminal of whoever started us (env shell).
		unix.SockFilter{Code: jumpEqual, K: unix.SYS_IOCTL, Jf: 2},
		unix.SockFilter{Code: loadWord, K: offsetArg1},
		unix.SockFilter{Code: jumpEqual, K: unix.TIOCSTI, Jt: 1},
		unix.SockFilter{Code: answer, K: allow},
		unix.SockFilter{Code: answer, K: notOurs},
	)
	out := make([]byte, 0, 8*len(f))
	for _, s := range f {
		out = binary.NativeEndian.AppendUint16(out, s.Code)
		out = append(out, s.Jt, s.Jf)
		out = binary.NativeEndian.AppendUint32(out, s.K)
	}
	return out
}

// among allows a call where its first argument is one of a few, and answers why otherwise. Of that argument the low half is
// compared: the kernel reads a family as an int, and knows no request of ptrace with more.
func among(number uint32, allowed []uint32, why uint32) []unix.SockFilter {
	f := []unix.SockFilter{
		{Code: jumpEqual, K: number, Jf: uint8(2*len(allowed) + 2)},
		{Code: loadWord, K: offsetArg0},
	}
	for _, family := range allowed {
		f = append(f, unix.SockFilter{Code: jumpEqual, K: family, Jf: 1}, unix.SockFilter{Code: answer, K: allow})
	}
	return append(f, unix.SockFilter{Code: answer, K: why})
}
