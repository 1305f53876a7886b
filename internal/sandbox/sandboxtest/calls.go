package sandboxtest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// callsAreRefused: what reaches past namespaces, into other processes, or past filters.
// The arguments are such that a kernel without the filter says something else.
func callsAreRefused(t *testing.T, b *box) {
	const self = "$$ + 0"
	for _, c := range []struct {
		name   string
		number int
		args   string // of perl
		want   unix.Errno
	}{
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, `4, my $p = "\0" x 120`, unix.ENOSYS},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, "-1, 0, 0, 0, 0, 0", unix.ENOSYS},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, "-1, 0, 0, 0", unix.ENOSYS},
		{"clone3", unix.SYS_CLONE3, "0, 0", unix.ENOSYS},
		{"fsopen", unix.SYS_FSOPEN, `my $s = "none", 0`, unix.EPERM},
		{"fspick", unix.SYS_FSPICK, `-100, my $s = "/nowhere", 0`, unix.EPERM},
		{"fsconfig", unix.SYS_FSCONFIG, "-1, 0, 0, 0, 0", unix.EPERM},
		{"open_tree", unix.SYS_OPEN_TREE, `-100, my $s = "/nowhere", 0`, unix.EPERM},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, `-100, my $s = "/nowhere", 0, 0, 0`, unix.EPERM},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, "-1, 0, 0", unix.EPERM},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, self + ", 0, 0, 0, 0, 0", unix.EPERM},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, self + ", 0, 0, 0, 0, 0", unix.EPERM},
		{"process_madvise", unix.SYS_PROCESS_MADVISE, "-1, 0, 0, 0, 0", unix.EPERM},
		{"kcmp", unix.SYS_KCMP, self + ", " + self + ", 2, 0, 0", unix.EPERM},
		{"keyctl", unix.SYS_KEYCTL, "0, -3, 0, 0, 0", unix.EPERM},
		{"add_key", unix.SYS_ADD_KEY, `my $s = "none", my $d = "x", 0, 0, -2`, unix.EPERM},
		{"bpf", unix.SYS_BPF, "-1, 0, 0", unix.EPERM},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, "0, 0, -1, -1, 0", unix.EPERM},
		{"userfaultfd", unix.SYS_USERFAULTFD, "1", unix.EPERM},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, "0x200, 0", unix.EPERM},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, "-1, 0, 0", unix.EPERM},
		{"quotactl", unix.SYS_QUOTACTL, "-1, 0, 0, 0", unix.EPERM},
		{"ptrace_attach", unix.SYS_PTRACE, fmt.Sprint(unix.PTRACE_ATTACH, ", 99999, 0, 0"), unix.EPERM},
		{"ptrace_seize", unix.SYS_PTRACE, fmt.Sprint(unix.PTRACE_SEIZE, ", 99999, 0, 0"), unix.EPERM},
		{"socket_vsock", unix.SYS_SOCKET, fmt.Sprint(unix.AF_VSOCK, ", 1, 0"), unix.EAFNOSUPPORT},
		{"socket_alg", unix.SYS_SOCKET, fmt.Sprint(unix.AF_ALG, ", 5, 0"), unix.EAFNOSUPPORT},
		{"socket_packet", unix.SYS_SOCKET, fmt.Sprint(unix.AF_PACKET, ", 3, 0"), unix.EAFNOSUPPORT},
		{"socket_ax25", unix.SYS_SOCKET, fmt.Sprint(unix.AF_AX25, ", 1, 0"), unix.EAFNOSUPPORT},
		{"socketpair_tipc", unix.SYS_SOCKETPAIR, fmt.Sprint(unix.AF_TIPC, `, 1, 0, my $p = "\0" x 8`), unix.EAFNOSUPPORT},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(fmt.Sprintf(`my $r = syscall(%d, %s); print $r == -1 ? $! + 0 : "allowed"`, c.number, c.args))})
			if got := string(res.Output); got != fmt.Sprint(int(c.want)) {
				t.Errorf("%s, exit %d: %q, want %d (%v)", res.End, res.ExitCode, got, int(c.want), c.want)
			}
		})
	}
	t.Run("high_half_of_a_family", func(t *testing.T) {
		t.Parallel()
		res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(fmt.Sprintf(`print syscall(%d, %d, 1, 0)`, unix.SYS_SOCKET, 1<<32|unix.AF_VSOCK))})
		if got := string(res.Output); got != "-1" {
			t.Errorf("%s, exit %d: %q, want it refused", res.End, res.ExitCode, got)
		}
	})
	t.Run("of_another_instruction_set", func(t *testing.T) {
		t.Parallel()
		const x32 = 0x40000000
		res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(fmt.Sprintf(`print syscall(%d, %d, 1, 0)`, x32|unix.SYS_SOCKET, unix.AF_VSOCK))})
		if got := string(res.Output); got != "-1" && res.ExitCode != 128+int(unix.SIGSYS) {
			t.Errorf("%s, exit %d: %q, want it refused", res.End, res.ExitCode, got)
		}
	})
}

// usualCalls is what tests of ordinary projects do.
const usualCalls = `
use strict; use Socket; use POSIX; use threads; use IPC::SysV qw(IPC_PRIVATE IPC_CREAT); use Time::HiRes;
sub ok { my ($name, $what) = @_; print "$name\n" if !$what }
socket(my $a, PF_INET, SOCK_STREAM, 0) or print "inet\n"; socket(my $c, PF_INET6, SOCK_STREAM, 0) or print "inet6\n";
socket(my $d, PF_UNIX, SOCK_DGRAM, 0) or print "unix\n"; socket(my $e, 16, SOCK_RAW, 0) or print "netlink\n";
socketpair(my $f, my $g, PF_UNIX, SOCK_STREAM, 0) or print "pair\n";
bind($a, sockaddr_in(0, INADDR_LOOPBACK)) && listen($a, 1) or print "listen\n";
ok("thread", threads->create(sub { 42 })->join == 42);
my $child = fork // -1; exit 7 if $child == 0; waitpid $child, 0; ok("fork", $? >> 8 == 7);
ok("clock", Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 && Time::HiRes::clock() >= 0);
ok("shared_memory", defined shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
ok("semaphore", defined semget(IPC_PRIVATE, 1, IPC_CREAT | 0600));
`

// usualCallsWork is the control beside callsAreRefused.
func usualCallsWork(t *testing.T, b *box) {
	script := usualCalls
	for _, c := range []struct {
		name, args string
		number     int
	}{
		{"epoll", "0", unix.SYS_EPOLL_CREATE1}, {"eventfd", "0, 0", unix.SYS_EVENTFD2}, {"timerfd", "1, 0", unix.SYS_TIMERFD_CREATE},
		{"memfd", `my $name = "x", 0`, unix.SYS_MEMFD_CREATE}, {"inotify", "0", unix.SYS_INOTIFY_INIT1}, {"pidfd", "$$ + 0, 0", unix.SYS_PIDFD_OPEN},
		{"getrandom", `my $buffer = "x" x 8, 8, 0`, unix.SYS_GETRANDOM}, {"personality", "0xffffffff", unix.SYS_PERSONALITY}, {"ptrace_of_a_child", "0, 0, 0, 0", unix.SYS_PTRACE},
		{"affinity", `0, 128, my $set = "\0" x 128`, unix.SYS_SCHED_GETAFFINITY},
	} {
		script += fmt.Sprintf("ok(%q, syscall(%d, %s) >= 0);\n", c.name, c.number, c.args)
	}
	res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(script)})
	if diff := cmp.Diff("", string(res.Output)); diff != "" || res.ExitCode != 0 {
		t.Errorf("%s, exit %d; do not work: %s", res.End, res.ExitCode, diff)
	}
}
