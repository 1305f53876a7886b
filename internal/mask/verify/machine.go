package verify

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Machine is where toolchains are looked for, and what was said of them.
type Machine struct {
	Env       []string // PATH, HOME …
	Python    string   // an interpreter; "": python3 of PATH
	Classpath []string // jars and folders of classes for Java
}

// Lookup is one variable, "" where it is not set.
func (m Machine) Lookup(name string) string {
	for _, entry := range m.Env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// Look finds a program in PATH. *Missing.
func (m Machine) Look(name string) (string, error) {
	for _, dir := range filepath.SplitList(m.Lookup("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &Missing{name}
}

// patience is for a question like --version.
const patience = time.Minute

// Ask runs a tool of the machine in an empty folder: nothing of the tree is near it.
func (m Machine) Ask(ctx context.Context, argv ...string) (string, error) {
	dir, err := os.MkdirTemp("", "benchmint-ask-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // empty, and the system's to clear
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, fault bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, m.Env, &out, &fault
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv[:min(2, len(argv))], " "), err, First(fault.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Kit is a toolchain as the sandbox shows it.
type Kit struct {
	Label   string   // go 1.26.8
	Program string   // in the sandbox
	Depends []string // folders and archives of other people's code, in the sandbox
	Env     map[string]string
	// Files lie below sandbox.HomePath, in both trees.
	Files []sandbox.File
	// Caches outlive a run, by name. Checks see what Fill left in them, and Fill sees
	// nothing of either tree.
	Caches map[string]string
	Fill   *sandbox.Fill
	mounts []sandbox.Toolchain
}

// Show makes a folder of the machine readable in the sandbox, and gives its path there.
// name is the kit's own word for it.
func (k *Kit) Show(name, dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if visible(real) {
		return real, nil
	}
	const version = "here"
	k.mounts = append(k.mounts, sandbox.Toolchain{Toolchain: schemas.Toolchain{Name: name, Version: version}, Dir: real})
	return path.Join(sandbox.ToolchainPath, name+"-"+version), nil
}

// ShowProgram shows the folder that a program was installed into, and gives the
// program's path in the sandbox.
func (k *Kit) ShowProgram(name, file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	root := filepath.Dir(real)
	if filepath.Base(root) == "bin" {
		root = filepath.Dir(root)
	}
	inside, err := k.Show(name, root)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, real)
	return path.Join(inside, filepath.ToSlash(rel)), err
}

// visible tells what of the machine every sandbox shows.
func visible(dir string) bool {
	return (dir == "/usr" || strings.HasPrefix(dir, "/usr/")) && dir != "/usr/local" && !strings.HasPrefix(dir, "/usr/local/")
}

// First is the first line that says something.
func First(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
