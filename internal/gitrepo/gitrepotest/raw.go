package gitrepotest

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/benchmint/benchmint/internal/tree"
)

// Row is one line of a tree object: a mode in octal, a name and an object ID, written as
// they are.
type Row struct{ Mode, Name, ID string }

// Raw writes objects that git itself refuses to write into a repository that Build made.
type Raw struct {
	t   testing.TB
	dir string
	to  tree.Objects
	at  time.Time
}

// NewRaw writes into the repository of the work tree dir, in commits after its newest.
func NewRaw(t testing.TB, dir string) *Raw {
	t.Helper()
	at, err := time.Parse(time.RFC3339, Git(t, dir, "log", "-1", "--format=%cI"))
	if err != nil {
		t.Fatal(err)
	}
	return &Raw{t, dir, objectsOf(filepath.Join(dir, ".git")), at.UTC()}
}

// Blob writes a blob and gives its ID.
func (r *Raw) Blob(data string) string {
	r.t.Helper()
	return r.put(plumbing.BlobObject, []byte(data))
}

// Tree writes a tree object of the rows in the order given, and gives its ID.
func (r *Raw) Tree(rows ...Row) string {
	r.t.Helper()
	var data []byte
	for _, row := range rows {
		id, err := hex.DecodeString(row.ID)
		if err != nil {
			r.t.Fatal(err)
		}
		data = append(append(append(data, row.Mode+" "+row.Name...), 0), id...)
	}
	return r.put(plumbing.TreeObject, data)
}

// Rows are the lines of a commit's root tree.
func (r *Raw) Rows(commit string) []Row {
	r.t.Helper()
	var rows []Row
	for line := range strings.SplitSeq(strings.TrimSuffix(Git(r.t, r.dir, "ls-tree", "-z", commit), "\x00"), "\x00") {
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		rows = append(rows, Row{strings.TrimPrefix(f[0], "0"), name, f[2]})
	}
	return rows
}

// Endless is the one of UnsafeTrees that is well formed, and too large for any machine.
const Endless = "repeats_itself"

// UnsafeTrees are trees that git would not write or not check out, by what is wrong with
// them: each has the rows of a sound one, and one more.
func (r *Raw) UnsafeTrees(sound []Row) map[string]string {
	r.t.Helper()
	blob := r.Blob("evil\n")
	with := func(rows ...Row) string { return r.Tree(append(rows, sound...)...) }
	folder := r.Tree(Row{Mode: "100644", Name: "config", ID: blob})
	out := map[string]string{
		"slash":             with(Row{Mode: "100644", Name: "a/b", ID: blob}),
		"parent":            with(Row{Mode: "40000", Name: "..", ID: folder}),
		"no_name":           with(Row{Mode: "100644", Name: "", ID: blob}),
		"twice":             with(Row{Mode: "100644", Name: sound[0].Name, ID: blob}),
		"file_and_folder":   with(Row{Mode: "40000", Name: sound[0].Name, ID: folder}),
		"unsorted":          r.Tree(append(sound, Row{Mode: "100644", Name: "AAA", ID: blob})...),
		"unknown_mode":      with(Row{Mode: "100600", Name: "A", ID: blob}),
		"padded_mode":       with(Row{Mode: "040000", Name: "A", ID: folder}),
		"mode_of_no_number": with(Row{Mode: "x", Name: "A", ID: blob}),
		"long_name":         with(Row{Mode: "100644", Name: strings.Repeat("A", 256), ID: blob}),
	}
	for i, name := range []string{".git", ".GIT", ".g\u200cit", ".git\u206f", "git~1", "GIT~1", ".git ", ".git...", ".git::$INDEX_ALLOCATION", ".git\\config"} {
		out[fmt.Sprintf("alias_%d", i)] = with(Row{Mode: "40000", Name: name, ID: folder})
	}
	deep, long, many := folder, folder, folder
	for range 300 {
		deep = r.Tree(Row{Mode: "40000", Name: "d", ID: deep})
	}
	for range 20 {
		long = r.Tree(Row{Mode: "40000", Name: strings.Repeat("l", 250), ID: long})
	}
	for range 40 { // 2^40 paths
		many = r.Tree(Row{Mode: "40000", Name: "a", ID: many}, Row{Mode: "40000", Name: "b", ID: many})
	}
	out["deep"] = with(Row{Mode: "40000", Name: "0", ID: deep})
	out["long_path"] = with(Row{Mode: "40000", Name: "0", ID: long})
	out[Endless] = with(Row{Mode: "40000", Name: "0", ID: many})
	return out
}

// Commit lands a root tree on the current branch, and gives the commit's ID.
func (r *Raw) Commit(subject, root string) string {
	r.t.Helper()
	r.at = r.at.Add(time.Hour)
	who := object.Signature{Name: "Raw", Email: "raw@example.org", When: r.at}
	id, err := tree.Encode(r.to, &object.Commit{
		TreeHash: plumbing.NewHash(root), Author: who, Committer: who, Message: subject + "\n",
		ParentHashes: []plumbing.Hash{plumbing.NewHash(Git(r.t, r.dir, "rev-parse", "HEAD"))},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	Git(r.t, r.dir, "update-ref", "HEAD", id.String())
	return id.String()
}

func (r *Raw) put(kind plumbing.ObjectType, data []byte) string {
	r.t.Helper()
	var o plumbing.MemoryObject
	o.SetType(kind)
	_, err := o.Write(data)
	if err == nil {
		_, err = r.to.SetEncodedObject(&o)
	}
	if err != nil {
		r.t.Fatal(fmt.Errorf("writing a %s: %w", kind, err))
	}
	return o.Hash().String()
}
