package bwrap

import "testing"

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
