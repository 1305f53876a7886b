package gitrepo

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// readmes are the forms of a README that are read, without "readme", best first.
var readmes = []string{".md", ".rst", ".txt", ".markdown", ""}

// Readme is the text of the README in the root at the head; "" where there is none.
func (r *Repo) Readme(ctx context.Context) (string, error) {
	rows, err := r.treeRows(ctx, r.line[0].tree)
	if err != nil {
		return "", fmt.Errorf("listing the newest tree: %w", err)
	}
	best, found := len(readmes), treeRow{}
	for _, row := range rows {
		form, ok := strings.CutPrefix(strings.ToLower(path.Base(row.name)), "readme")
		if at := slices.Index(readmes, form); ok && at >= 0 && at < best && strings.HasPrefix(row.mode, "100") {
			best, found = at, row
		}
	}
	if best == len(readmes) {
		return "", nil
	}
	text, err := r.objects.blob(ctx, found.id)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", found.name, err)
	}
	return strings.ToValidUTF8(string(text), ""), nil
}
