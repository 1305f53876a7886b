package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/volume"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Names of cache volumes. Those of oldCaches were writable to strangers' code, and one
// for all cache folders of an engine: nothing reads them any more.
const (
	oldCaches = namePrefix + "cache-"
	newCaches = namePrefix + "filled-"
)

// cachePrefix begins the names of the volumes of one Dir: stores that share no folder
// share no cache. What another user filled could not be read.
func cachePrefix(dir string) string {
	return newCaches + schemas.DigestBytes(fmt.Appendf([]byte(dir), "\x00%d", sandbox.UID)).Short() + "-"
}

// mountCaches gives a fill the caches themselves. Other steps see what these hold under
// a layer that goes with the workplace.
func (w *workplace) mountCaches(ctx context.Context) ([]mount.Mount, error) {
	var out []mount.Mount
	for name, inside := range w.caches {
		if name == "" || name[0] == '.' || strings.ContainsAny(name, "/:,\\") {
			return nil, fmt.Errorf("cache name %q", name)
		}
		m := mount.Mount{Type: mount.TypeVolume, Target: inside}
		switch shared := cachePrefix(w.s.dir) + name; {
		case w.fills:
			m.Source = shared
		case !w.s.bare.Load():
			over, err := w.layOver(ctx, shared)
			if err != nil {
				return nil, fmt.Errorf("putting a layer over the cache %s: %w", name, err)
			}
			m.Source = over
		} // else a volume without a name, which goes with its container
		out = append(out, m)
	}
	return out, nil
}

// layOver makes a volume that shows another one and takes what is written.
func (w *workplace) layOver(ctx context.Context, shared string) (name string, err error) {
	lower, err := w.s.api.VolumeCreate(ctx, client.VolumeCreateOptions{Name: shared})
	if err != nil {
		return "", err
	}
	var dirs []string
	for range 2 { // of one engine, so on one file system, as an overlay asks for
		v, err := w.volume(ctx, client.VolumeCreateOptions{})
		if err != nil {
			return "", err
		}
		dirs = append(dirs, v.Mountpoint)
	}
	w.cached = append(w.cached, dirs[0])
	over, err := w.volume(ctx, client.VolumeCreateOptions{Driver: "local", DriverOpts: map[string]string{
		"type": "overlay", "device": "overlay", "o": "lowerdir=" + lower.Volume.Mountpoint + ",upperdir=" + dirs[0] + ",workdir=" + dirs[1],
	}})
	return over.Name, err
}

// volume makes a volume that goes with the workplace.
func (w *workplace) volume(ctx context.Context, o client.VolumeCreateOptions) (volume.Volume, error) {
	o.Name = w.s.containerName() // the token tells a sweep whose it was
	made, err := w.s.api.VolumeCreate(ctx, o)
	if err != nil {
		return volume.Volume{}, err
	}
	w.closed = append(w.closed, func() { w.s.removeVolume(o.Name) })
	return made.Volume, nil
}

// removeVolume also runs when the caller's context is over.
func (s *Sandbox) removeVolume(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = s.api.VolumeRemove(ctx, name, client.VolumeRemoveOptions{}) // one that is left is swept
}

// sweepVolumes removes what a killed process of a token left.
func (s *Sandbox) sweepVolumes(ctx context.Context, token string) {
	list, err := s.api.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("name", namePrefix+token)})
	if err != nil {
		return // the first build will say what is wrong
	}
	for _, v := range list.Items {
		if strings.HasPrefix(v.Name, namePrefix+token+"-") {
			s.removeVolume(v.Name)
		}
	}
}

// Volume is a volume of an engine that holds a cache.
type Volume struct{ Name, Mountpoint string }

// Caches lists the volumes of the caches of dir, and those that earlier versions made
// for all folders of an engine.
func Caches(ctx context.Context, api *client.Client, dir string) ([]Volume, error) {
	list, err := api.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("name", namePrefix)})
	if err != nil {
		return nil, fmt.Errorf("listing volumes: %w", err)
	}
	var out []Volume
	for _, v := range list.Items {
		if strings.HasPrefix(v.Name, oldCaches) || strings.HasPrefix(v.Name, cachePrefix(below(dir))) {
			out = append(out, Volume{v.Name, v.Mountpoint})
		}
	}
	return out, nil
}

// ownCaches gives the mount points, and what is missing above them, to the user.
func (w *workplace) ownCaches(ctx context.Context) error {
	if len(w.caches) == 0 {
		return nil
	}
	var dirs []string
	for _, inside := range w.caches {
		for dir := inside; !slices.Contains(sandbox.Kept(), dir) && dir != "/"; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, dir := range slices.Compact(dirs) {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755, Uid: sandbox.UID, Gid: sandbox.GID}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return w.s.copyIn(ctx, w.id, &b)
}
