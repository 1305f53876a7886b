package docker

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// unbounded says why the engine must not do an ADD of these words: it unpacks archives without a limit. A file that it
// would unpack may make as many bytes as most, and each of its entries takes a block.
func unbounded(files []sandbox.File, words []string, most int64) (why string) {
	for _, word := range words[:max(len(words)-1, 0)] {
		word, found := path.Join("/", word), false
		for _, f := range files {
			name := path.Join("/", strings.TrimPrefix(f.Path, sandbox.TreePath))
			is, _ := path.Match(word, name)
			found = found || is || strings.HasPrefix(name, strings.TrimSuffix(word, "/")+"/")
			switch {
			case !is || f.Mode.IsDir():
			case f.Mode&fs.ModeSymlink != 0:
				return word + ": it is a link"
			default:
				if most -= unpacked(f.Data, most); most < 0 {
					return word + ": it unpacks to more than the disk limit, or by a program without one"
				}
			}
		}
		// Behind a linked folder, say. Of patterns the engine follows none.
		if !found && !strings.ContainsAny(word, "*?") {
			return fmt.Sprintf("%s: no such file", word)
		}
	}
	return ""
}

// unpacked is how many bytes an archive makes, or more than most.
func unpacked(data []byte, most int64) (total int64) {
	var r io.Reader = bytes.NewReader(data)
	switch has := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }; {
	case has("\x1f\x8b\x08"):
		z, err := gzip.NewReader(r)
		if err != nil {
			return 0
		}
		r = z
	case has("BZh"):
		r = bzip2.NewReader(r)
	case has("\xfd7zXZ\x00"), has("\x28\xb5\x2f\xfd"):
		return most + 1
	}
	const block = 4 << 10
	for in := tar.NewReader(r); total <= most; {
		h, err := in.Next() // which reads what the entry before holds
		if err != nil {
			break // the engine takes it for a file, or gets no further
		}
		total += min(h.Size, most) + block
	}
	return total
}
