package python

import (
	"embed"
	"io/fs"
	"path"

	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// hook is what makes a service tell its routes, settings, connections and bodies: a sitecustomize that Python imports
// before the program, and the package benchmint_look with one module for each framework.
//
//go:embed look/*.py look/benchmint_look/*.py
var hook embed.FS

// lookPath is the folder of the hook in the sandbox. It lies where a run has its inputs, so that no layer has it.
const lookPath = sandbox.RunPath + "/look"

// treeVariable names the folder whose files the hook takes for the service's.
const treeVariable = "BENCHMINT_LOOK_TREE"

// Look gives the files and the variables of a start that tells facts, in the form of package look, to look.Path. Root is
// the tree that the service runs in ("" is sandbox.TreePath), searchPath the PYTHONPATH that it has without us. An
// interpreter that is told to ignore PYTHONPATH (-E, -I) tells nothing.
func Look(root, searchPath string) ([]sandbox.File, map[string]string) {
	var files []sandbox.File
	err := fs.WalkDir(hook, "look", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := hook.ReadFile(p)
		files = append(files, sandbox.File{Path: path.Join(path.Dir(lookPath), p), Mode: 0o644, Data: data})
		return err
	})
	if err != nil {
		panic("reading embedded files: " + err.Error())
	}
	if root == "" {
		root = sandbox.TreePath
	}
	if searchPath != "" {
		searchPath = ":" + searchPath
	}
	return files, map[string]string{look.File: look.Path, treeVariable: root, "PYTHONPATH": lookPath + searchPath}
}
