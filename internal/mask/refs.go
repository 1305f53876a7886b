package mask

import (
	"encoding/binary"
	"iter"
	"slices"
)

// ref is a Ref, compact. The class and the use are one number.
type ref struct {
	path int32
	in   int32
	into int32 // of calls, 0 for none
}

var ways = [...]Use{Named, Called, Inherited, Handed, Made, Bound, Ran, Applied, Returned, Relayed, Adorned}

// refOf is a reference from within a class, -1 for none.
func refOf(path int32, class int, u Use) ref {
	return ref{path: path, in: int32(class+1)*int32(len(ways)) + int32(max(0, slices.Index(ways[:], u)))}
}

func (r ref) use() Use { return ways[r.in%int32(len(ways))] }

func (r ref) class() int32 { return r.in/int32(len(ways)) - 1 }

// refs are references, one after another in as few bytes as they need: there are millions
// of them, most are looked at twice, and one by one. A span of them is one of bytes.
type refs []byte

func (s *refs) add(r ref) {
	s.number(r.path)
	s.number(r.in)
	s.number(r.into)
}

func (s *refs) number(n int32) { *s = binary.AppendUvarint(*s, uint64(n)) }

// of are those of a span.
func (s refs) of(at span) iter.Seq[ref] {
	return func(yield func(ref) bool) {
		for rest := s[at.start:at.end]; len(rest) > 0; {
			if !yield(rest.ref()) {
				return
			}
		}
	}
}

// lines are those of a span in which the line stands behind each.
func (s refs) lines(at span) iter.Seq2[ref, int32] {
	return func(yield func(ref, int32) bool) {
		for rest := s[at.start:at.end]; len(rest) > 0; {
			if !yield(rest.ref(), rest.take()) {
				return
			}
		}
	}
}

// ref takes the first off.
func (s *refs) ref() ref { return ref{path: s.take(), in: s.take(), into: s.take()} }

func (s *refs) take() int32 {
	n, size := binary.Uvarint(*s)
	*s = (*s)[size:]
	return int32(n)
}
