package secrets

// index finds keywords in a text, in one pass and without regard to case. Keywords have
// two bytes at least.
type index struct {
	byStart map[[2]byte][]keyword
	starts  [1 << 16]bool
}

type keyword struct {
	word  string
	rules []int
}

func (x *index) add(word string, rule int) {
	if x.byStart == nil {
		x.byStart = map[[2]byte][]keyword{}
	}
	at := [2]byte{word[0], word[1]}
	for i, k := range x.byStart[at] {
		if k.word == word {
			x.byStart[at][i].rules = append(k.rules, rule)
			return
		}
	}
	x.byStart[at] = append(x.byStart[at], keyword{word, []int{rule}})
	x.starts[int(word[0])<<8|int(word[1])] = true
}

// each gives the place of every keyword in text, and the rules that ask for it.
func (x *index) each(text string, visit func(at int, rules []int)) {
	for i := 0; i+1 < len(text); i++ {
		a, b := lower(text[i]), lower(text[i+1])
		if !x.starts[int(a)<<8|int(b)] {
			continue
		}
		for _, k := range x.byStart[[2]byte{a, b}] {
			if hasFold(text[i:], k.word) {
				visit(i, k.rules)
			}
		}
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func hasFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}
