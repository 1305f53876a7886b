package gitrepotest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's object format, not a protection
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// writeObjects writes every object of h and gives the IDs of its commits.
func writeObjects(gitDir string, h *history) ([]string, error) {
	ids := make([]string, len(h.commits))
	for i, c := range h.commits {
		tree, err := writeTree(gitDir, c.tree)
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		fmt.Fprintf(&text, "tree %s\n", tree)
		for _, p := range c.parents {
			fmt.Fprintf(&text, "parent %s\n", ids[p])
		}
		fmt.Fprintf(&text, "author %s %s\ncommitter %s %s\n\n%s\n", c.author, stamp(c.authored), c.committer, stamp(c.landed), c.subject)
		if c.body != "" {
			fmt.Fprintf(&text, "\n%s\n", c.body)
		}
		if ids[i], err = writeObject(gitDir, "commit", []byte(text.String())); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func writeTag(gitDir string, r ref, commit string, c commit) (string, error) {
	text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s %s\n\n%s\n",
		commit, strings.TrimPrefix(r.name, "refs/tags/"), c.committer, stamp(c.landed), r.message)
	return writeObject(gitDir, "tag", []byte(text))
}

// stamp is git's form of a time, with the zone that was written.
func stamp(t time.Time) string { return fmt.Sprintf("%d %s", t.Unix(), t.Format("-0700")) }

// writeTree writes a directory and all below it. Names are taken as they are:
// "../x" becomes an entry "..", which is the point of hostile samples.
func writeTree(gitDir string, files map[string]file) (string, error) {
	dirs := map[string]map[string]file{}
	type entry struct{ sortKey, mode, name, id string }
	var entries []entry
	for _, path := range sortedKeys(files) {
		name, rest, deeper := strings.Cut(path, "/")
		if deeper {
			if dirs[name] == nil {
				dirs[name] = map[string]file{}
			}
			dirs[name][rest] = files[path]
			continue
		}
		f := files[path]
		id := string(f.data)
		if f.mode != "160000" {
			var err error
			if id, err = writeObject(gitDir, "blob", f.data); err != nil {
				return "", err
			}
		}
		entries = append(entries, entry{name, f.mode, name, id})
	}
	for _, name := range sortedKeys(dirs) {
		id, err := writeTree(gitDir, dirs[name])
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{name + "/", "40000", name, id})
	}
	// git sorts a directory as if its name ended in a slash.
	sort.Slice(entries, func(i, j int) bool { return entries[i].sortKey < entries[j].sortKey })
	var buf bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(e.id)
		if err != nil || len(raw) != sha1.Size {
			return "", fmt.Errorf("%s: %q is no object ID", e.name, e.id)
		}
		fmt.Fprintf(&buf, "%s %s\x00%s", e.mode, e.name, raw)
	}
	return writeObject(gitDir, "tree", buf.Bytes())
}

func writeObject(gitDir, kind string, data []byte) (string, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sum := sha1.Sum(whole) //nolint:gosec // see the import
	id := hex.EncodeToString(sum[:])
	path := filepath.Join(gitDir, "objects", id[:2], id[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	err := os.WriteFile(path, packed.Bytes(), 0o444)
	if errors.Is(err, fs.ErrPermission) { // read-only because it is there already
		err = nil
	}
	return id, err
}
