package toolchain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// The linters of a solver's work, each brought in one version. No recipe names them: they are
// given to a single run, and decide no result.
const (
	Ruff               = "ruff"
	Pyrefly            = "pyrefly"
	Staticcheck        = "staticcheck"
	StaticcheckVersion = "0.8.2"
)

// ruff and pyrefly are programs without dependencies of their own. Where a version moves, all
// of its row moves.
var (
	ruff = program{
		name: Ruff, version: "0.17.6", why: "lints Python",
		wheels: map[string]wheel{
			"amd64": {
				file:    "ruff-0.17.6-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
				sha256:  "aa3b08254a732acba246891089a152c47c5733dc36b8ecb76ce8602f8326e5e4",
				program: "8fb6a01bcc4c3e610aeb445642d4dbd928889bb0aee66aad50bbf9606414757d",
			},
			"arm64": {
				file:    "ruff-0.17.6-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
				sha256:  "435241c61af5909a022f76219d3d1bf24730dc1bf0acabb5ddf4b569ab3cbb30",
				program: "53ffd8b8e87c400f945bf0a628f9c15c04dfe853d4d66b323e7f6457f7f8da9b",
			},
		},
	}
	pyrefly = program{
		name: Pyrefly, version: "1.4.1", why: "checks the types of Python",
		wheels: map[string]wheel{
			"amd64": {
				file:    "pyrefly-1.4.1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
				sha256:  "19c35e7e63a02076fc555bdb0800302b89bb419e3de2814ab8274c0c6ac00158",
				program: "535e120378f94add8751728f976a1bbf5a28c019e0de0141762b1aff6322da80",
			},
			"arm64": {
				file:    "pyrefly-1.4.1-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
				sha256:  "8363f888f19b53d4b40e54d89e65b127ea68cd1cf8604de2824dffdc9d7900e9",
				program: "59c1a843cb049dcaa19623dac97564588f21228a14cd9a247584daf3dd9931da",
			},
		},
	}
)

// ofWheel is the row of a program that an index has.
func ofWheel(p program) kind {
	return kind{
		name: p.name, program: p.name, probe: []string{"--version"},
		find:    func(*Store, context.Context) ([]string, error) { return []string{p.version}, nil },
		source:  func(s *Store, _ context.Context, version string) (source, error) { return s.wheelSource(p, version) },
		brought: func(s *Store) Brought { return s.brought(p) },
	}
}

// staticcheckModule is the command as the module proxy has it.
const staticcheckModule = "honnef.co/go/tools/cmd/staticcheck@v" + StaticcheckVersion

func staticcheckKey() string { return "module " + staticcheckModule }

// staticcheckSource builds staticcheck with the host's go command, once: there is no module of
// the program as it runs.
func (s *Store) staticcheckSource(_ context.Context, version string) (source, error) {
	if _, ok := s.host.goCommand(); !ok {
		return source{}, &Missing{Name: Staticcheck, Version: version, How: howGo()}
	}
	if version != StaticcheckVersion {
		return source{}, &Missing{Name: Staticcheck, Version: version, How: "this program brings " + StaticcheckVersion}
	}
	return source{key: staticcheckKey(), copy: func(ctx context.Context, dir string) error {
		bin := filepath.Join(dir, "bin")
		if err := os.Mkdir(bin, 0o755); err != nil {
			return err
		}
		s.tell("building " + staticcheckModule + " into " + filepath.Join(s.host.Cache, "toolchains"))
		// Without cgo it needs no library of the sandbox.
		if _, err := s.runGoWith(ctx, []string{"CGO_ENABLED=0", "GOBIN=" + bin}, "install", "-trimpath", staticcheckModule); err != nil {
			err = goFault(version, err)
			var lacks *Missing
			if errors.As(err, &lacks) {
				lacks.Name = Staticcheck
			}
			return err
		}
		return os.Chtimes(filepath.Join(bin, Staticcheck), stamp, stamp)
	}}, nil
}

func (s *Store) broughtStaticcheck() Brought {
	_, _, ok := reuse(filepath.Join(s.host.Cache, "toolchains"), Staticcheck+"-"+StaticcheckVersion, layout+" "+staticcheckKey())
	return Brought{Version: StaticcheckVersion, AtHand: ok, Why: "lints Go", Get: "the same command when the module proxy answers, or GOPROXY=URL for another proxy"}
}
