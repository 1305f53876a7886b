package formats

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/schemas"
)

// The rows open with the real library, as Parquet, as JSON lines and with lists, and are
// equal in all of them.
func TestDatasetsLoadsRows(t *testing.T) {
	t.Parallel()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NO CACHE FOLDER, so no client: %v", err)
	}
	d := dataset(t, task(t, schemas.KindFeature), task(t, schemas.KindEdit))
	for _, f := range []Format{HuggingFace{}, SWEBench{}} {
		dir := filepath.Join(t.TempDir(), f.Name())
		if _, err := Export(dir, d, f); err != nil {
			t.Fatal(err)
		}
		r, err := verify.HuggingFace(context.Background(), dir, "test", []string{verify.Parquet, verify.JSONL, verify.Lists}, verify.Options{Cache: filepath.Join(cache, "benchmint"), Env: os.Environ(), Say: t.Logf})
		if errors.Is(err, verify.ErrNoClient) {
			t.Skipf("DATASETS IS NOT HERE, the rows were opened with no real client (.ci/setup test gets it): %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows != 2 || len(r.Formats) != 3 || !r.Equal() {
			t.Errorf("%s: %+v", f.Name(), r)
		}
		lists := r.Formats[2].Columns
		if lists["FAIL_TO_PASS"] != "List(Value('string'))" || lists["created_at"] != "string" {
			t.Errorf("%s: %v", f.Name(), lists)
		}
	}
}
