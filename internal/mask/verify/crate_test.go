package verify_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"testing"
)

// shelved is a registry of one crate, kept, in a tree that takes its crates from there.
// The crate's author let nobody else read it.
func shelved(t *testing.T) map[string]string {
	t.Helper()
	var crate bytes.Buffer
	packed := gzip.NewWriter(&crate)
	archive := tar.NewWriter(packed)
	for _, f := range []struct{ name, text string }{
		{"Cargo.toml", "[package]\nname = \"kept\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"},
		{"src/lib.rs", "pub const ONE: i32 = 1;\n"},
	} {
		if err := archive.WriteHeader(&tar.Header{Name: "kept-1.0.0/" + f.name, Mode: 0o640, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		".cargo/config.toml":     "[source.crates-io]\nreplace-with = \"shelf\"\n[source.shelf]\nlocal-registry = \"shelf\"\n",
		"shelf/kept-1.0.0.crate": crate.String(),
		"shelf/index/ke/pt/kept": fmt.Sprintf(`{"name":"kept","vers":"1.0.0","deps":[],"features":{},"cksum":"%x","yanked":false}`+"\n", sha256.Sum256(crate.Bytes())),
	}
}
