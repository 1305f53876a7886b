package watch_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// used is what Disk counts without a limit.
func used(dir string) int64 { return watch.Disk(1<<60, false, dir).Bytes }

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := used(dir)
	big := filepath.Join(dir, "sub", "big")
	if err := os.Mkdir(filepath.Dir(big), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(big, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(big, filepath.Join(dir, "same")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sparse"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := used(dir) - empty; got < 1<<20 || got > 1<<20+64<<10 {
		t.Errorf("%d bytes, want a MiB and a few blocks: a hard link counts once, a hole nothing, a link's target nothing", got)
	}
	if got := used(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("a missing directory has %d bytes", got)
	}
}

func TestUnlinked(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	self := []int{os.Getpid(), os.Getpid()} // twice: a file counts once
	if got := watch.Held(self).Bytes; got >= 1<<20 {
		t.Errorf("%d bytes before", got)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	if got := watch.Held(self).Bytes; got < 1<<20 || got >= 2<<20 {
		t.Errorf("%d bytes after, want a MiB", got)
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", "sleep 60 & sleep 60; true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var below []int
	for began := time.Now(); len(below) < 2 && time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		below = watch.Descendants(cmd.Process.Pid)
	}
	all := append(below, cmd.Process.Pid)
	if len(below) != 2 || !slices.Contains(watch.Descendants(os.Getpid()), below[0]) {
		t.Errorf("descendants %v", below)
	}
	if got := watch.Tasks(all); got != 3 {
		t.Errorf("%d tasks, want 3", got)
	}
	if got := watch.UserTasks(uint32(os.Geteuid())); got < 3 {
		t.Errorf("%d tasks of the user", got)
	}
	if got := watch.Resident(all, 1<<40); got < 3*100<<10 || got > 100<<20 {
		t.Errorf("%d bytes resident", got)
	}
	// Over the limit, pages that are shared count for a part each.
	if fair, all := watch.Resident(all, 1), watch.Resident(all, 1<<40); fair <= 0 || fair > all {
		t.Errorf("fair %d, all %d", fair, all)
	}
	for _, pid := range all {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	_ = cmd.Wait()
	if got := watch.Descendants(cmd.Process.Pid); len(got) > 0 {
		t.Errorf("descendants of the dead: %v", got)
	}
}

// TestStarved: whose limit a kill for memory was, as both versions of control groups say it.
func TestStarved(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"v2_own_limit", map[string]string{"memory.events": "low 0\nmax 9\noom 1\noom_kill 1\n"}, false},
		{"v2_of_the_machine", map[string]string{"memory.events": "low 0\nmax 0\noom 0\noom_kill 1\n"}, true},
		{"v2_none", map[string]string{"memory.events": "oom 0\noom_kill 0\n"}, false},
		{"v1_own_limit", map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.max_usage_in_bytes": "16777216\n", "memory.limit_in_bytes": "16777216\n"}, false},
		{"v1_of_the_machine", map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.max_usage_in_bytes": "9000000\n", "memory.limit_in_bytes": "16777216\n"}, true},
		{"v1_unreadable", map[string]string{"memory.oom_control": "oom_kill 1\n"}, false},
	} {
		dir := t.TempDir()
		for name, content := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := watch.Starved(dir); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestDiskBelowLongPaths: no path is too long to be counted, and what nests without end
// is over every limit.
func TestDiskBelowLongPaths(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	below := func(levels int, name string) {
		at, err := unix.Open(top, unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range levels {
			if err := unix.Mkdirat(at, name, 0o755); err != nil {
				t.Fatal(err)
			}
			next, err := unix.Openat(at, name, unix.O_DIRECTORY, 0)
			if err != nil {
				t.Fatal(err)
			}
			unix.Close(at)
			at = next
		}
		fd, err := unix.Openat(at, "big", unix.O_CREAT|unix.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(fd, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		unix.Close(at)
	}
	below(20, strings.Repeat("long", 60))
	if got := used(top); got < 1<<20 || got > 2<<20 {
		t.Errorf("%d bytes below a path of 5,000 characters, want a MiB", got)
	}
	below(600, "d")
	if got := used(top); got != math.MaxInt64 {
		t.Errorf("%d bytes in 600 levels, want that to be too many", got)
	}
}

// TestDiskStops: a walk ends where the limit is passed, however many files there are.
func TestDiskStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := watch.Disk(40<<10, false, dir); got.Bytes <= 40<<10 || got.Entries > 50 {
		t.Errorf("%d entries, %d bytes", got.Entries, got.Bytes)
	}
}

// TestClosedDirectory: what may not be read is not counted while it is in use, and is
// known; after the end it is counted, and left as it was.
func TestClosedDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads every directory")
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(closed, "big"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	for _, mode := range []fs.FileMode{0, 0o444, 0o111} {
		if err := os.Chmod(closed, mode); err != nil {
			t.Fatal(err)
		}
		if got := watch.Disk(1<<40, false, dir); got.Hidden != 1 || got.Bytes >= 1<<20 {
			t.Errorf("%v, while in use: %+v", mode, got)
		}
		if got := watch.Disk(1<<40, true, dir); got.Hidden != 0 || got.Bytes < 1<<20 {
			t.Errorf("%v, after the end: %+v", mode, got)
		}
		if info, err := os.Stat(closed); err != nil || info.Mode().Perm() != mode {
			t.Errorf("left with %v, %v", info.Mode(), err)
		}
	}
}

// holder starts a program that holds a deleted file of a MiB somehow and says so.
func holder(t *testing.T, script string) []int {
	t.Helper()
	cmd := exec.Command("perl", "-e", "$| = 1; "+script+`; print "held\n"; sleep 60`)
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "held\n" {
		t.Fatalf("%q, %v", said, err)
	}
	return []int{cmd.Process.Pid}
}

// openBig makes a file of a MiB, opens it and deletes it.
const openBig = `open my $f, "+>", "big" or die; print $f "x" x 1048576; $f->flush; unlink "big" or die; `

// TestHeldInOtherWays: a mapping and a message hold a file as a descriptor does.
func TestHeldInOtherWays(t *testing.T) {
	t.Parallel()
	mapped := holder(t, `use IO::Handle; `+openBig+fmt.Sprintf(`syscall(%d, 0, 4096, 1, 1, fileno $f, 0) == -1 and die; close $f`, unix.SYS_MMAP))
	switch got := watch.Held(mapped); {
	case os.Geteuid() == 0 && got.Bytes < 1<<20:
		t.Errorf("mapped: %+v, want a MiB", got)
	case os.Geteuid() != 0 && got.Hidden == 0:
		t.Errorf("mapped: %+v, want to know that there is something", got)
	}
	// A message with one descriptor: struct msghdr and struct cmsghdr of 64-bit machines.
	sent := holder(t, `use IO::Handle; use Socket; `+openBig+`socketpair(our $a, our $b, AF_UNIX, SOCK_DGRAM, 0) or die; my $byte = "x";
my $control = pack("QiiiI", 20, 1, 1, fileno $f, 0); my $vector = pack("PQ", $byte, 1);
my $message = pack("QQPQPQiI", 0, 0, $vector, 1, $control, 24, 0, 0);
`+fmt.Sprintf(`syscall(%d, fileno $a, $message, 0) == 1 or die "$!"; close $f`, unix.SYS_SENDMSG))
	if got := watch.Held(sent); got.Hidden == 0 {
		t.Errorf("sent: %+v, want to know that there is something", got)
	}
	if got := watch.Held([]int{os.Getpid()}); got.Hidden > 0 {
		t.Errorf("this process hides nothing: %+v", got)
	}
}

// TestLoop: a look that takes long is taken again after a second, and at once where that
// is urgent.
func TestLoop(t *testing.T) {
	t.Parallel()
	for name, urgent := range map[string]bool{"at_leisure": false, "urgent": true} {
		synctest.Test(t, func(t *testing.T) {
			const takes = 3 * time.Second
			looks := 0
			done := make(chan struct{})
			go watch.Loop(done, func() sandbox.End { return "" }, func() sandbox.End {
				looks++
				time.Sleep(takes)
				return ""
			}, watch.Often, func() bool { return urgent }, func(sandbox.End) {})
			time.Sleep(time.Minute)
			close(done)
			time.Sleep(takes)
			synctest.Wait()
			// As long as it takes, and one second or one beat more.
			if least, most := 14, 15; !urgent && (looks < least || looks > most) {
				t.Errorf("%s: %d looks in a minute, want %d", name, looks, most)
			}
			if least := 19; urgent && looks < least {
				t.Errorf("%s: %d looks in a minute, want %d", name, looks, least)
			}
		})
	}
}

// TestLoopPace: a look that takes little is taken often or seldom.
func TestLoopPace(t *testing.T) {
	t.Parallel()
	for times, want := range map[time.Duration]int{watch.Often: 300, watch.Seldom: 60} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			done := make(chan struct{})
			go watch.Loop(done, func() sandbox.End { return "" }, func() sandbox.End {
				looks++
				time.Sleep(10 * time.Millisecond)
				return ""
			}, times, func() bool { return false }, func(sandbox.End) {})
			time.Sleep(time.Minute)
			close(done)
			time.Sleep(time.Second)
			synctest.Wait()
			if looks < want*3/4 || looks > want*2 {
				t.Errorf("%d times: %d looks in a minute, want about %d", times, looks, want)
			}
		})
	}
}

// TestMeter: a look ahead of time where the disk is filled, whoever does it.
func TestMeter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := watch.NewMeter(1<<20, dir)
	if m.Over(nil, 0) || m.Reached() {
		t.Error("nothing is over the limit")
	}
	if !m.Over(nil, 2<<20) {
		t.Error("what is beside does not count")
	}
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if !m.Over(nil, 0) || !m.Reached() {
		t.Error("2 MiB are not over a limit of one")
	}
}
