package environment

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// ErrUnavailable is a registry, or the way to it, that does not answer now.
var ErrUnavailable = errors.New("registry unavailable")

// MachineError is a build that failed for a fault of this machine, which says nothing
// of what was built.
//
// It does not unwrap to the *sandbox.BuildError: whoever looks for one would take the
// fault for the project's.
type MachineError struct {
	What string // disk full, no memory, …
	Get  string // what helps
	Said string // the words that it is known by
	Disk bool   // the disk is full
}

func (e *MachineError) Error() string {
	return fmt.Sprintf("%s (%s): %s", e.What, e.Said, e.Get)
}

// signature is one way in which a log shows a fault that is not the project's.
type signature struct {
	name    string // in tests
	line    *lazyregexp.Regexp
	network bool // only builds with registries can have it
	what    string
	get     string // "" is "not now": a registry
}

// client begins a line that a package client writes about its own work. What a project
// prints while it is built stands indented in uv's report, or is no request for an
// address at all: its own "connection refused" is no word on a registry, and would put
// the item off for ever.
const (
	uvClient  = `^(?:error:|warning:|  ?[×╰├│]|  (?:cause|Caused by):).*`
	goClient  = `^(?:go: |\s*(?:\S+: )*(?:reading|Get|Head) "?https?://).*`
	pipClient = `^(?:WARNING: Retrying \(|ERROR: ).*`
	aptClient = `^(?:E|W|Err:\d+)(?::| ) ?.*`
	npmClient = `^npm (?:ERR!|error) .*`
	anyClient = `(?:` + uvClient + `|` + goClient + `|` + pipClient + `|` + aptClient + `|` + npmClient + `)`
)

// signatures is the one table of such words, the most certain first.
var signatures = []signature{
	{name: "disk", what: "the disk of this machine is full", get: "make room (benchmint clean, or another XDG_CACHE_HOME) and run again",
		line: lazyregexp.New(`(?i)no space left on device|\bENOSPC\b|disk quota exceeded`)},
	{name: "memory", what: "this machine has no memory left", get: "lower proof.parallel or sandbox.memory, or end what else runs here, and run again",
		line: lazyregexp.New(`(?i)cannot allocate memory|virtual memory exhausted|\bENOMEM\b`)},
	{name: "python_headers", what: "this machine's Python comes without the headers that C extensions include", get: "apt-get install python3-dev, or install that Python by pyenv or uv, and run again",
		line: lazyregexp.New(`fatal error: '?(?:\S*/)?Python\.h'?(?:: No such file| file not found)`)},
	{name: "certificates", network: true, what: "this machine does not trust a certificate of the registry", get: "set build.ca_bundle or SSL_CERT_FILE to a bundle that holds its authority, or apt-get install ca-certificates, and run again",
		line: lazyregexp.New(`(?i)x509: |invalid peer certificate|CERTIFICATE_VERIFY_FAILED|unable to get local issuer certificate|self[- ]signed certificate`)},
	{name: "proxy_password", network: true, what: "the machine's proxy asks for a password", get: "put it into HTTPS_PROXY (http://user:password@host:port) and run again",
		line: lazyregexp.New(`(?i)407 Proxy Authentication Required|proxy authorization required`)},
	{name: "registry_status", network: true,
		line: lazyregexp.New(anyClient + `\b(?:50[0234]|408|429) (?:Bad Gateway|Service Unavailable|Gateway Time-?out|Internal Server Error|Too Many Requests|Request Time-?out)`)},
	{name: "registry_connection", network: true,
		line: lazyregexp.New(anyClient + `(?i:connection (?:reset|refused|timed out)|operation timed out|unexpected EOF|broken pipe|network is unreachable|i/o timeout|TLS handshake timeout|connection closed|ECONNREFUSED|ECONNRESET|ETIMEDOUT)`)},
	{name: "registry_name", network: true,
		line: lazyregexp.New(anyClient + `(?i:dns error|could not resolve|temporary failure (?:in name resolution|resolving)|name or service not known|no such host|server misbehaving|EAI_AGAIN|ENOTFOUND|failed to lookup address)`)},
}

// judged distinguishes a build that failed for this machine or a registry from one that failed
// for the project. It is the one place that does; what it does not know stays the
// *sandbox.BuildError that it is. r says what the project itself asks for.
func judged(err error, r schemas.Recipe, network bool) error {
	var build *sandbox.BuildError
	if !errors.As(err, &build) {
		return err
	}
	log := tail(build.Result.Output)
	for _, s := range signatures {
		if s.network && !network {
			continue
		}
		line := find(s.line, log)
		switch {
		case line == "":
		case s.get != "":
			return &MachineError{What: s.what, Get: s.get, Said: line, Disk: s.name == "disk"}
		case !slices.ContainsFunc(build.Denied, func(host string) bool { return strings.Contains(line, hostname(host)) }):
			return fmt.Errorf("%w: %s: %w", ErrUnavailable, line, err)
		}
	}
	if !network {
		return err
	}
	// The proxy saw each request: its word on the way out needs no reading of logs.
	if len(build.Unreached) > 0 {
		host := build.Unreached[0]
		if strings.Contains(host, "407 ") {
			return &MachineError{What: "the machine's proxy asks for a password", Get: "put it into HTTPS_PROXY (http://user:password@host:port) and run again", Said: host}
		}
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, host, err)
	}
	for _, host := range build.Denied {
		if name := hostname(host); registryOwn(name, r, log) {
			return &MachineError{What: "the registry sends to " + host + ", which builds may not reach",
				Get: "name the host in build.hosts and run again", Said: find(clientLine, linesOf(name, log))}
		}
	}
	return err
}

// underCache is the first line that speaks of a fault of the file system and of a file in
// a cache, or in uv's words of a cache; "" where none does. The code that was built may have
// printed it, or may have spoiled its own view of the cache: it is a reason to look again,
// and no verdict.
func underCache(log []byte, caches map[string]string) string {
	for _, dir := range slices.Sorted(maps.Values(caches)) {
		if line := find(fileFault, linesOf(dir, log)); line != "" {
			return line
		}
	}
	if len(caches) == 0 {
		return ""
	}
	return find(cacheFault, log)
}

var (
	fileFault = lazyregexp.New(`(?i)os error \d+|not a directory|is a directory|permission denied|no such file or directory|read-only file system|input/output error|structure needs cleaning|file exists`)
	// uv names the file on one line and the fault on another.
	cacheFault = lazyregexp.New(`(?i)\(os error (?:1|5|13|17|20|21|30|117)\)|distribution cache|cache entry|deserializ\w+ cache`)
)

// registryOwn reports whether a host that was denied is where the registry keeps its
// files (a mirror that sends to a CDN): a package client asked for it, and nothing in
// the project's own requirements names it.
func registryOwn(host string, r schemas.Recipe, log []byte) bool {
	own := append(slices.Clone(r.Requirements), r.Lock)
	for _, c := range r.Setup {
		own = append(own, c.Argv...)
	}
	if slices.ContainsFunc(own, func(line string) bool { return strings.Contains(line, host) }) {
		return false
	}
	asked := linesOf("//"+host, log)
	// A requirement of a requirement may be an address, too: the client names it so.
	return find(clientLine, asked) != "" && !ownAddress.Match(asked)
}

var (
	clientLine = lazyregexp.New(anyClient)
	// ownAddress is what a requirement of an address looks like: "name @ https://…", a repository.
	ownAddress = lazyregexp.New(`@ (?:git\+)?https?://|git\+|(?i)git (?:operation|fetch|clone)`)
)

func hostname(hostport string) string {
	name, _, _ := strings.Cut(hostport, ":")
	return name
}

// tail is the end of a log, where a step says why it failed: a talkative build is not
// searched for megabytes.
func tail(log []byte) []byte {
	const enough = 1 << 20
	return log[max(0, len(log)-enough):]
}

// find is the first line that holds a match, in a length that a message can have.
func find(re *lazyregexp.Regexp, log []byte) string {
	for len(log) > 0 {
		line := log
		if i := bytes.IndexByte(log, '\n'); i >= 0 {
			line, log = log[:i], log[i+1:]
		} else {
			log = nil
		}
		if re.Match(line) {
			const most = 300
			line = bytes.TrimSpace(line)
			return strings.ToValidUTF8(string(line[:min(len(line), most)]), "")
		}
	}
	return ""
}

// linesOf are the lines that name a host.
func linesOf(host string, log []byte) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(host)) {
			out = append(out, line...)
		}
	}
	return out
}
