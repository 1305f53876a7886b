package mask

// Counted is the Path of a call's own Into where the language says with how many arguments
// it is: At is a Number. A function that does not take as many is not what runs where nothing
// is known of the object that it is called on.
const Counted = "#()"

// The most arguments that are told apart, before and behind a name.
const maxPlaced, maxNamed = 6, 7

// Number is that of a call's arguments: those by their place, and those by a name. It is
// -1 where that is not told.
func Number(placed, named int) int {
	if placed > maxPlaced || named > maxNamed {
		return -1
	}
	return placed*(maxNamed+1) + named
}

// Takes is what a function says of its arguments: how many it needs, the object before them
// not among them, and how many it takes by their place at most, that object among them; -1
// for any. It is for Function.Arguments.
func Takes(needs, most int) int {
	if most < 0 {
		most = anyPlaced
	}
	return min(needs, anyPlaced)<<8 | min(most, anyPlaced)
}

const anyPlaced = 255

// counts are those of the calls of a name, a bit for each; 0 is any.
type counts uint64

// both are those of two; any of one is any of both.
func (c counts) both(other counts) counts {
	if c == 0 || other == 0 {
		return 0
	}
	return c | other
}

// counts are those of one call.
func (c *closure) counts(r ref) counts {
	if r.into == 0 || !r.use.calls() {
		return 0
	}
	call := c.calls[r.into-1]
	if c.words.texts[c.words.split(call.path)[0]] != Counted {
		return 0
	}
	return 1 << call.at
}

// fits reports whether a function may be called so. One that is called on its class has the
// object among its arguments.
func (c *closure) fits(f int, of counts) bool {
	takes := c.of(f).Arguments
	if of == 0 || takes <= 0 || !c.of(f).unit.means.Counted {
		return true
	}
	needs, most := takes>>8, takes&anyPlaced
	for placed := 0; placed <= maxPlaced; placed++ {
		for named := 0; named <= maxNamed; named++ {
			if of&(1<<(placed*(maxNamed+1)+named)) != 0 && placed <= most && placed+named >= needs {
				return true
			}
		}
	}
	return false
}
