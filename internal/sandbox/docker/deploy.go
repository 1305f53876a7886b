package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ sandbox.Deployer = (*Sandbox)(nil)

// deployedCaps are what the first process of a service's own image has: entry points start as
// root, make folders for other users, and become them.
var deployedCaps = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}

// builtFrom is the name of the file in the context that is built: an answer may have one of any
// other name.
const builtFrom = ".benchmint.Dockerfile"

// Deploy builds an image. Its commands share the network of a workplace, which leads to the package
// indexes alone; where these are, and the machine's CA, is in the image that it begins with.
func (s *Sandbox) Deploy(ctx context.Context, d sandbox.Deployment) (layer sandbox.Layer, res sandbox.Result, err error) {
	defer s.answers(ctx, &err)
	began := time.Now()
	defer func() { res.Overhead = time.Since(began) - res.Wall }()
	if err := sandbox.CheckFiles(d.Files, []string{sandbox.TreePath}, nil); err != nil {
		return layer, res, err
	}
	base, err := s.deployBase(ctx, d.Base)
	if err != nil {
		return layer, res, err
	}
	res.End = sandbox.Exited
	layer, err = s.made(ctx, d.Key, true, func(id string) (r record, err error) {
		text, err := d.Dockerfile(base.Image)
		if err != nil {
			res.ExitCode, res.Output = 1, []byte(err.Error()+"\n")
			return r, &sandbox.BuildError{Step: deployStep, Result: res}
		}
		r, res, err = s.deploy(ctx, base, id, text, d)
		return r, err
	})
	return layer, res, err
}

// deployStep stands for the whole build in errors.
var deployStep = schemas.Command{Argv: []string{"docker", "build", "."}}

// deployBase is a base that knows where packages come from, and the CA of this machine.
func (s *Sandbox) deployBase(ctx context.Context, from sandbox.Layer) (record, error) {
	parent, err := s.recordOf(ctx, from)
	if err != nil {
		return parent, err
	}
	env := maps.Clone(s.options.Env)
	if env == nil {
		env = map[string]string{}
	}
	if s.ca != nil {
		maps.Copy(env, sandbox.CAEnv())
	}
	key := schemas.DigestOf([]any{"deploy", from.Key, env, schemas.DigestBytes(s.ca)})
	layer, err := s.made(ctx, key, false, func(id string) (r record, err error) {
		c, err := s.create(ctx, &container.Config{Image: parent.Image, User: root, WorkingDir: "/", Entrypoint: []string{}, Cmd: []string{"/bin/sh"}, Env: environ(env)}, s.hostConfig(sandbox.Limits{}.Filled()))
		if err != nil {
			return r, err
		}
		defer s.removeContainer(c)
		if s.ca != nil {
			archive, err := rootFiles(map[string][]byte{sandbox.CAPath: s.ca})
			if err != nil {
				return r, err
			}
			if err := s.copyIn(ctx, c, archive); err != nil {
				return r, err
			}
		}
		r.Base = parent.Base
		r.Image, _, err = s.commit(ctx, c, id)
		return r, err
	})
	return record{Key: key, Image: layer.ID, Base: parent.Base}, err
}

// deploy builds text in the context of the files.
func (s *Sandbox) deploy(ctx context.Context, base record, id string, text []byte, d sandbox.Deployment) (r record, res sandbox.Result, err error) {
	limits := d.Limits.Filled()
	free, err := s.space()
	if err != nil {
		return r, res, err
	}
	w, err := s.newWorkplace(ctx, base.Image, workplace{registries: true, packages: true, limits: limits, names: d.Names})
	if err != nil {
		return r, res, err
	}
	defer w.close()
	began := time.Now()
	size, err := s.api.ImageInspect(ctx, base.Image)
	if err != nil {
		return r, res, fmt.Errorf("looking at an image: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() { defer close(watched); free.Watch(done, cancel) }()
	said := sandbox.NewCapped(limits.Output, cancel)
	b := &imageBuild{s: s, files: d.Files, place: w, space: free, said: said, base: size.Size}
	image, failed := b.all(timed, text)
	if failed == nil {
		_, failed = s.api.ImageTag(ctx, client.ImageTagOptions{Source: image, Target: s.layerName(id)})
	}
	close(done)
	<-watched
	s.removeSteps(b.made, image, base.Image)
	res = sandbox.Result{End: sandbox.Exited, Output: said.Bytes(), Wall: time.Since(began)}
	if err := free.Short(res.Output); err != nil {
		return r, res, err
	}
	switch {
	case ctx.Err() != nil:
		return r, res, ctx.Err()
	case said.Full():
		res.End = sandbox.Output
	case timed.Err() != nil:
		res.End = sandbox.TimedOut
	case b.end != "":
		res.End = b.end
	case failed == nil:
		r.Image, r.Base = image, base.Base
		return r, res, nil
	case !errors.As(failed, new(*jsonstream.Error)):
		return r, res, fmt.Errorf("building an image: %w", failed)
	default:
		res.ExitCode = 1
	}
	broken := &sandbox.BuildError{Step: deployStep, Result: res}
	broken.Denied, broken.Unreached = w.proxy.Denied(), w.proxy.Unreached()
	return r, res, broken
}

// engineBuild sees a build to its end, and names the images of its steps. A *jsonstream.Error is
// one of the Dockerfile or its commands; any other is the engine's.
func (s *Sandbox) engineBuild(ctx context.Context, archive io.Reader, o client.ImageBuildOptions, said io.Writer) (image string, steps []string, err error) {
	built, err := s.api.ImageBuild(ctx, archive, o)
	if err != nil {
		if ctx.Err() == nil && errdefs.IsInvalidArgument(err) { // the engine reads the whole file before it begins
			_, _ = fmt.Fprintln(said, err)
			return "", nil, &jsonstream.Error{Message: err.Error()}
		}
		return "", nil, err
	}
	defer built.Body.Close()
	messages := json.NewDecoder(built.Body)
	for {
		var m jsonstream.Message
		if err := messages.Decode(&m); err != nil {
			if errors.Is(err, io.EOF) && image != "" {
				return image, steps, nil
			}
			return "", steps, fmt.Errorf("reading what the engine says: %w", err)
		}
		if m.Error != nil {
			_, _ = fmt.Fprintln(said, m.Error.Message)
			return "", steps, m.Error
		}
		_, _ = io.WriteString(said, m.Stream)
		if id, ok := strings.CutPrefix(m.Stream, " ---> "); ok && stepImage.MatchString(id) {
			steps = append(steps, strings.TrimSpace(id))
		}
		if m.Aux != nil {
			var aux build.Result
			if json.Unmarshal(*m.Aux, &aux) == nil && aux.ID != "" {
				image = aux.ID
			}
		}
	}
}

// stepImage is how the engine's builder names the image of a step.
var stepImage = lazyregexp.New(`^[0-9a-f]{12}\n$`)

// removeSteps deletes what a build leaves beside its image: the steps of one that failed, and of
// other stages. The engine refuses to delete those that the image is made from; they go with it.
func (s *Sandbox) removeSteps(steps []string, image, base string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, id := range slices.Backward(steps) {
		i, err := s.api.ImageInspect(ctx, id)
		if err == nil && len(i.RepoTags) == 0 && i.ID != image && i.ID != base {
			_, _ = s.api.ImageRemove(ctx, i.ID, client.ImageRemoveOptions{PruneChildren: true})
		}
	}
}

// buildContext is the tree as the context of a build, with the file that is built.
func buildContext(files []sandbox.File, text []byte) (io.Reader, error) {
	inside := make([]sandbox.File, 0, len(files))
	for _, f := range files {
		f.Path = strings.TrimPrefix(strings.TrimPrefix(f.Path, sandbox.TreePath), "/")
		if f.Path != "" && f.Path != ".dockerignore" && f.Path != builtFrom+".dockerignore" {
			inside = append(inside, f)
		}
	}
	inside = append(inside, sandbox.File{Path: builtFrom, Mode: 0o644, Data: text})
	packed, err := packFiles(inside)
	if err != nil {
		return nil, fmt.Errorf("packing the context of a build: %w", err)
	}
	return packed, nil
}
