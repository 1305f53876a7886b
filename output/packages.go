package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/schemas"
)

// PackagesFile is the index of the packages that a release keeps in its blobs: packages.Index. A
// release without any has none.
const PackagesFile = "packages.json"

// Keeping is the packages that a dataset is written with.
type Keeping struct {
	Index packages.Index
	Open  func(schemas.Digest) (io.ReadCloser, error)
}

// Storage is what the blobs of a release hold.
type Storage struct {
	Archives     int   `json:"archives"` // of base trees
	ArchiveBytes int64 `json:"archive_bytes"`
	Environments int   `json:"environments"` // whose packages are kept, complete or not
	Packages     int   `json:"packages"`     // files, each once
	PackageBytes int64 `json:"package_bytes"`
	Provable     int   `json:"provable"` // tasks that are proved without a registry
}

// PackagePath is where a kept package lies in the folder.
func PackagePath(d schemas.Digest) string { return path.Join(BlobsDir, d.Hex()) }

// Packages is the index of kept packages; empty where none are.
func (d *Dataset) Packages() (x packages.Index, err error) {
	b, err := readIn(d.Dir, PackagesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err == nil {
		err = strict(Bare(PackagesFile, b), &x)
	}
	if err == nil && x.Format != packages.Format {
		err = fmt.Errorf("format is %q; this version reads %q", x.Format, packages.Format)
	}
	if err != nil {
		return x, fmt.Errorf("%s: %w", PackagesFile, err)
	}
	return x, nil
}

// Kept serves the kept packages to builds; nil where there are none.
func (d *Dataset) Kept() (*packages.Kept, error) {
	x, err := d.Packages()
	if err != nil || len(x.Environments) == 0 {
		return nil, err
	}
	return packages.NewKept(x, func(digest schemas.Digest) (packages.Content, error) {
		if !digestShape.MatchString(string(digest)) {
			return nil, fmt.Errorf("%q is not a digest", digest)
		}
		return openIn(d.Dir, PackagePath(digest))
	}), nil
}

// packages writes the index and what it names.
func (w *writer) packages(in *Keeping) error {
	if in == nil || len(in.Index.Environments) == 0 {
		return nil
	}
	for _, f := range in.Index.Distinct() {
		if err := w.pack(f, in.Open); err != nil {
			return fmt.Errorf("keeping %s: %w", f.File, err)
		}
		w.storage.Packages++
		w.storage.PackageBytes += f.Size
	}
	w.storage.Environments = len(in.Index.Environments)
	b, err := indented(in.Index)
	if err != nil {
		return err
	}
	return w.put(PackagesFile, 0o644, w.marked(PackagesFile, b))
}

func (w *writer) pack(f packages.File, open func(schemas.Digest) (io.ReadCloser, error)) error {
	from, err := open(f.Digest)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := w.stream(PackagePath(f.Digest))
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return errors.Join(err, to.drop())
	}
	if err := w.keep(to); err != nil {
		return err
	}
	if to.digest() != f.Digest || to.size != f.Size {
		return fmt.Errorf("%s: %w", PackagePath(f.Digest), errors.New("the bytes do not have the digest that names them"))
	}
	return nil
}

// storageText says what the blobs of a release hold.
func storageText(b *bytes.Buffer, m Manifest) {
	s := m.Storage
	if s == nil || m.Counts.Tasks == 0 {
		return
	}
	mb := func(bytes int64) string { return fmt.Sprintf("%.2f MB", float64(bytes)/1e6) }
	tasks := int64(m.Counts.Tasks)
	fmt.Fprintf(b, "\n## Storage\n\n| | Files | Together | A task |\n| --- | ---: | ---: | ---: |\n")
	fmt.Fprintf(b, "| Base trees | %d | %s | %s |\n", s.Archives, mb(s.ArchiveBytes), mb(s.ArchiveBytes/tasks))
	fmt.Fprintf(b, "| Packages | %d | %s | %s |\n", s.Packages, mb(s.PackageBytes), mb(s.PackageBytes/tasks))
	fmt.Fprintf(b, "\nTasks that are proved without a registry, from kept packages: %d of %d (%.0f %%).\n", s.Provable, tasks, 100*float64(s.Provable)/float64(tasks))
}

// packages: the index names what is there, nothing else is there, and the manifest sums it up.
func (c *checker) packages(sums map[string]string) {
	x, err := c.d.Packages()
	if err != nil {
		c.add(PackagesFile, RuleSyntax, "%v", err)
		return
	}
	c.packageFiles(x, sums)
	used, provable := map[schemas.Digest]bool{}, 0
	for _, r := range c.d.Rows {
		env, err := c.d.Environment(r.Row)
		if err != nil {
			continue // reported with the row
		}
		if x.Provable(env.Recipe) {
			provable++
		}
		for _, r := range packages.Recipes(env.Recipe) {
			used[packages.KeyOf(r)] = true
			c.locked(x.Find(r), r.Lock)
		}
	}
	for i, e := range x.Environments {
		if !used[e.Recipe] {
			c.add(PackagesFile, RulePackages, "no task needs the environment %s", e.Recipe.Short())
		}
		if i > 0 && x.Environments[i-1].Recipe >= e.Recipe {
			c.add(PackagesFile, RulePackages, "the environment %s is out of order", e.Recipe.Short())
		}
	}
	c.storage(x, sums, provable)
}

func (c *checker) packageFiles(x packages.Index, sums map[string]string) {
	named := map[string]bool{}
	for _, f := range x.Distinct() {
		name := PackagePath(f.Digest)
		named[name] = true
		if info, err := os.Stat(filepath.Join(c.d.Dir, filepath.FromSlash(name))); err != nil {
			c.add(name, RulePackages, "%s names it as %s: %s", PackagesFile, f.File, cause(err))
		} else if info.Size() != f.Size || sums[name] != f.Digest.Hex() {
			c.add(name, RulePackages, "it is not %s, of %d bytes, that %s names", f.File, f.Size, PackagesFile)
		}
	}
	for name := range sums {
		if path.Dir(name) == BlobsDir && path.Ext(name) == "" && !named[name] {
			c.add(name, RulePackages, "%s does not name it", PackagesFile)
		}
	}
}

// locked: a complete environment has a file for each entry of its lock.
func (c *checker) locked(e *packages.Environment, lock string) {
	if e == nil || !e.Complete {
		return
	}
	for _, name := range e.Missing(lock) {
		c.add(PackagesFile, RulePackages, "the environment %s is complete, and has no file for %s of its lock", e.Recipe.Short(), name)
	}
}

func (c *checker) storage(x packages.Index, sums map[string]string, provable int) {
	got := Storage{Environments: len(x.Environments), Provable: provable}
	for _, f := range x.Distinct() {
		got.Packages++
		got.PackageBytes += f.Size
	}
	for name := range sums {
		if path.Dir(name) != BlobsDir || !strings.HasSuffix(name, archiveExt) {
			continue
		}
		got.Archives++
		if info, err := os.Stat(filepath.Join(c.d.Dir, filepath.FromSlash(name))); err == nil {
			got.ArchiveBytes += info.Size()
		}
	}
	if said := c.d.Manifest.Storage; said != nil && *said != got {
		c.add(ManifestFile, RuleCount, "storage is %+v; the folder holds %+v", *said, got)
	} else if said == nil && len(x.Environments) > 0 {
		c.add(ManifestFile, RuleCount, "storage is not there, and %s is", PackagesFile)
	}
}
