package testrun

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Led are the paths that the kernel comes by when it reads one of a tree in the sandbox: links, those of folders and absolute
// ones too, and last the file or folder. nil: it leads out of the tree, or nowhere.
func Led(t *tree.Tree, p string) []string {
	var led []string
	rest, at := strings.Split(p, "/"), ""
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return nil // out of the tree, and perhaps back into it
			}
			if at = path.Dir(at); at == "." {
				at = ""
			}
			continue
		}
		next := path.Join(at, name)
		e, ok := t.Entry(next)
		if !ok || e.Mode != tree.ModeSymlink {
			at = next
			continue
		}
		target := string(e.Data)
		if below, ok := strings.CutPrefix(path.Clean(target), sandbox.TreePath+"/"); ok && path.IsAbs(target) {
			at, target = "", below
		} else if path.IsAbs(target) {
			return nil
		}
		const most = 40 // as in Linux
		if led = append(led, next); len(led) > most {
			return nil
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return append(led, at)
}

// Behind are the files of a tree that judge its code because a link that does leads to them: a test, a hook, a manifest or a
// setting of the tests' runner. Code behind a link of the test part is what is tested.
func Behind(rules parts.Rules, l lang.Language, base, t *tree.Tree) map[string]bool {
	out := map[string]bool{}
	guarded, ok := l.(lang.Guarded)
	for _, link := range t.Entries() {
		if link.Mode != tree.ModeSymlink {
			continue
		}
		led := Led(t, link.Path)
		if led == nil {
			continue
		}
		end := led[len(led)-1]
		read, _ := t.Entry(end)
		told := parts.IsManifest(link.Path) || ok && (guarded.Hook(link.Path, base) || guarded.RunnerSettings(link.Path, read.Data) != "")
		if part, _ := rules.PartBy(link.Path, base, t); !told && part != schemas.PartTest {
			continue
		}
		for _, p := range t.Paths() {
			if !slices.Contains(led, p) && !strings.HasPrefix(p, end+"/") {
				continue
			}
			if part, _ := rules.PartBy(p, base, t); told || part != schemas.PartCode || !l.Source(p) {
				out[p] = true
			}
		}
	}
	return out
}
