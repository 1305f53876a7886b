package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/schemas"
)

// Objects tells apart two states of a repository in which it may have other objects,
// by the files that hold them: what was missing may be there now.
func (r *Repo) Objects() schemas.Digest {
	var seen []string
	for _, dir := range r.stores {
		// Packs by name; a loose object changes the folder that it is put into.
		for _, pattern := range []string{"pack/*.pack", "[0-9a-f][0-9a-f]"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the only error is a malformed pattern
			for _, f := range files {
				if info, err := os.Stat(f); err == nil {
					seen = append(seen, fmt.Sprintf("%s %d", f, info.ModTime().UnixNano()))
				}
			}
		}
	}
	return schemas.DigestOf(seen)
}
