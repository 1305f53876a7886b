package docker

import (
	"context"
	"testing"

	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/schemas"
)

// Unbounded is unbounded.
var Unbounded = unbounded

// Token is this process's part in the names of its containers.
func (s *Sandbox) Token() string { return s.token }

// Blind makes s as it would be on an engine of another machine, or for a user who may
// not read its files.
func (s *Sandbox) Blind() { s.local = false }

// Watch has the room of another folder's file system watched.
func (s *Sandbox) Watch(dir string) { s.data = dir }

// System is the image below every base.
func (s *Sandbox) System(ctx context.Context) (string, error) {
	layer, err := s.system(ctx)
	return layer.ID, err
}

// Found reports whether a layer is kept, or its image is there without being found.
func (s *Sandbox) Found(t *testing.T, key schemas.Digest) (image string, ok bool) {
	t.Helper()
	r, ok, err := s.find(t.Context(), layerID(key))
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		return r.Image, true
	}
	left, err := s.api.ImageInspect(t.Context(), s.layerName(layerID(key)))
	return left.ID, err == nil
}

// Unnamed counts the images of the engine that have no name: what builds leave behind.
func (s *Sandbox) Unnamed(t *testing.T) int {
	t.Helper()
	list, err := s.api.ImageList(t.Context(), client.ImageListOptions{All: true, Filters: client.Filters{}.Add("dangling", "true")})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// Bare makes s as it would be where the engine cannot mount an overlay as a volume.
func (s *Sandbox) Bare() { s.bare.Store(true) }
