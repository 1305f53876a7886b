package tree

// Version is what the history says at base, for versions taken from tags.
type Version struct {
	Tag      string // nearest tag among the ancestors, as git describe --tags finds it; "" for none
	Distance int    // commits since
	Commit   string // abbreviated base commit
}
