package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// repository is the name of our images; the tag is the layer's ID.
const repository = "benchmint/layer"

// record is what we know of a layer beside its image.
type record struct {
	Key   schemas.Digest `json:"key"`
	Image string         `json:"image"`
	// Base is how many of the image's file system layers are its base's.
	Base int `json:"base"`
}

func (s *Sandbox) locks() string           { return filepath.Join(s.dir, "locks") }
func (s *Sandbox) record(id string) string { return filepath.Join(s.dir, "layers", id+".json") }

// layerName is an image's name: of this Dir only, because removing the image of
// another one would take a layer away under its runs.
func (s *Sandbox) layerName(id string) string {
	return repository + ":" + id + layerSuffix(s.dir)
}

// layerSuffix ends the names of the images of one Dir.
func layerSuffix(dir string) string { return "-" + schemas.DigestBytes([]byte(dir)).Short() }

// LayerImage is an image of an engine that holds a layer. Bytes is what it has above the image that
// it was made from.
type LayerImage struct {
	Name  string
	Bytes int64
}

// Layers lists the images of the layers of dir.
func Layers(ctx context.Context, api *client.Client, dir string) ([]LayerImage, error) {
	list, err := api.ImageList(ctx, client.ImageListOptions{Filters: client.Filters{}.Add("reference", repository)})
	if err != nil {
		return nil, fmt.Errorf("listing images: %w", err)
	}
	sizes := map[string]int64{}
	for _, i := range list.Items {
		sizes[i.ID] = i.Size
	}
	var out []LayerImage
	for _, i := range list.Items {
		for _, name := range i.RepoTags {
			if strings.HasPrefix(name, repository+":") && strings.HasSuffix(name, layerSuffix(below(dir))) {
				out = append(out, LayerImage{name, i.Size - sizes[i.ParentID]})
			}
		}
	}
	return out, nil
}

// layerID names a layer. The user is in it: what another one owns is of no use.
func layerID(key schemas.Digest) string {
	return strings.TrimPrefix(string(schemas.DigestOf([]any{key, sandbox.UID})), "sha256:")[:24]
}

func randomName() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails: crypto/rand
	return hex.EncodeToString(b)
}

// find gives the record of a kept layer whose image is still there.
func (s *Sandbox) find(ctx context.Context, id string) (record, bool, error) {
	var r record
	b, err := os.ReadFile(s.record(id))
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, false, fmt.Errorf("record of layer %s: %w", id, err)
	}
	_, err = s.api.ImageInspect(ctx, r.Image)
	if errdefs.IsNotFound(err) {
		return r, false, nil // the engine was cleaned
	}
	return r, err == nil, err
}

// keep writes the record: from then on the layer is found.
func (s *Sandbox) keep(id string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := s.record(id)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// made finds a layer by its key, or makes it while all others who want it wait.
// With a lease it is there until the last of those who leased it removes it.
func (s *Sandbox) made(ctx context.Context, key schemas.Digest, leased bool, how func(id string) (record, error)) (layer sandbox.Layer, err error) {
	id := layerID(key)
	layer = sandbox.Layer{Key: key}
	unlock, err := sandbox.Lock(ctx, s.locks(), id)
	if err != nil {
		return layer, err
	}
	defer unlock()
	if leased {
		// Before there is a layer: a kill on the way leaves none that nobody finds.
		if err := s.leases.Take(id); err != nil {
			return layer, err
		}
		defer func() {
			if err == nil {
				return
			}
			if fault := s.leases.Give(id, func() error { return s.free(context.WithoutCancel(ctx), id) }); fault != nil {
				err = errors.Join(err, fault)
			}
		}()
	}
	r, ok, err := s.find(ctx, id)
	if err == nil && !ok {
		// An image without a record is of a process that was killed before it could write one.
		_, _ = s.api.ImageRemove(ctx, s.layerName(id), client.ImageRemoveOptions{PruneChildren: true})
		if r, err = how(id); err == nil {
			r.Key = key
			err = s.keep(id, r)
		}
	}
	layer.ID = r.Image
	return layer, err
}

// recordOf finds the record of any layer of ours.
func (s *Sandbox) recordOf(ctx context.Context, l sandbox.Layer) (record, error) {
	r, ok, err := s.find(ctx, layerID(l.Key))
	if err != nil {
		return r, err
	}
	if !ok {
		return r, fmt.Errorf("layer %s is not there", l.Key)
	}
	return r, nil
}

// commit makes an image of a container that is ended, and names it.
func (s *Sandbox) commit(ctx context.Context, container, id string) (image string, layers int, err error) {
	res, err := s.api.ContainerCommit(ctx, container, client.ContainerCommitOptions{Reference: s.layerName(id)})
	if err != nil {
		return "", 0, fmt.Errorf("keeping the layer: %w", err)
	}
	inspected, err := s.api.ImageInspect(ctx, res.ID)
	if err != nil {
		return "", 0, fmt.Errorf("keeping the layer: %w", err)
	}
	return res.ID, len(inspected.RootFS.Layers), nil
}
