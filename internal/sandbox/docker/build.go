package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
	"github.com/benchmint/benchmint/schemas"
)

// Build makes a layer, or finds it by its key.
func (s *Sandbox) Build(ctx context.Context, b sandbox.Build) (layer sandbox.Layer, res sandbox.Result, err error) {
	defer s.answers(ctx, &err)
	began := time.Now()
	defer func() { res.Overhead = time.Since(began) - res.Wall }()
	err = errors.Join(sandbox.CheckFiles(b.Files, sandbox.Kept(), b.Collect), sandbox.CheckFiles(b.Inputs, []string{sandbox.RunPath}, nil))
	if err != nil {
		return layer, res, err
	}
	parent, err := s.recordOf(ctx, b.Parent)
	if err != nil {
		return layer, res, err
	}
	if b.Discard {
		_, res, err = s.build(ctx, b, parent, "")
		return layer, res, err
	}
	found := true
	layer, err = s.made(ctx, b.Key, b.Lease, func(id string) (r record, err error) {
		found = false
		r, res, err = s.build(ctx, b, parent, id)
		return r, err
	})
	if err == nil && found {
		res.End = sandbox.Exited
		if len(b.Collect) > 0 {
			err = s.collectFromImage(ctx, layer.ID, b.Collect, &res)
		}
	}
	return layer, res, err
}

// build fills the caches, and then runs the steps.
func (s *Sandbox) build(ctx context.Context, b sandbox.Build, parent record, id string) (r record, res sandbox.Result, err error) {
	if fill, ok := b.Filling(); ok && !s.bare.Load() { // else no step sees a cache
		from, err := s.recordOf(ctx, fill.Parent)
		if err == nil {
			_, _, err = s.work(ctx, fill, from, "", true)
		}
		if err != nil && !errors.As(err, new(*sandbox.BuildError)) {
			return r, res, fmt.Errorf("filling a cache: %w", err)
		}
	}
	return s.work(ctx, b, parent, id, false)
}

// work runs the steps of a build, and keeps the layer.
func (s *Sandbox) work(ctx context.Context, b sandbox.Build, parent record, id string, fills bool) (r record, res sandbox.Result, err error) {
	res.End = sandbox.Exited
	w, err := s.newWorkplace(ctx, parent.Image, workplace{
		registries: b.Network == sandbox.Registries, registry: b.Registry, caches: b.Caches, fills: fills, limits: b.Limits.Filled(), names: b.Names,
	})
	if err != nil {
		return r, res, err
	}
	defer w.close()
	inputs := b.Inputs
	environ := []map[string]string{}
	if w.registries {
		environ = append(environ, b.RegistryEnv(s.options.Env), sandbox.ProxyEnv("http://"+proxyAddress))
	}
	if s.ca != nil {
		inputs = append(inputs[:len(inputs):len(inputs)], sandbox.File{Path: sandbox.CAPath, Mode: 0o644, Data: s.ca})
		environ = append(environ, sandbox.CAEnv())
	}
	if err := w.put(ctx, append(b.Files[:len(b.Files):len(b.Files)], inputs...)); err != nil {
		return r, res, err
	}
	if res, err = w.steps(ctx, b, append(environ, b.Env)); err != nil {
		return r, res, err
	}
	if err := s.collect(ctx, w.id, b.Collect, 0, &res); err != nil {
		return r, res, err
	}
	if b.Discard {
		return r, res, nil
	}
	if err := w.tidy(ctx); err != nil {
		return r, res, err
	}
	w.stop(ctx)
	r.Image, _, err = s.commit(ctx, w.id, id)
	r.Base = parent.Base
	return r, res, err
}

// steps runs all steps under the limits of the whole build.
func (w *workplace) steps(ctx context.Context, b sandbox.Build, environ []map[string]string) (sandbox.Result, error) {
	total := sandbox.Result{End: sandbox.Exited}
	free, err := w.s.space()
	if err != nil {
		return total, err
	}
	dog, err := w.s.newWatchdog(ctx, w.id, w.limits)
	if err != nil {
		return total, err
	}
	if dog.written != nil {
		dog.written.Add(w.cached...)
	}
	left := w.limits.Timeout
	for _, step := range b.Steps {
		b.Begin(step)
		res, err := w.step(ctx, step, append(environ[:len(environ):len(environ)], step.Env), left, dog, free)
		total.Output = append(total.Output, res.Output...)
		total.Wall += res.Wall
		total.End, total.ExitCode = res.End, res.ExitCode
		if err != nil {
			return total, err
		}
		if res.End != sandbox.Exited || res.ExitCode != 0 {
			failed := &sandbox.BuildError{Step: step, Result: res}
			if w.proxy != nil {
				failed.Denied, failed.Unreached = w.proxy.Denied(), w.proxy.Unreached()
			}
			return total, failed
		}
		left -= res.Wall
	}
	return total, nil
}

// step runs one step of the build. A limit that is passed ends the whole workplace.
func (w *workplace) step(ctx context.Context, step schemas.Command, environ []map[string]string, left time.Duration, dog *watchdog, free *watch.Space) (sandbox.Result, error) {
	var mu sync.Mutex
	var end sandbox.End
	stop := func(e sandbox.End) {
		mu.Lock()
		if end == "" {
			end = e
		}
		mu.Unlock()
		w.stop(context.WithoutCancel(ctx))
	}
	began := time.Now()
	clock := time.AfterFunc(left, func() { stop(sandbox.TimedOut) })
	defer clock.Stop()
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { dog.watch(done, stop) })
	watching.Go(func() { free.Watch(done, func() { w.stop(context.WithoutCancel(ctx)) }) })
	out := sandbox.NewCapped(w.limits.Output, func() { go stop(sandbox.Output) })
	argv := append([]string{"/usr/bin/env", "-i", "--"}, sandbox.Environ(environ...)...)
	code, err := w.exec(ctx, client.ExecCreateOptions{
		User: user, WorkingDir: sandbox.WorkDir(step.Dir), Cmd: append(argv, step.Argv...),
	}, nil, out)
	res := sandbox.Result{ExitCode: code, Output: out.Bytes(), Wall: time.Since(began)}
	close(done)
	watching.Wait()
	mu.Lock()
	res.End = end
	mu.Unlock()
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	// On a machine that was short of something, what the step did says nothing of it.
	if err := free.Short(res.Output); err != nil {
		return res, err
	}
	if res.End == sandbox.Memory && dog.hungry {
		return res, errStarved
	}
	if res.End != "" {
		return res, nil // what exec says of a killed container says nothing
	}
	if err != nil {
		return res, err
	}
	res.End = dog.last()
	if dog.hungry {
		return res, errStarved
	}
	if res.End == "" && code != 0 {
		if res.End, err = w.judge(ctx); err != nil {
			return res, err
		}
	}
	if res.End == "" {
		res.End = sandbox.Exited
	}
	return res, nil
}

// judge asks the container's own control groups what a failed step ran into.
// Where the container does not run any more, nobody of ours has ended it, and the
// step was killed with it.
func (w *workplace) judge(ctx context.Context) (sandbox.End, error) {
	out, err := w.root(ctx, "looking at the limits", []string{"/bin/sh", "-c", judgeScript})
	if err == nil {
		return parseJudgement(out, w.limits.Disk)
	}
	// The engine books the end of a container some time after its processes are gone.
	const patience, look = 3 * time.Second, 100 * time.Millisecond
	for began := time.Now(); time.Since(began) < patience && ctx.Err() == nil; time.Sleep(look) {
		inspected, gone := w.s.api.ContainerInspect(ctx, w.id, client.ContainerInspectOptions{})
		if gone != nil {
			return "", fmt.Errorf("asking for a container: %w", gone)
		}
		if state := inspected.Container.State; state == nil || !state.Running {
			return "", errKilled
		}
	}
	return "", nil // full of processes, say: the step's own exit code counts
}

// put writes files as the user: where a stranger's link leads out of what the user
// may write, writing fails.
func (w *workplace) put(ctx context.Context, files []sandbox.File) error {
	var deletes []string
	for _, f := range files {
		if f.Delete {
			deletes = append(deletes, f.Path)
		}
	}
	const batch = 500 // paths of a command line
	for ; len(deletes) > 0; deletes = deletes[min(batch, len(deletes)):] {
		argv := append([]string{"/bin/sh", "-c", deleteScript, "sh"}, deletes[:min(batch, len(deletes))]...)
		if err := w.user(ctx, "deleting files", argv, nil); err != nil {
			return err
		}
	}
	if len(deletes) == len(files) && len(files) == 0 {
		return nil
	}
	archive, err := packFiles(files)
	if err != nil || archive == nil {
		return err
	}
	argv := []string{"/bin/tar", "--extract", "--file=-", "--directory=/", "--preserve-permissions", "--recursive-unlink", "--no-overwrite-dir", "--warning=no-timestamp"}
	return w.user(ctx, "putting files", argv, archive)
}

// deleteScript also takes away directories that are read-only; a link is only unlinked.
const deleteScript = `for p; do [ -L "$p" ] || chmod -R u+rwX "$p" 2>/dev/null; rm -rf -- "$p" || exit 1; done`

// user runs a step of ours as the user.
func (w *workplace) user(ctx context.Context, what string, argv []string, in io.Reader) error {
	const enough = 1 << 16
	out := sandbox.NewCapped(enough, nil)
	code, err := w.exec(ctx, client.ExecCreateOptions{User: user, Cmd: argv, WorkingDir: "/"}, in, out)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if code != 0 {
		return fmt.Errorf("%s: exit %d: %s", what, code, tail(out.Bytes()))
	}
	return nil
}

// packFiles is the archive of what is to be written; nil where nothing is.
func packFiles(files []sandbox.File) (io.Reader, error) {
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	any := false
	for _, f := range files {
		if f.Delete {
			continue
		}
		any = true
		h := &tar.Header{
			Name: strings.TrimPrefix(f.Path, "/"), Mode: int64(f.Mode.Perm()), Uid: sandbox.UID, Gid: sandbox.GID,
			Typeflag: tar.TypeReg, Size: int64(len(f.Data)), ModTime: f.ModTime, Format: tar.FormatPAX,
		}
		if f.ModTime.IsZero() {
			h.ModTime = time.Unix(0, 0)
		}
		switch {
		case f.Mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, string(f.Data), 0
		case f.Mode.IsDir():
			h.Typeflag, h.Size, h.Name = tar.TypeDir, 0, h.Name+"/"
		}
		if err := tw.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("putting %s: %w", f.Path, err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := tw.Write(f.Data); err != nil {
				return nil, fmt.Errorf("putting %s: %w", f.Path, err)
			}
		}
	}
	if !any {
		return nil, nil
	}
	return &b, tw.Close()
}

// tidy leaves nothing of the build in the layer but what layers keep.
func (w *workplace) tidy(ctx context.Context) error {
	// A step's left-over processes would go on writing. The shell ends itself too.
	_, err := w.exec(ctx, client.ExecCreateOptions{User: user, Cmd: []string{"/bin/sh", "-c", "kill -KILL -1"}}, nil, io.Discard)
	if err != nil {
		return fmt.Errorf("ending left-over processes: %w", err)
	}
	return w.user(ctx, "tidying up", []string{"/bin/sh", "-c",
		`for d in ` + sandbox.RunPath + ` /tmp /var/tmp; do for p in "$d"/* "$d"/.[!.]* "$d"/..?*; do ` +
			`if [ -e "$p" ] || [ -L "$p" ]; then [ -L "$p" ] || chmod -R u+rwX "$p" 2>/dev/null; rm -rf -- "$p" || exit 1; fi; done; done`}, nil)
}

// collect reads files back from a container, running or ended. It follows no link.
func (s *Sandbox) collect(ctx context.Context, id string, paths []string, max int64, res *sandbox.Result) error {
	max = sandbox.CollectMax(max)
	for _, p := range paths {
		data, cut, ok, err := s.read(ctx, id, p, max)
		if err != nil {
			return fmt.Errorf("collecting %s: %w", p, err)
		}
		if !ok {
			continue
		}
		if res.Files == nil {
			res.Files, res.Cut = map[string][]byte{}, map[string]bool{}
		}
		res.Files[p] = data
		if cut {
			res.Cut[p] = true
		}
	}
	return nil
}

// read reads one regular file; ok is false for anything else. The engine resolves
// links above the file within the container's own tree, so that a path which leads
// through one is refused here: it names no file of the place that was asked for.
func (s *Sandbox) read(ctx context.Context, id, p string, max int64) (data []byte, cut, ok bool, err error) {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		stat, err := s.api.ContainerStatPath(ctx, id, client.ContainerStatPathOptions{Path: dir})
		if errdefs.IsNotFound(err) {
			return nil, false, false, nil
		}
		if err != nil {
			return nil, false, false, err
		}
		if !stat.Stat.Mode.IsDir() {
			return nil, false, false, nil
		}
	}
	res, err := s.api.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: p})
	if errdefs.IsNotFound(err) {
		return nil, false, false, nil
	}
	if err != nil {
		return nil, false, false, err
	}
	defer res.Content.Close()
	if !res.Stat.Mode.IsRegular() {
		return nil, false, false, nil
	}
	tr := tar.NewReader(res.Content)
	h, err := tr.Next()
	if err != nil {
		return nil, false, false, err
	}
	if h.Typeflag != tar.TypeReg {
		return nil, false, false, nil
	}
	data, err = io.ReadAll(io.LimitReader(tr, max))
	return data, h.Size > max, err == nil, err
}

// collectFromImage reads from a layer that is not being built.
func (s *Sandbox) collectFromImage(ctx context.Context, image string, paths []string, res *sandbox.Result) error {
	id, err := s.create(ctx, &container.Config{Image: image}, s.hostConfig(sandbox.Limits{}.Filled()))
	if err != nil {
		return err
	}
	defer s.removeContainer(id)
	return s.collect(ctx, id, paths, 0, res)
}
