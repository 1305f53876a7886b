package fleet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/schemas"
)

// chunk is how many bytes of a blob go in one message.
const chunk = 512 << 10

// The headers of a transfer, and its errors.
const (
	sizeHeader   = "Size"   // of the whole, in bytes
	uploadHeader = "Upload" // which of them, a name that the worker made
	errorHeader  = "Error"
	missing      = "missing" // an error: there is no such blob
)

// idle is how long an upload waits for its next chunk.
const idle = 10 * time.Minute

// uploads are blobs that workers bring. Each is kept under the digest that its bytes have, once they are whole.
type uploads struct {
	now  func() time.Time
	mu   sync.Mutex
	open map[string]*upload
}

type upload struct {
	mu   sync.Mutex
	file *os.File
	at   int64
	last time.Time // under the lock of uploads
}

// take takes one chunk; the one that makes the blob whole ends the upload.
func (u *uploads) take(store *blob.Store, id string, want schemas.Digest, offset, size int64, data []byte) error {
	if len(data) > chunk || offset < 0 || offset+int64(len(data)) > size {
		return errors.New("a chunk that is not one")
	}
	if int64(len(data)) == size { // most are small
		got, err := store.Put(data)
		if err == nil && got != want {
			err = fmt.Errorf("brought as %s, and has the digest %s", want.Short(), got.Short())
		}
		return err
	}
	up, err := u.upload(id, offset)
	if err != nil {
		return err
	}
	up.mu.Lock()
	defer up.mu.Unlock()
	switch {
	case offset+int64(len(data)) == up.at: // its answer was lost
		return nil
	case offset != up.at:
		return fmt.Errorf("chunk at %d, want %d", offset, up.at)
	}
	if _, err := up.file.Write(data); err != nil {
		return err
	}
	if up.at += int64(len(data)); up.at < size {
		return nil
	}
	u.mu.Lock()
	delete(u.open, id)
	u.mu.Unlock()
	return up.keep(store, want)
}

func (up *upload) keep(store *blob.Store, want schemas.Digest) error {
	defer up.close()
	if _, err := up.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return store.Receive(want, up.file)
}

func (up *upload) close() {
	_ = up.file.Close()
	_ = os.Remove(up.file.Name())
}

// upload is the one with this name; the first chunk begins it.
func (u *uploads) upload(id string, offset int64) (*upload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for old, up := range u.open {
		if u.now().Sub(up.last) > idle { // its worker is gone
			up.close()
			delete(u.open, old)
		}
	}
	if up := u.open[id]; up != nil {
		up.last = u.now()
		return up, nil
	}
	if offset != 0 {
		return nil, errors.New("an upload that was not begun, or was idle for too long")
	}
	f, err := os.CreateTemp("", "benchmint-upload-*")
	if err != nil {
		return nil, err
	}
	up := &upload{file: f, last: u.now()}
	u.open[id] = up
	return up, nil
}

// The rest of the headers of a transfer.
const (
	offsetHeader = "Offset"
	digestHeader = "Digest"
	layerHeader  = "Layer" // "true": it is no blob of the run, but what is made again where it is missing
)

// receive takes one chunk of an upload.
func (c *Coordinator) receive(m *nats.Msg) (*nats.Msg, error) {
	offset, err1 := strconv.ParseInt(m.Header.Get(offsetHeader), 10, 64)
	size, err2 := strconv.ParseInt(m.Header.Get(sizeHeader), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	store := c.Blobs
	if m.Header.Get(layerHeader) != "" {
		store = c.Layers
	}
	return nats.NewMsg(m.Reply), c.uploads.take(store, m.Header.Get(uploadHeader), schemas.Digest(m.Header.Get(digestHeader)), offset, size, m.Data)
}

// give gives one chunk of a blob.
func (c *Coordinator) chunk(m *nats.Msg) (*nats.Msg, error) {
	offset, err := strconv.ParseInt(m.Header.Get(offsetHeader), 10, 64)
	if err != nil || offset < 0 {
		return nil, fmt.Errorf("offset %q", m.Header.Get(offsetHeader))
	}
	d := schemas.Digest(m.Header.Get(digestHeader))
	f, err := c.Blobs.Open(d)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = c.Layers.Open(d)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(missing)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	out := nats.NewMsg(m.Reply)
	out.Data = make([]byte, max(0, min(chunk, info.Size()-offset)))
	if _, err := f.ReadAt(out.Data, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	out.Header.Set(sizeHeader, strconv.FormatInt(info.Size(), 10))
	return out, nil
}
