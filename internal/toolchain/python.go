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
	"regexp"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/command"
)

// install is one CPython as it describes itself.
type install struct {
	Version string `json:"version"`
	Kind    string `json:"kind"` // CPython
	Level   string `json:"level"`
	Base    string `json:"base"` // prefix of the interpreter that a virtual environment is made from
	Prefix  string `json:"prefix"`
	Stdlib  string `json:"stdlib"`
	Include string `json:"include"`
	LibDir  string `json:"libdir"`
	LibName string `json:"libname"` // libpython3.12.so.1.0; "" where none was built
	Flags   string `json:"flags"`   // ABI flags; t is free-threaded
	Arch    string `json:"arch"`    // Debian's name of the architecture, in its paths; "" elsewhere
	exe     string
}

// ask is run by every CPython from 2.7 on, without site-packages.
const ask = `
import sys, json, platform, sysconfig
v = sysconfig.get_config_vars()
print(json.dumps({
 'version': '%d.%d.%d' % sys.version_info[:3], 'level': sys.version_info[3],
 'kind': platform.python_implementation(), 'prefix': sys.prefix,
 'base': getattr(sys, 'base_prefix', getattr(sys, 'real_prefix', sys.prefix)),
 'stdlib': sysconfig.get_path('stdlib'), 'include': sysconfig.get_path('include'),
 'libdir': v.get('LIBDIR') or '', 'flags': getattr(sys, 'abiflags', ''), 'arch': v.get('MULTIARCH') or '',
 'libname': (v.get('INSTSONAME') or '') if v.get('Py_ENABLE_SHARED') else '',
}))`

// interpreters finds every CPython once: pyenv's, uv's, then those in PATH. Of
// two with one version the first counts. An error is of a search that has not seen all:
// what it misses may be there.
func (s *Store) interpreters(ctx context.Context) ([]install, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found {
		return s.pythons, nil
	}
	seen := map[string]bool{}
	var all []install
	for _, exe := range s.host.pythonFiles() {
		p, ok, err := s.describe(ctx, exe)
		if err != nil {
			return nil, err
		}
		if ok && !seen[p.Version] {
			seen[p.Version] = true
			all = append(all, p)
		}
	}
	s.pythons, s.found = all, true
	return all, nil
}

const howPython = "no CPython is found in PATH, ~/.pyenv or uv's folder: apt-get install python3, or pyenv install 3.12"

// pythonVersions are those of this machine; none at all is a *Missing.
func (s *Store) pythonVersions(ctx context.Context) ([]string, error) {
	out, err := s.installedPythons(ctx)
	if err == nil && len(out) == 0 {
		err = &Missing{Name: Python, How: howPython}
	}
	return out, err
}

func (s *Store) installedPythons(ctx context.Context) ([]string, error) {
	all, err := s.interpreters(ctx)
	var out []string
	for _, p := range all {
		out = append(out, p.Version)
	}
	return out, err
}

// startsPython reports whether a file is a CPython, or may be one that does not answer now.
func (s *Store) startsPython(ctx context.Context, file string) bool {
	_, ok, err := s.describe(ctx, file)
	return ok || err != nil
}

// pythonFiles are the files that may be a CPython, each once.
func (h Host) pythonFiles() []string {
	home := h.env("HOME")
	patterns := []string{
		filepath.Join(h.pyenv(), "versions", "*", "bin", "python"),
		filepath.Join(or(h.env("UV_PYTHON_INSTALL_DIR"),
			filepath.Join(or(h.env("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), "uv", "python")), "*", "bin", "python3"),
	}
	for _, dir := range filepath.SplitList(h.env("PATH")) {
		patterns = append(patterns, filepath.Join(dir, "python[23].*"))
	}
	var out []string
	seen := map[string]bool{}
	for _, p := range patterns {
		files, _ := filepath.Glob(p) // the only error is a malformed pattern: no such folder then
		sort.Strings(files)
		for _, f := range files {
			real, err := filepath.EvalSymlinks(f)
			// The ELF test leaves out pyenv's shims and python3.12-config.
			if err == nil && filepath.IsAbs(f) && !seen[real] && executable(real) && isELF(real) {
				seen[real] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// pyenv is pyenv's folder. Links are followed: the interpreters name the folder that
// they were built for, and a copy is rewritten where they do.
func (h Host) pyenv() string {
	dir := or(h.env("PYENV_ROOT"), filepath.Join(h.env("HOME"), ".pyenv"))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// describe asks one interpreter; other implementations, previews, virtual
// environments and free-threaded builds are none of ours. The error is of one that did
// not come to its answer.
func (s *Store) describe(ctx context.Context, exe string) (install, bool, error) {
	cmd := exec.CommandContext(ctx, exe, "-E", "-s", "-S", "-c", ask)
	cmd.Env = s.host.plain()
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return install{}, false, ctx.Err()
	}
	if command.Unanswered(err) {
		return install{}, false, fmt.Errorf("asking %s for its version: %w", exe, err)
	}
	var p install
	if err != nil || json.Unmarshal(out, &p) != nil {
		return p, false, nil
	}
	real, err := filepath.EvalSymlinks(exe)
	p.exe = real
	ok := err == nil && p.Kind == "CPython" && p.Level == "final" && p.Base == p.Prefix && !strings.Contains(p.Flags, "t")
	return p, ok && within(p.Prefix, p.Stdlib), nil
}

// plain is the host's environment without what steers a Python or a loader.
func (h Host) plain() []string {
	var out []string
	for _, kv := range h.Env {
		if !strings.HasPrefix(kv, "PYTHON") && !strings.HasPrefix(kv, "LD_") && !strings.HasPrefix(kv, "PYENV_VERSION=") {
			out = append(out, kv)
		}
	}
	return append(out, "PYTHONHASHSEED=0")
}

// pythonSource says how to copy one version.
func (s *Store) pythonSource(ctx context.Context, version string) (source, error) {
	all, err := s.interpreters(ctx)
	if err != nil {
		return source{}, err
	}
	for _, p := range all {
		if p.Version != version {
			continue
		}
		info, err := os.Stat(p.exe)
		if err != nil {
			return source{}, fmt.Errorf("python %s: %w", version, err)
		}
		return source{
			key:    fmt.Sprintf("%s %d %d", p.exe, info.Size(), info.ModTime().UnixNano()),
			copy:   func(ctx context.Context, dir string) error { return p.copyTo(ctx, dir, s.host.plain()) },
			finish: func(ctx context.Context, dir string) error { return s.finishPython(ctx, p, dir) },
		}, nil
	}
	return source{}, &Missing{Name: Python, Version: version, How: "install it: uv python install " + version + ", or pyenv install " + version}
}

// copyTo copies the interpreter, its standard library and headers, and nothing
// that was installed into it; then makes them independent of their old place.
func (p install) copyTo(ctx context.Context, dir string, env []string) error {
	minor := minorOf(p.Version)
	name := "python" + minor
	if err := copyFile(p.exe, filepath.Join(dir, "bin", name)); err != nil {
		return err
	}
	for _, link := range []string{"python", "python" + minor[:1]} {
		if err := os.Symlink(name, filepath.Join(dir, "bin", link)); err != nil {
			return err
		}
	}
	config := filepath.Join(filepath.Dir(p.exe), name+"-config")
	if executable(config) && !isELF(config) {
		if err := copyFile(config, filepath.Join(dir, "bin", name+"-config")); err != nil {
			return err
		}
	}
	var folders []string
	for _, tree := range []string{p.Stdlib, p.Include} {
		rel, err := filepath.Rel(p.Prefix, tree)
		if err != nil {
			return err
		}
		folders = append(folders, filepath.ToSlash(rel))
		if _, err := os.Stat(tree); err != nil && tree == p.Include {
			continue // headers are a package of their own on some systems
		}
		if err := copyTree(ctx, tree, filepath.Join(dir, rel), skipPython); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "lib", name, "site-packages"), 0o755); err != nil {
		return err
	}
	if err := p.copyConfig(dir); err != nil {
		return err
	}
	if err := p.copyShared(dir); err != nil {
		return err
	}
	l, err := loaderOf(p.exe, env)
	if err != nil {
		return err
	}
	if err := takeLibraries(ctx, dir, p.Prefix, l, p.origin); err != nil {
		return err
	}
	return rewrite(dir, p.Prefix, Path(Python, p.Version), folders)
}

// origin is where a file of the copy comes from.
func (p install) origin(rel string) string {
	switch rel {
	case filepath.Join("bin", "python"+minorOf(p.Version)):
		return p.exe
	case filepath.Join("lib", p.LibName):
		return filepath.Join(p.LibDir, p.LibName)
	}
	return filepath.Join(p.Prefix, rel)
}

// copyConfig puts Debian's pyconfig.h of this architecture in the place of the one
// that includes it from a folder beside all headers, where no compiler would look in
// the copy.
func (p install) copyConfig(dir string) error {
	rel, err := filepath.Rel(p.Prefix, p.Include)
	if err != nil || p.Arch == "" {
		return err
	}
	own := filepath.Join(filepath.Dir(p.Include), p.Arch, filepath.Base(p.Include), "pyconfig.h")
	target := filepath.Join(dir, rel, "pyconfig.h")
	if _, err := os.Stat(own); err != nil {
		return nil // headers are not installed, or are all in one folder
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copyFile(own, target)
}

// copyShared takes libpython along where there is one, for programs that embed the
// interpreter. Whether it exists is not to be told from how the interpreter was built:
// Debian's is built with one, which is a package of its own, and does not need it.
func (p install) copyShared(dir string) error {
	if p.LibName == "" {
		return nil
	}
	err := copyFile(filepath.Join(p.LibDir, p.LibName), filepath.Join(dir, "lib", p.LibName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// The linker's name, for extensions that link it: libpython3.12.so.
	short := regexp.MustCompile(`\.so\..*$`).ReplaceAllString(p.LibName, ".so")
	if short == p.LibName {
		return nil
	}
	return os.Symlink(p.LibName, filepath.Join(dir, "lib", short))
}

// testSuites are folders of the standard library with its own tests: over half
// of its bytes. test.support stays, because test suites of projects import it.
var testSuites = map[string]bool{
	"ctypes/test": true, "distutils/tests": true, "lib2to3/tests": true, "sqlite3/test": true,
	"tkinter/test": true, "unittest/test": true, "idlelib/idle_test": true, "json/tests": true, "email/test": true,
	"bsddb/test": true, "lib-tk/test": true,
}

// skipPython leaves out what was installed, the host's own start-up code,
// compiled and static files, and the tests of the standard library.
func skipPython(rel string, dir bool) bool {
	base := path.Base(rel)
	switch {
	case dir && (base == "__pycache__" || base == "site-packages" || base == "dist-packages"):
		return true
	case dir && testSuites[rel]:
		return true
	case strings.HasPrefix(rel, "test/"):
		return !strings.HasPrefix(rel, "test/support") && rel != "test/__init__.py" && rel != "test/test_support.py"
	case rel == "sitecustomize.py" || rel == "usercustomize.py" || rel == "EXTERNALLY-MANAGED":
		return true
	}
	return strings.HasSuffix(rel, ".a") || compiled(rel)
}

// rewrite replaces the old prefix in the text files that name it: build
// variables, the Makefile, and scripts. Names in compiled code stay: CPython
// looks for its library beside itself first. Of a system's interpreter only these
// folders below its prefix moved; the others are where they were.
func rewrite(dir, from, to string, folders []string) error {
	below := ""
	if from == "/usr" || from == "/" {
		for i, f := range folders {
			folders[i] = regexp.QuoteMeta(f)
		}
		below = "/(?:" + strings.Join(folders, "|") + ")"
	}
	old := regexp.MustCompile(regexp.QuoteMeta(strings.TrimSuffix(from, "/")) + "(" + below + `)([/"'\s:;,)]|$)`)
	var files []string
	for _, pattern := range []string{"bin/*-config", "lib/python*/_sysconfigdata*.py", "lib/python*/config*/*", "lib/python*/_sysconfig_vars*.json"} {
		more, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	for _, f := range files {
		info, err := os.Lstat(f)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || isELF(f) {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		moved := old.ReplaceAll(data, []byte(to+"${1}${2}"))
		if bytes.Equal(moved, data) {
			continue
		}
		if err := os.WriteFile(f, moved, info.Mode()); err != nil {
			return err
		}
		if err := os.Chtimes(f, stamp, stamp); err != nil {
			return err
		}
	}
	return nil
}

// finishPython checks that the copy runs from where it is, and compiles the
// standard library: the tree is read-only in sandboxes, and without compiled
// files every process would pay for its imports again.
func (s *Store) finishPython(ctx context.Context, p install, dir string) error {
	exe := filepath.Join(dir, "bin", "python")
	got, ok, err := s.describe(ctx, exe)
	if err != nil {
		return err
	}
	if !ok || got.Version != p.Version || got.Prefix != dir {
		return fmt.Errorf("the copy does not run on its own (version %q, prefix %q)", got.Version, got.Prefix)
	}
	rel, err := filepath.Rel(p.Prefix, p.Stdlib)
	if err != nil {
		return err
	}
	args := []string{"-E", "-s", "-S", "-m", "compileall", "-q", "-d", Path(Python, p.Version) + "/" + filepath.ToSlash(rel)}
	if !less(p.Version, "3.7") {
		// By content, not by time: layers and copies may round times.
		args = append(args, "--invalidation-mode", "unchecked-hash")
	}
	cmd := exec.CommandContext(ctx, exe, append(args, filepath.Join(dir, rel))...)
	cmd.Env = s.host.plain()
	// The exit code is 1 where any file does not compile, and some never do
	// (templates of lib2to3): a missing compiled file costs time only.
	_ = cmd.Run()
	return ctx.Err()
}
