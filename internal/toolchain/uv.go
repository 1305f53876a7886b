package toolchain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// uvFile is the uv of this host.
type uvFile struct{ path, version string }

var uvVersion = lazyregexp.New(`^uv (\d+\.\d+\.\d+)`)

// findUV takes the uv in PATH. pyenv puts a script there that stands for a uv in
// one of its interpreters: then the newest of those is taken.
func (s *Store) findUV(ctx context.Context) (uvFile, bool) {
	var files []string
	if path, ok := s.host.look("uv", isELF); ok {
		files = append(files, path)
	} else {
		files, _ = filepath.Glob(filepath.Join(s.host.pyenv(), "versions", "*", "bin", "uv"))
		for _, dir := range []string{".local/bin", ".cargo/bin"} {
			files = append(files, filepath.Join(s.host.env("HOME"), dir, "uv"))
		}
	}
	var found []uvFile
	for _, f := range files {
		if !executable(f) || !isELF(f) {
			continue
		}
		cmd := exec.CommandContext(ctx, f, "--version")
		cmd.Env = s.host.plain()
		out, err := cmd.Output()
		if m := uvVersion.FindSubmatch(out); err == nil && m != nil {
			found = append(found, uvFile{path: f, version: string(m[1])})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return less(found[j].version, found[i].version) })
	if len(found) == 0 {
		return uvFile{}, false
	}
	return found[0], true
}

// uvSource says how to copy uv: one file, bin/uv.
func (s *Store) uvSource(ctx context.Context, version string) (source, error) {
	u, ok := s.tool(ctx)
	if !ok || u.version != version {
		how := "install it: pip install uv==" + version
		if ok {
			how += " (here is " + u.version + ")"
		}
		return source{}, &Missing{Name: UV, Version: version, How: how}
	}
	info, err := os.Stat(u.path)
	if err != nil {
		return source{}, err
	}
	return source{
		key:  fmt.Sprintf("%s %d %d", u.path, info.Size(), info.ModTime().UnixNano()),
		copy: func(_ context.Context, dir string) error { return copyFile(u.path, filepath.Join(dir, "bin", "uv")) },
	}, nil
}
