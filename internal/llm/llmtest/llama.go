package llmtest

import (
	"bufio"
	_ "embed" // the server's script
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed llama.py
var llama []byte

// Version is that of xllamacpp, which .ci/setup installs: attributes change between releases.
const Version = "2026.10.11549"

// Llama starts a real llama.cpp server over TinyModel for a test, with a key, and returns
// its base. It skips the test where the server is not installed.
func Llama(t *testing.T, key string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NO MODEL SERVER: %v", err)
	}
	python := filepath.Join(cache, "benchmint", "clients", "xllamacpp-"+Version, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NO MODEL SERVER: %v; .ci/setup test installs it", err)
	}
	dir := t.TempDir()
	model, script := filepath.Join(dir, "tiny.gguf"), filepath.Join(dir, "llama.py")
	for path, data := range map[string][]byte{model: TinyModel(), script: llama} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil { // the server takes it in a moment
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, script, model, fmt.Sprint(port), key)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it serves until then
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "up" {
			return fmt.Sprintf("http://127.0.0.1:%d/v1", port)
		}
	}
	t.Fatal("the model server did not start")
	return ""
}
