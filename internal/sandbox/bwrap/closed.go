package bwrap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unshare is util-linux's own try of what a sandbox needs.
const unshare = "/usr/bin/unshare"

const (
	userNamespaceHint = "sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0, or run as root"
	podHint           = "in a pod: runAsUser: 1000, hostUsers: false, procMount: Unmasked, and a seccompProfile that allows clone, unshare, setns, mount, umount2 and pivot_root"
)

// closed says why no sandbox can be made here, and the setting that opens it. It looks only
// after a first command failed with a message, and asks the kernel: it tries each namespace by
// itself, and reads what the process may do. ok is false where nothing is found.
func closed(ctx context.Context, root bool) (why, get string, ok bool) {
	status := statusOf("/proc/self/status")
	filtered := status["Seccomp"] == "2"
	flags := []string{"--mount", "--pid", "--fork"}
	if !root {
		flags = append(flags, "--user", "--map-root-user")
	}
	if said := tried(ctx, flags...); said != "" {
		why = "the kernel gives no namespace: " + said
		switch {
		case !root && os.Geteuid() == 0 && strings.Contains(said, "uid_map"): // user_namespaces(7): it cannot map itself
			return why + "; the user is root and lacks CAP_SYS_ADMIN and CAP_SETFCAP", "run as an ordinary user; " + podHint, true
		case !root && strings.Contains(said, "No space left"):
			return why + "; user.max_user_namespaces is " + setting("/proc/sys/user/max_user_namespaces"), "sysctl user.max_user_namespaces=10000", true
		case !root && setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
			return why + "; kernel.unprivileged_userns_clone is 0", "sysctl kernel.unprivileged_userns_clone=1", true
		case filtered:
			return why + "; a seccomp filter is in force", "set a seccomp profile that allows clone, unshare, setns, mount, umount2 and pivot_root; " + podHint, true
		case !root && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
			return why + "; kernel.apparmor_restrict_unprivileged_userns is 1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0", true
		}
		return why, userNamespaceHint, true
	}
	if said := tried(ctx, append(flags, "--mount-proc")...); said != "" {
		if masked := maskedProc("/proc/self/mountinfo"); len(masked) > 0 {
			return fmt.Sprintf("no new /proc can be mounted, because %s of this one are masked (%s, …): %s", plural(len(masked), "path"), masked[0], said), "procMount: Unmasked (needs hostUsers: false); " + podHint, true
		}
		return "no new /proc can be mounted: " + said, podHint, true
	}
	if said := tried(ctx, append(flags, "--net")...); said != "" {
		return "the kernel gives no network namespace: " + said, podHint, true
	}
	return "", "", false
}

// administers reports whether the process has CAP_SYS_ADMIN, without which root is as anybody else here.
func administers() bool {
	capabilities, err := strconv.ParseUint(statusOf("/proc/self/status")["CapEff"], 16, 64)
	return err == nil && capabilities&(1<<unix.CAP_SYS_ADMIN) != 0
}

// tried runs nothing in new namespaces, and returns what unshare complained about.
func tried(ctx context.Context, flags ...string) string {
	out, err := exec.CommandContext(ctx, unshare, append(flags, "/bin/true")...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return ""
	}
	said := strings.TrimPrefix(string(bytes.TrimSpace(out)), "unshare: ")
	if said == "" {
		said = err.Error()
	}
	return said
}

// statusOf are the lines of a status file of /proc, by name.
func statusOf(file string) map[string]string {
	out := map[string]string{}
	b, _ := os.ReadFile(file)
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		out[name] = strings.TrimSpace(value)
	}
	return out
}

// setting is a kernel setting, or "" where the kernel has none of that name.
func setting(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}

// maskedProc are the paths below /proc that something else is mounted over: the kernel then
// refuses a new /proc to a user namespace (proc(5), "mount_too_revealing" in fs/namespace.c).
func maskedProc(mountinfo string) []string {
	var out []string
	b, _ := os.ReadFile(mountinfo)
	for line := range strings.Lines(string(b)) {
		const point = 4
		if f := strings.Fields(line); len(f) > point && strings.HasPrefix(f[point], "/proc/") && f[point] != "/proc/sys/fs/binfmt_misc" {
			out = append(out, f[point])
		}
	}
	return out
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}
