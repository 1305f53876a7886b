package sandboxtest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// world is what a sandbox could reach if it had a way: listeners of the host.
type world struct {
	registry string // host:port of the registry stand-in
	secure   string // host:port of a registry behind TLS
	other    string // host:port of a server that is no registry
	tcp, udp int    // ports on all addresses
	abstract string // name of an abstract Unix socket

	mu   sync.Mutex
	seen []string
}

func (w *world) saw(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, what)
}

func (w *world) visits() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func newWorld(t *testing.T) *world {
	w := &world{abstract: fmt.Sprintf("@benchmint-test-%d", os.Getpid())}
	serve := func(name string, start func(http.Handler) *httptest.Server) string {
		s := start(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if name != "registry" {
				w.saw(name)
			}
			fmt.Fprintf(rw, "%s answers %s", name, r.URL.Path)
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	w.registry, w.other = serve("registry", httptest.NewServer), serve("other", httptest.NewServer)
	w.secure = serve("registry", httptest.NewTLSServer)
	tcp, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	go w.accept(tcp, "tcp")
	w.tcp = tcp.Addr().(*net.TCPAddr).Port
	unix, err := net.Listen("unix", w.abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close() })
	go w.accept(unix, "abstract socket")
	udp, err := net.ListenPacket("udp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	w.udp = udp.LocalAddr().(*net.UDPAddr).Port
	go func() {
		for b := make([]byte, 100); ; {
			if _, from, err := udp.ReadFrom(b); err != nil {
				return
			} else {
				w.saw("udp from " + from.String())
			}
		}
	}()
	return w
}

func (w *world) accept(l net.Listener, what string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		w.saw(what + " from " + c.RemoteAddr().String())
		c.Close()
	}
}

func loopbacksAndInterface(t *testing.T, b *box) {
	// A server and a client in one run, on each address that must work.
	const talk = `
use IO::Socket::IP;
for my $address (@ARGV) {
	my $l = IO::Socket::IP->new(LocalHost => $address, LocalPort => 0, Listen => 1, GetAddrInfoFlags => 0) or die "listen $address: $@";
	my $c = IO::Socket::IP->new(PeerHost => $address, PeerPort => $l->sockport, Timeout => 5, GetAddrInfoFlags => 0) or die "connect $address: $@";
	my $s = $l->accept; print $s "hello\n"; close $s;
	print $address, " ", scalar(<$c>);
}`
	res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(talk, "127.0.0.1", "::1", "10.66.0.2", "fd66::2", "localhost", "127.9.9.9")})
	if got, want := string(res.Output), "127.0.0.1 hello\n::1 hello\n10.66.0.2 hello\nfd66::2 hello\nlocalhost hello\n127.9.9.9 hello\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	began := time.Now()
	got := b.script(t, b.base, `getent ahostsv4 127.0.0.1 | head -n 1 | tr -s ' '; getent ahosts localhost | grep -c STREAM; getent ahosts 10.66.0.2 | head -n 1 | tr -s ' '`)
	if lines := strings.Split(got, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "127.0.0.1 STREAM") || !strings.HasPrefix(lines[2], "10.66.0.2 STREAM") {
		t.Errorf("look-ups: %q", got)
	}
	const quick = 5 * time.Second
	if took := time.Since(began); took > quick {
		t.Errorf("look-ups took %v", took)
	}
}

// lowPorts: a command may listen on the ports that elsewhere are root's, alone and as a service.
func lowPorts(t *testing.T, b *box) {
	const listen = `use IO::Socket::IP; $| = 1;
for my $port (@ARGV) { push @l, IO::Socket::IP->new(LocalHost => "0.0.0.0", LocalPort => $port, Listen => 1) || die "port $port: $@" } print "listening\n"; `
	res := b.run(t, sandbox.Run{Layer: b.base, Command: perl(listen, "1", "80", "443")})
	if got := string(res.Output); res.ExitCode != 0 || got != "listening\n" {
		t.Errorf("alone: exit %d: %s", res.ExitCode, got)
	}
	res = b.beside(t, sandbox.Run{Command: bash(`for i in $(seq 400); do exec 3<>/dev/tcp/127.0.0.1/80 && exec cat <&3; sleep 0.05; done 2>/dev/null`)},
		sandbox.Beside{Command: perl(listen+`while (my $c = $l[0]->accept) { print $c "hello\n"; close $c }`, "80")})
	if got := string(res.Output); got != "hello\n" {
		t.Errorf("as a service: %q, and it said %s", got, res.Beside.Output)
	}
}

// namesOnLoopback: names that a run and a build are given lead to loopback, for a service beside it, too. No other name leads anywhere,
// and that is known at once.
func namesOnLoopback(t *testing.T, b *box) {
	const look = `for name in store mail.example.com; do getent hosts $name | tr -s " "; done
SECONDS=0; getent hosts elsewhere.example.com; getent hosts queue; [ $SECONDS -lt 3 ] || echo slow`
	const want = "127.0.0.1 store\n127.0.0.1 mail.example.com\n"
	names := []string{"mail.example.com", "store"}
	if got := string(b.run(t, sandbox.Run{Layer: b.base, Names: names, Command: bash(look)}).Output); got != want {
		t.Errorf("a run: %q", got)
	}
	if got := string(b.run(t, sandbox.Run{Layer: b.base, Command: bash(look)}).Output); got != "" {
		t.Errorf("a run without names: %q", got)
	}
	res := b.beside(t, sandbox.Run{Names: names, Command: bash("sleep 5")}, sandbox.Beside{Command: bash(look)})
	if got := string(res.Beside.Output); got != want {
		t.Errorf("a service: %q", got)
	}
	if _, res := b.build(t, sandbox.Build{Parent: b.base, Names: names, Steps: []schemas.Command{bash(look)}}); string(res.Output) != want {
		t.Errorf("a build: %q", res.Output)
	}
}

// connecting tries every way out: kind, address, port, and so on.
const connecting = `
use IO::Socket::IP; use Socket qw(:all); use Time::HiRes qw(time);
sub try {
	my ($kind, $address, $port) = @_;
	my $s;
	if ($kind eq 'abstract') {
		socket($s, PF_UNIX, SOCK_STREAM, 0) or die;
		return connect($s, pack_sockaddr_un("\0$address"));
	}
	$s = IO::Socket::IP->new(PeerHost => $address, PeerPort => $port, Proto => $kind, Timeout => 4, GetAddrInfoFlags => 0) or return 0;
	return $kind eq 'tcp' || (send($s, "hello", 0) && send($s, "hello", 0));
}
while (my ($kind, $address, $port) = splice @ARGV, 0, 3) {
	my $began = time;
	my $reached = try($kind, $address, $port) ? "REACHED" : "refused";
	# A neighbour's address that nobody has is given up after three seconds.
	my $when = time - $began > 6 ? "LATE" : "soon";
	print "$reached $when $kind $address $port\n";
}`

// waysOut are the arguments of connecting.
func (b *box) waysOut(t *testing.T) []string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	tcp, udp := fmt.Sprint(b.world.tcp), fmt.Sprint(b.world.udp)
	targets := []string{
		"tcp", "198.51.100.1", "80", "udp", "198.51.100.1", "53", "tcp", "2001:db8::1", "80",
		"abstract", b.world.abstract[1:], "",
		// Where engines put their name server, gateways and hosts their metadata.
		"udp", "127.0.0.11", "53", "tcp", "127.0.0.11", "53", "tcp", "10.66.0.1", "80", "tcp", "172.17.0.1", "80", "tcp", "169.254.169.254", "80",
		// The host's own loopback is not the sandbox's.
		"tcp", "127.0.0.1", tcp, "tcp", "::1", tcp, "udp", "127.0.0.1", udp,
	}
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() {
			continue
		}
		address := ip.IP.String()
		if ip.IP.IsLinkLocalUnicast() && ip.IP.To4() == nil {
			address += "%eth0"
		}
		targets = append(targets, "tcp", address, tcp, "udp", address, udp)
	}
	return targets
}

// wantNoWay wants of what connecting printed that each attempt failed, and soon: a test
// that waits for a time-out is slow.
func (b *box) wantNoWay(t *testing.T, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if n := len(b.waysOut(t)) / 3; len(lines) != n {
		t.Fatalf("%d targets, and: %s", n, out)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "refused soon ") {
			t.Error(line)
		}
	}
}

// noWayOut tries every address of the host, names, the internet and what else leads out.
func noWayOut(t *testing.T, b *box) {
	before := len(b.world.visits())
	b.wantNoWay(t, string(b.run(t, sandbox.Run{Layer: b.base, Command: perl(connecting, b.waysOut(t)...)}).Output))
	for _, name := range []string{"example.com", "host.docker.internal", "gateway", "no-such-name"} {
		began := time.Now()
		res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`getent ahosts "$1"; perl -MSocket -e 'exit(defined(gethostbyname($ARGV[0])) ? 0 : 7)' "$1"`, name)})
		if res.ExitCode != 7 {
			t.Errorf("%s is known: %s", name, res.Output)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: unknown after %v", name, took)
		}
	}
	if seen := b.world.visits()[before:]; len(seen) > 0 {
		t.Errorf("the host was reached: %q", seen)
	}
}

func noWayToAnotherRun(t *testing.T, b *box) {
	const port = "4711"
	done := make(chan sandbox.Result, 1)
	go func() {
		res, err := b.Run(timeout(t), sandbox.Run{Layer: b.base, Limits: small, Command: perl(`
use IO::Socket::IP;
my $l = IO::Socket::IP->new(LocalHost => '0.0.0.0', LocalPort => $ARGV[0], Listen => 1) or die $@;
my $s = eval { local $SIG{ALRM} = sub { die }; alarm 4; $l->accept };
print $s ? "VISITED" : "alone";`, port)})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	for range 3 {
		time.Sleep(500 * time.Millisecond)
		res := b.run(t, sandbox.Run{Layer: b.base, Command: bash(`exec 3<>/dev/tcp/10.66.0.2/$1`, port)})
		if res.ExitCode == 0 {
			t.Error("another run was reached")
		}
	}
	if res := <-done; string(res.Output) != "alone" {
		t.Errorf("the listening run says %q", res.Output)
	}
}

// request asks an HTTP proxy from bash: method, URL or host:port, and then a path.
const request = `
trap '' PIPE # of a tunnel that is cut
ask() {
	exec 3<>/dev/tcp/127.0.0.1/3128 || return 1
	printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" "$2" "$4" >&3
	if [ "$1" = CONNECT ]; then
		read -r status <&3; echo "$status"
		case $status in *200*) read -r empty <&3; printf 'GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$3" >&3;; *) exec 3>&-; return;; esac
	fi
	cat <&3; exec 3>&-
	echo
}
`

// buildAsksItsOwnRegistry: where a build has a registry of its own, that answers whatever host is
// asked for, and no other does.
func buildAsksItsOwnRegistry(t *testing.T, b *box) {
	w := b.world
	before := len(w.visits())
	own := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprintf(rw, "kept answers %s", r.URL.Path) })
	_, res := b.build(t, sandbox.Build{Network: sandbox.Registries, Registry: own, Steps: commands(
		bash(request+`ask GET http://packages.invalid/simple/a/ - packages.invalid; ask GET "http://$1/plain" - "$1"; ask CONNECT "$1" /tunnel "$1"`, w.registry),
		bash(`echo "$UV_DEFAULT_INDEX $GOPROXY $PIP_INDEX_URL."`),
	)})
	out := string(res.Output)
	for _, want := range []string{"kept answers /simple/a/", "kept answers /plain", "403 Forbidden", "http://packages.invalid/simple http://packages.invalid/modules .\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in: %s", want, out)
		}
	}
	if strings.Contains(out, "registry answers") || len(w.visits()) > before {
		t.Errorf("more than its own registry: %q, %s", w.visits()[before:], out)
	}
}

func buildReachesRegistriesOnly(t *testing.T, b *box) {
	w := b.world
	before := len(w.visits())
	_, res := b.build(t, sandbox.Build{Network: sandbox.Registries, Steps: commands(
		bash(request+`ask GET "http://$1/plain" - "$1"; ask CONNECT "$1" /without_tls "$1"`, w.registry),
		bash(`if command -v curl >/dev/null; then curl -sk --noproxy '' --proxy http://127.0.0.1:3128 "https://$1/tunnel"; else echo "no curl: registry answers /tunnel"; fi`, w.secure),
		bash(request+`ask GET "http://$1/stolen" - "$2"; ask CONNECT "$1" /stolen "$2"; ask GET "http://$2/stolen" - "$1" >/dev/null; ask CONNECT 198.51.100.1:443 / x`, w.other, w.registry),
		bash(`echo "$http_proxy $HTTPS_PROXY $PIP_INDEX_URL"`),
		bash(`for a in $1; do if timeout 4 bash -c "exec 3<>/dev/tcp/$a/$2"; then echo "REACHED $a"; fi; done 2>/dev/null; true`, hostAddresses(t), fmt.Sprint(w.tcp)),
	)})
	out := string(res.Output)
	for _, want := range []string{"registry answers /plain", "registry answers /tunnel", "http://127.0.0.1:3128 http://127.0.0.1:3128 http://" + w.registry + "/simple", "403 Forbidden"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in: %s", want, out)
		}
	}
	if strings.Contains(out, "no curl") {
		t.Log("NO CURL INSIDE: no tunnel was tried")
	}
	if strings.Contains(out, "registry answers /without_tls") {
		t.Errorf("a tunnel without TLS: %s", out)
	}
	if strings.Contains(out, "REACHED") || len(w.visits()) > before {
		t.Errorf("more than registries: %q, %s", w.visits()[before:], out)
	}
	// Without the network there is no proxy, and nothing that says where one would be.
	_, res = b.build(t, sandbox.Build{Steps: commands(bash(`! exec 3<>/dev/tcp/127.0.0.1/3128; echo "proxy: $http_proxy"`))})
	if !strings.Contains(string(res.Output), "proxy: \n") {
		t.Errorf("a build without network: %s", res.Output)
	}
}

func hostAddresses(t *testing.T) string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLinkLocalUnicast() {
			out = append(out, ip.IP.String())
		}
	}
	return strings.Join(out, " ")
}
