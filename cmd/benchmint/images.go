package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox/docker"
)

// images lists the layers and caches that an engine keeps for this cache; none where no engine
// answers. Those of another cache may be in use.
func (e *world) images(ctx context.Context) ([]leftover, error) {
	api, err := e.engine(ctx)
	if err != nil {
		return nil, nil // no engine, no images
	}
	defer func() { _ = api.Close() }()
	layers, err := docker.Layers(ctx, api, e.layers())
	if err != nil {
		return nil, err
	}
	var out []leftover
	for _, l := range layers {
		out = append(out, leftover{What: whatImage, Path: l.Name, Bytes: l.Bytes})
	}
	volumes, err := docker.Caches(ctx, api, e.layers())
	if err != nil {
		return nil, err
	}
	for _, v := range volumes {
		// The files of an engine of another machine are out of sight, and count nothing.
		out = append(out, leftover{What: whatVolume, Path: v.Name, Bytes: diskUsage(v.Mountpoint)})
	}
	return out, nil
}

// removeVolume frees a cache of an engine.
func (e *world) removeVolume(ctx context.Context, name string) (err error) {
	api, err := e.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	_, err = api.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing volume %s: %w", name, err)
	}
	return nil
}

// removeImage takes the name from an image; the engine frees it with its last child.
func (e *world) removeImage(ctx context.Context, tag string) (err error) {
	api, err := e.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	_, err = api.ImageRemove(ctx, tag, client.ImageRemoveOptions{Force: true, PruneChildren: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing image %s: %w", tag, err)
	}
	return nil
}
