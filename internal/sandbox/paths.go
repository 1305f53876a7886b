package sandbox

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Writable are the only places that a step or a run may write to, in both kinds.
// What lies in Kept of them is part of a layer.
var (
	kept     = []string{TreePath, EnvPath, HomePath}
	shared   = []string{"/tmp", "/var/tmp", "/dev/shm"}
	writable = slices.Concat(kept, []string{RunPath}, shared)
)

// Kept are the writable places that a layer keeps.
func Kept() []string { return slices.Clone(kept) }

// Shared are the writable places that are everybody's (mode 1777).
func Shared() []string { return slices.Clone(shared) }

// Writable are the places that a step or a run may write to; together they are
// what Limits.Disk counts.
func Writable() []string { return slices.Clone(writable) }

// CheckPath says why a file may not be put at (or collected from) p: it is not a
// clean absolute path below one of the places given.
func CheckPath(p string, places []string) error {
	if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
		return fmt.Errorf("%q is not a clean absolute path", p)
	}
	for _, place := range places {
		if p == place || strings.HasPrefix(p, place+"/") {
			return nil
		}
	}
	return fmt.Errorf("%s is not below %s", p, strings.Join(places, ", "))
}

// WorkDir is the directory that a command starts in.
func WorkDir(dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(TreePath, dir)
}

// CheckFiles refuses paths of a caller that lead elsewhere, before anything is
// made: what is put must lie below places, what is read back in a writable place.
func CheckFiles(put []File, places, read []string) error {
	for _, f := range put {
		if err := CheckPath(f.Path, places); err != nil {
			return err
		}
	}
	for _, p := range read {
		if err := CheckPath(p, Writable()); err != nil {
			return fmt.Errorf("collecting: %w", err)
		}
	}
	return nil
}

// Check says why a run cannot be what is asked for.
func (r Run) Check() error {
	if err := CheckFiles(r.Inputs, []string{RunPath}, r.Collect); err != nil {
		return err
	}
	if len(r.Command.Argv) == 0 {
		return errors.New("an empty command")
	}
	for _, p := range r.Sealed {
		if err := CheckPath(strings.TrimSuffix(p, "/"), []string{TreePath, EnvPath}); err != nil {
			return fmt.Errorf("sealing: %w", err)
		}
	}
	if err := CheckFiles(nil, nil, r.Watch); err != nil {
		return err
	}
	b := r.Beside
	switch {
	case b == nil:
		return nil
	case r.Interactive != nil:
		return errors.New("a run with a terminal has no service beside it")
	case b.Deployed && (len(b.Command.Argv) > 0 || len(b.Inputs) > 0 || len(b.Env) > 0):
		return errors.New("the service: an image of its own has its own command, files and variables")
	case !b.Deployed && len(b.Command.Argv) == 0:
		return errors.New("the service: an empty command")
	}
	if err := CheckFiles(b.Inputs, []string{RunPath}, nil); err != nil {
		return fmt.Errorf("the service: %w", err)
	}
	return nil
}
