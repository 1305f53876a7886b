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

	"github.com/benchmint/benchmint/internal/command"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// module is where the Go project publishes its toolchains as a module.
const module = "golang.org/toolchain"

// oldestGo is the first minor that knows modules.
const oldestGo = "1.11"

// goCommand finds the host's go, which does all the talking to the proxy: so the
// host's mirror, credentials and checksum settings are honoured as they are.
func (h Host) goCommand() (string, bool) {
	return h.look("go", func(p string) bool {
		real, err := filepath.EvalSymlinks(p)
		return err == nil && isELF(real)
	})
}

func (h Host) goFiles() []string {
	if exe, ok := h.goCommand(); ok {
		return []string{exe}
	}
	return nil
}

// installedGo is the version of the host's own Go, where it is a released one.
func (s *Store) installedGo(ctx context.Context) ([]string, error) {
	version, _, err := s.localGo(ctx)
	if version == "" {
		return nil, err
	}
	return []string{version}, err
}

// runGo runs the host's go outside of any module.
func (s *Store) runGo(ctx context.Context, args ...string) ([]byte, error) {
	return s.runGoWith(ctx, nil, args...)
}

// runGoWith is runGo with variables beside the host's.
func (s *Store) runGoWith(ctx context.Context, env []string, args ...string) ([]byte, error) {
	exe, ok := s.host.goCommand()
	if !ok {
		return nil, &Missing{Name: Go, How: howGo()}
	}
	dir, err := os.MkdirTemp("", "benchmint-go-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = dir
	cmd.Env = append(append(s.host.plain(), "GOFLAGS=-mod=mod", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local"), env...)
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

// localGo is the version and root of the host's own Go; "" where there is none. The
// error is of one that did not come to its answer.
func (s *Store) localGo(ctx context.Context) (version, root string, err error) {
	out, err := s.runGo(ctx, "env", "GOVERSION", "GOROOT")
	if ctx.Err() != nil || command.Unanswered(err) {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 2 {
		return "", "", nil
	}
	version = strings.TrimPrefix(strings.Fields(lines[0] + " ")[0], "go")
	if numbers(version) == nil {
		return "", "", nil // a development version
	}
	return version, lines[1], nil
}

// usualGo is where Go's own installer and most people put it.
const usualGo = "/usr/local/go/bin"

// howGo is how any Go can be had. Where the usual place holds one, only PATH is wrong.
func howGo() string {
	if executable(filepath.Join(usualGo, "go")) {
		return "no go command is in PATH, and " + usualGo + " holds one: export PATH=$PATH:" + usualGo
	}
	return "no go command is in PATH: apt-get install golang-go, or install any Go and put its bin folder into PATH; it fetches the other versions"
}

// goVersions are the newest patch of every minor that the proxy has, and the
// host's own Go. Where the proxy has no list, the newest patches known here are asked
// for one by one. An error means that the list cannot be known now.
func (s *Store) goVersions(ctx context.Context) ([]string, error) {
	if _, ok := s.host.goCommand(); !ok {
		return nil, &Missing{Name: Go, How: howGo()}
	}
	have := map[string]bool{}
	local, _, err := s.localGo(ctx)
	if err != nil {
		return nil, err
	}
	if local != "" {
		have[local] = true
	}
	listed, err := s.listGo(ctx)
	var lacks *Missing
	if errors.As(err, &lacks) {
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
	if err == nil && len(out) == 0 {
		err = &Missing{Name: Go, How: "the module proxy has no toolchain for this machine, and the go command in PATH is not a released one: set GOPROXY to a proxy that has " + module}
	}
	return out, err
}

// listGo asks for the list of versions in one call.
func (s *Store) listGo(ctx context.Context) ([]string, error) {
	out, err := s.runGo(ctx, "list", "-m", "-versions", "-json", module)
	if err != nil {
		return nil, goFault("", err)
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
		return nil, &Missing{Name: Go, How: "the module proxy's list of them is empty"}
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
//
// NOTE: a proxy that has some, and forbids others, is believed to have what it gives:
// proxies without a list answer 403 for a toolchain that was never made.
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
				} else {
					faults = append(faults, goFault(v, err))
				}
				mu.Unlock()
				if err == nil {
					return
				}
			}
		}()
	}
	wait.Wait()
	for _, err := range faults {
		var lacks *Missing
		var refused *Refused
		if !errors.As(err, &lacks) && (!errors.As(err, &refused) || len(found) == 0) {
			return found, err
		}
	}
	return found, nil
}

// The go command's words. Only what a registry says of itself is absence; what the
// way to it says (a firewall's 403, a setting of this host) is not.
var (
	goLacks     = lazyregexp.New(`(?i)\b(404 not found|410 gone)\b|no matching versions|unknown revision`)
	goRefuses   = lazyregexp.New(`(?i)\b(401|403|407)\b|forbidden|lookup disabled|unauthorized`)
	goDistrusts = lazyregexp.New(`(?i)x509:|tls: failed to verify|checksum mismatch|SECURITY ERROR`)
	goNotNow    = lazyregexp.New(`(?i)\b(408|429|5\d\d) [A-Z]|dial tcp|no such host|i/o timeout|timeout|connection (reset|refused)|unexpected EOF|\bEOF\b|server misbehaving|proxyconnect|network is unreachable|broken pipe`)
)

// goFault is what the go command's error means: *Missing, *Refused, *Unreachable, or
// a fault of this machine as it is.
func goFault(version string, err error) error {
	said := err.Error()
	switch {
	case errors.As(err, new(*Missing)):
		return err
	case goDistrusts.MatchString(said):
		return &Refused{Err: err, How: howCertificates}
	case goRefuses.MatchString(said):
		return &Refused{Err: err, How: "set GOPROXY to a module proxy that gives " + module + ", or have the host's proxy let it through"}
	case goLacks.MatchString(said):
		return &Missing{Name: Go, Version: version, How: "the module proxy does not have it: " + said}
	case goNotNow.MatchString(said):
		return &Unreachable{Err: err}
	}
	return err
}

// goSource says how to copy one version: the host's own, or the proxy's.
func (s *Store) goSource(ctx context.Context, version string) (source, error) {
	local, root, err := s.localGo(ctx)
	if err != nil {
		return source{}, err
	}
	if local == version {
		return source{
			key:  "goroot " + root + " " + version,
			copy: func(ctx context.Context, dir string) error { return copyGo(ctx, root, dir) },
		}, nil
	}
	if _, ok := s.host.goCommand(); !ok {
		return source{}, &Missing{Name: Go, Version: version, How: howGo()}
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
	}
	return "", goFault(version, err)
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
