package python

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
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

// Look implements lang.Server. An interpreter that is told to ignore PYTHONPATH (-E, -I) tells nothing.
func (Language) Look(r schemas.Recipe) lang.Hooked {
	h := lang.Hooked{Recipe: r, Root: serve.Root(*r.Service)}
	s := *r.Service
	s.Start.Env = maps.Clone(s.Start.Env)
	if s.Start.Env == nil {
		s.Start.Env = map[string]string{}
	}
	var variables map[string]string
	h.Inputs, variables = hookOf(h.Root, s.Start.Env["PYTHONPATH"])
	maps.Copy(s.Start.Env, variables)
	h.Recipe.Service = &s
	return h
}

// Answering implements lang.Server: the functions of Python tell their files themselves.
func (Language) Answering(t lang.Tree, h lang.Hooked) func(look.Fact) look.Answering {
	return func(f look.Fact) look.Answering {
		p, ok := look.InTree(f.File, h.Root)
		if !ok || !t.Has(p) {
			return look.Answering{}
		}
		a := look.Answering{Function: routes.Function{Path: p, Name: strings.ReplaceAll(f.Func, ".<locals>", "")}, At: p + ":" + itoa(f.Line)}
		if strings.Contains(f.Func, "<lambda>") {
			a.Function.Name = ""
		}
		return a
	}
}

// hookOf gives the files and the variables of a start that tells facts, in the form of package look, to look.Path. root is the
// tree that the service runs in, searchPath the PYTHONPATH that it has without us.
func hookOf(root, searchPath string) ([]sandbox.File, map[string]string) {
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
	if searchPath != "" {
		searchPath = ":" + searchPath
	}
	return files, map[string]string{look.File: look.Path, treeVariable: root, "PYTHONPATH": lookPath + searchPath}
}
