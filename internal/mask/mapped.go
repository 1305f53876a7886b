package mask

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// mapped is what settings say of imports in the files below one folder.
type mapped struct {
	whole map[string][]string // folders, by what an import has to be
	heads map[string][]string // by what it has to begin with, which ends with a slash
	loose []Anchor            // by other beginnings, the longest first
}

// mapImports takes up what settings say of the beginnings of imports, of each family once.
func (r *run) mapImports(paths []string) {
	done := map[string]bool{}
	for _, l := range r.Languages {
		m, ok := l.(Mapped)
		if !ok || done[family(l)] {
			continue
		}
		done[family(l)] = true
		all, closed := m.Anchors(paths, r.readSetting)
		for _, a := range all {
			r.project.mapImport(family(l), a)
		}
		for _, folder := range closed {
			r.project.closed[moduleKey{family(l), folder}] = true
		}
	}
	for _, m := range r.project.mapped {
		slices.SortStableFunc(m.loose, func(a, b Anchor) int { return len(b.Prefix) - len(a.Prefix) })
	}
}

// maxSetting bounds a file of settings.
const maxSetting = 1 << 20

// errLarge is of a file that nobody wrote for settings.
var errLarge = errors.New("too large for settings")

func (r *run) readSetting(p string) ([]byte, error) {
	name := filepath.FromSlash(p)
	if info, err := r.source.Stat(name); err != nil || info.Size() > maxSetting {
		return nil, cmp.Or(err, errLarge)
	}
	return r.source.ReadFile(name)
}

func (p *project) mapImport(family string, a Anchor) {
	key := moduleKey{family, a.Within}
	m, ok := p.mapped[key]
	if !ok {
		m = &mapped{whole: map[string][]string{}, heads: map[string][]string{}}
		p.mapped[key] = m
	}
	switch {
	case a.Whole:
		m.whole[a.Prefix] = append(m.whole[a.Prefix], a.Folder)
	case strings.HasSuffix(a.Prefix, "/"):
		m.heads[a.Prefix] = append(m.heads[a.Prefix], a.Folder)
	default:
		m.loose = append(m.loose, a)
	}
}

// mappedModule is what an import means by settings: those of the nearest folder go first.
func (p *project) mappedModule(u *unit, name string) (int, bool) {
	if len(p.mapped) == 0 {
		return 0, false
	}
	for dir := path.Dir(u.path); ; dir = path.Dir(dir) {
		if m, ok := p.mapped[moduleKey{u.family, dir}]; ok {
			for _, at := range m.places(name) {
				if found, ok := p.moduleAt(u.family, at); ok {
					return found, true
				}
			}
		}
		if dir == "." || dir == "/" {
			return 0, false
		}
	}
}

// places are where an import may lie: of two that fit, the longer beginning goes first.
func (m *mapped) places(name string) []string {
	out := slices.Clone(m.whole[name])
	for end := strings.LastIndexByte(name, '/'); end >= 0; end = strings.LastIndexByte(name[:end], '/') {
		for _, folder := range m.heads[name[:end+1]] {
			out = append(out, path.Join(folder, name[end+1:]))
		}
	}
	for _, a := range m.loose {
		if rest, ok := strings.CutPrefix(name, a.Prefix); ok {
			out = append(out, path.Join(a.Folder, rest))
		}
	}
	return out
}

// compiledTo are the endings under which a file is imported that has another in the source.
var compiledTo = []string{".js", ".mjs", ".cjs", ".jsx"}

// moduleAt is that of a path, be it with the ending that it is compiled to.
func (p *project) moduleAt(family, at string) (int, bool) {
	for _, by := range []map[moduleKey]int{p.byModule, p.byStem} {
		if m, ok := by[moduleKey{family, at}]; ok && len(p.modules[m].units) > 0 {
			return m, true
		}
	}
	if ext := path.Ext(at); slices.Contains(compiledTo, ext) {
		return p.moduleAt(family, strings.TrimSuffix(at, ext))
	}
	return 0, false
}
