package javascript

import (
	"path"
	"slices"
	"strings"
)

// extensions may be left out where a file is imported. An import that ends in .js
// means a .ts beside it as well, so all of them come off.
var extensions = []string{".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

// Declares tells a file of declarations, in which nothing runs.
func Declares(file string) bool {
	return strings.HasSuffix(file, ".d.ts") || strings.HasSuffix(file, ".d.mts") || strings.HasSuffix(file, ".d.cts")
}

func bare(file string) string {
	for _, ext := range extensions {
		if rest, ok := strings.CutSuffix(file, ext); ok {
			return rest
		}
	}
	return file
}

// modules are the names by which others import a file: its path without extension; for
// an index its folder, and for the index of src or lib the folder above as well, since
// that is what a package's own name commonly leads to.
func modules(file string) []string {
	name := bare(file)
	folder, ok := strings.CutSuffix(name, "/index")
	if name == "index" {
		folder, ok = ".", true
	}
	if !ok {
		return []string{name}
	}
	names := []string{folder, name}
	switch path.Base(folder) {
	case "src", "lib", "source":
		names = append(names, path.Dir(folder))
	}
	return names
}

// module is what an import in file means: a path within the tree, without extension,
// for "./x" and "../x", else the name of a package as it is written.
func module(file, specifier string) string {
	if specifier == itself {
		specifier = "./" + path.Base(file)
	}
	if specifier != "." && specifier != ".." && !strings.HasPrefix(specifier, "./") && !strings.HasPrefix(specifier, "../") {
		return strings.TrimPrefix(specifier, "node:")
	}
	name := bare(path.Join(path.Dir(file), specifier))
	if folder, ok := strings.CutSuffix(name, "/index"); ok {
		return folder
	}
	if name == "index" {
		return "."
	}
	return name
}

// joined is the qualified name of what is inside another.
func joined(outer string, names ...string) string {
	names = slices.DeleteFunc(append([]string{outer}, names...), func(s string) bool { return s == "" })
	return strings.Join(names, ".")
}
