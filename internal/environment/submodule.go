package environment

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
)

// Lacking names the git submodule that a run of tests missed: one whose path the run itself
// names, or that a test file which brought no test names in its text. The folder of a
// submodule is empty in every tree.
//
// That a file with the name of the folder means the submodule is reasoning of our own: a
// test that finds no data there says nothing.
func Lacking(t *tree.Tree, r testlog.Report, log []byte) (what string, ok bool) {
	said := string(log)
	for _, x := range r.Tests {
		said += "\n" + x.Message
	}
	idle := map[string]bool{}
	for _, u := range r.Units {
		said += "\n" + u.Message
		idle[u.Name] = true
	}
	for _, x := range r.Tests {
		delete(idle, x.Unit)
	}
	for _, e := range t.Entries() {
		if e.Mode != tree.ModeModule {
			continue
		}
		found := namesFolder(said, e.Path)
		for unit := range idle {
			source, err := t.Read(unit)
			found = found || err == nil && strings.Contains(string(source), path.Base(e.Path))
		}
		if found {
			return strings.TrimSpace("git submodule " + e.Path + " " + moduleURL(t, e.Path)), true
		}
	}
	return "", false
}

// namesFolder reports whether a text names a path below dir, seen from the root or from a
// folder above it: of a longer path the last two names are enough. A single name may be any
// word, and needs its slash.
func namesFolder(text, dir string) bool {
	names := strings.Split(dir, "/")
	want := path.Join(names[max(0, len(names)-2):]...)
	if len(names) == 1 {
		want += "/"
	}
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, want)
		if !ok {
			return false
		}
		if !endsInName.MatchString(before) && (len(names) == 1 || !beginsName.MatchString(after)) {
			return true
		}
		rest = after
	}
}

var (
	endsInName = lazyregexp.New(`[\w.-]$`)
	beginsName = lazyregexp.New(`^[\w-]`)
)

// moduleURL is where a submodule comes from, as .gitmodules says it, in brackets.
func moduleURL(t *tree.Tree, dir string) string {
	data, err := t.Read(".gitmodules")
	if err != nil {
		return ""
	}
	at, url := "", ""
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "path":
			at = value
		case "url":
			url = value
		default:
			at, url = "", "" // another section
		}
		if at == dir && url != "" {
			return "(" + url + ")"
		}
	}
	return ""
}
