package rust

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/plaintoml"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// cargoHome is where cargo finds what was downloaded; nothing else of the user's is in it.
const cargoHome = sandbox.HomePath + "/.cargo"

// Toolchain is the default compiler of this machine, with the crates that were downloaded.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	program, err := m.Look("rustc")
	if err != nil {
		return nil, err
	}
	version, err := m.Ask(ctx, program, "--version")
	if err != nil {
		return nil, err
	}
	sysroot, err := m.Ask(ctx, program, "--print", "sysroot")
	if err != nil {
		return nil, err
	}
	words := append(strings.Fields(version), "", "")
	kit := &verify.Kit{Label: "rustc " + words[1]}
	root, err := kit.Show("rust", sysroot)
	if err != nil {
		return nil, err
	}
	kit.Program = root + "/bin/cargo"
	if _, err := os.Stat(filepath.Join(sysroot, "bin", "cargo")); err != nil {
		return nil, &verify.Missing{Name: "cargo beside rustc"}
	}
	home := m.Lookup("CARGO_HOME")
	if home == "" {
		home = filepath.Join(m.Lookup("HOME"), ".cargo")
	}
	// Not registry/src: a file that its author kept to himself is unpacked with his rights,
	// for the user of this machine only. Cargo unpacks what it needs once more.
	for _, name := range []string{"registry/index", "registry/cache", "git"} {
		shown, err := kit.Show("cargo-"+path.Base(name), filepath.Join(home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing was downloaded from there
		}
		if err != nil {
			return nil, err
		}
		kit.Files = append(kit.Files, sandbox.File{Path: cargoHome + "/" + name, Mode: fs.ModeSymlink | 0o777, Data: []byte(shown)})
	}
	if config := sources(home); config != nil {
		kit.Files = append(kit.Files, sandbox.File{Path: cargoHome + "/config.toml", Mode: 0o644, Data: config})
	}
	kit.Env = map[string]string{
		"CARGO_HOME": cargoHome, "CARGO_TARGET_DIR": "/tmp/target", "CARGO_NET_OFFLINE": "true", "PATH": root + "/bin:/usr/bin:/bin",
	}
	return kit, nil
}

// sources is the part of the user's configuration that says under which name crates
// were downloaded. The rest may hold secrets.
func sources(home string) []byte {
	for _, name := range []string{"config.toml", "config"} {
		raw, err := os.ReadFile(filepath.Join(home, name))
		var config struct {
			Source map[string]map[string]any `toml:"source"`
		}
		if err != nil || plaintoml.Decode(raw, &config) != nil || len(config.Source) == 0 {
			continue
		}
		if raw, err = toml.Marshal(config); err == nil {
			return raw
		}
	}
	return nil
}

// Checks are one for each outermost package or workspace.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	var out []verify.Check
	folders := t.Folders("Cargo.toml")
	for _, dir := range folders {
		if slices.ContainsFunc(folders, func(f string) bool { return f != dir && (f == "." || strings.HasPrefix(dir, f+"/")) }) {
			continue
		}
		out = append(out, verify.Check{
			What: verify.In("cargo check", dir), Of: "targets", Whole: true,
			Command: schemas.Command{
				Argv: []string{k.Program, "check", "--workspace", "--all-targets", "--keep-going", "--offline", "--message-format", "json"}, Dir: dir,
			},
			Read: func(s verify.Said) verify.Report { return readCargo(dir, s) },
		})
	}
	if len(out) == 0 {
		return nil, errors.New("the source has no Cargo.toml")
	}
	return out, nil
}

// said is one line of cargo.
type said struct {
	Reason  string `json:"reason"`
	Package string `json:"package_id"`
	Target  struct {
		Name string   `json:"name"`
		Kind []string `json:"kind"`
	} `json:"target"`
	Message struct {
		Level   string `json:"level"`
		Message string `json:"message"`
		Spans   []struct {
			File    string `json:"file_name"`
			Line    int    `json:"line_start"`
			Primary bool   `json:"is_primary"`
		} `json:"spans"`
	} `json:"message"`
}

func readCargo(dir string, s verify.Said) verify.Report {
	var r verify.Report
	for line := range strings.Lines(string(s.Output)) {
		var m said
		if json.Unmarshal([]byte(line), &m) != nil || !strings.Contains(m.Package, "path+file://"+sandbox.TreePath) {
			continue
		}
		unit := m.Target.Name + " (" + strings.Join(m.Target.Kind, ", ") + ")"
		switch m.Reason {
		case "compiler-artifact":
			r.Units = append(r.Units, unit)
		case "compiler-message":
			if m.Message.Level == "error" && !strings.HasPrefix(m.Message.Message, "aborting due to") {
				r.Units = append(r.Units, unit)
				r.Faults = append(r.Faults, m.fault(dir, unit))
			}
		}
	}
	if len(r.Units) == 0 || s.Code != 0 && len(r.Faults) == 0 {
		r.Untold = firstError(string(s.Output))
	}
	return r
}

func (m *said) fault(dir, unit string) verify.Fault {
	f := verify.Fault{Unit: unit, Message: m.Message.Message}
	for _, span := range m.Message.Spans {
		if span.Primary {
			f.Path, f.Line = path.Join(dir, span.File), span.Line
			break
		}
	}
	return f
}

// firstError is what cargo says for itself.
func firstError(output string) string {
	for line := range strings.Lines(output) {
		if text, ok := strings.CutPrefix(line, "error"); ok {
			return "cargo: error" + strings.TrimSpace(text)
		}
	}
	return "cargo: " + verify.First(output)
}
