package store

import (
	"encoding/json"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// inline is the largest record that stands in its row; larger ones are blobs.
const inline = 16 << 10

const blobMark = "sha256:" // no JSON begins like this

// keep gives the form in which a record is stored. A blob is on disk before the
// row that names it.
func (s *Store) keep(record json.RawMessage) (string, error) {
	if len(record) <= inline {
		return string(record), nil
	}
	d, err := s.Blobs.Put(record)
	return string(d), err
}

// record reads a record from the form in which it is stored.
func (s *Store) record(stored string) (json.RawMessage, error) {
	if !strings.HasPrefix(stored, blobMark) {
		return json.RawMessage(stored), nil
	}
	return s.Blobs.Get(schemas.Digest(stored))
}
