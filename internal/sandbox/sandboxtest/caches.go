package sandboxtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// cache is a name that no other case and no other process uses.
func (b *box) cache(name string) string {
	return fmt.Sprintf("%s-%d-%d-%d", name, os.Getpid(), time.Now().UnixNano(), b.sequence.Add(1))
}

// listCache prints all that a cache holds: kind, rights, owner, name and content.
const listCache = `cd ~/.cache/shop && find . -mindepth 1 -printf '%y %m %U %P %l\n' | sort && find . -type f | sort | xargs -r cat`

// attack is what a stranger would do to a cache that others use.
const attack = `exec 2>/dev/null; cd ~/.cache/shop; echo evil >good; echo evil >>kept/deep; rm -rf gone; mv moved stolen; touch planted; ln -sf /etc/passwd link
chmod 0 kept; chmod 0 ~/.cache/shop; chmod 755 ~/.cache/shop; mkdir -p gone; echo evil >gone/again; ln good hard; setfattr -n user.x -v y .; true`

// cachesAreFilledByFillsOnly: what a step writes to a cache the next step of its build
// sees, and no other build; what a fill writes all see.
func cachesAreFilledByFillsOnly(t *testing.T, b *box) {
	caches := map[string]string{b.cache("shop"): "/home/tester/.cache/shop"}
	fill := &sandbox.Fill{Steps: commands(bash(`cd ~/.cache/shop && mkdir kept gone && echo good >good && echo deep >kept/deep && echo x >gone/x && echo m >moved && ln -s good link`))}
	list := func(fill *sandbox.Fill) string {
		_, res := b.build(t, sandbox.Build{Caches: caches, Fill: fill, Steps: commands(bash(listCache))})
		return string(res.Output)
	}
	before := list(fill)
	switch {
	case b.kind.Bare && before != "":
		t.Fatalf("a bare sandbox shows a cache:\n%s", before)
	case !b.kind.Bare && !strings.Contains(before, "good\n"):
		t.Fatalf("a step does not see what its fill left:\n%s", before)
	}
	_, res := b.build(t, sandbox.Build{Caches: caches, Steps: commands(bash(attack), bash(`cat ~/.cache/shop/good`))})
	if got := string(res.Output); got != "evil\n" {
		t.Errorf("the second step of a build sees %q of the first", got)
	}
	_, _, err := b.tryBuild(t, sandbox.Build{Caches: caches, Steps: commands(bash(attack), bash("exit 1"))})
	buildError(t, err)
	if after := list(nil); after != before {
		t.Errorf("what others see of a cache after strangers' steps (-before +after):\n%s", cmp.Diff(before, after))
	}
	if b.kind.Bare {
		return
	}
	list(&sandbox.Fill{Steps: commands(bash(`echo more >~/.cache/shop/more`))})
	if after := list(nil); !strings.Contains(after, "more\n") || !strings.Contains(after, "good\n") {
		t.Errorf("what a second fill left:\n%s", after)
	}
}

// fillIsApart: a fill sees nothing of the build that it is for, and leaves nothing in it
// but in the cache.
func fillIsApart(t *testing.T, b *box) {
	parent, _ := b.build(t, sandbox.Build{Files: []sandbox.File{{Path: "/testbed/theirs", Mode: 0o644, Data: []byte("theirs")}}, Steps: commands(bash("true"))})
	seen := `cat /testbed/theirs /opt/env/ours /run/benchmint/input 2>/dev/null; echo "${THEIRS:-} ${OURS:-}"`
	_, res := b.build(t, sandbox.Build{
		Parent: parent, Caches: map[string]string{b.cache("apart"): "/home/tester/.cache/apart"},
		Fill: &sandbox.Fill{
			Parent: b.base, Env: map[string]string{"OURS": "ours"}, Files: []sandbox.File{{Path: "/opt/env/ours", Mode: 0o644, Data: []byte("file of ours\n")}},
			Steps: commands(bash(`(` + seen + `) >~/.cache/apart/seen; echo x | tee /opt/env/x /testbed/x ~/x >/dev/null`)),
		},
		Env:    map[string]string{"THEIRS": "variable of theirs"},
		Inputs: []sandbox.File{{Path: "/run/benchmint/input", Mode: 0o644, Data: []byte("input")}},
		Steps:  commands(bash(`cat ~/.cache/apart/seen 2>/dev/null; ls /opt/env /testbed ~`)),
	})
	want := "file of ours\n ours\n"
	if b.kind.Bare {
		want = ""
	}
	if want += "/home/tester:\n\n/opt/env:\n\n/testbed:\ntheirs\n"; string(res.Output) != want {
		t.Errorf("fill and step (-want +got):\n%s", cmp.Diff(want, string(res.Output)))
	}
}

// fillThatFails: a fill decides nothing. It has the limits of its build.
func fillThatFails(t *testing.T, b *box) {
	for name, script := range map[string]string{"exit": "exit 3", "killed": "kill -9 $$", "time": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := small
			if name == "time" {
				limits.Timeout = 2 * time.Second
			}
			_, res := b.build(t, sandbox.Build{
				Caches: map[string]string{b.cache("fails"): "/home/tester/.cache/fails"},
				Fill:   &sandbox.Fill{Steps: commands(bash(script))}, Steps: commands(bash("echo built")), Limits: limits,
			})
			if string(res.Output) != "built\n" {
				t.Errorf("output %q", res.Output)
			}
		})
	}
}

// cacheNames: a name is one of a folder, and says nothing to a mount.
func cacheNames(t *testing.T, b *box) {
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "a:b", "a,upperdir=x", `a\b`} {
		_, _, err := b.Build(timeout(t), sandbox.Build{
			Key: b.key(t), Parent: b.base, Discard: true, Caches: map[string]string{name: "/home/tester/.cache/x"}, Steps: commands(bash("true")), Limits: small,
		})
		if err == nil || !strings.Contains(err.Error(), "cache name") {
			t.Errorf("cache %q: %v", name, err)
		}
	}
}

// cachesAreWithinTheDiskLimit: what a step writes to a cache is on the same disk.
func cachesAreWithinTheDiskLimit(t *testing.T, b *box) {
	_, _, err := b.tryBuild(t, sandbox.Build{
		Caches: map[string]string{b.cache("full"): "/home/tester/.cache/full"},
		Steps:  commands(bash(`for i in $(seq 40); do head -c 8M /dev/zero >~/.cache/full/$i || exit 1; sleep 0.1; done; sleep 3`)), Limits: small,
	})
	wantEnd(t, buildError(t, err).Result, sandbox.Disk)
}
