package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// datasetUpToDate reports whether the dataset at c.Output is the one that this store wrote last:
// a run that has nothing to do has nothing to write either.
func datasetUpToDate(c *config.Config) (bool, error) {
	noted, err := os.ReadFile(filepath.Join(c.Store, store.DatasetFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	manifest, err := manifestDigest(c)
	return err == nil && string(noted) == string(manifest)+"\n", err
}

// noteDataset remembers what was written, in store.DatasetFile beside the store.
func noteDataset(c *config.Config) error {
	manifest, err := manifestDigest(c)
	if err != nil {
		return err
	}
	return blob.WriteFile(filepath.Join(c.Store, store.DatasetFile), []byte(manifest+"\n"))
}

// manifestDigest is "" where there is no manifest.
func manifestDigest(c *config.Config) (schemas.Digest, error) {
	b, err := os.ReadFile(filepath.Join(c.Output, output.ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return schemas.DigestBytes(b), nil
}
