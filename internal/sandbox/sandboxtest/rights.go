package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
)

func userWithoutRights(t *testing.T, b *box) {
	got := b.script(t, b.base, `id -u; id -g; id -G; pwd; grep -E '^(Cap|NoNewPrivs)' /proc/self/status | tr -s '\t' ' '`)
	want := fmt.Sprintf("%d\n%d\n%[2]d\n", sandbox.UID, sandbox.GID) + `/testbed
CapInh: 0000000000000000
CapPrm: 0000000000000000
CapEff: 0000000000000000
CapBnd: 0000000000000000
CapAmb: 0000000000000000
NoNewPrivs: 1`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, place := range sandbox.Writable() {
		b.script(t, b.base, `cd "$1" && touch x && mkdir d && touch d/y && [ -O x ]`, place)
	}
}

// rightsAreMissed: a test that expects a permission error must meet it.
func rightsAreMissed(t *testing.T, b *box) {
	for name, script := range map[string]string{
		"unreadable_file":   `touch f; chmod 000 f; cat f`,
		"unwritable_dir":    `mkdir d; chmod 555 d; touch d/x`,
		"unsearchable_dir":  `mkdir d; touch d/x; chmod 000 d; cat d/x`,
		"roots_file":        `cat /etc/shadow`,
		"write_usr":         `touch /usr/bin/x`,
		"write_etc":         `touch /etc/x`,
		"write_root":        `touch /x`,
		"write_toolchains":  `touch /opt/toolchains/x`,
		"write_run":         `touch /run/x`,
		"write_dev":         `touch /dev/x`,
		"write_proc_sys":    `echo 1 >/proc/sys/vm/drop_caches`,
		"give_away":         `touch f; chown 0:0 f`,
		"device_node":       `mknod f b 8 0`,
		"mount":             `mount -t tmpfs none /tmp`,
		"user_namespace":    `unshare --user --map-root-user true`,
		"network_namespace": `unshare --net true`,
		"kill_init":         `kill -KILL 1; sleep 0.2; exit 1`,
		"raise_limit":       `ulimit -Hn 1000000`,
		"host_name":         `hostname other`,
		"set_clock":         `date -s 2000-01-01 && [ "$(date +%Y)" = 2000 ]`,
		"low_interface":     `perl -e 'use Socket; socket(S, PF_INET, SOCK_RAW, 1) or exit 1'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script)})
			if res.End != sandbox.Exited || res.ExitCode == 0 {
				t.Errorf("%s, exit %d; want it refused: %s", res.End, res.ExitCode, res.Output)
			}
		})
	}
}

func environmentIsOurs(t *testing.T, b *box) {
	res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`/usr/bin/env -u _ -u SHLVL -u PWD -u OLDPWD | sort`), Env: map[string]string{"ONE": "a b\nc", "HOME": "/tmp"}})
	want := `HOME=/tmp
LANG=C.UTF-8
LOGNAME=tester
ONE=a b
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
SHELL=/bin/bash
TZ=UTC
USER=tester
c
`
	if diff := cmp.Diff(want, string(res.Output)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A variable that misleads programs must not reach those that run with rights.
	evil := map[string]string{"LD_PRELOAD": "/testbed/evil.so", "BASH_ENV": "/testbed/evil", "ENV": "/testbed/evil", "PATH": "/testbed"}
	res = b.run(t, sandbox.Run{Layer: b.base, Command: bash(`[ "$(/usr/bin/id -u)" = "$1" ]`, strconv.Itoa(sandbox.UID)), Env: evil})
	wantEnd(t, res, sandbox.Exited)
	if res.ExitCode != 0 {
		t.Errorf("exit %d: %s", res.ExitCode, res.Output)
	}
}

func nothingOfTheHost(t *testing.T, b *box) {
	found := func(script string, args ...string) {
		t.Helper()
		if out := b.script(t, b.base, script+"; true", args...); out != "" {
			t.Errorf("%s: %s", script, out)
		}
	}
	found(`ls "$1" "$(dirname "$1")" 2>/dev/null`, b.home)
	found(`cat "$1" /proc/1/root"$1" 2>/dev/null`, filepath.Join(b.home, "private"))
	found(`cat /proc/*/environ 2>/dev/null | tr '\0' '\n' | grep -a `+secret[:8], "")
	found(`find /run/benchmint /usr/local -mindepth 1 -type f 2>/dev/null`)
	found(`ls /run/docker.sock /var/run/docker.sock /root/.ssh /home/tester/.netrc 2>/dev/null`)
	found(`grep -rlsa ` + caMarker + ` /etc /run /home /opt /usr/share/ca-certificates /usr/local /tmp /var/tmp`)
	found(`env | grep -iE 'proxy|cert|ca_bundle|index_url|ssl'`)
	found(`for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; done 2>/dev/null | grep -a '[s]andboxtest\|[g]o test'`)
	if out := b.script(t, b.base, `cat /proc/self/mounts /proc/self/mountinfo`); strings.Contains(out, b.home) {
		t.Errorf("a mount names the host's directory: %s", out)
	}
}

func toolchains(t *testing.T, b *box) {
	dir := t.TempDir()
	if err := mkdirs(filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "bin", "hello"), "#!/bin/sh\necho hello from $0\n")
	chmod(t, filepath.Join(dir, "bin", "hello"), 0o755)
	chmod(t, dir, 0o755)
	tc := sandbox.Toolchain{Dir: dir}
	tc.Name, tc.Version = "hello", fmt.Sprintf("1.%d", b.sequence.Add(1))
	tc.Digest = b.key(t)
	base, err := b.Base(timeout(t), sandbox.Base{Toolchains: []sandbox.Toolchain{tc}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Remove(timeout(t), base); err != nil {
			t.Error(err)
		}
	}()
	at := sandbox.ToolchainPath + "/hello-" + tc.Version
	if got := b.script(t, base, `"$1"/bin/hello; ! touch "$1"/x 2>/dev/null`, at); got != "hello from "+at+"/bin/hello" {
		t.Error(got)
	}
	layer, _ := b.build(t, sandbox.Build{Parent: base, Steps: commands(bash(`"$1"/bin/hello >out`, at))})
	if got := b.script(t, layer, `cat out`); got != "hello from "+at+"/bin/hello" {
		t.Error(got)
	}
	// Where a toolchain lies on the host is no part of the key, and may change.
	tc.Dir = filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, tc.Dir); err != nil {
		t.Fatal(err)
	}
	moved, err := b.Base(timeout(t), sandbox.Base{Toolchains: []sandbox.Toolchain{tc}})
	if err != nil || moved.Key != base.Key {
		t.Fatalf("key %s after a move, %s before: %v", moved.Key, base.Key, err)
	}
	if got := b.script(t, moved, `"$1"/bin/hello`, at); got != "hello from "+at+"/bin/hello" {
		t.Error(got)
	}
}
