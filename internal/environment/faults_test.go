package environment

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// TestJudged: what a failed build says of this machine and of the way to a registry is
// told from what it says of the project.
func TestJudged(t *testing.T) {
	t.Parallel()
	const cdn = "error: Failed to download `six==1.17.0`\n  cause: Failed to fetch: https://cdn.example/six.whl\n  cause: client error (Connect)\n  cause: tunnel error: unsuccessful\n"
	for _, tc := range []struct {
		name      string
		log       string
		denied    string
		unreached string
		require   string // of the project
		want      string // machine, registry, project
		says      string
		offline   string // in a build without network; "" as want
	}{
		{name: "disk", log: "  ├─▶ failed to write to file\n  ╰─▶ No space left on device (os error 28)", want: "machine", says: "benchmint clean"},
		{name: "disk_of_a_compiler", log: "cc1: fatal error: /tmp/x.s: No space left on device", want: "machine", says: "the disk of this machine is full"},
		{name: "python_headers", log: "src/fast.c:1:10: fatal error: Python.h: No such file or directory\n    1 | #include <Python.h>\ncompilation terminated.", want: "machine", says: "apt-get install python3-dev"},
		{name: "python_headers", log: "src/fast.c:1:10: fatal error: 'Python.h' file not found", want: "machine", says: "python3-dev"},
		{name: "memory", log: "OSError: [Errno 12] Cannot allocate memory", want: "machine", says: "lower proof.parallel"},
		{name: "certificates_of_uv", log: "  cause: invalid peer certificate: UnknownIssuer", want: "machine", says: "build.ca_bundle", offline: "project"},
		{name: "certificates_of_go", log: `go: x@v1: Get "https://p": tls: failed to verify certificate: x509: certificate signed by unknown authority`, want: "machine", says: "SSL_CERT_FILE", offline: "project"},
		{name: "password", log: "  cause: tunnel error: unsuccessful", unreached: "pypi.test:443: the machine's proxy: 407 Proxy Authentication Required", want: "machine", says: "HTTPS_PROXY", offline: "project"},
		{name: "proxy_saw_it", log: "  cause: tunnel error: unsuccessful", unreached: "pypi.test:443: dial tcp: connection refused", want: "registry", says: "pypi.test:443: dial tcp", offline: "project"},
		{name: "cdn_of_the_registry", log: cdn, denied: "cdn.example:443", want: "machine", says: "build.hosts", offline: "project"},
		{name: "requirement_with_an_address", log: cdn, denied: "cdn.example:443", require: "six @ https://cdn.example/six.whl", want: "project", says: "cdn.example:443"},
		{name: "requirement_of_a_requirement", log: strings.ReplaceAll(cdn, "`six==1.17.0`", "`six @ https://cdn.example/six.whl`"), denied: "cdn.example:443", want: "project", says: "cdn.example:443"},
		{name: "fetched_by_the_project", log: "         urllib.error.URLError: Tunnel connection failed: 403 https://foreign.example/data", denied: "foreign.example:443", want: "project", says: "foreign.example:443"},
		{name: "compiler", log: "x.c:1: error: no such file", want: "project"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			failed := &sandbox.BuildError{Step: schemas.Command{Argv: []string{"uv"}}, Result: sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(tc.log)}}
			if tc.denied != "" {
				failed.Denied = []string{tc.denied}
			}
			if tc.unreached != "" {
				failed.Unreached = []string{tc.unreached}
			}
			r := schemas.Recipe{Requirements: []string{tc.require}}
			for network, want := range map[bool]string{true: tc.want, false: tc.offline} {
				if want == "" {
					want = tc.want
				}
				err := judged(fmt.Errorf("building: %w", failed), r, network)
				if got := meaning(err); got != want {
					t.Errorf("with network %v: %s, want %s: %v", network, got, want, err)
				}
				if want == tc.want && !strings.Contains(err.Error(), tc.says) {
					t.Errorf("with network %v: %q does not say %q", network, err, tc.says)
				}
			}
		})
	}
}

func meaning(err error) string {
	switch {
	case errors.As(err, new(*MachineError)):
		if errors.As(err, new(*sandbox.BuildError)) {
			return "a fault of the machine that reads as the project's"
		}
		return "machine"
	case errors.Is(err, ErrUnavailable):
		return "registry"
	}
	return "project"
}
