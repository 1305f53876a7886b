package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/distribution/reference"
	"github.com/moby/moby/client"
	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/formats"
	"github.com/benchmint/benchmint/schemas"
)

func newImagesPush(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "push DATASET REGISTRY/NAMESPACE [ID…]", Short: "push the images of images build to a registry, and print their digests",
		Long: "Pushes the image of each task, which images build has made, and prints the name by which every machine\npulls exactly it: REGISTRY/NAMESPACE/NAME@sha256:…. Layers that the registry has are not sent again.\nThe credentials are those of docker login, in the folder DOCKER_CONFIG or ~/.docker.",
		Example: "  benchmint images push benchmint-out registry.example.org/acme\n" +
			"  benchmint images push benchmint-out localhost:5000/acme demo__slug-5",
		Args: argsOf(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			to := strings.TrimSuffix(args[1], "/")
			// What names no host would go to Docker's own registry.
			if named, err := reference.ParseNamed(to); err != nil || !reference.IsNameOnly(named) {
				return unmet("%s is not REGISTRY/NAMESPACE, as registry.example.org/acme", args[1])
			}
			d, rows, err := readRows(args[0], args[2:])
			if err != nil {
				return err
			}
			p.sayFormat(args[0], d.Manifest)
			api, err := p.engine(cmd.Context())
			if err != nil {
				return unmet("no Docker engine answers: %w", err)
			}
			defer func() { err = errors.Join(err, api.Close()) }()
			return p.push(cmd.Context(), api, rows, to)
		},
	}
}

// pushed is the image of a task in a registry.
type pushed struct {
	ID     string         `json:"instance_id"`
	Name   string         `json:"image"` // REGISTRY/NAMESPACE/NAME:TAG
	Digest schemas.Digest `json:"digest"`
	Pull   string         `json:"pull"` // by digest
}

// pushResult is the end of images push for scripts.
type pushResult struct {
	Images []pushed      `json:"images"`
	Failed []failedImage `json:"failed"`
}

// push pushes all of them; what cannot be pushed is said, and the others go on.
func (p *program) push(ctx context.Context, api *client.Client, rows []output.Row, to string) error {
	config := p.lookup("DOCKER_CONFIG")
	if config == "" {
		config = filepath.Join(p.lookup("HOME"), ".docker")
	}
	r := pushResult{Images: []pushed{}, Failed: []failedImage{}}
	type local struct{ id, name string }
	var all []local
	for _, row := range rows {
		all = append(all, local{row.InstanceID, formats.Image(row)})
		if judge := formats.JudgeImage(row); judge != formats.Image(row) {
			all = append(all, local{row.InstanceID, judge})
		}
	}
	for n, i := range all {
		p.say("%d of %d: %s", n+1, len(all), visible(i.id))
		own := i.name
		name := to + "/" + strings.TrimPrefix(own, "benchmint/")
		digest, err := docker.Push(ctx, api, own, name, config)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, docker.ErrNoImage) {
			err = fmt.Errorf("the engine has no %s: benchmint images build makes it", own)
		}
		if err != nil {
			p.say("%s: not pushed: %s", visible(i.id), visible(tail(err.Error(), 1)))
			r.Failed = append(r.Failed, failedImage{ID: i.id, Detail: err.Error()})
			continue
		}
		repository, _, _ := strings.Cut(strings.TrimPrefix(name, to), ":")
		r.Images = append(r.Images, pushed{i.id, name, digest, to + repository + "@" + string(digest)})
	}
	if err := r.print(p.terminal, len(all)); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return &ended{code: exitFailed}
	}
	return nil
}

func (r pushResult) print(to *terminal, wanted int) error {
	if to.json {
		return to.writeJSON(r)
	}
	t := to.out()
	for _, i := range r.Images {
		t.line("%s  %s", i.ID, i.Pull)
	}
	t.line("%d of %d images", len(r.Images), wanted)
	return t.err
}
