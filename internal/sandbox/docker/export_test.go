package docker

import "context"

// Token is this process's part in the names of its containers.
func (s *Sandbox) Token() string { return s.token }

// Blind makes s as it would be on an engine of another machine, or for a user who may
// not read its files.
func (s *Sandbox) Blind() { s.local = false }

// System is the image below every base.
func (s *Sandbox) System(ctx context.Context) (string, error) {
	layer, err := s.system(ctx)
	return layer.ID, err
}
