package tree

import (
	"fmt"
	"strings"
)

// maxPath is the longest path of a tree, in bytes: with the folders above it, it has to
// fit into the 4096 that Linux takes.
const (
	maxPath = 2048
	maxName = 255
)

// checkPath refuses what git itself refuses to check out (verify_path, with
// core.protectHFS and core.protectNTFS), and what no file system takes.
func checkPath(path string) error {
	if path == "" || path[0] == '/' || strings.ContainsRune(path, 0) || len(path) > maxPath {
		return fmt.Errorf("%.300q: %w", path, ErrUnsafe)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || len(part) > maxName || isDotGit(part) {
			return fmt.Errorf("%q: %w", path, ErrUnsafe)
		}
	}
	return nil
}

// isDotGit reports whether some file system takes a name for .git: one that folds case,
// HFS+ (it passes over characters without width), or NTFS (it drops blanks and full stops at the
// end, knows streams after a colon, a short name, and the backslash as a separator).
func isDotGit(name string) bool {
	if strings.EqualFold(strings.Map(widthless, name), ".git") {
		return true
	}
	if at := strings.IndexAny(name, `:\`); at >= 0 {
		name = name[:at]
	}
	name = strings.TrimRight(name, " .")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// widthless drops the characters that HFS+ passes over (git's next_hfs_char).
func widthless(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
