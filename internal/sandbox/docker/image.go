package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Image is what a layer gets to be an image that other programs start.
type Image struct {
	Key schemas.Digest    // it is made once for a key
	Env map[string]string // variables of whatever runs in it
	// Parts are folders of other layers that it has, too.
	Parts []Part
	// Files are root's, by their absolute paths, and readable by all.
	Files map[string][]byte
}

// Part is a folder of a layer that an image has at another place: root's, and readable by all.
type Part struct {
	From     sandbox.Layer
	Path, To string
}

// gitConfig lets root work in the tree: git refuses that of another user.
const gitConfig = "[safe]\n\tdirectory = " + sandbox.TreePath + "\n"

const root = "0:0"

// stopSignal ends a container at once: the first process of many clients is a sleep, which
// is deaf to the signal that engines send else, and they wait ten seconds for it.
const stopSignal = "SIGKILL"

// Image makes (or finds, by its key) an image of a layer: it has no entry point, and starts
// in the tree, as root. It stays until Remove. The tree is still the user's, whom tests run
// as. Clients work as root: mini-swe-agent has bash read a file of root's before each
// command, and takes what bash says where it may not for the command's own first line.
func (s *Sandbox) Image(ctx context.Context, from sandbox.Layer, i Image) (sandbox.Layer, error) {
	parent, err := s.recordOf(ctx, from)
	if err != nil {
		return sandbox.Layer{}, err
	}
	return s.made(ctx, i.Key, false, func(id string) (r record, err error) {
		config := &container.Config{
			Image: parent.Image, User: root, WorkingDir: sandbox.TreePath, StopSignal: stopSignal,
			Entrypoint: []string{}, Cmd: []string{"/bin/bash"}, Env: environ(i.Env),
		}
		made, err := s.create(ctx, config, s.hostConfig(sandbox.Limits{}.Filled()))
		if err != nil {
			return r, err
		}
		defer s.removeContainer(made)
		files := map[string][]byte{"/etc/gitconfig": []byte(gitConfig)}
		maps.Copy(files, i.Files)
		archive, err := rootFiles(files)
		if err != nil {
			return r, err
		}
		if _, err := s.api.CopyToContainer(ctx, made, client.CopyToContainerOptions{DestinationPath: "/", Content: archive}); err != nil {
			return r, fmt.Errorf("setting up the image: %w", err)
		}
		for _, p := range i.Parts {
			if err := s.addPart(ctx, made, p); err != nil {
				return r, fmt.Errorf("setting up the image: %s: %w", p.To, err)
			}
		}
		r.Base = parent.Base
		r.Image, _, err = s.commit(ctx, made, id)
		return r, err
	})
}

// addPart copies a folder into a container.
func (s *Sandbox) addPart(ctx context.Context, into string, p Part) error {
	from, err := s.recordOf(ctx, p.From)
	if err != nil {
		return err
	}
	made, err := s.create(ctx, &container.Config{Image: from.Image, Cmd: []string{"/bin/true"}}, s.hostConfig(sandbox.Limits{}.Filled()))
	if err != nil {
		return err
	}
	defer s.removeContainer(made)
	res, err := s.api.CopyFromContainer(ctx, made, client.CopyFromContainerOptions{SourcePath: p.Path})
	if err != nil {
		return err
	}
	defer func() { _ = res.Content.Close() }()
	r, w := io.Pipe()
	go func() { w.CloseWithError(moved(w, res.Content, path.Base(p.Path), strings.TrimPrefix(p.To, "/"))) }()
	_, err = s.api.CopyToContainer(ctx, into, client.CopyToContainerOptions{DestinationPath: "/", Content: r})
	return errors.Join(err, r.CloseWithError(io.ErrClosedPipe))
}

// moved copies an archive of one folder under another name. All of it is root's, whom alone it
// obeys, and everybody may read it.
func moved(to io.Writer, from io.Reader, old, now string) error {
	tr, tw := tar.NewReader(from), tar.NewWriter(to)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return tw.Close()
		}
		if err != nil {
			return err
		}
		h.Name = now + strings.TrimPrefix(h.Name, old)
		if h.Typeflag == tar.TypeLink {
			h.Linkname = now + strings.TrimPrefix(h.Linkname, old)
		}
		h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
		h.Mode = h.Mode&0o755 | 0o444
		if h.Mode&0o100 != 0 {
			h.Mode |= 0o011
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(tw, tr); err != nil {
			return err
		}
	}
}

// environ is a set of variables as engines take it, sorted.
func environ(vars map[string]string) []string {
	out := []string{}
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// rootFiles is an archive of files of root's, by their absolute paths. The engine makes the folders that are not there, for all to read.
func rootFiles(files map[string][]byte) (*bytes.Buffer, error) {
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
		if _, err := tw.Write(files[name]); err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	return &b, tw.Close()
}

// Setup is how an image starts.
type Setup struct {
	Entrypoint                   []string
	User, WorkingDir, StopSignal string
}

// Setup reads how the image of a layer starts.
func (s *Sandbox) Setup(ctx context.Context, l sandbox.Layer) (Setup, error) {
	i, err := s.api.ImageInspect(ctx, l.ID)
	if err != nil {
		return Setup{}, fmt.Errorf("looking at an image: %w", err)
	}
	c := i.Config
	if c == nil {
		return Setup{}, nil
	}
	return Setup{Entrypoint: c.Entrypoint, User: c.User, WorkingDir: c.WorkingDir, StopSignal: c.StopSignal}, nil
}

// Tag gives the image of a layer a name, which it takes from another image that has it.
func (s *Sandbox) Tag(ctx context.Context, l sandbox.Layer, name string) error {
	if _, err := s.api.ImageTag(ctx, client.ImageTagOptions{Source: l.ID, Target: name}); err != nil {
		return fmt.Errorf("naming the image %s: %w", name, err)
	}
	return nil
}

// Root runs a program as root in a container of a layer, as clients of images do, and
// gives its output. The container has no network, and is gone afterwards.
func (s *Sandbox) Root(ctx context.Context, l sandbox.Layer, argv []string) ([]byte, error) {
	w, err := s.newWorkplace(ctx, l.ID, workplace{})
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.root(ctx, "looking into an image", argv)
}

// Save writes the images of names as one archive that docker load reads.
func (s *Sandbox) Save(ctx context.Context, w io.Writer, names ...string) error {
	res, err := s.api.ImageSave(ctx, names)
	if err != nil {
		return fmt.Errorf("saving %s: %w", strings.Join(names, ", "), err)
	}
	_, err = io.Copy(w, res)
	if err = errors.Join(err, res.Close()); err != nil {
		return fmt.Errorf("saving %s: %w", strings.Join(names, ", "), err)
	}
	return nil
}
