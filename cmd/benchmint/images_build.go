package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/images"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/formats"
	"github.com/benchmint/benchmint/stages/grade"
)

func newImages(p *program) *cobra.Command {
	return group("images", "make the Docker images that solvers work in", newImagesBuild(p), newImagesPush(p))
}

func newImagesBuild(p *program) *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use: "build DATASET [ID…]", Short: "make the Docker images that other programs start",
		Long: "Makes the image of each task from the recipe of its row: dependencies, the start tree with one neutral\ncommit, what its build leaves. Tasks with one image_key share an image. An image that other programs\ncannot use, or that holds the solution, its tests or a credential, gets no name, and the rule that it\nbreaks is said.\n\n" +
			"The images have the names that rows of export --format have. They are in the Docker engine that answers,\nand in no registry; --save writes them for docker load on another machine.",
		Example: "  benchmint images build benchmint-out\n  benchmint images build benchmint-out demo__slug-5 --save images",
		Args:    argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c, err := p.load()
			if err != nil {
				return err
			}
			d, rows, err := readRows(args[0], args[1:])
			if err != nil {
				return err
			}
			p.sayFormat(args[0], d.Manifest)
			m, err := p.machine(c).openImages(cmd.Context(), rows)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, m.close()) }()
			return m.build(cmd.Context(), d, rows, save)
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "`FOLDER` to write the images to, a file for docker load each")
	return cmd
}

// imageMaker makes images in the Docker engine that answers.
type imageMaker struct {
	*terminal
	images.Maker
	box   *docker.Sandbox
	close func() error
}

// openImages is a maker; where no engine answers, it says what gets one.
func (m machine) openImages(ctx context.Context, rows []output.Row) (*imageMaker, error) {
	in := *m.config
	in.Sandbox.Kind = config.Docker
	w, err := machine{m.terminal, &in}.require(ctx, job{builds: true, kind: config.Docker, asks: asksFor("there are rows", languagesOf(rows)...)})
	if err != nil {
		return nil, err
	}
	box, ok := w.box.(*docker.Sandbox)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the sandbox %s has no images", w.kind), w.close())
	}
	return &imageMaker{terminal: m.terminal, Maker: images.Maker{Environments: w.builder, Engine: box, Secrets: m.credentials()}, box: box, close: w.close}, nil
}

// credentials are the values of this machine's environment that may be some, with those in
// addresses of registries and proxies.
func (e *world) credentials() []string {
	const least = 8 // shorter ones stand in any text
	var out []string
	for _, pair := range e.environ {
		name, value, _ := strings.Cut(pair, "=")
		if recipe.Credential(name) {
			out = append(out, strings.Split(value, ",")...)
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				out = append(out, password)
			}
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return len(s) < least })
	slices.Sort(out)
	return slices.Compact(out)
}

// imagesResult is the end of images build for scripts.
type imagesResult struct {
	Images []images.Image `json:"images"`
	Failed []failedImage  `json:"failed"`
}

// failedImage is one that could not be made now, for a fault that says nothing of the task.
type failedImage struct {
	ID     string `json:"instance_id"`
	Later  bool   `json:"later"` // a registry does not answer now
	Detail string `json:"detail"`
}

// against is the first that speaks against one of some images; nil where none does.
func against(made []images.Image) *images.Finding {
	for _, i := range made {
		if len(i.Findings) > 0 {
			return &i.Findings[0]
		}
	}
	return nil
}

func (r imagesResult) refused() int {
	n := 0
	for _, i := range r.Images {
		if len(i.Findings) > 0 {
			n++
		}
	}
	return n
}

// build makes all of them; what cannot be made is said, and the others go on.
func (m *imageMaker) build(ctx context.Context, d *output.Dataset, rows []output.Row, save string) error {
	r := imagesResult{Images: []images.Image{}, Failed: []failedImage{}}
	deferred := 0
	for n, row := range rows {
		m.say("%d of %d: %s", n+1, len(rows), visible(row.InstanceID))
		made, err := m.of(ctx, d, row)
		if err == nil && save != "" && against(made) == nil {
			err = m.save(ctx, save, made)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			later := errors.Is(err, environment.ErrUnavailable) || errors.As(err, new(*toolchain.Unreachable))
			if later {
				deferred++
			}
			m.say("%s: no image: %s", visible(row.InstanceID), visible(tail(err.Error(), 20)))
			r.Failed = append(r.Failed, failedImage{ID: row.InstanceID, Later: later, Detail: err.Error()})
			continue
		}
		for _, image := range made {
			for _, f := range image.Findings {
				m.say("%s: no image: rule %s: %s", visible(row.InstanceID), f.Rule, visible(f.Detail))
			}
		}
		r.Images = append(r.Images, made...)
	}
	wanted := len(rows)
	for _, row := range rows {
		if formats.JudgeImage(row) != formats.Image(row) {
			wanted++
		}
	}
	if err := r.print(m.terminal, wanted); err != nil {
		return err
	}
	switch {
	case len(r.Failed) > deferred || r.refused() > 0:
		return &ended{code: exitFailed}
	case deferred > 0:
		return &ended{code: exitDeferred}
	}
	return nil
}

// of makes the images of one row, from the dataset's folder alone: that of the task, and of a
// service that of its judge.
func (m *imageMaker) of(ctx context.Context, d *output.Dataset, row output.Row) ([]images.Image, error) {
	t, err := grade.TaskOf(d, row, config.Docker)
	if err != nil {
		return nil, err
	}
	task := images.Task{ID: row.InstanceID, Name: formats.Image(row), Version: row.Release(), Start: t.Start, Environment: t.Environment, Trees: t.Trees}
	specification, err := d.Specification(row)
	if err != nil {
		return nil, err
	}
	task.Files = formats.ImageFiles(specification)
	own, err := m.Make(ctx, task)
	if task.Name = formats.JudgeImage(row); err != nil || task.Name == own.Name {
		return []images.Image{own}, err
	}
	judge, err := m.Judge(ctx, task)
	return []images.Image{own, judge}, err
}

// save writes the images of a task beside the others, whole or not at all.
func (m *imageMaker) save(ctx context.Context, dir string, made []images.Image) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var names []string
	for _, i := range made {
		names = append(names, i.Name)
	}
	name := filepath.Join(dir, made[0].ID+".tar")
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(name + ".new") }()
	if err := errors.Join(m.box.Save(ctx, f, names...), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (r imagesResult) print(to *terminal, wanted int) error {
	if to.json {
		return to.writeJSON(r)
	}
	t := to.out()
	for _, i := range r.Images {
		if len(i.Findings) == 0 {
			t.line("%s  %s", i.ID, i.Name)
		}
	}
	t.line("%d of %d images", len(r.Images)-r.refused(), wanted)
	return t.err
}
