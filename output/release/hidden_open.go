package release

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// ErrKey is a file that none of the keys opens.
var ErrKey = errors.New("no key opens it")

// OpenHeldOut writes a dataset to a folder: the public rows of a version, and its held-out ones. Each of these must be
// the row that the version commits to. keys is a file of age's identities. ErrKey.
func OpenHeldOut(version, keys, to string) (m output.Manifest, opened int, err error) {
	public, err := output.Read(version)
	if err != nil {
		return m, 0, err
	}
	s := &Shelf{Dir: filepath.Dir(version)}
	record, err := s.Record(Version(filepath.Base(version)))
	if err != nil {
		return m, 0, err
	}
	if record.Hidden == nil || record.Hidden.HeldOut.File == "" {
		return m, 0, fmt.Errorf("%s has no held-out tasks", version)
	}
	plain, err := decrypted(filepath.Join(version, output.HeldOutFile), keys)
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(to)), 0o755); err != nil {
		return m, 0, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(to)), begun+"opened-")
	if err != nil {
		return m, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := unpackFolder(plain, tmp); err != nil {
		return m, 0, fmt.Errorf("%s: %w", output.HeldOutFile, err)
	}
	secret, err := heldOutSet(tmp, version, record.Hidden)
	if err != nil {
		return m, 0, err
	}
	m, err = merged(public, secret, to)
	return m, len(secret.Rows), err
}

// decrypted reads a file of age.
func decrypted(name, keys string) (io.ReadCloser, error) {
	k, err := os.Open(keys)
	if err != nil {
		return nil, err
	}
	ids, err := age.ParseIdentities(k)
	if err := errors.Join(err, k.Close()); err != nil {
		return nil, fmt.Errorf("%s is not a file of age's identities (age-keygen): %w", keys, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(f, ids...)
	if err != nil {
		var none *age.NoIdentityMatchError
		if errors.As(err, &none) {
			err = fmt.Errorf("%w: it is for other keys than those of %s", ErrKey, keys)
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, f}, nil
}

// unpackFolder writes the files of a tar.gz below a folder.
func unpackFolder(r io.Reader, dir string) error {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, zr) // to the end, which age vouches for
			return err
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("%q is not a file below the folder", h.Name)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode)&0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, tr)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// heldOutSet reads the dataset of held-out tasks, with the base trees that stand open, and holds it to the commitments.
func heldOutSet(dir, version string, h *Veiled) (*output.Dataset, error) {
	open := filepath.Join(version, output.HeldOutDir, output.BlobsDir)
	entries, err := os.ReadDir(open)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(open, e.Name()))
		if err == nil {
			err = blob.WriteFile(filepath.Join(dir, output.BlobsDir, e.Name()), b)
		}
		if err != nil {
			return nil, err
		}
	}
	findings, err := output.Check(dir)
	if err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return nil, fmt.Errorf("%s: %s", output.HeldOutFile, output.Names(findings))
	}
	d, err := output.Read(dir)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, noncesFile))
	if err != nil {
		return nil, err
	}
	var nonces map[string]string
	if err := json.Unmarshal(output.Bare(noncesFile, b), &nonces); err != nil {
		return nil, fmt.Errorf("%s: %w", noncesFile, err)
	}
	want := byID(h.HeldOut.Tasks)
	for _, r := range d.Rows {
		line, err := d.Line(r)
		if err != nil {
			return nil, err
		}
		if got := Commitment(nonces[r.InstanceID], line); got != want[r.InstanceID] {
			return nil, fmt.Errorf("%s: the row is not the one that %s commits to", r.InstanceID, path.Join(version, output.ReleaseFile))
		}
		delete(want, r.InstanceID)
	}
	for id := range want {
		return nil, fmt.Errorf("%s: %s does not have it", id, output.HeldOutFile)
	}
	return d, nil
}

// merged writes public and held-out rows as one dataset.
func merged(public, secret *output.Dataset, to string) (output.Manifest, error) {
	m := public.Manifest
	again := *m.Release
	again.Hidden = nil
	every := func(output.Row) bool { return true }
	all := slices.Concat(public.Carry(every), secret.Carry(every))
	slices.SortFunc(all, func(a, b output.Carried) int { return strings.Compare(a.Row.InstanceID, b.Row.InstanceID) })
	in := output.Input{
		Name: m.Name, Splits: []output.SplitInput{{Name: m.Splits[0].Name, Carried: all}}, CarriedRejects: public.Rejects,
		Flakes: slices.Values(slices.Concat(public.Flakes, secret.Flakes)), Funnel: m.Funnel, Releases: m.Releases, Configuration: m.Configuration, Tools: m.Tools, Release: &again,
	}
	if n := len(in.Funnel); n > 0 { // that of the writing is made again
		in.Funnel = in.Funnel[:n-1]
	}
	kept, err := public.Packages()
	if err != nil {
		return output.Manifest{}, err
	}
	if len(kept.Environments) > 0 {
		in.Packages = &output.Keeping{Index: kept, Open: func(d schemas.Digest) (io.ReadCloser, error) {
			return os.Open(filepath.Join(public.Dir, filepath.FromSlash(output.PackagePath(d))))
		}}
	}
	return output.Write(to, in)
}
