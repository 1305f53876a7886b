package bwrap

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Narrow puts the groups of runs below one that has less memory than they may use;
// false where this machine has no such groups.
func (s *Sandbox) Narrow(t *testing.T, memory int64) bool {
	c, ok := s.groups["memory"]
	if !ok || c.v2 {
		return false // in v2 a group that is to have limited children is delegated first
	}
	dir := filepath.Join(c.parent, "benchmint-narrow-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	// Some hierarchies count a child's use in its parents only when they are told to.
	_ = os.WriteFile(filepath.Join(dir, "memory.use_hierarchy"), []byte("1"), 0)
	if err := os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), []byte(strconv.FormatInt(memory, 10)), 0); err != nil {
		t.Fatal(err)
	}
	s.groups["memory"] = control{parent: dir}
	return true
}

// Weaken makes s as it would be where no overlay can be mounted and no control group
// can be made.
func (s *Sandbox) Weaken() {
	s.overlay = false
	s.groups = controllers{}
}

// UsedSpace makes scratch space that is in use until release.
func (s *Sandbox) UsedSpace(t *testing.T) (dir string, release func()) {
	sp, err := s.newSpace()
	if err != nil {
		t.Fatal(err)
	}
	return sp.dir, sp.close
}

// Replace runs program in the place of bwrap.
func (s *Sandbox) Replace(program string) { s.program = program }
