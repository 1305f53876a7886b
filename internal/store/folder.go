package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// ErrForeign is a folder that holds something and no store: it is not made one, and
// nothing in it is touched.
var ErrForeign = errors.New("is not empty and not a store")

// blobsDir is the folder of blobs beside the steps.
const blobsDir = "blobs"

// Names that verbs keep beside the steps: where the sources lie on this machine, which ones
// searches found, and the digest of the manifest that was written last.
const (
	NotesFile   = "sources.json"
	FoundFile   = "found.json"
	DatasetFile = "dataset"
)

// ownNames are the files of a store, beside its blobs.
var ownNames = []string{sqliteFile, sqliteFile + "-wal", sqliteFile + "-shm", sqliteFile + "-journal", lockName, NotesFile, FoundFile, DatasetFile}

var (
	blobFolder = lazyregexp.New(`^[0-9a-f]{2}$`)
	blobFile   = lazyregexp.New(`^[0-9a-f]{62}$`)
)

// Fit reports why there cannot be a store at a folder; it makes nothing. ErrForeign.
func Fit(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && Exists(dir) {
		return nil
	}
	if err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		return err
	}
	for _, e := range entries {
		// A store whose making was cut off has some of its files; a fresh file system
		// has lost+found.
		if name := e.Name(); !isOwn(name) && name != blobsDir && name != "lost+found" {
			return fmt.Errorf("%s %w: it holds %s", dir, ErrForeign, name)
		}
	}
	return nil
}

func isOwn(name string) bool {
	return slices.Contains(ownNames, name) || strings.HasPrefix(name, ".tmp-") // of a file that was being written
}

// Files are the files of the store at a folder, with folders of work that was not finished, and what else lies in it; folders
// that would be empty without them are left to Remove.
func Files(dir string) (own, others []string, err error) {
	if !Exists(dir) {
		return nil, nil, nil
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		at := strings.Split(filepath.ToSlash(rel), "/")
		known := false
		switch {
		case len(at) == 1:
			known = isOwn(at[0]) || at[0] == blobsDir && d.IsDir()
		case at[0] != blobsDir:
		case len(at) == 2:
			known = d.IsDir() && (blobFolder.MatchString(at[1]) || at[1] == "unfinished") || at[1] == blob.IDFile
		case len(at) == 3:
			known = blobFile.MatchString(at[2]) || strings.HasPrefix(at[2], ".tmp-")
		}
		switch {
		case len(at) == 3 && at[0] == blobsDir && at[1] == "unfinished": // blobs, and folders that blobs are made in
			own = append(own, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		case known && !d.IsDir() && d.Type().IsRegular():
			own = append(own, path)
		case known && d.IsDir() && len(at) < 3:
		default:
			others = append(others, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return own, others, err
}

// Remove deletes the files of the store at a folder, and the folder itself where
// nothing else lies in it. The caller has its lock.
func Remove(dir string) error {
	own, _, err := Files(dir)
	if err != nil {
		return err
	}
	for _, path := range own {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	folders, err := filepath.Glob(filepath.Join(dir, blobsDir, "*"))
	if err != nil {
		return err
	}
	for _, folder := range append(folders, filepath.Join(dir, blobsDir), dir) {
		if entries, err := os.ReadDir(folder); err == nil && len(entries) == 0 {
			if err := os.Remove(folder); err != nil {
				return err
			}
		}
	}
	return nil
}
