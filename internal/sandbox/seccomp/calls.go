// Package seccomp says which system calls strangers' code may not make, and puts it
// into the forms that sandboxes load: a program for bubblewrap, a profile for engines.
//
// It never allows what an engine's own default profile refuses. A refused call fails with
// an error, as on a kernel that lacks it; what was built for another instruction set (32
// bits, x32) cannot run, because its calls have other numbers and arguments.
package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// call is a refused system call: its name, for profiles, and its number here.
type call struct {
	name   string
	number uint32
}

// refused are calls that a process without capabilities has no right to in a container
// either (there, a new user namespace would give it capabilities over mounts of its own,
// which no limit counts), and calls that reach into other processes or into parts of the
// kernel that are not divided between containers. They fail with EPERM.
var refused = []call{
	// Namespaces and mounts.
	{"unshare", unix.SYS_UNSHARE}, {"setns", unix.SYS_SETNS}, {"mount", unix.SYS_MOUNT}, {"umount2", unix.SYS_UMOUNT2},
	{"pivot_root", unix.SYS_PIVOT_ROOT}, {"move_mount", unix.SYS_MOVE_MOUNT}, {"open_tree", unix.SYS_OPEN_TREE},
	{"fsopen", unix.SYS_FSOPEN}, {"fsmount", unix.SYS_FSMOUNT}, {"fsconfig", unix.SYS_FSCONFIG}, {"fspick", unix.SYS_FSPICK},
	{"mount_setattr", unix.SYS_MOUNT_SETATTR}, {"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT},
	{"quotactl", unix.SYS_QUOTACTL}, {"quotactl_fd", unix.SYS_QUOTACTL_FD},
	// Keys, which belong to a user of the machine.
	{"keyctl", unix.SYS_KEYCTL}, {"add_key", unix.SYS_ADD_KEY}, {"request_key", unix.SYS_REQUEST_KEY},
	// Memory and files of other processes.
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV}, {"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV},
	{"process_madvise", unix.SYS_PROCESS_MADVISE}, {"pidfd_getfd", unix.SYS_PIDFD_GETFD}, {"kcmp", unix.SYS_KCMP},
	// The kernel's own workings, and what is shared by all users of the machine.
	{"bpf", unix.SYS_BPF}, {"perf_event_open", unix.SYS_PERF_EVENT_OPEN}, {"userfaultfd", unix.SYS_USERFAULTFD},
	{"fanotify_init", unix.SYS_FANOTIFY_INIT}, {"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE}, {"nfsservctl", unix.SYS_NFSSERVCTL},
	{"kexec_load", unix.SYS_KEXEC_LOAD}, {"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD}, {"init_module", unix.SYS_INIT_MODULE},
	{"finit_module", unix.SYS_FINIT_MODULE}, {"delete_module", unix.SYS_DELETE_MODULE}, {"reboot", unix.SYS_REBOOT},
	{"swapon", unix.SYS_SWAPON}, {"swapoff", unix.SYS_SWAPOFF}, {"acct", unix.SYS_ACCT}, {"syslog", unix.SYS_SYSLOG},
	{"settimeofday", unix.SYS_SETTIMEOFDAY}, {"clock_settime", unix.SYS_CLOCK_SETTIME}, {"vhangup", unix.SYS_VHANGUP},
}

// traced are the requests of ptrace that are allowed: all but PTRACE_ATTACH and PTRACE_SEIZE (EPERM), which reach processes that
// were there before, as the one that judges. A debugger may trace what it starts.
var traced = slices.DeleteFunc(slices.Concat(upTo(0, 33), upTo(unix.PTRACE_SETOPTIONS, 0x4220)), func(request uint32) bool {
	return request == unix.PTRACE_ATTACH || request == unix.PTRACE_SEIZE
})

func upTo(first, last uint32) (all []uint32) {
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}

// absent are calls that fail with ENOSYS, because libraries then use others: the flags of
// clone3 lie in memory, out of a filter's sight, and what is asked for through a ring of
// io_uring passes no filter at all.
var absent = []call{
	{"clone3", unix.SYS_CLONE3}, {"io_uring_setup", unix.SYS_IO_URING_SETUP},
	{"io_uring_enter", unix.SYS_IO_URING_ENTER}, {"io_uring_register", unix.SYS_IO_URING_REGISTER},
}

// families are those of which a process may make sockets. The others fail with
// EAFNOSUPPORT: VSOCK reaches the hypervisor, whatever the network namespace is; ALG,
// TIPC, CAN and their like are large parts of the kernel that tests do not need.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// pairs are the families of socketpair.
var pairs = []uint32{unix.AF_UNIX}
