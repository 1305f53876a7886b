package environment

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/deploy"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Deploys refuses where images of services cannot be built: in a sandbox that has none.
func (b *Builder) Deploys() error {
	if _, ok := b.Sandbox.(sandbox.Deployer); ok {
		return nil
	}
	return &sandbox.Refused{Rule: "images of services", Why: "the Dockerfile of an answer is built in Docker", Get: "--sandbox docker"}
}

// Variant is the environment variant of a locked recipe of a service, and what it asks a
// solver for. The files of its solution are encoded by package deploy.
func (b *Builder) Variant(r schemas.Recipe) (d schemas.Deploy, files []byte, err error) {
	setup, err := b.Setup(r)
	if err != nil {
		return d, nil, fmt.Errorf("planning the environment of a service: %w", err)
	}
	files, err = deploy.Encode(deploy.Solution(r, setup))
	return schemas.Deploy{Image: deploy.Image(r), Port: r.Service.Port}, files, err
}

// Deploy is the image of a tree's service, leased, from its own Dockerfile, on the base of the
// recipe. A Dockerfile that does not build is a *sandbox.BuildError; the rest as of Env.
func (b *Builder) Deploy(ctx context.Context, base sandbox.Layer, r schemas.Recipe, files []sandbox.File) (sandbox.Layer, error) {
	box, ok := b.Sandbox.(sandbox.Deployer)
	if !ok {
		return sandbox.Layer{}, b.Deploys()
	}
	key := schemas.DigestOf(struct {
		Base  schemas.Digest
		Image string
		Files []sandbox.File
	}{base.Key, r.Service.Image, files})
	layer, _, err := box.Deploy(ctx, sandbox.Deployment{Key: key, Base: base, Files: files, Limits: b.Limits, Names: r.Service.Names, Dockerfile: func(id string) ([]byte, error) {
		return deploy.Pin(dockerfile(files), r.Service.Image, id)
	}})
	return layer, judged(err, r, true)
}

// dockerfile is the Dockerfile of a tree; nil where it has none, which names no image.
func dockerfile(files []sandbox.File) []byte {
	for _, f := range files {
		if f.Path == sandbox.TreePath+"/"+deploy.Dockerfile && f.Mode.IsRegular() {
			return f.Data
		}
	}
	return nil
}
