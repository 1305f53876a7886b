package relay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/relay"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/schemas"
)

// service answers by the path that it is asked for.
const service = `
use IO::Socket::INET; $| = 1; $SIG{PIPE} = "IGNORE"; $SIG{CHLD} = "IGNORE";
print "starting as told\n";
my $mode = shift // "";
if ($mode eq "fails") { print STDERR "no such table\n"; exit 3 }
if ($mode eq "silent") { sleep 600 }
if ($mode =~ /^starved/) { for (1 .. 40) { if (!fork) { alarm($mode eq "starved" ? 30 : 4); 1 while 1 } } sleep($mode eq "starved" ? 600 : 3) }
if ($mode =~ /^told/) {
	open(my $f, ">", "/tmp/told");
	print $f qq({"fact":"listen","addr":"[::]:$_"}\n) for $mode eq "told_lies" ? (22, 8003, 65535) : ();
	print $f qq({"fact":"route","framework":"x","method":"GET","path":"/$_"}\n) for $mode eq "told_lies" ? 1 .. 3000 : ();
	print $f qq({"fact":"listen","addr":"[::]:$_"}\n) for 8002, 8001;
	print $f qq({"fact":"route","framework":"x","method":"GET","path":"/users"}\n); close $f;
	if (!fork) { my $o = IO::Socket::INET->new(LocalHost => "0.0.0.0", LocalPort => 8002, Listen => 50, ReuseAddr => 1) or die $@; while (1) { my $c = $o->accept or next; 1 while <$c> =~ /\S/; print $c "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; close $c } }
}
my $l = IO::Socket::INET->new(LocalHost => "127.0.0.1", LocalPort => $mode =~ /elsewhere/ ? 8001 : 8000, Listen => 50, ReuseAddr => 1) or die $@;
my $count = 0;
while (1) {
	my $c = $l->accept or next;
	my ($line, $length, $headers) = (scalar <$c>, 0, "");
	while (defined(my $h = <$c>)) { $h =~ s/\r\n//; last if $h eq ""; $headers .= "$h\n"; $length = $1 if $h =~ /^Content-Length: (\d+)/ }
	my $body = ""; read($c, $body, $length) if $length;
	my ($path) = $line =~ / (\S+) /;
	if ($path eq "/unsettled" && $count++ < 3) { print $c "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" }
	elsif ($path eq "/echo") { my $all = "$line$headers$body"; print $c "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: " . length($all) . "\r\n\r\n$all" }
	elsif ($path eq "/users") { print $c "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n" }
	elsif ($path eq "/chunked") { print $c "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" }
	elsif ($path eq "/keeps") { print $c "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"; if (!fork) { close $l; sleep 60 } }
	elsif ($path eq "/hangs") { if (!fork) { close $l; sleep 60 } }
	elsif ($path eq "/short") { print $c "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok" }
	elsif ($path eq "/noise") { print $c "\x00\x01 nothing that anybody knows\n" }
	elsif ($path eq "/endless") { print $c "HTTP/1.1 200 OK\r\n\r\n"; while (print $c "x" x 65536) {} }
	elsif ($path eq "/dies") { exit 4 }
	elsif ($path eq "/kills") { kill "KILL", getppid; sleep 60 }
	else { print $c "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nnothing at $path" }
	close $c;
}
`

var box = func() func(t *testing.T) (*relay.Server, string) {
	return func(t *testing.T) (*relay.Server, string) {
		t.Helper()
		if testing.Short() {
			t.Skip("SKIP: starts sandboxes")
		}
		dir := t.TempDir()
		s, err := bwrap.New(t.Context(), bwrap.Options{Dir: dir})
		if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
			t.Skipf("NO BUBBLEWRAP HERE: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		base, err := s.Base(t.Context(), sandbox.Base{})
		if err != nil {
			t.Fatal(err)
		}
		return &relay.Server{Sandbox: s, Layer: base, Service: schemas.Service{Port: 8000, Start: command("")}, Limits: sandbox.Limits{Timeout: time.Minute}}, dir
	}
}()

func command(mode string) schemas.Command {
	return schemas.Command{Argv: []string{"perl", "-e", service, mode}, Dir: "/"}
}

func get(path string) contract.Wire { return contract.Wire{Method: "GET", Target: path} }

func ask(t *testing.T, c contract.Client, w contract.Wire) contract.Answer {
	t.Helper()
	a, err := c.Do(t.Context(), w)
	if err != nil {
		t.Fatalf("%s %s: %v", w.Method, w.Target, err)
	}
	return a
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s, _ := box(t)
	s.Probes = []string{"/unsettled"}
	c, stop, err := s.Fresh(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if a := ask(t, c, get("/unsettled")); a.Status != 404 {
		t.Errorf("it is not ready: %d", a.Status)
	}
	a := ask(t, c, contract.Wire{Method: "POST", Target: "/echo", Headers: map[string]string{"Accept": "application/json", "X-Two": "a\r\nb: c"}, Body: []byte("{}")})
	want := "POST /echo HTTP/1.1\r\nAccept: application/json\nAccept-Encoding: identity\nConnection: close\nContent-Length: 2\nHost: 127.0.0.1:8000\nUser-Agent: benchmint\nX-Two: ab: c\n{}"
	if a.Status != 200 || string(a.Body) != want || a.Headers["set-cookie"] != "a=1\nb=2" {
		t.Errorf("%d %q %v", a.Status, a.Body, a.Headers)
	}
	if a := ask(t, c, get("/chunked")); a.Status != 201 || string(a.Body) != "abc" || a.Headers["location"] != "/x" {
		t.Errorf("chunked: %+v", a)
	}
	if a := ask(t, c, get("/x")); a.Status != 404 || string(a.Body) != "nothing at /x" {
		t.Errorf("until the end: %+v", a)
	}
	for path, failed := range map[string]string{"/short": "without a whole answer", "/noise": "not HTTP", "/endless": "longer than", "/hangs": "no answer within"} {
		if a := ask(t, c, get(path)); !strings.Contains(a.Failed, failed) {
			t.Errorf("%s: %.80q %q", path, a.Body, a.Failed)
		}
	}
	if a := ask(t, c, get("/keeps")); a.Status != 200 || string(a.Body) != "ok" {
		t.Errorf("an open connection: %+v", a)
	}
	if a := ask(t, c, get("/dies")); a.Failed == "" {
		t.Errorf("it dies: %+v", a)
	}
	if a := ask(t, c, get("/x")); a.Failed == "" {
		t.Errorf("it is dead: %+v", a)
	}
	log, err := stop()
	if err != nil || !strings.Contains(string(log), "starting as told") {
		t.Errorf("log %q, error %v", log, err)
	}
	if _, err := stop(); err != nil {
		t.Errorf("stopped once more: %v", err)
	}
}

// TestEndsItsSandbox: a service may do that, and it is its own failure.
func TestEndsItsSandbox(t *testing.T) {
	t.Parallel()
	s, _ := box(t)
	c, stop, err := s.Fresh(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/kills", "/x"} {
		if a := ask(t, c, get(path)); a.Failed == "" {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if _, err := stop(); err != nil {
		t.Error(err)
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	s, dir := box(t)
	s.Patience = 2 * time.Second
	for mode, want := range map[string]struct {
		why, log string
		listens  []int
	}{
		"fails":     {"exit code 3", "no such table", nil},
		"silent":    {"no answer within 2s", "starting as told", []int{}},
		"elsewhere": {"no answer within 2s", "starting as told", []int{8001}},
	} {
		s.Service.Start = command(mode)
		_, _, err := s.Fresh(t.Context(), false)
		var not *contract.NotReady
		if !errors.As(err, &not) || !strings.Contains(not.Why, want.why) || !strings.Contains(string(not.Log), want.log) || !cmp.Equal(want.listens, not.Listens) {
			t.Errorf("%s: %v %+v", mode, err, not)
		}
	}
	s.Service.Start.Argv = []string{"/no/such/program"}
	if _, _, err := s.Fresh(t.Context(), false); err == nil || !strings.Contains(err.Error(), "exit code 127") {
		t.Errorf("no program: %v", err)
	}
	nothingLeft(t, dir)
}

// TestStarved: a service that waits for a processor is waited for, and where it gets none for
// long that is no verdict on it.
func TestStarved(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this kernel does not count how long threads wait")
	}
	s, dir := box(t)
	s.Patience = 2 * time.Second
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, allowed, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
	one := strings.FieldsFunc(allowed, func(r rune) bool { return r < '0' || r > '9' })[0]
	pinned := func(mode string) schemas.Command {
		c := command(mode)
		c.Argv = append([]string{"taskset", "-c", one}, c.Argv...)
		return c
	}
	s.Service.Start = pinned("starved")
	_, _, err = s.Fresh(t.Context(), false)
	var short *sandbox.ShortageError
	if !errors.As(err, &short) || short.Of != "processor time" {
		t.Errorf("it never answers: %v", err)
	}
	s.Service.Start = pinned("starved, then serves")
	_, stop, err := s.Fresh(t.Context(), false)
	if err != nil {
		t.Fatalf("it answers in the end: %v", err)
	}
	if _, err := stop(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

func TestFaultOfTheMachine(t *testing.T) {
	t.Parallel()
	s, _ := box(t)
	if _, _, err := s.Fresh(t.Context(), true); err == nil {
		t.Error("a clock that cannot be shifted is")
	}
	s.Layer = sandbox.Layer{ID: "none"}
	_, _, err := s.Fresh(t.Context(), false)
	var not *contract.NotReady
	if err == nil || errors.As(err, &not) {
		t.Errorf("no layer: %v", err)
	}
}

// TestCancelled: nothing is left of a service that nobody wants any more, whatever it does.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s, dir := box(t)
	ctx, cancel := context.WithCancel(t.Context())
	c, stop, err := s.Fresh(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		cancel()
	}()
	if _, err := c.Do(ctx, get("/hangs")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := stop(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// The request may have a shorter life than the service.
	if c, stop, err = s.Fresh(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Do(ctx, get("/hangs")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if _, err := stop(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Service.Start = command("silent")
	ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, _, err := s.Fresh(ctx, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it starts: %v", err)
	}
	nothingLeft(t, dir)
}

// nothingLeft looks for run folders of a sandbox, and for processes that name its folder.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	runs, _ := filepath.Glob(filepath.Join(dir, "bwrap", "runs", "*"))
	for _, r := range runs {
		if i, err := os.Stat(r); err == nil && i.IsDir() {
			t.Errorf("left: %s", r)
		}
	}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range all {
		line, _ := os.ReadFile(p)
		if strings.Contains(string(line), dir) {
			t.Errorf("left: %s", fmt.Sprintf("%q", line))
		}
	}
}

// TestPort: a service with a hook is asked where it listens and has its routes, whatever else of it answers there.
func TestPort(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"told_elsewhere": 8001, "told_here": 8000, "told_lies": 8000} {
		s, _ := box(t)
		s.Service.Start = command(name)
		s.Told = "/tmp/told"
		c, stop, err := s.Fresh(t.Context(), false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, err := c.Do(t.Context(), contract.Wire{Method: "GET", Target: "/users"})
		if got := c.(look.Teller).Port(); got != want || err != nil || a.Status != 401 {
			t.Errorf("%s: it is asked at %d, and answers %d (%v)", name, got, a.Status, err)
		}
		if _, err := stop(); err != nil {
			t.Error(err)
		}
	}
}
