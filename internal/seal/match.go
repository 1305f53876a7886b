package seal

import (
	"bytes"
	"errors"
	"io"
)

const (
	windowLen = 10 // no needle is shorter; the longest jump is windowLen - blockLen + 1
	blockLen  = 4
	tableBits = 18
	maxNeedle = 200 // longer ones are cut: enough to be sure, and what is carried over stays small
)

// matcher finds many needles at once (Wu and Manber, 1994): it looks at the
// window's last block and jumps as far as no needle can begin. Each needle is
// looked for by a window in its middle, because lines of code differ there most.
type matcher struct {
	needles [][]byte
	shift   []uint8
	buckets map[uint32][]int32 // block → needles whose window ends with it
	offset  []int              // of the window in its needle
	longest int
	buf     []byte
}

func newMatcher(needles [][]byte) *matcher {
	m := &matcher{needles: needles, shift: make([]uint8, 1<<tableBits), buckets: map[uint32][]int32{}, offset: make([]int, len(needles))}
	for i := range m.shift {
		m.shift[i] = windowLen - blockLen + 1
	}
	for i, n := range needles {
		m.longest = max(m.longest, len(n))
		m.offset[i] = (len(n) - windowLen) / 2
		window := n[m.offset[i] : m.offset[i]+windowLen]
		for j := blockLen; j <= windowLen; j++ {
			h := hash(window[j-blockLen:])
			m.shift[h] = min(m.shift[h], uint8(windowLen-j))
		}
		h := hash(window[windowLen-blockLen:])
		m.buckets[h] = append(m.buckets[h], int32(i))
	}
	m.buf = make([]byte, 256<<10+m.longest)
	return m
}

func hash(b []byte) uint32 {
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	return v * 2654435761 >> (32 - tableBits)
}

// in calls found for the needles of b, each at least once.
func (m *matcher) in(b []byte, found func(int)) {
	for end := windowLen; end <= len(b); {
		h := hash(b[end-blockLen:])
		if s := m.shift[h]; s > 0 {
			end += int(s)
			continue
		}
		for _, i := range m.buckets[h] {
			n := m.needles[i]
			from := end - windowLen - m.offset[i]
			if from >= 0 && from+len(n) <= len(b) && bytes.Equal(b[from:from+len(n)], n) {
				found(int(i))
			}
		}
		end++
	}
}

// read is in for a stream of any length.
func (m *matcher) read(r io.Reader, found func(int)) (int64, error) {
	if len(m.needles) == 0 {
		return io.Copy(io.Discard, r)
	}
	var total int64
	kept := 0 // bytes of the end that a needle may go on from
	for {
		n, err := io.ReadFull(r, m.buf[kept:])
		total += int64(n)
		m.in(m.buf[:kept+n], found)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		kept = copy(m.buf, m.buf[kept+n-(m.longest-1):kept+n])
	}
}
