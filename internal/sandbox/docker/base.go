package docker

import (
	"archive/tar"
	"context"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

const suite = "bookworm"

// basePackages are what runners of hosted CI have without saying so, the libraries
// that a copied-in CPython is linked to, and what the sandbox itself runs as root
// (iproute2, socat). Debian's essential packages hold the rest.
var basePackages = []string{
	"ca-certificates", "curl", "file", "g++", "gcc", "git", "less", "locales", "make", "patch", "pkg-config",
	"procps", "tzdata", "unzip", "xz-utils",
	"libbz2-1.0", "libexpat1", "libffi8", "libgdbm-compat4", "libgdbm6", "liblzma5", "libncursesw6",
	"libreadline8", "libsqlite3-0", "libssl3", "libuuid1", "zlib1g",
	"iproute2", "socat",
}

// packageName is what Debian's policy allows (5.6.1), with an architecture or a version.
var packageName = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$`)

// prepareScript turns a Debian into our base: the user, the places, and no look-up of names.
//
//go:embed prepare.sh
var prepareTemplate string

var prepareScript = withUser(prepareTemplate)

// Base makes the image of a base: Debian, toolchains, system packages.
func (s *Sandbox) Base(ctx context.Context, b sandbox.Base) (layer sandbox.Layer, err error) {
	defer s.answers(ctx, &err)
	for _, p := range b.SystemPackages {
		if !packageName.MatchString(p) {
			return sandbox.Layer{}, fmt.Errorf("%q is not the name of a Debian package", p)
		}
	}
	system, err := s.system(ctx)
	if err != nil {
		return sandbox.Layer{}, err
	}
	type toolchain struct {
		schemas.Toolchain
		Dir string `json:"-"`
	}
	key := struct {
		System     schemas.Digest
		Toolchains []toolchain
		Packages   []string
	}{System: system.Key, Packages: b.SystemPackages}
	for _, t := range b.Toolchains {
		key.Toolchains = append(key.Toolchains, toolchain(t))
	}
	return s.made(ctx, schemas.DigestOf(key), false, func(id string) (record, error) {
		return s.makeBase(ctx, id, system.ID, b)
	})
}

func (s *Sandbox) makeBase(ctx context.Context, id, system string, b sandbox.Base) (r record, err error) {
	w, err := s.newWorkplace(ctx, system, workplace{packages: len(b.SystemPackages) > 0})
	if err != nil {
		return r, err
	}
	defer w.close()
	for _, t := range b.Toolchains {
		if err := w.copyTree(ctx, t.Dir, path.Join(sandbox.ToolchainPath, t.Name+"-"+t.Version)); err != nil {
			return r, fmt.Errorf("copying toolchain %s %s: %w", t.Name, t.Version, err)
		}
	}
	if len(b.SystemPackages) > 0 {
		if err := w.install(ctx, b.SystemPackages); err != nil {
			return r, err
		}
	}
	w.stop(ctx)
	r.Image, r.Base, err = s.commit(ctx, w.id, id)
	return r, err
}

// system is the image below every base.
func (s *Sandbox) system(ctx context.Context) (sandbox.Layer, error) {
	if s.options.Image != "" {
		return s.systemFromImage(ctx)
	}
	key := schemas.DigestOf([]any{suite, basePackages, prepareScript})
	return s.made(ctx, key, false, func(id string) (record, error) {
		archive := filepath.Join(s.dir, "debian-"+layerID(key)+".tar")
		if _, err := os.Stat(archive); err != nil {
			if err := s.debootstrap(ctx, archive); err != nil {
				return record{}, err
			}
		}
		f, err := os.Open(archive)
		if err != nil {
			return record{}, err
		}
		defer f.Close()
		res, err := s.api.ImageImport(ctx, client.ImageImportSource{Source: f, SourceName: "-"}, s.layerName(id), client.ImageImportOptions{})
		if err != nil {
			return record{}, fmt.Errorf("importing the base system: %w", err)
		}
		defer res.Close()
		if _, err := io.Copy(io.Discard, res); err != nil {
			return record{}, fmt.Errorf("importing the base system: %w", err)
		}
		image, err := s.api.ImageInspect(ctx, s.layerName(id))
		if err != nil {
			return record{}, fmt.Errorf("importing the base system: %w", err)
		}
		return record{Image: image.ID, Base: len(image.RootFS.Layers)}, nil
	})
}

// systemFromImage adds to an image of the user's what the sandbox needs in it.
func (s *Sandbox) systemFromImage(ctx context.Context) (sandbox.Layer, error) {
	image, err := s.api.ImageInspect(ctx, s.options.Image)
	if err != nil {
		pulled, pullErr := s.api.ImagePull(ctx, s.options.Image, client.ImagePullOptions{})
		if pullErr == nil {
			_, pullErr = io.Copy(io.Discard, pulled)
			pulled.Close()
		}
		if image, err = s.api.ImageInspect(ctx, s.options.Image); err != nil {
			return sandbox.Layer{}, fmt.Errorf("image %s cannot be had: %w", s.options.Image, fmt.Errorf("%w; %w", err, pullErr))
		}
	}
	key := schemas.DigestOf([]any{image.ID, basePackages, prepareScript})
	return s.made(ctx, key, false, func(id string) (r record, err error) {
		w, err := s.newWorkplace(ctx, image.ID, workplace{packages: true})
		if err != nil {
			return r, err
		}
		defer w.close()
		// An image that has them all needs no network.
		asked := append([]string{"dpkg-query", "--show", "--showformat=${Status}\n", "--"}, basePackages...)
		if out, err := w.root(ctx, "looking at packages", asked); err != nil || strings.Contains(string(out), "not-installed") {
			if err := w.install(ctx, basePackages); err != nil {
				return r, err
			}
		}
		if _, err := w.root(ctx, "preparing the base system", []string{"sh", "-c", prepareScript}); err != nil {
			return r, err
		}
		w.stop(ctx)
		r.Image, r.Base, err = s.commit(ctx, w.id, id)
		return r, err
	})
}

// debootstrap writes the archive of a fresh Debian.
func (s *Sandbox) debootstrap(ctx context.Context, archive string) error {
	program, err := exec.LookPath("debootstrap")
	if err != nil {
		return &sandbox.Refused{Rule: "base image", Why: "debootstrap is not installed", Get: "apt-get install debootstrap"}
	}
	if os.Geteuid() != 0 {
		return &sandbox.Refused{Rule: "base image", Why: "debootstrap needs root, and no sandbox image is configured",
			Get: "run once as root, or set sandbox.image to an image based on Debian"}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	// Under the lock of the layer: what stands there was left by a process that was killed.
	root := strings.TrimSuffix(archive, ".tar") + ".root"
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }() // what stays is in the next one's way, and goes then
	mirror := s.options.Mirror
	if mirror == "" {
		mirror = hosts.DebianURL
	}
	steps := [][]string{
		{program, "--variant=minbase", "--include=" + strings.Join(basePackages, ","), suite, root, mirror},
		{"chroot", root, "/bin/sh", "-c", prepareScript},
	}
	for _, argv := range steps {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.SysProcAttr = &unix.SysProcAttr{
			Pdeathsig:    unix.SIGKILL,     // nobody would use what it makes
			Unshareflags: unix.CLONE_NEWNS, // what it mounts ends with it
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("making the base system: %s: %w: %s", argv[0], err, tail(out))
		}
	}
	sources := fmt.Sprintf("deb %s %s main\ndeb %[1]s %[2]s-updates main\ndeb %[3]s %[2]s-security main\n", mirror, suite, hosts.SecurityURL)
	if err := os.WriteFile(filepath.Join(root, "etc/apt/sources.list"), []byte(sources), 0o644); err != nil {
		return err
	}
	return writeArchive(root, archive)
}

func tail(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}

// mirrors are the hosts that Debian's packages come from: those of our own list.
func (s *Sandbox) mirrors() []string {
	out := []string{hosts.Debian, hosts.DebianSec}
	if u, err := url.Parse(s.options.Mirror); err == nil && u.Host != "" {
		out = append(out, u.Host)
	}
	return out
}

// writeArchive packs a tree, at once or not at all.
func writeArchive(root, archive string) error {
	f, err := os.Create(archive + ".new")
	if err != nil {
		return err
	}
	defer os.Remove(archive + ".new")
	defer f.Close()
	if err := packTree(f, root, "", true); err != nil {
		return fmt.Errorf("packing the base system: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(archive+".new", archive)
}

// packTree writes a directory as a tar archive below prefix: sorted, hard links as
// files of their own. Without owners all belongs to root.
func packTree(w io.Writer, root, prefix string, owners bool) error {
	tw := tar.NewWriter(w)
	for _, above := range parents(prefix) {
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: above + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		return packEntry(tw, p, path.Join(prefix, filepath.ToSlash(rel)), owners)
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

func parents(prefix string) []string {
	var out []string
	for dir := path.Dir(prefix); dir != "." && dir != "/"; dir = path.Dir(dir) {
		out = append(out, dir)
	}
	slices.Reverse(out)
	return out
}

func packEntry(tw *tar.Writer, file, name string, owners bool) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if info.Mode()&(fs.ModeSocket|fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return nil // the engine makes /dev
	}
	var target string
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name = name
	if info.IsDir() {
		h.Name += "/"
	}
	h.Uname, h.Gname = "", ""
	if !owners {
		h.Uid, h.Gid = 0, 0
	}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(tw, f)
	return err
}
