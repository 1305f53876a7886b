package docker

// Token is this process's part in the names of its containers.
func (s *Sandbox) Token() string { return s.token }
