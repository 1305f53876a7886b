package contamination

import (
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A task of Harbor is a folder with task.toml, instruction.md and solution/. The name of the folder may be an instance
// ID of SWE-bench, whose adapter also keeps the row.
const (
	harborName = "Harbor"
	harborFile = "task.toml"
)

func (r *reader) harbor(dir string, sums hash.Hash) error {
	if row := filepath.Join(dir, "tests", "config.json"); r.harborRow(row, sums) {
		return nil
	}
	t := Task{ID: filepath.Base(dir), Kind: Change}
	t.Repo, t.Number = numbered(t.ID)
	text, err := os.ReadFile(filepath.Join(dir, "instruction.md"))
	if err != nil {
		return err
	}
	fmt.Fprintf(sums, "%s\n%s", t.ID, text)
	t.Statement = string(text)
	files, err := os.ReadDir(filepath.Join(dir, "solution"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var patch strings.Builder
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, "solution", f.Name()))
		if err != nil {
			return err
		}
		sums.Write(b)
		if i := strings.Index("\n"+string(b), "\ndiff --git "); i >= 0 { // a script may hold the patch
			patch.WriteString(string(b)[i:])
		}
	}
	t.Patch = patch.String()
	r.set.Rows++
	if len(r.set.Families) == 0 || r.set.Families[len(r.set.Families)-1] != harborName {
		r.set.Families = append(r.set.Families, harborName)
	}
	r.visit(t)
	return nil
}

// harborRow reads the row that an adapter kept. It reports whether there was one.
func (r *reader) harborRow(name string, sums hash.Hash) bool {
	b, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	sums.Write(b)
	var f family
	before := r.set.Rows
	return r.jsonRow(&f, b, name, 1) == nil && r.set.Rows > before
}
