package toolchain

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compile makes an ELF file of C source, with the options for the linker.
func compile(t *testing.T, out, source string, options ...string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("LOUD SKIP: no gcc on this machine: copies of shared libraries are not tested")
	}
	file := filepath.Join(t.TempDir(), "x.c")
	if err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o755), os.WriteFile(file, []byte(source), 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gcc, append([]string{"-o", out, file}, options...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, text)
	}
}

// TestLibrariesAreTaken: a program whose library is in a folder that no sandbox shows,
// and that library's own, come along and are found when the folder is gone; however
// much room the linker left for a search path.
func TestLibrariesAreTaken(t *testing.T) {
	t.Parallel()
	const inner, outer = "int inner(void) { return 40; }", "int inner(void); int outer(void) { return inner() + 2; }"
	const program = "#include <stdio.h>\nint outer(void);\nint main(void) { printf(\"%d\\n\", outer()); return 0; }"
	for name, c := range map[string]struct{ program, outer []string }{
		"paths_with_room":   {[]string{"-Wl,-rpath,AWAY"}, []string{"-Wl,-rpath,AWAY"}},
		"path_without_room": {[]string{"-Wl,-rpath,AWAY"}, []string{"-Wl,-rpath,$ORIGIN/"}},
		"path_of_program":   {[]string{"-Wl,--disable-new-dtags", "-Wl,-rpath,AWAY"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), t.TempDir()
			exe := filepath.Join(from, "bin", "deep", "down", "program")
			away := filepath.Join(t.TempDir(), "a")
			if name == "path_without_room" {
				// Shorter than the way from the program to lib.
				var err error
				if away, err = os.MkdirTemp("", "b"); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(away)
			}
			place := func(options []string) (out []string) {
				for _, o := range options {
					out = append(out, strings.ReplaceAll(o, "AWAY", away))
				}
				return out
			}
			inside := []string{filepath.Join(away, "libinner.so.1"), filepath.Join(away, "libouter.so.1")}
			compile(t, inside[0], inner, "-shared", "-fPIC", "-Wl,-soname,libinner.so.1")
			compile(t, inside[1], outer, append(place(c.outer), "-shared", "-fPIC", "-Wl,-soname,libouter.so.1", inside[0])...)
			compile(t, exe, program, append(place(c.program), "-Wl,-rpath-link,"+away, inside[1])...)
			takenAlone(t, from, to, away)
		})
	}
}

// takenAlone copies a tree with its libraries, takes their folder away, and runs the copy.
func takenAlone(t *testing.T, from, to, away string) {
	t.Helper()
	ctx := context.Background()
	if err := copyTree(ctx, from, to, func(string, bool) bool { return false }); err != nil {
		t.Fatal(err)
	}
	l, err := loaderOf(filepath.Join(from, "bin/deep/down/program"), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if err := takeLibraries(ctx, to, from, l, func(rel string) string { return filepath.Join(from, rel) }); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(to, "bin/deep/down/program")).CombinedOutput()
	if err != nil || string(out) != "42\n" {
		t.Errorf("the copy says %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(to, "lib", "libc.so.6")); err == nil {
		t.Error("libc came along")
	}
}

// TestSystemLibrariesStay: what every sandbox has is not taken along, unless the
// loader chose another file of that name.
func TestSystemLibrariesStay(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/lib/x86_64-linux-gnu/libssl.so.3":     true,
		"/usr/lib/x86_64-linux-gnu/libssl.so.3": true,
		"/usr/local/lib/libssl.so.3":            false,
		"/opt/openssl/lib/libssl.so.3":          false,
		"/lib/x86_64-linux-gnu/libtk8.6.so":     false,
	} {
		if got := inEverySandbox(filepath.Base(path), path); got != want {
			t.Errorf("inEverySandbox(%s) = %v", path, got)
		}
	}
}

// TestSystemPython: an interpreter of the distribution is copied whether or not its
// libpython, a package of its own, is installed; its modules find what they need in
// the copy or in every sandbox, and its build variables name the copy.
func TestSystemPython(t *testing.T) {
	t.Parallel()
	s := hostStore(t)
	ctx := context.Background()
	all, err := s.interpreters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(p install) bool { return p.Prefix == "/usr" })
	if at < 0 {
		t.Skip("LOUD SKIP: no python3 of the distribution on this machine: its copy is not tested")
	}
	p := s.pythons[at]
	s.pythons[at].LibName = "libpython-of-another-package.so.1.0"
	tc, err := s.Get(ctx, Python, p.Version)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loaderOf(p.exe, s.host.plain())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := elfFiles(tc.Dir, p.origin)
	if err != nil || len(parts) < 2 {
		t.Fatalf("%d ELF files, %v", len(parts), err)
	}
	for _, f := range parts {
		found, err := l.libraries(ctx, f.path)
		if err != nil {
			t.Fatal(err)
		}
		needs, _ := neededBy(f.path)
		for _, name := range needs {
			if at := found[name]; at != "" && !within(tc.Dir, at) && !inEverySandbox(name, at) {
				t.Errorf("%s finds %s at %s, which not every sandbox has", filepath.Base(f.path), name, at)
			}
		}
	}
	out, err := exec.Command(filepath.Join(tc.Dir, "bin", "python"), "-c",
		"import sysconfig as s; v = s.get_config_vars(); print(v['LIBDEST'], v['LIBDIR'])").CombinedOutput()
	if want := Path(Python, p.Version) + "/lib/python" + minorOf(p.Version) + " " + p.LibDir + "\n"; err != nil || string(out) != want {
		t.Errorf("the copy's build variables say %q, %v; want %q", out, err, want)
	}
}

// TestSystemHeaders: a header that includes one from a folder beside the copy's would
// be found on hosts that show it, and nowhere else.
func TestSystemHeaders(t *testing.T) {
	t.Parallel()
	prefix, dir := t.TempDir(), t.TempDir()
	p := install{Version: "3.11.2", Prefix: prefix, Arch: "x86_64-linux-gnu", Include: filepath.Join(prefix, "include", "python3.11")}
	for path, text := range map[string]string{
		filepath.Join(dir, "include/python3.11/pyconfig.h"):                     "#include <x86_64-linux-gnu/python3.11/pyconfig.h>",
		filepath.Join(prefix, "include/x86_64-linux-gnu/python3.11/pyconfig.h"): "#define SIZEOF_LONG 8",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.copyConfig(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "include/python3.11/pyconfig.h")); err != nil || string(text) != "#define SIZEOF_LONG 8" {
		t.Errorf("pyconfig.h of the copy says %q, %v", text, err)
	}
	p.Arch = "riscv64-linux-gnu" // headers that are not installed
	if err := p.copyConfig(dir); err != nil {
		t.Error(err)
	}
}

// TestNoRoom: a file that has no place for a search path is refused, not broken.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lib.so")
	compile(t, file, "int x;", "-shared", "-fPIC", "-Wl,--spare-dynamic-tags=0")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := setRunPath(file, "$ORIGIN/../lib"); err == nil {
		t.Error("a search path was written where none has room")
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file changed (%v)", err)
	}
	if _, err := elf.Open(file); err != nil {
		t.Error(err)
	}
}
