package docker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/schemas"
)

// startRegistry starts Debian's docker-registry, which asks for a password, and returns its address and a configuration of
// Docker that has been logged in.
func startRegistry(t *testing.T) (address, config string) {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skipf("NO REGISTRY: apt-get install docker-registry: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	files := map[string]string{
		// tester:tester, by bcrypt
		"users":       "tester:$2y$05$H5p8Wm.687CFOrXSamyeOOKWPvuq4T3.LNYO5Y1X8PTegOjSZuSe6\n",
		"config.json": fmt.Sprintf(`{"auths": {%q: {"auth": "dGVzdGVyOnRlc3Rlcg=="}}}`, address),
		"registry.yml": fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q}\nauth: {htpasswd: {realm: test, path: %s}}\n",
			filepath.Join(dir, "data"), address, filepath.Join(dir, "users")),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "serve", filepath.Join(dir, "registry.yml"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	for range 100 {
		if r, err := http.Get("http://" + address + "/v2/"); err == nil {
			_ = r.Body.Close()
			return address, dir
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the registry does not answer")
	return "", ""
}

// TestPush: an image comes back from a registry by its digest as the same image, with the credentials of docker login
// and not without.
func TestPush(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts containers")
	}
	address, config := startRegistry(t)
	api, err := docker.Connect(t.Context(), dockertest.Host(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	box := open(t, docker.Options{})
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := box.Image(t.Context(), base, docker.Image{Key: schemas.DigestOf([]any{"push test", time.Now()})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Remove(context.WithoutCancel(t.Context()), image) })
	to := address + "/acme/demo__x-1:abc"
	if _, err := docker.Push(t.Context(), api, image.ID, to, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no basic auth credentials") {
		t.Errorf("without credentials: %v", err)
	}
	digest, err := docker.Push(t.Context(), api, image.ID, to, config)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := docker.Push(t.Context(), api, image.ID, to, config); again != digest || err != nil {
		t.Errorf("pushed again it is %s, %v; want %s", again, err, digest)
	}
	if _, err := api.ImageInspect(t.Context(), to); err == nil {
		t.Errorf("the engine keeps the name %s", to)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+address+"/v2/acme/demo__x-1/manifests/"+string(digest), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("tester", "tester")
	request.Header.Set("Accept", "application/vnd.docker.distribution.manifest.v2+json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got := answer.Header.Get("Docker-Content-Digest"); answer.StatusCode != http.StatusOK || got != string(digest) {
		t.Errorf("the registry has %s (%s), want %s", got, answer.Status, digest)
	}
	if _, err := docker.Push(t.Context(), api, "benchmint/none:x", to, config); !errors.Is(err, docker.ErrNoImage) {
		t.Errorf("an image that is not there: %v", err)
	}
}
