package golang

import (
	"path"
	"slices"
	"strings"

	modules "golang.org/x/mod/module"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Keeper = Language{}

// modCache is where the go command of a recipe keeps modules: before Go 1.15 it knows no other
// place than below GOPATH.
func modCache(r schemas.Recipe) string {
	if atLeast(r, "1.15") {
		return modCachePath
	}
	return gopathPath + "/pkg/mod"
}

// Downloads implements lang.Keeper: the go command lays its downloads out as a module proxy does.
func (Language) Downloads(r schemas.Recipe) string { return modCache(r) + "/cache/download" }

// Download implements lang.Keeper. Sums of archives and locks are the go command's own.
func (Language) Download(file string) (packages.File, bool) {
	escaped, name, ok := strings.Cut(file, "/@v/")
	ext := path.Ext(name)
	mod, err := modules.UnescapePath(escaped)
	if !ok || err != nil || !slices.Contains([]string{".info", ".mod", ".zip"}, ext) {
		return packages.File{}, false
	}
	version, err := modules.UnescapeVersion(strings.TrimSuffix(name, ext))
	return packages.File{Kind: packages.Module, Name: mod, Version: version, File: file}, err == nil
}
