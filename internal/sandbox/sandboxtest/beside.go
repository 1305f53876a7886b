package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// servicePort is the same for all services: each has a network of its own.
const servicePort = "8000"

// serving answers each connection with its first argument, on all addresses, until it is
// killed. Its output is "listening".
const serving = `
use IO::Socket::IP; $| = 1; $SIG{PIPE} = "IGNORE";
my $l = IO::Socket::IP->new(LocalHost => "0.0.0.0", LocalPort => ` + servicePort + `, Listen => 50, ReuseAddr => 1) or die $@;
print "listening\n";
while (1) { my $c = $l->accept or next; print $c "$ARGV[0]\n"; close $c }`

// call waits until the service answers and prints its answer; it gives up after a while.
const call = `
call() {
	for i in $(seq 400); do
		if exec 3<>/dev/tcp/${1:-127.0.0.1}/` + servicePort + `; then cat <&3; exec 3>&-; return 0; fi 2>/dev/null
		sleep 0.05
	done
	echo "nobody answers"; return 1
}
# refused waits until nobody listens any more, and fails where that reads as anything else.
refused() {
	for i in $(seq 400); do
		perl -MIO::Socket::INET -MErrno -e '
			exit 1 if IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ` + servicePort + `, Timeout => 5);
			exit($!{ECONNREFUSED} ? 0 : 2)'
		case $? in 0) echo refused; return 0 ;; 2) echo "not refused"; return 1 ;; esac
		sleep 0.05
	done
	echo "still answers"; return 1
}
`

// beside runs a command with a service on the base, and fails the test for a fault of the machine.
func (b *box) beside(t *testing.T, r sandbox.Run, service sandbox.Beside) sandbox.Result {
	t.Helper()
	if service.Layer.ID == "" {
		service.Layer = b.base
	}
	if service.Limits == (sandbox.Limits{}) {
		service.Limits = small
	}
	r.Beside = &service
	res := b.run(t, r)
	if res.Beside == nil {
		t.Fatal("nothing is said of the service")
	}
	return res
}

func wantServed(t *testing.T, res sandbox.Result, end sandbox.End, code int, output string) {
	t.Helper()
	got := sandbox.Served{End: res.Beside.End, ExitCode: res.Beside.ExitCode, Output: res.Beside.Output}
	if diff := cmp.Diff(sandbox.Served{End: end, ExitCode: code, Output: []byte(output)}, got); diff != "" {
		t.Errorf("the service (-want +got):\n%s", diff)
	}
}

func wantSaid(t *testing.T, res sandbox.Result, want string) {
	t.Helper()
	wantEnd(t, res, sandbox.Exited)
	if diff := cmp.Diff(want, string(res.Output)); diff != "" || res.ExitCode != 0 {
		t.Errorf("exit %d, output (-want +got):\n%s", res.ExitCode, diff)
	}
}

// serviceIsReached: from the start to the end of the command, on each address of the network.
func serviceIsReached(t *testing.T, b *box) {
	res := b.beside(t, sandbox.Run{
		Channel: &sandbox.Channel{Given: []byte("given")}, Collect: []string{"/tmp/report"},
		Command: bash(call + `call; call 10.66.0.2; call localhost; cat <&8 >/tmp/report; echo told >&9`),
	}, sandbox.Beside{Command: perl(serving, "hello")})
	wantSaid(t, res, "hello\nhello\nhello\n")
	wantServed(t, res, "", 0, "listening\n")
	if string(res.Report) != "told\n" || string(res.Files["/tmp/report"]) != "given" {
		t.Errorf("report %q, file %q", res.Report, res.Files["/tmp/report"])
	}
	if res.Wall <= 0 || res.Overhead <= 0 {
		t.Errorf("wall %v, overhead %v", res.Wall, res.Overhead)
	}
}

// servicesDoNotMeet: runs at the same time have the same port, and each its own service.
func servicesDoNotMeet(t *testing.T, b *box) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := b.beside(t, sandbox.Run{Command: bash(call + `for n in $(seq 40); do call; sleep 0.05; done | sort | uniq -c | tr -s ' '`)},
				sandbox.Beside{Command: perl(serving, name)})
			wantSaid(t, res, " 40 "+name+"\n")
			wantServed(t, res, "", 0, "listening\n")
		})
	}
}

// noWayOutBeside: the shared network leads no more to the host than one alone.
func noWayOutBeside(t *testing.T, b *box) {
	before := len(b.world.visits())
	try := perl(connecting, b.waysOut(t)...)
	// The service is the last to end.
	res := b.beside(t, sandbox.Run{Command: bash(`"$@"; sleep 5`, try.Argv...)}, sandbox.Beside{Command: try})
	b.wantNoWay(t, string(res.Output))
	b.wantNoWay(t, string(res.Beside.Output))
	if res.Beside.End != sandbox.Exited || res.Beside.ExitCode != 0 {
		t.Errorf("the service: %+v", res.Beside)
	}
	if seen := b.world.visits()[before:]; len(seen) > 0 {
		t.Errorf("the host was reached: %q", seen)
	}
}

// look shows what a process could see of a neighbour named by the first argument, as the
// command line, a file, an input or a piece of shared memory; the second is its own name.
const look = `
shm() { perl -MIPC::SysV=IPC_CREAT -e "$1"; }
mine=$2 other=$1 inputs=/run/benchmint
for d in /testbed /tmp /var/tmp /dev/shm /opt/env ~; do echo secret >$d/file-of-$mine; done
shm 'defined shmget('$((0x$(printf %s $mine | cksum | cut -c 1-6)))', 64, IPC_CREAT | 0666) or print "no shared memory\n"'
seen() {
	ls -d /testbed/* /tmp/* /var/tmp/* /dev/shm/* /opt/env/* ~/* /run/benchmint/* 2>/dev/null | grep -e "of-$other"
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -x -e "[n]ame-$other"
	find /proc/[0-9]*/root$inputs /proc/[0-9]*/cwd/ -maxdepth 1 -name "*of-$other" 2>/dev/null
	shm 'print "shared memory\n" if defined shmget('$((0x$(printf %s $other | cksum | cut -c 1-6)))', 64, 0)'
}
# No descriptor of the run's is left open to the service.
descriptors() {
	for n in $(seq 3 40); do (timeout 1 head -c 7 <&$n; echo forged >&$n) 2>/dev/null; done
}
`

// serviceIsApart: of files, inputs, processes, signals and shared memory nothing crosses.
func serviceIsApart(t *testing.T, b *box) {
	inputs := func(name string) []sandbox.File {
		return []sandbox.File{{Path: sandbox.RunPath + "/input-of-" + name, Mode: 0o644, Data: []byte("secret")}}
	}
	service := bash(look+`
set -m
trap '' USR1
(exec -a name-service sleep 100) &
perl -e "$3" ready & # the tester has seen us from here on
sleep 3; seen; descriptors; kill -KILL -1; sleep 100`, "tester", "service", serving, "name-service")
	tester := bash(call+look+`
(exec -a name-tester sleep 100) &
call; seen
for p in $(seq 2 3000); do [ $p = $$ ] || [ $p = $! ] || kill -USR1 $p 2>/dev/null; done
ls /run/benchmint
sleep 6; kill -0 $! && echo unharmed; cat <&8; echo genuine >&9`, "service", "tester")
	res := b.beside(t, sandbox.Run{Command: tester, Inputs: inputs("tester"), Channel: &sandbox.Channel{Given: []byte("given\n")}},
		sandbox.Beside{Command: service, Inputs: inputs("service")})
	wantSaid(t, res, "ready\ninput-of-tester\nunharmed\ngiven\n")
	if string(res.Report) != "genuine\n" {
		t.Errorf("report %q", res.Report)
	}
	if out := string(res.Beside.Output); out != "listening\n" {
		t.Errorf("the service says %q", out)
	}
}

// serviceIsFresh: what it writes is nobody's, and what it has is its layer's.
func serviceIsFresh(t *testing.T, b *box) {
	layer, _ := b.build(t, sandbox.Build{Files: []sandbox.File{{Path: sandbox.TreePath + "/state", Mode: 0o644, Data: []byte("first\n")}}})
	for range 2 {
		res := b.beside(t, sandbox.Run{Command: bash(call + `call; ls /testbed`)},
			sandbox.Beside{Layer: layer, Command: bash(`s=$(cat state); echo second >state; echo new >new; exec perl -e "$1" "$s"`, serving)})
		wantSaid(t, res, "first\n")
	}
	if got := b.script(t, layer, `cat state; ls`); got != "first\nstate" {
		t.Errorf("the layer has %q", got)
	}
}

// serviceEnds: a service that ends does not end the run, and reads as refused.
func serviceEnds(t *testing.T, b *box) {
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"at_once":      {`printf gone; exit 7`, 7},
		"with_zero":    {`printf gone`, 0},
		"by_a_signal":  {`printf gone; kill -SEGV $$`, 139},
		"while_served": {`printf gone; perl -e "$1" x >/dev/null & sleep 2; kill $!; exit 5`, 5},
		"no_program":   {`printf gone; exec /no/such/program 2>/dev/null`, 127},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, want := `sleep 1; refused; sleep 0.5; refused`, "refused\nrefused\n"
			if name == "while_served" {
				script, want = `call; `+script, "x\n"+want
			}
			res := b.beside(t, sandbox.Run{Command: bash(call + script)}, sandbox.Beside{Command: bash(c.script, serving)})
			wantSaid(t, res, want)
			// A shell says of itself that a command ended by a signal. It says
			// so on another pipe, so the line may come before the command's own.
			res.Beside.Output = bytes.Replace(res.Beside.Output, []byte("Segmentation fault\n"), nil, 1)
			wantServed(t, res, sandbox.Exited, c.code, "gone")
		})
	}
}

// serviceLimits: they are the service's own, and the run goes on.
func serviceLimits(t *testing.T, b *box) {
	const kept = 1 << 20
	for name, c := range map[string]struct {
		end    sandbox.End
		script string
		change func(*sandbox.Limits)
	}{
		"memory":            {sandbox.Memory, `exec perl -e "$1"`, func(l *sandbox.Limits) { l.Memory = 64 << 20 }},
		"memory_of_a_child": {sandbox.Memory, `perl -e "$1"; sleep 100`, func(l *sandbox.Limits) { l.Memory = 64 << 20 }},
		"output":            {sandbox.Output, `yes`, func(l *sandbox.Limits) { l.Output = kept }},
		"disk":              {sandbox.Disk, `while head -c 1M /dev/zero >>big; do :; done; sleep 100`, func(l *sandbox.Limits) { l.Disk = 24 << 20 }},
		"processes":         {sandbox.Processes, `for i in $(seq 200); do sleep 100 & done; wait`, func(l *sandbox.Limits) { l.Processes = 40 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := b.beside(t, sandbox.Run{Command: bash(call + `sleep 3; refused; perl -e 'my $x = "x" x 40_000_000; print length $x, "\n"'; head -c 30M /dev/zero >big; echo through`)},
				sandbox.Beside{Command: bash(c.script, hog), Limits: limited(c.change)})
			wantSaid(t, res, "refused\n40000000\nthrough\n")
			if res.Beside.End != c.end || res.Beside.ExitCode != 0 {
				t.Errorf("the service: end %q, exit %d; want %q", res.Beside.End, res.Beside.ExitCode, c.end)
			}
			if c.end == sandbox.Output && len(res.Beside.Output) != kept {
				t.Errorf("%d bytes were kept, want %d", len(res.Beside.Output), kept)
			}
		})
	}
	t.Run("of_the_run", func(t *testing.T) {
		t.Parallel()
		res := b.beside(t, sandbox.Run{Command: bash(call+`call; exec perl -e "$1"`, hog), Limits: limited(func(l *sandbox.Limits) { l.Memory = 64 << 20 })},
			sandbox.Beside{Command: perl(serving, "hello")})
		wantEnd(t, res, sandbox.Memory)
		wantServed(t, res, "", 0, "listening\n")
	})
}

// family is a service with descendants that are hard to end: in new sessions, without a
// parent, deaf to signals, with the output open.
const family = `
trap '' INT TERM HUP
(setsid sleep "$1" &)
(setsid bash -c 'trap "" INT TERM; sleep "$1"; sleep "$1"' x "$1" &)
perl -e 'use POSIX; exit if fork; POSIX::setsid(); exit if fork; close STDOUT; close STDERR; exec "sleep", @ARGV' "$1"
perl -e "$2" hello & sleep "$1"; sleep "$1"`

// serviceDies: with the run, however that ends, and all that it has started.
func serviceDies(t *testing.T, b *box) {
	m := b.marker()
	service := sandbox.Beside{Command: bash(family, m, serving)}
	t.Run("with_the_command", func(t *testing.T) {
		began := time.Now()
		res := b.beside(t, sandbox.Run{Command: bash(call + `call; exit 3`)}, service)
		wantEnd(t, res, sandbox.Exited)
		if res.ExitCode != 3 {
			t.Errorf("exit %d: %s", res.ExitCode, res.Output)
		}
		wantServed(t, res, "", 0, "listening\n")
		wantNoProcess(t, m)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
	})
	t.Run("with_its_time", func(t *testing.T) {
		res := b.beside(t, sandbox.Run{Command: bash(call+`call; sleep "$1"`, m), Limits: limited(func(l *sandbox.Limits) { l.Timeout = 3 * time.Second })}, service)
		wantEnd(t, res, sandbox.TimedOut)
		wantServed(t, res, "", 0, "listening\n")
		wantNoProcess(t, m)
	})
	for name, after := range map[string]time.Duration{"cancel_at_once": 0, "cancel_while_starting": 40 * time.Millisecond, "cancel": 2500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			beside := service
			beside.Layer, beside.Limits = b.base, small
			_, err := b.Run(ctx, sandbox.Run{Layer: b.base, Limits: small, Command: bash(`trap '' INT TERM; sleep "$1"`, m), Beside: &beside})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
			wantNoProcess(t, m)
		})
	}
}

// serviceFaults: what is no service's doing is an error of the run, at once.
func serviceFaults(t *testing.T, b *box) {
	m := b.marker()
	run := func(service sandbox.Beside) (sandbox.Result, error) {
		return b.Run(timeout(t), sandbox.Run{Layer: b.base, Limits: small, Command: bash(`sleep "$1"`, m), Beside: &service})
	}
	for name, service := range map[string]sandbox.Beside{
		"no_command":    {Layer: b.base},
		"no_layer":      {Layer: sandbox.Layer{ID: "none"}, Command: bash(`true`)},
		"outside_input": {Layer: b.base, Command: bash(`true`), Inputs: []sandbox.File{{Path: "/etc/x"}}},
	} {
		if _, err := run(service); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if b.kind.Kill != nil {
		own := b.marker()
		go func() {
			time.Sleep(2 * time.Second)
			b.kind.Kill(t, own)
		}()
		res, err := run(sandbox.Beside{Layer: b.base, Limits: small, Command: bash(`sleep "$1"`, own)})
		if err == nil || !strings.Contains(err.Error(), "killed from outside") {
			t.Errorf("the service was killed from outside, and the run ended %q, the service %+v, error %v", res.End, res.Beside, err)
		}
	}
	wantNoProcess(t, m)
	if b.kind.OnSmall == nil {
		return
	}
	s, dir := b.kind.OnSmall(t)
	base, err := s.Base(timeout(t), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	free := make(chan func(), 1)
	go func() {
		time.Sleep(2 * time.Second) // it has begun
		free <- Fill(t, dir)
	}()
	res, err := s.Run(timeout(t), sandbox.Run{
		Layer: base, Limits: small, Command: bash(`sleep "$1"`, m), Beside: &sandbox.Beside{Layer: base, Limits: small, Command: bash(`sleep "$1"`, m)},
	})
	WantShort(t, res, err, "disk")
	(<-free)()
	wantNoProcess(t, m)
}
