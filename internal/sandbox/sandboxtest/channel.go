package sandboxtest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// channel: what is given is read once, what is written comes back, bounded, and the
// output of the command stays what it was.
func channel(t *testing.T, b *box) {
	given := strings.Repeat("given to the command\n", 10_000) // more than a pipe holds
	res := b.run(t, sandbox.Run{Channel: &sandbox.Channel{Given: []byte(given)}, Command: bash(
		`echo out; echo err >&2; cat; n=$(cat <&8 | wc -c); again=$(cat <&8); printf '%s %s|' "$n" "$again" >&9; (echo child >&9); exit 3`)})
	if diff := cmp.Diff("210000 |child\n", string(res.Report)); diff != "" || res.ReportCut || res.ExitCode != 3 {
		t.Errorf("exit %d, cut %v, report (-want +got):\n%s", res.ExitCode, res.ReportCut, diff)
	}
	if got := string(res.Output); got != "out\nerr\n" {
		t.Errorf("output %q", got)
	}
	res = b.run(t, sandbox.Run{Channel: &sandbox.Channel{}, CollectMax: 1000, Command: bash(`head -c 20M /dev/zero | tr '\0' x >&9; echo through`)})
	if len(res.Report) != 1000 || !res.ReportCut || string(res.Output) != "through\n" {
		t.Errorf("%d bytes of a flood, cut %v; %q", len(res.Report), res.ReportCut, res.Output)
	}
	res = b.run(t, sandbox.Run{Command: bash(`(: <&8) 2>/dev/null || (: >&9) 2>/dev/null || echo none`)})
	if string(res.Output) != "none\n" || res.Report != nil {
		t.Errorf("without a channel: %q, report %q", res.Output, res.Report)
	}
}

// channelOfTheCommand: a process that did not get the descriptors from the command
// cannot get at them, whoever its parent is.
func channelOfTheCommand(t *testing.T, b *box) {
	res := b.run(t, sandbox.Run{Channel: &sandbox.Channel{Given: []byte("secret")}, Command: bash(`
without() { "$@" 8<&- 9>&-; }
others() {
	for p in $(ls /proc | grep '^[0-9]'); do for fd in 8 9 $(ls /proc/$p/fd 2>/dev/null); do
		[ "$fd" -gt 2 ] || continue
		timeout 1 head -c 6 /proc/$p/fd/$fd | grep -a -e secret -e genuine
		echo forged >/proc/$p/fd/$fd
	done; done 2>/dev/null
}
echo genuine >&9
without others >found
setsid bash -c "$(declare -f others); others" >>found 8<&- 9>&-
timeout 1 cat <&9 >>found 2>/dev/null
grep -a -e secret -e genuine found
[ "$(cat <&8)" = secret ] && echo given
echo end >&9`)})
	if diff := cmp.Diff("genuine\nend\n", string(res.Report)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	// An ordinary user's processes write to each other's pipes: to the output, not to the report.
	if got := strings.ReplaceAll(string(res.Output), "forged\n", ""); got != "given\n" {
		t.Errorf("found by others: %q", got)
	}
}

// channelAndTheEnd: what was written before a limit is there, and a process that holds
// the channel open keeps nobody.
func channelAndTheEnd(t *testing.T, b *box) {
	res := b.run(t, sandbox.Run{
		Channel: &sandbox.Channel{Given: make([]byte, 1<<20)}, Limits: limited(func(l *sandbox.Limits) { l.Timeout = time.Second }),
		Command: bash(`trap '' INT TERM; echo partial >&9; while :; do sleep 1; done`),
	})
	wantEnd(t, res, sandbox.TimedOut)
	if string(res.Report) != "partial\n" {
		t.Errorf("report after a time-out: %q", res.Report)
	}
	marker := b.marker()
	res = b.run(t, sandbox.Run{Channel: &sandbox.Channel{}, Command: bash(`setsid sleep "$1" </dev/null >/dev/null 2>&1 & echo done >&9`, marker)})
	wantEnd(t, res, sandbox.Exited)
	if string(res.Report) != "done\n" {
		t.Errorf("report beside a daemon: %q", res.Report)
	}
	wantNoProcess(t, marker)
}
