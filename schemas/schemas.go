// Package schemas holds the records that benchmint stores and exchanges: facts,
// which come from the world (Repo, Change), and results, which are ours (Start,
// Environment, Proof, Statement), with their IDs, digests and reject reasons.
//
// It never imports another package of this module, never reads a file or a
// clock, and holds plain values only: trees, patches, logs and reports are
// blobs that records name by digest.
package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
)

// Digest names content: "sha256:" and 64 hex digits. The zero Digest names nothing.
type Digest string

// DigestBytes is the digest of raw bytes.
func DigestBytes(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// DigestSum is the digest of what was written to a SHA-256.
func DigestSum(h hash.Hash) Digest {
	return Digest("sha256:" + hex.EncodeToString(h.Sum(nil)))
}

// DigestOf is the digest of a value's canonical JSON: struct order, sorted map
// keys, no HTML escapes. Values with times or paths in them must not be passed.
func DigestOf(v any) Digest {
	b, err := Canonical(v)
	if err != nil {
		// Records are plain values; one that cannot be encoded is a programming error
		// that the round-trip tests of this package catch.
		panic(fmt.Sprintf("digest of %T: %v", v, err))
	}
	return DigestBytes(b)
}

// Canonical is the one JSON form that is digested and written to disk.
func Canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Hex is the digest without the name of its algorithm.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }

// Short is the first 12 hex digits, for names and messages.
func (d Digest) Short() string {
	const prefix = len("sha256:")
	if len(d) < prefix+12 {
		return string(d)
	}
	return string(d[prefix : prefix+12])
}
