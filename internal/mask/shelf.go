package mask

import (
	"errors"
	"fmt"
	"os"
)

// shelf holds bytes of all files, one after another: the first in memory and, where those
// are many, the rest in a file without a name, which is gone with the process. Most of them
// are asked for once or twice, and file after file.
type shelf struct {
	room   int64 // bytes in memory
	memory []byte
	file   *os.File // nil as long as memory is enough
	end    int64
	err    error // of the file: what was read since is not what was put there

	last kept // that was read from the file for the decision
	text []byte
}

// roomOfShelf is what the facts of some thousand files take.
const roomOfShelf = 3 << 20

// kept is a piece of what a shelf holds.
type kept struct {
	in   *shelf
	at   int64
	size int32
}

// put adds a piece. It is for one at a time. Where there can be no file everything is in
// memory.
func (s *shelf) put(text []byte) kept {
	k := kept{s, s.end, int32(len(text))}
	s.end += int64(len(text))
	if s.file == nil && s.end > s.room {
		s.open()
	}
	if s.file == nil {
		s.memory = append(s.memory, text...)
	} else if _, err := s.file.WriteAt(text, k.at); err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("what is known of the files: %w", err))
	}
	return k
}

func (s *shelf) open() {
	f, err := os.CreateTemp("", "benchmint-mask-")
	if err != nil {
		return
	}
	if err := os.Remove(f.Name()); err != nil { // it would stay
		_ = f.Close()
		return
	}
	s.file = f
}

func (s *shelf) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// read gives a piece back. Several may read at a time.
func (k kept) read() ([]byte, error) {
	if end := k.at + int64(k.size); end <= int64(len(k.in.memory)) {
		return k.in.memory[k.at:end:end], nil
	}
	text := make([]byte, k.size)
	if _, err := k.in.file.ReadAt(text, k.at); err != nil {
		return nil, fmt.Errorf("what is known of the file: %w", err)
	}
	return text, nil
}

// decide is read for the decision, which asks for one function of a file after another, and
// looks for an error at its end. It is for one at a time.
func (k kept) decide(at span) packed {
	s := k.in
	if at.start == at.end {
		return nil
	}
	if s.last != k {
		text, err := k.read()
		if err != nil {
			s.err = errors.Join(s.err, err)
			return nil
		}
		s.last, s.text = k, text
	}
	return s.text[at.start:at.end]
}
