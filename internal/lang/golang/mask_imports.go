package golang

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// spec is one import.
type spec struct {
	path   string
	name   string          // as it is written; "" for none
	at     mask.Range      // of the name, empty before the path for none
	local  string          // what the file calls it; "" where it cannot be told
	others map[string]bool // free names that are known to be others', of a dot import
}

// use is where a name is used: by code that always stays, and by bodies.
type use struct {
	kept  bool
	owner []int
}

func (r *maskReader) used(in map[string]*use, name string) {
	u := in[name]
	if u == nil {
		u = &use{}
		in[name] = u
	}
	switch {
	case r.owner < 0:
		u.kept = true
	case len(u.owner) == 0 || u.owner[len(u.owner)-1] != r.owner:
		u.owner = append(u.owner, r.owner)
	}
}

// stays reports whether code that is left uses the name.
func (u *use) stays(masked func(function int) bool) bool {
	return u != nil && (u.kept || slices.ContainsFunc(u.owner, func(i int) bool { return !masked(i) }))
}

func (r *maskReader) imports(n syntax.Node) {
	for s := range n.Within() {
		if !s.Is("import_spec") {
			continue
		}
		at := s.Child("path")
		p, err := strconv.Unquote(at.Text())
		if err != nil || s.Broken() {
			continue
		}
		i := spec{path: p, at: mask.Range{Start: at.Start(), End: at.Start()}}
		if name := s.Child("name"); name.Is() {
			i.name, i.at = name.Text(), mask.Range{Start: name.Start(), End: name.End()}
			i.local = i.name
		}
		r.specs = append(r.specs, i)
	}
}

// resolveImports finds what the file calls the packages that it names by path alone.
// Every import of code that compiles is used, so the names that stand before a dot and
// are declared nowhere are those of the imports: a guess counts when it is among them,
// and what is left on both sides belongs together.
func (r *maskReader) resolveImports() {
	taken := map[string]bool{"C": true}
	for _, s := range r.specs {
		taken[s.name] = true
	}
	for guess := range 6 {
		for i := range r.specs {
			s := &r.specs[i]
			names := guesses(s.path)
			if s.local != "" || guess >= len(names) || taken[names[guess]] || r.uses[names[guess]] == nil {
				continue
			}
			s.local = names[guess]
			taken[s.local] = true
		}
	}
	r.eliminate(taken)
	for _, s := range r.specs {
		i := mask.Import{Module: s.path, Local: s.local}
		switch {
		case s.name == ".":
			i.Name, i.Local = "*", ""
		case s.local == "":
			i.Local = guesses(s.path)[0]
		}
		r.file.Imports = append(r.file.Imports, i)
	}
}

// eliminate pairs the imports and the names that no guess has brought together: by
// likeness, then those that are the only ones left.
func (r *maskReader) eliminate(taken map[string]bool) {
	var names []string
	for name := range r.uses {
		if !taken[name] && !r.declared[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range r.specs {
		if r.specs[i].local != "" {
			continue
		}
		like := func(name string) bool { return strings.Contains(letters(r.specs[i].path), letters(name)) }
		if at := slices.IndexFunc(names, like); at >= 0 && !slices.ContainsFunc(names[at+1:], like) {
			r.specs[i].local = names[at]
			names = slices.Delete(names, at, at+1)
		}
	}
	var left []int
	for i, s := range r.specs {
		if s.local == "" {
			left = append(left, i)
		}
	}
	if len(left) == 1 && len(names) == 1 {
		r.specs[left[0]].local = names[0]
	}
}

func letters(s string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_./", c) {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// guesses are the names that a package with this path may have, the likeliest first:
// the path's last element without a version, and without the go that many projects put
// before or after their name.
func guesses(p string) []string {
	base, dir := path.Base(p), path.Dir(p)
	var out []string
	add := func(s string) {
		if s != "" && s != "." && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	version := base
	if versionName(base) && dir != "." {
		base = path.Base(dir)
	}
	if i := strings.LastIndex(base, ".v"); i > 0 && versionName(base[i+1:]) {
		base = base[:i] // gopkg.in/yaml.v3
	}
	add(base)
	bare := base
	for _, affix := range []string{"go-", "golang-", "go."} {
		bare = strings.TrimPrefix(bare, affix)
	}
	for _, affix := range []string{"-go", ".go", "-golang", ".golang"} {
		bare = strings.TrimSuffix(bare, affix)
	}
	add(bare)
	add(strings.NewReplacer("-", "", ".", "").Replace(bare))
	add(strings.NewReplacer("-", "_", ".", "_").Replace(bare))
	add(bare[strings.LastIndexAny(bare, "-.")+1:])
	add(version) // k8s.io/api/core/v1 is called v1
	return out
}

func versionName(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// repair turns imports that nothing left uses into blank ones: what a package does when
// it is loaded still happens, and the compiler does not mind. An import whose name
// cannot be told stays as it is while any name that may be its own is in use.
func (r *maskReader) repair(masked func(function int) bool) []mask.Edit {
	var edits []mask.Edit
	for _, s := range r.specs {
		if s.name == "_" || s.path == "C" || r.needed(s, masked) {
			continue
		}
		text := "_"
		if s.name == "" {
			text = "_ "
			if bytes.HasSuffix(r.source[:s.at.Start], []byte("import")) { // import"a"
				text = " _ "
			}
		}
		edits = append(edits, mask.Edit{Range: s.at, Text: text})
	}
	return edits
}

// stars notes which free names are no use of a dot import: those that are known to be of
// another, or of the package.
func (r *maskReader) stars(has func(module, name string) bool) {
	for i := range r.specs {
		s := &r.specs[i]
		if s.name != "." {
			continue
		}
		s.others = map[string]bool{}
		for name := range r.free {
			other := has("", name) || slices.ContainsFunc(r.specs, func(o spec) bool { return o.name == "." && o.path != s.path && has(o.path, name) })
			s.others[name] = other && !has(s.path, name)
		}
	}
}

func (r *maskReader) needed(s spec, masked func(function int) bool) bool {
	switch s.local {
	case ".":
		return anyStays(r.free, masked, s.others)
	case "":
		known := map[string]bool{}
		for _, other := range r.specs {
			known[other.local] = true
		}
		return anyStays(r.uses, masked, known)
	}
	u := r.uses[s.local]
	return u == nil || u.stays(masked) // one that was used nowhere did not compile before
}

// anyStays reports whether any of the names, but for some, is still in use, or whether
// there was none to begin with.
func anyStays(uses map[string]*use, masked func(function int) bool, but map[string]bool) bool {
	seen := false
	for name, u := range uses {
		if but[name] {
			continue
		}
		seen = true
		if u.stays(masked) {
			return true
		}
	}
	return !seen
}
