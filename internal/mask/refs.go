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

// packed are numbers, one after another in as few bytes as they need.
type packed []byte

func (s *packed) add(n int32) { *s = binary.AppendUvarint(*s, uint64(uint32(n))) }

// take takes the first off.
func (s *packed) take() int32 {
	n, size := binary.Uvarint(*s)
	*s = (*s)[size:]
	return int32(uint32(n))
}

// refs are references, packed: there are millions of them, most are looked at twice, and
// one by one. A span of them is one of bytes.
type refs struct{ packed }

func (s *refs) put(r ref) {
	s.add(r.path)
	s.add(r.in)
	s.add(r.into)
}

// of are the references of a span.
func (k kept) of(at span) iter.Seq[ref] {
	return func(yield func(ref) bool) {
		for rest := k.decide(at); len(rest) > 0; {
			if !yield(refIn(&rest)) {
				return
			}
		}
	}
}

// lines are those of a span in which the line stands behind each.
func (k kept) lines(at span) iter.Seq2[ref, int32] {
	return func(yield func(ref, int32) bool) {
		for rest := k.decide(at); len(rest) > 0; {
			if !yield(refIn(&rest), rest.take()) {
				return
			}
		}
	}
}

func refIn(rest *packed) ref {
	return ref{path: rest.take(), in: rest.take(), into: rest.take()}
}
