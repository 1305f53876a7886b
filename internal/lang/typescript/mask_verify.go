package typescript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/jsonc"

	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ verify.Language = Masker{}

// Toolchain is node, and the compiler of PATH for a tree that brings none.
func (Masker) Toolchain(ctx context.Context, m verify.Machine) (*verify.Kit, error) {
	kit, err := javascript.Masker{}.Toolchain(ctx, m)
	if err != nil {
		return nil, err
	}
	if file, err := m.Look("tsc"); err == nil {
		tsc, err := kit.ShowProgram("tsc", file)
		if err != nil {
			return nil, err
		}
		kit.Depends = []string{tsc}
	}
	return kit, nil
}

// own is the compiler that a tree brings.
const own = "node_modules/typescript/bin/tsc"

// Checks are one for each project. That a name is used no more is no fault of a starter.
func (Masker) Checks(t *verify.Tree, k *verify.Kit) ([]verify.Check, error) {
	configs := projects(t)
	if len(configs) == 0 {
		return nil, errors.New("the source has no tsconfig.json")
	}
	var out []verify.Check
	for _, config := range configs {
		tsc := compiler(t, path.Dir(config), k)
		if tsc == "" {
			return nil, &verify.Missing{Name: "tsc (in node_modules of the source, or in PATH)"}
		}
		out = append(out, verify.Check{
			What: verify.In("tsc", strings.TrimSuffix(strings.TrimSuffix(config, "tsconfig.json"), "/")), Of: "files", Read: read,
			Command: schemas.Command{Argv: []string{
				k.Program, tsc, "-p", config, "--noEmit", "--pretty", "false", "--listFiles",
				"--noUnusedLocals", "false", "--noUnusedParameters", "false", "--emitDeclarationOnly", "false",
			}},
		})
	}
	return out, nil
}

// compiler is the nearest one.
func compiler(t *verify.Tree, dir string, k *verify.Kit) string {
	for ; ; dir = path.Dir(dir) {
		if file := path.Join(dir, own); t.Has(file) {
			return path.Join(sandbox.TreePath, file)
		}
		if dir == "." {
			return strings.Join(k.Depends, "")
		}
	}
}

// projects are the outermost ones, and those that they refer to. One that only refers
// to others has no files.
func projects(t *verify.Tree) []string {
	var out []string
	folders := t.Folders("tsconfig.json")
	for _, dir := range folders {
		inner := slices.ContainsFunc(folders, func(f string) bool { return f != dir && (f == "." || strings.HasPrefix(dir, f+"/")) })
		if !inner {
			out = append(out, path.Join(dir, "tsconfig.json"))
		}
	}
	for i := 0; i < len(out); i++ {
		for _, to := range references(t, out[i]) {
			if !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return slices.DeleteFunc(out, func(config string) bool { return settingsOf(t, config).onlyRefers() })
}

// settings are what a tsconfig.json says of which files are its own.
type settings struct {
	Files, Include *[]string
	References     []struct{ Path string }
}

// onlyRefers tells one without files, and one that cannot be read.
func (s *settings) onlyRefers() bool {
	none := func(list *[]string) bool { return list != nil && len(*list) == 0 }
	return s == nil || (none(s.Files) || none(s.Include)) && len(s.References) > 0
}

// settingsOf is nil where there are none. What is not as it should be says nothing.
func settingsOf(t *verify.Tree, config string) *settings {
	source, err := t.Read(config)
	if err != nil {
		return nil
	}
	var s settings
	if json.Unmarshal(jsonc.ToJSON(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))), &s) != nil {
		return &settings{}
	}
	return &s
}

// references are the projects of the tree that a project refers to.
func references(t *verify.Tree, config string) []string {
	s := settingsOf(t, config)
	if s == nil {
		return nil
	}
	var out []string
	for _, r := range s.References {
		to := path.Join(path.Dir(config), r.Path)
		if !strings.HasSuffix(to, ".json") {
			to = path.Join(to, "tsconfig.json")
		}
		if t.Has(to) {
			out = append(out, to)
		}
	}
	return out
}

var (
	fileError     = lazyregexp.New(`^([^\s(][^(]*)\((\d+),\d+\): error (TS\d+: .*)$`)
	settingsError = lazyregexp.New(`^(?:\S+\.json\(\d+,\d+\): )?error (TS\d+: .*)$`)
)

// read tells what tsc did not look at, beside what it says: types are looked at only
// where the settings are sound and every file can be parsed.
func read(s verify.Said) verify.Report {
	var r verify.Report
	types := false
	for line := range strings.Lines(string(s.Output)) {
		line = strings.TrimRight(line, "\r\n")
		if m := fileError.FindStringSubmatch(line); m != nil && path.Ext(m[1]) != ".json" {
			file := path.Clean(m[1])
			at, _ := strconv.Atoi(m[2]) // digits
			r.Faults = append(r.Faults, verify.Fault{Unit: file, Path: file, Line: at, Message: m[3]})
			types = types || !strings.HasPrefix(m[3], "TS1")
		} else if m := settingsError.FindStringSubmatch(line); m != nil {
			r.Untold = "tsc: " + m[1]
		} else if file, ok := strings.CutPrefix(line, sandbox.TreePath+"/"); ok && !slices.Contains(strings.Split(file, "/"), "node_modules") {
			r.Units = append(r.Units, file)
		}
	}
	switch {
	case r.Untold != "":
	case len(r.Units) == 0:
		r.Untold = "tsc: " + verify.First(string(s.Output))
	case len(r.Faults) > 0 && !types:
		r.Untold = "tsc looks at no types: " + r.Faults[0].String()
	}
	return r
}
