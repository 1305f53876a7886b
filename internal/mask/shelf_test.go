package mask

import (
	"bytes"
	"os"
	"testing"
)

// Pieces are given back as they were put, from memory and from the file; the file has no name.
func TestShelf(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := &shelf{room: 100}
	var all []kept
	for i := range 50 {
		all = append(all, s.put(bytes.Repeat([]byte{byte(i)}, i)))
	}
	if s.file == nil || len(s.memory) == 0 || len(s.memory) > 100 {
		t.Fatalf("%d bytes are in memory, in a file %t", len(s.memory), s.file != nil)
	}
	if held, err := os.ReadDir(dir); err != nil || len(held) > 0 {
		t.Errorf("%v is left: %v", held, err)
	}
	for i, k := range all {
		want := bytes.Repeat([]byte{byte(i)}, i)
		if got, err := k.read(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v comes back as %v: %v", want, got, err)
		}
		if got := k.decide(span{int32(i) / 2, int32(i)}); !bytes.Equal(got, want[i/2:]) {
			t.Fatalf("half of %v comes back as %v: %v", want, got, s.err)
		}
	}
	// What cannot be read is an error, and no decision is made without it.
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := all[49].read(); err == nil {
		t.Error("a closed file is read")
	}
	if all[48].decide(span{0, 48}); s.err == nil {
		t.Error("a closed file is read for the decision")
	}
	if s.err = nil; s.put([]byte("a")).size != 1 || s.err == nil {
		t.Error("a closed file is written")
	}
}

// Where there can be no file everything is held in memory.
func TestShelfWithoutFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	s := &shelf{}
	s.put([]byte("a"))
	if got, err := s.put([]byte("bc")).read(); err != nil || string(got) != "bc" || s.close() != nil {
		t.Errorf("%q comes back: %v", got, err)
	}
}
