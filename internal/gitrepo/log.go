package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Query selects landed commits of the first-parent line.
type Query struct {
	Since time.Time // inclusive, by commit date; zero: no bound
	Until time.Time // exclusive; zero: no bound
	// Only lists pull request numbers or commits (at least 4 hex digits); empty: all.
	Only []string
}

// Log streams the changes of the first-parent line, newest first. Commit dates
// are not monotonic along it, so the whole line is looked at, whatever the
// window: an old date says nothing of the commits below it.
//
// A change whose blobs are not all there has -1 lines and no renames; one whose
// trees are not there has no files. Both come out: the stage that needs the
// objects rejects them, and the others are unharmed. The oldest commit of a shallow
// clone does not come out: Shallow says so.
func (r *Repo) Log(ctx context.Context, q Query) iter.Seq2[schemas.Change, error] {
	return func(yield func(schemas.Change, error) bool) {
		licence, err := r.Licence(ctx)
		if err != nil && !errors.Is(err, ErrMissing) { // a clone that lacks its newest tree still has its history
			yield(schemas.Change{}, fmt.Errorf("reading the licence: %w", err))
			return
		}
		i := -1
		var failed error
		err = r.walk(ctx, []string{"%H", "%b"}, func(f []string) bool {
			i++
			if r.clone.cut[f[0]] {
				return true // it has parents, and they are not here: nobody knows what it changed
			}
			if !q.inWindow(r.line[i].at) {
				return true
			}
			number, from, err := r.numberOf(ctx, i)
			if err != nil {
				failed = err
				return false
			}
			if !q.selects(r.line[i].commit, number) {
				return true
			}
			c := r.change(i, number, from, f[1])
			c.Licence = licence
			if c.Files, failed = r.Files(ctx, c.BaseTree, c.Tree); failed != nil {
				return false
			}
			for j := range c.Files {
				c.Files[j].Path, c.Files[j].OldPath = schemas.RecordPath(c.Files[j].Path), schemas.RecordPath(c.Files[j].OldPath)
			}
			return yield(c, nil)
		})
		if err := errors.Join(failed, err); err != nil {
			yield(schemas.Change{}, err)
		}
	}
}

func (q Query) inWindow(at time.Time) bool {
	return (q.Since.IsZero() || !at.Before(q.Since)) && (q.Until.IsZero() || at.Before(q.Until))
}

// selects reads digits as a number first; from seven on they may be a commit too.
func (q Query) selects(commit string, number int) bool {
	if len(q.Only) == 0 {
		return true
	}
	return slices.ContainsFunc(q.Only, func(only string) bool { return Selects(only, commit, number) })
}

// Between reads base..commit; false where it is something else.
func Between(only string) (base, commit string, ok bool) {
	base, commit, ok = strings.Cut(only, "..")
	return base, commit, ok && base != "" && commit != ""
}

// Selects reports whether one entry of Query.Only means the commit with a number.
func Selects(only, commit string, number int) bool {
	only = strings.TrimPrefix(only, "#")
	if n, err := strconv.Atoi(only); err == nil {
		if number != 0 && n == number {
			return true
		}
		const shortest = 7 // what git abbreviates to
		if len(only) < shortest {
			return false
		}
	}
	return len(only) >= 4 && strings.HasPrefix(commit, strings.ToLower(only))
}

func (r *Repo) change(i, number int, from schemas.NumberSource, body string) schemas.Change {
	e := r.line[i]
	c := schemas.Change{
		Repo: r.info.Name, RepoRoot: r.info.Root, Commit: e.commit, Tree: e.tree, Parents: e.parents,
		Number: number, NumberFrom: from, Subject: e.subject, Body: strings.TrimRight(text(body), "\n"), CommittedAt: e.at,
		BaseTree: EmptyTree, Files: []schemas.ChangedFile{},
	}
	if i+1 < len(r.line) { // the next of the line is the first parent
		base := r.line[i+1]
		c.Base, c.BaseTree, c.BaseDate = base.commit, base.tree, base.at
	}
	return c
}

// Files are the rows between two trees, with paths byte for byte: with renames and line counts where every
// blob is there, without where one is missing or too large to be read, none where a tree is
// missing, too large to list or none that git would write.
func (r *Repo) Files(ctx context.Context, from, to string) ([]schemas.ChangedFile, error) {
	if from == to {
		return []schemas.ChangedFile{}, nil
	}
	plain, err := r.rows(ctx, r.raw, from, to)
	if unread(err) {
		return []schemas.ChangedFile{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := true
	err = r.objects.sizes(ctx, blobsOf(plain), func(_ string, size int64) error {
		all = all && size >= 0 && size <= tree.MaxFile
		return nil
	})
	if err != nil && !errors.Is(err, ErrMissing) {
		return nil, err
	}
	if all {
		rows, err := r.rows(ctx, r.stats, from, to)
		if !errors.Is(err, ErrMissing) {
			return rows, err
		}
		// It is listed but cannot be read: a damaged object.
	}
	for i := range plain {
		plain[i].Added, plain[i].Removed = -1, -1
	}
	return plain, nil
}

// unread reports whether trees or blobs are such that they say nothing: missing, too large
// to be read, or none that git would write. It is a matter of their commit, and no fault.
func unread(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, tree.ErrTooLarge) || errors.Is(err, tree.ErrUnsafe)
}

const zeroID = "0000000000000000000000000000000000000000"

func blobsOf(rows []schemas.ChangedFile) []string {
	var ids []string
	for _, f := range rows {
		if f.OldBlob != zeroID && f.OldMode != modeModule {
			ids = append(ids, f.OldBlob)
		}
		if f.NewBlob != zeroID && f.NewMode != modeModule {
			ids = append(ids, f.NewBlob)
		}
	}
	return ids
}

// Answer is what of the line a selection names: all commits of whose names it may be,
// newest first. A number that no subject has is looked for among pull requests, which
// costs a comparison with each of them.
func (r *Repo) Answer(ctx context.Context, only string) ([]Landed, error) {
	var out []Landed
	line := r.Line()
	for _, c := range line {
		if Selects(only, c.Commit, c.Number) {
			out = append(out, c)
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(only, "#"))
	if len(out) > 0 || err != nil || !slices.ContainsFunc(r.pulls, func(p pull) bool { return p.number == n }) {
		return out, nil
	}
	for i, c := range line {
		if c.Number, _, err = r.numberOf(ctx, i); err != nil {
			return nil, err
		}
		if c.Number == n {
			return []Landed{c}, nil
		}
	}
	return nil, nil
}
