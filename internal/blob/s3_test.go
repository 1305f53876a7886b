package blob_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/schemas"
)

// bucket is a server of S3's protocol; away answers so many of its next requests as a server that fails.
type bucket struct {
	env  map[string]string
	mem  *s3mem.Backend
	away atomic.Int64
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{mem: s3mem.New()}
	if err := b.mem.CreateBucket("mint"); err != nil {
		t.Fatal(err)
	}
	s3 := gofakes3.New(b.mem).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.away.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.env = map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "s3cret"}
	return b
}

func (b *bucket) lookup(name string) string { return b.env[name] }

// TestS3: two machines exchange blobs through a bucket, small and large, over a server that is away for a while;
// what was changed there is refused.
func TestS3(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	remote, err := blob.NewS3(t.Context(), "s3://mint/run", b.lookup)
	if err != nil {
		t.Fatal(err)
	}
	here, err1 := blob.Open(t.TempDir())
	there, err2 := blob.Open(t.TempDir())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	here.Remote, there.Remote = remote, remote
	b.away.Store(2)
	small, err := here.Put([]byte("small"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, []byte(strings.Repeat("large", 3<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	large, err := here.PutFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.away.Store(2)
	for _, d := range []schemas.Digest{small, large} {
		if got, err := there.Get(d); err != nil || schemas.DigestBytes(got) != d {
			t.Errorf("%s: %d bytes, %v", d.Short(), len(got), err)
		}
	}
	if _, err := there.Get(schemas.DigestBytes([]byte("never put"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a blob that nobody put: %v", err)
	}
	key := "run/" + strings.TrimPrefix(string(small), "sha256:")
	if _, err := b.mem.PutObject("mint", key, map[string]string{}, strings.NewReader("other"), 5, nil); err != nil {
		t.Fatal(err)
	}
	third, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	third.Remote = remote
	if _, err := third.Get(small); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("an object that was changed: %v", err)
	}
}

// TestS3Refused: what cannot be used is said before anything starts, and no key is in what is said.
func TestS3Refused(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	for location, env := range map[string]map[string]string{
		"s3://":       {},
		"mint":        {},
		"s3://other":  {},
		"s3://mint":   {"AWS_ACCESS_KEY_ID": ""},
		"s3://mint/a": {"AWS_ENDPOINT_URL": "not a url"},
	} {
		_, err := blob.NewS3(t.Context(), location, func(name string) string {
			if v, ok := env[name]; ok {
				return v
			}
			return b.lookup(name)
		})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", location, err)
		}
	}
}
