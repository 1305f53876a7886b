package fleet_test

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/benchmint/benchmint/fleet"
)

// With a certificate that only workers are told to trust, the coordinator reaches its own server, and so does a worker
// that was told.
func TestTLS(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(nil) // for its certificate of 127.0.0.1
	t.Cleanup(other.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := fleet.Serve(t.TempDir(), "127.0.0.1:0", token, &tls.Config{Certificates: other.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	own, err := nats.Connect(fleet.Own, s.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	own.Close()
	if c, err := fleet.Dial(s.URL(), token); err == nil {
		c.Close()
		t.Error("a worker trusts any certificate")
	}
	c, err := fleet.Dial(s.URL(), token, nats.RootCAs(ca))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
