package mask

// function is one of a unit: a Function in numbers.
type function struct {
	name                   int32 // a word, as construct and last are
	last                   int32 // the last part of its name
	group                  int32 // of which it is a member; -1
	parent, class, line    int32
	construct              int32
	takes, into, signature int32 // how many arguments, the field, and the type, see Value
	span                   span
	refs                   two // what it runs, and what it is wrapped in
	said                   two // parameters and results
	flags
}

// flags are what is or is not of a function.
type flags struct {
	public, doc, broken bool
	single              bool // the class itself answers to it
	inner               bool // functions are inside it
}

// functions are those of a unit, in order: small ones, or the other kind where one of them
// is not. There are hundreds of thousands in a tree, and most files are small.
type functions struct {
	small []small
	large []function
}

// small is a function of a file in which all places and numbers take two bytes at most, in
// half the memory. It has no type, and its references and what is said of it begin where
// those of the function before it end.
type small struct {
	name, last, group    int32
	parent, class, takes int16
	line, start, end     uint16
	refs, said           [2]uint16 // where each half ends
	construct            uint8
	flags                uint8 // a bit for each
}

// functionsOf holds functions in as little as they need.
func functionsOf(all []function) functions {
	out := functions{small: make([]small, len(all))}
	for i, f := range all {
		out.small[i] = smallOf(f)
		if out.at(i) != f {
			return functions{large: all}
		}
	}
	return out
}

func (f functions) len() int { return len(f.small) + len(f.large) }

func (f functions) at(i int) function {
	if len(f.large) > 0 {
		return f.large[i]
	}
	s := &f.small[i]
	out := function{
		name: s.name, last: s.last, group: s.group, parent: int32(s.parent), class: int32(s.class), line: int32(s.line), construct: int32(s.construct),
		takes: int32(s.takes), signature: unknown, span: span{int32(s.start), int32(s.end)},
		refs: two{0, int32(s.refs[0]), int32(s.refs[1])}, said: two{0, int32(s.said[0]), int32(s.said[1])},
		flags: flags{public: s.flags&1 > 0, doc: s.flags&2 > 0, broken: s.flags&4 > 0, single: s.flags&8 > 0, inner: s.flags&16 > 0},
	}
	if i > 0 {
		out.refs.start, out.said.start = int32(f.small[i-1].refs[1]), int32(f.small[i-1].said[1])
	}
	return out
}

// place says of a function what is known when all files were read.
func (f functions) place(i int, last, group int32) {
	if len(f.large) > 0 {
		f.large[i].last, f.large[i].group = last, group
	} else {
		f.small[i].last, f.small[i].group = last, group
	}
}

// hold says that functions are inside of one.
func (f functions) hold(i int) {
	if len(f.large) > 0 {
		f.large[i].inner = true
	} else {
		f.small[i].flags |= 16
	}
}

// smallOf is a function in few bytes: what does not fit comes to be something else.
func smallOf(f function) small {
	s := small{
		name: f.name, last: f.last, group: f.group, parent: int16(f.parent), class: int16(f.class), takes: int16(f.takes),
		line: uint16(f.line), start: uint16(f.span.start), end: uint16(f.span.end),
		refs: [2]uint16{uint16(f.refs.middle), uint16(f.refs.end)}, said: [2]uint16{uint16(f.said.middle), uint16(f.said.end)},
		construct: uint8(f.construct),
	}
	for bit, is := range [...]bool{f.public, f.doc, f.broken, f.single, f.inner} {
		if is {
			s.flags |= 1 << bit
		}
	}
	return s
}
