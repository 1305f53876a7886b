package bwrap

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

var _ sandbox.Porter = (*Sandbox)(nil)

// A packed layer is a tar of its own tree, not of those below it: by path, with the sandbox's user as sandbox.UID
// and everybody else as 0, whiteouts as devices 0/0, and opaque directories by their attribute.
const (
	paxFull   = "BENCHMINT.full" // the tree holds what is below it too
	paxOpaque = "SCHILY.xattr." + opaque
)

// Find implements sandbox.Porter.
func (s *Sandbox) Find(_ context.Context, key schemas.Digest) (sandbox.Layer, bool, error) {
	l := sandbox.Layer{Key: key, ID: layerID(key)}
	_, err := s.store.read(l.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return l, false, nil
	}
	return l, err == nil, err
}

// Pack implements sandbox.Porter.
func (s *Sandbox) Pack(ctx context.Context, l sandbox.Layer, w io.Writer) error {
	release, err := s.store.use(ctx, l.ID)
	if err != nil {
		return err
	}
	defer release()
	r, err := s.store.read(l.ID)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if r.Full {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{paxFull: "true"}}); err != nil {
			return err
		}
	}
	p := packer{out: out, user: s.user(), linked: map[uint64]string{}}
	root := s.store.tree(l.ID)
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == root {
			return errors.Join(err, ctx.Err())
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return errors.Join(p.entry(file, strings.TrimPrefix(file, root+"/"), info), ctx.Err())
	})
	if err != nil {
		return fmt.Errorf("packing layer %s: %w", l.ID, err)
	}
	return out.Close()
}

// user is who strangers' files belong to on this machine.
func (s *Sandbox) user() uint32 {
	if s.root {
		return sandbox.UID
	}
	return uint32(os.Geteuid())
}

type packer struct {
	out    *tar.Writer
	user   uint32
	linked map[uint64]string // inode → where it is packed
}

func (p *packer) entry(file, name string, info fs.FileInfo) error {
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return nil
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name, h.Format, h.Uname, h.Gname, h.AccessTime, h.ChangeTime = name, tar.FormatPAX, "", "", time.Time{}, time.Time{}
	st, ok := info.Sys().(*unixStat)
	if h.Uid, h.Gid = 0, 0; ok && st.Uid == p.user {
		h.Uid, h.Gid = sandbox.UID, sandbox.GID
	}
	if info.IsDir() && isOpaque(file) {
		h.PAXRecords = map[string]string{paxOpaque: "y"}
	}
	if ok && info.Mode().IsRegular() && st.Nlink > 1 {
		if first := p.linked[st.Ino]; first != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		} else {
			p.linked[st.Ino] = name
		}
	}
	if err := p.out.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	content, err := openEntry(file, info)
	if err != nil {
		return err
	}
	_, err = io.Copy(p.out, content)
	return errors.Join(err, content.Close())
}

// Unpack implements sandbox.Porter.
func (s *Sandbox) Unpack(ctx context.Context, key schemas.Digest, parent sandbox.Layer, r io.Reader) (sandbox.Layer, error) {
	l := sandbox.Layer{Key: key, ID: layerID(key)}
	unlock, err := sandbox.Lock(ctx, s.store.locks(), l.ID)
	if err != nil {
		return l, err
	}
	defer unlock()
	if _, ok, err := s.Find(ctx, key); ok || err != nil {
		return l, err
	}
	space, err := s.newSpace()
	if err != nil {
		return l, err
	}
	defer space.close()
	dir := filepath.Join(space.dir, "unpacked")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return l, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return l, err
	}
	defer root.Close()
	u := unpacker{root: root, chown: s.root}
	if err := u.unpack(ctx, tar.NewReader(r)); err != nil {
		return l, fmt.Errorf("unpacking a layer: %w", err)
	}
	return l, s.store.keep(dir, l.ID, record{Key: key, Parent: parent.ID, Full: u.full})
}

// unpacker puts entries below a root, and none outside of it: what is in a layer was written by strangers.
type unpacker struct {
	root  *os.Root
	chown bool
	full  bool
	dirs  []*tar.Header // whose rights and times are set last
}

func (u *unpacker) unpack(ctx context.Context, in *tar.Reader) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := errors.Join(u.entry(h, in), ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	for i := len(u.dirs) - 1; i >= 0; i-- {
		h := u.dirs[i]
		if err := errors.Join(u.own(h), u.root.Chmod(h.Name, h.FileInfo().Mode()), u.root.Chtimes(h.Name, h.ModTime, h.ModTime)); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	return nil
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	h.Name = path.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		u.full = h.PAXRecords[paxFull] == "true"
		return nil
	case tar.TypeDir:
		u.dirs = append(u.dirs, h)
		return u.dir(h)
	case tar.TypeReg:
		return u.file(h, content)
	case tar.TypeLink:
		return u.root.Link(path.Clean(h.Linkname), h.Name)
	case tar.TypeSymlink:
		return errors.Join(u.root.Symlink(h.Linkname, h.Name), u.own(h), u.date(h))
	case tar.TypeFifo, tar.TypeChar:
		return u.node(h)
	}
	return fmt.Errorf("an entry of type %q", h.Typeflag)
}

func (u *unpacker) own(h *tar.Header) error {
	if !u.chown {
		return nil
	}
	return u.root.Lchown(h.Name, h.Uid, h.Gid)
}

func (u *unpacker) dir(h *tar.Header) error {
	if err := u.root.Mkdir(h.Name, 0o700); err != nil {
		return err
	}
	if h.PAXRecords[paxOpaque] == "" {
		return nil
	}
	f, err := u.root.Open(h.Name)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fsetxattr(int(f.Fd()), opaque, []byte("y"), 0), f.Close())
}

func (u *unpacker) file(h *tar.Header, content io.Reader) error {
	f, err := u.root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	// The owner first: another takes the set-user bits away.
	return errors.Join(err, f.Close(), u.own(h), u.root.Chmod(h.Name, h.FileInfo().Mode()), u.root.Chtimes(h.Name, h.ModTime, h.ModTime))
}

// node makes a named pipe, or a whiteout; a layer has no other device.
func (u *unpacker) node(h *tar.Header) error {
	mode := uint32(unix.S_IFIFO | 0o600)
	if h.Typeflag == tar.TypeChar {
		if h.Devmajor != 0 || h.Devminor != 0 {
			return errors.New("a device")
		}
		mode = unix.S_IFCHR
	}
	dir, err := u.root.Open(path.Dir(h.Name))
	if err != nil {
		return err
	}
	err = errors.Join(unix.Mknodat(int(dir.Fd()), path.Base(h.Name), mode, 0), dir.Close(), u.own(h))
	if err == nil && h.Typeflag == tar.TypeFifo {
		err = u.root.Chmod(h.Name, h.FileInfo().Mode())
	}
	return errors.Join(err, u.date(h))
}

// date sets the time of an entry itself, also of a link.
func (u *unpacker) date(h *tar.Header) error {
	dir, err := u.root.Open(path.Dir(h.Name))
	if err != nil {
		return err
	}
	at := unix.NsecToTimespec(h.ModTime.UnixNano())
	return errors.Join(unix.UtimesNanoAt(int(dir.Fd()), path.Base(h.Name), []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW), dir.Close())
}
