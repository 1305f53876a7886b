package toolchain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// module is where the Go project publishes its toolchains as a module.
const module = "golang.org/toolchain"

// oldestGo is the first minor that the module proxy has and that knows modules well.
const oldestGo = "1.13"

// goCommand finds the host's go, which does all the talking to the proxy: so the
// host's mirror, credentials and checksum settings are honoured as they are.
func (h Host) goCommand() (string, bool) {
	return h.look("go", func(p string) bool {
		real, err := filepath.EvalSymlinks(p)
		return err == nil && isELF(real)
	})
}

// runGo runs the host's go outside of any module.
func (s *Store) runGo(ctx context.Context, args ...string) ([]byte, error) {
	exe, ok := s.host.goCommand()
	if !ok {
		return nil, exec.ErrNotFound
	}
	dir, err := os.MkdirTemp("", "benchmint-go-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = dir
	cmd.Env = append(s.host.plain(), "GOFLAGS=-mod=mod", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return out, fmt.Errorf("go %s: %w: %s", strings.Join(args[:min(2, len(args))], " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// localGo is the version and root of the host's own Go; "" where there is none.
func (s *Store) localGo(ctx context.Context) (version, root string) {
	out, err := s.runGo(ctx, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return "", ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return "", ""
	}
	version = strings.TrimPrefix(strings.Fields(lines[0] + " ")[0], "go")
	if numbers(version) == nil {
		return "", "" // a development version
	}
	return version, lines[1]
}

// goVersions are the newest patch of every minor that the proxy has, and the
// host's own Go. Without a list the newest patches known here are asked for one
// by one. An error means that the proxy did not answer.
func (s *Store) goVersions(ctx context.Context) ([]string, error) {
	local, _ := s.localGo(ctx)
	have := map[string]bool{}
	if local != "" {
		have[local] = true
	}
	if _, ok := s.host.goCommand(); !ok {
		return nil, nil
	}
	listed, err := s.listGo(ctx)
	if err != nil {
		listed, err = s.probeGo(ctx)
	}
	newest := map[string]string{}
	for _, v := range listed {
		if m := minorOf(v); newest[m] == "" || less(newest[m], v) {
			newest[m] = v
		}
	}
	for _, v := range newest {
		have[v] = true
	}
	var out []string
	for v := range have {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return less(out[i], out[j]) })
	return out, err
}

// listGo asks for the list of versions in one call.
func (s *Store) listGo(ctx context.Context) ([]string, error) {
	out, err := s.runGo(ctx, "list", "-m", "-versions", "-json", module)
	if err != nil {
		return nil, err
	}
	var list struct{ Versions []string }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("parsing the list of Go toolchains: %w", err)
	}
	var found []string
	for _, v := range list.Versions {
		if plain, ok := toolchainVersion(v); ok {
			found = append(found, plain)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("the list of Go toolchains is empty")
	}
	return found, nil
}

// toolchainVersion reads v0.0.1-go1.21.13.linux-amd64, for this machine and
// final releases only.
func toolchainVersion(v string) (string, bool) {
	rest, ok := strings.CutPrefix(v, "v0.0.1-go")
	plain, fit := strings.CutSuffix(rest, ".linux-"+runtime.GOARCH)
	if !ok || !fit || numbers(plain) == nil || less(plain, oldestGo) {
		return "", false
	}
	return plain, true
}

func moduleVersion(version string) string {
	return module + "@v0.0.1-go" + version + ".linux-" + runtime.GOARCH
}

// probeGo asks for the known patches of each minor, newest first.
func (s *Store) probeGo(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var found []string
	var faults []error
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4) // the registry is a guest's table
	for minor, patches := range goPatches {
		wait.Add(1)
		go func() {
			defer wait.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, n := range patches {
				v := patch(minor, n)
				_, err := s.runGo(ctx, "list", "-m", "-json", moduleVersion(v))
				mu.Lock()
				if err == nil {
					found = append(found, v)
				} else if !absent(err) {
					faults = append(faults, err)
				}
				mu.Unlock()
				if err == nil {
					return
				}
			}
		}()
	}
	wait.Wait()
	if len(faults) > 0 {
		return found, &Unreachable{Err: faults[0]}
	}
	return found, nil
}

// refusals are the registry's words for "I do not have it".
var refusals = lazyregexp.New(`(?i)\b(404|410|403)\b|not found|no matching versions|unknown revision|forbidden|module lookup disabled`)

// absent tells "cannot be had" from "not now".
func absent(err error) bool { return refusals.MatchString(err.Error()) }

// goSource says how to copy one version: the host's own, or the proxy's.
func (s *Store) goSource(ctx context.Context, version string) (source, error) {
	local, root := s.localGo(ctx)
	if local == version {
		return source{
			key:  "goroot " + root + " " + version,
			copy: func(ctx context.Context, dir string) error { return copyGo(ctx, root, dir) },
		}, nil
	}
	if local == "" {
		return source{}, &Missing{Name: Go, Version: version, How: "install any Go and put it in PATH; it fetches the others"}
	}
	return source{key: moduleVersion(version), copy: func(ctx context.Context, dir string) error {
		root, err := s.download(ctx, version)
		if err != nil {
			return err
		}
		return copyGo(ctx, root, dir)
	}}, nil
}

// download fetches a toolchain into the host's module cache, where the go
// command itself keeps the ones that it switches to.
func (s *Store) download(ctx context.Context, version string) (string, error) {
	out, err := s.runGo(ctx, "mod", "download", "-json", moduleVersion(version))
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) == nil && got.Error != "" {
		err = errors.New(got.Error)
	}
	switch {
	case err == nil && got.Dir != "":
		return got.Dir, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return "", errors.New("go mod download named no folder")
	case absent(err):
		return "", &Missing{Name: Go, Version: version, How: "the module proxy does not have it: " + err.Error()}
	}
	return "", &Unreachable{Err: err}
}

// copyGo copies a GOROOT. A toolchain from the proxy comes without executable
// bits and with its go.mod files under another name, because modules cannot hold
// them; the go command repairs both when it switches, and so does this.
func copyGo(ctx context.Context, root, dir string) error {
	if err := copyTree(ctx, root, dir, skipGo); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Name() == "_go.mod" {
			return os.Rename(p, filepath.Join(filepath.Dir(p), "go.mod"))
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, "bin/") || strings.HasPrefix(rel, "pkg/tool/") {
			return os.Chmod(p, 0o755)
		}
		return nil
	})
}

// skipGo leaves out what only developing Go itself needs. The sources of the
// commands stay: newer versions build their rarer tools from them when asked.
func skipGo(rel string, dir bool) bool {
	switch rel {
	case "test", "api", "doc", "misc", "blog", "pkg/obj", "pkg/bootstrap", ".git":
		return dir
	}
	if dir {
		return path.Base(rel) == "testdata" && strings.HasPrefix(rel, "src/") ||
			strings.HasPrefix(rel, "pkg/linux_") && strings.HasSuffix(rel, "_race")
	}
	return strings.HasPrefix(rel, "src/") && strings.HasSuffix(rel, "_test.go")
}
