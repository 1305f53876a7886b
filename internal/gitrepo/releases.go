package gitrepo

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Releases are the tags that name a version, newest first: by the line, then by
// date, then by version.
func (r *Repo) Releases(ctx context.Context) ([]schemas.Release, error) {
	h, err := r.History(ctx)
	if err != nil {
		return nil, err
	}
	all := h.versions()
	out := []schemas.Release{}
	for _, v := range all {
		out = append(out, schemas.Release{
			Repo: r.info.Name, Tag: v.tag.Name, Package: v.version.Package, Version: v.version.Text, Commit: v.tag.Commit, Date: v.tag.Date,
			Pre: v.version.Pre, OffBranch: !v.tag.OnLine, Previous: previous(v, all),
		})
	}
	return out, nil
}

// released is a tag with what its name says.
type released struct {
	tag     Tag
	version Version
}

func (h *History) versions() []released {
	var all []released
	seen := map[string]int{}
	for _, t := range h.Tags {
		v, ok := ParseVersion(t.Name)
		if !ok || t.At < 0 && t.Date.IsZero() {
			continue
		}
		// v1.2.0 and 1.2.0 on one commit are one release: the first made, or the plain name.
		key := t.Commit + "\x00" + v.Package + "\x00" + v.Text
		if i, ok := seen[key]; ok {
			if len(t.Name) < len(all[i].tag.Name) {
				all[i] = released{t, v}
			}
			continue
		}
		seen[key] = len(all)
		all = append(all, released{t, v})
	}
	slices.SortStableFunc(all, func(a, b released) int {
		return cmp.Or(cmp.Compare(uint(a.tag.At), uint(b.tag.At)), b.tag.Date.Compare(a.tag.Date), b.version.Compare(a.version))
	})
	return all
}

// previous is the release that another's notes are counted from: the highest
// version below it of the same package that is not ahead of it in history. Dates
// decide only between branches: a maintenance release may be younger than the
// next major version. Notes of a final release tell of its release candidates'
// changes too.
func previous(of released, all []released) string {
	var best *released
	rank := func(r released) int {
		held := of.tag.At >= 0 && r.tag.At >= of.tag.At
		return 2*boolInt(held) + boolInt(!r.tag.Date.After(of.tag.Date))
	}
	for i, r := range all {
		if r.version.Package != of.version.Package || r.version.Compare(of.version) >= 0 || r.version.Pre && !of.version.Pre {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(rank(r), rank(*best)), r.version.Compare(best.version)) > 0 {
			best = &all[i]
		}
	}
	if best == nil {
		return ""
	}
	return best.tag.Name
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Landed is one commit of the first-parent line, as far as it is known without
// reading its diff.
type Landed struct {
	Commit, Tree, BaseTree string
	Subject                string
	Number                 int // of its subject
	At                     time.Time
	Author                 string   // address
	Parents                []string // commits
}

// Line is the first-parent line, newest first.
func (r *Repo) Line() []Landed {
	out := make([]Landed, len(r.line))
	for i, e := range r.line {
		out[i] = Landed{Commit: e.commit, Tree: e.tree, BaseTree: EmptyTree, Subject: e.subject, Number: e.number, At: e.at, Author: e.author, Parents: e.parents}
		if i+1 < len(r.line) {
			out[i].BaseTree = r.line[i+1].tree
		}
	}
	return out
}

// Oldest is the ID of the first change of the line that led from one tree to
// another, "" where none did.
func (r *Repo) Oldest(ctx context.Context, baseTree, tree string) (string, error) {
	if i := r.oldestAt(baseTree, tree); i >= 0 {
		number, _, err := r.numberOf(ctx, i)
		return schemas.FeatureID(r.info.Name, number, r.line[i].commit).String(), err
	}
	return "", nil
}

func (r *Repo) oldestAt(baseTree, tree string) int {
	r.past.Lock()
	defer r.past.Unlock()
	if r.oldest == nil {
		r.oldest = map[[2]string]int{}
		for i := range len(r.line) - 1 { // newest first: older ones take the place
			r.oldest[[2]string{r.line[i+1].tree, r.line[i].tree}] = i
		}
	}
	if i, ok := r.oldest[[2]string{baseTree, tree}]; ok && baseTree != tree {
		return i
	}
	return -1
}

// Raw are the rows between two trees from the trees alone, without renames and
// counts; none where a tree is missing or too large to list.
func (r *Repo) Raw(ctx context.Context, from, to string) ([]schemas.ChangedFile, error) {
	if from == to {
		return nil, nil
	}
	rows, err := r.rows(ctx, r.raw, from, to)
	if unread(err) {
		return nil, nil
	}
	return rows, err
}

// Paths are all files of a tree, from tree objects alone. ErrMissing, tree.ErrUnsafe,
// tree.ErrTooLarge.
func (r *Repo) Paths(ctx context.Context, id string) ([]string, error) {
	root, err := r.objects.id(ctx, id+"^{tree}")
	if err != nil {
		return nil, err
	}
	entries, err := r.list(ctx, root)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Path
	}
	return out, nil
}
