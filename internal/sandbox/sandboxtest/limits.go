package sandboxtest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

func limited(change func(*sandbox.Limits)) sandbox.Limits {
	l := small
	change(&l)
	return l
}

// hog takes memory page by page, for as long as it gets any.
const hog = `my @a; while (1) { push @a, "x" x 1_000_000 }`

func memoryLimit(t *testing.T, b *box) {
	neighbour := make(chan sandbox.Result, 1)
	go func() {
		res, err := b.Run(timeout(t), sandbox.Run{Layer: b.base, Limits: small, Command: bash(`sleep 2; echo unharmed`)})
		if err != nil {
			t.Error(err)
		}
		neighbour <- res
	}()
	res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(hog), Limits: limited(func(l *sandbox.Limits) { l.Memory = 64 << 20 })})
	wantEnd(t, res, sandbox.Memory)
	if res := <-neighbour; res.End != sandbox.Exited || string(res.Output) != "unharmed\n" {
		t.Errorf("a neighbour ended %s: %q", res.End, res.Output)
	}
	// The same under its limit is no matter: it is memory that counts, not address space.
	res = b.run(t, sandbox.Run{Layer: b.base, Command: perl(`my $x = "x" x 40_000_000; print length $x`), Limits: limited(func(l *sandbox.Limits) { l.Memory = 128 << 20 })})
	wantEnd(t, res, sandbox.Exited)
	if string(res.Output) != "40000000" {
		t.Errorf("output %q", res.Output)
	}
}

// memoryOfAChild: a parent that goes on after its child was killed hides nothing.
func memoryOfAChild(t *testing.T, b *box) {
	res := b.run(t, sandbox.Run{
		Layer: b.base, Command: bash(`/usr/bin/perl -e "$1"; sleep 1; exit 0`, hog),
		Limits: limited(func(l *sandbox.Limits) { l.Memory = 64 << 20 }),
	})
	wantEnd(t, res, sandbox.Memory)
}

func processLimit(t *testing.T, b *box) {
	m := b.marker()
	for name, script := range map[string]string{
		"bomb":  `f() { f | f & }; f; sleep "$1"`,
		"many":  `for i in $(seq 200); do sleep "$1" & done; wait`,
		"brief": `perl -e 'for (1..200) { defined(my $p = fork) or exit 3; if (!$p) { sleep 5; exit } }'`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "brief" && b.kind.Looked {
				t.Skip("processes are counted by looking")
			}
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script, m), Limits: limited(func(l *sandbox.Limits) { l.Processes = 40 })})
			wantEnd(t, res, sandbox.Processes)
		})
	}
	wantNoProcess(t, m)
}

// perlHolds begins a program that writes files, deletes them, and holds them somehow.
const perlHolds = `exec perl -e 'use IO::Handle; for (1..12) { open my $f, "+>", "big" or die; print $f "x" x 3_000_000; $f->flush; unlink "big"; `

func diskLimit(t *testing.T, b *box) {
	limits := limited(func(l *sandbox.Limits) { l.Disk, l.Memory = 24<<20, 512<<20 })
	for name, script := range map[string]string{
		"one_file":           `head -c 300M /dev/zero >big`,
		"appended":           `while head -c 1M /dev/zero >>big; do :; done`,
		"big_files":          `for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"empty_files":        `perl -e 'for (1..60000) { open my $f, ">", "e$_" or die }'`,
		"tmp":                `cd /tmp; for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"var_tmp":            `cd /var/tmp; for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"shared_memory":      `cd /dev/shm; for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"home":               `cd ~; for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"env":                `cd /opt/env; for i in $(seq 100); do head -c 3M /dev/zero >f$i || exit 1; done`,
		"in_all_places":      `for d in /testbed /tmp /var/tmp /dev/shm ~ /opt/env; do head -c 8M /dev/zero >$d/x; done; sleep 3`,
		"long_paths":         `perl -e 'for (1..20) { mkdir "d" x 250; chdir "d" x 250 or die } for (1..12) { open my $f, ">", $_ or die; print $f "x" x 3_000_000 }'; sleep 3`,
		"nested":             `perl -e 'for (1..3000) { mkdir "d"; chdir "d" or die }'; sleep 3`,
		"mapped":             perlHolds + `syscall(` + strconv.Itoa(unix.SYS_MMAP) + `, 0, 4096, 1, 1, fileno $f, 0) == -1 and die; close $f } sleep 5'`,
		"first_thread_ended": `exec perl -Mthreads -e 'threads->create(sub { for (1..12) { open my $f, "+>", "b$_"; print $f "x" x 3_000_000; unlink "b$_"; push @a, $f } sleep 5 }); syscall(` + strconv.Itoa(unix.SYS_EXIT) + `, 0)'`,
		"already_erased":     `for i in $(seq 10 40); do eval "exec $i>gone"; rm gone; head -c 3M /dev/zero >&$i; done; sleep 3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if b.kind.Asked && slices.Contains([]string{"already_erased", "empty_files", "long_paths", "nested", "mapped", "first_thread_ended"}, name) {
				t.Skip("the engine counts the bytes of files that a path names")
			}
			began := time.Now()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script), Limits: limits})
			wantEnd(t, res, sandbox.Disk)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`for i in 1 2 3 4 5 6; do head -c 8M /dev/zero >x; rm x; done; truncate -s 10M sparse; head -c 10M /dev/zero >y`), Limits: limits})
	wantEnd(t, res, sandbox.Exited)
	if res.ExitCode != 0 {
		t.Errorf("exit %d: %s", res.ExitCode, res.Output)
	}
}

func outputLimit(t *testing.T, b *box) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const limit = 1 << 20
	for name, script := range map[string]string{
		"lines":          `exec yes`,
		"error_output":   `yes >&2`,
		"one_long_line":  `head -c 200000000 /dev/zero`,
		"of_a_daemon":    `(setsid yes &) ; sleep 30`,
		"both_and_quiet": `yes & yes >&2 & sleep 30`,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script), Limits: limited(func(l *sandbox.Limits) { l.Output = limit })})
			wantEnd(t, res, sandbox.Output)
			if len(res.Output) != limit {
				t.Errorf("%d bytes were kept, want %d", len(res.Output), limit)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("our own memory grew by %d bytes", grown)
	}
	res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`head -c 1048576 /dev/zero`), Limits: limited(func(l *sandbox.Limits) { l.Output = limit })})
	wantEnd(t, res, sandbox.Exited)
}

// cpuLimit: two that spin for two seconds get no more than one CPU together. On a
// machine with one CPU, or a busy one, this shows nothing and does no harm.
func cpuLimit(t *testing.T, b *box) {
	const spin = `use Time::HiRes qw(time); my $end = time + 2; my $p = fork; 1 while time < $end; if ($p) { wait; my @t = times; print $t[0] + $t[1] + $t[2] + $t[3] }`
	res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(spin), Limits: limited(func(l *sandbox.Limits) { l.CPUs = 1 })})
	wantEnd(t, res, sandbox.Exited)
	used, err := strconv.ParseFloat(string(res.Output), 64)
	if err != nil || used > 2.7 {
		t.Errorf("%v seconds of CPU in 2 seconds of one CPU (%v)", used, err)
	}
}

func timeLimit(t *testing.T, b *box) {
	m := b.marker()
	for name, script := range map[string]string{
		"sleeps":          `sleep "$1"`,
		"ignores_signals": `trap '' INT TERM HUP QUIT; while :; do sleep "$1"; done`,
		"spins":           `while :; do :; done`,
		"stopped":         `kill -STOP $$; sleep "$1"`,
		"left_behind":     `(setsid bash -c 'trap "" INT TERM; sleep "$1"' x "$1" &); sleep "$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script, m), Limits: limited(func(l *sandbox.Limits) { l.Timeout = 700 * time.Millisecond })})
			wantEnd(t, res, sandbox.TimedOut)
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	t.Cleanup(func() { wantNoProcess(t, m) })
}

// timeWithReport: a runner that catches the interrupt has time to write its report.
func timeWithReport(t *testing.T, b *box) {
	res := b.run(t, sandbox.Run{
		Layer:   b.base,
		Command: perl(`$SIG{INT} = sub { open my $f, ">", "/tmp/report"; print $f "interrupted"; close $f; exit 5 }; print "ready\n"; sleep 60`),
		Collect: []string{"/tmp/report"}, Limits: limited(func(l *sandbox.Limits) { l.Timeout = 2 * time.Second }),
	})
	wantEnd(t, res, sandbox.TimedOut)
	if got := string(res.Files["/tmp/report"]); got != "interrupted" {
		t.Errorf("report %q", got)
	}
}

func wholeTreeDies(t *testing.T, b *box) {
	m := b.marker()
	for name, script := range map[string]string{
		"background":    `sleep "$1" & exit 0`,
		"double_forked": `perl -e 'use POSIX; exit if fork; POSIX::setsid(); exit if fork; $SIG{$_} = "IGNORE" for qw(INT TERM HUP); close STDOUT; close STDERR; exec "sleep", @ARGV' "$1"; sleep 0.2`,
		"nohup":         `nohup setsid sleep "$1" >/dev/null 2>&1 & exit 0`,
		"holds_output":  `(trap "" TERM; exec setsid sleep "$1") & exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script, m)})
			wantEnd(t, res, sandbox.Exited)
			if res.ExitCode != 0 {
				t.Errorf("exit %d: %s", res.ExitCode, res.Output)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	t.Cleanup(func() { wantNoProcess(t, m) })
}

func cancelKillsAll(t *testing.T, b *box) {
	m := b.marker()
	for name, after := range map[string]time.Duration{"at_once": 0, "while_starting": 20 * time.Millisecond, "while_running": 1500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			began := time.Now()
			_, err := b.Run(ctx, sandbox.Run{Layer: b.base, Limits: small, Command: bash(`trap '' INT TERM; (setsid sleep "$1" &); sleep "$1"`, m)})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the context's", err)
			}
			if took := time.Since(began); took > after+10*time.Second {
				t.Errorf("took %v", took)
			}
			wantNoProcess(t, m)
		})
	}
}

func cancelEndsBuilds(t *testing.T, b *box) {
	m := b.marker()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	key := b.key(t)
	build := sandbox.Build{Key: key, Parent: b.base, Limits: small, Steps: commands(bash(`(setsid sleep "$1" &); sleep "$1"`, m))}
	if _, _, err := b.Build(ctx, build); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the context's", err)
	}
	wantNoProcess(t, m)
	// Nothing half-made is found under the key.
	build.Steps = commands(bash(`echo made >out`))
	build.Key = key
	layer, _ := b.build(t, build)
	if got := b.script(t, layer, `cat out`); got != "made" {
		t.Error(got)
	}
}

func exitCodes(t *testing.T, b *box) {
	for script, want := range map[string]int{
		`exit 0`: 0, `exit 7`: 7, `exit 255`: 255, `kill -SEGV $$`: 139, `kill -KILL $$`: 137, `kill -TERM $$`: 143,
		`exec /no/such/program`: 127, `cat; read x && exit 1; exit 3`: 3,
	} {
		res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(script)})
		wantEnd(t, res, sandbox.Exited)
		if res.ExitCode != want {
			t.Errorf("%s: exit %d, want %d: %s", script, res.ExitCode, want, res.Output)
		}
	}
	res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`echo out; echo err >&2; echo out again`)})
	for _, want := range []string{"out\n", "err\n", "out again\n"} {
		if !strings.Contains(string(res.Output), want) {
			t.Errorf("output %q lacks %q", res.Output, want)
		}
	}
	if res.Wall <= 0 || res.Overhead <= 0 {
		t.Errorf("wall %v, overhead %v", res.Wall, res.Overhead)
	}
}
