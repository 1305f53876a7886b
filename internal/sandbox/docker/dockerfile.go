package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// imageBuild is a Dockerfile on its way to an image. The engine's own builder can bound neither the
// processes nor the system calls nor the disk of RUN. So it gets what lies between two of them, and
// each RUN is a container of ours, from which the next image is made.
type imageBuild struct {
	s      *Sandbox
	files  []sandbox.File
	place  *workplace // whose network the commands share
	space  *watch.Space
	said   *sandbox.Capped
	base   int64       // bytes of the image that it begins with
	end    sandbox.End // of a command that passed a limit
	before []string    // instructions before the first FROM
	stages []*stage
	made   []string // images, in order
}

// stage is one that begins with FROM.
type stage struct {
	name, image      string
	args, instructed []string // ARGs that are in image, and instructions that are not
	// volumes are given to the last image alone: what a command writes to one is in no image.
	volumes []string
}

// all builds the last stage. A *jsonstream.Error is one of the Dockerfile or its commands.
func (b *imageBuild) all(ctx context.Context, text []byte) (image string, err error) {
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return "", b.broken("%v", err)
	}
	for _, n := range parsed.AST.Children {
		if err := b.instruction(ctx, n); err != nil {
			return "", err
		}
	}
	if len(b.stages) == 0 {
		return "", b.broken("the Dockerfile has no FROM")
	}
	last := b.stages[len(b.stages)-1]
	last.instructed = append(last.instructed, last.volumes...)
	if err := b.flush(ctx); err != nil {
		return "", err
	}
	_, _, err = b.left(ctx, last.image)
	return last.image, err
}

// broken is an error of the Dockerfile, which is in the output.
func (b *imageBuild) broken(format string, args ...any) error {
	failed := &jsonstream.Error{Message: fmt.Sprintf(format, args...)}
	_, _ = fmt.Fprintln(b.said, failed.Message)
	return failed
}

func (b *imageBuild) instruction(ctx context.Context, n *parser.Node) error {
	name, line := strings.ToUpper(n.Value), strings.TrimSpace(n.Original)
	if name == "FROM" {
		if err := b.flush(ctx); err != nil {
			return err
		}
		return b.from(words(n))
	}
	if len(b.stages) == 0 {
		b.before = append(b.before, line)
		return nil
	}
	last := b.stages[len(b.stages)-1]
	switch {
	case name == "VOLUME":
		last.volumes = append(last.volumes, line)
	case name == "RUN" && n.Next != nil && len(n.Flags) == 0: // the engine says what is wrong with others
		if err := b.flush(ctx); err != nil {
			return err
		}
		return b.run(ctx, last, n)
	case name == "ADD", name == "COPY":
		_, left, err := b.left(ctx, last.image)
		if err != nil {
			return err
		}
		if name == "ADD" {
			if why := unbounded(b.files, words(n), left); why != "" {
				return b.broken("ADD %s", why)
			}
		}
		last.instructed = append(last.instructed, line)
		return b.flush(ctx) // each adds at most what the context, a stage or the archives hold
	default:
		last.instructed = append(last.instructed, line)
	}
	return nil
}

// from begins a stage.
func (b *imageBuild) from(words []string) error {
	if len(words) == 0 {
		return b.broken("FROM names no image")
	}
	next := &stage{image: words[0]}
	if len(words) == 3 {
		next.name = words[2]
	}
	for _, x := range b.stages {
		if strings.EqualFold(x.name, words[0]) {
			next.image, next.volumes = x.image, slices.Clone(x.volumes)
		}
	}
	b.stages = append(b.stages, next)
	return nil
}

// flush has the engine do what was instructed since the last image. The stages before are there
// under their names and numbers, for COPY.
func (b *imageBuild) flush(ctx context.Context) error {
	if len(b.stages) == 0 {
		return nil
	}
	last := b.stages[len(b.stages)-1]
	if len(last.instructed) == 0 {
		return nil
	}
	lines := slices.Clone(b.before)
	for _, x := range b.stages {
		from := "FROM " + x.image
		if x.name != "" {
			from += " AS " + x.name
		}
		lines = append(lines, from)
	}
	lines = slices.Concat(lines, last.args, last.instructed)
	archive, err := buildContext(b.files, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	image, steps, err := b.s.engineBuild(ctx, archive, client.ImageBuildOptions{
		Version: build.BuilderV1, Dockerfile: builtFrom, NetworkMode: "none", NoCache: true, Remove: true, ForceRemove: true,
	}, b.said)
	b.made = append(b.made, steps...)
	if err != nil {
		return err
	}
	for _, line := range last.instructed {
		if word, _, _ := strings.Cut(line, " "); strings.EqualFold(word, "ARG") {
			last.args = append(last.args, line)
		}
	}
	last.image, last.instructed = image, nil
	return nil
}

// left is what an image may still grow by.
func (b *imageBuild) left(ctx context.Context, image string) (client.ImageInspectResult, int64, error) {
	if image == "scratch" {
		return client.ImageInspectResult{}, b.place.limits.Disk, nil
	}
	i, err := b.s.api.ImageInspect(ctx, image)
	if err != nil {
		return i, 0, fmt.Errorf("looking at an image: %w", err)
	}
	left := b.place.limits.Disk - (i.Size - b.base)
	if left <= 0 {
		b.end = sandbox.Disk
		return i, 0, b.broken("the image is larger than %d MiB", b.place.limits.Disk>>20)
	}
	return i, left, nil
}

// run runs the command of a RUN, as root or whom the image names.
func (b *imageBuild) run(ctx context.Context, at *stage, n *parser.Node) error {
	if at.image == "scratch" {
		return b.broken("RUN: nothing is in the image")
	}
	inspected, left, err := b.left(ctx, at.image)
	if err != nil {
		return err
	}
	config, err := b.config(inspected)
	if err != nil {
		return err
	}
	argv := words(n)
	if !n.Attributes["json"] {
		sh := config.Shell
		if len(sh) == 0 {
			sh = []string{"/bin/sh", "-c"}
		}
		argv = slices.Concat(sh, argv)
	}
	_, _ = fmt.Fprintf(b.said, "%s\n", strings.TrimSpace(n.Original))
	limits := b.place.limits
	limits.Disk = left
	host := b.s.hostConfig(limits)
	host.NetworkMode, host.DNS, host.Sysctls = container.NetworkMode("container:"+b.place.id), nil, nil
	host.CapAdd = deployedCaps
	c := &running{s: b.s, limits: limits, space: b.space, deployed: true}
	// Variables are the command's and not the container's, whose own an image keeps.
	c.id, err = b.s.create(ctx, &container.Config{
		Image: at.image, Entrypoint: slices.Concat([]string{"/usr/bin/env"}, b.variables(at, config.Env), argv), AttachStdout: true, AttachStderr: true,
	}, host)
	if err == nil {
		defer b.s.removeContainer(c.id)
		err = c.start(ctx)
	}
	if err != nil {
		// Where the engine starts another program now, it is the image that it cannot start: its user is not there, say.
		if _, fault := b.place.root(ctx, "looking at the engine", []string{"/bin/true"}); fault != nil {
			return err
		}
		return b.broken("%v", err)
	}
	res, err := c.wait(ctx)
	_, _ = b.said.Write(res.Output)
	switch {
	case err != nil:
		return err
	case res.End != sandbox.Exited:
		b.end = res.End
		return b.broken("The command '%s' passed a limit: %s", strings.Join(argv, " "), res.End)
	case res.ExitCode != 0:
		return b.broken("The command '%s' returned a non-zero code: %d", strings.Join(argv, " "), res.ExitCode)
	}
	kept, err := b.s.api.ContainerCommit(ctx, c.id, client.ContainerCommitOptions{Config: config})
	if err != nil {
		return fmt.Errorf("keeping an image: %w", err)
	}
	at.image, b.made = kept.ID, append(b.made, kept.ID)
	return nil
}

// config is how an image starts, as a commit takes it: what it leaves out would be the command's.
func (b *imageBuild) config(i client.ImageInspectResult) (*container.Config, error) {
	var config container.Config
	raw, err := json.Marshal(i.Config)
	if err == nil {
		err = json.Unmarshal(raw, &config)
	}
	if err != nil {
		return nil, fmt.Errorf("looking at an image: %w", err)
	}
	if config.Entrypoint == nil {
		config.Entrypoint = []string{}
	}
	return &config, nil
}

// variables are those of a command beside env, its image's, which come first: the way out, and the
// ARGs of the stage.
func (b *imageBuild) variables(at *stage, env []string) []string {
	given := map[string]string{}
	for _, line := range b.before {
		define(given, line, nil, env)
	}
	inherited, args := given, sandbox.ProxyEnv("http://"+proxyAddress)
	for _, line := range at.args {
		define(args, line, inherited, env)
	}
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		delete(args, name)
	}
	return environ(args)
}

// define adds what an ARG defines to args; one without a value has that of inherited.
func define(args map[string]string, line string, inherited map[string]string, env []string) {
	parsed, err := parser.Parse(strings.NewReader(line))
	if err != nil {
		return // the engine has said so
	}
	for _, word := range words(parsed.AST.Children[0]) {
		name, value, valued := strings.Cut(word, "=")
		if !valued {
			if value, valued = inherited[name]; valued {
				args[name] = value
			}
			continue
		}
		known := shell.EnvsFromSlice(slices.Concat(environ(args), env))
		if value, _, err = shell.NewLex(parser.DefaultEscapeToken).ProcessWord(value, known); err == nil {
			args[name] = value
		}
	}
}

// words are those of an instruction, without its options.
func words(n *parser.Node) []string {
	var out []string
	for next := n.Next; next != nil; next = next.Next {
		out = append(out, next.Value)
	}
	return out
}
