package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// numberOf is the number of the i-th commit of the line: by its subject, else by
// patch-id where the repository has pull refs.
func (r *Repo) numberOf(ctx context.Context, i int) (int, schemas.NumberSource, error) {
	e := r.line[i]
	if e.number != 0 || len(r.pulls) == 0 {
		return e.number, e.from, nil
	}
	r.match.Lock()
	defer r.match.Unlock()
	if r.matched == nil {
		matched, err := r.matchPulls(ctx)
		if err != nil {
			return 0, "", fmt.Errorf("comparing patch-ids with pull requests: %w", err)
		}
		r.matched = matched
	}
	if n := r.matched[e.commit]; n != 0 {
		return n, schemas.NumberPatchID, nil
	}
	return 0, schemas.NumberNone, nil
}

// matchPulls finds the pull requests that commits without a number landed: the
// same commit, or the same patch-id as the whole pull request (from where it
// left the line to its head). Paths are compared first, from trees alone, so
// that patches are made of the few that may be equal.
func (r *Repo) matchPulls(ctx context.Context) (map[string]int, error) {
	free := r.freePulls()
	ranges := r.pullRanges(ctx, free)
	byHead, byPaths := map[string]int{}, map[string][]*pullRange{}
	for _, p := range free {
		if byHead[p.head] == 0 {
			byHead[p.head] = p.number
		}
	}
	for _, p := range ranges {
		paths, err := r.pathsKey(ctx, p.from, p.to)
		if err != nil {
			return nil, err
		}
		if paths != "" {
			byPaths[paths] = append(byPaths[paths], &p)
		}
	}
	matched, owned := map[string]int{}, map[int]bool{}
	for i := len(r.line) - 1; i >= 0; i-- { // oldest first: see keepOldest
		if r.line[i].number != 0 {
			continue
		}
		n, err := r.matchOne(ctx, i, byHead, byPaths)
		if err != nil {
			return nil, err
		}
		if n != 0 && !owned[n] {
			matched[r.line[i].commit], owned[n] = n, true
		}
	}
	return matched, nil
}

func (r *Repo) matchOne(ctx context.Context, i int, byHead map[string]int, byPaths map[string][]*pullRange) (int, error) {
	e := r.line[i]
	for _, head := range append([]string{e.commit}, e.parents[min(1, len(e.parents)):]...) {
		if n := byHead[head]; n != 0 { // landed as it was, by fast-forward or merge
			return n, nil
		}
	}
	if i+1 == len(r.line) {
		return 0, nil
	}
	paths, err := r.pathsKey(ctx, r.line[i+1].tree, e.tree)
	if err != nil || len(byPaths[paths]) == 0 {
		return 0, err
	}
	own, err := r.patchID(ctx, r.line[i+1].tree, e.tree)
	if err != nil || own == "" {
		return 0, err
	}
	for _, p := range byPaths[paths] {
		if p.id == "" { // many commits may touch the same paths
			if p.id, err = r.patchID(ctx, p.from, p.to); err != nil {
				return 0, err
			}
		}
		if p.id == own {
			return p.number, nil
		}
	}
	return 0, nil
}

// freePulls are those whose number no subject claims, lowest first.
func (r *Repo) freePulls() []pull {
	claimed := map[int]bool{}
	for _, e := range r.line {
		claimed[e.number] = true
	}
	return slices.DeleteFunc(slices.Clone(r.pulls), func(p pull) bool { return claimed[p.number] })
}

// pullRange is what a pull request changes: from the tree where it left the
// line to the tree of its head.
type pullRange struct {
	number   int
	from, to string
	id       string // its patch-id, once it was asked for
}

// pullRanges reads every commit that only pull requests reach, with the commits
// below them, in one stream, and finds where each left.
func (r *Repo) pullRanges(ctx context.Context, pulls []pull) []pullRange {
	cmd := command(ctx, r.view, "log", "--stdin", "--boundary", "--no-show-signature", "--no-color", "--format=tformat:%m %H %T %ct %P")
	var revs strings.Builder
	for _, p := range pulls {
		revs.WriteString(p.head + "\n")
	}
	cmd.Stdin = strings.NewReader(revs.String() + "^" + r.info.Head + "\n")
	out, err := output(cmd)
	if err != nil {
		return nil // a pull ref whose commits are not there costs the numbers, not the changes
	}
	type node struct {
		tree    string
		at      int
		parents []string
		landed  bool // below the pull requests: reachable from the line
	}
	nodes := map[string]node{}
	for row := range strings.Lines(string(out)) {
		f := strings.Fields(row)
		if len(f) < 4 {
			continue
		}
		at, err := strconv.Atoi(f[3])
		if err != nil {
			at = 0
		}
		nodes[f[1]] = node{tree: f[2], at: at, parents: f[4:], landed: f[0] == "-"}
	}
	var ranges []pullRange
	for _, p := range pulls {
		head, ok := nodes[p.head]
		if !ok || head.landed {
			continue
		}
		// A branch that merged the line in left it at the newest of its ends.
		left, seen, todo := node{at: -1}, map[string]bool{}, []string{p.head}
		for len(todo) > 0 {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n, ok := nodes[id]
			switch {
			case !ok || seen[id]:
			case n.landed && n.at > left.at:
				left = n
			case !n.landed:
				todo = append(todo, n.parents...)
			}
			seen[id] = true
		}
		if left.tree != "" {
			ranges = append(ranges, pullRange{number: p.number, from: left.tree, to: head.tree})
		}
	}
	return ranges
}

// pathsKey is the paths that differ between two trees; "" where none does, or a
// tree is missing or too large to list.
func (r *Repo) pathsKey(ctx context.Context, from, to string) (string, error) {
	if from == to {
		return "", nil
	}
	rows, err := r.rows(ctx, r.raw, from, to)
	if unread(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var key strings.Builder
	for _, f := range rows {
		key.WriteString(f.Status + f.Path + "\x00")
	}
	return key.String(), nil
}

// patchID is equal for patches that are equal but for their place and white
// space, like git patch-id; "" where a blob is missing or the patch is too large.
func (r *Repo) patchID(ctx context.Context, from, to string) (string, error) {
	h := sha256.New()
	err := r.hunks.diff(ctx, from, to, func(out *bufio.Reader) error {
		h.Reset()
		var patch bytes.Buffer
		if err := readPatch(out, &patch); err != nil {
			return err
		}
		for row := range bytes.Lines(patch.Bytes()) {
			if bytes.HasPrefix(row, []byte("@@")) || bytes.HasPrefix(row, []byte("index ")) {
				continue
			}
			h.Write(bytes.Join(bytes.Fields(row), nil))
		}
		return nil
	})
	if unread(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(h.Sum(nil)), nil
}
