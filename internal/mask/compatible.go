package mask

import (
	"cmp"

	"github.com/benchmint/benchmint/internal/syntax"
)

// Compatible is a Language that can also choose as the published commit0 tool does.
type Compatible interface {
	Language
	// Commit0Files gives the published tool's rules about files, for a whole tree:
	// paths are all its regular files (slashes, relative to the root that is masked),
	// src and tests the folders of the source and of the tests ("." for the root,
	// tests "" where none is named). What it gives tells of one path why it stays as it
	// is, the zero value for a file that the tool rewrites.
	Commit0Files(paths []string, src, tests string) func(path string) Whole
	// Commit0 is what the published tool does with one file that it rewrites. The tree
	// is not kept. What the file needs to stay valid (a refilled block) is among the
	// edits.
	Commit0(path string, tree *syntax.Tree, profile Profile) Choice
}

// Choice is what a compatible profile does with one file.
type Choice struct {
	// Functions are in source order, an outer one before what is inside it; Body is
	// what was taken out, or would have been. Runs may be empty.
	Functions []Function
	Fates     []Fate // by function
	Edits     []Edit
	Faults    []int // lines of syntax errors outside functions
}

// Fate is what became of one function.
type Fate struct {
	Done   Done
	Reason string // of what is kept, one line
	Group  string // the reason without what it says of one place, where it says that; functions are counted by it
}

// counted is what the function is counted by.
func (f Fate) counted() string { return cmp.Or(f.Group, f.Reason) }

// Done is a word of the manifest.
type Done string

// What may become of a function.
const (
	Masked  Done = "masked"
	Removed Done = "removed" // the whole definition was taken out (commit0)
	Kept    Done = "kept"
	Gone    Done = "gone" // inside of one that was masked or removed
)
