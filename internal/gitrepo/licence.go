package gitrepo

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

var licenceFile = lazyregexp.New(`(?i)^(licen[cs]e|copying|unlicense)([-_.].*)?$`)

// IsLicenceFile reports whether a file's name is that of a licence.
func IsLicenceFile(name string) bool { return licenceFile.MatchString(name) }

// Licence is the SPDX expression of the licence files at HEAD: several files with
// one licence each are a choice between them. "" where none is recognised; ErrMissing
// where the clone lacks what it would have to read, which says nothing of the licence.
// The first call takes most of a second of processor time, which is why Open does
// without it.
func (r *Repo) Licence(ctx context.Context) (string, error) {
	r.licensing.Lock()
	defer r.licensing.Unlock()
	if r.licence != nil {
		return *r.licence, nil
	}
	found, err := r.readLicence(ctx)
	if err = cmp.Or(ctx.Err(), err); err != nil { // a question that was broken off is no answer
		return "", err
	}
	r.licence = &found
	return found, nil
}

func (r *Repo) readLicence(ctx context.Context) (string, error) {
	rows, err := r.treeRows(ctx, r.line[0].tree)
	if err != nil {
		return "", fmt.Errorf("listing the newest tree: %w", err)
	}
	var ids []string
	for _, row := range rows {
		if row.mode == modeTree || row.mode == modeModule || !IsLicenceFile(path.Base(row.name)) {
			continue
		}
		text, err := r.objects.blob(ctx, row.id)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", row.name, err)
		}
		if id := recognise(text); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " OR "), nil
}

// recognise names the licence that most of a text is. A licence file that only
// points at others is none.
func recognise(text []byte) string {
	const enough = 75 // per cent of the words, licensecheck's own advice
	found := licensecheck.Scan(text)
	if found.Percent < enough || len(found.Match) == 0 {
		return ""
	}
	longest := slices.MaxFunc(found.Match, func(a, b licensecheck.Match) int { return (a.End - a.Start) - (b.End - b.Start) })
	return longest.ID
}
