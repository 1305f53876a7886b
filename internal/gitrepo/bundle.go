package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bundle writes a git bundle of all that a repository has into file: its head, and whatever its refs lead to. Objects
// that the clone lacks (a partial clone's, or lost ones) are left out, and are missing in what Unbundle makes too.
// Where the clone is shallow, cut are the commits without parents, as in git's file of that name.
func (r *Repo) Bundle(ctx context.Context, file string) (cut string, err error) {
	if file, err = filepath.Abs(file); err != nil { // git works in the view
		return "", err
	}
	o := r.origin
	view, hold, err := makeView(&o.found, r.info.Head, o.stores)
	defer func() {
		if hold != nil {
			err = errors.Join(err, hold.Close())
		}
		err = errors.Join(err, os.RemoveAll(view))
	}()
	if err != nil {
		return "", err
	}
	var refs []string // in order of name, as packed refs have to be
	if err := eachRef(ctx, o.found.common, func(id, name string) { refs = append(refs, name+" "+id) }); err != nil {
		return "", err
	}
	slices.Sort(refs)
	var packed bytes.Buffer
	for _, ref := range refs {
		name, id, _ := strings.Cut(ref, " ")
		fmt.Fprintf(&packed, "%s %s\n", id, name)
	}
	if err := os.WriteFile(filepath.Join(view, "packed-refs"), packed.Bytes(), 0o644); err != nil {
		return "", err
	}
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// git bundle create ends at the first object that is missing.
	if _, err := fmt.Fprintf(out, "# v2 git bundle\n%s HEAD\n%s\n", r.info.Head, packed.Bytes()); err != nil {
		return "", err
	}
	list := command(ctx, view, "rev-list", "--objects", "--missing=allow-any", "HEAD", "--all")
	pack := command(ctx, view, "pack-objects", "--quiet", "--stdout", "--delta-base-offset")
	var listSaid, packSaid bytes.Buffer
	list.Stderr, pack.Stderr, pack.Stdout = &listSaid, &packSaid, out
	names, err := list.StdoutPipe()
	if err != nil {
		return "", err
	}
	pack.Stdin = names
	if err := list.Start(); err != nil {
		return "", err
	}
	failed := pack.Run()
	_ = names.Close() // list ends then too, where it has more to say
	listed := list.Wait()
	if failed != nil { // list may have ended of that
		return "", gitError(pack, failed, packSaid.Bytes())
	}
	if listed != nil { // the pack is whole in itself, and lacks what was not listed
		return "", gitError(list, listed, listSaid.Bytes())
	}
	return string(o.found.shallow), nil
}

// Unbundle makes a bare repository of a bundle in dir, which is made. A kill on the way leaves no dir.
func Unbundle(ctx context.Context, bundle, cut, dir string) (err error) {
	bundle, err1 := filepath.Abs(bundle)
	dir, err2 := filepath.Abs(dir)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	making := dir + ".making"
	if err := errors.Join(os.RemoveAll(making), os.MkdirAll(filepath.Dir(dir), 0o755)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(making)) }()
	if _, err := output(inside(ctx, filepath.Dir(dir), "init", "-q", "--bare", "--template=", "--object-format=sha1", making)); err != nil {
		return err
	}
	if cut != "" {
		if err := os.WriteFile(filepath.Join(making, "shallow"), []byte(cut), 0o644); err != nil {
			return err
		}
	}
	out, err := output(command(ctx, making, "bundle", "unbundle", bundle))
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "HEAD" {
			err = os.WriteFile(filepath.Join(making, "HEAD"), []byte(id+"\n"), 0o644)
		} else {
			fmt.Fprintf(&packed, "%s %s\n", id, name)
		}
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(making, "packed-refs"), packed.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(making, dir)
}
