package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ours reports whether dir may be replaced.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return cannot(dir, err)
	}
	var m struct{ Format string }
	b, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil || json.Unmarshal(b, &m) != nil || !strings.HasPrefix(m.Format, "benchmint-dataset/") {
		return fmt.Errorf("%s %w", dir, ErrNotOurs)
	}
	return nil
}

var ownNames = []string{ReleaseFile, CostFile, ManifestFile, CardFile, RejectsFile, RedactionsFile, FlakesFile, PackagesFile, TimingsFile, ChecksumsFile, DataDir, TasksDir, BlobsDir, PlotsDir}

// swap makes tmp the dataset at dir in one step, and moves what is not ours over.
func swap(tmp, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(tmp, dir); err != nil {
			return fmt.Errorf("writing dataset: %w", err)
		}
		return nil
	}
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system without exchange: two steps, a gap between
		old := tmp + ".old"
		if err = os.Rename(dir, old); err == nil {
			err = os.Rename(tmp, dir)
		}
		if err == nil {
			err = os.Rename(old, tmp)
		}
	}
	if err != nil {
		return fmt.Errorf("writing dataset: swapping it in: %w", err)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return fmt.Errorf("writing dataset: %w", err)
	}
	for _, e := range entries {
		if slices.Contains(ownNames, e.Name()) {
			continue
		}
		if err := os.Rename(filepath.Join(tmp, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("keeping %s, which is not ours: %w", e.Name(), err)
		}
	}
	return nil
}
