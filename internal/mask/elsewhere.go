package mask

import "strings"

// ofAnything is the holder of what is put on another file's module itself.
const ofAnything = -1

// putElsewhere notes a function that a file puts on what it has from another (lib.part.f =
// …): there it is found by its name and that of the part.
func (c *closure) putElsewhere(u *unit, f *function, at int) {
	parts := strings.Split(f.Name, ".")
	if len(parts) < 2 || f.Parent >= 0 {
		return
	}
	holder, ok := c.partOfImport(u, c.words.id(parts[0]))
	if !ok {
		return
	}
	if len(parts) > 2 {
		holder = c.words.id(parts[len(parts)-2])
	}
	key := place{holder, f.last}
	if why, ok := c.sought[key]; ok {
		c.reach(at, why)
		return
	}
	c.placed[key] = append(c.placed[key], at)
}

// partOfImport is the part that a name stands for of what a file has from another;
// ofAnything for the whole of it.
func (c *closure) partOfImport(u *unit, name int) (int, bool) {
	for _, t := range c.own(u.index, name) {
		if t.kind == viaImport {
			return ofAnything, true
		}
		if t.kind != viaBinding || u.bindings[t.id].path < 0 {
			continue
		}
		path := c.words.split(u.bindings[t.id].path)
		for _, head := range c.own(u.index, path[0]) {
			if head.kind == viaImport && len(path) > 1 {
				return path[len(path)-1], true
			}
		}
	}
	return 0, false
}

// askElsewhere is a member called on what is not known to have it: another file may have put
// it there.
func (c *closure) askElsewhere(parts []int, why cause) {
	last := len(parts) - 1
	for _, key := range []place{{parts[last-1], parts[last]}, {ofAnything, parts[last]}} {
		if _, ok := c.sought[key]; ok {
			continue
		}
		c.sought[key] = why
		for _, f := range c.placed[key] {
			c.reach(f, why)
		}
	}
}
